//! Text to untyped tree and back: tokens ([`lex`]), the tree ([`ast`]), the parser ([`parse`]) and
//! the formatter ([`format()`], [`print()`]).
//!
//! The grammar is line-oriented: a statement ends with its line unless the line ends with `...`.
//! The parser recovers at line ends, reports at most one diagnostic per statement, and never
//! panics; nesting is bounded by [`MAX_DEPTH`] so that every recursive walk over a tree it returns
//! is bounded too.

pub mod ast;
mod imports;
mod lexer;
mod parser;
mod print;
mod spans;
mod token;

pub use crate::source::MAX_TEXT_LEN;
pub use imports::imported_paths;
pub use lexer::{Lexed, lex};
pub use parser::{MAX_DEPTH, MAX_HEIGHT, Parsed, parse};
pub use print::{format, print};
pub use spans::{same_modulo_spans, shift};
pub use token::{Keyword, Token, TokenKind};
