//! Values are given back as in generated programs: at the end of the Equelle statement that reads
//! them last.

use std::collections::BTreeMap;
use std::rc::Rc;

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
        for function in module.functions.iter().chain([&module.main]) {
            add(&function.body, source_known, &mut ends);
        }
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

fn add(block: &Block, source_known: bool, all: &mut BTreeMap<usize, Vec<Vec<ValueId>>>) {
    let last = last_reads(&block.statements);
    let mut ends = vec![Vec::new(); block.statements.len()];
    let groups = groups(&block.statements, source_known);
    let group_of = |statement: usize| groups.iter().find(|group| group.contains(&statement));
    for (index, statement) in block.statements.iter().enumerate() {
        for value in statement.defines() {
            let read = last.get(value).copied().unwrap_or(index).max(index);
            if let Some(group) = group_of(read) {
                ends[group.end - 1].push(*value);
            }
        }
        if let StmtKind::For { body, .. } = &statement.kind {
            add(body, source_known, all);
        }
    }
    all.insert(address(block), ends);
}
