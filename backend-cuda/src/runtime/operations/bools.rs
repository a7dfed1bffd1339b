//! Comparisons and logic.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{BoolReduction, Comparison, Error, Logic};

use crate::runtime::executor::arguments::EqBool;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::executor::reduce::Leaves;
use crate::runtime::operations::arithmetic::{operation, operation_of};
use crate::runtime::operations::operand::{Extent, Operand};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Bool, BoolCollection, EntityCollection, Scalar};

/// Operations on Bools, in the order of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoolOp {
    Copy = 0,
    Not = 1,
    And = 2,
    Or = 3,
    Xor = 4,
}

impl From<Logic> for BoolOp {
    fn from(logic: Logic) -> BoolOp {
        match logic {
            Logic::And => BoolOp::And,
            Logic::Or => BoolOp::Or,
            Logic::Xor => BoolOp::Xor,
        }
    }
}

impl BoolOp {
    fn of(self, a: bool, b: bool) -> bool {
        match self {
            BoolOp::Copy => a,
            BoolOp::Not => !a,
            BoolOp::And => a & b,
            BoolOp::Or => a | b,
            BoolOp::Xor => a ^ b,
        }
    }
}

/// Bool operand of an operation. Its buffer is not reused before it is dropped.
#[derive(Clone, Debug)]
pub(crate) struct BoolOperand {
    pub operand: EqBool,
    _memory: Option<Rc<Buffer>>,
}

impl From<&Bool> for BoolOperand {
    fn from(truth: &Bool) -> BoolOperand {
        match truth {
            Bool::Host(value) => BoolOperand { operand: EqBool { value: u32::from(*value), ..EqBool::default() }, _memory: None },
            Bool::Device(buffer) => {
                let operand = EqBool { values: buffer.address().0, ..EqBool::default() };
                BoolOperand { operand, _memory: Some(Rc::clone(buffer)) }
            }
        }
    }
}

impl From<&BoolCollection> for BoolOperand {
    fn from(truths: &BoolCollection) -> BoolOperand {
        let operand = EqBool { values: truths.pointer().0, stride: 1, ..EqBool::default() };
        BoolOperand { operand, _memory: Some(Rc::clone(&truths.0.buffer)) }
    }
}

fn compare_into(
    rt: &mut CudaRuntime,
    op: Comparison,
    extent: Extent,
    a: &impl Operand,
    b: &impl Operand,
    out: &Rc<Buffer>,
) -> Result<(), Error> {
    let (a, b) = (a.values(rt)?, b.values(rt)?);
    let call = operation_of(rt, extent.of, "equelle_compare")?.arg(op as u32).arg(extent.n as u32);
    rt.executor.launch_over(call.arg(a.operand).arg(b.operand).arg(out.address()), extent.n)
}

/// Element-wise comparison; with NaN only `!=` holds.
pub(super) fn compare(
    rt: &mut CudaRuntime,
    op: Comparison,
    domain: &Arc<Domain>,
    a: &impl Operand,
    b: &impl Operand,
) -> Result<BoolCollection, Error> {
    let out = rt.new_bool_collection(domain)?;
    compare_into(rt, op, Extent::scalars(domain), a, b, &out.0.buffer)?;
    Ok(out)
}

/// Compares two numbers, on the host if it knows both.
pub(super) fn compare_scalars(rt: &mut CudaRuntime, op: Comparison, a: &Scalar, b: &Scalar) -> Result<Bool, Error> {
    if let (Scalar::Host(a), Scalar::Host(b)) = (a, b) {
        return Ok(Bool::Host(op.holds(a, b)));
    }
    let out = rt.new_bool()?;
    compare_into(rt, op, Extent::alone(1), a, b, &out)?;
    Ok(Bool::Device(out))
}

fn logic_into(rt: &CudaRuntime, op: BoolOp, n: usize, a: BoolOperand, b: BoolOperand, out: &Rc<Buffer>) -> Result<(), Error> {
    let call = operation(rt, "equelle_logic")?.arg(op as u32).arg(n as u32).arg(a.operand).arg(b.operand).arg(out.address());
    rt.executor.launch_over(call, n)
}

/// Element-wise logic.
pub(super) fn combine(
    rt: &mut CudaRuntime,
    op: BoolOp,
    domain: &Arc<Domain>,
    a: impl Into<BoolOperand>,
    b: impl Into<BoolOperand>,
) -> Result<BoolCollection, Error> {
    let out = rt.new_bool_collection(domain)?;
    logic_into(rt, op, domain.len(), a.into(), b.into(), &out.0.buffer)?;
    Ok(out)
}

/// A logical operator on two Bools, on the host if it knows both.
pub(super) fn combine_bools(rt: &mut CudaRuntime, op: BoolOp, a: &Bool, b: &Bool) -> Result<Bool, Error> {
    if let (Bool::Host(a), Bool::Host(b)) = (a, b) {
        return Ok(Bool::Host(op.of(*a, *b)));
    }
    let out = rt.new_bool()?;
    logic_into(rt, op, 1, a.into(), b.into(), &out)?;
    Ok(Bool::Device(out))
}

/// True if two entities, or two Empties, are the same.
pub(super) fn same_entities(rt: &mut CudaRuntime, a: &EntityCollection, b: &EntityCollection) -> Result<BoolCollection, Error> {
    let (out, n) = (rt.new_bool_collection(a.domain())?, a.domain().len());
    let call = operation(rt, "equelle_same_entities")?.arg(n as u32).arg(a.pointer()).arg(b.pointer()).arg(out.pointer());
    rt.executor.launch_over(call, n)?;
    Ok(out)
}

/// True if one is true, or none is false. The order does not matter, so only the tree is used.
pub(super) fn reduce(rt: &mut CudaRuntime, reduction: BoolReduction, values: &BoolCollection) -> Result<Bool, Error> {
    rt.combine_bools(Leaves { count: values.domain().len(), buffer: Rc::clone(&values.0.buffer), reduction })
}
