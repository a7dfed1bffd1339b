//! Forms in which back-ends run the loops of kernels on Cartesian grids, and reasons why a faster
//! form was refused.

use std::fmt;

use crate::ir::{Kernel, reads_by_index, sums_over_faces};
use crate::types::{CanonicalSet, SetTable};

/// The loop of a kernel on a Cartesian grid, fastest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoopForm {
    /// One evaluation per axis.
    PerAxis,
    /// The inside of each row of cells without a test.
    Rows,
    /// The elements of a set, one after the other.
    List,
    /// Cell by cell, with tests for sides at the boundary.
    Cells,
    /// The body for any grid.
    General,
}

impl LoopForm {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            LoopForm::PerAxis => "per axis",
            LoopForm::Rows => "rows",
            LoopForm::List => "list",
            LoopForm::Cells => "cells",
            LoopForm::General => "general",
        }
    }
}

/// The loop of a kernel, and what a faster one cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenForm {
    /// The loop.
    pub form: LoopForm,
    /// The construct because of which it is none of rows.
    pub refused: Option<Refusal>,
}

impl ChosenForm {
    /// A form that nothing speaks against.
    pub fn new(form: LoopForm) -> Self {
        ChosenForm { form, refused: None }
    }

    /// The loop of the body for any grid: a list, unless each cell goes over its faces, or reads
    /// others by index.
    pub fn general(kernel: &Kernel, sets: &SetTable) -> Self {
        let is_whole = kernel.space_set() == Some(sets.canonical(CanonicalSet::ALL_CELLS));
        match (sums_over_faces(kernel), reads_by_index(kernel)) {
            (true, true) => ChosenForm::slower(LoopForm::General, Refusal::MixedForms),
            (true, false) | (false, true) if is_whole => ChosenForm::slower(LoopForm::General, Refusal::NoCartesianBody),
            (true, false) | (false, true) | (false, false) => ChosenForm::new(LoopForm::List),
        }
    }

    /// A slower form, because of a construct.
    pub fn slower(form: LoopForm, refused: Refusal) -> Self {
        ChosenForm { form, refused: Some(refused) }
    }
}

/// A construct that rows of cells cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// A sum over faces, and reads by index.
    MixedForms,
    /// A sum over faces in a branch, in a side, or of another cell.
    NestedSum,
    /// A product, or an extreme, over faces.
    ReductionOverFaces,
    /// Terms that the two cells of a face see differently.
    UnequalTerms,
    /// Terms on the boundary that depend on other sums.
    BoundaryTerms,
    /// An elementary function or a power.
    Function,
    /// A Vector.
    Vector,
    /// A centroid or a normal.
    Geometry,
    /// A displacement that is no sum of half widths.
    Displacement,
    /// An entity that data or conditions choose.
    ChosenEntity,
    /// Membership in a set made at run time.
    Subset,
    /// A value that consecutive cells do not have in consecutive places.
    OtherElement,
    /// A question about the place of a cell.
    CellFact,
    /// A domain other than all cells.
    OtherDomain,
    /// A result that is neither a Scalar nor a Bool.
    Result,
    /// A derivative whose columns are not known.
    Columns,
    /// Precision or rounding other than strict doubles.
    Numbers,
    /// A check while it runs, or a reduction.
    NoCartesianBody,
    /// Nothing that would be worth it.
    NotWorthIt,
}

impl Refusal {
    /// The construct, as reports name it.
    pub fn construct(self) -> &'static str {
        match self {
            Refusal::MixedForms => "a sum over faces beside reads by index",
            Refusal::NestedSum => "a sum over faces in a branch or of another cell",
            Refusal::ReductionOverFaces => "a product or an extreme over faces",
            Refusal::UnequalTerms => "terms that the two cells of a face see differently",
            Refusal::BoundaryTerms => "terms on the boundary that depend on other sums",
            Refusal::Function => "an elementary function",
            Refusal::Vector => "a Vector",
            Refusal::Geometry => "a centroid or a normal",
            Refusal::Displacement => "a displacement other than between neighbours",
            Refusal::ChosenEntity => "an entity that data choose",
            Refusal::Subset => "membership in a set made at run time",
            Refusal::OtherElement => "a value that is not stored row by row",
            Refusal::CellFact => "a question about the place of a cell",
            Refusal::OtherDomain => "a domain other than all cells",
            Refusal::Result => "a result that is no number",
            Refusal::Columns => "derivatives whose columns vary",
            Refusal::Numbers => "numbers other than strict doubles",
            Refusal::NoCartesianBody => "what Cartesian bodies cannot express",
            Refusal::NotWorthIt => "nothing that is worth storing",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.construct())
    }
}
