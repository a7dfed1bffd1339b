//! The text of kernels: the types of numbers, expressions, statements, and what the functions of a
//! kernel share.

pub(super) mod around;
pub(super) mod block;
pub(super) mod derivatives;
pub(super) mod divisions;
mod expr;
pub(super) mod operators;
pub(super) mod outputs;
pub(super) mod path;
pub(super) mod reals;
pub(super) mod sides;
pub(super) mod stencil;
pub(super) mod text;
pub(super) mod uses;
pub(super) mod writer;
