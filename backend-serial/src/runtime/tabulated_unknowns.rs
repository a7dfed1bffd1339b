//! Values of tables at unknowns, for all equations of a residual.

use equelle_runtime::math::table::TableKey;

use super::pool::Values;

/// Values of tables at unknowns in the evaluation of a residual that is under way: equations that
/// ask for the same values share them. The unknowns outlive the evaluation, so that their
/// addresses are unique.
#[derive(Debug, Default)]
pub(super) struct TabulatedUnknowns<R> {
    pub(super) known: Vec<TabulatedUnknown<R>>,
}

/// Values of tables at one unknown.
#[derive(Debug)]
pub(super) struct TabulatedUnknown<R> {
    /// Address of the values of the unknown.
    pub(super) unknown: *const R,
    pub(super) functions: Vec<TableKey>,
    pub(super) values: Vec<Values<R>>,
}

impl<R> TabulatedUnknowns<R> {
    /// Before and after an evaluation.
    pub(super) fn clear(&mut self) {
        self.known.clear();
    }
}
