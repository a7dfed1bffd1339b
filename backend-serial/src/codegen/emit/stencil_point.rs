//! Places that Cartesian forms know in closed form, and what functions read there.

use equelle_front::backend::forms::Refusal;
use equelle_front::ir::{LocalId, ParamId, Side};
use proc_macro2::{Ident, TokenStream};

use super::uses::Uses;

/// An entity that Cartesian forms know in closed form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::codegen) enum StencilPoint {
    /// The cell (in a per-axis form of faces: the face).
    Here,
    /// The face on a side.
    SideFace(End),
    /// The cell beyond that face.
    Neighbour(End),
}

/// A side, as something that has an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::codegen) enum End {
    /// Towards smaller coordinates.
    Low,
    /// Towards larger coordinates.
    High,
}

impl From<Side> for End {
    fn from(side: Side) -> Self {
        match side {
            Side::Low => End::Low,
            Side::High => End::High,
        }
    }
}

impl End {
    /// `low`, `high`
    pub(in crate::codegen) fn name(self) -> &'static str {
        match self {
            End::Low => "low",
            End::High => "high",
        }
    }

    /// For `high` arguments.
    pub(in crate::codegen) fn is_high(self) -> bool {
        self == End::High
    }
}

/// A value that the inside of a row reads, and that a side function takes as an argument.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::codegen) enum Leaf {
    /// A single parameter.
    Single(ParamId),
    /// A value per axis (or one for all cells) of a parameter.
    PerAxis(ParamId),
    /// An element of a collection.
    Element(ParamId, StencilPoint),
    /// A local of the surrounding block.
    Local(LocalId),
}

/// A face of a sum over the faces of a cell: names of its cells.
#[derive(Clone, Debug)]
pub(in crate::codegen) struct FaceNames {
    /// The local that holds the face.
    pub face: LocalId,
    /// Its first cell, NONE outside.
    pub first: Ident,
    /// Its second cell, NONE outside.
    pub second: Ident,
    /// Which of them is the cell that is summed for, where that is known: the one at the low end of
    /// the face (its first one) or at the high end.
    pub own: Option<End>,
    /// True if that cell is the current element.
    pub own_is_here: bool,
}

/// The functions of the low and of the high side of a cell, or why there is none.
pub(in crate::codegen) type SideFunctions = [Result<SideFunction, Refusal>; 2];

/// No cell is beyond.
pub(in crate::codegen) const NO_SIDES: SideFunctions = [Err(Refusal::NestedSum), Err(Refusal::NestedSum)];

/// A function that gives the terms of one side of a cell where there is a cell beyond.
#[derive(Clone, Debug)]
pub(in crate::codegen) struct SideFunction {
    /// Its name.
    pub name: Ident,
    /// Generic arguments of a call: `::<DIM>` or nothing.
    pub generics: TokenStream,
    /// True if its first arguments are the grid, and the axis.
    pub takes: (bool, bool),
    /// Its other arguments.
    pub leaves: Vec<Leaf>,
    /// In an equation: the derivatives that it adds to, its last arguments.
    pub reached: Vec<(u32, StencilPoint)>,
    /// The function.
    pub item: TokenStream,
    /// References of its text.
    pub uses: Uses,
}
