//! Equelle front-end: source text in, diagnostics and verified IR out.
//!
//! Reading order: [`source`], [`imports`] (the texts of a program), [`syntax`] (text to untyped
//! tree), [`check`] (untyped to typed tree), [`typed`], [`lower`] (typed tree to IR), [`ir`],
//! [`verify`], [`passes`]. No input or output, no target names, no unsafe code, no threads.

#![forbid(unsafe_code)]

pub mod backend;
pub mod check;
pub mod checkpoint;
pub mod cost;
pub mod diagnostic;
pub mod imports;
pub mod ir;
pub mod library;
pub mod lower;
pub mod memory;
pub mod ops;
pub mod passes;
pub mod report;
pub mod source;
pub mod state;
pub mod syntax;
pub mod time_steps;
pub mod typed;
pub mod types;
pub mod unit_spelling;
pub mod units;
pub mod verify;
