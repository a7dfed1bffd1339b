//! Values are given back as in generated programs: at the end of the Equelle statement that reads
//! them last.

use std::collections::BTreeMap;
use std::rc::Rc;

use equelle_front::checkpoint::{SavedKind, checkpoints};
use equelle_front::ir::{Block, Module, StmtKind, ValueId};
use equelle_front::memory::lifetime::{groups, last_reads};

/// For each block of a module, by its address: for each statement the values that are gone after
/// it. Clones share them.
#[derive(Clone)]
pub(crate) struct Lifetimes(Rc<BTreeMap<usize, Vec<Vec<ValueId>>>>);

impl Lifetimes {
    pub fn new(module: &Module) -> Self {
        let mut ends = BTreeMap::new();
        let source_known = !module.source.text().is_empty();
        for function in &module.functions {
            add(&function.body, source_known, &BTreeMap::new(), &mut ends);
        }
        // A loop of the main program reads what its checkpoints save.
        let (mut saved, checkpoints) = (BTreeMap::new(), checkpoints(module));
        for position in 0..module.main.body.statements.len() {
            for content in checkpoints.loop_at(position).into_iter().flat_map(|checkpoint| &checkpoint.content) {
                if let SavedKind::Value(value) = content.what {
                    saved.insert(value, position);
                }
            }
        }
        add(&module.main.body, source_known, &saved, &mut ends);
        Lifetimes(Rc::new(ends))
    }

    /// The values of a block that are gone after a statement of it.
    pub fn ended(&self, block: &Block, statement: usize) -> &[ValueId] {
        self.0.get(&address(block)).and_then(|ends| ends.get(statement)).map_or(&[], |values| values)
    }
}

fn address(block: &Block) -> usize {
    std::ptr::from_ref(block) as usize
}

/// `saved`: the last statements that save values.
fn add(block: &Block, source_known: bool, saved: &BTreeMap<ValueId, usize>, all: &mut BTreeMap<usize, Vec<Vec<ValueId>>>) {
    let last = last_reads(&block.statements);
    let mut ends = vec![Vec::new(); block.statements.len()];
    let groups = groups(&block.statements, source_known);
    let group_of = |statement: usize| groups.iter().find(|group| group.contains(&statement));
    for (index, statement) in block.statements.iter().enumerate() {
        for value in statement.defines() {
            let read = last.get(value).max(saved.get(value)).copied().unwrap_or(index).max(index);
            if let Some(group) = group_of(read) {
                ends[group.end - 1].push(*value);
            }
        }
        if let StmtKind::For { body, .. } = &statement.kind {
            add(body, source_known, &BTreeMap::new(), all);
        }
    }
    all.insert(address(block), ends);
}
