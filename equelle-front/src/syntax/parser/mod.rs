//! Tokens to tree: recursive descent over statements and types, precedence climbing over
//! expressions.
//!
//! A parsing function returns `Err(Failed)` after it has reported a diagnostic; the statement level
//! then skips to the line end and goes on. One statement reports at most one diagnostic of the
//! parser, so that one mistake is told once.

mod advice;
mod cursor;
pub(in crate::syntax) mod expression;
mod import;
mod mistakes;
mod recovery;
mod statement;
mod types;
mod unit;

use std::collections::HashSet;

use cursor::Cursor;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{MAX_TEXT_LEN, Span};
use crate::syntax::ast::{Ident, Program, StmtKind};
use crate::syntax::lexer::lex;
use crate::syntax::token::{Keyword, TokenKind};

/// Deepest nesting, blocks and expressions together. It bounds the stack of every recursive walk.
/// The operators of a chain such as `a + b * c + d`, whose left operands are each the left operand
/// of the next, count as one level: walks go along them in a loop.
pub const MAX_DEPTH: u32 = 200;

/// Greatest height of the tree of an expression, operators of chains included. It bounds the stack
/// of what cannot go along a chain in a loop: giving a tree back to memory, copying it, comparing
/// it.
pub const MAX_HEIGHT: u32 = 4000;

/// Output of the parser.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The tree: all statements that could be read.
    pub program: Program,
    /// Lexical and syntax errors, sorted by position. If there are any, the tree is incomplete:
    /// what could not be read is left out, or an error node stands for it where the statement gives
    /// a name that others may use.
    pub diagnostics: Vec<Diagnostic>,
    /// A brace is missing or too many, so that it is not known which statements belong to which
    /// block: what a checker would say about scopes says little.
    pub blocks_lost: bool,
}

/// Parses a program. Never panics; stack use is bounded by [`MAX_DEPTH`], time is linear in the
/// length of the text.
pub fn parse(text: &str) -> Parsed {
    if text.len() > MAX_TEXT_LEN {
        let d = Diagnostic::new(Code::TextTooLong, Span::default(), format!("the program is {} bytes long", text.len()))
            .hint(format!("a program may have up to {MAX_TEXT_LEN} bytes; data belongs in input files"));
        return Parsed { program: Program::default(), diagnostics: vec![d], blocks_lost: true };
    }
    let parsed = parse_with(text, false);
    if !parsed.diagnostics.iter().any(|d| d.code == Code::MissingBrace) {
        return parsed;
    }
    // A `}` is missing somewhere: where, the indentation may tell.
    let indented = parse_with(text, true);
    if indented.diagnostics.len() <= parsed.diagnostics.len() { indented } else { parsed }
}

/// Parses; with `by_indentation`, a block whose statements are indented ends before a statement
/// that is not.
fn parse_with(text: &str, by_indentation: bool) -> Parsed {
    let lexed = lex(text);
    let mut parser = Parser {
        cursor: Cursor::new(text, lexed.tokens),
        reports: Reports { diagnostics: lexed.diagnostics, reported: false, unclosed_reported: false, depth_reported: false },
        depth: 0,
        blocks: Vec::new(),
        inline: false,
        misaligned: None,
        by_indentation,
        spoiled: false,
        upper_names: HashSet::new(),
    };
    let statements = parser.program();
    let mut diagnostics = parser.reports.diagnostics;
    diagnostics.sort_by_key(|d| d.primary.span);
    let has = |code: Code| diagnostics.iter().any(|d| d.code == code);
    // A `}` too many that closes a function early leaves its result outside.
    let return_outside = statements.iter().any(|s| matches!(s.kind, StmtKind::Return(_)));
    let blocks_lost = (has(Code::MissingBrace) && !by_indentation) || (has(Code::UnmatchedBrace) && return_outside);
    let program = Program { statements, comments: lexed.comments, line_starts: parser.cursor.line_starts };
    Parsed { program, diagnostics, blocks_lost }
}

/// Depth of a tree.
#[derive(Clone, Copy, Debug)]
struct Size {
    /// Levels of nesting, where a chain of operators is one.
    levels: u32,
    /// Nodes from the root to the deepest leaf.
    height: u32,
}

impl Size {
    const LEAF: Size = Size { levels: 1, height: 1 };

    fn max(self, other: Size) -> Size {
        Size { levels: self.levels.max(other.levels), height: self.height.max(other.height) }
    }

    /// With one node more on top.
    fn up(self) -> Size {
        Size { levels: self.levels + 1, height: self.height + 1 }
    }
}

/// A diagnostic has been reported; the statement cannot be read further.
#[derive(Clone, Copy, Debug)]
struct Failed;

type Result<T> = std::result::Result<T, Failed>;

/// Diagnostics, one for each statement.
struct Reports {
    diagnostics: Vec<Diagnostic>,
    /// True if this statement has a diagnostic already.
    reported: bool,
    /// True if a block without `}` has been reported.
    unclosed_reported: bool,
    /// True if a statement that is too deep has been reported.
    depth_reported: bool,
}

impl Reports {
    /// Adds a diagnostic unless this statement has one.
    fn report(&mut self, diagnostic: Diagnostic) -> Failed {
        if !self.reported {
            self.diagnostics.push(diagnostic);
        }
        self.reported = true;
        Failed
    }

    /// Reports a mistake after which reading can go on as if all were well.
    fn complain(&mut self, diagnostic: Diagnostic) {
        self.report(diagnostic);
    }

    /// Says nothing about a place that has been reported.
    fn known(&mut self) -> Failed {
        self.reported = true;
        Failed
    }
}

struct Parser<'t> {
    cursor: Cursor<'t>,
    reports: Reports,
    /// Number of enclosing blocks, brackets and operands.
    depth: u32,
    /// The `{` of every open block.
    blocks: Vec<Span>,
    /// True if the innermost block has a statement on the line of its `{`, which has been reported.
    inline: bool,
    /// First block whose `}` is indented otherwise than its first line: where a missing `}` is
    /// likely.
    misaligned: Option<(Span, Span)>,
    /// True if a block ends before a statement that is indented no more than the line of its `{`.
    by_indentation: bool,
    /// The statement before has turned out to go on after its end, so that its value is not known.
    spoiled: bool,
    /// Names with an upper-case letter that were reported where they are introduced, so that
    /// nothing is said about their uses.
    upper_names: HashSet<&'t str>,
}

impl<'t> Parser<'t> {
    /// The next token if it is of this kind, else an error that says what it was wanted for.
    fn expect(&mut self, kind: TokenKind, wanted: &str) -> Result<Span> {
        if self.cursor.peek() == kind { Ok(self.cursor.advance().span) } else { Err(self.unexpected(wanted)) }
    }

    /// The token that closes the bracket `open`.
    fn expect_close(&mut self, kind: TokenKind, wanted: &str, open: Span) -> Result<Span> {
        if self.cursor.peek() == kind { Ok(self.cursor.advance().span) } else { Err(self.unexpected_within(wanted, Some(open))) }
    }

    fn expect_keyword(&mut self, keyword: Keyword, wanted: &str) -> Result<Span> {
        self.expect(TokenKind::Keyword(keyword), wanted)
    }

    /// A variable or function name being introduced or assigned.
    fn expect_name(&mut self, what: &str) -> Result<Ident> {
        match self.cursor.peek() {
            TokenKind::Name => {
                let span = self.cursor.advance().span;
                Ok(Ident { name: self.cursor.text_of(span).to_owned(), span })
            }
            TokenKind::Builtin => Err(self.mistakes().upper_case_name(what)),
            TokenKind::Keyword(word) => Err(self.mistakes().reserved_word_as_name(word.as_str(), what)),
            _ => Err(self.unexpected(what)),
        }
    }

    /// Goes one level down; the caller goes back up with `self.depth -= 1` after success. (After a
    /// failure the statement restores the depth.)
    fn descend(&mut self) -> Result<()> {
        self.depth += 1;
        self.check_height(0)
    }

    /// Refuses a tree of this height at the present depth.
    fn check_height(&mut self, height: u32) -> Result<()> {
        if self.depth + height <= MAX_DEPTH { Ok(()) } else { Err(self.mistakes().too_deep()) }
    }

    /// The same for an expression.
    fn check_size(&mut self, size: Size) -> Result<()> {
        if size.height > MAX_HEIGHT { Err(self.mistakes().too_deep()) } else { self.check_height(size.levels) }
    }
}
