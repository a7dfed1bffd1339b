//! Costs of values with everything substituted.

use super::{Planner, is_sum};
use crate::cost::CostModel;
use crate::ir::{Op, OpClass, UnaryOp, ValueId};
use crate::ops::Work;
use crate::types::Shape;

impl Planner<'_> {
    /// Cost of one evaluation with everything substituted, and whether that sums over faces.
    pub(super) fn cost(&mut self, value: ValueId) -> (u32, bool) {
        if let Some(&known) = self.costs.get(&value) {
            return known;
        }
        let known = self.cost_of(value);
        self.costs.insert(value, known);
        known
    }

    /// The part of the cost of a value that functions and tables have.
    pub(super) fn functions(&mut self, value: ValueId) -> u32 {
        if let Some(&known) = self.functions.get(&value) {
            return known;
        }
        let op = self.defs.op(value).filter(|_| !self.is_loaded(value)).cloned();
        let mut cost = 0;
        if let Some(op) = op {
            let is_function = match &op {
                Op::Interpolate { .. } | Op::Unary(UnaryOp::Elementary(_), _) => true,
                Op::Math(function, ..) => function.work() != Work::Steps,
                _ => false,
            };
            cost = if is_function { self.model.operation(&op) } else { 0 };
            for operand in substituted(&op) {
                cost = cost.saturating_add(self.functions(operand).saturating_mul(times_evaluated(&op, self.model)));
            }
        }
        self.functions.insert(value, cost);
        cost
    }

    /// Cost of reading a value that exists.
    pub(super) fn load(&self, value: ValueId) -> u32 {
        if matches!(self.ty(value).shape, Shape::Single | Shape::Domain(_)) { 0 } else { self.model.load }
    }

    fn cost_of(&mut self, value: ValueId) -> (u32, bool) {
        let op = self.defs.op(value).filter(|_| !self.is_loaded(value)).cloned();
        let Some(op) = op else { return (self.load(value), false) };
        let mut cost = self.model.operation(&op);
        if op.class() == OpClass::Geometry {
            return (cost, false);
        }
        let mut has_sum = is_sum(&op);
        let times = times_evaluated(&op, self.model);
        for operand in substituted(&op) {
            let (c, s) = self.cost(operand);
            cost = u32::saturating_add(cost, c.saturating_mul(times));
            has_sum |= s;
        }
        (cost, has_sum)
    }
}

/// Number of times that an operation evaluates an operand.
fn times_evaluated(op: &Op, model: &CostModel) -> u32 {
    match op {
        Op::Gradient(_) => 2,
        Op::Divergence(_) | Op::FaceReduce { .. } => model.faces,
        _ => 1,
    }
}

/// The operands that are substituted in an operation.
fn substituted(op: &Op) -> Vec<ValueId> {
    match op {
        // The domain alone is asked of the other operand.
        Op::Broadcast { value, .. } => vec![*value],
        op => op.operands(),
    }
}
