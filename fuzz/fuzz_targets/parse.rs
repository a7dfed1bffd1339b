//! Any bytes through the lexer, the parser and the renderer of diagnostics: no panic, diagnostics
//! in order and within the text.

#![no_main]

use equelle_front::diagnostic::render::{Format, render};
use equelle_front::source::SourceMap;
use equelle_front::syntax::{lex, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    for token in lex(&text).tokens {
        assert!(text.get(token.span.range()).is_some());
    }
    let diagnostics = parse(&text).diagnostics;
    assert!(diagnostics.is_sorted_by_key(|d| d.primary.span));
    assert!(diagnostics.iter().all(|d| text.get(d.primary.span.range()).is_some()));
    let source = SourceMap::new("fuzz.equelle", text.as_ref());
    for format in [Format::Human { color: false }, Format::Short, Format::Json] {
        assert_eq!(render(&diagnostics, &source, format).is_empty(), diagnostics.is_empty());
    }
});
