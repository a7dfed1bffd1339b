//! Messages about unexpected tokens, and recovery from them.

use super::cursor::is_unfinished;
use super::{Failed, MAX_DEPTH, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::Block;
use crate::syntax::token::TokenKind;

impl Parser<'_> {
    /// Reports that `wanted` should stand here. Says nothing about a place the lexer has reported.
    pub(super) fn unexpected(&mut self, wanted: &str) -> Failed {
        self.unexpected_within(wanted, None)
    }

    /// The same inside a bracket, which is shown if the line or the text ends before it is closed.
    pub(super) fn unexpected_within(&mut self, wanted: &str, open: Option<Span>) -> Failed {
        if self.cursor.peek() == TokenKind::Error {
            return self.reports.known();
        }
        let at_line_end = matches!(self.cursor.peek(), TokenKind::Newline | TokenKind::End);
        if self.cursor.peek() == TokenKind::Newline && self.cursor.next_line_continues(true) {
            return self.missing_continuation(wanted);
        }
        // A line end is shown where the last token ends: before a comment, and on its line.
        let end = Span { start: self.cursor.last_span().end, end: self.cursor.last_span().end };
        let place = if at_line_end { end } else { self.cursor.span() };
        let mut d = Diagnostic::new(Code::UnexpectedToken, place, format!("expected {wanted}, found {}", self.cursor.found()));
        if let Some(open) = open.filter(|_| at_line_end) {
            d = d.also(open, format!("this `{}` is not closed", self.cursor.text_of(open)));
        }
        d.hint = self.cursor.advice();
        self.reports.report(d)
    }

    /// A line that stops in the middle of a statement. What follows belongs to it, so it is skipped
    /// with it.
    fn missing_continuation(&mut self, wanted: &str) -> Failed {
        let next = self.cursor.tokens[self.cursor.at + 1].span;
        let d = Diagnostic::new(Code::MissingContinuation, self.cursor.last_span(), "the statement goes on after the end of its line")
            .label(format!("expected {wanted} after this"))
            .also(next, "it goes on here")
            .hint("end the line with `...` to continue the statement on the next line");
        let failed = self.reports.report(d);
        self.cursor.advance();
        self.skip_continuation_lines();
        failed
    }

    /// Skips the rest of this line and the lines that go on with it.
    pub(super) fn skip_continuation_lines(&mut self) {
        self.skip_to_line_end();
        while self.cursor.peek() == TokenKind::Newline && self.cursor.next_line_continues(is_unfinished(self.cursor.last_kind())) {
            self.cursor.advance();
            self.skip_to_line_end();
        }
    }

    /// Skips the rest of the line, and the block it opens, if any, which is read for its errors and
    /// returned.
    pub(super) fn recover(&mut self) -> Option<Block> {
        self.skip_to_line_end();
        let opens_here = self.cursor.at > 0 && self.cursor.tokens[self.cursor.at - 1].kind == TokenKind::LeftBrace;
        let mut next = self.cursor.at;
        while self.cursor.tokens[next].kind == TokenKind::Newline {
            next += 1;
        }
        if opens_here {
            self.cursor.at -= 1;
        } else if self.cursor.tokens[next].kind == TokenKind::LeftBrace {
            self.cursor.at = next;
        } else {
            return None;
        }
        // The block's own mistakes are independent of its head's.
        self.reports.reported = false;
        if self.depth >= MAX_DEPTH {
            self.cursor.skip_block();
            return None;
        }
        let block = self.block().ok()?;
        self.skip_to_line_end();
        Some(block)
    }

    /// Skips to the line end, or to a `}` that closes the block around this line.
    pub(super) fn skip_to_line_end(&mut self) {
        let mut open = 0;
        loop {
            match self.cursor.peek() {
                TokenKind::Newline | TokenKind::End => return,
                TokenKind::LeftBrace => open += 1,
                TokenKind::RightBrace if open == 0 && !self.blocks.is_empty() => return,
                TokenKind::RightBrace => open -= 1,
                _ => {}
            }
            self.cursor.advance();
        }
    }

    /// The end of the text inside the block that begins here: reported once, for the outermost one;
    /// where blocks are told by their indentation, for each.
    pub(super) fn unclosed(&mut self, block: Span) {
        if self.by_indentation {
            let next = self.cursor.tokens[self.cursor.at + usize::from(self.cursor.peek() == TokenKind::Newline)].span;
            let d = Diagnostic::new(Code::MissingBrace, block, "this block is never closed")
                .also(next, "by its indentation, this is outside of the block: a `}` is missing before it")
                .hint("add the missing `}` on a line of its own");
            self.reports.diagnostics.push(d);
            return;
        }
        let Some(&open) = self.blocks.first().filter(|_| !self.reports.unclosed_reported) else { return };
        self.reports.unclosed_reported = true;
        let d = Diagnostic::new(Code::MissingBrace, open, "this block is never closed").hint("add the missing `}` on a line of its own");
        let d = match self.misaligned {
            Some((inner, close)) => d
                .also(inner, "perhaps it is this block that lacks its `}`")
                .also(close, "it is closed by this one, which is indented otherwise"),
            None => d,
        };
        self.reports.diagnostics.push(d);
    }

    /// At a line that begins like the rest of the statement on the line before.
    pub(super) fn stray_continuation(&mut self) -> Failed {
        let before = self.cursor.tokens[self.cursor.at - 2].span;
        let d = Diagnostic::new(
            Code::MissingContinuation,
            self.cursor.span(),
            format!("a statement cannot begin with {}", self.cursor.found()),
        )
        .also(before, "if it continues this line, `...` is missing here")
        .hint("end the line before with `...`");
        let failed = self.reports.report(d);
        self.spoiled = true;
        self.skip_continuation_lines();
        failed
    }
}
