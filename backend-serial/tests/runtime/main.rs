//! The CPU runtime, operation by operation: exact answers on small grids.

#![cfg(feature = "runtime")]

mod arithmetic;
mod common;
mod discrete;
mod geometry;
mod heat;
mod host;
mod on_extend;
mod per_axis;
mod precision;
mod program;
mod reduce;
mod sequences;
mod stencil;
mod truth;
