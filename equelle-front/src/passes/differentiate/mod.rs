//! Stencil differentiation: the residuals of a Newton solve become kernels that give a residual and
//! its row of the Jacobian in one pass.
//!
//! A residual is substituted where the solve stands, in a *solve loop* that exists for this pass
//! alone; the passes for loops then move out of it whatever does not depend on the unknowns. What
//! is left becomes one kernel per equation, in which nothing that depends on an unknown is stored,
//! and which [`reverse`] differentiates in its structure.
//!
//! A solve that cannot be treated keeps its residual functions, whose derivatives the runtime
//! follows operation by operation.

mod algebra;
mod elementary;
mod embed;
mod flatten;
mod reverse;

use super::Notes;
use super::fuse::inline_all_single_uses;
use super::locals::{adds, drop_unread, drop_unused_locals};
use crate::backend::visit::{Node, visit_block};
use crate::cost::CostModel;
use crate::ir::{JacobianForm, KBlock, KStmt, Kernel, Module, Path, StmtKind};
use crate::passes::NotDifferentiated;

/// Name of the pass.
pub(super) const NAME: &str = "differentiate";

/// Gives every Newton solve of a module its equations as kernels, where that is possible, in the
/// place of residual functions; those that put something out stay, for that alone. Notes the solves
/// that keep residual functions for their derivatives, in order.
pub(super) fn replace(module: &mut Module, model: &CostModel, notes: &mut Notes) {
    embed::treat(module, model, notes);
    let puts_out = |f: &crate::ir::Function| f.body.statements.iter().any(|s| matches!(s.kind, StmtKind::Output { .. }));
    let functions: Vec<bool> = module.functions.iter().map(puts_out).collect();
    for function in module.functions.iter_mut().chain([&mut module.main]) {
        embed::without_residuals(&mut function.body, &functions);
    }
    super::inline::drop_uncalled(module);
    super::each_function(module, super::dce::run);
}

/// Gives every Newton solve of a module its equations as kernels, where that is possible; residual
/// functions stay beside them. The solves that keep residual functions alone, in order.
pub fn differentiate(module: &mut Module) -> Vec<NotDifferentiated> {
    let mut notes = Notes::default();
    embed::treat(module, &CostModel::default(), &mut notes);
    notes.untreated
}

/// Adds the Jacobian form to the kernel of an equation whose first parameters are the unknowns;
/// `cartesian` is its body for uniform Cartesian grids.
fn with_jacobian(kernel: Kernel, cartesian: Option<KBlock>, unknowns: u32) -> Result<Kernel, reverse::Obstacle> {
    let residual = kernel.body.clone();
    let mut work = flatten::Work::new(kernel, unknowns);
    let body = derivative(&mut work, residual)?;
    if !adds(&body) {
        return Err("a residual that depends on no unknown");
    }
    // The same rules, in the same order; but values of the cell itself are shared by its sides.
    work.begin_body();
    let cartesian = cartesian.and_then(|block| derivative(&mut work, block).ok()).filter(only_neighbours);
    let mut kernel = work.kernel;
    kernel.jacobian = Some(JacobianForm { unknowns, body, cartesian });
    drop_unused_locals(&mut kernel);
    Ok(kernel)
}

fn derivative(work: &mut flatten::Work, residual: KBlock) -> Result<KBlock, reverse::Obstacle> {
    let flat = work.flatten(residual);
    let mut body = reverse::differentiate(work, flat)?;
    drop_unread(&mut body);
    inline_all_single_uses(&mut body);
    Ok(body)
}

/// True if the columns of a row are a cell and the cells beyond its sides. Where values are read by
/// index, columns are those of offsets, which the body for any grid has too.
fn only_neighbours(body: &KBlock) -> bool {
    let mut only = true;
    visit_block(body, &mut |node| match node {
        Node::Stmt(KStmt::Add { at, .. }) => only &= matches!(at, Path::Here | Path::Shift { .. }),
        Node::Path(Path::Offset { .. }) => only = false,
        Node::Path(_) | Node::Expr(_) | Node::Stmt(_) => {}
    });
    only
}
