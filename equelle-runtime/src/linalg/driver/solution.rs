//! Solutions of linear systems.

use super::options::{Method, Preconditioning};

/// A solved system.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution<V = Vec<f64>> {
    /// The unknowns: `[n]`. The mean is zero over each connected component of the null space.
    pub x: V,
    /// Iterations of an iterative method; steps of iterative refinement after LU, mostly 0.
    pub iterations: usize,
    /// `|b - A x| / |b|` in the larger norm of [`crate::linalg::driver::system`], computed from
    /// `x`; at most the tolerance, except for what may be
    /// [ignored](crate::linalg::null_space::NullSpace::allowed) where the matrix is singular, and
    /// for the round-off of uneven rows. 0 for `b = 0`.
    pub relative_residual: f64,
    /// The method that solved the system.
    pub method: Method,
    /// Its preconditioner.
    pub preconditioner: Preconditioning,
    /// A note for the user, such as that the matrix is singular up to a constant.
    pub note: Option<String>,
}
