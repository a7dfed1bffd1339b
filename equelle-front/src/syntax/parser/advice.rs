//! Hints from unexpected tokens.

use super::cursor::Cursor;
use crate::syntax::token::{Keyword, Token, TokenKind};

impl Cursor<'_> {
    /// A hint from the unexpected token, or from a name before it that looks like a reserved word.
    pub fn advice(&self) -> Option<String> {
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

    /// A hint for a line that begins like a statement of another language.
    pub fn foreign_statement(&self) -> Option<String> {
        let after = self.peek_at(1);
        let bare = self.peek() == TokenKind::Name && matches!(after, TokenKind::Name | TokenKind::Number { .. } | TokenKind::Builtin);
        bare.then(|| self.advice()).flatten()
    }
}

/// For `on`, `and` and the like.
fn reserved_word_hint(word: &str) -> Option<String> {
    Keyword::from_word_ignoring_case(word).map(|k| format!("reserved words begin with an upper-case letter: `{}`", k.as_str()))
}
