//! Walking over kernel bodies in order to change them.

use std::collections::BTreeMap;

use crate::backend::visit::{Node, visit_block};
use crate::ir::{KBlock, KExpr, KStmt, LocalId, Path};

/// Renames locals where they are assigned and where they are read.
pub(super) fn rename_block(block: &mut KBlock, f: &mut dyn FnMut(LocalId) -> LocalId) {
    for statement in &mut block.statements {
        rename_statement(statement, f);
    }
    for expr in &mut block.yields {
        rename_expr(expr, f);
    }
}

fn rename_statement(statement: &mut KStmt, f: &mut dyn FnMut(LocalId) -> LocalId) {
    match statement {
        KStmt::Let { local, value } => {
            *local = f(*local);
            rename_expr(value, f);
        }
        KStmt::LetEntity { local, path } => {
            *local = f(*local);
            rename_path(path, f);
        }
        KStmt::SumFaces { results, cell, face, body, .. } => {
            results.iter_mut().for_each(|r| *r = f(*r));
            *face = f(*face);
            rename_path(cell, f);
            rename_block(body, f);
        }
        KStmt::SumSides { results, low, high } => {
            results.iter_mut().for_each(|r| *r = f(*r));
            for block in [&mut low.interior, &mut low.boundary, &mut high.interior, &mut high.boundary].into_iter().flatten() {
                rename_block(block, f);
            }
        }
        KStmt::If { results, condition, then, otherwise } => {
            results.iter_mut().for_each(|r| *r = f(*r));
            rename_expr(condition, f);
            rename_block(then, f);
            rename_block(otherwise, f);
        }
        KStmt::Add { at, value, .. } => {
            rename_path(at, f);
            rename_expr(value, f);
        }
    }
}

fn rename_expr(expr: &mut KExpr, f: &mut dyn FnMut(LocalId) -> LocalId) {
    match expr {
        KExpr::Local(id) => *id = f(*id),
        KExpr::Real(_) | KExpr::Bool(_) | KExpr::ZeroVector | KExpr::Param(_) => {}
        KExpr::Load { at, .. }
        | KExpr::Measure(at)
        | KExpr::Centroid(at)
        | KExpr::Normal(at)
        | KExpr::IsEmpty(at)
        | KExpr::Member { at, .. }
        | KExpr::Entity(at) => rename_path(at, f),
        KExpr::Same(a, b) | KExpr::Displacement { to: a, from: b } => {
            rename_path(a, f);
            rename_path(b, f);
        }
        KExpr::Unary(_, a) | KExpr::Component(a, _) => rename_expr(a, f),
        KExpr::Arithmetic(_, a, b) | KExpr::Compare(_, a, b) | KExpr::Logic(_, a, b) | KExpr::Dot(a, b) | KExpr::Math(_, a, b) => {
            rename_expr(a, f);
            rename_expr(b, f);
        }
        KExpr::Vector(components) => components.iter_mut().for_each(|c| rename_expr(c, f)),
        KExpr::Select { condition, if_true, if_false } => {
            rename_expr(condition, f);
            rename_expr(if_true, f);
            rename_expr(if_false, f);
        }
    }
}

fn rename_path(path: &mut Path, f: &mut dyn FnMut(LocalId) -> LocalId) {
    match path {
        Path::Local(id) => *id = f(*id),
        Path::Here | Path::SideFace(_) | Path::Neighbour(_) | Path::Empty => {}
        Path::First(at) | Path::Second(at) | Path::Through { at, .. } => rename_path(at, f),
        Path::Select { condition, if_true, if_false } => {
            rename_expr(condition, f);
            rename_path(if_true, f);
            rename_path(if_false, f);
        }
    }
}

/// Locals that a statement assigns, those of its blocks left out.
pub(super) fn assigned(statement: &KStmt) -> Vec<LocalId> {
    match statement {
        KStmt::Let { local, .. } | KStmt::LetEntity { local, .. } => vec![*local],
        KStmt::SumFaces { results, .. } | KStmt::SumSides { results, .. } | KStmt::If { results, .. } => results.clone(),
        KStmt::Add { .. } => Vec::new(),
    }
}

/// Locals that a block assigns, with those of the blocks in it.
pub(super) fn assigned_inside(block: &KBlock) -> Vec<LocalId> {
    let mut found = Vec::new();
    visit_block(block, &mut |node| {
        if let Node::Stmt(statement) = node {
            found.extend(assigned(statement));
            if let KStmt::SumFaces { face, .. } = statement {
                found.push(*face);
            }
        }
    });
    found
}

/// Removes what nobody reads, until there is no such thing.
pub(crate) fn drop_unread(body: &mut KBlock) {
    loop {
        let mut reads: BTreeMap<LocalId, usize> = BTreeMap::new();
        visit_block(body, &mut |node| match node {
            Node::Expr(KExpr::Local(id)) | Node::Path(Path::Local(id)) => *reads.entry(*id).or_default() += 1,
            Node::Expr(_) | Node::Path(_) | Node::Stmt(_) => {}
        });
        if !drop_in(body, &|id| reads.contains_key(&id)) {
            return;
        }
    }
}

fn drop_in(block: &mut KBlock, read: &dyn Fn(LocalId) -> bool) -> bool {
    let mut changed = false;
    block.statements.retain_mut(|statement| {
        let keep = match statement {
            KStmt::Let { local, .. } | KStmt::LetEntity { local, .. } => read(*local),
            KStmt::SumFaces { results, body, .. } => {
                changed |= drop_results(results, &mut [body], read);
                changed |= drop_in(body, read);
                !results.is_empty() || adds(body)
            }
            KStmt::SumSides { results, low, high } => {
                let blocks = [&mut low.interior, &mut low.boundary, &mut high.interior, &mut high.boundary];
                let mut blocks: Vec<&mut KBlock> = blocks.into_iter().flatten().collect();
                changed |= drop_results(results, &mut blocks, read);
                for block in &mut blocks {
                    changed |= drop_in(block, read);
                }
                !results.is_empty() || blocks.iter().any(|b| adds(b))
            }
            KStmt::If { results, then, otherwise, .. } => {
                changed |= drop_results(results, &mut [then, otherwise], read);
                changed |= drop_in(then, read);
                changed |= drop_in(otherwise, read);
                !results.is_empty() || adds(then) || adds(otherwise)
            }
            KStmt::Add { .. } => true,
        };
        changed |= !keep;
        keep
    });
    changed
}

/// Removes results that nobody reads from a statement and from its blocks.
fn drop_results(results: &mut Vec<LocalId>, blocks: &mut [&mut KBlock], read: &dyn Fn(LocalId) -> bool) -> bool {
    let keep: Vec<bool> = results.iter().map(|&r| read(r)).collect();
    if keep.iter().all(|&k| k) {
        return false;
    }
    let mut wanted = keep.iter();
    results.retain(|_| wanted.next() == Some(&true));
    for block in blocks {
        let mut wanted = keep.iter();
        block.yields.retain(|_| wanted.next() == Some(&true));
    }
    true
}

pub(super) fn adds(block: &KBlock) -> bool {
    let mut found = false;
    visit_block(block, &mut |node| found |= matches!(node, Node::Stmt(KStmt::Add { .. })));
    found
}
