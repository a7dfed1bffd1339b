//! Statements that exchange values, directly after those that define them.

use std::collections::BTreeMap;

use super::layers::HaloExchange;
use crate::ir::{Block, Function, Op, Stmt, StmtKind, ValueId};
use crate::source::Span;

/// Inserts exchanges of these depths.
pub(super) fn insert(function: &mut Function, depths: &BTreeMap<ValueId, u32>) -> Vec<HaloExchange> {
    let body = std::mem::take(&mut function.body);
    let mut inserter = Inserter { function, depths, rounds: None, exchanges: Vec::new() };
    let body = inserter.block(body);
    let exchanges = inserter.exchanges;
    function.body = body;
    exchanges
}

struct Inserter<'a> {
    function: &'a Function,
    depths: &'a BTreeMap<ValueId, u32>,
    /// Place of the innermost loop.
    rounds: Option<Span>,
    exchanges: Vec<HaloExchange>,
}

impl Inserter<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Vec::with_capacity(block.statements.len());
        for Stmt { kind, span } in block.statements {
            let defined: Vec<(ValueId, u32)> = match &kind {
                StmtKind::Let { results, .. } | StmtKind::Launch { results, .. } => {
                    results.iter().filter_map(|&value| Some((value, *self.depths.get(&value)?))).collect()
                }
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::For { .. } | StmtKind::Return(_) => Vec::new(),
            };
            for &(value, depth) in &defined {
                let info = &self.function.values[value.0 as usize];
                let name = match &kind {
                    StmtKind::Let { op: Op::Load(mutable), .. } if info.name.is_empty() => {
                        self.function.mutables[mutable.0 as usize].name.clone()
                    }
                    _ => info.name.clone(),
                };
                self.exchanges.push(HaloExchange { name, depth, ty: info.ty, span: info.span, rounds: self.rounds });
            }
            let kind = kind.map_body(|body| {
                let outer = self.rounds.replace(span);
                let body = self.block(body);
                self.rounds = outer;
                body
            });
            out.push(Stmt { kind, span });
            let exchange = |(value, depth)| StmtKind::Let { results: Vec::new(), op: Op::Exchange { value, depth } };
            out.extend(defined.into_iter().map(|exchanged| Stmt { kind: exchange(exchanged), span }));
        }
        Block { statements: out }
    }
}
