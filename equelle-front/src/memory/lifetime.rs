//! Lifetimes of values in the host program.
//!
//! Statements of one Equelle statement are a group. A value that nothing after its group reads is
//! gone at the end of the group; one that later groups of the same block read is dropped at the end
//! of the group that reads it last. Loop bodies are blocks of their own; what they read from
//! outside stays for all their rounds.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::ir::{Stmt, StmtKind, ValueId};

/// Ends of the groups of a block. `source_known`: statements tell by their place in the source
/// which belong together; else only a definition and the store of what it defines do.
pub fn groups(statements: &[Stmt], source_known: bool) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let mut start = 0;
    while start < statements.len() {
        let end = group_end(statements, start, source_known);
        groups.push(start..end);
        start = end;
    }
    groups
}

/// End of the group that begins at a statement.
pub fn group_end(statements: &[Stmt], start: usize, source_known: bool) -> usize {
    let is_loop = |s: &Stmt| matches!(s.kind, StmtKind::For { .. });
    if is_loop(&statements[start]) {
        return start + 1;
    }
    if !source_known {
        let stores =
            |next: &Stmt| matches!((&next.kind, statements[start].defines()), (StmtKind::Store { value, .. }, [one]) if value == one);
        return start + if statements.get(start + 1).is_some_and(stores) { 2 } else { 1 };
    }
    start + statements[start..].iter().take_while(|s| s.span == statements[start].span && !is_loop(s)).count()
}

/// Position of the last statement of a block that reads each value, loop bodies included.
pub fn last_reads(statements: &[Stmt]) -> BTreeMap<ValueId, usize> {
    let mut last = BTreeMap::new();
    for (index, statement) in statements.iter().enumerate() {
        note(statement, index, &mut last);
    }
    last
}

fn note(statement: &Stmt, index: usize, last: &mut BTreeMap<ValueId, usize>) {
    for value in statement.reads() {
        last.insert(value, index);
    }
    if let StmtKind::For { body, .. } = &statement.kind {
        body.statements.iter().for_each(|inner| note(inner, index, last));
    }
}
