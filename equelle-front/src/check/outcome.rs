//! Options of checking, and its outcome.

use crate::diagnostic::Diagnostic;
use crate::typed::{TreeDimension, TypedProgram};
use crate::types::Dimension;

/// Options of checking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckOptions {
    /// Take no notice of dimensions. Units still scale their numbers to SI.
    pub nondimensional: bool,
}

impl CheckOptions {
    /// The dimension, or none where dimensions are not looked at.
    pub(super) fn dimension(&self, dimension: Dimension) -> Dimension {
        if self.nondimensional { Dimension::NONE } else { dimension }
    }

    /// The dimension of two values that meet, as in a sum; `None` if they must not.
    pub(super) fn joined(&self, a: impl Into<TreeDimension>, b: impl Into<TreeDimension>) -> Option<TreeDimension> {
        let (a, b) = (a.into(), b.into());
        a.join(b).or_else(|| self.nondimensional.then_some(a))
    }

    /// True if two values of these dimensions may meet.
    pub(super) fn agree(&self, a: impl Into<TreeDimension>, b: impl Into<TreeDimension>) -> bool {
        self.joined(a, b).is_some()
    }
}

/// Outcome of [`check`](super::check()).
#[derive(Clone, Debug)]
pub struct Checked {
    /// The typed program, if there were no errors.
    pub program: Option<TypedProgram>,
    /// Errors and warnings, by position.
    pub diagnostics: Vec<Diagnostic>,
}
