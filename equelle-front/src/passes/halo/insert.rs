//! Statements that exchange values, directly after those that define them.

use std::collections::BTreeMap;

use super::layers::HaloExchange;
use crate::ir::liveness::ends_at;
use crate::ir::{Block, Function, KernelId, Module, Op, Stmt, StmtKind, ValueId};
use crate::passes::inline::rename;
use crate::source::Span;

/// Inserts exchanges of these depths. Everything that reads a value reads the exchanged one.
pub(super) fn insert(module: &mut Module, depths: &BTreeMap<ValueId, u32>) -> Vec<HaloExchange> {
    let mut inserter = Inserter { function: &mut module.main, depths, exchanged: BTreeMap::new(), rounds: None, exchanges: Vec::new() };
    let body = std::mem::take(&mut inserter.function.body);
    let body = inserter.block(body);
    let exchanges = inserter.exchanges;
    module.main.body = body;
    // Other holders of the memory of a value that is exchanged may be on this rank.
    let mut kept = Vec::new();
    note_not_in_place(module, &module.main.body, &mut kept);
    for (kernel, result) in kept {
        module.kernels[kernel.0 as usize].results[result].in_place = None;
    }
    exchanges
}

struct Inserter<'a> {
    function: &'a mut Function,
    depths: &'a BTreeMap<ValueId, u32>,
    /// Exchanged values, by the values that they are made of.
    exchanged: BTreeMap<ValueId, ValueId>,
    /// Place of the innermost loop.
    rounds: Option<Span>,
    exchanges: Vec<HaloExchange>,
}

impl Inserter<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Vec::with_capacity(block.statements.len());
        for Stmt { kind, span } in block.statements {
            let kind = rename(kind, &mut |v| self.exchanged.get(&v).copied().unwrap_or(v));
            let (defined, loaded) = match &kind {
                StmtKind::Let { results, op: Op::Load(mutable) } => (results.clone(), Some(*mutable)),
                StmtKind::Let { results, .. } | StmtKind::Launch { results, .. } => (results.clone(), None),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::For { .. } | StmtKind::Return(_) => (Vec::new(), None),
            };
            let kind = kind.map_body(|body| {
                let outer = self.rounds.replace(span);
                let body = self.block(body);
                self.rounds = outer;
                body
            });
            out.push(Stmt { kind, span });
            for value in defined {
                if let Some(&depth) = self.depths.get(&value) {
                    let mut copy = self.function.values[value.0 as usize].clone();
                    if let (true, Some(mutable)) = (copy.name.is_empty(), loaded) {
                        copy.name.clone_from(&self.function.mutables[mutable.0 as usize].name);
                    }
                    copy.storage = None;
                    let result = ValueId(self.function.values.len() as u32);
                    self.exchanges.push(HaloExchange { name: copy.name.clone(), depth, span: copy.span, rounds: self.rounds });
                    self.function.values.push(copy);
                    self.exchanged.insert(value, result);
                    out.push(Stmt { kind: StmtKind::Let { results: vec![result], op: Op::Exchange { value, depth } }, span });
                }
            }
        }
        Block { statements: out }
    }
}

/// Notes results of kernels that took the memory of an argument which does not end there any more.
fn note_not_in_place(module: &Module, block: &Block, found: &mut Vec<(KernelId, usize)>) {
    for (index, statement) in block.statements.iter().enumerate() {
        match &statement.kind {
            StmtKind::Launch { kernel: id, args, .. } => {
                for (result, in_place) in module.kernels[id.0 as usize].results.iter().map(|result| result.in_place).enumerate() {
                    if in_place.is_some_and(|param| !ends_at(block, index, args[param.0 as usize])) {
                        found.push((*id, result));
                    }
                }
            }
            StmtKind::For { body, .. } => note_not_in_place(module, body, found),
            StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => {}
        }
    }
}
