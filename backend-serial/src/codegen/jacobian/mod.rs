//! Equations: the residual and its row of the Jacobian in one pass.

mod additions;
pub(super) mod cartesian;
pub(super) mod unstructured;
