//! What generated kernels call: arguments, results, launches, reductions.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{BoolReduction, EntityKind, Error, KernelInfo, Reduction, reduce};

use crate::runtime::args::Call;
use crate::runtime::collections::{Bool, BoolCollection, Collection, EntityCollection, Layout, Scalar, Vector, VectorCollection};
use crate::runtime::device::{DevicePtr, LaunchShape};
use crate::runtime::grid::bytes_of;
use crate::runtime::kernels::KernelModule;
use crate::runtime::pool::Buffer;
use crate::runtime::precision::Precision;
use crate::runtime::program::CudaRuntime;
use crate::runtime::rows::Rows;
use crate::runtime::tuning::Over;

impl CudaRuntime {
    /// A call of a kernel, to be given its arguments and launched.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub fn call(&mut self, module: &KernelModule, name: &'static str) -> Result<Call, Error> {
        self.call_in(module, self.precision, name)
    }

    /// The same for collections of another precision than that of the program.
    pub(super) fn call_in(&mut self, module: &KernelModule, precision: Precision, name: &'static str) -> Result<Call, Error> {
        let function = self.function(module, precision, name);
        Ok(Call::new(self.located(function)?, name))
    }

    /// Queues a call with one thread per element; nothing for none.
    ///
    /// # Errors
    /// With `tune=yes` those of the device, which measures shapes; the launch itself reports at the next flush.
    pub fn launch_over(&mut self, call: Call, elements: usize) -> Result<(), Error> {
        self.launch_tuned(call, Over::Elements(elements))
    }

    /// Queues a call with one block per leaf of a reduction.
    ///
    /// # Errors
    /// As [`CudaRuntime::launch_over`].
    pub fn launch_over_leaves(&mut self, call: Call, leaves: usize) -> Result<(), Error> {
        if leaves > 0 {
            self.queue.push(call.shaped(LaunchShape { grid: [leaves as u32, 1, 1], block: [reduce::CHAINS as u32, 1, 1] }));
        }
        Ok(())
    }

    /// Queues a call with one thread per row of an equation.
    ///
    /// # Errors
    /// As [`CudaRuntime::launch_over`].
    pub fn launch_over_rows(&mut self, call: Call, rows: &Rows) -> Result<(), Error> {
        if !rows.is_empty() {
            let blocks = (rows.len() as u64).div_ceil(u64::from(rows.block)) as u32;
            self.queue.push(call.shaped(LaunchShape { grid: [blocks, 1, 1], block: [rows.block, 1, 1] }));
        }
        Ok(())
    }

    /// Queues a call of a single thread.
    pub(super) fn launch_once(&mut self, call: Call) {
        self.queue.push(call.shaped(LaunchShape { grid: [1; 3], block: [1; 3] }));
    }

    /// Queues a call with one thread per cell of the Cartesian grid, blocks along rows.
    ///
    /// # Errors
    /// `Backend` (an internal error) if the run does not use Cartesian forms.
    pub fn launch_over_cells(&mut self, call: Call) -> Result<(), Error> {
        let g = self.cartesian_args()?;
        let cells = g.n.iter().map(|&n| n as usize).product();
        self.launch_tuned(call, if g.flat == 1 { Over::Elements(cells) } else { Over::Cells })
    }

    /// Queues a call that goes through the inside of the Cartesian grid, some cells a thread along the last axis, and then over the cells on its boundary, one a thread.
    ///
    /// # Errors
    /// `Backend` (an internal error) if the run does not use Cartesian forms.
    pub fn launch_inside_and_boundary(&mut self, call: Call) -> Result<(), Error> {
        if self.cartesian_args()?.flat == 1 {
            return self.launch_over_cells(call);
        }
        self.launch_tuned(call, Over::InsideAndBoundary)
    }

    /// A collection with arbitrary values, for a kernel to write.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_collection(&mut self, domain: &Arc<Domain>) -> Result<Collection, Error> {
        self.room(domain, self.precision.bytes() * domain.len() as u64)
    }

    /// As [`CudaRuntime::new_collection`], of Vectors.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_vector_collection(&mut self, domain: &Arc<Domain>) -> Result<VectorCollection, Error> {
        let bytes = self.precision.bytes() * self.session.grid().dim() as u64 * domain.len() as u64;
        Ok(VectorCollection::constant(self.room(domain, bytes)?))
    }

    /// As [`CudaRuntime::new_collection`], of truth values.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_bool_collection(&mut self, domain: &Arc<Domain>) -> Result<BoolCollection, Error> {
        Ok(BoolCollection(self.room(domain, domain.len() as u64)?))
    }

    /// As [`CudaRuntime::new_collection`], of entities of a kind.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_entity_collection(&mut self, domain: &Arc<Domain>, kind: EntityKind) -> Result<EntityCollection, Error> {
        let values = self.room(domain, 4 * domain.len() as u64)?;
        Ok(EntityCollection { values, kind })
    }

    fn room(&mut self, domain: &Arc<Domain>, bytes: u64) -> Result<Collection, Error> {
        let buffer = self.buffer(domain.name(), bytes)?;
        Ok(Collection::dense(domain, buffer))
    }

    /// A collection that a Cartesian run stores as one value per axis (faces) or one value (cells).
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_per_axis_collection(&mut self, domain: &Arc<Domain>) -> Result<Collection, Error> {
        let buffer = self.buffer(domain.name(), 8 * 3)?;
        Ok(Collection { domain: Arc::clone(domain), buffer, layout: Layout::PerAxis, derivatives: None })
    }

    /// Number of evaluations of a per-axis kernel over a domain.
    pub fn per_axis_len(&self, domain: &Domain) -> usize {
        if domain.kind() == EntityKind::Face { self.session.grid().dim() } else { 1 }
    }

    /// Room for a number, for a kernel to write; [`Scalar::Device`] makes it a Scalar.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_number(&mut self) -> Result<Rc<Buffer>, Error> {
        self.buffer("a number", 8)
    }

    /// Room for a truth value, for a kernel to write; [`Bool::Device`] makes it a Bool.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_bool(&mut self) -> Result<Rc<Buffer>, Error> {
        self.buffer("a truth value", 1)
    }

    /// Room for a Vector, for a kernel to write.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_vector(&mut self) -> Result<Rc<Buffer>, Error> {
        self.buffer("a Vector", 8 * 3)
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
    pub fn bool_pointer(&mut self, value: &Bool) -> Result<DevicePtr, Error> {
        let value = match value {
            Bool::Device(buffer) => return Ok(buffer.address()),
            Bool::Known(value) => *value,
        };
        if let Some(buffer) = &self.bools[usize::from(value)] {
            return Ok(buffer.address());
        }
        let buffer = self.upload("a truth value", &[u8::from(value)])?;
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
            Scalar::Known(value) => self.constant(*value),
        }
    }

    /// The collection with one value per element: itself, or spread out.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn dense(&mut self, collection: &Collection) -> Result<Collection, Error> {
        if collection.derivatives.is_some() {
            let line = self.session.current_line();
            self.derivatives_lost.get_or_insert(line);
        }
        self.plain(collection)
    }

    /// As [`CudaRuntime::dense`], for what knows of derivatives or needs none.
    pub(super) fn plain(&mut self, collection: &Collection) -> Result<Collection, Error> {
        if collection.layout == Layout::Dense {
            return Ok(Collection { derivatives: None, ..collection.clone() });
        }
        let dense = self.new_collection(&collection.domain)?;
        let faces = u32::from(collection.domain.kind() == EntityKind::Face);
        let call = self
            .collection_call("equelle_spread")?
            .arg(self.cartesian_args()?)
            .arg(self.space(&collection.domain)?)
            .arg(faces)
            .arg(1u32)
            .arg(collection.pointer())
            .arg(dense.pointer());
        self.launch_over(call, collection.domain.len())?;
        Ok(dense)
    }

    /// Room for one partial result per leaf of a reduction over a domain.
    ///
    /// # Errors
    /// `Simulation` for the largest or smallest of nothing; `Backend`: not enough memory.
    pub fn leaves(&mut self, reduction: Reduction, domain: &Arc<Domain>) -> Result<Leaves<Reduction>, Error> {
        self.leaves_of(reduction, domain, 1)
    }

    /// As [`CudaRuntime::leaves`], of Vectors: component after component.
    ///
    /// # Errors
    /// As there.
    pub fn vector_leaves(&mut self, reduction: Reduction, domain: &Arc<Domain>) -> Result<Leaves<Reduction>, Error> {
        self.leaves_of(reduction, domain, self.session.grid().dim())
    }

    fn leaves_of(&mut self, reduction: Reduction, domain: &Arc<Domain>, components: usize) -> Result<Leaves<Reduction>, Error> {
        if domain.is_empty() && reduce::start(reduction).is_none() {
            return Err(self.session.locate(reduce::nothing_to_reduce(reduction, domain)));
        }
        let count = reduce::leaf_count(domain.len());
        let buffer = self.buffer("partial results", 8 * (components * count) as u64)?;
        Ok(Leaves { count, buffer, reduction })
    }

    /// As [`CudaRuntime::leaves`], of truth values.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn bool_leaves(&mut self, reduction: BoolReduction, domain: &Arc<Domain>) -> Result<Leaves<BoolReduction>, Error> {
        let count = reduce::leaf_count(domain.len());
        let buffer = self.buffer("partial results", count as u64)?;
        Ok(Leaves { count, buffer, reduction })
    }

    /// Combines the leaves by a binary tree.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn combine(&mut self, leaves: Leaves<Reduction>) -> Result<Scalar, Error> {
        let Leaves { count, buffer, reduction } = leaves;
        if count == 0 {
            return Ok(Scalar::Known(reduce::start(reduction).unwrap_or(f64::NAN)));
        }
        let result = self.new_number()?;
        self.combine_into(reduction, count, buffer.address(), result.address())?;
        Ok(Scalar::Device(result))
    }

    /// As [`CudaRuntime::combine`], component by component.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn combine_vectors(&mut self, leaves: Leaves<Reduction>) -> Result<Vector, Error> {
        let Leaves { count, buffer, reduction } = leaves;
        if count == 0 {
            let start = reduce::start(reduction).unwrap_or(f64::NAN);
            return Ok(Vector(self.upload("a Vector", &bytes_of(&[start; 3], f64::to_le_bytes))?));
        }
        let result = self.new_vector()?;
        for component in 0..self.session.grid().dim() as u64 {
            let from = DevicePtr(buffer.address().0 + 8 * component * count as u64);
            self.combine_into(reduction, count, from, DevicePtr(result.address().0 + 8 * component))?;
        }
        Ok(Vector(result))
    }

    /// Combines `count` numbers at `from`, at least one, to one number at `to`.
    pub(super) fn combine_into(&mut self, reduction: Reduction, mut count: usize, mut from: DevicePtr, to: DevicePtr) -> Result<(), Error> {
        let operation = reduction_number(reduction);
        let function = self.runtime_function("equelle_tree")?;
        // What is read must not be handed out as what is written.
        let mut read = None;
        // 256 neighbours per thread are eight levels of the tree.
        loop {
            let groups = count.div_ceil(256);
            let next = if groups == 1 { None } else { Some(self.buffer("partial results", 8 * groups as u64)?) };
            let target = next.as_ref().map_or(to, |next| next.address());
            let call = Call::new(function, "equelle_tree").arg(operation).arg(count as u32).arg(from).arg(target);
            self.launch_over(call, groups)?;
            if groups == 1 {
                return Ok(());
            }
            drop(std::mem::replace(&mut read, next));
            (from, count) = (target, groups);
        }
    }

    /// As [`CudaRuntime::combine`], of truth values.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn combine_bools(&mut self, leaves: Leaves<BoolReduction>) -> Result<Bool, Error> {
        let Leaves { mut count, mut buffer, reduction } = leaves;
        let operation = match reduction {
            BoolReduction::Any => 0u32,
            BoolReduction::All => 1,
        };
        if count == 0 {
            return Ok(Bool::Known(reduction == BoolReduction::All));
        }
        let function = self.runtime_function("equelle_tree_bools")?;
        loop {
            let groups = count.div_ceil(256);
            let next = self.buffer("partial results", groups as u64)?;
            let call = Call::new(function, "equelle_tree_bools").arg(operation).arg(count as u32).arg(buffer.address()).arg(next.address());
            self.launch_over(call, groups)?;
            (buffer, count) = (next, groups);
            if count == 1 {
                return Ok(Bool::Device(buffer));
            }
        }
    }

    /// A number known on the host, uploaded once.
    pub(super) fn constant(&mut self, value: f64) -> Result<DevicePtr, Error> {
        Ok(self.constant_buffer(value)?.address())
    }

    /// The same, to keep.
    pub(super) fn constant_buffer(&mut self, value: f64) -> Result<Rc<Buffer>, Error> {
        if let Some(buffer) = self.constants.get(&value.to_bits()) {
            return Ok(Rc::clone(buffer));
        }
        let buffer = self.upload("a number", &value.to_le_bytes())?;
        self.constants.insert(value.to_bits(), Rc::clone(&buffer));
        Ok(buffer)
    }
}

/// As the runtime's kernels number them.
pub(super) fn reduction_number(reduction: Reduction) -> u32 {
    match reduction {
        Reduction::Max => 0,
        Reduction::Min => 1,
        Reduction::Sum => 2,
        Reduction::Prod => 3,
    }
}

/// Partial results of a reduction.
#[derive(Debug)]
pub struct Leaves<R> {
    count: usize,
    buffer: Rc<Buffer>,
    reduction: R,
}

impl Leaves<BoolReduction> {
    /// The truth values of a collection, each as a leaf: their order does not matter.
    pub(super) fn of_bools(reduction: BoolReduction, values: &Collection) -> Self {
        Leaves { count: values.domain.len(), buffer: Rc::clone(&values.buffer), reduction }
    }
}

impl<R> Leaves<R> {
    /// Where they are.
    pub fn pointer(&self) -> DevicePtr {
        self.buffer.address()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
