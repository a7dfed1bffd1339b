//! Cartesian forms.

pub(super) mod by_index;
pub(super) mod function;
mod row_cells;
mod sum_sides;
