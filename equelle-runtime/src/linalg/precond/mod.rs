//! Preconditioners: set up on the host or by a back-end, applied with the operations of a back-end
//! ([`crate::linalg::space::matrix_space`]).
//!
//! [`simple`] (inverse diagonals, by points or blocks), [`ilu`] (incomplete factors, by points or
//! blocks), [`fsai`] (factorised approximate inverses), [`amg`] (smoothed aggregation;
//! [`mixed_precision`] with levels in single precision), [`cpr`] (two stages for systems with an
//! elliptic unknown), [`blocks`] (matrices in block form), [`build()`] (construction by name).

pub mod amg;
pub mod blocks;
mod build;
pub mod cpr;
pub mod fsai;
pub mod ilu;
pub mod mixed_precision;
pub mod simple;

pub use build::{Setting, build, build_of_blocks};
