//! Needs of a program on several ranks.

use crate::ir::Module;
use crate::passes::for_ranks;
use crate::passes::halo::{HaloExchange, RefusedConstruct};
use crate::source::Span;

/// Needs of a program on several ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum Ranks {
    /// A halo of so many layers of cells, exchanges in the order of the text, and unknowns that
    /// solves exchange before each evaluation.
    Possible { layers: u32, exchanges: Vec<Exchange>, unknowns: Vec<Exchange> },
    /// It cannot run on ranks because of this construct, in this line; 0 if unknown.
    Refused { construct: RefusedConstruct, line: u32 },
}

/// An exchange of values between ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The user's name of the value; empty for one that has none.
    pub name: String,
    /// Equelle line of the value; 0 if unknown.
    pub line: u32,
    /// Layers.
    pub depth: u32,
    /// Line of the loop in each round of which it happens; none for one that happens once.
    pub rounds: Option<u32>,
}

impl Ranks {
    /// Needs of a module as back-ends get it.
    pub(super) fn from_module(module: &Module) -> Ranks {
        let line = |span: Span| if module.source.text().is_empty() { 0 } else { module.source.line(span.start) };
        let mut on_ranks = module.clone();
        match for_ranks(&mut on_ranks) {
            Ok(halo) => {
                let exchange = |HaloExchange { name, depth, ty: _, span, rounds }| Exchange {
                    name,
                    line: line(span),
                    depth,
                    rounds: rounds.map(line),
                };
                let [exchanges, unknowns] = [halo.exchanges, halo.unknowns].map(|list| list.into_iter().map(exchange).collect());
                Ranks::Possible { layers: halo.layers, exchanges, unknowns }
            }
            Err(refusal) => Ranks::Refused { construct: refusal.construct, line: line(refusal.span) },
        }
    }
}
