//! Gradient, Divergence and reductions.

use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent as Part, FaceReduction, Reduction, reduce};

use crate::runtime::autodiff::forward;
use crate::runtime::device::DevicePtr;
use crate::runtime::executor::reduce::{Leaves, reduction_number};
use crate::runtime::grid::arrays::GridArrays;
use crate::runtime::operations::arithmetic::{operation, result_buffer};
use crate::runtime::operations::operand::{Computed, Extent, Numbers, Operand};
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

/// For each cell a reduction of numbers on its faces: of `first` where it is their first cell, of
/// `second` where it is their second. Component by component.
pub(super) fn face_reduce(
    rt: &mut CudaRuntime,
    reduction: FaceReduction,
    faces: &Arc<Domain>,
    [first, second]: [&Numbers; 2],
    components: usize,
) -> Result<(Computed, Arc<Domain>), Error> {
    let cells = rt.canonical_domain(CanonicalSet::new(EntityKind::Cell, Part::All))?;
    let extent = Extent { components, ..Extent::scalars(&cells) };
    let buffer = result_buffer(rt, extent)?;
    let out = Numbers::components(&buffer, extent.n, rt.executor.precision());
    let ranks = rt.ranks(faces)?;
    let all = faces.superset().extent == Part::All;
    let needs = GridArrays { sides: true, side_faces: all, side_ranks: !all, ..GridArrays::default() };
    let (number, start) = match reduction {
        FaceReduction::Sum => (0u32, 0.0),
        FaceReduction::Max => (1, f64::NEG_INFINITY),
        FaceReduction::Min => (2, f64::INFINITY),
    };
    let extreme = reduction != FaceReduction::Sum && (first.has_derivatives() || second.has_derivatives());
    // Positions of the extremes in either collection.
    let chosen = if extreme {
        Some([
            rt.executor.buffer("positions of extremes", 4 * extent.n as u64)?,
            rt.executor.buffer("positions of extremes", 4 * extent.n as u64)?,
        ])
    } else {
        None
    };
    let [of_first, of_second] = chosen.as_ref().map_or([DevicePtr(0); 2], |[a, b]| [a.address(), b.address()]);
    for axis in 0..components {
        let grid = rt.grid.arrays(rt.session.grid(), needs)?;
        let [a, b, out] = [first, second, &out].map(|numbers| DevicePtr(numbers.component(axis).operand.values));
        let call = operation(rt, "equelle_face_reduce")?.arg(number).arg(start).arg(grid).arg(ranks).arg(a).arg(b).arg(out);
        rt.executor.launch_over(call.arg(of_first).arg(of_second), cells.len())?;
    }
    let mut jacobians = [None, None, None];
    for (axis, jacobian) in jacobians.iter_mut().enumerate().take(components) {
        *jacobian = match &chosen {
            None => forward::face_sum(rt, faces, [&first.component(axis), &second.component(axis)])?,
            Some([a, b]) => forward::face_extreme(rt, extent.n, [(a, first), (b, second)])?,
        };
    }
    Ok((Computed { buffer, jacobians }, cells))
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
