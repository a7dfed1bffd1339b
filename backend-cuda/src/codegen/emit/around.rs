//! What a [`Writer`](super::writer::Writer) keeps about cells that are read by index.

use std::collections::BTreeMap;

use equelle_front::backend::offset_steps::Steps;
use equelle_front::ir::{LocalId, ParamId, Path};

/// What several cells of a row read together.
#[derive(Clone, Debug, Default)]
pub(in crate::codegen) struct RowsTogether {
    /// Lines before the loop over the cells.
    pub definitions: Vec<String>,
    /// Names of arrays of values, by parameter and steps along the second and the third axis.
    pub loads: Vec<(ParamId, [Steps; 2], String)>,
}

/// What a body reads by index, by the steps that lead there from the cell at hand.
#[derive(Clone, Debug, Default)]
pub(in crate::codegen) struct CellsAround {
    /// Whether the text has a place for the definitions of names.
    pub(super) named: bool,
    /// Whether the cell at hand is so far from the sides that no rule beyond them is asked for.
    pub inside: bool,
    /// Names of places along each axis.
    pub(super) places: [Vec<(Steps, String)>; 3],
    /// Names of the first cells of rows, by steps along the second and the third axis.
    pub(super) rows: Vec<([Steps; 2], String)>,
    /// Lines that define these names.
    pub(super) definitions: Vec<String>,
    /// Of a text for several cells of a row: where what they share is defined.
    pub(in crate::codegen) together: Option<RowsTogether>,
    /// Locals of cells.
    pub(super) cells: BTreeMap<LocalId, Path>,
}
