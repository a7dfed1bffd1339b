//! Text to untyped tree.

pub mod ast;
