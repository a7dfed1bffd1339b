//! Units between brackets: `[Kilo*Meter/Second^2]`, with the operator levels of expressions.

use super::{Parser, Result};
use crate::source::Span;
use crate::syntax::ast::{UnitExpr, UnitExprKind};
use crate::syntax::token::TokenKind;

/// Binding strength; division is tighter than multiplication, as in expressions.
const MUL: u8 = 1;
const DIV: u8 = 2;

impl Parser<'_> {
    /// `[unit]` after a number. Returns the unit and the place of `]`.
    pub(super) fn bracketed_unit(&mut self) -> Result<(UnitExpr, Span)> {
        let open = self.cursor.advance().span;
        if matches!(self.cursor.peek(), TokenKind::Number { .. }) && self.cursor.peek_at(1) == TokenKind::RightBracket {
            let place = open.to(self.cursor.tokens[self.cursor.at + 1].span);
            return Err(self.mistakes().index_of_number(place));
        }
        let (unit, _) = self.unit(MUL)?;
        let close = match self.cursor.peek() {
            TokenKind::RightBracket => self.cursor.advance().span,
            TokenKind::Builtin => return Err(self.mistakes().units_side_by_side()),
            TokenKind::Plus | TokenKind::Minus => return Err(self.mistakes().sum_of_units()),
            _ => return Err(self.unexpected("`*`, `/`, `^` or the `]` that closes the unit")),
        };
        Ok((unit, close))
    }

    /// Units joined by operators at least as tight as `min`. Also returns the height of the tree.
    fn unit(&mut self, min: u8) -> Result<(UnitExpr, u32)> {
        let (mut left, mut height) = self.unit_factor()?;
        loop {
            let level = match self.cursor.peek() {
                TokenKind::Star => MUL,
                TokenKind::Slash => DIV,
                _ => return Ok((left, height)),
            };
            if level < min {
                return Ok((left, height));
            }
            self.cursor.advance();
            let (right, right_height) = self.unit(level + 1)?;
            height = height.max(right_height) + 1;
            self.check_height(height)?;
            let span = left.span.to(right.span);
            let (a, b) = (Box::new(left), Box::new(right));
            let kind = if level == MUL { UnitExprKind::Mul(a, b) } else { UnitExprKind::Div(a, b) };
            left = UnitExpr { kind, span };
        }
    }

    /// A unit name or parenthesis, with its exponents.
    fn unit_factor(&mut self) -> Result<(UnitExpr, u32)> {
        let start = self.cursor.span();
        let (mut unit, mut height) = match self.cursor.peek() {
            TokenKind::Builtin => {
                self.cursor.advance();
                (UnitExpr { kind: UnitExprKind::Name(self.cursor.text_of(start).to_owned()), span: start }, 1)
            }
            TokenKind::LeftParen => {
                self.cursor.advance();
                self.descend()?;
                let (inner, height) = self.unit(MUL)?;
                self.depth -= 1;
                let close = self.expect(TokenKind::RightParen, "`)`")?;
                (UnitExpr { kind: UnitExprKind::Paren(Box::new(inner)), span: start.to(close) }, height + 1)
            }
            TokenKind::Number { .. } | TokenKind::Name => return Err(self.mistakes().not_a_unit()),
            _ => return Err(self.unexpected("a unit, such as `Meter`")),
        };
        while self.cursor.eat(TokenKind::Caret) {
            let minus = self.cursor.eat(TokenKind::Minus);
            let place = self.cursor.span();
            let exponent = match self.cursor.peek() {
                TokenKind::Number { integer: true, .. } => self.cursor.text_of(place).parse::<i32>().ok(),
                _ => return Err(self.mistakes().not_an_exponent()),
            };
            self.cursor.advance();
            let Some(exponent) = exponent else { return Err(self.mistakes().out_of_range(place)) };
            height += 1;
            self.check_height(height)?;
            let exponent = if minus { -exponent } else { exponent };
            unit = UnitExpr { kind: UnitExprKind::Power(Box::new(unit), exponent), span: start.to(place) };
        }
        Ok((unit, height))
    }
}
