//! Derivatives with respect to the unknowns of a Newton solve: forward mode at the operation level,
//! rows that the kernels of equations write, and Newton's method on them.

mod equation;
pub(crate) mod forward;
pub(crate) mod grid_matrix;
pub(crate) mod jacobian;
mod newton;
pub(crate) mod newton_state;
pub mod pattern;
pub(crate) mod rules;
