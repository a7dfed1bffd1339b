//! A solve that failed, for the folder that the run may leave.

use std::sync::Arc;

use crate::domain::Domain;

/// Where a solve failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    NoConvergence,
    NotFinite,
    LinearSolver,
}

/// The last iterate of a solve that failed.
pub(super) struct FailedSolve {
    pub(super) cause: Cause,
    pub(super) line: u32,
    pub(super) iterations: usize,
    /// Of each unknown: domain, iterate and residual. `[domain]`
    pub(super) fields: Vec<(Arc<Domain>, Vec<f64>, Vec<f64>)>,
}
