//! Products of adjoints, folded where that is exact.

use crate::ir::{KExpr, UnaryOp};
use crate::ops::Arithmetic;

pub(super) fn neg(a: KExpr) -> KExpr {
    match a {
        KExpr::Real(x) => KExpr::Real(-x),
        KExpr::Unary(UnaryOp::Neg, a) => *a,
        a => KExpr::Unary(UnaryOp::Neg, Box::new(a)),
    }
}

/// Scalar times Scalar, or Vector times Scalar. A product with one is the other factor.
pub(super) fn mul(a: KExpr, b: KExpr) -> KExpr {
    match (a, b) {
        (KExpr::Real(x), KExpr::Real(y)) => KExpr::Real(x * y),
        (KExpr::Real(1.0), b) => b,
        (a, KExpr::Real(1.0)) => a,
        (KExpr::Real(-1.0), b) => neg(b),
        (a, KExpr::Real(-1.0)) => neg(a),
        (KExpr::Unary(UnaryOp::Neg, a), KExpr::Unary(UnaryOp::Neg, b)) => mul(*a, *b),
        (KExpr::Unary(UnaryOp::Neg, a), b) => neg(mul(*a, b)),
        (a, KExpr::Unary(UnaryOp::Neg, b)) => neg(mul(a, *b)),
        (a, b) => arithmetic(Arithmetic::Mul, a, b),
    }
}

pub(super) fn div(a: KExpr, b: KExpr) -> KExpr {
    match (a, b) {
        (a, KExpr::Real(1.0)) => a,
        (KExpr::Unary(UnaryOp::Neg, a), b) => neg(div(*a, b)),
        (a, b) => arithmetic(Arithmetic::Div, a, b),
    }
}

pub(super) fn add(a: KExpr, b: KExpr) -> KExpr {
    match (a, b) {
        (a, KExpr::Unary(UnaryOp::Neg, b)) => arithmetic(Arithmetic::Sub, a, *b),
        (KExpr::Unary(UnaryOp::Neg, a), b) => arithmetic(Arithmetic::Sub, b, *a),
        (a, b) => arithmetic(Arithmetic::Add, a, b),
    }
}

pub(super) fn sub(a: KExpr, b: KExpr) -> KExpr {
    arithmetic(Arithmetic::Sub, a, b)
}

pub(super) fn dot(a: KExpr, b: KExpr) -> KExpr {
    KExpr::Dot(Box::new(a), Box::new(b))
}

fn arithmetic(op: Arithmetic, a: KExpr, b: KExpr) -> KExpr {
    KExpr::Arithmetic(op, Box::new(a), Box::new(b))
}
