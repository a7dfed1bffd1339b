//! Cartesian forms.

pub(super) mod function;
mod sum_sides;
