//! Traits that a back-end implements, and their implementations in this crate.
//!
//! [`vector_space`] is enough for Krylov methods, [`matrix_space`] for preconditioners,
//! [`system_space`] for the linear-solver driver. [`host`] and [`host_matrix`] are vectors and
//! matrices on the host; [`traffic`] counts the bytes that an iteration moves.

pub mod host;
pub(in crate::linalg) mod host_inspection;
pub mod host_matrix;
pub mod matrix_space;
pub mod system_space;
pub mod traffic;
pub mod traffic_counter;
pub mod vector_space;
