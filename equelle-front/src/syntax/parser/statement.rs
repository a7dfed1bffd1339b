//! Statements and blocks.

use super::{Failed, Parser, Result};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Block, Expr, ExprKind, Ident, Stmt, StmtKind, TypeExpr};
use crate::syntax::token::{Keyword, TokenKind};

impl Parser<'_> {
    /// The whole text.
    pub(super) fn program(&mut self) -> Vec<Stmt> {
        let mut out = Vec::new();
        loop {
            self.statements(&mut out);
            match self.peek() {
                TokenKind::RightBrace => {
                    let d = Diagnostic::new(Code::UnmatchedBrace, self.span(), "this `}` closes nothing");
                    self.diagnostics.push(d.hint("remove it, or look for a missing `{` before it"));
                    self.skip_to_line_end();
                }
                _ => return out,
            }
        }
    }

    /// Statements up to a `}` or the end of the text.
    fn statements(&mut self, out: &mut Vec<Stmt>) {
        loop {
            match self.peek() {
                TokenKind::Newline => {
                    self.advance();
                }
                TokenKind::RightBrace | TokenKind::End => return,
                _ => out.extend(self.line()),
            }
        }
    }

    /// A statement and the end of its line; after an error, the next place where a statement may begin.
    fn line(&mut self) -> Option<Stmt> {
        self.reported = false;
        let depth = self.depth;
        let statement = self.statement();
        self.depth = depth;
        let ended = statement.is_ok() && self.end_of_statement().is_ok();
        if !ended {
            self.recover();
        }
        statement.ok()
    }

    fn end_of_statement(&mut self) -> Result<()> {
        match self.peek() {
            TokenKind::Newline | TokenKind::End => Ok(()),
            TokenKind::RightBrace if self.blocks.is_empty() => {
                let d = Diagnostic::new(Code::UnmatchedBrace, self.span(), "this `}` closes nothing");
                Err(self.report(d.hint("remove it, or look for a missing `{` before it")))
            }
            TokenKind::RightBrace => {
                if !self.inline {
                    let d = Diagnostic::new(Code::MisplacedBrace, self.span(), "`}` is not the first thing on its line");
                    self.complain(d.hint("move it to a line of its own"));
                }
                Ok(())
            }
            _ if self.last_kind() == TokenKind::RightBrace => {
                let message = format!("expected the end of the line after `}}`, found {}", self.found());
                let d = Diagnostic::new(Code::MisplacedBrace, self.span(), message);
                Err(self.report(d.hint("only a comment may follow `}` on its line")))
            }
            _ => Err(self.unexpected("an operator or the end of the line")),
        }
    }

    fn statement(&mut self) -> Result<Stmt> {
        let start = self.span();
        let kind = match (self.peek(), self.peek_at(1)) {
            (TokenKind::Name | TokenKind::Builtin | TokenKind::Keyword(_), TokenKind::Colon) => self.declaration()?,
            (TokenKind::Name | TokenKind::Builtin | TokenKind::Keyword(_), TokenKind::Assign) => {
                let name = self.expect_name("the name of a variable")?;
                self.advance();
                StmtKind::Assignment { name, ty: None, value: self.expression()? }
            }
            (TokenKind::Name | TokenKind::Builtin, TokenKind::LeftParen) => self.call_or_definition()?,
            (TokenKind::Keyword(Keyword::For), _) => self.for_loop()?,
            (TokenKind::Arrow, _) => {
                self.advance();
                StmtKind::Return(self.expression()?)
            }
            (TokenKind::LeftBrace, _) => {
                let d = Diagnostic::new(Code::MisplacedBrace, start, "this block belongs to no function and no `For`");
                return Err(self.report(d.hint("a block follows `name(parameters) =` or `For name In sequence`")));
            }
            (TokenKind::Keyword(Keyword::Function), _) => {
                let d = Diagnostic::new(Code::UnexpectedToken, start, "a statement cannot begin with `Function`");
                return Err(self.report(d.hint("declare with `f : Function(x : Scalar) -> Scalar`, define with `f(x) = {`")));
            }
            _ if self.line_is_continuation() => return Err(self.stray_continuation()),
            _ => return Err(self.expression_statement()),
        };
        Ok(Stmt { kind, span: start.to(self.last_span()) })
    }

    /// `name : type`, `name : type = value`, `name : Function(...) -> type`
    fn declaration(&mut self) -> Result<StmtKind> {
        let name = self.expect_name("the name of a variable")?;
        self.advance();
        if self.peek() == TokenKind::Keyword(Keyword::Function) {
            return self.function_declaration(name);
        }
        let ty = self.type_expr()?;
        if self.eat(TokenKind::Assign) {
            return Ok(StmtKind::Assignment { name, ty: Some(ty), value: self.expression()? });
        }
        match self.peek() {
            TokenKind::Newline | TokenKind::End | TokenKind::RightBrace => Ok(StmtKind::Declaration { name, ty }),
            _ => Err(self.unexpected("`=` or the end of the line")),
        }
    }

    fn function_declaration(&mut self, name: Ident) -> Result<StmtKind> {
        self.advance();
        self.expect(TokenKind::LeftParen, "`(` after `Function`")?;
        let mut params: Vec<(Ident, TypeExpr)> = Vec::new();
        if !self.eat(TokenKind::RightParen) {
            loop {
                if matches!(self.peek(), TokenKind::Comma | TokenKind::RightParen) {
                    let message = format!("expected a parameter, found `{}`", self.text_of(self.span()));
                    let d = Diagnostic::new(Code::MissingArgument, self.span(), message);
                    return Err(self.report(d.hint("remove the comma, or write a parameter such as `x : Scalar`")));
                }
                params.push(self.declared_parameter()?);
                match self.peek() {
                    TokenKind::Comma => {
                        self.advance();
                    }
                    TokenKind::RightParen => {
                        self.advance();
                        break;
                    }
                    _ => return Err(self.unexpected("`,` or `)`")),
                }
            }
        }
        self.expect(TokenKind::Arrow, "`->` and the type of the result")?;
        let result = self.type_expr()?;
        if self.peek() == TokenKind::Assign {
            let d = Diagnostic::new(Code::DeclarationWithBody, self.span(), "a function is declared and defined in two statements");
            let names: Vec<&str> = params.iter().map(|(p, _)| p.name.as_str()).collect();
            let definition = format!("{}({}) = {{", name.name, names.join(", "));
            return Err(self.report(d.hint(format!("end the declaration here and begin the definition on the next line: `{definition}`"))));
        }
        Ok(StmtKind::FunctionDeclaration { name, params, result })
    }

    /// `f(...)`, `f(...) = {`, `f(...) = value`
    fn call_or_definition(&mut self) -> Result<StmtKind> {
        let begin = self.at;
        let callee_span = self.advance().span;
        let name = Ident { name: self.text_of(callee_span).to_owned(), span: callee_span };
        self.advance();
        let (args, _, close) = self.list(TokenKind::RightParen, "an argument")?;
        match self.peek() {
            TokenKind::Assign => {}
            TokenKind::Newline | TokenKind::End | TokenKind::RightBrace | TokenKind::Error => {
                return Ok(StmtKind::Call(Expr { kind: ExprKind::Call { callee: name, args }, span: callee_span.to(close) }));
            }
            TokenKind::LeftBrace => {
                let d = Diagnostic::new(Code::UnexpectedToken, self.span(), "expected `=` before the body of a function, found `{`");
                return Err(self.report(d.hint(format!("write `{} = {{`", self.text_of(callee_span.to(close))))));
            }
            _ => {
                self.at = begin;
                return Err(self.expression_statement());
            }
        }
        if self.tokens[begin].kind == TokenKind::Builtin {
            self.at = begin;
            return Err(self.upper_case_name("the name of a function"));
        }
        self.advance();
        if !self.at_block() {
            return Ok(StmtKind::StencilAssignment { name, indices: args, value: self.expression()? });
        }
        let params = args.into_iter().filter_map(|arg| self.parameter(arg)).collect();
        Ok(StmtKind::FunctionDefinition { name, params, body: self.block()? })
    }

    /// The name of a parameter; reports anything else.
    fn parameter(&mut self, arg: Expr) -> Option<Ident> {
        if let ExprKind::Name(name) = arg.kind {
            return Some(Ident { name, span: arg.span });
        }
        let d = Diagnostic::new(Code::InvalidParameter, arg.span, "a parameter of a function definition must be a plain name");
        self.complain(d.hint("name the parameter here and use it in the body"));
        None
    }

    fn for_loop(&mut self) -> Result<StmtKind> {
        self.advance();
        let variable = self.expect_name("the name of the loop variable")?;
        self.expect_keyword(Keyword::In, "`In` after the loop variable")?;
        let sequence = self.expression()?;
        if !self.at_block() {
            return Err(self.unexpected("`{`"));
        }
        Ok(StmtKind::For { variable, sequence, body: self.block()? })
    }

    /// Whether a block begins here, blank lines left aside.
    fn at_block(&self) -> bool {
        let next = self.tokens[self.at..].iter().find(|t| t.kind != TokenKind::Newline);
        next.is_some_and(|t| t.kind == TokenKind::LeftBrace)
    }

    /// `{`, statements, `}`. Blank lines before it are skipped.
    pub(super) fn block(&mut self) -> Result<Block> {
        self.descend()?;
        while self.eat(TokenKind::Newline) {}
        let open = self.expect(TokenKind::LeftBrace, "`{`")?;
        let outer_inline = self.inline;
        self.inline = !matches!(self.peek(), TokenKind::Newline | TokenKind::End);
        if self.inline && !outer_inline {
            let d = Diagnostic::new(Code::MisplacedBrace, open, "`{` is not the last thing on its line");
            self.complain(d.hint("begin the first statement of the block, and the `}`, on lines of their own"));
        }
        self.blocks.push(open);
        let mut statements = Vec::new();
        self.statements(&mut statements);
        if self.peek() == TokenKind::End {
            self.unclosed();
        }
        self.blocks.pop();
        self.inline = outer_inline;
        let close = self.span();
        if self.eat(TokenKind::RightBrace) && self.misaligned.is_none() && self.indent(open) != self.indent(close) {
            self.misaligned = Some((open, close));
        }
        self.depth -= 1;
        // Whatever the statements inside reported, the rest of this line is a new matter.
        self.reported = false;
        Ok(Block { statements, span: open.to(close) })
    }

    /// Reports the end of the text inside a block: once, for the outermost one.
    fn unclosed(&mut self) {
        let Some(&open) = self.blocks.first().filter(|_| !self.unclosed_reported) else { return };
        self.unclosed_reported = true;
        let d = Diagnostic::new(Code::MissingBrace, open, "this block is never closed").hint("add the missing `}` on a line of its own");
        let d = match self.misaligned {
            Some((inner, close)) => d
                .also(inner, "perhaps it is this block that lacks its `}`:")
                .also(close, "it is closed by this one, which is indented otherwise"),
            None => d,
        };
        self.diagnostics.push(d);
    }

    /// Number of blanks at the beginning of the line of a place, up to a bound.
    fn indent(&self, place: Span) -> usize {
        let line = self.line_starts.partition_point(|&s| s <= place.start);
        let start = self.line_starts[line.saturating_sub(1)] as usize;
        self.text.as_bytes()[start..].iter().take(256).take_while(|b| matches!(b, b' ' | b'\t')).count()
    }

    /// Whether this line begins like the rest of the statement on the line before.
    fn line_is_continuation(&self) -> bool {
        let follows_statement = self.at >= 2 && !matches!(self.tokens[self.at - 2].kind, TokenKind::Newline | TokenKind::LeftBrace | TokenKind::RightBrace);
        follows_statement && (self.peek() == TokenKind::Minus || super::recovery::cannot_begin_statement(self.peek()))
    }

    fn stray_continuation(&mut self) -> Failed {
        let before = self.tokens[self.at - 2].span;
        let d = Diagnostic::new(Code::MissingContinuation, self.span(), format!("a line cannot begin with {}", self.found()))
            .also(before, "if this line continues the one before, `...` is missing after this")
            .hint("end the line before with `...`");
        let failed = self.report(d);
        self.skip_continuation_lines();
        failed
    }

    /// Says why an expression, or something like one, is not a statement.
    fn expression_statement(&mut self) -> Failed {
        let start = self.at;
        if let Some(hint) = self.foreign_statement() {
            let d = Diagnostic::new(Code::UnexpectedToken, self.span(), format!("expected a statement, found {}", self.found()));
            return self.report(d.hint(hint));
        }
        if !begins_expression(self.peek()) {
            return self.unexpected("a statement");
        }
        let expr = match self.expression() {
            Ok(expr) => expr,
            Err(failed) => return failed,
        };
        match self.peek() {
            TokenKind::Assign => {
                let d = Diagnostic::new(Code::ExpressionStatement, expr.span, "only a name can be assigned to");
                let hint = match expr.kind {
                    ExprKind::Index { .. } => "arrays are assigned as a whole: `a = [x, y]`",
                    _ => "write `name = value`",
                };
                self.report(d.hint(hint))
            }
            TokenKind::Newline | TokenKind::End | TokenKind::RightBrace => {
                let d = Diagnostic::new(Code::ExpressionStatement, expr.span, "an expression is not a statement");
                let hint = match &expr.kind {
                    ExprKind::Binary { op: BinaryOp::Equal, left, .. } if matches!(left.kind, ExprKind::Name(_)) => {
                        "to assign write a single `=`".to_owned()
                    }
                    ExprKind::Name(name) => format!("to call a function write `{name}()`; to show a value write `Output(\"{name}\", {name})`"),
                    _ => "give the value a name, `x = ...`, or write it out, `Output(\"x\", ...)`".to_owned(),
                };
                self.report(d.hint(hint))
            }
            _ if self.at == start + 1 && self.tokens[start].kind == TokenKind::Name => self.unexpected("`=`, `:` or `(` after the name"),
            _ => self.unexpected("an operator or the end of the line"),
        }
    }

    /// A hint for a line that begins like a statement of another language.
    fn foreign_statement(&self) -> Option<String> {
        let after = self.peek_at(1);
        let bare = self.peek() == TokenKind::Name && matches!(after, TokenKind::Name | TokenKind::Number { .. } | TokenKind::Builtin);
        bare.then(|| self.advice()).flatten()
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
