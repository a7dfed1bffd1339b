//! A solve that failed, for the folder that the run may leave.

use std::sync::Arc;

use crate::domain::Domain;
use crate::newton::FailureCause;

/// The last iterate of a solve that failed.
pub(super) struct FailedSolve {
    pub(super) cause: FailureCause,
    pub(super) line: u32,
    pub(super) iterations: usize,
    /// Domain, iterate and residual of each unknown. `[domain]`
    pub(super) fields: Vec<(Arc<Domain>, Vec<f64>, Vec<f64>)>,
}
