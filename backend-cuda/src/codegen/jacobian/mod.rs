//! Equations: the residual and its row of the Jacobian in one pass.

mod additions;
pub(super) mod by_index;
pub(super) mod cartesian;
pub(super) mod unstructured;
