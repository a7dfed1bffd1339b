//! What generated Equelle programs call.
//!
//! Reading order: [`traits`] (the contract between generated code and back-ends), [`grid`], [`domain`], [`params`], [`input`],
//! [`output`], [`report`], [`error`]. Knows nothing of Equelle's syntax or IR.

#![forbid(unsafe_code)]

pub mod domain;
pub mod error;
pub mod grid;
pub mod input;
pub mod output;
pub mod params;
pub mod reduce;
pub mod report;
pub mod source;
pub mod traits;

pub use error::{Error, ErrorKind};
pub use traits::*;
