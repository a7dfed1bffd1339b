//! Expressions, by precedence climbing.
//!
//! | level | operators | chains |
//! | --- | --- | --- |
//! | 1 | `? :` | no; the middle operand may be one |
//! | 2 | `On` | no |
//! | 3 | `Extend` | no |
//! | 4, 5, 6 | `Or`, `Xor`, `And` | to the left |
//! | 7 | `==` `!=`, and prefix `Not` just below them | no |
//! | 8 | `<` `>` `<=` `>=` | no |
//! | 9 | `+` `-` | to the left |
//! | 10 | `*` | to the left |
//! | 11 | `/` | to the left |
//! | 13 | prefix `-` | |
//! | 14 | `[index]` | |
//! | 15 | `[unit]` after a number | |
//!
//! Division binds tighter than multiplication: `a * b / c` is `a * (b / c)`. This decides rounding, so it is part of the language.

use super::{Parser, Result};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Ident, UnaryOp};
use crate::syntax::lexer::escape;
use crate::syntax::token::{Keyword, TokenKind};

const ON: u8 = 2;
const EQUALITY: u8 = 7;
const COMPARISON: u8 = 8;
const PREFIX: u8 = 13;

const AN_EXPRESSION: &str = "an expression";

/// An infix operator with its level, and whether it chains (to the left).
fn infix(kind: TokenKind) -> Option<(BinaryOp, u8, bool)> {
    Some(match kind {
        TokenKind::Keyword(Keyword::On) => (BinaryOp::On, ON, false),
        TokenKind::Keyword(Keyword::Extend) => (BinaryOp::Extend, 3, false),
        TokenKind::Keyword(Keyword::Or) => (BinaryOp::Or, 4, true),
        TokenKind::Keyword(Keyword::Xor) => (BinaryOp::Xor, 5, true),
        TokenKind::Keyword(Keyword::And) => (BinaryOp::And, 6, true),
        TokenKind::Equal => (BinaryOp::Equal, EQUALITY, false),
        TokenKind::NotEqual => (BinaryOp::NotEqual, EQUALITY, false),
        TokenKind::Less => (BinaryOp::Less, COMPARISON, false),
        TokenKind::Greater => (BinaryOp::Greater, COMPARISON, false),
        TokenKind::LessEqual => (BinaryOp::LessEqual, COMPARISON, false),
        TokenKind::GreaterEqual => (BinaryOp::GreaterEqual, COMPARISON, false),
        TokenKind::Plus => (BinaryOp::Add, 9, true),
        TokenKind::Minus => (BinaryOp::Sub, 9, true),
        TokenKind::Star => (BinaryOp::Mul, 10, true),
        TokenKind::Slash => (BinaryOp::Div, 11, true),
        _ => return None,
    })
}

/// A tree with its height.
type Tall = (Expr, u32);

impl<'t> Parser<'t> {
    /// A whole expression.
    pub(super) fn expression(&mut self) -> Result<Expr> {
        self.ternary().map(|(expr, _)| expr)
    }

    fn ternary(&mut self) -> Result<Tall> {
        self.descend()?;
        let (condition, mut height) = self.binary(ON)?;
        let mut expr = condition;
        if self.eat(TokenKind::Question) {
            let (if_true, h) = self.ternary()?;
            height = height.max(h);
            self.expect(TokenKind::Colon, "`:` and the value where the condition is false")?;
            let (if_false, h) = self.binary(ON)?;
            height = height.max(h) + 1;
            self.check_height(height)?;
            if self.peek() == TokenKind::Question {
                let d = Diagnostic::new(Code::TernaryChain, self.span(), "the last value of `? :` cannot be another `? :` without parentheses")
                    .also(if_false.span, "this would be its condition")
                    .hint("put it in parentheses: `a ? b : (c ? d : e)`");
                return Err(self.report(d));
            }
            let span = expr.span.to(if_false.span);
            let kind = ExprKind::Ternary { condition: Box::new(expr), if_true: Box::new(if_true), if_false: Box::new(if_false) };
            expr = Expr { kind, span };
        }
        self.depth -= 1;
        Ok((expr, height))
    }

    /// Operands joined by infix operators at least as tight as `min`.
    fn binary(&mut self, min: u8) -> Result<Tall> {
        let (mut left, mut height) = self.prefix(min)?;
        let mut last: Option<(u8, Span)> = None;
        while let Some((op, level, chains)) = infix(self.peek()) {
            if level < min {
                break;
            }
            let op_span = self.advance().span;
            if let Some((_, first)) = last.filter(|&(l, _)| l == level && !chains) {
                return Err(self.chain(op, op_span, first, &left));
            }
            self.descend()?;
            let (right, right_height) = self.binary(level + 1)?;
            self.depth -= 1;
            height = height.max(right_height) + 1;
            self.check_height(height)?;
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary { op, op_span, left: Box::new(left), right: Box::new(right) }, span };
            last = Some((level, op_span));
        }
        Ok((left, height))
    }

    /// The same level twice, for operators that do not chain.
    fn chain(&mut self, op: BinaryOp, op_span: Span, first: Span, left: &Expr) -> super::Failed {
        let (a, b) = match &left.kind {
            ExprKind::Binary { left: a, right: b, .. } => (self.shown(a, "a"), self.shown(b, "b")),
            _ => ("a", "b"),
        };
        let (one, two) = (self.text_of(first), self.text_of(op_span));
        let d = if matches!(op, BinaryOp::On | BinaryOp::Extend) {
            let d = Diagnostic::new(Code::OnChain, op_span, format!("a second `{two}` needs parentheses"))
                .note("`On` and `Extend` bind weaker than arithmetic and comparison");
            if matches!(&left.kind, ExprKind::Binary { right, .. } if matches!(right.kind, ExprKind::Binary { .. })) {
                d.hint(format!("put each `{two}` in parentheses, as in `(a {two} f) + (b {two} f)`"))
            } else {
                d.hint(format!("write `({a} {one} {b}) {two} ...` or `{a} {one} ({b} {two} ...)`"))
            }
        } else {
            Diagnostic::new(Code::ComparisonChain, op_span, "comparisons cannot be chained")
                .hint(format!("compare twice: `{a} {one} {b} And {b} {two} ...`"))
        };
        self.report(d.also(first, "the first one"))
    }

    /// The text of an operand if it is short enough to be shown, else a stand-in.
    fn shown(&self, expr: &Expr, stand_in: &'t str) -> &'t str {
        let text = self.text_of(expr.span);
        if text.len() <= 24 && !text.contains('\n') { text } else { stand_in }
    }

    fn prefix(&mut self, min: u8) -> Result<Tall> {
        let start = self.span();
        let op = match self.peek() {
            TokenKind::Minus => UnaryOp::Neg,
            TokenKind::Keyword(Keyword::Not) => UnaryOp::Not,
            _ => return self.postfix(),
        };
        self.advance();
        self.descend()?;
        let (operand, height) = match op {
            UnaryOp::Neg => self.prefix(PREFIX)?,
            UnaryOp::Not if min > EQUALITY => {
                let d = Diagnostic::new(Code::UnexpectedToken, start, "`Not` after a tighter operator needs parentheses")
                    .hint("`Not` covers the whole comparison after it; write `(Not a)` to use its value in another one");
                return Err(self.report(d));
            }
            UnaryOp::Not => self.binary(EQUALITY)?,
        };
        self.depth -= 1;
        self.check_height(height + 1)?;
        let span = start.to(operand.span);
        Ok((Expr { kind: ExprKind::Unary { op, operand: Box::new(operand) }, span }, height + 1))
    }

    fn postfix(&mut self) -> Result<Tall> {
        let (mut base, mut height) = self.primary()?;
        while self.peek() == TokenKind::LeftBracket {
            let open = self.advance().span;
            let index_span = self.span();
            if matches!(base.kind, ExprKind::Number { .. }) {
                let d = Diagnostic::new(Code::IndexAfterNumber, open, "a number cannot be indexed, and has one unit at most");
                return Err(self.report(d.hint("write a composed unit in one bracket: `3 [Meter/Second]`")));
            }
            let unit_follows = match self.peek() {
                TokenKind::Builtin => true,
                TokenKind::LeftParen => self.peek_at(1) == TokenKind::Builtin && self.peek_at(2) != TokenKind::LeftParen,
                _ => false,
            };
            if unit_follows {
                let unit = self.text_of(index_span);
                let unit = if unit == "(" { "Meter" } else { unit };
                let d = Diagnostic::new(Code::MisplacedUnit, index_span, "a unit can only follow a number")
                    .also(base.span, "this is not a number literal")
                    .hint(format!("multiply with one unit: `* 1 [{unit}]`"));
                return Err(self.report(d));
            }
            let TokenKind::Number { integer: true, .. } = self.peek() else {
                if self.peek() == TokenKind::Error {
                    return Err(self.unexpected("an index"));
                }
                let d = Diagnostic::new(Code::UnexpectedToken, index_span, format!("expected a whole number as index, found {}", self.found()));
                return Err(self.report(d.hint("an index is written out: `a[0]` is the first element; a collection cannot be indexed by position")));
            };
            self.advance();
            let index = self.small_integer(index_span);
            let close = self.expect(TokenKind::RightBracket, "`]` after the index")?;
            height += 1;
            self.check_height(height)?;
            let span = base.span.to(close);
            base = Expr { kind: ExprKind::Index { base: Box::new(base), index, index_span }, span };
        }
        Ok((base, height))
    }

    fn primary(&mut self) -> Result<Tall> {
        let start = self.span();
        match self.peek() {
            TokenKind::Number { value, .. } => {
                self.advance();
                let (unit, end) = match self.peek() {
                    TokenKind::LeftBracket => {
                        let (unit, close) = self.bracketed_unit()?;
                        (Some(unit), close)
                    }
                    _ => (None, start),
                };
                Ok((Expr { kind: ExprKind::Number { value, unit }, span: start.to(end) }, 1))
            }
            TokenKind::Text => {
                self.advance();
                Ok((Expr { kind: ExprKind::Text(unescape(self.text_of(start))), span: start }, 1))
            }
            TokenKind::Keyword(word @ (Keyword::True | Keyword::False)) => {
                self.advance();
                Ok((Expr { kind: ExprKind::Bool(word == Keyword::True), span: start }, 1))
            }
            TokenKind::Name | TokenKind::Builtin if self.peek_at(1) == TokenKind::LeftParen => self.call(),
            TokenKind::Name => {
                self.advance();
                Ok((Expr { kind: ExprKind::Name(self.text_of(start).to_owned()), span: start }, 1))
            }
            TokenKind::Builtin => {
                let name = self.text_of(start);
                let d = Diagnostic::new(Code::UpperCaseName, start, format!("`{name}` is not a variable"))
                    .label("names of variables begin with a lower-case letter")
                    .hint(format!("call the built-in function: `{name}(...)`; a unit goes in brackets after a number: `1 [{name}]`"));
                Err(self.report(d))
            }
            TokenKind::LeftParen => {
                self.advance();
                let (inner, height) = self.ternary()?;
                let close = self.expect(TokenKind::RightParen, "an operator or `)`")?;
                self.check_height(height + 1)?;
                Ok((Expr { kind: ExprKind::Paren(Box::new(inner)), span: start.to(close) }, height + 1))
            }
            TokenKind::Bar => {
                self.advance();
                let (inner, height) = self.ternary()?;
                let close = self.expect(TokenKind::Bar, "an operator or the closing `|`")?;
                self.check_height(height + 1)?;
                Ok((Expr { kind: ExprKind::Norm(Box::new(inner)), span: start.to(close) }, height + 1))
            }
            TokenKind::LeftBracket => {
                self.advance();
                let (elements, height, close) = self.list(TokenKind::RightBracket, "an element")?;
                self.check_height(height + 1)?;
                Ok((Expr { kind: ExprKind::Array(elements), span: start.to(close) }, height + 1))
            }
            _ => Err(self.unexpected(AN_EXPRESSION)),
        }
    }

    /// `callee(args)`; the caller has seen the name and the `(`.
    fn call(&mut self) -> Result<Tall> {
        let span = self.advance().span;
        let callee = Ident { name: self.text_of(span).to_owned(), span };
        self.advance();
        let (args, height, close) = self.list(TokenKind::RightParen, "an argument")?;
        self.check_height(height + 1)?;
        Ok((Expr { kind: ExprKind::Call { callee, args }, span: span.to(close) }, height + 1))
    }

    /// Expressions between commas up to `close`, which is taken. Returns them, the greatest height and the place of `close`.
    pub(super) fn list(&mut self, close: TokenKind, what: &str) -> Result<(Vec<Expr>, u32, Span)> {
        let mut items = Vec::new();
        let mut height = 0;
        if self.peek() == close {
            return Ok((items, height, self.advance().span));
        }
        let closing = close.symbol().unwrap_or(")");
        loop {
            if self.peek() == TokenKind::Comma || (self.peek() == close && !items.is_empty()) {
                let d = Diagnostic::new(Code::MissingArgument, self.span(), format!("expected {what}, found `{}`", self.text_of(self.span())));
                return Err(self.report(d.hint(format!("remove the comma, or write {what} here"))));
            }
            let (item, h) = self.ternary()?;
            height = height.max(h);
            let plain_name = matches!(item.kind, ExprKind::Name(_));
            items.push(item);
            match self.peek() {
                TokenKind::Comma => {
                    self.advance();
                }
                kind if kind == close => return Ok((items, height, self.advance().span)),
                TokenKind::Colon if plain_name && close == TokenKind::RightParen => {
                    let d = Diagnostic::new(Code::InvalidParameter, self.span(), "types are not written in a call or a function definition")
                        .hint("declare the function on a line before: `f : Function(x : Scalar) -> Scalar`, then `f(x) = {`");
                    return Err(self.report(d));
                }
                _ => return Err(self.unexpected(&format!("an operator, `,` or `{closing}`"))),
            }
        }
    }
}

/// The text between the quotes with escapes resolved. Unknown escapes, already reported, stay as they are.
fn unescape(literal: &str) -> String {
    let inner = literal.strip_prefix('"').and_then(|s| s.strip_suffix('"')).unwrap_or(literal);
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some(e) => match escape(e) {
                Some(resolved) => out.push(resolved),
                None => out.extend(['\\', e]),
            },
            None => out.push('\\'),
        }
    }
    out
}
