//! Values of expressions inside the grid, with the zeros and ones that follow from the axes.

use crate::ir::{KExpr, UnaryOp};
use crate::ops::Arithmetic;

/// A number, or a truth value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Number {
    /// A component across the axis of a face: structurally zero.
    Zero,
    /// The component of a normal along its axis: structurally one.
    One,
    Expr(KExpr),
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(Number),
    Vector([Number; 3]),
    /// A centroid, in half widths from that of the current cell along each axis.
    Centroid([i32; 3]),
}

impl Number {
    pub(super) fn expr(self) -> KExpr {
        match self {
            Number::Zero => KExpr::Real(0.0),
            Number::One => KExpr::Real(1.0),
            Number::Expr(expr) => expr,
        }
    }

    /// A factor that is structurally zero annihilates; nothing else changes a bit but the sign of
    /// zeros that are added.
    pub(super) fn arithmetic(op: Arithmetic, a: Number, b: Number) -> Number {
        match (op, a, b) {
            (Arithmetic::Mul | Arithmetic::Div, Number::Zero, _) | (Arithmetic::Mul, _, Number::Zero) => Number::Zero,
            (Arithmetic::Mul, Number::One, b) => b,
            (Arithmetic::Mul | Arithmetic::Div, a, Number::One) => a,
            (Arithmetic::Add, Number::Zero, b) => b,
            (Arithmetic::Add | Arithmetic::Sub, a, Number::Zero) => a,
            (Arithmetic::Sub, Number::Zero, b) => b.negative(),
            (op, a, b) => Number::Expr(KExpr::Arithmetic(op, Box::new(a.expr()), Box::new(b.expr()))),
        }
    }

    pub(super) fn negative(self) -> Number {
        match self {
            Number::Zero => Number::Zero,
            Number::Expr(KExpr::Unary(UnaryOp::Neg, a)) => Number::Expr(*a),
            number => Number::Expr(KExpr::Unary(UnaryOp::Neg, Box::new(number.expr()))),
        }
    }

    /// A truth value that is the same for all cells inside.
    pub(super) fn known(&self) -> Option<bool> {
        if let Number::Expr(KExpr::Bool(known)) = self { Some(*known) } else { None }
    }
}

impl Value {
    pub(super) fn expr(expr: KExpr) -> Value {
        Value::Number(Number::Expr(expr))
    }

    pub(super) fn number(self) -> Option<Number> {
        if let Value::Number(number) = self { Some(number) } else { None }
    }
}

/// Products of the components in use, added in order.
pub(super) fn dot(a: &[Number; 3], b: &[Number; 3], dim: usize) -> Number {
    let product = |axis: usize| Number::arithmetic(Arithmetic::Mul, a[axis].clone(), b[axis].clone());
    (1..dim).fold(product(0), |sum, axis| Number::arithmetic(Arithmetic::Add, sum, product(axis)))
}
