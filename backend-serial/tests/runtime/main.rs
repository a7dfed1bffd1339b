//! The CPU runtime, operation by operation: exact answers on small grids.

#![cfg(feature = "runtime")]

mod arithmetic;
mod bools;
mod common;
mod discrete;
mod gather_scatter;
mod geometry;
mod heat;
mod host;
mod per_axis;
mod precision;
mod program;
mod reduce;
mod sequences;
mod stencil;
