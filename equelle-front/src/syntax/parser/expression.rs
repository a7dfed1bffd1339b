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
//! | 12 | `^` | no; its left side is not a prefix `-` |
//! | 13 | prefix `-` | |
//! | 14 | `[index]` | |
//! | 15 | `[unit]` after a number | |
//!
//! Division binds tighter than multiplication: `a * b / c` is `a * (b / c)`. This decides rounding,
//! so it is part of the language.

use super::{Parser, Result, Size};
use crate::ops::{Arithmetic, CONSTANTS, Comparison, Logic};
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Ident, UnaryOp};
use crate::syntax::lexer::escape;
use crate::syntax::token::{Keyword, TokenKind};

const ON: u8 = 2;
const EQUALITY: u8 = 7;
const COMPARISON: u8 = 8;
const PREFIX: u8 = 13;

/// An infix operator with its level, and whether it chains (to the left).
fn infix(kind: TokenKind) -> Option<(BinaryOp, u8, bool)> {
    Some(match kind {
        TokenKind::Keyword(Keyword::On) => (BinaryOp::On, ON, false),
        TokenKind::Keyword(Keyword::Extend) => (BinaryOp::Extend, 3, false),
        TokenKind::Keyword(Keyword::Or) => (BinaryOp::Logic(Logic::Or), 4, true),
        TokenKind::Keyword(Keyword::Xor) => (BinaryOp::Logic(Logic::Xor), 5, true),
        TokenKind::Keyword(Keyword::And) => (BinaryOp::Logic(Logic::And), 6, true),
        TokenKind::Equal => (BinaryOp::Comparison(Comparison::Equal), EQUALITY, false),
        TokenKind::NotEqual => (BinaryOp::Comparison(Comparison::NotEqual), EQUALITY, false),
        TokenKind::Less => (BinaryOp::Comparison(Comparison::Less), COMPARISON, false),
        TokenKind::Greater => (BinaryOp::Comparison(Comparison::Greater), COMPARISON, false),
        TokenKind::LessEqual => (BinaryOp::Comparison(Comparison::LessEqual), COMPARISON, false),
        TokenKind::GreaterEqual => (BinaryOp::Comparison(Comparison::GreaterEqual), COMPARISON, false),
        TokenKind::Plus => (BinaryOp::Arithmetic(Arithmetic::Add), 9, true),
        TokenKind::Minus => (BinaryOp::Arithmetic(Arithmetic::Sub), 9, true),
        TokenKind::Star => (BinaryOp::Arithmetic(Arithmetic::Mul), 10, true),
        TokenKind::Slash => (BinaryOp::Arithmetic(Arithmetic::Div), 11, true),
        TokenKind::Caret => (BinaryOp::Power, 12, false),
        _ => return None,
    })
}

/// A tree with its size.
type Tall = (Expr, Size);

impl Parser<'_> {
    /// A whole expression.
    pub(super) fn expression(&mut self) -> Result<Expr> {
        self.ternary().map(|(expr, _)| expr)
    }

    fn ternary(&mut self) -> Result<Tall> {
        self.descend()?;
        let (condition, mut height) = self.binary(ON)?;
        let mut expr = condition;
        if self.cursor.eat(TokenKind::Question) {
            let (if_true, h) = self.ternary()?;
            height = height.max(h);
            self.expect(TokenKind::Colon, "`:` and the value where the condition is false")?;
            let (if_false, h) = self.binary(ON)?;
            height = height.max(h).up();
            self.check_size(height)?;
            if self.cursor.peek() == TokenKind::Question {
                return Err(self.mistakes().ternary_chain(if_false.span));
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
        while let Some((op, level, chains)) = infix(self.cursor.peek()) {
            if level < min {
                break;
            }
            let op_span = self.cursor.advance().span;
            if let Some((_, first)) = last.filter(|&(l, _)| l == level && !chains) {
                return Err(self.mistakes().chain(op, op_span, first, &left));
            }
            if op == BinaryOp::Power && matches!(left.kind, ExprKind::Unary { .. }) {
                return Err(self.mistakes().power_of_negative(op_span, &left));
            }
            self.descend()?;
            let (right, right_height) = self.binary(level + 1)?;
            self.depth -= 1;
            // The first operator makes a level; the others of the chain share it.
            let levels = if last.is_none() { height.levels + 1 } else { height.levels };
            height = Size { levels: levels.max(right_height.levels + 1), height: height.height.max(right_height.height) + 1 };
            self.check_size(height)?;
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary { op, op_span, left: Box::new(left), right: Box::new(right) }, span };
            last = Some((level, op_span));
        }
        Ok((left, height))
    }

    fn prefix(&mut self, min: u8) -> Result<Tall> {
        let start = self.cursor.span();
        let op = match self.cursor.peek() {
            TokenKind::Minus => UnaryOp::Neg,
            TokenKind::Keyword(Keyword::Not) => UnaryOp::Not,
            _ => return self.postfix(),
        };
        self.cursor.advance();
        self.descend()?;
        let (operand, height) = match op {
            UnaryOp::Neg => self.prefix(PREFIX)?,
            UnaryOp::Not if min > EQUALITY => return Err(self.mistakes().tight_not(start)),
            UnaryOp::Not => self.binary(EQUALITY)?,
        };
        self.depth -= 1;
        self.check_size(height.up())?;
        let span = start.to(operand.span);
        Ok((Expr { kind: ExprKind::Unary { op, operand: Box::new(operand) }, span }, height.up()))
    }

    fn postfix(&mut self) -> Result<Tall> {
        let (mut base, mut height) = self.primary()?;
        while self.cursor.peek() == TokenKind::LeftBracket {
            if matches!(base.kind, ExprKind::Number { .. }) {
                return Err(self.mistakes().bracket_after_quantity());
            }
            height = height.up();
            base = self.index(base, height)?;
        }
        Ok((base, height))
    }

    /// `[index]` after `base`.
    fn index(&mut self, base: Expr, height: Size) -> Result<Expr> {
        self.cursor.advance();
        let index_span = self.cursor.span();
        let TokenKind::Number { integer: true, .. } = self.cursor.peek() else {
            return Err(self.mistakes().not_an_index(base.span));
        };
        self.cursor.advance();
        let index = self.small_integer(index_span);
        let close = self.expect(TokenKind::RightBracket, "`]` after the index")?;
        self.check_size(height)?;
        let span = base.span.to(close);
        // An index that is too large has been reported.
        let kind = if self.reports.reported { ExprKind::Error } else { ExprKind::Index { base: Box::new(base), index, index_span } };
        Ok(Expr { kind, span })
    }

    fn primary(&mut self) -> Result<Tall> {
        match self.cursor.peek() {
            TokenKind::LeftParen => self.paren(),
            TokenKind::Name | TokenKind::Builtin | TokenKind::Keyword(Keyword::Vector)
                if self.cursor.peek_at(1) == TokenKind::LeftParen =>
            {
                self.call()
            }
            TokenKind::Bar => self.norm(),
            TokenKind::LeftBracket => self.array(),
            _ => self.leaf().map(|leaf| (leaf, Size::LEAF)),
        }
    }

    fn leaf(&mut self) -> Result<Expr> {
        let start = self.cursor.span();
        let kind = match self.cursor.peek() {
            TokenKind::Number { value, .. } => return self.quantity(value),
            TokenKind::Text => ExprKind::Text(unescape(self.cursor.text_of(start))),
            TokenKind::Keyword(word @ (Keyword::True | Keyword::False)) => ExprKind::Bool(word == Keyword::True),
            TokenKind::Name => ExprKind::Name(self.cursor.text_of(start).to_owned()),
            TokenKind::Builtin if CONSTANTS.iter().any(|(name, _)| *name == self.cursor.text_of(start)) => {
                ExprKind::Name(self.cursor.text_of(start).to_owned())
            }
            TokenKind::Builtin if self.upper_names.contains(self.cursor.text_of(start)) => ExprKind::Error,
            TokenKind::Builtin => return Err(self.mistakes().builtin_without_call()),
            _ => return Err(self.unexpected("an expression")),
        };
        self.cursor.advance();
        Ok(Expr { kind, span: start })
    }

    /// A number with its unit, if it has one.
    fn quantity(&mut self, value: f64) -> Result<Expr> {
        let mut span = self.cursor.advance().span;
        let mut unit = None;
        if self.cursor.peek() == TokenKind::LeftBracket {
            let (expr, close) = self.bracketed_unit()?;
            unit = Some(expr);
            span = span.to(close);
        }
        Ok(Expr { kind: ExprKind::Number { value, unit }, span })
    }

    fn paren(&mut self) -> Result<Tall> {
        let open = self.cursor.advance().span;
        let (inner, height) = self.ternary()?;
        let close = self.expect_close(TokenKind::RightParen, "an operator or `)`", open)?;
        self.check_size(height.up())?;
        Ok((Expr { kind: ExprKind::Paren(Box::new(inner)), span: open.to(close) }, height.up()))
    }

    fn norm(&mut self) -> Result<Tall> {
        let open = self.cursor.advance().span;
        let (inner, height) = self.ternary()?;
        let close = self.expect_close(TokenKind::Bar, "an operator or the closing `|`", open)?;
        self.check_size(height.up())?;
        Ok((Expr { kind: ExprKind::Norm(Box::new(inner)), span: open.to(close) }, height.up()))
    }

    fn array(&mut self) -> Result<Tall> {
        let open = self.cursor.advance().span;
        let (elements, height, close) = self.list(TokenKind::RightBracket, "an element")?;
        self.check_size(height.up())?;
        Ok((Expr { kind: ExprKind::Array(elements), span: open.to(close) }, height.up()))
    }

    /// `callee(args)`; the caller has seen the name and the `(`.
    fn call(&mut self) -> Result<Tall> {
        let span = self.cursor.advance().span;
        let callee = Ident { name: self.cursor.text_of(span).to_owned(), span };
        self.cursor.advance();
        let (args, height, close) = self.list(TokenKind::RightParen, "an argument")?;
        self.check_size(height.up())?;
        let known = !self.upper_names.contains(callee.name.as_str());
        let kind = if known { ExprKind::Call { callee, args } } else { ExprKind::Error };
        Ok((Expr { kind, span: span.to(close) }, height.up()))
    }

    /// Expressions between commas up to `close`, which is taken. Returns them, the greatest height
    /// and the place of `close`.
    pub(super) fn list(&mut self, close: TokenKind, what: &str) -> Result<(Vec<Expr>, Size, Span)> {
        let open = self.cursor.last_span();
        let mut items = Vec::new();
        let mut height = Size { levels: 0, height: 0 };
        if self.cursor.peek() == close {
            return Ok((items, height, self.cursor.advance().span));
        }
        let closing = close.symbol().unwrap_or(")");
        loop {
            if self.cursor.peek() == TokenKind::Comma || (self.cursor.peek() == close && !items.is_empty()) {
                return Err(self.mistakes().missing_item(what));
            }
            let (item, h) = self.ternary()?;
            height = height.max(h);
            let plain_name = matches!(item.kind, ExprKind::Name(_));
            items.push(item);
            match self.cursor.peek() {
                TokenKind::Comma => {
                    self.cursor.advance();
                }
                kind if kind == close => return Ok((items, height, self.cursor.advance().span)),
                TokenKind::Colon if plain_name && close == TokenKind::RightParen => return Err(self.mistakes().typed_argument()),
                _ => return Err(self.unexpected_within(&format!("an operator, `,` or `{closing}`"), Some(open))),
            }
        }
    }
}

/// The text between the quotes with escapes resolved. Unknown escapes, already reported, stay as
/// they are.
pub(in crate::syntax) fn unescape(literal: &str) -> String {
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
