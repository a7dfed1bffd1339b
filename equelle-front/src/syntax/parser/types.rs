//! Types as written.

use super::{Parser, Result};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{BasicTypeName, CollectionDomain, Ident, TypeExpr, TypeExprKind};
use crate::syntax::token::{Keyword, TokenKind};

const BASIC_TYPES: &str = "`Scalar`, `Vector`, `Bool`, `Cell`, `Face`, `Edge`, `Vertex` or `String`";

impl Parser<'_> {
    /// A type.
    pub(super) fn type_expr(&mut self) -> Result<TypeExpr> {
        self.descend()?;
        let start = self.cursor.span();
        let kind = match self.cursor.peek() {
            TokenKind::Keyword(Keyword::Collection) => self.collection()?,
            TokenKind::Keyword(Keyword::Stencil) => {
                self.cursor.advance();
                let inner = self.cursor.span();
                if self.cursor.peek() != TokenKind::Keyword(Keyword::Collection) {
                    return Err(self.unexpected("`Collection Of` after `Stencil`"));
                }
                let kind = self.collection()?;
                TypeExprKind::Stencil(Box::new(TypeExpr { kind, span: inner.to(self.cursor.last_span()) }))
            }
            TokenKind::Keyword(Keyword::Sequence) => {
                self.cursor.advance();
                self.expect_keyword(Keyword::Of, "`Of` after `Sequence`")?;
                TypeExprKind::Sequence(self.basic_type("the type of the elements")?)
            }
            TokenKind::Keyword(Keyword::Array) => self.array_type(start)?,
            TokenKind::Keyword(Keyword::Mutable) => {
                self.cursor.advance();
                TypeExprKind::Mutable(Box::new(self.type_expr()?))
            }
            _ => TypeExprKind::Basic(self.basic_type("a type")?),
        };
        self.depth -= 1;
        Ok(TypeExpr { kind, span: start.to(self.cursor.last_span()) })
    }

    /// `Collection Of T [On e | Subset Of e]`
    fn collection(&mut self) -> Result<TypeExprKind> {
        self.cursor.advance();
        self.expect_keyword(Keyword::Of, "`Of` after `Collection`")?;
        let element = self.basic_type("the type of the elements")?;
        let place = match self.cursor.peek() {
            TokenKind::Keyword(Keyword::On) => {
                self.cursor.advance();
                Some(CollectionDomain::On(Box::new(self.expression()?)))
            }
            TokenKind::Keyword(Keyword::Subset) => {
                self.cursor.advance();
                self.expect_keyword(Keyword::Of, "`Of` after `Subset`")?;
                Some(CollectionDomain::SubsetOf(Box::new(self.expression()?)))
            }
            _ => None,
        };
        if place.is_some() && matches!(self.cursor.peek(), TokenKind::Keyword(Keyword::On | Keyword::Subset)) {
            let d = Diagnostic::new(Code::UnexpectedToken, self.cursor.span(), "a type has either `On` or `Subset Of`, not both");
            return Err(self.reports.report(d.hint("`On` says which set the values belong to, `Subset Of` declares a domain")));
        }
        Ok(TypeExprKind::Collection { element, place })
    }

    /// `Array Of N T`
    fn array_type(&mut self, start: Span) -> Result<TypeExprKind> {
        self.cursor.advance();
        self.expect_keyword(Keyword::Of, "`Of` after `Array`")?;
        let size_span = self.cursor.span();
        let size = match self.cursor.peek() {
            TokenKind::Number { integer: true, .. } => {
                self.cursor.advance();
                self.small_integer(size_span)
            }
            _ => return Err(self.unexpected("the number of elements, as in `Array Of 2 Scalar`")),
        };
        if size == 0 && !self.reports.reported {
            let d = Diagnostic::new(Code::InvalidArrayType, size_span, "an array has at least one element");
            self.reports.complain(d.hint("write the number of elements, as in `Array Of 2 Scalar`"));
        }
        let element = self.type_expr()?;
        if holds_array(&element) {
            let d = Diagnostic::new(Code::InvalidArrayType, start.to(element.span), "an array cannot hold arrays")
                .hint("use one longer array, or one array per component");
            self.reports.complain(d);
        }
        Ok(TypeExprKind::Array { size, size_span, element: Box::new(element) })
    }

    /// The value of a token of digits; reports one beyond 32 bits and goes on with the greatest.
    pub(super) fn small_integer(&mut self, span: Span) -> u32 {
        self.cursor.text_of(span).parse().unwrap_or_else(|_| {
            self.mistakes().out_of_range(span);
            u32::MAX
        })
    }

    fn basic_type(&mut self, wanted: &str) -> Result<BasicTypeName> {
        let name = match self.cursor.peek() {
            TokenKind::Keyword(Keyword::Scalar) => BasicTypeName::Scalar,
            TokenKind::Keyword(Keyword::Vector) => BasicTypeName::Vector,
            TokenKind::Keyword(Keyword::Bool) => BasicTypeName::Bool,
            TokenKind::Keyword(Keyword::Cell) => BasicTypeName::Cell,
            TokenKind::Keyword(Keyword::Face) => BasicTypeName::Face,
            TokenKind::Keyword(Keyword::Edge) => BasicTypeName::Edge,
            TokenKind::Keyword(Keyword::Vertex) => BasicTypeName::Vertex,
            TokenKind::Keyword(Keyword::String) => BasicTypeName::String,
            TokenKind::Builtin => {
                let name = self.cursor.text_of(self.cursor.span());
                let d = Diagnostic::new(Code::UnexpectedToken, self.cursor.span(), format!("expected {wanted}, found the name `{name}`"));
                return Err(self.reports.report(d.hint(format!("the basic types are {BASIC_TYPES}"))));
            }
            TokenKind::Keyword(word @ (Keyword::Collection | Keyword::Sequence | Keyword::Array | Keyword::Stencil | Keyword::Mutable)) => {
                let message = format!("expected {wanted}, found `{}`", word.as_str());
                let d = Diagnostic::new(Code::UnexpectedToken, self.cursor.span(), message);
                return Err(self.reports.report(d.hint(format!("only a basic type can stand here: {BASIC_TYPES}"))));
            }
            _ => return Err(self.unexpected(wanted)),
        };
        self.cursor.advance();
        Ok(name)
    }

    /// `name : type`, a parameter of a function declaration.
    pub(super) fn declared_parameter(&mut self) -> Result<(Ident, TypeExpr)> {
        let name = self.expect_name("the name of a parameter")?;
        self.expect(TokenKind::Colon, "`:` and the type of the parameter")?;
        Ok((name, self.type_expr()?))
    }
}

fn holds_array(ty: &TypeExpr) -> bool {
    match &ty.kind {
        TypeExprKind::Array { .. } => true,
        TypeExprKind::Mutable(inner) | TypeExprKind::Stencil(inner) => holds_array(inner),
        TypeExprKind::Basic(_) | TypeExprKind::Collection { .. } | TypeExprKind::Sequence(_) | TypeExprKind::Error => false,
    }
}
