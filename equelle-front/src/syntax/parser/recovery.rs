//! Messages about unexpected tokens, and recovery from them.

use super::{Failed, MAX_DEPTH, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::Block;
use crate::syntax::token::{Keyword, Token, TokenKind};

impl Parser<'_> {
    /// Reports that `wanted` should stand here. Says nothing about a place the lexer has reported.
    pub(super) fn unexpected(&mut self, wanted: &str) -> Failed {
        self.unexpected_within(wanted, None)
    }

    /// The same inside a bracket, which is shown if the line or the text ends before it is closed.
    pub(super) fn unexpected_within(&mut self, wanted: &str, open: Option<Span>) -> Failed {
        if self.peek() == TokenKind::Error {
            self.reported = true;
            return Failed;
        }
        let at_line_end = matches!(self.peek(), TokenKind::Newline | TokenKind::End);
        if self.peek() == TokenKind::Newline && self.next_line_continues(true) {
            return self.missing_continuation(wanted);
        }
        // A line end is shown where the last token ends: before a comment, and on its line.
        let end = Span { start: self.last_span().end, end: self.last_span().end };
        let place = if at_line_end { end } else { self.span() };
        let mut d = Diagnostic::new(Code::UnexpectedToken, place, format!("expected {wanted}, found {}", self.found()));
        if let Some(open) = open.filter(|_| at_line_end) {
            d = d.also(open, format!("this `{}` is not closed", self.text_of(open)));
        }
        d.hint = self.advice();
        self.report(d)
    }

    /// A line that stops in the middle of a statement. What follows belongs to it, so it is skipped
    /// with it.
    fn missing_continuation(&mut self, wanted: &str) -> Failed {
        let next = self.tokens[self.at + 1].span;
        let d = Diagnostic::new(Code::MissingContinuation, self.last_span(), "the statement goes on after the end of its line")
            .label(format!("expected {wanted} after this"))
            .also(next, "it goes on here")
            .hint("end the line with `...` to continue the statement on the next line");
        let failed = self.report(d);
        self.advance();
        self.skip_continuation_lines();
        failed
    }

    /// Skips the rest of this line and the lines that go on with it.
    pub(super) fn skip_continuation_lines(&mut self) {
        self.skip_to_line_end();
        while self.peek() == TokenKind::Newline && self.next_line_continues(is_unfinished(self.last_kind())) {
            self.advance();
            self.skip_to_line_end();
        }
    }

    /// True if the line after this line end cannot be a statement of its own. Where something is
    /// `wanted`, a bare operand will do.
    fn next_line_continues(&self, wanted: bool) -> bool {
        let line = self.tokens[self.at + 1..].iter().map(|t| t.kind).take_while(|k| !matches!(k, TokenKind::Newline | TokenKind::End));
        let mut level = 0i32;
        let mut kinds = Vec::new();
        for kind in line {
            match kind {
                TokenKind::LeftParen | TokenKind::LeftBracket => level += 1,
                TokenKind::RightParen | TokenKind::RightBracket => level -= 1,
                _ => {}
            }
            if level < 0 {
                return true;
            }
            kinds.push(kind);
        }
        match kinds.as_slice() {
            [] => false,
            [TokenKind::Name | TokenKind::Builtin, TokenKind::Assign, ..] => false,
            // A declaration, unlike the end of `c ? ... a : b`, has a type after the colon.
            [TokenKind::Name | TokenKind::Builtin, TokenKind::Colon, TokenKind::Keyword(_), ..] => false,
            [
                TokenKind::Keyword(Keyword::For | Keyword::While | Keyword::Repeat | Keyword::Import)
                | TokenKind::Arrow
                | TokenKind::LeftBrace
                | TokenKind::RightBrace,
                ..,
            ] => false,
            // `Output("u", u)` and `f(x) = ...` are statements; a call with an operator after it is
            // an operand.
            [TokenKind::Name | TokenKind::Builtin, TokenKind::LeftParen, ..] => !is_call_statement(&kinds),
            [first, ..] => wanted || cannot_begin_statement(*first),
        }
    }

    /// Skips the rest of the line, and the block it opens, if any, which is read for its errors and
    /// returned.
    pub(super) fn recover(&mut self) -> Option<Block> {
        self.skip_to_line_end();
        let opens_here = self.at > 0 && self.tokens[self.at - 1].kind == TokenKind::LeftBrace;
        let mut next = self.at;
        while self.tokens[next].kind == TokenKind::Newline {
            next += 1;
        }
        if opens_here {
            self.at -= 1;
        } else if self.tokens[next].kind == TokenKind::LeftBrace {
            self.at = next;
        } else {
            return None;
        }
        // The block's own mistakes are independent of its head's.
        self.reported = false;
        if self.depth >= MAX_DEPTH {
            self.skip_block();
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
            match self.peek() {
                TokenKind::Newline | TokenKind::End => return,
                TokenKind::LeftBrace => open += 1,
                TokenKind::RightBrace if open == 0 && !self.blocks.is_empty() => return,
                TokenKind::RightBrace => open -= 1,
                _ => {}
            }
            self.advance();
        }
    }

    /// Skips a block without reading it.
    fn skip_block(&mut self) {
        let mut open = 0;
        loop {
            match self.advance().kind {
                TokenKind::LeftBrace => open += 1,
                TokenKind::RightBrace => open -= 1,
                TokenKind::End => return,
                _ => {}
            }
            if open == 0 {
                return;
            }
        }
    }

    /// A hint from the unexpected token, or from a name before it that looks like a reserved word.
    pub(super) fn advice(&self) -> Option<String> {
        let before = || match self.last_kind() {
            TokenKind::Name => reserved_word_hint(self.text_of(self.last_span())),
            _ => None,
        };
        self.advice_on_token().or_else(before)
    }

    fn advice_on_token(&self) -> Option<String> {
        let word = self.text_of(self.span());
        match self.peek() {
            TokenKind::Name => match word {
                "if" | "else" => Some("there is no such statement; choose between values with `condition ? a : b`".to_owned()),
                "def" | "fn" | "func" => Some("a function is written `name(parameters) = {`".to_owned()),
                "let" | "var" | "const" | "auto" | "double" | "float" | "int" => Some("a variable is written `name = value`".to_owned()),
                "return" => Some("a function returns with `-> value`".to_owned()),
                _ => reserved_word_hint(word),
            },
            TokenKind::Builtin if matches!(self.last_kind(), TokenKind::Number { .. }) => {
                Some(format!("a unit goes in brackets: `[{word}]`"))
            }
            TokenKind::Builtin => {
                Some(format!("a function stands before its arguments: `{word}(...)`; `On` and `Extend` alone stand between"))
            }
            TokenKind::Caret => Some("`^` stands between a base and an exponent: `a^2`".to_owned()),
            TokenKind::Colon => Some("`:` declares a variable (`x : Scalar`) or separates the values of `condition ? a : b`".to_owned()),
            TokenKind::Assign => Some(self.advice_on_assign()),
            TokenKind::Plus => Some("there is no unary `+`".to_owned()),
            TokenKind::Star if self.last_span().end == self.span().start && self.text_of(self.last_span()) == "*" => {
                Some(format!("the power operator is `^`: write `{}`", self.power_as_written()))
            }
            TokenKind::Slash if self.last_span().end == self.span().start && self.text_of(self.last_span()) == "/" => {
                Some("comments begin with `#`".to_owned())
            }
            _ => None,
        }
    }
}

impl Parser<'_> {
    /// At a `=` that is out of place: part of an operator of other languages, or a comparison.
    fn advice_on_assign(&self) -> String {
        let is_joined = self.last_span().end == self.span().start;
        let name = self.at.checked_sub(2).and_then(|at| self.tokens.get(at)).filter(|token| token.kind == TokenKind::Name);
        match (self.last_kind(), name) {
            (TokenKind::Colon, _) if is_joined => "to assign write `=`".to_owned(),
            (TokenKind::Plus | TokenKind::Minus | TokenKind::Star | TokenKind::Slash, Some(name)) if is_joined => {
                let (name, operator) = (self.text_of(name.span), self.text_of(self.last_span()));
                format!("write `{name} = {name} {operator} ...`")
            }
            (_, _) => "to compare write `==`".to_owned(),
        }
    }

    /// `base ^ exponent` with the operands of a `**` whose second star is here, where they are
    /// words.
    fn power_as_written(&self) -> String {
        let word = |token: Option<&Token>, other: &str| match token {
            Some(Token { kind: TokenKind::Name | TokenKind::Number { .. }, span }) => self.text_of(*span).to_owned(),
            _ => other.to_owned(),
        };
        let base = self.at.checked_sub(2).and_then(|at| self.tokens.get(at));
        format!("{}^{}", word(base, "a"), word(self.tokens.get(self.at + 1), "b"))
    }
}

/// For `on`, `and` and the like.
fn reserved_word_hint(word: &str) -> Option<String> {
    Keyword::from_word_ignoring_case(word).map(|k| format!("reserved words begin with an upper-case letter: `{}`", k.as_str()))
}

/// True if a line that begins with `name (` ends at the matching `)` or goes on with `=`.
fn is_call_statement(kinds: &[TokenKind]) -> bool {
    let mut level = 0;
    for (i, kind) in kinds.iter().enumerate().skip(1) {
        match kind {
            TokenKind::LeftParen => level += 1,
            TokenKind::RightParen => {
                level -= 1;
                if level == 0 {
                    return matches!(kinds.get(i + 1), None | Some(TokenKind::Assign));
                }
            }
            _ => {}
        }
    }
    true
}

/// Tokens that only make sense after something else.
pub(super) fn cannot_begin_statement(kind: TokenKind) -> bool {
    match kind {
        TokenKind::Keyword(word) => matches!(word, Keyword::On | Keyword::Extend | Keyword::And | Keyword::Or | Keyword::Xor | Keyword::Of),
        TokenKind::Colon
        | TokenKind::Assign
        | TokenKind::RightParen
        | TokenKind::Plus
        | TokenKind::Star
        | TokenKind::Slash
        | TokenKind::Caret
        | TokenKind::Less
        | TokenKind::Greater
        | TokenKind::LessEqual
        | TokenKind::GreaterEqual
        | TokenKind::Equal
        | TokenKind::NotEqual
        | TokenKind::Comma
        | TokenKind::Question
        | TokenKind::RightBracket => true,
        TokenKind::Name
        | TokenKind::Builtin
        | TokenKind::Number { .. }
        | TokenKind::Text
        | TokenKind::LeftParen
        | TokenKind::Minus
        | TokenKind::Arrow
        | TokenKind::LeftBrace
        | TokenKind::RightBrace
        | TokenKind::Bar
        | TokenKind::LeftBracket
        | TokenKind::Newline
        | TokenKind::Error
        | TokenKind::End => false,
    }
}

/// Tokens after which a statement cannot end.
fn is_unfinished(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Minus | TokenKind::LeftParen | TokenKind::LeftBracket)
        || (cannot_begin_statement(kind) && !matches!(kind, TokenKind::RightParen | TokenKind::RightBracket))
}
