//! What a back-end provides, and the back-ends of this crate.
//!
//! [`vector_space`] is enough for the iterative methods, [`matrix_space`] for preconditioners, [`system_space`] for the
//! front door. [`host`] and [`host_matrix`] are vectors and matrices on the host; [`traffic`] counts the bytes that an
//! iteration moves.

pub mod host;
pub mod host_matrix;
pub mod matrix_space;
pub mod system_space;
pub mod traffic;
pub mod vector_space;
