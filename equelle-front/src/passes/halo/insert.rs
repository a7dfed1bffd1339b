//! Statements that exchange values, directly after those that define them.

use std::collections::BTreeMap;

use super::layers::{HaloExchange, HaloLayers};
use crate::ir::{Block, Function, Op, Stmt, StmtKind, ValueId};
use crate::source::Span;

/// Inserts exchanges of these depths, for a halo of so many layers.
pub(super) fn insert(function: &mut Function, layers: u32, depths: &BTreeMap<ValueId, u32>) -> HaloLayers {
    let body = std::mem::take(&mut function.body);
    let halo = HaloLayers { layers, exchanges: Vec::new(), unknowns: Vec::new() };
    let mut inserter = Inserter { function, depths, rounds: None, halo };
    let body = inserter.block(body);
    let halo = inserter.halo;
    function.body = body;
    halo
}

struct Inserter<'a> {
    function: &'a Function,
    depths: &'a BTreeMap<ValueId, u32>,
    /// Place of the innermost loop.
    rounds: Option<Span>,
    halo: HaloLayers,
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
            if let StmtKind::Let { results, op: Op::Newton { guesses, .. } } = &kind {
                for (&value, _) in results.iter().zip(guesses) {
                    let info = &self.function.values[value.0 as usize];
                    let (name, ty) = (info.name.clone(), info.ty);
                    let (depth, rounds) = (self.halo.layers, Some(span));
                    self.halo.unknowns.push(HaloExchange { name, depth, ty, span: info.span, rounds });
                }
            }
            for &(value, depth) in &defined {
                let info = &self.function.values[value.0 as usize];
                let name = match &kind {
                    StmtKind::Let { op: Op::Load(mutable), .. } if info.name.is_empty() => {
                        self.function.mutables[mutable.0 as usize].name.clone()
                    }
                    _ => info.name.clone(),
                };
                self.halo.exchanges.push(HaloExchange { name, depth, ty: info.ty, span: info.span, rounds: self.rounds });
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
