//! Dead code: pure operations whose result nobody reads, stores to mutables that nobody loads.
//! Operations that may fail at run time stay.

use std::collections::BTreeSet;

use super::analysis::Defs;
use crate::ir::{Block, Function, MutableId, Op, StmtKind, ValueId};
use crate::types::SetTable;

/// Removes dead code from a function.
pub(super) fn run(function: &mut Function, sets: &SetTable) {
    loop {
        let defs = Defs::of(function);
        let mut live = Live::default();
        live.block(&function.body, function, sets, &defs);
        let before = count(&function.body);
        let mut body = std::mem::take(&mut function.body);
        retain(&mut body, function, sets, &defs, &live);
        function.body = body;
        if count(&function.body) == before {
            return;
        }
    }
}

#[derive(Default)]
struct Live {
    values: BTreeSet<ValueId>,
    mutables: BTreeSet<MutableId>,
}

impl Live {
    fn block(&mut self, block: &Block, function: &Function, sets: &SetTable, defs: &Defs) {
        for statement in block.statements.iter().rev() {
            match &statement.kind {
                StmtKind::Let { results, op } => {
                    if needed(results, op, function, sets, defs, self) {
                        self.values.extend(op.operands());
                        if let Op::Load(mutable) = op {
                            self.mutables.insert(*mutable);
                        }
                    }
                }
                // Conservative: a store counts as a use of its value; stores to unread mutables go
                // in the next round.
                StmtKind::Store { value, .. } => {
                    self.values.insert(*value);
                }
                StmtKind::Output { tag, value } => self.values.extend([*tag, *value]),
                StmtKind::For { rounds, body } => {
                    self.block(body, function, sets, defs);
                    self.values.extend(rounds.operands());
                    self.mutables.extend(rounds.condition());
                }
                StmtKind::Launch { args, .. } => self.values.extend(args),
                StmtKind::Return(values) => self.values.extend(values),
            }
        }
    }
}

fn needed(results: &[ValueId], op: &Op, function: &Function, sets: &SetTable, defs: &Defs, live: &Live) -> bool {
    let droppable = (op.class().is_pure() || matches!(op, Op::Load(_))) && !defs.may_fail(function, sets, op);
    !droppable || results.iter().any(|r| live.values.contains(r))
}

fn retain(block: &mut Block, function: &Function, sets: &SetTable, defs: &Defs, live: &Live) {
    block.statements.retain_mut(|statement| match &mut statement.kind {
        StmtKind::Let { results, op } => needed(results, op, function, sets, defs, live),
        StmtKind::Store { mutable, .. } => live.mutables.contains(mutable),
        StmtKind::For { body, .. } => {
            retain(body, function, sets, defs, live);
            true
        }
        StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => true,
    });
}

fn count(block: &Block) -> usize {
    let nested = |s: &crate::ir::Stmt| match &s.kind {
        StmtKind::For { body, .. } => count(body),
        StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => 0,
    };
    block.statements.iter().map(|s| 1 + nested(s)).sum()
}
