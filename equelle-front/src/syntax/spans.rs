//! All spans of a tree: comparison of trees regardless of where they stand, and trees of a text
//! that lies behind others.

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{
    Block, CollectionDomain, Expr, ExprKind, Ident, Program, Stmt, StmtKind, TypeExpr, TypeExprKind, UnitExpr, UnitExprKind,
};

/// True if two programs have the same statements, whatever their layout. Comments are not compared.
pub fn same_modulo_spans(a: &Program, b: &Program) -> bool {
    without_spans(a) == without_spans(b)
}

/// Moves a tree and the diagnostics about it to where its text begins. Comments and line starts,
/// which are for the formatter, stay.
pub fn shift(statements: &mut [Stmt], diagnostics: &mut [Diagnostic], by: u32) {
    let mut shift = |span: &mut Span| {
        span.start += by;
        span.end += by;
    };
    for diagnostic in diagnostics {
        let others = diagnostic.secondary.iter_mut().chain(&mut diagnostic.trail);
        others.chain([&mut diagnostic.primary]).for_each(|label| shift(&mut label.span));
    }
    statements.iter_mut().for_each(|stmt| each_of_stmt(stmt, &mut shift));
}

fn without_spans(program: &Program) -> Vec<Stmt> {
    let mut statements = program.statements.clone();
    let mut clear = |span: &mut Span| *span = Span::default();
    statements.iter_mut().for_each(|stmt| each_of_stmt(stmt, &mut clear));
    statements
}

fn each_of_stmt(stmt: &mut Stmt, f: &mut impl FnMut(&mut Span)) {
    f(&mut stmt.span);
    match &mut stmt.kind {
        StmtKind::Declaration { name, ty } => {
            each_of_ident(name, f);
            each_of_type(ty, f);
        }
        StmtKind::FunctionDeclaration { name, params, result } => {
            each_of_ident(name, f);
            for (param, ty) in params {
                each_of_ident(param, f);
                each_of_type(ty, f);
            }
            each_of_type(result, f);
        }
        StmtKind::Assignment { name, ty, value } => {
            each_of_ident(name, f);
            ty.iter_mut().for_each(|inner| each_of_type(inner, f));
            each_of_expr(value, f);
        }
        StmtKind::FunctionDefinition { name, params, body } => {
            each_of_ident(name, f);
            params.iter_mut().for_each(|inner| each_of_ident(inner, f));
            each_of_block(body, f);
        }
        StmtKind::StencilAssignment { name, indices, value } => {
            each_of_ident(name, f);
            indices.iter_mut().for_each(|inner| each_of_expr(inner, f));
            each_of_expr(value, f);
        }
        StmtKind::Call(expr) | StmtKind::Return(expr) => each_of_expr(expr, f),
        StmtKind::For { variable, sequence, body } => {
            each_of_ident(variable, f);
            each_of_expr(sequence, f);
            each_of_block(body, f);
        }
        StmtKind::Import { path, names } => {
            path.iter_mut().for_each(|path| f(&mut path.span));
            names.iter_mut().for_each(|inner| each_of_ident(inner, f));
        }
        StmtKind::Conditional { test: _, condition, body } => {
            each_of_expr(condition, f);
            each_of_block(body, f);
        }
    }
}

fn each_of_block(block: &mut Block, f: &mut impl FnMut(&mut Span)) {
    f(&mut block.span);
    block.statements.iter_mut().for_each(|inner| each_of_stmt(inner, f));
}

fn each_of_ident(ident: &mut Ident, f: &mut impl FnMut(&mut Span)) {
    f(&mut ident.span);
}

fn each_of_expr(expr: &mut Expr, f: &mut impl FnMut(&mut Span)) {
    f(&mut expr.span);
    match &mut expr.kind {
        ExprKind::Number { unit, .. } => unit.iter_mut().for_each(|inner| each_of_unit(inner, f)),
        ExprKind::Text(_) | ExprKind::Bool(_) | ExprKind::Name(_) | ExprKind::Error => {}
        ExprKind::Call { callee, args } => {
            each_of_ident(callee, f);
            args.iter_mut().for_each(|inner| each_of_expr(inner, f));
        }
        ExprKind::Array(elements) => elements.iter_mut().for_each(|inner| each_of_expr(inner, f)),
        ExprKind::Paren(inner) | ExprKind::Norm(inner) => each_of_expr(inner, f),
        ExprKind::Index { base, index_span, .. } => {
            f(index_span);
            each_of_expr(base, f);
        }
        ExprKind::Unary { operand, .. } => each_of_expr(operand, f),
        ExprKind::Binary { op_span, left, right, .. } => {
            f(op_span);
            each_of_expr(left, f);
            each_of_expr(right, f);
        }
        ExprKind::Ternary { condition, if_true, if_false } => {
            each_of_expr(condition, f);
            each_of_expr(if_true, f);
            each_of_expr(if_false, f);
        }
    }
}

fn each_of_unit(unit: &mut UnitExpr, f: &mut impl FnMut(&mut Span)) {
    f(&mut unit.span);
    match &mut unit.kind {
        UnitExprKind::Name(_) => {}
        UnitExprKind::Paren(inner) | UnitExprKind::Power(inner, _) => each_of_unit(inner, f),
        UnitExprKind::Mul(a, b) | UnitExprKind::Div(a, b) => {
            each_of_unit(a, f);
            each_of_unit(b, f);
        }
    }
}

fn each_of_type(ty: &mut TypeExpr, f: &mut impl FnMut(&mut Span)) {
    f(&mut ty.span);
    match &mut ty.kind {
        TypeExprKind::Basic(_) | TypeExprKind::Sequence(_) | TypeExprKind::Error => {}
        TypeExprKind::Collection { place, .. } => match place {
            Some(CollectionDomain::On(e) | CollectionDomain::SubsetOf(e)) => each_of_expr(e, f),
            None => {}
        },
        TypeExprKind::Stencil(inner) | TypeExprKind::Mutable(inner) => each_of_type(inner, f),
        TypeExprKind::Array { size_span, element, .. } => {
            f(size_span);
            each_of_type(element, f);
        }
    }
}
