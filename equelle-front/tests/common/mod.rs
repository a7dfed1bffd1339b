//! Helpers of the tests of the parser.

use equelle_front::syntax::ast::Program;
use equelle_front::syntax::{Parsed, parse};

/// The tree of a text without errors.
pub fn good(text: &str) -> Program {
    let Parsed { program, diagnostics, .. } = parse(text);
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(messages.is_empty(), "{text:?} has errors: {messages:?}");
    program
}

/// `code@line` of every diagnostic of a text.
pub fn errors(text: &str) -> Vec<String> {
    let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
    let parsed = parse(text);
    let starts: Vec<u32> = parsed.diagnostics.iter().map(|d| d.primary.span.start).collect();
    assert!(starts.is_sorted(), "diagnostics of {text:?} are not in order");
    parsed.diagnostics.iter().map(|d| format!("{}@{}", d.code.as_str(), line(d.primary.span.start))).collect()
}
