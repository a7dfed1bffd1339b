//! Brings together what the bodies of merged kernels have in common: equal definitions, sums over
//! the same faces, choices by the same condition.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::locals::{assigned, retain_results};
use super::rewrite::{NodeMut, rewrite_block, rewrite_expr, rewrite_statement};
use crate::backend::visit::{Node, visit_block, visit_stmt};
use crate::ir::{FaceFilter, KBlock, KExpr, KStmt, Local, LocalId, Path, SideBlocks};
use crate::lower::UniqueNames;
use crate::ops::FaceReduction;
use crate::types::{Basic, CanonicalSet, SetTable};

/// Sums over the faces of a cell that leave some out take them in, with a term that changes
/// nothing, where another sum visits them anyway: then both can be one sum.
pub(super) fn widen_sums(block: &mut KBlock, sets: &SetTable, locals: &mut Vec<Local>, names: &mut UniqueNames) {
    let whole: Vec<(FaceReduction, Path)> = block.statements.iter().filter_map(over_all_faces).collect();
    for statement in &mut block.statements {
        let KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body } = statement else { continue };
        if *only == FaceFilter::All || !extreme_faces.is_empty() || !whole.contains(&(*reduction, cell.clone())) {
            continue;
        }
        let mut terms = Vec::with_capacity(results.len());
        let mut neutral = KBlock::default();
        for result in results.iter() {
            let ty = locals[result.0 as usize].ty;
            neutral.yields.push(match ty.basic {
                Basic::Vector => KExpr::ZeroVector,
                Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => {
                    KExpr::Real(reduction.start())
                }
            });
            terms.push(LocalId(locals.len() as u32));
            locals.push(Local { name: names.unique("term"), ty });
        }
        let condition = KExpr::Member { set: sets.canonical(CanonicalSet::INTERIOR_FACES), at: Path::Local(*face) };
        let yields = terms.iter().map(|&term| KExpr::Local(term)).collect();
        let visited = std::mem::take(body);
        let (then, otherwise) = if *only == FaceFilter::Interior { (visited, neutral) } else { (neutral, visited) };
        *only = FaceFilter::All;
        *body = KBlock { statements: vec![KStmt::If { results: terms, condition, then, otherwise }], yields };
    }
}

fn over_all_faces(statement: &KStmt) -> Option<(FaceReduction, Path)> {
    match statement {
        KStmt::ReduceFaces { reduction, extreme_faces, cell, only: FaceFilter::All, .. } if extreme_faces.is_empty() => {
            Some((*reduction, cell.clone()))
        }
        KStmt::ReduceFaces { .. }
        | KStmt::ReduceSides { .. }
        | KStmt::Let { .. }
        | KStmt::LetEntity { .. }
        | KStmt::If { .. }
        | KStmt::Add { .. } => None,
    }
}

/// Combines the statements of a block, and of the blocks in it that were put together. `copy` makes
/// a local like another one.
pub(super) fn combine(block: &mut KBlock, copy: &mut dyn FnMut(LocalId) -> LocalId) {
    combine_within(block, &HashMap::new(), copy);
    // Choices inside of choices by the same condition.
    rewrite_block(block, &mut |node| {
        if let NodeMut::Expr(KExpr::Select { condition, if_true, if_false }) = node {
            rewrite_expr(if_true, &mut |node| decided(node, condition, true));
            rewrite_expr(if_false, &mut |node| decided(node, condition, false));
        }
    });
}

/// Definitions by their text: locals that hold them.
type ValueTable = HashMap<String, LocalId>;

fn combine_within(block: &mut KBlock, outer: &ValueTable, copy: &mut dyn FnMut(LocalId) -> LocalId) {
    let mut known = outer.clone();
    let mut same: BTreeMap<LocalId, LocalId> = BTreeMap::new();
    let mut rest: Vec<Option<KStmt>> = std::mem::take(&mut block.statements).into_iter().map(Some).collect();
    let mut pending: BTreeSet<LocalId> = rest.iter().flatten().flat_map(assigned).collect();
    let mut out: Vec<KStmt> = Vec::with_capacity(rest.len());
    while rest.iter().any(Option::is_some) {
        // Definitions first: they may be what another sum or choice waits for.
        let mut progress = false;
        for slot in &mut rest {
            let simple = matches!(slot, Some(KStmt::Let { .. } | KStmt::LetEntity { .. }));
            if !simple || slot.as_ref().is_some_and(|s| waits(s, &pending)) {
                continue;
            }
            let Some(mut statement) = slot.take() else { continue };
            progress = true;
            rename(&mut statement, &same);
            assigned(&statement).iter().for_each(|l| {
                pending.remove(l);
            });
            let (local, text) = match &statement {
                KStmt::Let { local, value } => (*local, format!("{value:?}")),
                KStmt::LetEntity { local, path } => (*local, format!("{path:?}")),
                KStmt::ReduceFaces { .. } | KStmt::ReduceSides { .. } | KStmt::If { .. } | KStmt::Add { .. } => continue,
            };
            match (&statement, known.get(&text)) {
                (KStmt::Let { value: KExpr::Local(other), .. }, _) | (KStmt::LetEntity { path: Path::Local(other), .. }, _) => {
                    same.insert(local, *other);
                }
                (_, Some(&other)) => {
                    same.insert(local, other);
                }
                (_, None) => {
                    known.insert(text, local);
                    out.push(statement);
                }
            }
        }
        if progress {
            continue;
        }
        let Some(first) = rest.iter().position(|slot| slot.as_ref().is_some_and(|s| !waits(s, &pending))) else {
            // Locals are assigned before they are read, so something is always ready.
            out.extend(rest.into_iter().flatten());
            break;
        };
        let Some(mut leader) = rest[first].take() else { continue };
        rename(&mut leader, &same);
        // A later choice may read what the first one gives: it is known within the branches.
        if matches!(leader, KStmt::If { .. }) {
            assigned(&leader).iter().for_each(|l| {
                pending.remove(l);
            });
        }
        for slot in &mut rest[first + 1..] {
            if let Some(statement) = slot
                && !waits(statement, &pending)
            {
                let mut candidate = statement.clone();
                rename(&mut candidate, &same);
                let made = assigned(&candidate);
                if join(&mut leader, candidate, copy) {
                    *slot = None;
                    if matches!(leader, KStmt::If { .. }) {
                        made.iter().for_each(|l| {
                            pending.remove(l);
                        });
                    }
                }
            }
        }
        assigned(&leader).iter().for_each(|l| {
            pending.remove(l);
        });
        inside(&mut leader, &known, copy);
        drop_equal_results(&mut leader, &mut same);
        out.push(leader);
    }
    block.statements = out;
    for value in &mut block.yields {
        rewrite_expr(value, &mut |node| read_same(node, &same));
    }
}

/// Combines the blocks of a statement.
fn inside(statement: &mut KStmt, known: &ValueTable, copy: &mut dyn FnMut(LocalId) -> LocalId) {
    match statement {
        KStmt::ReduceFaces { body, .. } => combine_within(body, known, copy),
        KStmt::ReduceSides { low, high, .. } => {
            for block in [&mut low.interior, &mut low.boundary, &mut high.interior, &mut high.boundary].into_iter().flatten() {
                combine_within(block, known, copy);
            }
        }
        KStmt::If { condition, then, otherwise, .. } => {
            decide(then, condition, true);
            decide(otherwise, condition, false);
            combine_within(then, known, copy);
            combine_within(otherwise, known, copy);
        }
        KStmt::Let { .. } | KStmt::LetEntity { .. } | KStmt::Add { .. } => {}
    }
}

/// Choices by a condition that is known to hold, or not to.
fn decide(block: &mut KBlock, condition: &KExpr, holds: bool) {
    rewrite_block(block, &mut |node| decided(node, condition, holds));
}

fn decided(node: NodeMut<'_>, condition: &KExpr, holds: bool) {
    match node {
        NodeMut::Expr(expr) => {
            // The result may be such a choice again.
            while let KExpr::Select { condition: c, if_true, if_false } = expr
                && **c == *condition
            {
                *expr = if holds { (**if_true).clone() } else { (**if_false).clone() };
            }
        }
        NodeMut::Path(path) => {
            while let Path::Select { condition: c, if_true, if_false } = path
                && **c == *condition
            {
                *path = if holds { (**if_true).clone() } else { (**if_false).clone() };
            }
        }
        NodeMut::Assigned(_) => {}
    }
}

/// Results of a sum or choice that are made alike are one.
fn drop_equal_results(statement: &mut KStmt, same: &mut BTreeMap<LocalId, LocalId>) {
    let (results, mut blocks): (&mut Vec<LocalId>, Vec<&mut KBlock>) = match statement {
        // Results with faces stay as they are: only equations have such.
        KStmt::ReduceFaces { extreme_faces, .. } | KStmt::ReduceSides { extreme_faces, .. } if !extreme_faces.is_empty() => return,
        KStmt::ReduceFaces { results, body, .. } => (results, vec![body]),
        KStmt::ReduceSides { results, low, high, .. } => {
            let blocks = [&mut low.interior, &mut low.boundary, &mut high.interior, &mut high.boundary];
            (results, blocks.into_iter().flatten().collect())
        }
        KStmt::If { results, then, otherwise, .. } => (results, vec![then, otherwise]),
        KStmt::Let { .. } | KStmt::LetEntity { .. } | KStmt::Add { .. } => return,
    };
    let mut first: HashMap<String, LocalId> = HashMap::new();
    let kept: Vec<bool> = results
        .iter()
        .enumerate()
        .map(|(i, result)| {
            let text = format!("{:?}", blocks.iter().map(|b| b.yields.get(i)).collect::<Vec<_>>());
            match first.get(&text) {
                Some(&other) => {
                    same.insert(*result, other);
                    false
                }
                None => {
                    first.insert(text, *result);
                    true
                }
            }
        })
        .collect();
    retain_results(results, &mut blocks, &kept);
}

/// True if a statement reads a local that is not assigned yet.
fn waits(statement: &KStmt, pending: &BTreeSet<LocalId>) -> bool {
    let mut waits = false;
    visit_stmt(statement, &mut |node| {
        waits |= match node {
            Node::Expr(KExpr::Local(id)) | Node::Path(Path::Local(id)) => pending.contains(id),
            Node::Stmt(_) | Node::Expr(_) | Node::Path(_) => false,
        };
    });
    waits
}

fn read_same(node: NodeMut<'_>, same: &BTreeMap<LocalId, LocalId>) {
    match node {
        NodeMut::Expr(KExpr::Local(id)) | NodeMut::Path(Path::Local(id)) => {
            while let Some(&other) = same.get(id) {
                *id = other;
            }
        }
        NodeMut::Expr(_) | NodeMut::Path(_) | NodeMut::Assigned(_) => {}
    }
}

fn rename(statement: &mut KStmt, same: &BTreeMap<LocalId, LocalId>) {
    rewrite_statement(statement, &mut |node| read_same(node, same));
}

/// Puts the second statement into the first, if they are sums over the same faces or choices by the
/// same condition.
fn join(into: &mut KStmt, from: KStmt, copy: &mut dyn FnMut(LocalId) -> LocalId) -> bool {
    match (into, from) {
        (
            KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body },
            KStmt::ReduceFaces {
                reduction: other_reduction,
                results: more,
                extreme_faces: other_faces,
                cell: other_cell,
                face: other_face,
                only: other_only,
                body: mut other,
            },
        ) if *reduction == other_reduction
            && *cell == other_cell
            && *only == other_only
            && extreme_faces.is_empty()
            && other_faces.is_empty() =>
        {
            let names = BTreeMap::from([(other_face, *face)]);
            rewrite_block(&mut other, &mut |node| read_same(node, &names));
            results.extend(more);
            append(body, other);
            true
        }
        (
            KStmt::ReduceSides { reduction, results, extreme_faces, low, high },
            KStmt::ReduceSides { reduction: other_reduction, results: more, extreme_faces: other_faces, low: other_low, high: other_high },
        ) if *reduction == other_reduction
            && extreme_faces.is_empty()
            && other_faces.is_empty()
            && (have_common(low, &other_low) || have_common(high, &other_high)) =>
        {
            let (before, after) = (results.len(), more.len());
            results.extend(more);
            for (side, other) in [(low, other_low), (high, other_high)] {
                let SideBlocks { interior, boundary } = other;
                join_side(*reduction, &mut side.interior, interior, before, after);
                join_side(*reduction, &mut side.boundary, boundary, before, after);
            }
            true
        }
        (
            KStmt::If { results, condition, then, otherwise },
            KStmt::If { results: more, condition: other, then: mut other_then, otherwise: mut other_otherwise },
        ) if *condition == other => {
            for (block, other) in [(&mut *then, &mut other_then), (&mut *otherwise, &mut other_otherwise)] {
                read_in_branch(results, block, other, copy);
            }
            results.extend(more);
            append(then, other_then);
            append(otherwise, other_otherwise);
            true
        }
        _ => false,
    }
}

/// Has a block read what a branch yields, instead of the results of its choice.
fn read_in_branch(results: &[LocalId], branch: &mut KBlock, block: &mut KBlock, copy: &mut dyn FnMut(LocalId) -> LocalId) {
    let mut read = BTreeSet::new();
    visit_block(block, &mut |node| {
        if let Node::Expr(KExpr::Local(id)) = node {
            read.insert(*id);
        }
    });
    let KBlock { statements, yields } = branch;
    for (result, value) in results.iter().zip(yields).filter(|(result, _)| read.contains(result)) {
        let held = match value {
            KExpr::Local(_) | KExpr::Real(_) | KExpr::Bool(_) | KExpr::Param(_) | KExpr::ZeroVector => value.clone(),
            _ => {
                let local = copy(*result);
                statements.push(KStmt::Let { local, value: std::mem::replace(value, KExpr::Local(local)) });
                KExpr::Local(local)
            }
        };
        rewrite_block(block, &mut |node| {
            if let NodeMut::Expr(expr) = node
                && *expr == KExpr::Local(*result)
            {
                *expr = held.clone();
            }
        });
    }
}

/// True if two sides both have terms at interior faces, or both on the boundary.
fn have_common(a: &SideBlocks, b: &SideBlocks) -> bool {
    a.interior.is_some() && b.interior.is_some() || a.boundary.is_some() && b.boundary.is_some()
}

fn append(block: &mut KBlock, other: KBlock) {
    block.statements.extend(other.statements);
    block.yields.extend(other.yields);
}

/// Blocks of one side; a missing one yields what the reduction starts with, which changes nothing.
fn join_side(reduction: FaceReduction, block: &mut Option<KBlock>, other: Option<KBlock>, before: usize, after: usize) {
    let neutral = |n: usize| KBlock { statements: Vec::new(), yields: vec![KExpr::Real(reduction.start()); n] };
    *block = match (block.take(), other) {
        (None, None) => None,
        (a, b) => {
            let mut joined = a.unwrap_or_else(|| neutral(before));
            append(&mut joined, b.unwrap_or_else(|| neutral(after)));
            Some(joined)
        }
    };
}
