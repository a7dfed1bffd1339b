//! The texts of a program while they are checked.

use crate::check::scope::ScopeId;
use crate::library::PREFIX;
use crate::source::{FileId, SourceMap, Span};
use crate::syntax::ast;

/// The texts of a program.
pub(super) struct Texts<'a> {
    /// Names and positions; `None` where a tree is checked without them.
    pub sources: Option<&'a SourceMap>,
    /// Their trees, in the order of the map.
    pub programs: &'a [ast::Program],
    pub states: Vec<TextState>,
    /// The one being checked.
    pub current: FileId,
}

/// Progress of the check of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextState {
    Unchecked,
    /// Its statements are being checked, since the import at this place; the program itself has no
    /// such place.
    Checking(Option<Span>),
    Checked(ScopeId),
}

impl<'a> Texts<'a> {
    pub fn new(sources: Option<&'a SourceMap>, programs: &'a [ast::Program]) -> Self {
        let mut states = vec![TextState::Unchecked; programs.len().max(1)];
        states[0] = TextState::Checking(None);
        Texts { sources, programs, states, current: FileId::MAIN }
    }

    /// The name of the text of the compiler that a place is in; `None` in texts of the user.
    pub fn library(&self, span: Span) -> Option<&'a str> {
        let sources = self.sources?;
        Some(sources.file(sources.file_at(span.start)).name()).filter(|name| name.starts_with(PREFIX))
    }

    /// True if a place is in the program's own text.
    pub fn is_own(&self, span: Span) -> bool {
        self.sources.is_none_or(|sources| sources.file_at(span.start) == FileId::MAIN)
    }
}
