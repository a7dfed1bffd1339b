//! Loads of a mutable between which nothing is stored: one of them, so that what it loads is
//! exchanged once. Loads of state are joined within a loop of the main program only: a checkpoint
//! has the same variables and values as that of one process.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Block, Function, MutableId, Op, Stmt, StmtKind, ValueId};
use crate::passes::analysis::stored_mutables;
use crate::passes::inline::rename;

/// Replaces later loads of these mutables by earlier ones. True if there were any.
pub(super) fn join(function: &mut Function, mutables: &BTreeSet<MutableId>) -> bool {
    let body = std::mem::take(&mut function.body);
    let state = stored_from_first_loop(&body);
    let mut joiner = Joiner { function, mutables, state, is_in_loop: false, renamed: BTreeMap::new() };
    let body = joiner.block(body, &mut BTreeMap::new());
    let joined = !joiner.renamed.is_empty();
    function.body = body;
    joined
}

/// Mutables that the first loop of a body, or a statement after it, stores.
fn stored_from_first_loop(body: &Block) -> BTreeSet<MutableId> {
    let from = body.statements.iter().skip_while(|statement| !matches!(statement.kind, StmtKind::For { .. }));
    stored_mutables(&Block { statements: from.cloned().collect() })
}

struct Joiner<'a> {
    function: &'a mut Function,
    mutables: &'a BTreeSet<MutableId>,
    /// Mutables that checkpoints may have.
    state: BTreeSet<MutableId>,
    is_in_loop: bool,
    /// Values of later loads, and those that stand for them.
    renamed: BTreeMap<ValueId, ValueId>,
}

impl Joiner<'_> {
    /// `loaded` has the visible value that each mutable holds.
    fn block(&mut self, block: Block, loaded: &mut BTreeMap<MutableId, ValueId>) -> Block {
        let mut out = Vec::with_capacity(block.statements.len());
        for Stmt { kind, span } in block.statements {
            let kind = match rename(kind, &mut |v| self.renamed.get(&v).copied().unwrap_or(v)) {
                StmtKind::Let { results, op: Op::Load(mutable) } if self.mutables.contains(&mutable) => {
                    if let (&[result], Some(&earlier)) = (&results[..], loaded.get(&mutable)) {
                        self.function.stand_for(earlier, result);
                        self.renamed.insert(result, earlier);
                        continue;
                    }
                    if self.is_in_loop || !self.state.contains(&mutable) {
                        loaded.extend(results.first().map(|&result| (mutable, result)));
                    }
                    StmtKind::Let { results, op: Op::Load(mutable) }
                }
                StmtKind::Store { mutable, value } => {
                    loaded.remove(&mutable);
                    StmtKind::Store { mutable, value }
                }
                StmtKind::For { rounds, body } => {
                    let stored = stored_mutables(&body);
                    loaded.retain(|mutable, _| !stored.contains(mutable));
                    let outer = std::mem::replace(&mut self.is_in_loop, true);
                    let body = self.block(body, &mut loaded.clone());
                    self.is_in_loop = outer;
                    StmtKind::For { rounds, body }
                }
                kind @ (StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_)) => kind,
            };
            out.push(Stmt { kind, span });
        }
        Block { statements: out }
    }
}
