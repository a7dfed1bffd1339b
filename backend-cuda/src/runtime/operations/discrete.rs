//! Gradient, Divergence and reductions.

use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent as Part, Reduction, reduce};

use crate::runtime::autodiff::forward;
use crate::runtime::device::DevicePtr;
use crate::runtime::executor::reduce::{Leaves, reduction_number};
use crate::runtime::grid::arrays::GridArrays;
use crate::runtime::operations::arithmetic::operation;
use crate::runtime::operations::operand::{Computed, Numbers, Operand};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Collection, Scalar, Vector, VectorCollection};

/// For each interior face: value in the second cell minus value in the first.
pub(super) fn gradient(rt: &mut CudaRuntime, values: &Collection) -> Result<Collection, Error> {
    let interior = rt.canonical_domain(CanonicalSet::new(EntityKind::Face, Part::Interior))?;
    let (data, out) = (values.numbers(rt)?, rt.new_collection(&interior)?);
    let space = rt.space(&interior)?;
    let grid = rt.grid.arrays(rt.session.grid(), GridArrays { face_cells: true, ..GridArrays::default() })?;
    let call = operation(rt, "equelle_gradient")?.arg(space).arg(grid).arg(DevicePtr(data.operand.values)).arg(out.pointer());
    rt.executor.launch_over(call, interior.len())?;
    let jacobian = forward::gradient(rt, &interior, &data)?;
    Ok(Computed { buffer: out.buffer, jacobians: [jacobian, None, None] }.scalars(&interior))
}

/// For each cell the sum over its faces with values, positive where it is the face's first cell.
pub(super) fn divergence(rt: &mut CudaRuntime, values: &Collection) -> Result<Collection, Error> {
    let cells = rt.canonical_domain(CanonicalSet::new(EntityKind::Cell, Part::All))?;
    let (data, out) = (values.numbers(rt)?, rt.new_collection(&cells)?);
    let ranks = rt.ranks(&values.domain)?;
    let all = values.domain.superset().extent == Part::All;
    let needs = GridArrays { sides: true, side_faces: all, side_ranks: !all, ..GridArrays::default() };
    let grid = rt.grid.arrays(rt.session.grid(), needs)?;
    let call = operation(rt, "equelle_divergence")?.arg(grid).arg(ranks).arg(DevicePtr(data.operand.values)).arg(out.pointer());
    rt.executor.launch_over(call, cells.len())?;
    let jacobian = forward::divergence(rt, &values.domain, &data)?;
    Ok(Computed { buffer: out.buffer, jacobians: [jacobian, None, None] }.scalars(&cells))
}

/// Reduces all elements in the order of [`equelle_runtime::reduce`].
pub(super) fn reduce(rt: &mut CudaRuntime, reduction: Reduction, values: &Collection) -> Result<Scalar, Error> {
    let data = values.values(rt)?;
    let leaves = rt.leaves(reduction, &values.domain)?;
    fill_leaves(rt, reduction, &values.domain, &data, &leaves, 0)?;
    rt.combine(leaves)
}

/// Reduces each component.
pub(super) fn reduce_components(rt: &mut CudaRuntime, reduction: Reduction, values: &VectorCollection) -> Result<Vector, Error> {
    let leaves = rt.vector_leaves(reduction, values.domain())?;
    let data = values.values(rt)?;
    for axis in 0..rt.session.grid().dim() {
        fill_leaves(rt, reduction, values.domain(), &data.component(axis), &leaves, axis)?;
    }
    rt.combine_vectors(leaves)
}

fn fill_leaves(
    rt: &mut CudaRuntime,
    reduction: Reduction,
    domain: &Arc<Domain>,
    values: &Numbers,
    leaves: &Leaves<Reduction>,
    axis: usize,
) -> Result<(), Error> {
    let count = reduce::leaf_count(domain.len());
    let to = DevicePtr(leaves.pointer().0 + 8 * (axis * count) as u64);
    let order = DevicePtr(rt.grid.sets.file_order(&rt.executor, domain)?);
    let call = rt.executor.collection_call("equelle_leaves")?.arg(reduction_number(reduction)).arg(domain.len() as u32).arg(order);
    rt.executor.launch_over_leaves(call.arg(DevicePtr(values.operand.values)).arg(to), count);
    Ok(())
}
