//! Effects of evaluating an expression besides giving a value.

use crate::typed::{Builtin, Expr, ExprKind, Function, Stmt, StmtKind};

/// Effect of an expression and the functions that it calls; `None` if it only has a value.
pub(super) fn effect(expr: &Expr, functions: &[Function]) -> Option<&'static str> {
    let any = |all: &[Expr]| all.iter().find_map(|inner| effect(inner, functions));
    let function_effect =
        |function: &crate::typed::FunctionId| functions.get(function.0 as usize).and_then(|f| statements_effect(&f.body, functions));
    // Along a chain of operators in a loop: it may be long.
    let mut expr = expr;
    while let Some(left) = expr.left_operand() {
        let found = match &expr.kind {
            ExprKind::Arithmetic { right, .. } | ExprKind::Comparison { right, .. } | ExprKind::Logic { right, .. } => {
                effect(right, functions)
            }
            ExprKind::On { target: right, .. } | ExprKind::Extend { domain: right, .. } => effect(right, functions),
            // Nothing else has a left operand.
            _ => None,
        };
        if found.is_some() {
            return found;
        }
        expr = left;
    }
    match &expr.kind {
        ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Bool(_) | ExprKind::CanonicalSet(_) | ExprKind::Variable(_) => None,
        ExprKind::Axis(_) | ExprKind::CellFact(_) | ExprKind::GridNumber(_) => None,
        ExprKind::Builtin { builtin, args } => builtin_effect(*builtin).or_else(|| any(args)),
        ExprKind::Array(args) | ExprKind::Vector(args) | ExprKind::Read { args, .. } => any(args),
        ExprKind::Call { function, args } => any(args).or_else(|| function_effect(function)),
        ExprKind::Newton { .. } => Some("solve equations"),
        ExprKind::Element { array: a, .. } | ExprKind::Component { vector: a, .. } => effect(a, functions),
        ExprKind::Neg(a) | ExprKind::Not(a) | ExprKind::Norm(a) | ExprKind::Power { base: a, .. } => effect(a, functions),
        ExprKind::Arithmetic { left: a, right: b, .. }
        | ExprKind::Comparison { left: a, right: b, .. }
        | ExprKind::Logic { left: a, right: b, .. }
        | ExprKind::On { data: a, target: b }
        | ExprKind::Extend { data: a, domain: b } => effect(a, functions).or_else(|| effect(b, functions)),
        ExprKind::Ternary { condition, if_true, if_false } => {
            [condition, if_true, if_false].into_iter().find_map(|inner| effect(inner, functions))
        }
    }
}

fn statements_effect(statements: &[Stmt], functions: &[Function]) -> Option<&'static str> {
    statements.iter().find_map(|statement| match &statement.kind {
        StmtKind::Let { value, .. } | StmtKind::Assign { value, .. } | StmtKind::Discard(value) | StmtKind::Return(value) => {
            effect(value, functions)
        }
        StmtKind::Output { .. } => Some("write output"),
        StmtKind::For { sequence, body, .. } => effect(sequence, functions).or_else(|| statements_effect(body, functions)),
        StmtKind::Range { from, below, body, .. } => {
            effect(from, functions).or_else(|| effect(below, functions)).or_else(|| statements_effect(body, functions))
        }
        StmtKind::Conditional { condition, body, .. } => effect(condition, functions).or_else(|| statements_effect(body, functions)),
    })
}

fn builtin_effect(builtin: Builtin) -> Option<&'static str> {
    match builtin {
        Builtin::InputScalarWithDefault
        | Builtin::InputCollection(_)
        | Builtin::InputDomainSubsetOf
        | Builtin::InputSequenceOfScalar
        | Builtin::InputTable
        | Builtin::InputTable2 => Some("read inputs"),
        Builtin::FirstCell
        | Builtin::SecondCell
        | Builtin::IsEmpty
        | Builtin::InnerCell
        | Builtin::OutwardSign
        | Builtin::OutwardNormal
        | Builtin::GivenTransmissibility
        | Builtin::Centroid
        | Builtin::Normal
        | Builtin::Gradient
        | Builtin::Divergence
        | Builtin::FaceSum
        | Builtin::FaceMax
        | Builtin::FaceMin
        | Builtin::Dot
        | Builtin::Sqrt
        | Builtin::Abs
        | Builtin::Elementary(_)
        | Builtin::Min
        | Builtin::Max
        | Builtin::Pow
        | Builtin::ATan2
        | Builtin::MaxReduce
        | Builtin::MinReduce
        | Builtin::SumReduce
        | Builtin::ProdReduce
        | Builtin::AnyReduce
        | Builtin::AllReduce
        | Builtin::Interpolate
        | Builtin::Interpolate2
        | Builtin::Where => None,
    }
}
