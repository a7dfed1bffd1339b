//! Exchanges of halo values, for runs on several ranks: how far each value is right around the
//! cells of a rank, how far each read goes, and an exchange where it goes further.
//!
//! A rank has its own cells, layer 0 of its grid, and halo layers 1 to L by distance across faces
//! (on Cartesian boxes by the largest difference along an axis). Faces, edges and vertices have the
//! least layer of their cells. [`reads`] has the reach of each operation and kernel, [`outreach`]
//! that of collections of entities, [`validity`] the layers to which values are right and the
//! exchanges that are needed, [`loads`] and [`insert`] their statements, [`flow`] the rounds of
//! loops.

mod flow;
mod insert;
mod loads;
mod outreach;
mod program;
mod reads;
mod validity;

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Module, MutableId, ValueId};
use crate::source::Span;

/// Most layers that a program may need.
pub const MAX_LAYERS: u32 = 16;

/// Layers and exchanges that a program needs on ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaloLayers {
    /// Layers of the halo of each rank, 1 at least.
    pub layers: u32,
    /// Exchanges in the order of the text.
    pub exchanges: Vec<HaloExchange>,
}

/// An exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaloExchange {
    /// The user's name of the value; empty for one that has none.
    pub name: String,
    /// Layers.
    pub depth: u32,
    /// The expression that the value is of.
    pub span: Span,
    /// Place of the innermost loop, in each round of which it happens; none for one that happens
    /// once.
    pub rounds: Option<Span>,
}

/// A program that cannot run on ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaloRefusal {
    /// Place of the construct.
    pub span: Span,
    /// The construct.
    pub construct: RefusedConstruct,
}

/// Constructs that cannot run on ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusedConstruct {
    /// A solve by Newton's method.
    Newton,
    /// A call of this function, which is too large to be substituted.
    Call(String),
    /// A variable of entities that leads further in each round of a loop.
    GrowingReach,
    /// A read further away than [`MAX_LAYERS`].
    TooManyLayers,
}

impl std::fmt::Display for RefusedConstruct {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RefusedConstruct::Newton => f.write_str("a solve by Newton's method"),
            RefusedConstruct::Call(name) => write!(f, "a call of `{name}`, which is too large to be substituted"),
            RefusedConstruct::GrowingReach => f.write_str("a variable of entities that leads further in each round of a loop"),
            RefusedConstruct::TooManyLayers => write!(f, "a read further away than {MAX_LAYERS} layers of cells"),
        }
    }
}

/// Inserts the exchanges that a module without calls needs, with as few layers as possible.
///
/// # Errors
/// The construct that cannot run on ranks; the module is as it was.
pub fn run(module: &mut Module) -> Result<HaloLayers, HaloRefusal> {
    let (layers, depths, loaded) = fewest_layers(module)?;
    let (layers, depths) = if loads::join(&mut module.main, &loaded) {
        let (layers, depths, _) = fewest_layers(module)?;
        (layers, depths)
    } else {
        (layers, depths)
    };
    Ok(HaloLayers { layers, exchanges: insert::insert(module, &depths) })
}

/// The fewest layers, the depths of the exchanges, and the mutables that exchanged values are
/// loaded from.
type Solution = (u32, BTreeMap<ValueId, u32>, BTreeSet<MutableId>);

fn fewest_layers(module: &Module) -> Result<Solution, HaloRefusal> {
    let outreach = outreach::find(module)?;
    let program = program::Program::new(module, &outreach);
    let mut refused = None;
    for layers in 1..=MAX_LAYERS {
        match validity::solve(&program, layers) {
            Ok(depths) => {
                let loaded = depths.keys().filter_map(|&value| program.loaded_from(value)).collect();
                return Ok((layers, depths, loaded));
            }
            Err(unsolved) => refused = Some(unsolved.span),
        }
    }
    Err(HaloRefusal { span: refused.unwrap_or(module.main.span), construct: RefusedConstruct::TooManyLayers })
}
