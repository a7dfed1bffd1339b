//! What generated kernels call: arguments, results, launches, reductions.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{EntityKind, Error, ErrorKind, KernelInfo, Reduction, reduce};

use crate::runtime::args::{Call, EqChecks};
use crate::runtime::collections::{Collection, Layout, Scalar};
use crate::runtime::device::{DevicePtr, LaunchShape};
use crate::runtime::module::KernelModule;
use crate::runtime::pool::Buffer;
use crate::runtime::program::{CHECKS_OF_A_KERNEL, CudaRuntime};

/// Threads of a block.
const BLOCK: u32 = 256;

impl CudaRuntime {
    /// A call of a kernel, to be given its arguments and launched.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub fn call(&mut self, module: &KernelModule, name: &'static str) -> Result<Call, Error> {
        let function = self.function(module, name);
        Ok(Call::new(self.located(function)?, name))
    }

    /// Queues a call with one thread per element; nothing for none.
    ///
    /// # Errors
    /// None today; the launch itself reports at the next flush.
    pub fn launch_over(&mut self, call: Call, elements: usize) -> Result<(), Error> {
        if elements > 0 {
            let blocks = (elements as u64).div_ceil(u64::from(BLOCK)) as u32;
            self.queue.push(call.shaped(LaunchShape { grid: [blocks, 1, 1], block: [BLOCK, 1, 1] }));
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
        if g.flat == 1 {
            return self.launch_over(call, cells);
        }
        // A warp is a piece of a row; 8 rows share the cache lines of the layers above and below. Of 64x4, 32x8, 128x2 and 256x1 the fastest
        // on an H100 for explicit heat on 256^3 cells.
        let block = [32, 8, 1];
        let grid = [g.n[0].div_ceil(block[0]), g.n[1].div_ceil(block[1]), g.n[2]];
        self.queue.push(call.shaped(LaunchShape { grid, block }));
        Ok(())
    }

    /// A collection with arbitrary values, for a kernel to write.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_collection(&mut self, domain: &Arc<Domain>) -> Result<Collection, Error> {
        let buffer = self.buffer(domain.name(), 8 * domain.len() as u64)?;
        Ok(Collection { domain: Arc::clone(domain), buffer, layout: Layout::Dense })
    }

    /// A collection that a Cartesian run stores as one value per axis (faces) or one value (cells).
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_per_axis_collection(&mut self, domain: &Arc<Domain>) -> Result<Collection, Error> {
        let buffer = self.buffer(domain.name(), 8 * 3)?;
        Ok(Collection { domain: Arc::clone(domain), buffer, layout: Layout::PerAxis })
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

    /// Where a Scalar is on the device.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn scalar_pointer(&mut self, scalar: &Scalar) -> Result<DevicePtr, Error> {
        match scalar {
            Scalar::Device(buffer) => Ok(buffer.address()),
            Scalar::Known(value) => self.constant(*value),
        }
    }

    /// The collection with one value per element: itself, or spread out.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn dense(&mut self, collection: &Collection) -> Result<Collection, Error> {
        if collection.layout == Layout::Dense {
            return Ok(collection.clone());
        }
        let dense = self.new_collection(&collection.domain)?;
        let faces = u32::from(collection.domain.kind() == EntityKind::Face);
        let function = self.runtime_function("equelle_spread")?;
        let call = Call::new(function, "equelle_spread")
            .arg(self.cartesian_args()?)
            .arg(self.space(&collection.domain)?)
            .arg(faces)
            .arg(1u32)
            .arg(collection.pointer())
            .arg(dense.pointer());
        self.launch_over(call, collection.domain.len())?;
        Ok(dense)
    }

    /// Where the conditions of a kernel over a domain are reported.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn checks(&mut self, kernel: &'static KernelInfo, domain: &Arc<Domain>) -> Result<EqChecks, Error> {
        let flag = match &self.flag {
            Some(flag) => flag.clone(),
            None => {
                let flag = self.upload("the flag of conditions", &u64::MAX.to_le_bytes())?;
                self.flag = Some(flag.clone());
                flag
            }
        };
        let known = self.checks.iter().position(|(k, d)| std::ptr::eq(*k, kernel) && Arc::ptr_eq(d, domain));
        let first = known.unwrap_or_else(|| {
            self.checks.push((kernel, Arc::clone(domain)));
            self.checks.len() - 1
        });
        Ok(EqChecks { flag: flag.address().0, first: (first * CHECKS_OF_A_KERNEL) as u32 })
    }

    /// Room for one partial result per leaf of a reduction over a domain.
    ///
    /// # Errors
    /// `Simulation` for the largest or smallest of nothing; `Backend`: not enough memory.
    pub fn leaves(&mut self, reduction: Reduction, domain: &Arc<Domain>) -> Result<Leaves, Error> {
        if domain.is_empty() && reduce::start(reduction).is_none() {
            let message = format!("the largest or smallest value on {} does not exist: it has no elements", domain.name());
            return Err(self.session.locate(Error::new(ErrorKind::Simulation, message)));
        }
        let count = reduce::leaf_count(domain.len());
        let buffer = self.buffer("partial results", 8 * count as u64)?;
        Ok(Leaves { count, buffer, reduction })
    }

    /// Combines the leaves by a binary tree.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn combine(&mut self, leaves: Leaves) -> Result<Scalar, Error> {
        let Leaves { mut count, mut buffer, reduction } = leaves;
        if count == 0 {
            return Ok(Scalar::Known(reduce::start(reduction).unwrap_or(f64::NAN)));
        }
        let operation = match reduction {
            Reduction::Max => 0u32,
            Reduction::Min => 1,
            Reduction::Sum => 2,
            Reduction::Prod => 3,
        };
        let function = self.runtime_function("equelle_tree")?;
        // 256 neighbours per thread are eight levels of the tree.
        loop {
            let groups = count.div_ceil(256);
            let next = self.buffer("partial results", 8 * groups as u64)?;
            let call = Call::new(function, "equelle_tree").arg(operation).arg(count as u32).arg(buffer.address()).arg(next.address());
            self.launch_over(call, groups)?;
            (buffer, count) = (next, groups);
            if count == 1 {
                return Ok(Scalar::Device(buffer));
            }
        }
    }

    /// A number known on the host, uploaded once.
    fn constant(&mut self, value: f64) -> Result<DevicePtr, Error> {
        if let Some(buffer) = self.constants.get(&value.to_bits()) {
            return Ok(buffer.address());
        }
        let buffer = self.upload("a number", &value.to_le_bytes())?;
        let address = buffer.address();
        self.constants.insert(value.to_bits(), buffer);
        Ok(address)
    }
}

/// Partial results of a reduction.
#[derive(Debug)]
pub struct Leaves {
    count: usize,
    buffer: Rc<Buffer>,
    reduction: Reduction,
}

impl Leaves {
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
