//! Steps that a program computes: where no round is ever taken again in parts, a round takes the
//! whole step, so that what reads it need not wait until the round has taken it.

use std::collections::BTreeMap;

use super::inline::rename;
use crate::ir::{Block, Function, Module, Op, StmtKind, ValueId};

/// Has the readers of steps read what they are computed as, if no solve can make a round begin
/// anew.
pub(super) fn run(module: &mut Module) {
    if module.functions.iter().chain([&module.main]).any(|function| solves(&function.body)) {
        return;
    }
    for function in module.functions.iter_mut().chain([&mut module.main]) {
        let mut lengths = BTreeMap::new();
        note_steps(&function.body, &mut lengths);
        if !lengths.is_empty() {
            forward(function, &lengths);
        }
    }
}

fn solves(block: &Block) -> bool {
    block.statements.iter().any(|statement| match &statement.kind {
        StmtKind::Let { op, .. } => matches!(op, Op::Newton { .. }),
        StmtKind::For { body, .. } => solves(body),
        StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => false,
    })
}

/// Notes the value that each step is computed as.
fn note_steps(block: &Block, lengths: &mut BTreeMap<ValueId, ValueId>) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Let { results, op: Op::Step(length) } => {
                let length = lengths.get(length).copied().unwrap_or(*length);
                lengths.extend(results.iter().map(|&result| (result, length)));
            }
            StmtKind::For { body, .. } => note_steps(body, lengths),
            StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
}

fn forward(function: &mut Function, lengths: &BTreeMap<ValueId, ValueId>) {
    for (step, length) in lengths {
        let name = function.values[step.0 as usize].name.clone();
        let length = &mut function.values[length.0 as usize];
        if length.name.is_empty() {
            length.name = name;
        }
    }
    read_instead(&mut function.body, lengths);
}

fn read_instead(block: &mut Block, lengths: &BTreeMap<ValueId, ValueId>) {
    for statement in &mut block.statements {
        let kind = std::mem::replace(&mut statement.kind, StmtKind::Return(Vec::new()));
        statement.kind = rename(kind, &mut |value| lengths.get(&value).copied().unwrap_or(value));
        if let StmtKind::For { body, .. } = &mut statement.kind {
            read_instead(body, lengths);
        }
    }
}
