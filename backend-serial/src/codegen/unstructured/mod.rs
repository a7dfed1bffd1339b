//! Kernels on any grid, one entity after the other.

mod elementwise;
pub(super) mod face_flux_buffer;
mod face_terms;
pub(super) mod function;
mod functions_of_elements;
mod sum_faces;
