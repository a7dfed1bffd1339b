//! Derivatives of elementary functions.

use super::algebra::{add, div, mul, neg, sub};
use crate::ir::{KExpr, UnaryOp};
use crate::ops::Elementary;

/// Input from which a derivative is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The value of the function.
    Value,
    /// The operand of the function.
    Operand,
}

/// Returns the input that [`adjoint`] reads.
pub fn needs(function: Elementary) -> Needs {
    match function {
        Elementary::Exp | Elementary::Tan | Elementary::Tanh => Needs::Value,
        Elementary::Log
        | Elementary::Sin
        | Elementary::Cos
        | Elementary::Sinh
        | Elementary::Cosh
        | Elementary::ASin
        | Elementary::ACos
        | Elementary::ATan
        | Elementary::Log10
        | Elementary::Erf
        | Elementary::Floor
        | Elementary::Ceil
        | Elementary::Sign
        | Elementary::Round => Needs::Operand,
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
        Elementary::Tanh => mul(adjoint, sub(KExpr::Real(1.0), mul(value(), value()))),
        Elementary::Sinh => mul(adjoint, of_operand(Elementary::Cosh, operand)),
        Elementary::Cosh => mul(adjoint, of_operand(Elementary::Sinh, operand)),
        Elementary::ASin => div(adjoint, cosine_of_arcus(operand)),
        Elementary::ACos => neg(div(adjoint, cosine_of_arcus(operand))),
        Elementary::ATan => div(adjoint, add(KExpr::Real(1.0), mul(operand.clone(), operand))),
        Elementary::Log10 => div(mul(adjoint, KExpr::Real(std::f64::consts::LOG10_E)), operand),
        Elementary::Erf => {
            let bell = of_operand(Elementary::Exp, neg(mul(operand.clone(), operand)));
            mul(adjoint, mul(KExpr::Real(std::f64::consts::FRAC_2_SQRT_PI), bell))
        }
        // Between the jumps.
        Elementary::Floor | Elementary::Ceil | Elementary::Sign | Elementary::Round => KExpr::Real(0.0),
    }
}

/// The root of `(1 - x) (1 + x)`.
fn cosine_of_arcus(x: KExpr) -> KExpr {
    let square = mul(sub(KExpr::Real(1.0), x.clone()), add(KExpr::Real(1.0), x));
    KExpr::Unary(UnaryOp::Sqrt, Box::new(square))
}
