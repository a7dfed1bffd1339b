//! Shared reciprocals, where rounding is free: `x / s` becomes `x * (1 / s)` where `s` is the same
//! for every element, or divides more than once in a body. What is left of divisions is made once
//! before the loop, or once an element.
//!
//! The product is rounded twice where the quotient was rounded once: it is within 1.5 units in the
//! last place of the exact quotient, as long as the reciprocal is a normal number.

use super::rewrite::{NodeMut, rewrite_block};
use crate::ir::{CartesianForm, KBlock, KExpr, Module, Rounding};
use crate::ops::Arithmetic;

/// In all bodies of all kernels; nothing in strict programs.
pub(super) fn run(module: &mut Module) {
    match module.numbers.rounding {
        Rounding::Strict => return,
        Rounding::Fast => {}
    }
    for kernel in &mut module.kernels {
        share(&mut kernel.body);
        match &mut kernel.cartesian {
            Some(CartesianForm::Full(block) | CartesianForm::PerAxis(block)) => share(block),
            None => {}
        }
        if let Some(form) = &mut kernel.jacobian {
            share(&mut form.body);
            form.cartesian.iter_mut().for_each(share);
        }
    }
}

fn share(block: &mut KBlock) {
    let mut divisors: Vec<(KExpr, usize)> = Vec::new();
    rewrite_block(block, &mut |node| {
        if let NodeMut::Expr(KExpr::Arithmetic(Arithmetic::Div, dividend, divisor)) = node
            && !matches!(**dividend, KExpr::Real(_))
        {
            match divisors.iter_mut().find(|(known, _)| *known == **divisor) {
                Some((_, times)) => *times += 1,
                None => divisors.push(((**divisor).clone(), 1)),
            }
        }
    });
    let shared = |divisor: &KExpr| is_invariant(divisor) || divisors.iter().any(|(known, times)| known == divisor && *times > 1);
    rewrite_block(block, &mut |node| {
        let NodeMut::Expr(expr) = node else { return };
        if let KExpr::Arithmetic(Arithmetic::Div, dividend, divisor) = expr
            && !matches!(**dividend, KExpr::Real(_))
            && shared(divisor)
        {
            let reciprocal = KExpr::Arithmetic(Arithmetic::Div, Box::new(KExpr::Real(1.0)), divisor.clone());
            *expr = KExpr::Arithmetic(Arithmetic::Mul, dividend.clone(), Box::new(reciprocal));
        }
    });
}

/// Made of numbers and Scalars alone.
fn is_invariant(expr: &KExpr) -> bool {
    let arithmetic = matches!(expr, KExpr::Unary(..) | KExpr::Arithmetic(..));
    matches!(expr, KExpr::Real(_) | KExpr::Param(_)) || (arithmetic && expr.operands().into_iter().all(is_invariant))
}
