//! The formatter on texts as people write them: any spelling of numbers, comments anywhere, any
//! layout.

use std::fs;
use std::path::{Path, PathBuf};

use equelle_front::syntax::{TokenKind, format, lex, parse, print, same_modulo_spans};
use proptest::prelude::*;

use super::{read, trees};

/// Spellings of all number literals, in order.
fn numbers(text: &str) -> Vec<&str> {
    let tokens = lex(text).tokens.into_iter().filter(|t| matches!(t.kind, TokenKind::Number { .. }));
    tokens.map(|t| &text[t.span.start as usize..t.span.end as usize]).collect()
}

fn comments(text: &str) -> Vec<String> {
    lex(text).comments.into_iter().map(|c| c.text).collect()
}

/// Formats a text, and asserts all that the formatter promises.
fn formatted(name: &str, text: &str) -> String {
    let program = read(text);
    let once = format(&program, text);
    let again = read(&once);
    assert!(same_modulo_spans(&program, &again), "{name} means something else:\n{text}\n----\n{once}");
    assert_eq!(format(&again, &once), once, "{name} changes when formatted twice");
    assert_eq!(comments(text), comments(&once), "{name}");
    assert_eq!(numbers(text), numbers(&once), "{name}");
    once
}

/// Programs below a folder, sorted.
fn programs_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            found.extend(programs_below(&path));
        } else if path.extension().is_some_and(|e| e == "equelle") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_program_of_the_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut formatted_programs = 0;
    for folder in ["examples", "tests", "equelle-front/tests"] {
        for path in programs_below(&root.join(folder)) {
            let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            // Those that show syntax errors are not formatted.
            if parse(&text).diagnostics.is_empty() {
                formatted(&path.display().to_string(), &text);
                formatted_programs += 1;
            }
        }
    }
    assert!(formatted_programs >= 40, "only {formatted_programs} programs were found");
}

#[test]
fn numbers_stay_as_written() {
    for number in ["3.45e6", "3450000", "1.50", ".5", "1.", "1E-3", "2e+05", "0.10e1", "007.5"] {
        let text = format!("x={number}  [ Kilo * Meter ]+ f(-{number},[{number}])\n");
        let expected = format!("x = {number} [Kilo*Meter] + f(-{number}, [{number}])\n");
        assert_eq!(formatted(number, &text), expected);
    }
    // The point of a literal is not taken for that of the continuation.
    assert_eq!(formatted("continued", "x = 1...\n  + 2.0\n"), "x = 1 + 2.0\n");
}

#[test]
fn a_block_on_one_line_stays_there_if_it_fits() {
    let one_line = "half(c) = { -> c / 2 }  # a comment\nFor s In ts { t = t + s }\n";
    assert_eq!(formatted("one line", &one_line.replace(" { ", "{").replace(" }", "}")), one_line);
    let several = "half(c) = {\n    -> c / 2\n}\n";
    assert_eq!(formatted("several lines", several), several);
    let long = format!("half(c) = {{ -> {} }}\n", ["longer"; 12].join(" + "));
    assert!(formatted("too long", &long).starts_with("half(c) = {\n    -> longer + "));
}

#[test]
fn a_tree_from_elsewhere_is_printed_by_its_values() {
    let program = read("x = 3.45e6 + 1\n");
    for source in ["", "x = ", "\u{e9}\u{e9}\u{e9}", "x = 9.75e6 + 2\n", "1111111111111111"] {
        assert_eq!(format(&program, source), print(&program), "{source:?}");
    }
}

/// The text with its tokens in the same lines, but with blanks, continuations and comments between
/// them, and with other spellings of its numbers. `noise` says which, over and over.
fn as_people_write(text: &str, noise: &[u8]) -> String {
    let mut noise = noise.iter().copied().cycle();
    let mut out = String::new();
    let mut comment = 0;
    for token in lex(text).tokens {
        let own = &text[token.span.start as usize..token.span.end as usize];
        let choice = noise.next().unwrap_or(0);
        comment += usize::from(choice >= 12);
        match token.kind {
            TokenKind::Newline => out.push_str(&match choice {
                0..8 => "\n".to_owned(),
                8..12 => "\n\n\n".to_owned(),
                12..14 => format!("   # after {comment}\n"),
                _ => format!("\n\t# before {comment}  \n"),
            }),
            TokenKind::Number { integer: false, .. } => {
                let mantissa_and_exponent = own.split_once('e');
                match (choice, mantissa_and_exponent) {
                    (0..4, None) => out.push_str(&format!("0{own}0")),
                    (4..8, None) => out.push_str(&format!("{own}E+00")),
                    (0..8, Some((mantissa, exponent))) => out.push_str(&format!("00{mantissa}E{exponent}")),
                    _ => out.push_str(own),
                }
            }
            TokenKind::Name
            | TokenKind::Builtin
            | TokenKind::Keyword(_)
            | TokenKind::Number { .. }
            | TokenKind::Text
            | TokenKind::Colon
            | TokenKind::Assign
            | TokenKind::LeftParen
            | TokenKind::RightParen
            | TokenKind::Plus
            | TokenKind::Minus
            | TokenKind::Star
            | TokenKind::Slash
            | TokenKind::Caret
            | TokenKind::Less
            | TokenKind::Greater
            | TokenKind::LessEqual
            | TokenKind::GreaterEqual
            | TokenKind::Equal
            | TokenKind::NotEqual
            | TokenKind::Arrow
            | TokenKind::LeftBrace
            | TokenKind::RightBrace
            | TokenKind::Comma
            | TokenKind::Bar
            | TokenKind::Question
            | TokenKind::LeftBracket
            | TokenKind::RightBracket
            | TokenKind::Error
            | TokenKind::End => out.push_str(own),
        }
        // A continuation goes on with the same statement, so it stands inside of one.
        let inside = !matches!(token.kind, TokenKind::Newline | TokenKind::LeftBrace | TokenKind::RightBrace | TokenKind::End);
        match choice {
            10 if inside => out.push_str("   "),
            11 if inside => out.push_str(" ...\n  "),
            12 if inside => out.push_str(&format!(" ... # within {comment}\n")),
            _ => out.push(' '),
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs(program in trees::program(), noise in prop::collection::vec(0u8..16, 1..200)) {
        let text = as_people_write(&print(&program), &noise);
        prop_assert!(same_modulo_spans(&program, &read(&text)), "the noise means nothing:\n{}", text);
        formatted("a random program", &text);
    }
}
