//! The ternary operator: the value of one branch for each element; the other branch is not read.

use equelle_runtime::Error;

use crate::runtime::autodiff::forward;
use crate::runtime::operations::arithmetic::{launch_extent, operation, result_buffer};
use crate::runtime::operations::bools::BoolOperand;
use crate::runtime::operations::operand::{Computed, Extent, Operand};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{BoolCollection, EntityCollection};

/// Selects numbers or Vectors, with the derivatives of the chosen branch.
pub(super) fn numbers<T: Operand>(
    rt: &mut CudaRuntime,
    extent: Extent,
    condition: &BoolCollection,
    a: &T,
    b: &T,
) -> Result<Computed, Error> {
    let (a, b, truths) = (a.numbers(rt)?, b.numbers(rt)?, BoolOperand::from(condition).operand);
    let buffer = result_buffer(rt, extent)?;
    let call = operation(rt, "equelle_select")?.arg(extent.n as u32).arg(truths);
    launch_extent(rt, call.arg(a.operand).arg(b.operand).arg(buffer.address()), extent);
    let jacobians = forward::select(rt, extent, truths, &a, &b)?;
    Ok(Computed { buffer, jacobians })
}

/// Selects Bools.
pub(super) fn bools(
    rt: &mut CudaRuntime,
    condition: &BoolCollection,
    a: &BoolCollection,
    b: &BoolCollection,
) -> Result<BoolCollection, Error> {
    let (out, n) = (rt.new_bool_collection(condition.domain())?, condition.domain().len());
    let [condition, a, b] = [condition, a, b].map(BoolOperand::from);
    let call = operation(rt, "equelle_select_bools")?.arg(n as u32).arg(condition.operand).arg(a.operand).arg(b.operand);
    rt.executor.launch_over(call.arg(out.pointer()), n)?;
    Ok(out)
}

/// Selects entities of one kind.
pub(super) fn entities(
    rt: &mut CudaRuntime,
    condition: &BoolCollection,
    a: &EntityCollection,
    b: &EntityCollection,
) -> Result<EntityCollection, Error> {
    let (out, n) = (rt.new_entity_collection(condition.domain(), a.kind())?, condition.domain().len());
    let call = operation(rt, "equelle_select_entities")?.arg(n as u32).arg(BoolOperand::from(condition).operand);
    rt.executor.launch_over(call.arg(a.pointer()).arg(b.pointer()).arg(out.pointer()), n)?;
    Ok(out)
}
