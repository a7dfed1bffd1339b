//! `Import "path" (name, ...)`

use super::{Parser, Result};
use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::{ImportPath, StmtKind};
use crate::syntax::parser::expression::unescape;
use crate::syntax::token::TokenKind;

impl Parser<'_> {
    pub(super) fn import(&mut self) -> Result<StmtKind> {
        self.advance();
        let span = self.expect(TokenKind::Text, "the text to import, between quotes")?;
        let path = Some(ImportPath { text: unescape(self.text_of(span)), span });
        let open = self.expect(TokenKind::LeftParen, "`(` and the names to import")?;
        if self.peek() == TokenKind::RightParen {
            let d = Diagnostic::new(Code::MissingArgument, self.span(), "an import lists the names that it brings, and this has none");
            return Err(self.report(d.hint("write the names of functions and constants between the brackets: `(f, g)`")));
        }
        let mut names = Vec::new();
        loop {
            if matches!(self.peek(), TokenKind::Comma | TokenKind::RightParen) {
                return Err(self.missing_item("a name"));
            }
            names.push(self.expect_name("the name of a function or constant")?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(TokenKind::RightParen, "`,` or `)`", open)?;
        Ok(StmtKind::Import { path, names })
    }
}
