//! Gradient, Divergence and reductions.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent as Part, Reduction, reduce};

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::executor::reduce::{Leaves, reduction_number};
use crate::runtime::grid::arrays::GridArrays;
use crate::runtime::operations::arithmetic::{Computed, Numbers};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Collection, Scalar, Vector, VectorCollection};

impl CudaRuntime {
    /// Per interior face: value in the second cell minus value in the first.
    pub(crate) fn gradient_of(&mut self, values: &Collection) -> Result<Collection, Error> {
        let interior = self.canonical_domain(CanonicalSet::new(EntityKind::Face, Part::Interior))?;
        let (data, out) = (self.of_collection(values)?, self.new_collection(&interior)?);
        let (space, grid) =
            (self.space(&interior)?, self.grid.arrays(self.session.grid(), GridArrays { face_cells: true, ..GridArrays::default() })?);
        let call = self.operation("equelle_gradient")?.arg(space).arg(grid).arg(DevicePtr(data.operand.values)).arg(out.pointer());
        self.executor.launch_over(call, interior.len())?;
        let jacobian = self.gradient_rows(&interior, &data)?;
        Ok(Computed { buffer: out.buffer, jacobians: [jacobian, None, None] }.scalars(&interior))
    }

    /// Per cell the sum over its faces that have values, positive where it is the face's first cell.
    pub(crate) fn divergence_of(&mut self, values: &Collection) -> Result<Collection, Error> {
        let cells = self.canonical_domain(CanonicalSet::new(EntityKind::Cell, Part::All))?;
        let (data, out) = (self.of_collection(values)?, self.new_collection(&cells)?);
        let ranks = self.ranks(&values.domain)?;
        let all = values.domain.superset().extent == Part::All;
        let grid = self
            .grid
            .arrays(self.session.grid(), GridArrays { sides: true, side_faces: all, side_ranks: !all, ..GridArrays::default() })?;
        let call = self.operation("equelle_divergence")?.arg(grid).arg(ranks).arg(DevicePtr(data.operand.values)).arg(out.pointer());
        self.executor.launch_over(call, cells.len())?;
        let jacobian = self.divergence_rows(&values.domain, &data)?;
        Ok(Computed { buffer: out.buffer, jacobians: [jacobian, None, None] }.scalars(&cells))
    }

    /// One number from all elements, in the order that [`equelle_runtime::reduce`] documents.
    pub(crate) fn reduce_numbers(&mut self, reduction: Reduction, domain: &Arc<Domain>, values: &Numbers) -> Result<Scalar, Error> {
        let leaves = self.leaves(reduction, domain)?;
        self.fill_leaves(reduction, domain, values, &leaves, 0)?;
        self.combine(leaves)
    }

    /// The least and the greatest of `len` values of a collection, at least one, as two numbers on the device; NaN if one is. In one pass.
    pub(crate) fn extremes(&mut self, len: usize, values: DevicePtr) -> Result<Rc<Buffer>, Error> {
        /// Blocks that go through a collection side by side: some for each multiprocessor.
        const BLOCKS: usize = 512;
        let blocks = reduce::leaf_count(len).min(BLOCKS);
        let leaves = self.executor.buffer("partial results", 16 * blocks as u64)?;
        let (arrived, out) = (self.executor.arrived()?, self.executor.buffer("numbers", 16)?);
        let call = self.executor.collection_call("equelle_extremes")?.arg(len as u32).arg(values).arg(leaves.address());
        self.executor.launch_over_leaves(call.arg(arrived).arg(out.address()), blocks);
        Ok(out)
    }

    /// The reduction of each component.
    pub(crate) fn reduce_components(&mut self, reduction: Reduction, values: &VectorCollection) -> Result<Vector, Error> {
        let leaves = self.vector_leaves(reduction, values.domain())?;
        let data = self.of_vectors(values);
        for axis in 0..self.session.grid().dim() {
            self.fill_leaves(reduction, values.domain(), &data.component(axis), &leaves, axis)?;
        }
        self.combine_vectors(leaves)
    }

    fn fill_leaves(
        &mut self,
        reduction: Reduction,
        domain: &Arc<Domain>,
        values: &Numbers,
        leaves: &Leaves<Reduction>,
        axis: usize,
    ) -> Result<(), Error> {
        let count = reduce::leaf_count(domain.len());
        let to = DevicePtr(leaves.pointer().0 + 8 * (axis * count) as u64);
        let order = DevicePtr(self.grid.sets.file_order(&self.executor, domain)?);
        let call = self.executor.collection_call("equelle_leaves")?.arg(reduction_number(reduction)).arg(domain.len() as u32).arg(order);
        self.executor.launch_over_leaves(call.arg(DevicePtr(values.operand.values)).arg(to), count);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::runtime::test_support::{bits, numbers, runtimes};

    /// One block and many, of which some go through the values twice; twice each, since blocks count themselves.
    #[test]
    fn extremes_are_those_of_all_values() {
        for mut rt in runtimes() {
            for n in [1, 700, 300_000, 700_001] {
                let mut values = numbers(n as u64, n);
                let known = |values: &[f64]| {
                    [values.iter().copied().fold(f64::INFINITY, f64::min), values.iter().copied().fold(-f64::INFINITY, f64::max)]
                };
                for last in [0.25, f64::INFINITY, -3.0] {
                    values[n - 1] = last;
                    let put = rt.executor.put(&values);
                    let found = rt.extremes(n, put.address()).expect("room");
                    assert_eq!(rt.executor.bits(found.address(), 2), bits(&known(&values)), "{n} values, the last one {last}");
                }
                values[n / 2] = f64::NAN;
                let put = rt.executor.put(&values);
                let found = rt.extremes(n, put.address()).expect("room");
                assert!(
                    rt.executor.bits(found.address(), 2).into_iter().all(|number| f64::from_bits(number).is_nan()),
                    "{n} values with NaN"
                );
            }
        }
    }
}
