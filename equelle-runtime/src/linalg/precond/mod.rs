//! Preconditioners: set up on the host, applied with the operations of a back-end ([`crate::linalg::space::matrix_space`]).
//!
//! [`simple`] (inverse diagonals, by points or blocks), [`ilu`] (incomplete factors, by points or blocks), [`fsai`] (factorised approximate
//! inverses), [`amg`] (smoothed aggregation; [`mixed_precision`] with levels of singles), [`cpr`] (two stages for systems with an elliptic unknown), [`blocks`] (matrices of several fields on
//! the same elements), [`build()`] (one of them by name).

pub mod amg;
pub mod blocks;
mod build;
pub mod cpr;
pub mod fsai;
pub mod ilu;
pub mod mixed_precision;
pub mod simple;

pub use build::{Setting, build, build_of_blocks};
