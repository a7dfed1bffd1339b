//! Uses of values and mutables in a function.

use equelle_front::checkpoint::{Checkpoints, SavedKind};
use equelle_front::ir::{Block, Function, MutableId, Op, Stmt, StmtKind, ValueId};

/// Uses of the values of a function, found before a line of it is written.
#[derive(Debug)]
pub(super) struct Uses {
    /// Number of reads of each value. `[values]`
    pub count: Vec<usize>,
    /// For values that are a [`Op::Load`] and whose mutable keeps its content until their last use:
    /// the mutable, which then stands for the value. `[values]`
    pub alias: Vec<Option<MutableId>>,
    /// For values that go straight into a mutable which keeps them until their last use: that
    /// mutable, which then stands for the value. `[values]`
    pub stored: Vec<Option<MutableId>>,
    /// True for values that an exchange changes. `[values]`
    pub exchanged: Vec<bool>,
}

impl Uses {
    /// Finds the uses in a function.
    pub(super) fn of(function: &Function) -> Self {
        let mut uses = Uses {
            count: vec![0; function.values.len()],
            alias: vec![None; function.values.len()],
            stored: vec![None; function.values.len()],
            exchanged: vec![false; function.values.len()],
        };
        for value in function.body.statements.iter().flat_map(Stmt::reads_inside) {
            uses.count[value.0 as usize] += 1;
        }
        uses.find_aliases(&function.body);
        uses
    }

    /// True if an exchange changes what a mutable holds.
    pub(super) fn is_exchanged(&self, mutable: MutableId) -> bool {
        self.alias.iter().zip(&self.exchanged).any(|(alias, exchanged)| *exchanged && *alias == Some(mutable))
    }

    /// Counts what checkpoints read.
    pub(super) fn add_checkpoints(&mut self, checkpoints: &Checkpoints) {
        for saved in checkpoints.loops.iter().flat_map(|checkpoint| &checkpoint.content) {
            if let SavedKind::Value(value) = saved.what {
                self.count[value.0 as usize] += 1;
            }
        }
    }

    fn find_aliases(&mut self, block: &Block) {
        for (index, statement) in block.statements.iter().enumerate() {
            let later = &block.statements[index + 1..];
            match &statement.kind {
                StmtKind::Let { results, op: Op::Load(mutable) } => {
                    for &value in results {
                        if keeps_until_last_use(later, *mutable, value) {
                            self.alias[value.0 as usize] = Some(*mutable);
                        }
                    }
                }
                StmtKind::Let { op: Op::Text(_), .. } => {}
                StmtKind::Let { op: Op::Exchange { value, .. }, .. } => self.exchanged[value.0 as usize] = true,
                StmtKind::Let { results, .. } | StmtKind::Launch { results, .. } => {
                    if let [value] = results.as_slice()
                        && let Some((Stmt { kind: StmtKind::Store { mutable, value: stored }, .. }, after)) = later.split_first()
                        && stored == value
                        && keeps_until_last_use(after, *mutable, *value)
                    {
                        self.stored[value.0 as usize] = Some(*mutable);
                    }
                }
                StmtKind::For { body, .. } => self.find_aliases(body),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => {}
            }
        }
    }
}

/// True if nothing stores into the mutable before the last reader of the value in these statements
/// has read it.
fn keeps_until_last_use(later: &[Stmt], mutable: MutableId, value: ValueId) -> bool {
    let Some(last) = later.iter().rposition(|s| s.reads_inside().contains(&value)) else { return true };
    // The last reader itself may store: it reads first. A loop may not: its second round would read
    // the new content.
    let last_is_loop = matches!(later[last].kind, StmtKind::For { .. });
    let until = if last_is_loop { last + 1 } else { last };
    !later[..until].iter().any(|s| s.stores(mutable))
}
