//! Factors that a Cartesian grid knows to be 0 or 1: components of the normal of a face across a
//! known axis.
//!
//! Such a zero annihilates whatever it multiplies, also what is not finite, and such a one is the
//! identity. So a product with such a factor has a value along one axis alone, and a target need
//! not evaluate the rest of it for the other axes.

use crate::ir::{ExprClass, KExpr, Path, UnaryOp};
use crate::ops::Arithmetic;

/// If an expression is a product (or quotient) with a component of a normal as a factor, which
/// matters of Scalars alone: which component, and the product without it. Of a Cartesian form,
/// where the normal is that of the face across the axis at hand: the value is the latter if the
/// component belongs to that axis, and 0 else.
pub fn along_one_axis(expr: &KExpr) -> Option<(u32, KExpr)> {
    match expr {
        KExpr::Component(vector, component) => match &**vector {
            KExpr::Normal(Path::SideFace(_) | Path::Here) => Some((*component, KExpr::Real(1.0))),
            _ => None,
        },
        KExpr::Unary(UnaryOp::Abs, a) => {
            let (component, rest) = along_one_axis(a)?;
            Some((component, if is_one(&rest) { rest } else { KExpr::Unary(UnaryOp::Abs, Box::new(rest)) }))
        }
        KExpr::Unary(UnaryOp::Neg, a) => {
            let (component, rest) = along_one_axis(a)?;
            let minus = if is_one(&rest) { KExpr::Real(-1.0) } else { KExpr::Unary(UnaryOp::Neg, Box::new(rest)) };
            Some((component, minus))
        }
        KExpr::Arithmetic(Arithmetic::Mul, a, b) => {
            let product = |a: KExpr, b: KExpr| KExpr::Arithmetic(Arithmetic::Mul, Box::new(a), Box::new(b));
            if let Some((component, rest)) = along_one_axis(a) {
                return Some((component, if is_one(&rest) { (**b).clone() } else { product(rest, (**b).clone()) }));
            }
            let (component, rest) = along_one_axis(b)?;
            Some((component, if is_one(&rest) { (**a).clone() } else { product((**a).clone(), rest) }))
        }
        KExpr::Arithmetic(Arithmetic::Div, a, b) => {
            let (component, rest) = along_one_axis(a)?;
            Some((component, KExpr::Arithmetic(Arithmetic::Div, Box::new(rest), b.clone())))
        }
        other => match other.class() {
            // Sums and other functions.
            ExprClass::Arithmetic => None,
            ExprClass::Literal | ExprClass::Local | ExprClass::Param | ExprClass::Load | ExprClass::Select => None,
            ExprClass::Geometry | ExprClass::Topology | ExprClass::Truth => None,
        },
    }
}

fn is_one(expr: &KExpr) -> bool {
    matches!(expr, KExpr::Real(x) if *x == 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{ParamId, Side};

    fn normal(component: u32) -> KExpr {
        KExpr::Component(Box::new(KExpr::Normal(Path::SideFace(Side::Low))), component)
    }

    fn product(a: KExpr, b: KExpr) -> KExpr {
        KExpr::Arithmetic(Arithmetic::Mul, Box::new(a), Box::new(b))
    }

    #[test]
    fn products_with_a_component_of_a_normal() {
        let (f, c) = (KExpr::Param(ParamId(0)), KExpr::Param(ParamId(1)));
        assert_eq!(along_one_axis(&product(normal(1), f.clone())), Some((1, f.clone())));
        assert_eq!(along_one_axis(&product(f.clone(), normal(0))), Some((0, f.clone())));
        let size = KExpr::Unary(UnaryOp::Abs, Box::new(normal(0)));
        assert_eq!(along_one_axis(&product(product(size, f.clone()), c.clone())), Some((0, product(f.clone(), c.clone()))));
        let minus = KExpr::Unary(UnaryOp::Neg, Box::new(normal(0)));
        assert_eq!(along_one_axis(&product(minus, f.clone())), Some((0, product(KExpr::Real(-1.0), f.clone()))));
        let quotient = KExpr::Arithmetic(Arithmetic::Div, Box::new(normal(2)), Box::new(f.clone()));
        let inverse = KExpr::Arithmetic(Arithmetic::Div, Box::new(KExpr::Real(1.0)), Box::new(f.clone()));
        assert_eq!(along_one_axis(&quotient), Some((2, inverse)));
    }

    #[test]
    fn sums_and_divisors_are_no_factors() {
        let f = KExpr::Param(ParamId(0));
        assert_eq!(along_one_axis(&product(f.clone(), f.clone())), None);
        let sum = KExpr::Arithmetic(Arithmetic::Add, Box::new(normal(0)), Box::new(f.clone()));
        assert_eq!(along_one_axis(&product(sum, f.clone())), None);
        assert_eq!(along_one_axis(&KExpr::Arithmetic(Arithmetic::Div, Box::new(f), Box::new(normal(0)))), None);
        // The normal of a face that was met on the way is along no axis at hand.
        let other = KExpr::Component(Box::new(KExpr::Normal(Path::Local(crate::ir::LocalId(0)))), 0);
        assert_eq!(along_one_axis(&other), None);
    }
}
