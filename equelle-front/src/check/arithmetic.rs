//! `+ - * /` on numbers, collections and sequences.

use crate::check::broadcast::number_beside_collection;
use crate::check::checker::dim;
use crate::check::operation::Operation;
use crate::diagnostic::{Code, Diagnostic};
use crate::ops::Arithmetic;
use crate::source::Span;
use crate::typed::{Expr, ExprKind, TreeDimension};
use crate::types::{Basic, Shape, Type};

impl Operation<'_, '_> {
    fn numbers(&mut self, left: &Expr, right: &Expr) -> Option<(Type, Type)> {
        let (l, r) = self.no_arrays(left, right)?;
        let (left, right) = (self.numeric(left, &l), self.numeric(right, &r));
        left?;
        right?;
        Some((l, r))
    }

    /// `left + right` and the like, element by element of arrays.
    pub fn arithmetic(&mut self, op: Arithmetic, left: Expr, right: Expr, span: Span) -> Option<Expr> {
        let (ty, dims) = self.element_wise([&left, &right], |this, left, right| match op {
            Arithmetic::Add | Arithmetic::Sub => this.sum(left, right),
            Arithmetic::Mul => this.product(left, right),
            Arithmetic::Div => this.quotient(left, right),
        })?;
        let kind = ExprKind::Arithmetic { op, left: Box::new(left), right: Box::new(right) };
        Some(Expr { kind, ty, dims, span })
    }

    /// `left + right`, `left - right`
    fn sum(&mut self, left: &Expr, right: &Expr) -> Option<(Type, TreeDimension)> {
        let (l, r) = self.numbers(left, right)?;
        for (operand, ty) in [(left, &l), (right, &r)] {
            if ty.shape == Shape::Sequence {
                return self.sequence(operand.span, &format!("{} takes no sequences", self.name));
            }
        }
        self.same_set((left, &l), (right, &r))?;
        let Some(ty) = number_beside_collection(&l, &r).or_else(|| (l == r).then_some(l)) else {
            let (left_type, right_type) = (self.checker.show_value(&l), self.checker.show_value(&r));
            let diagnostic = Diagnostic::new(
                Code::DifferentTypes,
                self.place,
                format!("{} needs two numbers or two Vectors, not {left_type} and {right_type}", self.name),
            );
            let diagnostic = diagnostic.also(left.span, left_type).also(right.span, right_type);
            return self.checker.fail(diagnostic.hint("take a component, `v[0]`, or the length, `|v|`; make a Vector with `Vector(a, b)`"));
        };
        let dim = self.same_dimension(Code::SumDimensions, left, right)?;
        Some((ty, dim))
    }

    fn sequence<T>(&mut self, span: Span, message: &str) -> Option<T> {
        self.checker.fail(
            Diagnostic::new(Code::SequenceArithmetic, span, message.to_owned())
                .label("`Sequence Of Scalar`")
                .hint("a sequence can be multiplied and divided by one Scalar; other arithmetic belongs into the loop over it"),
        )
    }

    /// `left * right`
    fn product(&mut self, left: &Expr, right: &Expr) -> Option<(Type, TreeDimension)> {
        let (l, r) = self.numbers(left, right)?;
        for (sequence, ty, other) in [(left, &l, &r), (right, &r, &l)] {
            if ty.shape == Shape::Sequence && *other != Type::SCALAR {
                return self.sequence(sequence.span, "a sequence can only be multiplied by one Scalar");
            }
        }
        self.same_set((left, &l), (right, &r))?;
        if l.basic == Basic::Vector && r.basic == Basic::Vector {
            return self.checker.fail(
                Diagnostic::new(Code::VectorProduct, self.place, "two Vectors cannot be multiplied with `*`")
                    .also(left.span, self.checker.show_value(&l))
                    .also(right.span, self.checker.show_value(&r))
                    .hint("the scalar product is `Dot(a, b)`"),
            );
        }
        let basic = if l.basic == Basic::Vector { l.basic } else { r.basic };
        let shape = if l.shape == Shape::Single { r.shape } else { l.shape };
        let dim = self.in_range("this product", dim(left).times(dim(right)), &[left, right])?;
        Some((Type { basic, shape, within: None, halo: crate::types::Halo::NONE }, dim.into()))
    }

    /// `left / right`
    fn quotient(&mut self, left: &Expr, right: &Expr) -> Option<(Type, TreeDimension)> {
        let (l, r) = self.numbers(left, right)?;
        if r.basic != Basic::Scalar {
            let found = self.checker.show_value(&r);
            return self.checker.fail(
                Diagnostic::new(Code::DivisionByNonScalar, right.span, format!("only Scalars can divide, and this is {found}"))
                    .label(found)
                    .hint("the length of a Vector is `|v|`"),
            );
        }
        if r.shape == Shape::Sequence {
            return self.sequence(right.span, "a sequence cannot divide");
        }
        if l.shape == Shape::Sequence && r != Type::SCALAR {
            return self.sequence(left.span, "a sequence can only be divided by one Scalar");
        }
        self.same_set((left, &l), (right, &r))?;
        let shape = if l.shape == Shape::Single { r.shape } else { l.shape };
        let dim = self.in_range("this quotient", dim(left).over(dim(right)), &[left, right])?;
        Some((Type { basic: l.basic, shape, within: None, halo: crate::types::Halo::NONE }, dim.into()))
    }
}
