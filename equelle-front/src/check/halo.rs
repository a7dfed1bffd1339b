//! Rules for values beyond the grid, as the checker numbers them.

use crate::typed::{self, VarId};

/// Names of the axes.
pub(super) const AXES: [&str; 3] = ["I", "J", "K"];

/// The value that a rule gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Given {
    /// A number, as bits.
    Number(u64),
    Variable(VarId),
}

/// Rules beyond the grid, with the values that they number from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rules {
    pub sides: typed::Rules,
    pub given: Vec<Given>,
}
