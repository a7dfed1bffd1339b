//! Comparisons and logic.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{BoolReduction, Comparison, Error, Logic};

use crate::runtime::executor::arguments::EqBool;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::executor::reduce::Leaves;
use crate::runtime::operations::arithmetic::{Extent, Numbers};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Bool, BoolCollection, EntityCollection, Scalar};

/// Operations on truth values, in the order of the kernel.
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

/// Bools as operations read them. Their memory is not handed out again before this is dropped.
#[derive(Clone, Debug)]
pub(crate) struct BoolOperand {
    pub operand: EqBool,
    _memory: Option<Rc<Buffer>>,
}

impl BoolOperand {
    pub fn single(truth: &Bool) -> BoolOperand {
        match truth {
            Bool::Known(value) => BoolOperand { operand: EqBool { value: u32::from(*value), ..EqBool::default() }, _memory: None },
            Bool::Device(buffer) => {
                let operand = EqBool { values: buffer.address().0, ..EqBool::default() };
                BoolOperand { operand, _memory: Some(Rc::clone(buffer)) }
            }
        }
    }

    pub fn each(truths: &BoolCollection) -> BoolOperand {
        let operand = EqBool { values: truths.pointer().0, stride: 1, ..EqBool::default() };
        BoolOperand { operand, _memory: Some(Rc::clone(&truths.0.buffer)) }
    }
}

fn number(op: Comparison) -> u32 {
    match op {
        Comparison::Less => 0,
        Comparison::Greater => 1,
        Comparison::LessEqual => 2,
        Comparison::GreaterEqual => 3,
        Comparison::Equal => 4,
        Comparison::NotEqual => 5,
    }
}

impl CudaRuntime {
    fn compare_into(&mut self, op: Comparison, extent: Extent, a: &Numbers, b: &Numbers, out: &Rc<Buffer>) -> Result<(), Error> {
        let call = self
            .operation_of(extent.of, "equelle_compare")?
            .arg(number(op))
            .arg(extent.n as u32)
            .arg(a.operand)
            .arg(b.operand)
            .arg(out.address());
        self.executor.launch_over(call, extent.n)
    }

    /// Element-wise comparison; with NaN only `!=` holds.
    pub(crate) fn compare_numbers(
        &mut self,
        op: Comparison,
        domain: &Arc<Domain>,
        a: &Numbers,
        b: &Numbers,
    ) -> Result<BoolCollection, Error> {
        let out = self.new_bool_collection(domain)?;
        self.compare_into(op, Extent::scalars(domain), a, b, &out.0.buffer)?;
        Ok(out)
    }

    /// Comparison of two numbers: on the host if the host knows both.
    pub(crate) fn compare_singles(&mut self, op: Comparison, a: &Scalar, b: &Scalar) -> Result<Bool, Error> {
        if let (Scalar::Known(a), Scalar::Known(b)) = (a, b) {
            return Ok(Bool::Known(op.holds(a, b)));
        }
        let out = self.new_bool()?;
        let (a, b) = (self.of_scalar(a), self.of_scalar(b));
        self.compare_into(op, Extent::alone(1), &a, &b, &out)?;
        Ok(Bool::Device(out))
    }

    fn logic_into(&mut self, op: BoolOp, n: usize, a: &BoolOperand, b: &BoolOperand, out: &Rc<Buffer>) -> Result<(), Error> {
        let call = self.operation("equelle_logic")?.arg(op as u32).arg(n as u32).arg(a.operand).arg(b.operand).arg(out.address());
        self.executor.launch_over(call, n)
    }

    /// Element-wise logic.
    pub(crate) fn combine_each(
        &mut self,
        op: BoolOp,
        domain: &Arc<Domain>,
        a: &BoolOperand,
        b: &BoolOperand,
    ) -> Result<BoolCollection, Error> {
        let out = self.new_bool_collection(domain)?;
        self.logic_into(op, domain.len(), a, b, &out.0.buffer)?;
        Ok(out)
    }

    /// Logic of two truth values: on the host if the host knows both.
    pub(crate) fn combine_singles(&mut self, op: BoolOp, a: &Bool, b: &Bool) -> Result<Bool, Error> {
        if let (Bool::Known(a), Bool::Known(b)) = (a, b) {
            return Ok(Bool::Known(op.of(*a, *b)));
        }
        let out = self.new_bool()?;
        self.logic_into(op, 1, &BoolOperand::single(a), &BoolOperand::single(b), &out)?;
        Ok(Bool::Device(out))
    }

    /// Whether two entities, or two Empties, are the same.
    pub(crate) fn compare_entities(&mut self, a: &EntityCollection, b: &EntityCollection) -> Result<BoolCollection, Error> {
        let (domain, n) = (Arc::clone(a.domain()), a.domain().len());
        let out = self.new_bool_collection(&domain)?;
        let call = self.operation("equelle_same_entities")?.arg(n as u32).arg(a.pointer()).arg(b.pointer()).arg(out.pointer());
        self.executor.launch_over(call, n)?;
        Ok(out)
    }

    /// Whether one is true, or none is false. Their order does not matter, so they are combined by the tree alone.
    pub(crate) fn reduce_to_bool(&mut self, reduction: BoolReduction, values: &BoolCollection) -> Result<Bool, Error> {
        self.combine_bools(Leaves { count: values.domain().len(), buffer: Rc::clone(&values.0.buffer), reduction })
    }
}
