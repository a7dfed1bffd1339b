//! Diagnostics are data: facts with spans and a stable code, rendered in one place ([`render`]).

use crate::source::Span;

pub mod codes;
pub mod explain;
pub mod render;

pub use codes::{Code, Severity};

/// A message to the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Stable code.
    pub code: Code,
    /// Its severity.
    pub severity: Severity,
    /// One sentence: what was expected and what was found.
    pub message: String,
    /// The place it is about, with a short text (may be empty) under it.
    pub primary: Label,
    /// Other places: the other operand, the declaration.
    pub secondary: Vec<Label>,
    /// The calls that led to the instance in which it was found, innermost first.
    pub trail: Vec<Label>,
    /// Facts that belong to no place.
    pub notes: Vec<String>,
    /// One concrete thing to do.
    pub hint: Option<String>,
}

/// A marked place.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// Message at the place.
    pub text: String,
}

impl Diagnostic {
    /// An error or warning (by its code) about a place.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: code.severity(),
            message: message.into(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            trail: Vec::new(),
            notes: Vec::new(),
            hint: None,
        }
    }

    /// Text under the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Another place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// A call that led here; the innermost comes first.
    #[must_use]
    pub fn called(mut self, span: Span, text: impl Into<String>) -> Self {
        self.trail.push(Label { span, text: text.into() });
        self
    }

    /// A fact.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Sets the advice on what to do.
    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> Self {
        self.hint = Some(text.into());
        self
    }

    /// True if it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The nearest candidate, if near enough to be a typing slip: at most a third of the letters (at
/// least one, of two letters or more) replaced, added, left out, or swapped with their neighbour.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().count();
    // Every letter is one edit away from every other.
    let limit = if letters < 2 { 0 } else { (letters / 3).max(1) };
    candidates.into_iter().filter(|c| *c != name).map(|c| (distance(name, c), c)).filter(|&(d, _)| d <= limit).min().map(|(_, c)| c)
}

/// Optimal string alignment distance: Levenshtein's, with a swap of neighbours as one edit.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let substitute = last[j] + usize::from(a[i] != b[j]);
            let mut best = substitute.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
