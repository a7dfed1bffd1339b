//! Text to tokens.
//!
//! Each kind of token has a `nom` recogniser; [`lex`] tries them in turn and turns what none of
//! them takes into a diagnostic and an error token, so that the parser keeps quiet about a place
//! that has been reported.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_till, take_while, take_while1};
use nom::character::complete::{char, digit0, digit1, line_ending, one_of, satisfy};
use nom::combinator::{eof, not, opt, recognize, value};
use nom::sequence::{delimited, pair, terminated};
use nom::{IResult, Offset, Parser};

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::Comment;
use crate::syntax::token::{Keyword, Token, TokenKind};

/// Output of the lexer.
#[derive(Clone, Debug, Default)]
pub struct Lexed {
    /// All tokens, the last one being [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// All comments, in order.
    pub comments: Vec<Comment>,
    /// Lexical errors, in order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Splits a text into tokens. Never fails: errors are in [`Lexed::diagnostics`] and leave a token
/// behind.
pub fn lex(text: &str) -> Lexed {
    let mut lexer = Lexer { text, at: 0, strange_on_line: false, out: Lexed::default() };
    // Some editors begin a file with a byte order mark.
    if text.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    while lexer.at < text.len() {
        lexer.step();
    }
    lexer.push(TokenKind::End, text.len(), text.len());
    lexer.out
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// True if this line has had an unexpected character: one such report per line is enough.
    strange_on_line: bool,
    out: Lexed,
}

impl<'t> Lexer<'t> {
    /// Takes one token, comment or run of blanks; always advances.
    fn step(&mut self) {
        let start = self.at;
        let rest = &self.text[start..];
        if let Ok((after, _)) = blanks(rest) {
            self.at = self.text.offset(after);
        } else if let Ok((after, body)) = comment(rest) {
            self.comment(body);
            self.at = self.text.offset(after);
        } else if let Ok((after, body)) = continuation(rest) {
            if let Some(body) = body {
                self.comment(body);
            }
            self.strange_on_line = false;
            self.at = self.text.offset(after);
        } else if let Ok((after, kind)) = alt((newline, word, symbol)).parse(rest) {
            self.strange_on_line &= kind != TokenKind::Newline;
            self.at = self.text.offset(after);
            self.push(kind, start, self.at);
        } else if let Ok((_, digits)) = number(rest) {
            self.number(start, digits);
        } else if rest.starts_with('"') {
            self.text_literal(start);
        } else {
            self.strange(start);
        }
    }

    fn push(&mut self, kind: TokenKind, start: usize, end: usize) {
        self.out.tokens.push(Token { kind, span: Span::new(start, end) });
    }

    fn comment(&mut self, body: &str) {
        let start = self.text.offset(body);
        let text = body.trim_end();
        self.out.comments.push(Comment { text: text.to_owned(), span: Span::new(start, start + text.len()) });
    }

    fn number(&mut self, start: usize, digits: &str) {
        let rest = &self.text[start + digits.len()..];
        // `3x`, `1.5e`, `1.2.3`: what is glued to a number belongs to the mistake.
        let mut glued = rest.len() - rest.trim_start_matches(is_word).len();
        if glued > 0 || (rest.starts_with('.') && !rest.starts_with("...")) {
            glued = rest.len() - rest.trim_start_matches(|c| is_word(c) || c == '.').len();
        }
        let end = start + digits.len() + glued;
        let span = Span::new(start, end);
        let integer = digits.bytes().all(|b| b.is_ascii_digit());
        let mut value = 0.0;
        if glued > 0 {
            self.out.diagnostics.push(malformed_number(digits, &rest[..glued], span));
        } else {
            // `parse` takes every spelling the recogniser takes, at full precision.
            value = digits.parse::<f64>().unwrap_or(f64::INFINITY);
            let written_zero = digits.bytes().take_while(|b| !b.eq_ignore_ascii_case(&b'e')).all(|b| b == b'0' || b == b'.');
            if !value.is_finite() || (value == 0.0 && !written_zero) {
                let size = if value == 0.0 { "small" } else { "large" };
                let d = Diagnostic::new(Code::NumberOutOfRange, span, format!("the number `{digits}` is too {size} for double precision"));
                self.out.diagnostics.push(d.hint("numbers lie between about 5e-324 and 1.8e308"));
                value = 0.0;
            }
        }
        self.push(TokenKind::Number { value, integer }, start, end);
        self.at = end;
    }

    /// A string literal. An unterminated one takes the rest of its line, so that the next line is
    /// read as usual.
    fn text_literal(&mut self, start: usize) {
        let mut chars = self.text[start + 1..].char_indices();
        let mut unknown_escapes = Vec::new();
        while let Some((i, c)) = chars.next() {
            let here = start + 1 + i;
            match c {
                '"' => {
                    self.at = here + 1;
                    self.push(TokenKind::Text, start, self.at);
                    self.out.diagnostics.extend(unknown_escapes);
                    return;
                }
                '\n' => break,
                '\\' => match chars.clone().next() {
                    Some((_, '\n')) | None => {}
                    Some((_, e)) => {
                        chars.next();
                        if escape(e).is_none() && e != '\r' {
                            let span = Span::new(here, here + 1 + e.len_utf8());
                            let d = Diagnostic::new(Code::UnknownEscape, span, format!("unknown escape `\\{e}` in a string"));
                            unknown_escapes.push(d.hint("the escapes are \\n, \\t, \\\" and \\\\; for a backslash write \\\\"));
                        }
                    }
                },
                _ => {}
            }
        }
        let rest = &self.text[start..];
        let line = rest.split('\n').next().unwrap_or(rest).trim_end_matches('\r');
        let end = start + line.len();
        let d = Diagnostic::new(Code::UnterminatedString, Span::new(start, end), "this string is not closed on its line")
            .hint("close it with `\"`; for a line end inside a string write \\n");
        self.out.diagnostics.push(d);
        self.push(TokenKind::Error, start, end);
        self.at = end;
    }

    fn strange(&mut self, start: usize) {
        let rest = &self.text[start..];
        let first = rest.chars().next().unwrap_or(' ');
        let mut end = start + first.len_utf8();
        let d = if rest.starts_with("...") {
            end = start + 3;
            Diagnostic::new(Code::MisplacedContinuation, Span::new(start, end), "`...` is not at the end of its line")
                .hint("`...` continues a statement on the next line; only a comment may follow it")
        } else if first == '_' {
            end = start + (rest.len() - rest.trim_start_matches(is_word).len());
            let d = Diagnostic::new(Code::UnexpectedCharacter, Span::new(start, end), "a name cannot begin with `_`");
            let better = rest[..end - start].trim_start_matches(|c: char| !c.is_ascii_lowercase());
            let better = if better.is_empty() { "x" } else { better };
            d.hint(format!("names begin with a lower-case letter: `{better}`"))
        } else {
            let shown = if first.is_control() { first.escape_default().to_string() } else { first.to_string() };
            let d = Diagnostic::new(Code::UnexpectedCharacter, Span::new(start, end), format!("unexpected character `{shown}`"));
            match advice(first, rest) {
                Some(hint) => d.hint(hint),
                None => d,
            }
        };
        if !self.strange_on_line {
            self.out.diagnostics.push(d);
        }
        self.strange_on_line = true;
        self.push(TokenKind::Error, start, end);
        self.at = end;
    }
}

/// Returns the character that an escape stands for; `None` if there is no such escape.
pub(super) fn escape(c: char) -> Option<char> {
    match c {
        'n' => Some('\n'),
        't' => Some('\t'),
        '"' | '\\' => Some(c),
        _ => None,
    }
}

fn malformed_number(digits: &str, glued: &str, span: Span) -> Diagnostic {
    let whole = format!("{digits}{glued}");
    let d = Diagnostic::new(Code::MalformedNumber, span, format!("malformed number `{whole}`"));
    if glued.starts_with(['e', 'E']) && glued.len() == 1 {
        d.hint(format!("an exponent needs digits: `{digits}e3`"))
    } else if glued.contains('.') {
        d.hint("a number has at most one decimal point")
    } else if digits == "0" && glued.starts_with(['x', 'b', 'o', 'X']) && glued.len() > 1 {
        d.hint("numbers are written in decimal")
    } else if glued.starts_with(|c: char| c.is_ascii_lowercase()) {
        d.hint(format!("to multiply write `{digits} * {glued}`; a name cannot begin with a digit"))
    } else if glued.starts_with(|c: char| c.is_ascii_uppercase()) {
        d.hint(format!("a unit goes in brackets after the number: `{digits} [{glued}]`"))
    } else {
        d.hint("a number is written like 3, 2.5 or 1e-3")
    }
}

/// Returns advice for a character of another language or keyboard layout.
fn advice(c: char, rest: &str) -> Option<&'static str> {
    Some(match c {
        '\r' => "lines end with a line feed, or with a carriage return and a line feed",
        ';' => "a statement ends with its line; no `;` is needed",
        '\'' | '\u{2018}' | '\u{2019}' | '\u{201c}' | '\u{201d}' => "strings are written between double quotes: \"text\"",
        '!' => "write `Not` to negate a Bool, `!=` to compare",
        '&' => "write `And`",
        '~' => "write `Not`",
        '%' => "there is no `%`; comments begin with `#`",
        '\u{2212}' | '\u{2013}' | '\u{2014}' => "write `-`",
        '\u{d7}' | '\u{b7}' | '\u{22c5}' => "write `*`",
        '\u{f7}' => "write `/`",
        '\u{2264}' => "write `<=`",
        '\u{2265}' => "write `>=`",
        '\u{2260}' => "write `!=`",
        '\u{2192}' => "write `->`",
        '\u{2026}' => "write three dots: `...`",
        '\u{a0}' | '\u{2009}' | '\u{202f}' | '\u{feff}' => "this is a special blank; write an ordinary one",
        '.' if rest.starts_with("..") => "to continue a statement on the next line write three dots: `...`",
        '.' if rest[1..].starts_with(|c: char| c.is_ascii_alphabetic()) => {
            "a component of a Vector is written `v[0]`, the value of a function `f(v)`"
        }
        '.' => "a decimal point needs a digit beside it: `0.5`",
        '$' | '@' => "this character has no meaning in Equelle",
        _ if c.is_alphabetic() => "names are made of the letters a to z and A to Z, digits and `_`",
        _ => return None,
    })
}

// Recognisers.

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn blanks(input: &str) -> IResult<&str, &str> {
    take_while1(|c| c == ' ' || c == '\t')(input)
}

/// `#` up to the line end.
fn comment(input: &str) -> IResult<&str, &str> {
    recognize(pair(char('#'), take_till(|c| c == '\n'))).parse(input)
}

/// `...`, perhaps a comment, and the line end it swallows.
fn continuation(input: &str) -> IResult<&str, Option<&str>> {
    let line_end = alt((line_ending, eof));
    delimited((tag("..."), take_while(|c| c == ' ' || c == '\t')), opt(comment), line_end).parse(input)
}

fn newline(input: &str) -> IResult<&str, TokenKind> {
    value(TokenKind::Newline, line_ending).parse(input)
}

/// Names, built-ins and reserved words.
fn word(input: &str) -> IResult<&str, TokenKind> {
    let (after, word) = recognize(pair(satisfy(|c| c.is_ascii_alphabetic()), take_while(is_word))).parse(input)?;
    let kind = match Keyword::from_word(word) {
        Some(keyword) => TokenKind::Keyword(keyword),
        None if word.starts_with(|c: char| c.is_ascii_uppercase()) => TokenKind::Builtin,
        None => TokenKind::Name,
    };
    Ok((after, kind))
}

/// Operators and punctuation, the long ones first.
fn symbol(input: &str) -> IResult<&str, TokenKind> {
    let long = alt((
        value(TokenKind::LessEqual, tag("<=")),
        value(TokenKind::GreaterEqual, tag(">=")),
        value(TokenKind::Equal, tag("==")),
        value(TokenKind::NotEqual, tag("!=")),
        value(TokenKind::Arrow, tag("->")),
    ));
    let arithmetic = alt((
        value(TokenKind::Plus, char('+')),
        value(TokenKind::Minus, char('-')),
        value(TokenKind::Star, char('*')),
        value(TokenKind::Slash, char('/')),
        value(TokenKind::Caret, char('^')),
        value(TokenKind::Less, char('<')),
        value(TokenKind::Greater, char('>')),
    ));
    let brackets = alt((
        value(TokenKind::LeftParen, char('(')),
        value(TokenKind::RightParen, char(')')),
        value(TokenKind::LeftBracket, char('[')),
        value(TokenKind::RightBracket, char(']')),
        value(TokenKind::LeftBrace, char('{')),
        value(TokenKind::RightBrace, char('}')),
        value(TokenKind::Bar, char('|')),
    ));
    let punctuation = alt((
        value(TokenKind::Colon, char(':')),
        value(TokenKind::Assign, char('=')),
        value(TokenKind::Comma, char(',')),
        value(TokenKind::Question, char('?')),
    ));
    alt((long, arithmetic, brackets, punctuation)).parse(input)
}

/// The number literal that a text begins with.
pub(super) fn number_literal(text: &str) -> Option<&str> {
    number(text).ok().map(|(_, digits)| digits)
}

/// `3`, `2.5`, `.5`, `1.`, `1e-3`, `2.E5`. A point that begins `...` is not taken: `1...` is `1`
/// and a continuation.
fn number(input: &str) -> IResult<&str, &str> {
    let point = || terminated(char('.'), not(pair(char('.'), not(tag("..")))));
    let exponent = (one_of("eE"), opt(one_of("+-")), digit1);
    let leading_digits = (digit1, opt(pair(point(), digit0)), opt(exponent)).map(drop);
    let exponent = (one_of("eE"), opt(one_of("+-")), digit1);
    let leading_point = (char('.'), digit1, opt(exponent)).map(drop);
    // Not `recognize`: at the end of a text it loses what `digit0` takes (nom 8.0).
    let (after, ()) = alt((leading_digits, leading_point)).parse(input)?;
    Ok((after, &input[..input.len() - after.len()]))
}
