//! Totals of solves and of time steps taken in parts.

use crate::newton::Times;

/// Totals of the solves at an Equelle line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Totals {
    pub solves: usize,
    pub not_converged: usize,
    /// Solves whose guess was accepted.
    pub without_iterations: usize,
    pub iterations: usize,
    pub linear_iterations: usize,
    pub times: Times,
    /// Times of the solves after the first, which computes patterns, allocates, and on a device
    /// compiles kernels.
    pub after_first: Times,
}

/// Time steps that were taken in parts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rescues {
    pub steps: usize,
    pub parts: usize,
    /// Rounds that were taken with a shorter step.
    pub shortened: usize,
}
