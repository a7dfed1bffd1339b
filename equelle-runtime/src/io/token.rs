//! Tokens of texts in parameters: expressions, sets of entities, units, sequences.

use std::borrow::Cow;

use nom::branch::alt;
use nom::bytes::complete::{tag, take_till, take_while};
use nom::character::complete::{char, digit0, digit1, one_of, satisfy};
use nom::combinator::opt;
use nom::sequence::{delimited, pair};
use nom::{IResult, Parser};

use crate::error::{Error, ErrorKind};
use crate::params::Parameters;

/// Deepest nesting of parentheses, signs and operators.
pub const MAX_DEPTH: usize = 100;

/// An error in a text, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Byte offset.
    pub offset: usize,
    /// Part of a sentence: what is there, and what is wrong with it.
    pub what: String,
    /// One concrete suggestion.
    pub hint: Option<String>,
}

impl TextError {
    /// An error without a hint.
    pub fn new(offset: usize, what: impl Into<String>) -> TextError {
        TextError { offset, what: what.into(), hint: None }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> TextError {
        self.hint = Some(hint.into());
        self
    }

    /// The same in a larger text, of which this one begins at `offset`.
    #[must_use]
    pub fn within(mut self, offset: usize) -> TextError {
        self.offset += offset;
        self
    }

    /// The error of a parameter with this text; names key, place and character, from 1.
    pub fn into_parameter_error(self, parameters: &Parameters, key: &str) -> Error {
        let text = parameters.text(key).unwrap_or_default();
        let before = text.get(..self.offset).unwrap_or(text);
        let place = parameters.place(key);
        let message = format!("parameter `{key}`{place}: character {} of `{}`: {}", before.chars().count() + 1, shown(text), self.what);
        let error = Error::new(ErrorKind::Data, message);
        match self.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// A text for a message, cut when long.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text.into(),
    }
}

/// Operators and punctuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `^`
    Caret,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `[`
    OpenUnit,
    /// `]`
    CloseUnit,
    /// `,`
    Comma,
    /// `?`
    Question,
    /// `:`
    Colon,
    /// `|`
    Bar,
    /// `&`
    And,
}

/// All of them; the longer one before its own beginning.
const SYMBOLS: [(&str, Symbol); 20] = [
    ("<=", Symbol::LessEqual),
    (">=", Symbol::GreaterEqual),
    ("==", Symbol::Equal),
    ("!=", Symbol::NotEqual),
    ("+", Symbol::Plus),
    ("-", Symbol::Minus),
    ("*", Symbol::Star),
    ("/", Symbol::Slash),
    ("^", Symbol::Caret),
    ("<", Symbol::Less),
    (">", Symbol::Greater),
    ("(", Symbol::Open),
    (")", Symbol::Close),
    ("[", Symbol::OpenUnit),
    ("]", Symbol::CloseUnit),
    (",", Symbol::Comma),
    ("?", Symbol::Question),
    (":", Symbol::Colon),
    ("|", Symbol::Bar),
    ("&", Symbol::And),
];

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TokenKind<'a> {
    /// A finite number without a sign.
    Number(f64),
    /// Letters, digits and `_`, beginning with a letter or `_`.
    Name(&'a str),
    /// Text between double quotes.
    Quoted(&'a str),
    /// An operator or punctuation.
    Symbol(Symbol),
    /// The end of the text.
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Token<'a> {
    /// Its kind.
    pub kind: TokenKind<'a>,
    /// Byte offset of its beginning.
    pub offset: usize,
    /// Byte offset of its end.
    pub end: usize,
}

/// The tokens of a text, read one after another.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
    depth: usize,
}

impl<'a> Tokens<'a> {
    /// The tokens of a text.
    ///
    /// # Errors
    /// A character that begins no token, a quote without its end, a number beyond the range.
    pub fn new(text: &'a str) -> Result<Tokens<'a>, TextError> {
        let mut tokens = Vec::new();
        let mut rest = text;
        loop {
            rest = rest.trim_start();
            let offset = text.len() - rest.len();
            let (after, kind) = token(rest, offset)?;
            tokens.push(Token { kind, offset, end: text.len() - after.len() });
            if kind == TokenKind::End {
                return Ok(Tokens { text, tokens, at: 0, depth: 0 });
            }
            rest = after;
        }
    }

    /// The next token, which stays.
    pub fn peek(&self) -> Token<'a> {
        // The last token is the end, which is never taken.
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    /// The token after the next one.
    pub fn peek_second(&self) -> Token<'a> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    /// Takes the next token.
    pub fn advance(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// True if the next token is this symbol.
    pub fn is(&self, symbol: Symbol) -> bool {
        self.peek().kind == TokenKind::Symbol(symbol)
    }

    /// Takes the next token if it is this symbol.
    pub fn eat(&mut self, symbol: Symbol) -> bool {
        let found = self.is(symbol);
        if found {
            self.advance();
        }
        found
    }

    /// Takes this symbol.
    ///
    /// # Errors
    /// Another token; `what` is what it should be.
    pub fn expect(&mut self, symbol: Symbol, what: &str) -> Result<(), TextError> {
        if self.eat(symbol) { Ok(()) } else { Err(self.unexpected(what)) }
    }

    /// Takes the end.
    ///
    /// # Errors
    /// Another token; `what` is what it should be.
    pub fn expect_end(&self, what: &str) -> Result<(), TextError> {
        if self.peek().kind == TokenKind::End { Ok(()) } else { Err(self.unexpected(what)) }
    }

    /// The error of the next token where something else should be.
    pub fn unexpected(&self, expected: &str) -> TextError {
        let token = self.peek();
        let found = match token.kind {
            TokenKind::End => "the text ends".to_owned(),
            TokenKind::Number(_) | TokenKind::Name(_) | TokenKind::Quoted(_) | TokenKind::Symbol(_) => {
                format!("found `{}`", shown(&self.text[token.offset..token.end]))
            }
        };
        TextError::new(token.offset, format!("expected {expected}, {found}"))
    }

    /// Begins a level of nesting.
    ///
    /// # Errors
    /// More than [`MAX_DEPTH`].
    pub fn descend(&mut self) -> Result<(), TextError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(TextError::new(self.peek().offset, format!("nested more than {MAX_DEPTH} deep")));
        }
        Ok(())
    }

    /// Ends a level of nesting.
    pub fn ascend(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}

fn token(text: &str, offset: usize) -> Result<(&str, TokenKind<'_>), TextError> {
    if text.is_empty() {
        return Ok((text, TokenKind::End));
    }
    if let Ok((after, digits)) = number(text) {
        let number: f64 = digits.parse().unwrap_or(f64::INFINITY);
        let written_zero = digits.bytes().take_while(|b| !b.eq_ignore_ascii_case(&b'e')).all(|b| b == b'0' || b == b'.');
        if !number.is_finite() || (number == 0.0 && !written_zero) {
            return Err(TextError::new(offset, format!("the number `{}` is beyond the range of numbers", shown(digits))));
        }
        return Ok((after, TokenKind::Number(number)));
    }
    if let Ok((after, name)) = name(text) {
        return Ok((after, TokenKind::Name(name)));
    }
    for (written, symbol) in SYMBOLS {
        if let Some(after) = text.strip_prefix(written) {
            return Ok((after, TokenKind::Symbol(symbol)));
        }
    }
    if let Ok((after, name)) = quoted(text) {
        return Ok((after, TokenKind::Quoted(name)));
    }
    if text.starts_with('"') {
        return Err(TextError::new(offset, "a `\"` without a second one"));
    }
    let strange: String = text.chars().take(1).flat_map(char::escape_debug).collect();
    Err(TextError::new(offset, format!("unexpected character `{strange}`")))
}

/// `3`, `2.5`, `.5`, `1.`, `1e-3`, as in programs.
fn number(text: &str) -> IResult<&str, &str> {
    let exponent = || opt((one_of("eE"), opt(one_of("+-")), digit1));
    let leading_digits = (digit1, opt(pair(char('.'), digit0)), exponent()).map(drop);
    let leading_point = (char('.'), digit1, exponent()).map(drop);
    // Not `recognize`: at the end of a text it loses what `digit0` takes (nom 8.0).
    let (after, ()) = alt((leading_digits, leading_point)).parse(text)?;
    Ok((after, &text[..text.len() - after.len()]))
}

fn name(text: &str) -> IResult<&str, &str> {
    let first = satisfy(|c| c.is_alphabetic() || c == '_');
    let (after, _) = pair(first, take_while(|c: char| c.is_alphanumeric() || c == '_')).parse(text)?;
    Ok((after, &text[..text.len() - after.len()]))
}

fn quoted(text: &str) -> IResult<&str, &str> {
    delimited(tag("\""), take_till(|c| c == '"'), tag("\"")).parse(text)
}
