//! The text of kernels: tokens with precedence, the type of numbers, and what the functions of a
//! kernel share.

mod block;
pub(super) mod derivatives;
mod expr;
pub(super) mod operators;
pub(super) mod outputs;
pub(super) mod path;
pub(super) mod read;
pub(super) mod reals;
pub(super) mod reduction;
pub(super) mod stencil;
pub(super) mod stencil_point;
pub(super) mod stencil_reads;
mod tables;
pub(super) mod text;
pub(super) mod uses;
pub(super) mod writer;
