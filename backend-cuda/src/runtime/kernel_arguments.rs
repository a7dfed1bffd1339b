//! Arguments of generated kernels: calls, launches, and kernel arguments for the grid, sets and
//! single values.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{CanonicalSet, Error, KernelInfo};

use crate::runtime::device::{DevicePtr, LaunchShape, Work};
use crate::runtime::executor::arguments::{Call, EqCartesian, EqGrid, EqRanks, EqSpace};
use crate::runtime::grid::arrays::GridArrays;
use crate::runtime::grid::half_faces::starts;
use crate::runtime::kernels::KernelModule;
use crate::runtime::linalg::csr::CsrPattern;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Bool, Collection, Scalar};

impl CudaRuntime {
    /// Prepares the call of a kernel, which then gets its arguments and a launch.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub fn call(&mut self, module: &KernelModule, name: &str) -> Result<Call, Error> {
        self.executor.call(module, name)
    }

    /// [`CudaRuntime::call`] of a kernel of the program over so many elements, with its work for
    /// `--profile`.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub fn call_over(&mut self, module: &KernelModule, kernel: &KernelInfo, name: &str, elements: usize) -> Result<Call, Error> {
        let work = self.session.profiler().map(|profiler| {
            let bytes = kernel.bytes_moved(self.session.grid(), elements);
            profiler.moved(bytes);
            Work { lines: kernel.lines.into(), bytes }
        });
        Ok(self.executor.call(module, name)?.doing(work))
    }

    /// Queues a call with one thread per element; does nothing without elements.
    ///
    /// # Errors
    /// With `tune=yes` errors of the device while it measures launch shapes; errors of the launch
    /// itself appear at the next flush.
    pub fn launch_over(&mut self, call: Call, elements: usize) -> Result<(), Error> {
        self.executor.launch_over(call, elements)
    }

    /// Queues a call with one block per leaf of a reduction.
    ///
    /// # Errors
    /// As for [`CudaRuntime::launch_over`].
    pub fn launch_over_leaves(&mut self, call: Call, leaves: usize) -> Result<(), Error> {
        self.executor.launch_over_leaves(call, leaves);
        Ok(())
    }

    /// Queues a call with one thread per row of an equation.
    ///
    /// # Errors
    /// As for [`CudaRuntime::launch_over`].
    pub fn launch_over_rows(&mut self, call: Call, rows: &CsrPattern) -> Result<(), Error> {
        if !rows.is_empty() {
            let blocks = (rows.len() as u64).div_ceil(u64::from(rows.block)) as u32;
            self.executor.push(call.shaped(LaunchShape { grid: [blocks, 1, 1], block: [rows.block, 1, 1] }));
        }
        Ok(())
    }

    /// Queues a call with one thread per cell of the Cartesian grid, blocks along rows.
    ///
    /// # Errors
    /// `Backend` (an internal error) if the run does not use Cartesian kernels.
    pub fn launch_over_cells(&mut self, call: Call) -> Result<(), Error> {
        self.executor.launch_over_cells(call)
    }

    /// Queues a call over the interior of the Cartesian grid, several cells per thread along the
    /// last axis, and then over its boundary cells, one per thread.
    ///
    /// # Errors
    /// `Backend` (an internal error) if the run does not use Cartesian kernels.
    pub fn launch_inside_and_boundary(&mut self, call: Call) -> Result<(), Error> {
        self.executor.launch_inside_and_boundary(call)
    }

    /// True if this run uses all Cartesian kernels.
    pub fn uses_cartesian_forms(&self) -> bool {
        self.executor.open_shape().is_some()
    }

    /// True if this run uses the Cartesian kernels that also take grids with joined sides.
    pub fn uses_closed_forms(&self) -> bool {
        self.executor.closed_shape().is_some()
    }

    /// The uniform Cartesian grid, whose sides may be joined.
    ///
    /// # Errors
    /// `Backend` (an internal error) if the run does not use Cartesian kernels.
    pub fn cartesian_args(&self) -> Result<EqCartesian, Error> {
        self.executor.cartesian_args()
    }

    /// The grid for general kernels of a program, with the arrays in `needs`, or its shape where
    /// closed forms replace them.
    ///
    /// # Errors
    /// `Backend`: not enough memory. `Data`: the grid has no edges or vertices.
    pub fn grid_args(&mut self, needs: GridArrays) -> Result<EqGrid, Error> {
        self.grid.args(self.session.grid(), needs)
    }

    /// A canonical set.
    ///
    /// # Errors
    /// As for [`Grid::n_entities`](equelle_runtime::grid::Grid::n_entities).
    pub fn canonical_domain(&mut self, set: CanonicalSet) -> Result<Arc<Domain>, Error> {
        self.session.domain(set)
    }

    /// The elements of a domain to iterate over.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn space(&mut self, domain: &Arc<Domain>) -> Result<EqSpace, Error> {
        self.grid.sets.space(&self.executor, domain)
    }

    /// [`CudaRuntime::space`] for a reduction, in the order of the grid's file.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn space_in_file_order(&mut self, domain: &Arc<Domain>) -> Result<EqSpace, Error> {
        self.grid.sets.space_in_file_order(&self.executor, domain)
    }

    /// Position map of a domain, for general kernels.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn ranks(&mut self, domain: &Arc<Domain>) -> Result<EqRanks, Error> {
        self.grid.sets.ranks(&self.executor, domain)
    }

    /// Position map of a domain, for Cartesian kernels, which compute the positions in canonical
    /// sets.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn cartesian_ranks(&mut self, domain: &Arc<Domain>) -> Result<EqRanks, Error> {
        self.grid.sets.cartesian_ranks(&self.executor, domain)
    }

    /// Values on InteriorFaces, copied to both cells of each face in the order of
    /// `EqGrid::side_neighbours`: the threads of a warp then read consecutive values and need no
    /// ranks. Computed on first use and cached as long as the values live, for values that many
    /// launches read.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn by_side(&mut self, collection: &Collection) -> Result<DevicePtr, Error> {
        if let Some((_, copy)) = self.grid.side_copies.0.iter().find(|(of, _)| Rc::ptr_eq(of, &collection.buffer)) {
            return Ok(copy.address());
        }
        // Drops copies of values without other owners.
        self.grid.side_copies.0.retain(|(of, _)| Rc::strong_count(of) > 1);
        let values = self.dense(collection)?;
        let grid = self.grid.arrays(self.session.grid(), GridArrays { sides: true, side_ranks: true, ..GridArrays::default() })?;
        let n_sides = starts(self.session.grid().topology()).last().copied().unwrap_or(0);
        let copy = self.executor.reals("values on sides", n_sides)?;
        let call = self.executor.collection_call("equelle_by_side")?.arg(grid).arg(values.pointer()).arg(copy.address());
        self.executor.launch_over(call, self.session.grid().n_cells())?;
        let address = copy.address();
        self.grid.side_copies.0.push((Rc::clone(&collection.buffer), copy));
        Ok(address)
    }

    /// Refuses grids whose dimension is not the number of components of a Vector in a kernel.
    ///
    /// # Errors
    /// `Data`, with the lines of the kernel.
    pub fn vector_size(&self, components: usize, kernel: &KernelInfo) -> Result<(), Error> {
        Error::vector_size(components, self.session.grid().dim()).map_err(|mut error| {
            error.lines = kernel.lines.to_vec();
            self.session.locate(error)
        })
    }

    /// The address of a Bool on the device.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn bool_pointer(&mut self, truth: &Bool) -> Result<DevicePtr, Error> {
        let value = match truth {
            Bool::Device(buffer) => return Ok(buffer.address()),
            Bool::Host(value) => *value,
        };
        if let Some(buffer) = &self.bools[usize::from(value)] {
            return Ok(buffer.address());
        }
        let buffer = self.executor.upload("a truth value", &[u8::from(value)])?;
        let address = buffer.address();
        self.bools[usize::from(value)] = Some(buffer);
        Ok(address)
    }

    /// The address of a Scalar on the device.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn scalar_pointer(&mut self, scalar: &Scalar) -> Result<DevicePtr, Error> {
        match scalar {
            Scalar::Device(buffer) => Ok(buffer.address()),
            Scalar::Element { of, index } => Ok(of.number(*index)),
            Scalar::Host(value) => self.executor.constant(*value),
        }
    }
}
