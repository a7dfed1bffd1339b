//! Finds out if the rounds of a loop can change its condition.

use std::collections::BTreeSet;

use crate::typed::captures::{Captures, reads_and_writes};
use crate::typed::{Expr, Stmt, StmtKind, VarId, Variable};

/// True if a round of a loop assigns a variable that its condition reads. `captures` are those of
/// all functions.
pub(super) fn changes(condition: &Expr, body: &[Stmt], variables: &[Variable], captures: &[Captures]) -> bool {
    let condition = [Stmt { kind: StmtKind::Discard(condition.clone()), span: condition.span }];
    let read: BTreeSet<VarId> = reads_and_writes(captures, &condition).reads;
    let written = reads_and_writes(captures, body).writes;
    read.iter().any(|variable| variables[variable.0 as usize].mutable && written.contains(variable))
}
