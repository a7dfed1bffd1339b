//! Walking over the expressions of kernels.

use crate::ir::kernel::{for_each_part, for_each_part_of_path};
use crate::ir::{KBlock, KExpr, KStmt, Kernel, Path};

/// A construct of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    /// A statement; its parts follow.
    Stmt(&'a KStmt),
    /// An expression; its parts follow.
    Expr(&'a KExpr),
    /// A path; its parts follow.
    Path(&'a Path),
}

/// Everything in the checks and the body for any grid, outermost first.
pub fn visit_general(kernel: &Kernel, f: &mut dyn FnMut(Node<'_>)) {
    for check in &kernel.checks {
        visit_expr(&check.condition, f);
    }
    visit_block(&kernel.body, f);
}

/// Everything in a block, outermost first, in order.
pub fn visit_block(block: &KBlock, f: &mut dyn FnMut(Node<'_>)) {
    for statement in &block.statements {
        visit_stmt(statement, f);
    }
    for value in &block.yields {
        visit_expr(value, f);
    }
}

/// A statement and everything in it.
pub fn visit_stmt(statement: &KStmt, f: &mut dyn FnMut(Node<'_>)) {
    f(Node::Stmt(statement));
    match statement {
        KStmt::Let { value, .. } => visit_expr(value, f),
        KStmt::LetEntity { path, .. } => visit_path(path, f),
        KStmt::Add { at, value, .. } => {
            visit_path(at, f);
            visit_expr(value, f);
        }
        KStmt::ReduceFaces { cell, body, .. } => {
            visit_path(cell, f);
            visit_block(body, f);
        }
        KStmt::ReduceSides { low, high, .. } => {
            for block in [&low.interior, &low.boundary, &high.interior, &high.boundary].into_iter().flatten() {
                visit_block(block, f);
            }
        }
        KStmt::If { condition, then, otherwise, .. } => {
            visit_expr(condition, f);
            visit_block(then, f);
            visit_block(otherwise, f);
        }
    }
}

/// An expression and everything in it.
pub fn visit_expr(expr: &KExpr, f: &mut dyn FnMut(Node<'_>)) {
    f(Node::Expr(expr));
    for_each_part!(expr, iter, visit_expr, visit_path, f);
}

/// A path and everything in it.
pub fn visit_path(path: &Path, f: &mut dyn FnMut(Node<'_>)) {
    f(Node::Path(path));
    for_each_part_of_path!(path, visit_expr, visit_path, f);
}
