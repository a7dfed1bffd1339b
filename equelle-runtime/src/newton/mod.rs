//! Newton's method, written once for every back-end (runtime specification, section 6).
//!
//! A back-end implements [`Problem`] on its own vectors: evaluate the residual at the iterate, correct the iterate by one linear solve, name the worst
//! entries; what all of them ask of the session is in [`session`]. [`solve()`] decides when to go on and when to stop, keeps the [`History`], and says what happened. [`Options`] are the keys `max_iter`,
//! `abs_res_tol`, `verbose` and `newton_failure`.
//!
//! The norm is the Euclidean norm of the residual values of all equations, not scaled. There is no damping and no line search. Further criteria, bounds and
//! inexact corrections are off unless asked for; one criterion that holds is enough.

mod options;
mod report;
pub mod session;
mod solve;

pub use options::{Bounds, OnFailure, Options};
pub use report::{Entry, History, Iteration};
pub use solve::{Correction, Problem, Update, solve};
