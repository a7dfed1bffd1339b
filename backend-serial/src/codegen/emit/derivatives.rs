//! State of a [`Writer`](super::writer::Writer) of an equation for derivatives.

use std::collections::{BTreeMap, BTreeSet};

use equelle_front::backend::stencil::Skeleton;
use equelle_front::ir::LocalId;
use equelle_front::ops::Offset;
use proc_macro2::Ident;

use super::stencil_point::StencilPoint;

/// Destination of derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen) enum Target {
    /// To the next slot of the stencil.
    Slots,
    /// To the entry that a search finds: where the number of additions depends on the state.
    Search,
    /// To the pattern.
    Pattern,
    /// To variables for the cell and for the cells beyond its sides: on Cartesian grids.
    Places,
    /// To variables for the cells at offsets.
    Offsets,
}

/// The sign of a sum that is being written.
#[derive(Clone, Debug)]
pub(in crate::codegen) enum Sign {
    Plus,
    Minus,
    /// A variable, 1 or -1, of the sum over the faces that the local goes over.
    Named(Ident, LocalId),
}

/// Derivatives of the function being written.
#[derive(Clone, Debug)]
pub(in crate::codegen) struct Derivatives<'a> {
    pub target: Target,
    pub skeleton: &'a Skeleton,
    /// Signs of the sums around, outermost first.
    pub signs: Vec<Sign>,
    /// Additions to slots in the branch being written; `None` if that varies.
    pub additions: Option<usize>,
    /// Sums written once for either end of a face, by the local of the face: decided by the
    /// function that evaluates.
    pub twice: BTreeMap<LocalId, bool>,
    /// Unknowns whose element here has a variable of its own.
    pub diagonals: BTreeSet<u32>,
    /// [`Target::Places`]: where the function being written adds, in order of first use.
    pub reached: Vec<(u32, StencilPoint)>,
    /// [`Target::Offsets`]: the variables, by unknown and offset.
    pub columns: Vec<(u32, Offset, Ident)>,
}

impl<'a> Derivatives<'a> {
    pub(in crate::codegen) fn new(target: Target, skeleton: &'a Skeleton) -> Self {
        Derivatives {
            target,
            skeleton,
            signs: Vec::new(),
            additions: Some(0),
            twice: BTreeMap::new(),
            diagonals: BTreeSet::new(),
            reached: Vec::new(),
            columns: Vec::new(),
        }
    }

    /// Derivatives of the functions of a Cartesian form.
    pub(in crate::codegen) fn by_places(skeleton: &'a Skeleton) -> Self {
        Derivatives::new(Target::Places, skeleton)
    }
}
