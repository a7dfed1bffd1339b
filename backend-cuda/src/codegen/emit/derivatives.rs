//! State of a [`Writer`](super::writer::Writer) of an equation for derivatives.

use std::collections::BTreeSet;

use equelle_front::ops::Offset;

/// Destination of derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen) enum Target {
    /// To the entries of the row that the pattern has found for the additions, in their order.
    Slots,
    /// To the entries of the row that a search finds: where the state decides what is added.
    Row,
    /// To the pattern.
    Pattern,
    /// To variables for the cell and for the cells beyond its sides.
    Places,
    /// To variables for the cells at offsets.
    Offsets,
}

/// Derivatives of the function being written.
#[derive(Clone, Debug)]
pub(in crate::codegen) struct Derivatives {
    pub target: Target,
    /// The sums around, outermost first.
    pub sums: Vec<Sum>,
    /// Signs of the sides of a cell around: whether -1.
    pub sides: Vec<bool>,
    /// Unknowns whose element here has a variable of its own, which is added to the row at the end.
    pub diagonals: BTreeSet<u32>,
    /// [`Target::Offsets`]: the variables.
    pub offsets: Vec<OffsetVariable>,
}

/// A variable for the derivative by the element of an unknown at an offset.
#[derive(Clone, Debug)]
pub(in crate::codegen) struct OffsetVariable {
    pub unknown: u32,
    pub by: Offset,
    pub name: String,
}

/// A sum over the faces of a cell that is being written.
#[derive(Clone, Debug)]
pub(in crate::codegen) struct Sum {
    /// Name of its sign, 1 or -1.
    pub sign: String,
    /// Name of the two cells of its face, if it sums over the faces of the element here.
    pub here: Option<String>,
}

impl Derivatives {
    pub(in crate::codegen) fn new(target: Target) -> Self {
        Derivatives { target, sums: Vec::new(), sides: Vec::new(), diagonals: BTreeSet::new(), offsets: Vec::new() }
    }
}
