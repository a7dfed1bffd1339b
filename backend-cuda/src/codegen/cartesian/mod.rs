//! Cartesian forms.

pub(super) mod by_index;
pub(super) mod function;
pub(super) mod inside;
mod planes;
mod row_cells;
pub(super) mod rows_by_index;
mod sum_sides;
