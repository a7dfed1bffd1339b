//! Puts a local that is used once back where it is used. Sharing is decided from the whole program;
//! within one kernel a value may turn out to be needed once.

use super::super::rewrite::{NodeMut, rewrite_block};
use crate::backend::visit::{Node, visit_block, visit_stmt};
use crate::ir::{KBlock, KExpr, KStmt, LocalId};

/// Substitutes the single-use locals of a block, not of the blocks inside it. Nothing moves into a
/// sum, where it would be evaluated more often.
pub(super) fn inline_single_uses(block: &mut KBlock) {
    let mut index = 0;
    while index < block.statements.len() {
        let candidate = match &block.statements[index] {
            KStmt::Let { local, value } => Some((*local, value.clone())),
            KStmt::LetEntity { .. } | KStmt::ReduceFaces { .. } | KStmt::ReduceSides { .. } | KStmt::If { .. } | KStmt::Add { .. } => None,
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
            KStmt::ReduceFaces { body, .. } => inline_all_single_uses(body),
            KStmt::ReduceSides { low, high, .. } => {
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
        KStmt::ReduceFaces { .. } | KStmt::ReduceSides { .. } => {
            let mut found = false;
            visit_stmt(statement, &mut |node| found |= matches!(node, Node::Expr(KExpr::Local(id)) if *id == local));
            found
        }
        KStmt::If { then, otherwise, .. } => used_in_sum(&then.statements, local) || used_in_sum(&otherwise.statements, local),
        KStmt::Let { .. } | KStmt::LetEntity { .. } | KStmt::Add { .. } => false,
    })
}

fn substitute_block(block: &mut KBlock, local: LocalId, value: &KExpr) {
    rewrite_block(block, &mut |node| {
        if let NodeMut::Expr(expr) = node
            && matches!(expr, KExpr::Local(id) if *id == local)
        {
            *expr = value.clone();
        }
    });
}
