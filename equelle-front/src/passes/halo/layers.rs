//! Needs of a program on several ranks, or the construct that stands against them.

use crate::source::Span;
use crate::types::Type;

/// Most layers that a program may need.
pub const MAX_LAYERS: u32 = 16;

/// Needs of a program on ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaloLayers {
    /// Layers of the halo of each rank, 1 at least.
    pub layers: u32,
    /// Exchanges in the order of the text.
    pub exchanges: Vec<HaloExchange>,
    /// Unknowns of solves, which the runtime exchanges to all layers before each evaluation.
    pub unknowns: Vec<HaloExchange>,
}

/// An exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaloExchange {
    /// The user's name of the value; empty for one that has none.
    pub name: String,
    /// Layers.
    pub depth: u32,
    /// Type of the value.
    pub ty: Type,
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
            RefusedConstruct::Call(name) => write!(f, "a call of `{name}`, which is too large to be substituted"),
            RefusedConstruct::GrowingReach => f.write_str("a variable of entities that leads further in each round of a loop"),
            RefusedConstruct::TooManyLayers => write!(f, "a read further away than {MAX_LAYERS} layers of cells"),
        }
    }
}
