//! Cartesian forms.

pub(super) mod function;
mod row_cells;
mod sum_sides;
