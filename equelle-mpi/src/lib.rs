//! Any MPI, loaded while a program runs: nothing is linked, and a machine without MPI notices
//! nothing.
//!
//! [`launcher`] tells whether a launcher of an MPI started this process; [`find`] where libraries
//! and launchers are. A [`Library`] is loaded and knows its binary interface; [`Library::connect`]
//! makes it a [`Connection`], which sends and receives messages of bytes. Sums, datatypes and
//! communicators of MPI are not used, so that no number depends on its algorithms.

mod connection;
pub mod find;
mod functions;
pub mod launcher;
mod library;
mod pieces;

use std::fmt;

pub use connection::{Connection, Message};
pub use launcher::{Family, MpiStart};
pub use library::Library;

/// A failure of MPI, or of loading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MpiError {
    /// One sentence.
    pub message: String,
}

impl MpiError {
    fn new(message: impl Into<String>) -> MpiError {
        MpiError { message: message.into() }
    }
}

impl fmt::Display for MpiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for MpiError {}
