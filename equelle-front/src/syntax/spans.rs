//! Comparison of trees regardless of where they stand.

use crate::source::Span;
use crate::syntax::ast::{
    Block, CollectionDomain, Expr, ExprKind, Ident, Program, Stmt, StmtKind, TypeExpr, TypeExprKind, UnitExpr, UnitExprKind,
};

/// Whether two programs have the same statements, whatever their layout. Comments are not compared.
pub fn same_modulo_spans(a: &Program, b: &Program) -> bool {
    without_spans(a) == without_spans(b)
}

fn without_spans(program: &Program) -> Vec<Stmt> {
    let mut statements = program.statements.clone();
    statements.iter_mut().for_each(clear_stmt);
    statements
}

fn clear_stmt(stmt: &mut Stmt) {
    stmt.span = Span::default();
    match &mut stmt.kind {
        StmtKind::Declaration { name, ty } => {
            clear_ident(name);
            clear_type(ty);
        }
        StmtKind::FunctionDeclaration { name, params, result } => {
            clear_ident(name);
            for (param, ty) in params {
                clear_ident(param);
                clear_type(ty);
            }
            clear_type(result);
        }
        StmtKind::Assignment { name, ty, value } => {
            clear_ident(name);
            ty.iter_mut().for_each(clear_type);
            clear_expr(value);
        }
        StmtKind::FunctionDefinition { name, params, body } => {
            clear_ident(name);
            params.iter_mut().for_each(clear_ident);
            clear_block(body);
        }
        StmtKind::StencilAssignment { name, indices, value } => {
            clear_ident(name);
            indices.iter_mut().for_each(clear_expr);
            clear_expr(value);
        }
        StmtKind::Call(expr) | StmtKind::Return(expr) => clear_expr(expr),
        StmtKind::For { variable, sequence, body } => {
            clear_ident(variable);
            clear_expr(sequence);
            clear_block(body);
        }
    }
}

fn clear_block(block: &mut Block) {
    block.span = Span::default();
    block.statements.iter_mut().for_each(clear_stmt);
}

fn clear_ident(ident: &mut Ident) {
    ident.span = Span::default();
}

fn clear_expr(expr: &mut Expr) {
    expr.span = Span::default();
    match &mut expr.kind {
        ExprKind::Number { unit, .. } => unit.iter_mut().for_each(clear_unit),
        ExprKind::Text(_) | ExprKind::Bool(_) | ExprKind::Name(_) | ExprKind::Error => {}
        ExprKind::Call { callee, args } => {
            clear_ident(callee);
            args.iter_mut().for_each(clear_expr);
        }
        ExprKind::Array(elements) => elements.iter_mut().for_each(clear_expr),
        ExprKind::Paren(inner) | ExprKind::Norm(inner) => clear_expr(inner),
        ExprKind::Index { base, index_span, .. } => {
            *index_span = Span::default();
            clear_expr(base);
        }
        ExprKind::Unary { operand, .. } => clear_expr(operand),
        ExprKind::Binary { op_span, left, right, .. } => {
            *op_span = Span::default();
            clear_expr(left);
            clear_expr(right);
        }
        ExprKind::Ternary { condition, if_true, if_false } => {
            clear_expr(condition);
            clear_expr(if_true);
            clear_expr(if_false);
        }
    }
}

fn clear_unit(unit: &mut UnitExpr) {
    unit.span = Span::default();
    match &mut unit.kind {
        UnitExprKind::Name(_) => {}
        UnitExprKind::Paren(inner) | UnitExprKind::Power(inner, _) => clear_unit(inner),
        UnitExprKind::Mul(a, b) | UnitExprKind::Div(a, b) => {
            clear_unit(a);
            clear_unit(b);
        }
    }
}

fn clear_type(ty: &mut TypeExpr) {
    ty.span = Span::default();
    match &mut ty.kind {
        TypeExprKind::Basic(_) | TypeExprKind::Sequence(_) | TypeExprKind::Error => {}
        TypeExprKind::Collection { place, .. } => match place {
            Some(CollectionDomain::On(e) | CollectionDomain::SubsetOf(e)) => clear_expr(e),
            None => {}
        },
        TypeExprKind::Stencil(inner) | TypeExprKind::Mutable(inner) => clear_type(inner),
        TypeExprKind::Array { size_span, element, .. } => {
            *size_span = Span::default();
            clear_type(element);
        }
    }
}
