//! Names of what is known in the loop over the sides of a cell.

use std::collections::BTreeMap;

use equelle_front::ir::ParamId;

/// Names of what is known of a side in the loop over the sides of a cell.
#[derive(Clone, Debug)]
pub(in crate::codegen) struct SideNames {
    /// The cell that sums.
    pub cell: String,
    /// Where the side is.
    pub at: String,
    /// The neighbour beyond it.
    pub neighbour: String,
    /// Its two cells, in the order of the face.
    pub cells: String,
    /// Values that are loaded ahead, if any.
    pub prefetch: Option<Prefetch>,
    /// True if the text is written as if the cell that sums were the first one.
    pub as_outward: bool,
}

/// Names of what is loaded before it is used.
#[derive(Clone, Debug)]
pub(in crate::codegen) struct Prefetch {
    /// Number of the side among those loaded together.
    pub number: String,
    /// Arrays of the values in the cells beyond.
    pub of_cells: BTreeMap<ParamId, String>,
    /// Arrays of the values on interior faces.
    pub of_faces: BTreeMap<ParamId, String>,
}
