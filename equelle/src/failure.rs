//! Failures of commands, and their exit codes.

use std::path::Path;

use equelle_runtime::{Error, ErrorKind};

/// Failure that ends a command early. What the user must see has either been shown already or is in
/// here.
#[derive(Debug)]
pub enum Failure {
    /// The program has errors; the emitter has its diagnostics.
    Program,
    /// Something is wrong with the command line, the surroundings or the data.
    Error(Error),
    /// The exit code of what has been said already, often by a simulator that ran as a process of
    /// its own.
    Exit(u8),
    /// A bug of ours.
    Internal(String),
}

impl Failure {
    /// Wrong use of the command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure::Error(Error::new(ErrorKind::Usage, message))
    }

    /// A file or folder that could not be read, written or made; `doing` is a verb: `read`.
    pub fn io(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        Failure::Error(Error::new(ErrorKind::Io, format!("cannot {doing} `{}`: {error}", path.display())))
    }

    /// Adds what to do, where nothing has been shown yet.
    #[must_use]
    pub fn hint(self, hint: String) -> Self {
        match self {
            Failure::Error(error) => Failure::Error(error.hint(hint)),
            other @ (Failure::Program | Failure::Exit(_) | Failure::Internal(_)) => other,
        }
    }

    /// The exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Program => 1,
            Failure::Error(error) => error.kind.exit_code(),
            Failure::Exit(code) => *code,
            Failure::Internal(_) => INTERNAL_EXIT_CODE,
        }
    }
}

/// Exit code of a bug of ours: the one that a panic has.
pub const INTERNAL_EXIT_CODE: u8 = 101;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}
