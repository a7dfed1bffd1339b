//! Where values are read for the last time, so that a result may take their memory.

use std::collections::BTreeMap;

use super::{Block, MutableId, Op, Rounds, Stmt, StmtKind, ValueId};

/// Whether the launch that is statement `index` of a block is the last to read one of its
/// arguments, and nothing else holds it: the argument is made in the block by a kernel, or is what
/// a mutable holds that is assigned anew before anything looks at it.
pub fn ends_at(block: &Block, index: usize, value: ValueId) -> bool {
    let statements = &block.statements;
    let StmtKind::Launch { args, .. } = &statements[index].kind else { return false };
    if args.iter().filter(|arg| **arg == value).count() != 1 {
        return false;
    }
    let Some(made) = statements[..index].iter().position(|s| s.defines().contains(&value)) else { return false };
    // Others but kernels and outputs may keep it.
    let only_looks = |s: &Stmt| !mentions_value(s, value) || matches!(s.kind, StmtKind::Launch { .. } | StmtKind::Output { .. });
    if !statements[made + 1..index].iter().all(only_looks) || statements[index + 1..].iter().any(|s| mentions_value(s, value)) {
        return false;
    }
    match &statements[made].kind {
        StmtKind::Launch { .. } => true,
        StmtKind::Let { op: Op::Load(mutable), .. } => {
            let loads = loads(block);
            let same = |other: ValueId| other != value && loads.get(&other) == Some(mutable);
            let read_later = |s: &Stmt| loads.keys().any(|&other| same(other) && mentions_value(s, other));
            let next = statements[index + 1..].iter().find(|s| mentions_mutable(s, *mutable));
            !args.iter().any(|&arg| same(arg))
                && !statements[index + 1..].iter().any(read_later)
                && matches!(next.map(|s| &s.kind), Some(StmtKind::Store { .. }))
        }
        StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::For { .. } | StmtKind::Return(_) => false,
    }
}

/// The values of a block that are what a mutable holds.
pub fn loads(block: &Block) -> BTreeMap<ValueId, MutableId> {
    let load = |s: &Stmt| match &s.kind {
        StmtKind::Let { results, op: Op::Load(mutable) } => results.first().map(|result| (*result, *mutable)),
        _ => None,
    };
    block.statements.iter().filter_map(load).collect()
}

/// Whether a statement, or one inside it, reads a value.
fn mentions_value(statement: &Stmt, value: ValueId) -> bool {
    let inside = match &statement.kind {
        StmtKind::For { body, .. } => body.statements.iter().any(|s| mentions_value(s, value)),
        StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => false,
    };
    inside || statement.reads().contains(&value)
}

/// Whether a statement, or one inside it, reads or assigns a mutable.
fn mentions_mutable(statement: &Stmt, mutable: MutableId) -> bool {
    match &statement.kind {
        StmtKind::Let { op: Op::Load(m), .. } => *m == mutable,
        StmtKind::Store { mutable: m, .. } => *m == mutable,
        StmtKind::For { rounds, body } => {
            matches!(rounds, Rounds::While(condition) if *condition == mutable)
                || body.statements.iter().any(|s| mentions_mutable(s, mutable))
        }
        StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => false,
    }
}
