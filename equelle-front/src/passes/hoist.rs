//! Moves pure operations on values from outside a loop to just before it: geometry, transmissibilities, canonical sets.

use std::collections::BTreeSet;

use super::analysis::is_pure;
use crate::ir::{Block, Function, Stmt, StmtKind, ValueId};
use crate::types::SetTable;

/// Hoists in every loop of a function, innermost first.
pub(super) fn run(function: &mut Function, _sets: &SetTable) {
    let body = std::mem::take(&mut function.body);
    function.body = block(body);
}

fn block(block_in: Block) -> Block {
    let mut out = Vec::with_capacity(block_in.statements.len());
    for statement in block_in.statements {
        match statement.kind {
            StmtKind::For { sequence, element, body } => {
                let body = block(body);
                let (hoisted, body) = split(element, body);
                out.extend(hoisted);
                out.push(Stmt { kind: StmtKind::For { sequence, element, body }, span: statement.span });
            }
            kind @ (StmtKind::Let { .. }
            | StmtKind::Store { .. }
            | StmtKind::Output { .. }
            | StmtKind::Launch { .. }
            | StmtKind::Return(_)) => out.push(Stmt { kind, span: statement.span }),
        }
    }
    Block { statements: out }
}

/// Splits a loop body into what does not depend on the loop and the rest.
fn split(element: ValueId, body: Block) -> (Vec<Stmt>, Block) {
    let mut inside = BTreeSet::from([element]);
    let (mut hoisted, mut kept) = (Vec::new(), Vec::new());
    for statement in body.statements {
        let invariant = match &statement.kind {
            StmtKind::Let { op, .. } => is_pure(op) && op.operands().iter().all(|v| !inside.contains(v)),
            StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::For { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {
                false
            }
        };
        if invariant {
            hoisted.push(statement);
        } else {
            if let StmtKind::Let { results, .. } | StmtKind::Launch { results, .. } = &statement.kind {
                inside.extend(results);
            }
            kept.push(statement);
        }
    }
    (hoisted, Block { statements: kept })
}
