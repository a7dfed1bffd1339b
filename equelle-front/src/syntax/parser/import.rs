//! `Import "path" (name, ...)`

use super::{Parser, Result};
use crate::diagnostic::{Code, Diagnostic};
use crate::syntax::ast::{ImportPath, StmtKind};
use crate::syntax::parser::expression::unescape;
use crate::syntax::token::TokenKind;

impl Parser<'_> {
    pub(super) fn import(&mut self) -> Result<StmtKind> {
        self.cursor.advance();
        let span = self.expect(TokenKind::Text, "the text to import, between quotes")?;
        let path = Some(ImportPath { text: unescape(self.cursor.text_of(span)), span });
        let open = self.expect(TokenKind::LeftParen, "`(` and the names to import")?;
        if self.cursor.peek() == TokenKind::RightParen {
            let d =
                Diagnostic::new(Code::MissingArgument, self.cursor.span(), "an import lists the names that it brings, and this has none");
            return Err(self.reports.report(d.hint("write the names of functions and constants between the brackets: `(f, g)`")));
        }
        let mut names = Vec::new();
        loop {
            if matches!(self.cursor.peek(), TokenKind::Comma | TokenKind::RightParen) {
                return Err(self.mistakes().missing_item("a name"));
            }
            names.push(self.expect_name("the name of a function or constant")?);
            if !self.cursor.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(TokenKind::RightParen, "`,` or `)`", open)?;
        Ok(StmtKind::Import { path, names })
    }
}
