//! What generated host code calls for its kernels: calls, launches, and arguments that stand for the grid, sets and single values.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{CanonicalSet, Error, KernelInfo};

use crate::runtime::device::{DevicePtr, LaunchShape};
use crate::runtime::executor::arguments::{Call, EqCartesian, EqGrid, EqRanks, EqSpace};
use crate::runtime::grid::arrays::GridArrays;
use crate::runtime::grid::half_faces::starts;
use crate::runtime::kernels::KernelModule;
use crate::runtime::linalg::csr::CsrPattern;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Bool, Collection, Scalar};

impl CudaRuntime {
    /// A call of a kernel, to be given its arguments and launched.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub fn call(&mut self, module: &KernelModule, name: &'static str) -> Result<Call, Error> {
        self.executor.call(module, name)
    }

    /// Queues a call with one thread per element; nothing for none.
    ///
    /// # Errors
    /// With `tune=yes` those of the device, which measures shapes; the launch itself reports at the next flush.
    pub fn launch_over(&mut self, call: Call, elements: usize) -> Result<(), Error> {
        self.executor.launch_over(call, elements)
    }

    /// Queues a call with one block per leaf of a reduction.
    ///
    /// # Errors
    /// As [`CudaRuntime::launch_over`].
    pub fn launch_over_leaves(&mut self, call: Call, leaves: usize) -> Result<(), Error> {
        self.executor.launch_over_leaves(call, leaves);
        Ok(())
    }

    /// Queues a call with one thread per row of an equation.
    ///
    /// # Errors
    /// As [`CudaRuntime::launch_over`].
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
    /// `Backend` (an internal error) if the run does not use Cartesian forms.
    pub fn launch_over_cells(&mut self, call: Call) -> Result<(), Error> {
        self.executor.launch_over_cells(call)
    }

    /// Queues a call that goes through the inside of the Cartesian grid, some cells a thread along the last axis, and then over the cells on its boundary, one a thread.
    ///
    /// # Errors
    /// `Backend` (an internal error) if the run does not use Cartesian forms.
    pub fn launch_inside_and_boundary(&mut self, call: Call) -> Result<(), Error> {
        self.executor.launch_inside_and_boundary(call)
    }

    /// Whether this run uses the Cartesian forms of kernels.
    pub fn uses_cartesian_forms(&self) -> bool {
        self.executor.shape().is_some()
    }

    /// The uniform Cartesian grid.
    ///
    /// # Errors
    /// `Backend` (an internal error) if the run does not use Cartesian forms.
    pub fn cartesian_args(&self) -> Result<EqCartesian, Error> {
        self.executor.cartesian_args()
    }

    /// The grid for general kernels of a program, with the arrays asked for, or its shape where closed forms take their place.
    ///
    /// # Errors
    /// `Backend`: not enough memory. `Data`: it has no edges or vertices.
    pub fn grid_args(&mut self, needs: GridArrays) -> Result<EqGrid, Error> {
        self.grid.args(self.session.grid(), needs)
    }

    /// A canonical set.
    ///
    /// # Errors
    /// As [`Grid::n_entities`](equelle_runtime::grid::Grid::n_entities).
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

    /// The same for a reduction, which goes by the order of the grid's file.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn space_in_file_order(&mut self, domain: &Arc<Domain>) -> Result<EqSpace, Error> {
        self.grid.sets.space_in_file_order(&self.executor, domain)
    }

    /// Ranks in a domain, for general kernels.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn ranks(&mut self, domain: &Arc<Domain>) -> Result<EqRanks, Error> {
        self.grid.sets.ranks(&self.executor, domain)
    }

    /// Ranks in a domain, for Cartesian kernels, which know the ranks in canonical sets.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn cartesian_ranks(&mut self, domain: &Arc<Domain>) -> Result<EqRanks, Error> {
        self.grid.sets.cartesian_ranks(&self.executor, domain)
    }

    /// Values on InteriorFaces as cells read them, each by both cells of its face: in the order of `EqGrid::side_neighbours`, where threads that run in step read what is side by side and need
    /// not ask for ranks. Made at first use and kept as long as the values are: for those that many launches read.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn by_side(&mut self, collection: &Collection) -> Result<DevicePtr, Error> {
        if let Some((_, copy)) = self.grid.side_copies.0.iter().find(|(of, _)| Rc::ptr_eq(of, &collection.buffer)) {
            return Ok(copy.address());
        }
        // What nobody else holds has gone.
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

    /// Refuses grids of another dimension than the number of components of a Vector that a kernel builds.
    ///
    /// # Errors
    /// `Data`, with the lines of the kernel.
    pub fn vector_size(&self, components: usize, kernel: &KernelInfo) -> Result<(), Error> {
        Error::vector_size(components, self.session.grid().dim()).map_err(|mut error| {
            error.lines = kernel.lines.to_vec();
            self.session.locate(error)
        })
    }

    /// Where a Bool is on the device.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn bool_pointer(&mut self, truth: &Bool) -> Result<DevicePtr, Error> {
        let value = match truth {
            Bool::Device(buffer) => return Ok(buffer.address()),
            Bool::Known(value) => *value,
        };
        if let Some(buffer) = &self.bools[usize::from(value)] {
            return Ok(buffer.address());
        }
        let buffer = self.executor.upload("a truth value", &[u8::from(value)])?;
        let address = buffer.address();
        self.bools[usize::from(value)] = Some(buffer);
        Ok(address)
    }

    /// Where a Scalar is on the device.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn scalar_pointer(&mut self, scalar: &Scalar) -> Result<DevicePtr, Error> {
        match scalar {
            Scalar::Device(buffer) => Ok(buffer.address()),
            Scalar::Element { of, index } => Ok(of.number(*index)),
            Scalar::Known(value) => self.executor.constant(*value),
        }
    }
}
