//! Puts a local that is used once back where it is used. Sharing is decided from the whole program; within one kernel a value may
//! turn out to be needed once.

use crate::backend::visit::{Node, visit_block, visit_stmt};
use crate::ir::{KBlock, KExpr, KStmt, LocalId, Path};

/// Substitutes the single-use locals of a block, not of the blocks inside it. Nothing moves into a sum, where it would be evaluated more often.
pub(super) fn inline_single_uses(block: &mut KBlock) {
    let mut index = 0;
    while index < block.statements.len() {
        let candidate = match &block.statements[index] {
            KStmt::Let { local, value } => Some((*local, value.clone())),
            KStmt::LetEntity { .. } | KStmt::SumFaces { .. } | KStmt::SumSides { .. } | KStmt::If { .. } | KStmt::Add { .. } => None,
        };
        if let Some((local, value)) = candidate
            && uses(block, local) == 1
            && !used_in_sum(&block.statements, local)
        {
            block.statements.remove(index);
            substitute_block(block, local, &value);
        } else {
            index += 1;
        }
    }
}

/// As [`inline_single_uses`], in the blocks of a block too, the innermost first.
pub(in crate::passes) fn inline_all_single_uses(block: &mut KBlock) {
    for statement in &mut block.statements {
        match statement {
            KStmt::SumFaces { body, .. } => inline_all_single_uses(body),
            KStmt::SumSides { low, high, .. } => {
                for block in [&mut low.interior, &mut low.boundary, &mut high.interior, &mut high.boundary].into_iter().flatten() {
                    inline_all_single_uses(block);
                }
            }
            KStmt::If { then, otherwise, .. } => {
                inline_all_single_uses(then);
                inline_all_single_uses(otherwise);
            }
            KStmt::Let { .. } | KStmt::LetEntity { .. } | KStmt::Add { .. } => {}
        }
    }
    inline_single_uses(block);
}

fn uses(block: &KBlock, local: LocalId) -> usize {
    let mut count = 0;
    visit_block(block, &mut |node| count += usize::from(matches!(node, Node::Expr(KExpr::Local(id)) if *id == local)));
    count
}

fn used_in_sum(statements: &[KStmt], local: LocalId) -> bool {
    statements.iter().any(|statement| match statement {
        KStmt::SumFaces { .. } | KStmt::SumSides { .. } => {
            let mut found = false;
            visit_stmt(statement, &mut |node| found |= matches!(node, Node::Expr(KExpr::Local(id)) if *id == local));
            found
        }
        KStmt::If { then, otherwise, .. } => used_in_sum(&then.statements, local) || used_in_sum(&otherwise.statements, local),
        KStmt::Let { .. } | KStmt::LetEntity { .. } | KStmt::Add { .. } => false,
    })
}

fn substitute_block(block: &mut KBlock, local: LocalId, value: &KExpr) {
    for statement in &mut block.statements {
        match statement {
            KStmt::Let { value: expr, .. } => substitute(expr, local, value),
            KStmt::LetEntity { path, .. } => substitute_path(path, local, value),
            KStmt::Add { at, value: added, .. } => {
                substitute_path(at, local, value);
                substitute(added, local, value);
            }
            KStmt::If { condition, then, otherwise, .. } => {
                substitute(condition, local, value);
                substitute_block(then, local, value);
                substitute_block(otherwise, local, value);
            }
            // Checked before: the local is not used in sums.
            KStmt::SumFaces { .. } | KStmt::SumSides { .. } => {}
        }
    }
    for expr in &mut block.yields {
        substitute(expr, local, value);
    }
}

fn substitute(expr: &mut KExpr, local: LocalId, value: &KExpr) {
    match expr {
        KExpr::Local(id) if *id == local => *expr = value.clone(),
        KExpr::Local(_) | KExpr::Real(_) | KExpr::Bool(_) | KExpr::ZeroVector | KExpr::Param(_) => {}
        KExpr::Load { at, .. }
        | KExpr::Measure(at)
        | KExpr::Centroid(at)
        | KExpr::Normal(at)
        | KExpr::IsEmpty(at)
        | KExpr::Member { at, .. }
        | KExpr::Entity(at) => {
            substitute_path(at, local, value);
        }
        KExpr::Same(a, b) | KExpr::Displacement { to: a, from: b } => {
            substitute_path(a, local, value);
            substitute_path(b, local, value);
        }
        KExpr::Unary(_, a) | KExpr::Component(a, _) => substitute(a, local, value),
        KExpr::Arithmetic(_, a, b) | KExpr::Compare(_, a, b) | KExpr::Logic(_, a, b) | KExpr::Dot(a, b) | KExpr::Math(_, a, b) => {
            substitute(a, local, value);
            substitute(b, local, value);
        }
        KExpr::Vector(components) => components.iter_mut().for_each(|c| substitute(c, local, value)),
        KExpr::Select { condition, if_true, if_false } => {
            substitute(condition, local, value);
            substitute(if_true, local, value);
            substitute(if_false, local, value);
        }
    }
}

fn substitute_path(path: &mut Path, local: LocalId, value: &KExpr) {
    match path {
        Path::Here | Path::Local(_) | Path::SideFace(_) | Path::Neighbour(_) | Path::Empty => {}
        Path::First(at) | Path::Second(at) | Path::Through { at, .. } => substitute_path(at, local, value),
        Path::Select { condition, if_true, if_false } => {
            substitute(condition, local, value);
            substitute_path(if_true, local, value);
            substitute_path(if_false, local, value);
        }
    }
}
