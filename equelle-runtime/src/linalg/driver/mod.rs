//! The linear-solver driver: chooses a method, solves, checks the true residual.
//!
//! [`options`] (method and tolerances), [`choose`] (automatic choice), [`mod@solve`], `cache`
//! (reuse between solves), [`error`], [`system`] (scaling, null space, and when a system is
//! solved), `round_off` (what counts as solved at the limit of double precision).

pub(super) mod cache;
pub mod choose;
pub mod error;
mod operator;
pub mod options;
mod round_off;
pub mod solution;
pub mod solve;
pub mod system;
