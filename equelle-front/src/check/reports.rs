//! Diagnostics of a program, and notes of what has been reported.

use std::collections::HashSet;

use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::source::Span;
use crate::typed::VarId;
use crate::types::Dimension;

/// Near matches are looked for at most this often, because each one visits all visible names.
const MAX_SUGGESTIONS: u32 = 50;

/// Diagnostics so far, each once for its place.
#[derive(Default)]
pub(super) struct Reports {
    pub diagnostics: Vec<Diagnostic>,
    /// Something is unknown, reported here or by the parser: there will be no program.
    pub incomplete: bool,
    /// Names that were given to a variable and to a function, which has been reported: either may
    /// be meant.
    pub clashes: HashSet<String>,
    /// Unknown names that were reported.
    pub unknown_names: HashSet<String>,
    /// Places of syntax errors.
    pub unread: Vec<Span>,
    /// Variables whose missing unit was reported, and the dimension that they met.
    pub without_unit: HashSet<(VarId, Dimension)>,
    suggestions: u32,
    seen: HashSet<(Code, Span)>,
}

impl Reports {
    /// True if the like of a diagnostic has not been reported for its place; it counts as reported
    /// from now on.
    pub fn is_new(&mut self, diagnostic: &Diagnostic) -> bool {
        self.seen.insert((diagnostic.code, diagnostic.primary.span))
    }

    /// True if this was reported here.
    pub fn has_reported(&self, code: Code, span: Span) -> bool {
        self.seen.contains(&(code, span))
    }

    /// True if an error has been reported.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// A value is unknown without a report here: an [`crate::syntax::ast::ExprKind::Error`] node.
    pub fn unknown<T>(&mut self) -> Option<T> {
        self.incomplete = true;
        None
    }

    /// The nearest of the candidates, to be offered in a hint.
    pub fn suggest<'c>(&mut self, name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
        if self.suggestions >= MAX_SUGGESTIONS {
            return None;
        }
        self.suggestions += 1;
        nearest(name, candidates).map(str::to_owned)
    }
}
