//! Finds out if the rounds of a loop can change its condition.

use std::collections::BTreeSet;

use crate::check::tree::Tree;
use crate::typed::captures::reads_and_writes;
use crate::typed::{Expr, Stmt, StmtKind, VarId};

/// True if a round of a loop assigns a variable that its condition reads. The captures of
/// the tree are those of all functions.
pub(super) fn changes(condition: &Expr, body: &[Stmt], tree: &Tree) -> bool {
    let condition = [Stmt { kind: StmtKind::Discard(condition.clone()), span: condition.span }];
    let read: BTreeSet<VarId> = reads_and_writes(&tree.captures, &condition).reads;
    let written = reads_and_writes(&tree.captures, body).writes;
    read.iter().any(|variable| tree.variable(*variable).mutable && written.contains(variable))
}
