//! Moves pure operations on values from outside a loop to just before it: geometry,
//! transmissibilities, canonical sets.
//!
//! A loop may have no rounds, and outputs may stand before an operation in its body. So what may be
//! an error at run time stays, and with it what depends on it.

use std::collections::BTreeSet;

use super::analysis::Defs;
use crate::ir::{Block, Function, Op, Stmt, StmtKind, ValueId};
use crate::types::SetTable;

/// Hoists in every loop of a function, innermost first.
pub(super) fn run(function: &mut Function, sets: &SetTable) {
    let body = std::mem::take(&mut function.body);
    let mut defs = Defs::default();
    defs.add(&body.statements);
    function.body = Hoister { function, sets, defs }.block(body);
}

struct Hoister<'a> {
    function: &'a Function,
    sets: &'a SetTable,
    defs: Defs,
}

impl Hoister<'_> {
    fn block(&self, block: Block) -> Block {
        let mut out = Vec::with_capacity(block.statements.len());
        for statement in block.statements {
            match statement.kind {
                StmtKind::For { rounds, body } => {
                    let body = self.block(body);
                    let (hoisted, body) = self.split(rounds.element(), body);
                    out.extend(hoisted);
                    out.push(Stmt { kind: StmtKind::For { rounds, body }, span: statement.span });
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
    fn split(&self, element: Option<ValueId>, body: Block) -> (Vec<Stmt>, Block) {
        let runs = is_solve_loop(&body);
        let mut inside = BTreeSet::from_iter(element);
        let (mut hoisted, mut kept) = (Vec::new(), Vec::new());
        for statement in body.statements {
            let invariant = match &statement.kind {
                StmtKind::Let { op, .. } => self.may_leave(op, runs) && op.operands().iter().all(|v| !inside.contains(v)),
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

    /// True if an operation may be evaluated before a loop instead of in it; `runs` if nothing is
    /// before it and the loop has a round.
    fn may_leave(&self, op: &Op, runs: bool) -> bool {
        op.class().is_pure() && (runs || !self.defs.may_fail(self.function, self.sets, op))
    }
}

/// True if a body is that of a solve loop (see [`mod@super::differentiate`]), which ends with the
/// residuals. The solve behind it evaluates them at least once and first of all, and no output
/// stands before what may fail in them.
pub(super) fn is_solve_loop(body: &Block) -> bool {
    matches!(body.statements.last().map(|s| &s.kind), Some(StmtKind::Return(_)))
}
