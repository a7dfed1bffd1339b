//! Derivatives of elementary functions.

use std::ops::{Add, Mul, Neg, Sub};

use super::algebra::{add, div, mul, neg, sub};
use crate::ir::{KExpr, UnaryOp};
use crate::ops::{Algebra, Derivative, Elementary};

/// The adjoint of the operand of a function whose adjoint is given.
pub fn adjoint(function: Elementary, adjoint: KExpr, operand: KExpr, value: KExpr) -> KExpr {
    match function.derivative(Expr(operand), Expr(value)) {
        Derivative::Zero => KExpr::Real(0.0),
        Derivative::Is(Expr(factor)) => mul(adjoint, factor),
        Derivative::Ratio(Expr(above), Expr(below)) => div(mul(adjoint, above), below),
    }
}

/// An expression of which derivatives are made.
#[derive(Clone)]
struct Expr(KExpr);

impl Add for Expr {
    type Output = Expr;

    fn add(self, other: Expr) -> Expr {
        Expr(add(self.0, other.0))
    }
}

impl Sub for Expr {
    type Output = Expr;

    fn sub(self, other: Expr) -> Expr {
        Expr(sub(self.0, other.0))
    }
}

impl Mul for Expr {
    type Output = Expr;

    fn mul(self, other: Expr) -> Expr {
        Expr(mul(self.0, other.0))
    }
}

impl Neg for Expr {
    type Output = Expr;

    fn neg(self) -> Expr {
        Expr(neg(self.0))
    }
}

impl Algebra for Expr {
    fn number(value: f64) -> Self {
        Expr(KExpr::Real(value))
    }

    fn root(self) -> Self {
        Expr(KExpr::Unary(UnaryOp::Sqrt, Box::new(self.0)))
    }

    fn function(self, function: Elementary) -> Self {
        Expr(KExpr::Unary(UnaryOp::Elementary(function), Box::new(self.0)))
    }
}
