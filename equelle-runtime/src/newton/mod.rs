//! Newton's method, written once for every back-end (`docs/language/newton.md`).
//!
//! A back-end implements [`GridProblem`] on its own vectors: evaluation of the residual at the
//! iterate, and correction of the iterate by one linear solve. The rest of a [`Problem`] follows
//! from the common [`ProblemState`] and from the session ([`session`]). [`solve()`] iterates,
//! checks convergence, records the [`History`] and reports. [`Options`] are the keys `max_iter`,
//! `abs_res_tol`, `verbose` and `newton_failure`.
//!
//! The norm is the unscaled Euclidean norm of the residual values of all equations. Without
//! `abs_res_tol` the criteria do not depend on the unit of the residual (`criteria.rs`). Further
//! criteria, bounds, inexact corrections and a line search are off by default; one criterion that
//! holds is enough.

#[cfg(feature = "solvers")]
mod advice;
#[cfg(feature = "solvers")]
mod balance;
#[cfg(feature = "solvers")]
mod criteria;
#[cfg(feature = "solvers")]
pub mod dump;
#[cfg(feature = "solvers")]
mod linearity;
mod options;
#[cfg(feature = "solvers")]
mod problem;
#[cfg(feature = "solvers")]
mod problem_state;
mod range;
mod report;
pub mod rescue;
#[cfg(feature = "solvers")]
mod search;
pub mod session;
#[cfg(feature = "solvers")]
mod solve;
pub mod timestep_cuts;

#[cfg(feature = "solvers")]
pub use linearity::Linearity;
pub use options::{Bounds, OnFailure, Options};
#[cfg(feature = "solvers")]
pub use problem::{Correction, Problem, Size, Trial, Update};
#[cfg(feature = "solvers")]
pub use problem_state::{Field, GridProblem, NewtonCaches, ProblemState};
pub use range::Range;
pub use report::{Entry, FailureCause, History, Iteration, SolveOutcome, Times};
#[cfg(feature = "solvers")]
pub use solve::solve;
