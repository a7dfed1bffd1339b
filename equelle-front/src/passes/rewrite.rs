//! Walking over kernel bodies in order to change them.

use crate::ir::kernel::{for_each_part, for_each_part_of_path};
use crate::ir::{Function, KBlock, KExpr, KStmt, LocalId, Path};
use crate::passes::Module;
use crate::types::SetTable;

/// A construct that may be changed.
pub(crate) enum NodeMut<'a> {
    /// A local where it is assigned.
    Assigned(&'a mut LocalId),
    /// An expression; the parts of what it has become follow.
    Expr(&'a mut KExpr),
    /// A path; the parts of what it has become follow.
    Path(&'a mut Path),
}

/// Everything in a block, outermost first, in order.
pub(crate) fn rewrite_block(block: &mut KBlock, f: &mut dyn FnMut(NodeMut<'_>)) {
    for statement in &mut block.statements {
        rewrite_statement(statement, f);
    }
    for value in &mut block.yields {
        rewrite_expr(value, f);
    }
}

/// Renames locals where they are assigned and where they are read.
pub(super) fn rename_block(block: &mut KBlock, f: &mut dyn FnMut(LocalId) -> LocalId) {
    rewrite_block(block, &mut |node| match node {
        NodeMut::Assigned(id) | NodeMut::Expr(KExpr::Local(id)) | NodeMut::Path(Path::Local(id)) => *id = f(*id),
        NodeMut::Expr(_) | NodeMut::Path(_) => {}
    });
}

/// A statement and everything in it.
pub(crate) fn rewrite_statement(statement: &mut KStmt, f: &mut dyn FnMut(NodeMut<'_>)) {
    match statement {
        KStmt::Let { local, value } => {
            rewrite_expr(value, f);
            f(NodeMut::Assigned(local));
        }
        KStmt::LetEntity { local, path } => {
            rewrite_path(path, f);
            f(NodeMut::Assigned(local));
        }
        KStmt::ReduceFaces { results, extreme_faces, cell, face, body, .. } => {
            rewrite_path(cell, f);
            f(NodeMut::Assigned(face));
            rewrite_block(body, f);
            results.iter_mut().chain(extreme_faces).for_each(|r| f(NodeMut::Assigned(r)));
        }
        KStmt::ReduceSides { results, extreme_faces, low, high, .. } => {
            for block in [&mut low.interior, &mut low.boundary, &mut high.interior, &mut high.boundary].into_iter().flatten() {
                rewrite_block(block, f);
            }
            results.iter_mut().chain(extreme_faces).for_each(|r| f(NodeMut::Assigned(r)));
        }
        KStmt::If { results, condition, then, otherwise } => {
            rewrite_expr(condition, f);
            rewrite_block(then, f);
            rewrite_block(otherwise, f);
            results.iter_mut().for_each(|r| f(NodeMut::Assigned(r)));
        }
        KStmt::Add { at, value, .. } => {
            rewrite_path(at, f);
            rewrite_expr(value, f);
        }
    }
}

/// An expression and everything in it.
pub(crate) fn rewrite_expr(expr: &mut KExpr, f: &mut dyn FnMut(NodeMut<'_>)) {
    f(NodeMut::Expr(expr));
    for_each_part!(expr, iter_mut, rewrite_expr, rewrite_path, f);
}

/// A path and everything in it.
pub(super) fn rewrite_path(path: &mut Path, f: &mut dyn FnMut(NodeMut<'_>)) {
    f(NodeMut::Path(path));
    for_each_part_of_path!(path, rewrite_expr, rewrite_path, f);
}

/// Runs a pass on each function of a module.
pub(super) fn each_function(module: &mut Module, mut pass: impl FnMut(&mut Function, &SetTable)) {
    let sets = &module.sets;
    for function in module.functions.iter_mut().chain([&mut module.main]) {
        pass(function, sets);
    }
}
