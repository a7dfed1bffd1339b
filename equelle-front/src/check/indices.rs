//! Index variables, and offsets that they are written with.

use crate::check::checker::Checker;
use crate::check::halo::AXES;
use crate::check::scope::{Meaning, Role, State, VariableEntry};
use crate::diagnostic::{Code, Diagnostic};
use crate::ops::{Arithmetic, MAX_OFFSET, Offset};
use crate::syntax::ast::{self, BinaryOp, ExprKind as Ast};
use crate::types::{Basic, Type};

/// An index: its axis, its offset, and whether a parameter names the axis.
struct Index {
    axis: usize,
    by: i8,
    is_parameter: bool,
}

/// The axis that a name stands for.
fn axis_named(checker: &mut Checker<'_>, name: &str) -> Option<u8> {
    let id = checker.scopes.lookup(name)?;
    let Meaning::Variable(variable) = &checker.scopes.entry(id).meaning else { return None };
    let State::Assigned(var) = variable.state else { return None };
    let Basic::Axis(axis) = checker.tree.variable(var).ty.value()?.basic else { return None };
    checker.scopes.entry_mut(id).used = true;
    Some(axis)
}

/// The axis that an expression is.
pub(super) fn axis<'a>(checker: &mut Checker<'a>, expr: &'a ast::Expr) -> Option<u8> {
    let found = checker.expr(expr)?;
    if let Some(Type { basic: Basic::Axis(axis), .. }) = found.ty.value() {
        return Some(axis);
    }
    let shown = checker.show(&found.ty);
    checker.fail(
        Diagnostic::new(Code::StencilNotIndex, expr.span, format!("an index variable stands here, not {shown}"))
            .label(shown)
            .hint("index variables come from `StencilI()`, `StencilJ()` and `StencilK()`"),
    )
}

/// True if an index variable stands in an expression.
pub(super) fn has_axis(checker: &mut Checker<'_>, expr: &ast::Expr) -> bool {
    match &expr.kind {
        Ast::Name(name) => axis_named(checker, name).is_some(),
        Ast::Paren(inner) => has_axis(checker, inner),
        Ast::Binary { left, right, .. } => has_axis(checker, left) || has_axis(checker, right),
        _ => false,
    }
}

/// True if the parentheses on the left of an assignment hold index variables.
pub(super) fn is_by_index(checker: &mut Checker<'_>, indices: &[ast::Expr]) -> bool {
    indices.iter().any(|index| has_axis(checker, index))
}

pub(super) fn offsets(checker: &mut Checker<'_>, args: &[ast::Expr]) -> Option<Offset> {
    let mut by = Offset::default();
    let mut seen = [false; 3];
    let mut last: Option<usize> = None;
    for arg in args {
        let Index { axis, by: offset, is_parameter } = offset(checker, arg)?;
        let letter = AXES[axis];
        if seen[axis] {
            return checker
                .fail(Diagnostic::new(Code::StencilTwice, arg.span, format!("{letter} is used twice")).hint("each axis stands once"));
        }
        seen[axis] = true;
        if !is_parameter {
            if let Some(before) = last
                && before > axis
            {
                let message = format!("indices stand in the order I, J, K; here {} stands before {letter}", AXES[before]);
                return checker.fail(Diagnostic::new(Code::StencilOrder, arg.span, message).hint("exchange them"));
            }
            last = Some(axis);
        }
        by[axis] = offset;
    }
    Some(by)
}

/// `i`, `i+1`, `i-2`, `1+i`
fn offset(checker: &mut Checker<'_>, arg: &ast::Expr) -> Option<Index> {
    let (name, by) = match &arg.kind {
        Ast::Name(name) => (Some(name), Some(0.0)),
        Ast::Binary { op: BinaryOp::Arithmetic(op @ (Arithmetic::Add | Arithmetic::Sub)), left, right, .. } => {
            match (&left.kind, &right.kind, op) {
                (Ast::Name(name), Ast::Number { value, unit: None }, Arithmetic::Add) => (Some(name), Some(*value)),
                (Ast::Name(name), Ast::Number { value, unit: None }, _) => (Some(name), Some(-*value)),
                (Ast::Number { value, unit: None }, Ast::Name(name), Arithmetic::Add) => (Some(name), Some(*value)),
                _ => (None, None),
            }
        }
        _ => (None, None),
    };
    let axis = name.and_then(|name| axis_named(checker, name));
    let whole = by.filter(|by| by.fract() == 0.0 && by.abs() <= f64::from(MAX_OFFSET));
    if let (Some(name), Some(axis), Some(by)) = (name, axis, whole) {
        let entry = checker.scopes.lookup(name).map(|id| &checker.scopes.entry(id).meaning);
        let is_parameter = matches!(entry, Some(Meaning::Variable(VariableEntry { role: Role::Parameter, .. })));
        return Some(Index { axis: usize::from(axis), by: by as i8, is_parameter });
    }
    let message = match (axis, by) {
        (Some(_), Some(by)) if by.fract() != 0.0 => format!("`{by}` is not a whole number"),
        (Some(_), Some(by)) => format!("an offset of {by} cells is too far: at most {MAX_OFFSET}"),
        _ => "this is no index variable with a whole number in the text added or subtracted".to_owned(),
    };
    checker.fail(Diagnostic::new(Code::StencilNotIndex, arg.span, message).hint("write `i`, `i+1`, `i-2`, where `i = StencilI()`"))
}
