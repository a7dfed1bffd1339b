//! Locals of kernel bodies: the statements that assign them, and removal of unread ones.

use std::collections::{BTreeMap, BTreeSet};

use super::rewrite::rename_block;
use crate::backend::visit::{Node, visit_block};
use crate::ir::{CartesianForm, KBlock, KExpr, KStmt, Kernel, Local, LocalId, Path};
use crate::lower::UniqueNames;

/// Locals that a statement assigns, those of its blocks left out.
pub(crate) fn assigned(statement: &KStmt) -> Vec<LocalId> {
    match statement {
        KStmt::Let { local, .. } | KStmt::LetEntity { local, .. } => vec![*local],
        KStmt::ReduceFaces { results, extreme_faces, .. } | KStmt::ReduceSides { results, extreme_faces, .. } => {
            [&results[..], extreme_faces].concat()
        }
        KStmt::If { results, .. } => results.clone(),
        KStmt::Add { .. } => Vec::new(),
    }
}

/// Locals that a block assigns, with those of the blocks in it.
pub(super) fn assigned_inside(block: &KBlock) -> Vec<LocalId> {
    let mut found = Vec::new();
    visit_block(block, &mut |node| {
        if let Node::Stmt(statement) = node {
            found.extend(assigned(statement));
            if let KStmt::ReduceFaces { face, .. } = statement {
                found.push(*face);
            }
        }
    });
    found
}

/// Removes statements whose results are not read, until none is left.
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
            KStmt::ReduceFaces { results, extreme_faces, body, .. } => {
                changed |= drop_extremes(results, extreme_faces, &mut [body], read);
                changed |= drop_in(body, read);
                !results.is_empty() || adds(body)
            }
            KStmt::ReduceSides { results, extreme_faces, low, high, .. } => {
                let blocks = [&mut low.interior, &mut low.boundary, &mut high.interior, &mut high.boundary];
                let mut blocks: Vec<&mut KBlock> = blocks.into_iter().flatten().collect();
                changed |= drop_extremes(results, extreme_faces, &mut blocks, read);
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

/// As [`drop_results`] for a reduction: a result stays as long as somebody reads its face.
fn drop_extremes(
    results: &mut Vec<LocalId>,
    extreme_faces: &mut Vec<LocalId>,
    blocks: &mut [&mut KBlock],
    read: &dyn Fn(LocalId) -> bool,
) -> bool {
    if !extreme_faces.iter().any(|&face| read(face)) {
        let told = !extreme_faces.is_empty();
        extreme_faces.clear();
        return drop_results(results, blocks, read) | told;
    }
    let keep: Vec<bool> = results.iter().zip(extreme_faces.iter()).map(|(&result, &face)| read(result) || read(face)).collect();
    let mut wanted = keep.iter();
    extreme_faces.retain(|_| wanted.next() == Some(&true));
    retain_results(results, blocks, &keep);
    keep.contains(&false)
}

/// Removes results that nobody reads from a statement and from its blocks.
fn drop_results(results: &mut Vec<LocalId>, blocks: &mut [&mut KBlock], read: &dyn Fn(LocalId) -> bool) -> bool {
    let keep: Vec<bool> = results.iter().map(|&r| read(r)).collect();
    retain_results(results, blocks, &keep);
    keep.contains(&false)
}

/// Keeps these results of a statement, and what its blocks yield for them.
pub(super) fn retain_results(results: &mut Vec<LocalId>, blocks: &mut [&mut KBlock], keep: &[bool]) {
    let mut wanted = keep.iter();
    results.retain(|_| wanted.next() == Some(&true));
    for block in blocks {
        let mut wanted = keep.iter();
        block.yields.retain(|_| wanted.next() == Some(&true));
    }
}

/// True if a block adds to a Jacobian.
pub(crate) fn adds(block: &KBlock) -> bool {
    let mut found = false;
    visit_block(block, &mut |node| found |= matches!(node, Node::Stmt(KStmt::Add { .. })));
    found
}

/// Forgets the locals that no body of a kernel assigns, and numbers the others anew.
pub(super) fn drop_unused_locals(kernel: &mut Kernel) {
    let mut used = BTreeSet::new();
    each_body(kernel, &mut |body| used.extend(assigned_inside(body)));
    let numbers: BTreeMap<LocalId, LocalId> = used.iter().zip(0..).map(|(old, new)| (*old, LocalId(new))).collect();
    kernel.locals = used.iter().map(|id| kernel.locals[id.0 as usize].clone()).collect();
    each_body(kernel, &mut |body| rename_block(body, &mut |id| numbers.get(&id).copied().unwrap_or(id)));
}

/// A new local like another one, under a name of its own.
pub(super) fn copy_local(locals: &mut Vec<Local>, names: &mut UniqueNames, local: LocalId) -> LocalId {
    let Local { name, ty } = &locals[local.0 as usize];
    let copy = Local { name: names.unique(name), ty: *ty };
    locals.push(copy);
    LocalId(locals.len() as u32 - 1)
}

/// Runs `f` on every body of a kernel.
pub(super) fn each_body(kernel: &mut Kernel, f: &mut dyn FnMut(&mut KBlock)) {
    f(&mut kernel.body);
    if let Some(CartesianForm::Full(block) | CartesianForm::PerAxis(block)) = &mut kernel.cartesian {
        f(block);
    }
    if let Some(jacobian) = &mut kernel.jacobian {
        f(&mut jacobian.body);
        jacobian.cartesian.as_mut().into_iter().for_each(f);
    }
}
