//! A place between the tokens of a text, and what stands around it.

use crate::source::Span;
use crate::syntax::token::{Keyword, Token, TokenKind};

/// Tokens with the place of the next one.
pub(super) struct Cursor<'t> {
    text: &'t str,
    pub line_starts: Vec<u32>,
    /// Ends with [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// Index of the next token; never past the last one.
    pub at: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str, tokens: Vec<Token>) -> Self {
        let mut line_starts = vec![0];
        line_starts.extend(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1));
        Cursor { text, line_starts, tokens, at: 0 }
    }

    pub fn peek(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    /// The kind of the token `n` places after the next one.
    pub fn peek_at(&self, n: usize) -> TokenKind {
        self.tokens.get(self.at + n).map_or(TokenKind::End, |t| t.kind)
    }

    pub fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The span of the token before the next one.
    pub fn last_span(&self) -> Span {
        match self.at {
            0 => Span::default(),
            n => self.tokens[n - 1].span,
        }
    }

    pub fn last_kind(&self) -> TokenKind {
        if self.at == 0 { TokenKind::Newline } else { self.tokens[self.at - 1].kind }
    }

    pub fn text_of(&self, span: Span) -> &'t str {
        &self.text[span.range()]
    }

    pub fn advance(&mut self) -> Token {
        let token = self.tokens[self.at];
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    pub fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == kind;
        if found {
            self.advance();
        }
        found
    }

    /// The next token in words.
    pub fn found(&self) -> String {
        let span = self.span();
        match self.peek() {
            TokenKind::Newline => "the end of the line".to_owned(),
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Keyword(word) => format!("`{}`", word.as_str()),
            TokenKind::Number { .. } => format!("the number `{}`", self.text_of(span)),
            TokenKind::Text => "a string".to_owned(),
            TokenKind::Name | TokenKind::Builtin => format!("the name `{}`", self.text_of(span)),
            kind => format!("`{}`", kind.symbol().unwrap_or("?")),
        }
    }

    /// True if a block begins here, blank lines left aside.
    pub fn at_block(&self) -> bool {
        let next = self.tokens[self.at..].iter().find(|t| t.kind != TokenKind::Newline);
        next.is_some_and(|t| t.kind == TokenKind::LeftBrace)
    }

    /// True if the `}` of a block whose `{` was just read stands on the same line.
    pub fn closes_on_this_line(&self) -> bool {
        let mut depth = 1;
        for token in &self.tokens[self.at..] {
            match token.kind {
                TokenKind::LeftBrace => depth += 1,
                TokenKind::RightBrace => depth -= 1,
                TokenKind::Newline | TokenKind::End => return false,
                _ => {}
            }
            if depth == 0 {
                return true;
            }
        }
        false
    }

    /// Number of blanks at the beginning of the line of a place, up to a bound.
    pub fn indent(&self, place: Span) -> usize {
        let line = self.line_starts.partition_point(|&s| s <= place.start);
        let start = self.line_starts[line.saturating_sub(1)] as usize;
        self.text.as_bytes()[start..].iter().take(256).take_while(|b| matches!(b, b' ' | b'\t')).count()
    }

    /// True if this line begins like the rest of the statement on the line before.
    pub fn line_is_continuation(&self) -> bool {
        let follows_statement =
            self.at >= 2 && !matches!(self.tokens[self.at - 2].kind, TokenKind::Newline | TokenKind::LeftBrace | TokenKind::RightBrace);
        follows_statement && (self.peek() == TokenKind::Minus || cannot_begin_statement(self.peek()))
    }

    /// True if the line after this line end cannot be a statement of its own. Where something is
    /// `wanted`, a bare operand will do.
    pub fn next_line_continues(&self, wanted: bool) -> bool {
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

    /// Skips a block without reading it.
    pub fn skip_block(&mut self) {
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
fn cannot_begin_statement(kind: TokenKind) -> bool {
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
pub(super) fn is_unfinished(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Minus | TokenKind::LeftParen | TokenKind::LeftBracket)
        || (cannot_begin_statement(kind) && !matches!(kind, TokenKind::RightParen | TokenKind::RightBracket))
}
