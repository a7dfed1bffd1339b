//! Reductions on the device: combination of leaves by a binary tree.

use std::rc::Rc;

use equelle_runtime::{BoolReduction, Error, Reduction, reduce};

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::Executor;
use crate::runtime::executor::pool::Buffer;

/// The number of a reduction in the kernels.
pub(crate) fn reduction_number(reduction: Reduction) -> u32 {
    match reduction {
        Reduction::Max => 0,
        Reduction::Min => 1,
        Reduction::Sum => 2,
        Reduction::Prod => 3,
    }
}

/// Neighbours that a block of `equelle_tree` combines.
const TREE: usize = 16 * reduce::CHAINS;

/// Partial results of a reduction.
#[derive(Debug)]
pub struct Leaves<R> {
    pub(crate) count: usize,
    pub(crate) buffer: Rc<Buffer>,
    pub(crate) reduction: R,
}

impl<R> Leaves<R> {
    /// Their address.
    pub fn pointer(&self) -> DevicePtr {
        self.buffer.address()
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Where threads take an extreme.
#[derive(Debug)]
pub struct Extreme {
    pub(crate) keys: Rc<Buffer>,
}

impl Extreme {
    /// Its address.
    pub fn pointer(&self) -> DevicePtr {
        self.keys.address()
    }
}

/// The key of no extreme, `EQ_NO_EXTREME` of the kernels.
const NO_EXTREME: u64 = u64::MAX;
/// Words of the keys of an extreme: `EQ_EXTREME_KEYS` times `EQ_KEY_WORDS` of the kernels.
const KEY_WORDS: usize = 64 * 16;

impl Executor {
    /// The keys of an extreme, for each number of one: between launches those of none.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn keys_of_extreme(&self, number: usize) -> Result<Rc<Buffer>, Error> {
        while self.extreme_keys.borrow().len() <= number {
            let keys = self.upload("the keys of an extreme", &[NO_EXTREME; KEY_WORDS])?;
            self.extreme_keys.borrow_mut().push(keys);
        }
        Ok(Rc::clone(&self.extreme_keys.borrow()[number]))
    }

    /// Combines `count` numbers at `from`, at least one, to one number at `to`.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn combine_into(&self, reduction: Reduction, mut count: usize, mut from: DevicePtr, to: DevicePtr) -> Result<(), Error> {
        let operation = reduction_number(reduction);
        // The input must not be reused as output.
        let mut read = None;
        loop {
            let groups = count.div_ceil(TREE);
            let next = if groups == 1 { None } else { Some(self.buffer("partial results", 8 * groups as u64)?) };
            let target = next.as_ref().map_or(to, |next| next.address());
            let call = self.runtime_call("equelle_tree")?.arg(operation).arg(count as u32).arg(from).arg(target);
            self.launch_over_leaves(call, groups);
            if groups == 1 {
                return Ok(());
            }
            drop(std::mem::replace(&mut read, next));
            (from, count) = (target, groups);
        }
    }

    /// Combines Bools, at least one, one byte each; returns the result's buffer.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn combine_bools(&self, leaves: Leaves<BoolReduction>) -> Result<Rc<Buffer>, Error> {
        let Leaves { mut count, mut buffer, reduction } = leaves;
        let operation = match reduction {
            BoolReduction::Any => 0u32,
            BoolReduction::All => 1,
        };
        loop {
            let groups = count.div_ceil(256);
            let next = self.buffer("partial results", groups as u64)?;
            let call = self.runtime_call("equelle_tree_bools")?.arg(operation).arg(count as u32).arg(buffer.address()).arg(next.address());
            self.launch_over(call, groups)?;
            (buffer, count) = (next, groups);
            if count == 1 {
                return Ok(buffer);
            }
        }
    }

    /// The least and the greatest of `len` values of a collection, at least one, as two numbers on
    /// the device; NaN if one is. One pass.
    pub(crate) fn extremes(&self, len: usize, values: DevicePtr) -> Result<Rc<Buffer>, Error> {
        /// Number of blocks that process a collection in parallel: some for each multiprocessor.
        const BLOCKS: usize = 512;
        let blocks = reduce::leaf_count(len).min(BLOCKS);
        let leaves = self.buffer("partial results", 16 * blocks as u64)?;
        let (arrived, out) = (self.arrived()?, self.buffer("numbers", 16)?);
        let call = self.collection_call("equelle_extremes")?.arg(len as u32).arg(values).arg(leaves.address());
        self.launch_over_leaves(call.arg(arrived).arg(out.address()), blocks);
        Ok(out)
    }

    /// Turns `n` 64-bit numbers into their prefix sums: within groups of 256, then over the groups.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn running_sums(&self, values: DevicePtr, n: usize) -> Result<(), Error> {
        let groups = n.div_ceil(256);
        if groups == 0 {
            return Ok(());
        }
        let totals = self.buffer("partial results", 8 * groups as u64)?;
        let call = self.runtime_call("equelle_running_sums")?.arg(n as u64).arg(values).arg(totals.address());
        self.launch_over(call, groups)?;
        if groups > 1 {
            self.running_sums(totals.address(), groups)?;
            let call = self.runtime_call("equelle_add_totals")?.arg(n as u64).arg(values).arg(totals.address());
            self.launch_over(call, n)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::runtime::test_support::{bits, numbers, runtimes};

    /// One block and many blocks, some with several values a thread; twice each, since blocks are
    /// counted on the device.
    #[test]
    fn extremes_are_those_of_all_values() {
        for rt in runtimes() {
            for n in [1, 700, 300_000, 700_001] {
                let mut values = numbers(n as u64, n);
                let known = |values: &[f64]| {
                    [values.iter().copied().fold(f64::INFINITY, f64::min), values.iter().copied().fold(-f64::INFINITY, f64::max)]
                };
                for last in [0.25, f64::INFINITY, -3.0] {
                    values[n - 1] = last;
                    let put = rt.executor.put(&values);
                    let found = rt.executor.extremes(n, put.address()).expect("memory");
                    assert_eq!(rt.executor.bits(found.address(), 2), bits(&known(&values)), "{n} values, the last one {last}");
                }
                values[n / 2] = f64::NAN;
                let put = rt.executor.put(&values);
                let found = rt.executor.extremes(n, put.address()).expect("memory");
                assert!(
                    rt.executor.bits(found.address(), 2).into_iter().all(|number| f64::from_bits(number).is_nan()),
                    "{n} values with NaN"
                );
            }
        }
    }
}
