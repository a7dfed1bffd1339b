//! Reductions of the program: partial results by leaves, combined by a tree.

use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{BoolReduction, Error, Reduction, reduce};

use crate::runtime::device::{DevicePtr, LaunchShape};
use crate::runtime::executor::reduce::{Extreme, Leaves};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Bool, Scalar, Vector};

impl CudaRuntime {
    /// Allocates one partial result per leaf of a reduction over a domain.
    ///
    /// # Errors
    /// `Simulation` for Max or Min without elements; `Backend`: not enough memory.
    pub fn leaves(&mut self, reduction: Reduction, domain: &Arc<Domain>) -> Result<Leaves<Reduction>, Error> {
        leaves_of(self, reduction, domain, 1)
    }

    /// [`CudaRuntime::leaves`] for Vectors: component after component.
    ///
    /// # Errors
    /// As for [`CudaRuntime::leaves`].
    pub fn vector_leaves(&mut self, reduction: Reduction, domain: &Arc<Domain>) -> Result<Leaves<Reduction>, Error> {
        leaves_of(self, reduction, domain, self.session.grid().dim())
    }

    /// [`CudaRuntime::leaves`] for Bools.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn bool_leaves(&mut self, reduction: BoolReduction, domain: &Arc<Domain>) -> Result<Leaves<BoolReduction>, Error> {
        let count = reduce::leaf_count(domain.len());
        let buffer = self.executor.buffer("partial results", count as u64)?;
        Ok(Leaves { count, buffer, reduction })
    }

    /// Combines the leaves by a binary tree.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn combine(&mut self, leaves: Leaves<Reduction>) -> Result<Scalar, Error> {
        let Leaves { count, buffer, reduction } = leaves;
        if count == 0 {
            return Ok(Scalar::Host(reduce::start(reduction).unwrap_or(f64::NAN)));
        }
        let result = self.new_number()?;
        self.executor.combine_into(reduction, count, buffer.address(), result.address())?;
        Ok(Scalar::Device(result))
    }

    /// Where the threads of a kernel take the extreme that is the result of this number: one kernel
    /// after the other, each followed by [`CudaRuntime::extreme_value`].
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn extreme(&mut self, number: usize) -> Result<Extreme, Error> {
        Ok(Extreme { keys: self.executor.keys_of_extreme(number)? })
    }

    /// The extreme that a kernel has taken.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn extreme_value(&mut self, reduction: Reduction, extreme: Extreme) -> Result<Scalar, Error> {
        let result = self.new_number()?;
        let call = self.executor.runtime_call("equelle_extreme")?.arg(u32::from(reduction == Reduction::Max));
        let warp = LaunchShape { grid: [1; 3], block: [32, 1, 1] };
        self.executor.push(call.arg(extreme.pointer()).arg(result.address()).shaped(warp));
        Ok(Scalar::Device(result))
    }

    /// [`CudaRuntime::combine`], component by component.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn combine_vectors(&mut self, leaves: Leaves<Reduction>) -> Result<Vector, Error> {
        let Leaves { count, buffer, reduction } = leaves;
        if count == 0 {
            let start = reduce::start(reduction).unwrap_or(f64::NAN);
            return Ok(Vector(self.executor.upload("a Vector", &[start; 3])?));
        }
        let result = self.new_vector()?;
        for component in 0..self.session.grid().dim() as u64 {
            let from = DevicePtr(buffer.address().0 + 8 * component * count as u64);
            self.executor.combine_into(reduction, count, from, DevicePtr(result.address().0 + 8 * component))?;
        }
        Ok(Vector(result))
    }

    /// [`CudaRuntime::combine`] for Bools.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn combine_bools(&mut self, leaves: Leaves<BoolReduction>) -> Result<Bool, Error> {
        if leaves.is_empty() {
            return Ok(Bool::Host(leaves.reduction == BoolReduction::All));
        }
        Ok(Bool::Device(self.executor.combine_bools(leaves)?))
    }
}

fn leaves_of(rt: &CudaRuntime, reduction: Reduction, domain: &Arc<Domain>, components: usize) -> Result<Leaves<Reduction>, Error> {
    if domain.is_empty() && reduce::start(reduction).is_none() {
        return Err(rt.session.locate(reduce::nothing_to_reduce(reduction, domain)));
    }
    let count = reduce::leaf_count(domain.len());
    let buffer = rt.executor.buffer("partial results", 8 * (components * count) as u64)?;
    Ok(Leaves { count, buffer, reduction })
}
