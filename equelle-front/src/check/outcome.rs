//! Options of checking, and its outcome.

use crate::diagnostic::Diagnostic;
use crate::typed::TypedProgram;

/// Options of checking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckOptions {
    /// Take no notice of dimensions. Units still scale their numbers to SI.
    pub nondimensional: bool,
}

/// Outcome of [`check`](super::check()).
#[derive(Clone, Debug)]
pub struct Checked {
    /// The typed program, if there were no errors.
    pub program: Option<TypedProgram>,
    /// Errors and warnings, by position.
    pub diagnostics: Vec<Diagnostic>,
}
