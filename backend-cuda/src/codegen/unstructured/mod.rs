//! Kernels on any grid, one entity after the other.

pub(super) mod function;
mod sum_faces;
