//! Random well-typed Equelle programs, and the comparison of every way to run them.
//!
//! [`generate`] makes programs that are well-typed by construction and whose numbers stay finite on
//! the grids of [`data`]; [`mod@compare`] runs them in every way and compares what they give
//! ([`outcome`]), also when they say the same in other words ([`mod@rewrite`]), in two texts
//! ([`mod@split`]), with rows in other units ([`mod@row_units`]), or on ranks ([`mod@on_ranks`],
//! and without exchanges that are needed, [`mod@rank_mutants`]); [`mod@project`] has the programs
//! of the project with data; [`binary`] compiles many programs, of whatever origin, to one binary,
//! which [`serve`]s runs or a [`differential`] test of back-ends; [`shrink`] makes a failing
//! program small.

#[cfg(feature = "compiler")]
pub mod binary;
mod bounds;
#[cfg(feature = "compiler")]
pub mod compare;
pub mod data;
pub mod differential;
#[cfg(feature = "compiler")]
mod failure;
pub mod generate;
pub mod inputs;
#[cfg(feature = "compiler")]
pub mod on_ranks;
pub mod outcome;
#[cfg(feature = "compiler")]
pub mod project;
pub mod rank_cut;
#[cfg(feature = "compiler")]
pub mod rank_mutants;
pub mod rewrite;
pub mod row_units;
pub mod serve;
pub mod shrink;
pub mod split;
pub mod tree;

pub use bounds::Bounds;
#[cfg(feature = "compiler")]
pub use failure::{check, explain};
