//! Derivatives of elementary functions.

use super::algebra::{add, div, mul, neg};
use crate::ir::{KExpr, UnaryOp};
use crate::ops::Elementary;

/// What a derivative is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The value of the function.
    Value,
    /// The operand of the function.
    Operand,
}

/// What [`adjoint`] reads.
pub fn needs(function: Elementary) -> Needs {
    match function {
        Elementary::Exp | Elementary::Tan => Needs::Value,
        Elementary::Log | Elementary::Sin | Elementary::Cos => Needs::Operand,
    }
}

/// The adjoint of the operand of a function whose adjoint is given.
pub fn adjoint(function: Elementary, adjoint: KExpr, operand: KExpr, value: impl Fn() -> KExpr) -> KExpr {
    let of_operand = |function, operand| KExpr::Unary(UnaryOp::Elementary(function), Box::new(operand));
    match function {
        Elementary::Exp => mul(adjoint, value()),
        Elementary::Log => div(adjoint, operand),
        Elementary::Sin => mul(adjoint, of_operand(Elementary::Cos, operand)),
        Elementary::Cos => mul(adjoint, neg(of_operand(Elementary::Sin, operand))),
        Elementary::Tan => mul(adjoint, add(KExpr::Real(1.0), mul(value(), value()))),
    }
}
