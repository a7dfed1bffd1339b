//! Rules that do not hold.

use std::fmt;

use crate::ir::IrLocation;
use crate::source::Span;

/// A rule that does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifyError {
    /// Where in the module.
    pub location: IrLocation,
    /// Function or kernel it is in, or the set.
    pub within: String,
    /// Where in the Equelle program; the empty range when not known.
    pub span: Span,
    /// One sentence.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.within, self.message)
    }
}

impl std::error::Error for VerifyError {}
