//! Tokens (`docs/language/grammar.md`).

use equelle_front::syntax::ast::ExprKind;
use equelle_front::syntax::{TokenKind, lex};

use super::{errors, good, value};

fn number(text: &str) -> f64 {
    match value(&format!("x = {text}\n")).kind {
        ExprKind::Number { value, unit: None } => value,
        other => panic!("{text} is {other:?}"),
    }
}

#[test]
fn numbers() {
    // Each decimal is compared with the nearest double, which the Rust compiler computes from the
    // same digits.
    for (text, expected) in [
        ("3", 3.0),
        ("007", 7.0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("1E3", 1000.0),
        ("2.17e6", 2.17e6),
        ("1.5e-3", 1.5e-3),
        ("1.5E+3", 1500.0),
        ("1.e2", 100.0),
        ("1e03", 1000.0),
        ("0.1", 0.1),
        ("9007199254740993", 9007199254740992.0), // 2^53 + 1 ties to even
        ("1.7976931348623157e308", f64::MAX),
        ("5e-324", f64::from_bits(1)),
        ("0e999", 0.0),
    ] {
        assert_eq!(number(text).to_bits(), expected.to_bits(), "{text}");
        // At the end of a text without a last line end, too.
        let tokens = lex(&format!("x = {text}")).tokens;
        let at_end = tokens.iter().find_map(|token| match token.kind {
            TokenKind::Number { value, .. } => Some(value),
            _ => None,
        });
        assert_eq!(at_end.map(f64::to_bits), Some(expected.to_bits()), "{text} at the end");
    }
}

#[test]
fn malformed_numbers() {
    for text in ["3x", "1e", "1.5E", "1e+", "1.2.3", "1..5", "0x1F", "3_000", "2Meter", "1e3e"] {
        assert_eq!(errors(&format!("x = {text}\n"))[0], "E0002@1", "{text}");
    }
    // Each is told, and the rest of the line is read.
    assert_eq!(errors("x = 3x + 4y\ny = 3\n"), ["E0002@1", "E0002@1"]);
    assert_eq!(errors("x = 1e400\n"), ["E0003@1"]);
    assert_eq!(errors("x = 1e-400\n"), ["E0003@1"]);
}

#[test]
fn strings() {
    let text = |source: &str| match value(source).kind {
        ExprKind::Text(text) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(text("x = \"a b # c\"\n"), "a b # c");
    assert_eq!(text(r#"x = "q\"uo\\te\n\tend""#), "q\"uo\\te\n\tend");
    assert_eq!(text("x = \"\u{e9}\u{4e16}\"\n"), "\u{e9}\u{4e16}");
    assert_eq!(text("x = \"\""), "");
    assert_eq!(errors("x = \"abc\ny = 3\n"), ["E0004@1"]);
    assert_eq!(errors("x = \"abc"), ["E0004@1"]);
    assert_eq!(errors("x = \"abc\\"), ["E0004@1"]);
    assert_eq!(errors("x = \"abc\\\"\ny = 3\n"), ["E0004@1"]);
    assert_eq!(errors("Output(\"abc, x)\ny = $\n"), ["E0004@1", "E0001@2"]);
    assert_eq!(errors(r#"x = "a\qb\x""#), ["E0006@1", "E0006@1"]);
}

#[test]
fn line_ends_and_continuation() {
    let unix = good("x = 1 ...\n  + 2\ny = 3 # c\n");
    for same in [
        "x = 1 ...\r\n  + 2\r\ny = 3 # c\r\n",
        "x = 1 ...\n  + 2\ny = 3 # c",
        "x = 1 ... # why\n  + 2\n\n\ny = 3\n",
        "x = 1...\n+ 2\ny = 3",
    ] {
        assert!(equelle_front::syntax::same_modulo_spans(&unix, &good(same)), "{same:?}");
    }
    assert_eq!(
        good("x = 1 ... # why\r\n  + 2 # what  \r\n").comments.iter().map(|c| c.text.as_str()).collect::<Vec<_>>(),
        ["# why", "# what"]
    );
    assert_eq!(errors("x = 1 ... + 2\ny = 2\n"), ["E0007@1"]);
    // The dots of a comment are not a continuation.
    assert_eq!(good("x = 1 # and so on ...\ny = 2\n").statements.len(), 2);
    assert_eq!(errors("x = 1\ry = 2\n"), ["E0001@1"]);
}

#[test]
fn a_byte_order_mark_is_skipped() {
    assert_eq!(good("\u{feff}x = 1\n").statements[0].span.start, 3);
}

#[test]
fn unexpected_characters() {
    assert_eq!(errors("_x = 2\n"), ["E0001@1"]);
    assert_eq!(errors("x = a $ b @ c\ny = 1 ; z = 2\n"), ["E0001@1", "E0001@2"]);
    assert_eq!(errors("x = a \u{2212} b\n"), ["E0001@1"]);
    assert_eq!(errors("x = .\n"), ["E0001@1"]);
    assert_eq!(errors("x = !a\n"), ["E0001@1"]);
    assert_eq!(errors("\u{0}"), ["E0001@1"]);
}

#[test]
fn tokens_cover_their_text() {
    let text = "f(x1) = { # head\n  -> |x1| >= 2.5e3 != On Foo \"s\" ...\n }";
    let lexed = lex(text);
    let words: Vec<&str> = lexed.tokens.iter().filter(|t| t.kind != TokenKind::Newline).map(|t| &text[t.span.range()]).collect();
    assert_eq!(words, ["f", "(", "x1", ")", "=", "{", "->", "|", "x1", "|", ">=", "2.5e3", "!=", "On", "Foo", "\"s\"", "}", ""]);
    assert_eq!(lexed.tokens.last().map(|t| t.kind), Some(TokenKind::End));
}

#[test]
fn lower_case_spellings_of_reserved_words_are_names() {
    assert_eq!(good("of = 1\nfor = of\nmutable = on\nforInMutable = 3\n").statements.len(), 4);
}
