//! Statements and blocks.

use super::{Failed, Parser, Result};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Block, Expr, ExprKind, Ident, LoopTest, Stmt, StmtKind, TypeExpr, TypeExprKind};
use crate::syntax::token::{Keyword, Token, TokenKind};

impl Parser<'_> {
    /// The whole text.
    pub(super) fn program(&mut self) -> Vec<Stmt> {
        let mut out = Vec::new();
        loop {
            self.statements(&mut out);
            match self.cursor.peek() {
                TokenKind::RightBrace => {
                    self.reports.reported = false;
                    self.mistakes().closing_nothing();
                    self.skip_to_line_end();
                }
                _ => return out,
            }
        }
    }

    /// Statements up to a `}` or the end of the text.
    fn statements(&mut self, out: &mut Vec<Stmt>) {
        // Where blocks are told by their indentation: the greatest one that is outside.
        let mut outside = None;
        loop {
            match self.cursor.peek() {
                TokenKind::Newline => {
                    self.cursor.advance();
                }
                TokenKind::RightBrace | TokenKind::End => return,
                _ => {
                    if self.by_indentation
                        && self.cursor.last_kind() == TokenKind::Newline
                        && let Some(&open) = self.blocks.last()
                    {
                        let (block, here) = (self.cursor.indent(open), self.cursor.indent(self.cursor.span()));
                        if outside.is_none() && here > block {
                            outside = Some(block);
                        }
                        if outside.is_some_and(|outside| here <= outside) {
                            // Back to the line end, as after a block that is closed.
                            self.cursor.at -= 1;
                            return;
                        }
                    }
                    let next = self.line();
                    if std::mem::take(&mut self.spoiled)
                        && let Some(last) = out.last_mut()
                    {
                        spoil(last);
                    }
                    out.extend(next);
                }
            }
        }
    }

    /// A statement and the end of its line; after an error, the next place where a statement may
    /// begin.
    fn line(&mut self) -> Option<Stmt> {
        self.reports.reported = false;
        let (depth, begin) = (self.depth, self.cursor.at);
        let statement = self.statement();
        self.depth = depth;
        match statement {
            Ok(mut statement) => {
                if self.end_of_statement().is_err() {
                    spoil(&mut statement);
                    self.recover();
                }
                Some(statement)
            }
            Err(Failed) => {
                let body = self.recover();
                self.salvage(begin, body)
            }
        }
    }

    /// Salvages the names that others may use from a statement that could not be read. `body` is
    /// the block it opens.
    fn salvage(&mut self, begin: usize, body: Option<Block>) -> Option<Stmt> {
        let line = || self.cursor.tokens[begin..].iter().take_while(|t| !matches!(t.kind, TokenKind::Newline | TokenKind::End));
        let kind = |n: usize| self.cursor.tokens.get(begin + n).map_or(TokenKind::End, |t| t.kind);
        let ident = |span: Span| Ident { name: self.cursor.text_of(span).to_owned(), span };
        let first = self.cursor.tokens[begin].span;
        let span = first.to(line().last().map_or(first, |t| t.span));
        // A block that this is the head of may have many lines; the error stands for what is on
        // this one.
        let error = || Expr { kind: ExprKind::Error, span };
        let no_type = || TypeExpr { kind: TypeExprKind::Error, span };
        let kind = match (kind(0), kind(1)) {
            (TokenKind::Builtin, TokenKind::Assign | TokenKind::LeftParen | TokenKind::Colon) => {
                let introduced = kind(1) != TokenKind::LeftParen || line().any(|t| t.kind == TokenKind::Assign);
                if introduced {
                    let name = self.cursor.text_of(first);
                    self.upper_names.insert(name);
                }
                return None;
            }
            (TokenKind::Name, TokenKind::Colon) if kind(2) == TokenKind::Keyword(Keyword::Function) => {
                // A declaration and a definition in one: its parameters are the names before a
                // colon.
                let params =
                    line().skip(2).zip(line().skip(3)).filter(|(_, next)| next.kind == TokenKind::Colon).map(|(t, _)| ident(t.span));
                StmtKind::FunctionDefinition { name: ident(first), params: params.collect(), body: body? }
            }
            (TokenKind::Name, TokenKind::Colon) => {
                let value = line().any(|t| t.kind == TokenKind::Assign).then(error);
                match value {
                    Some(value) => StmtKind::Assignment { name: ident(first), ty: Some(no_type()), value },
                    None => StmtKind::Declaration { name: ident(first), ty: no_type() },
                }
            }
            (TokenKind::Name, TokenKind::Assign | TokenKind::Equal) => {
                StmtKind::Assignment { name: ident(first), ty: None, value: error() }
            }
            (TokenKind::Name, TokenKind::LeftParen) => {
                let opens = |t: &&Token| matches!(t.kind, TokenKind::LeftParen | TokenKind::Comma);
                let params = line().skip(1).zip(line().skip(2)).filter(|(t, _)| opens(t)).map(|(_, next)| ident(next.span));
                StmtKind::FunctionDefinition { name: ident(first), params: params.collect(), body: body? }
            }
            (TokenKind::Keyword(Keyword::For), TokenKind::Name) => {
                StmtKind::For { variable: ident(self.cursor.tokens[begin + 1].span), sequence: error(), body: body? }
            }
            (TokenKind::Keyword(Keyword::While), _) => StmtKind::Conditional { test: LoopTest::While, condition: error(), body: body? },
            (TokenKind::Keyword(Keyword::Repeat), _) => StmtKind::Conditional { test: LoopTest::Until, condition: error(), body: body? },
            (TokenKind::Arrow, _) => StmtKind::Return(error()),
            (TokenKind::Keyword(Keyword::Import), _) => {
                // A name after an opening bracket or a comma would have been imported.
                let opens = |t: &Token| matches!(t.kind, TokenKind::LeftParen | TokenKind::Comma);
                let names = line().zip(line().skip(1)).filter(|(t, next)| opens(t) && next.kind == TokenKind::Name);
                StmtKind::Import { path: None, names: names.map(|(_, next)| ident(next.span)).collect() }
            }
            _ => return None,
        };
        Some(Stmt { kind, span })
    }

    fn end_of_statement(&mut self) -> Result<()> {
        match self.cursor.peek() {
            TokenKind::Newline | TokenKind::End => Ok(()),
            TokenKind::RightBrace if self.blocks.is_empty() => Err(self.mistakes().closing_nothing()),
            TokenKind::RightBrace => {
                if !self.inline {
                    self.mistakes().brace_not_first();
                }
                Ok(())
            }
            _ if self.cursor.last_kind() == TokenKind::RightBrace => Err(self.mistakes().after_closing_brace()),
            _ => Err(self.unexpected("an operator or the end of the line")),
        }
    }

    fn statement(&mut self) -> Result<Stmt> {
        let start = self.cursor.span();
        let kind = match (self.cursor.peek(), self.cursor.peek_at(1)) {
            (TokenKind::Name | TokenKind::Builtin | TokenKind::Keyword(_), TokenKind::Colon) => self.declaration()?,
            (TokenKind::Name | TokenKind::Builtin | TokenKind::Keyword(_), TokenKind::Assign) => {
                let name = self.expect_name("the name of a variable")?;
                self.cursor.advance();
                StmtKind::Assignment { name, ty: None, value: self.expression()? }
            }
            (TokenKind::Name | TokenKind::Builtin, TokenKind::LeftParen) => self.call_or_definition()?,
            (TokenKind::Keyword(Keyword::For), _) => self.for_loop()?,
            (TokenKind::Keyword(Keyword::While), _) => self.conditional_loop(LoopTest::While)?,
            (TokenKind::Keyword(Keyword::Repeat), _) => self.conditional_loop(LoopTest::Until)?,
            (TokenKind::Keyword(Keyword::Import), _) => self.import()?,
            (TokenKind::Arrow, _) => {
                self.cursor.advance();
                StmtKind::Return(self.expression()?)
            }
            (TokenKind::LeftBrace, _) => return Err(self.mistakes().block_of_nothing()),
            (TokenKind::Keyword(Keyword::Function), _) => return Err(self.mistakes().begins_with_function()),
            _ if self.cursor.line_is_continuation() => return Err(self.stray_continuation()),
            _ => return Err(self.expression_statement()),
        };
        Ok(Stmt { kind, span: start.to(self.cursor.last_span()) })
    }

    /// `name : type`, `name : type = value`, `name : Function(...) -> type`
    fn declaration(&mut self) -> Result<StmtKind> {
        let name = self.expect_name("the name of a variable")?;
        self.cursor.advance();
        if self.cursor.peek() == TokenKind::Keyword(Keyword::Function) {
            return self.function_declaration(name);
        }
        let ty = self.type_expr()?;
        if self.cursor.eat(TokenKind::Assign) {
            return Ok(StmtKind::Assignment { name, ty: Some(ty), value: self.expression()? });
        }
        match self.cursor.peek() {
            TokenKind::Newline | TokenKind::End | TokenKind::RightBrace => Ok(StmtKind::Declaration { name, ty }),
            _ => Err(self.unexpected("`=` or the end of the line")),
        }
    }

    fn function_declaration(&mut self, name: Ident) -> Result<StmtKind> {
        self.cursor.advance();
        self.expect(TokenKind::LeftParen, "`(` after `Function`")?;
        let mut params: Vec<(Ident, TypeExpr)> = Vec::new();
        if !self.cursor.eat(TokenKind::RightParen) {
            loop {
                if matches!(self.cursor.peek(), TokenKind::Comma | TokenKind::RightParen) {
                    return Err(self.mistakes().missing_item("a parameter"));
                }
                params.push(self.declared_parameter()?);
                match self.cursor.peek() {
                    TokenKind::Comma => {
                        self.cursor.advance();
                    }
                    TokenKind::RightParen => {
                        self.cursor.advance();
                        break;
                    }
                    _ => return Err(self.unexpected("`,` or `)`")),
                }
            }
        }
        self.expect(TokenKind::Arrow, "`->` and the type of the result")?;
        let result = self.type_expr()?;
        if self.cursor.peek() == TokenKind::Assign {
            let names: Vec<&str> = params.iter().map(|(p, _)| p.name.as_str()).collect();
            return Err(self.mistakes().declaration_with_body(&name.name, &names));
        }
        Ok(StmtKind::FunctionDeclaration { name, params, result })
    }

    /// `f(...)`, `f(...) = {`, `f(...) = value`
    fn call_or_definition(&mut self) -> Result<StmtKind> {
        let begin = self.cursor.at;
        let callee_span = self.cursor.advance().span;
        let name = Ident { name: self.cursor.text_of(callee_span).to_owned(), span: callee_span };
        self.cursor.advance();
        let (args, _, close) = self.list(TokenKind::RightParen, "an argument")?;
        match self.cursor.peek() {
            TokenKind::Assign => {}
            TokenKind::Newline | TokenKind::End | TokenKind::RightBrace | TokenKind::Error => {
                return Ok(StmtKind::Call(Expr { kind: ExprKind::Call { callee: name, args }, span: callee_span.to(close) }));
            }
            TokenKind::LeftBrace => return Err(self.mistakes().body_without_assign(callee_span.to(close))),
            _ => {
                self.cursor.at = begin;
                return Err(self.expression_statement());
            }
        }
        if self.cursor.tokens[begin].kind == TokenKind::Builtin {
            self.cursor.at = begin;
            return Err(self.mistakes().upper_case_name("the name of a function"));
        }
        self.cursor.advance();
        if !self.cursor.at_block() {
            return Ok(StmtKind::StencilAssignment { name, indices: args, value: self.expression()? });
        }
        let params = args.into_iter().map(|arg| self.parameter(arg)).collect();
        Ok(StmtKind::FunctionDefinition { name, params, body: self.block()? })
    }

    /// The name of a parameter; reports anything else.
    fn parameter(&mut self, arg: Expr) -> Ident {
        let span = arg.span;
        match arg.kind {
            ExprKind::Name(name) => Ident { name, span },
            _ => {
                self.mistakes().odd_parameter(span);
                // No name can be written like this; the place is kept so that calls are counted
                // rightly.
                Ident { name: format!("_{}", span.start), span }
            }
        }
    }

    fn for_loop(&mut self) -> Result<StmtKind> {
        self.cursor.advance();
        let variable = self.expect_name("the name of the loop variable")?;
        self.expect_keyword(Keyword::In, "`In` after the loop variable")?;
        let sequence = self.expression()?;
        if !self.cursor.at_block() {
            return Err(self.unexpected("`{`"));
        }
        Ok(StmtKind::For { variable, sequence, body: self.block()? })
    }

    fn conditional_loop(&mut self, test: LoopTest) -> Result<StmtKind> {
        self.cursor.advance();
        match test {
            LoopTest::While => {}
            LoopTest::Until => {
                self.expect_keyword(Keyword::Until, "`Until` and a condition after `Repeat`")?;
            }
        }
        let condition = self.expression()?;
        if !self.cursor.at_block() {
            return Err(self.unexpected("`{`"));
        }
        Ok(StmtKind::Conditional { test, condition, body: self.block()? })
    }

    /// `{`, statements, `}`, over several lines or with one statement on one line. Blank lines
    /// before it are skipped.
    pub(super) fn block(&mut self) -> Result<Block> {
        self.descend()?;
        while self.cursor.eat(TokenKind::Newline) {}
        let open = self.expect(TokenKind::LeftBrace, "`{`")?;
        let outer_inline = self.inline;
        self.inline = !matches!(self.cursor.peek(), TokenKind::Newline | TokenKind::End);
        if self.inline && !outer_inline && !self.cursor.closes_on_this_line() {
            self.mistakes().brace_not_last(open);
        }
        self.blocks.push(open);
        let mut statements = Vec::new();
        self.statements(&mut statements);
        if self.cursor.peek() != TokenKind::RightBrace {
            self.unclosed(open);
        }
        self.blocks.pop();
        self.inline = outer_inline;
        let close = self.cursor.span();
        if self.cursor.eat(TokenKind::RightBrace) && self.misaligned.is_none() && self.cursor.indent(open) != self.cursor.indent(close) {
            self.misaligned = Some((open, close));
        }
        self.depth -= 1;
        // Whatever the statements inside reported, the rest of this line is a new matter.
        self.reports.reported = false;
        Ok(Block { statements, span: open.to(close) })
    }

    /// Says why an expression, or something like one, is not a statement.
    fn expression_statement(&mut self) -> Failed {
        let start = self.cursor.at;
        if let Some(hint) = self.cursor.foreign_statement() {
            let d =
                Diagnostic::new(Code::UnexpectedToken, self.cursor.span(), format!("expected a statement, found {}", self.cursor.found()));
            return self.reports.report(d.hint(hint));
        }
        if !begins_expression(self.cursor.peek()) {
            return self.unexpected("a statement");
        }
        let expr = match self.expression() {
            Ok(expr) => expr,
            Err(failed) => return failed,
        };
        match self.cursor.peek() {
            TokenKind::Assign | TokenKind::Newline | TokenKind::End | TokenKind::RightBrace => self.mistakes().not_a_statement(&expr),
            _ if self.cursor.at == start + 1 && self.cursor.tokens[start].kind == TokenKind::Name => {
                self.unexpected("`=`, `:` or `(` after the name")
            }
            _ => self.unexpected("an operator or the end of the line"),
        }
    }
}

/// Makes the value of a statement unknown: it was read to its end, but that was not the end.
fn spoil(stmt: &mut Stmt) {
    match &mut stmt.kind {
        StmtKind::Assignment { value, .. }
        | StmtKind::StencilAssignment { value, .. }
        | StmtKind::Return(value)
        | StmtKind::Call(value) => {
            value.kind = ExprKind::Error;
        }
        StmtKind::Declaration { ty, .. } => ty.kind = TypeExprKind::Error,
        StmtKind::Import { path, .. } => *path = None,
        StmtKind::FunctionDeclaration { .. }
        | StmtKind::FunctionDefinition { .. }
        | StmtKind::For { .. }
        | StmtKind::Conditional { .. } => {}
    }
}

fn begins_expression(kind: TokenKind) -> bool {
    match kind {
        TokenKind::Name
        | TokenKind::Builtin
        | TokenKind::Number { .. }
        | TokenKind::Text
        | TokenKind::Minus
        | TokenKind::LeftParen
        | TokenKind::LeftBracket
        | TokenKind::Bar => true,
        TokenKind::Keyword(word) => matches!(word, Keyword::Not | Keyword::True | Keyword::False),
        _ => false,
    }
}
