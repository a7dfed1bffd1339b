//! Sums over faces in the branches of a choice.

use std::collections::BTreeSet;

use super::super::locals::assigned;
use crate::backend::visit::{Node, visit_stmt};
use crate::ir::{KBlock, KExpr, KStmt, Path};

/// Takes the sums over sides out of a block, and the statements that they read.
pub(super) fn take_sums(block: &mut KBlock) -> Vec<KStmt> {
    let mut read = BTreeSet::new();
    let (mut taken, mut left) = (Vec::new(), Vec::new());
    for statement in std::mem::take(&mut block.statements).into_iter().rev() {
        if !matches!(statement, KStmt::ReduceSides { .. }) && !assigned(&statement).iter().any(|local| read.contains(local)) {
            left.push(statement);
            continue;
        }
        visit_stmt(&statement, &mut |node| match node {
            Node::Expr(KExpr::Local(local)) | Node::Path(Path::Local(local)) => {
                read.insert(*local);
            }
            Node::Expr(_) | Node::Path(_) | Node::Stmt(_) => {}
        });
        taken.push(statement);
    }
    left.reverse();
    taken.reverse();
    block.statements = left;
    taken
}
