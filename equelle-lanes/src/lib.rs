//! Kernels as programs of vector operations over blocks of elements.
//!
//! [`build`] compiles a kernel to a [`program`], [`exec`] runs it over blocks of elements on the
//! threads of a run, [`launch`] binds arguments and makes results, [`uniform`] has what is the same
//! for all elements. Kernels mean what the evaluator of elements ([`equelle_interp`]) makes of
//! them, with the same bits. Where a block has an error, that evaluator says which one. What lanes
//! do not have falls to it as well, and [`refusal`] says why.

#![forbid(unsafe_code)]

mod build;
mod exec;
mod launch;
mod program;
mod refusal;
mod uniform;

pub use launch::Lanes;
pub use refusal::Refusal;
