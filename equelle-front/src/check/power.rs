//! Powers.

use crate::check::checker::{dim, show_dimension, value};
use crate::check::operation::Operation;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::{Builtin, Expr, ExprKind};
use crate::types::{Basic, Dimension, Shape, Type};

/// The whole number that an exponent is written as: `2`, `-1`, `(3)`.
fn whole(exponent: &Expr) -> Option<i32> {
    match &exponent.kind {
        ExprKind::Number(n) if n.fract() == 0.0 && n.abs() <= f64::from(i32::MAX) => Some(*n as i32),
        ExprKind::Neg(inner) => match inner.kind {
            // A second sign is no literal.
            ExprKind::Number(_) => whole(inner).map(|n| -n),
            _ => None,
        },
        _ => None,
    }
}

/// True if the exponent is a whole number that [`whole`] cannot hold.
fn whole_but_huge(exponent: &Expr) -> bool {
    let number = match &exponent.kind {
        ExprKind::Neg(inner) => &inner.kind,
        other => other,
    };
    matches!(number, ExprKind::Number(n) if n.fract() == 0.0 && n.abs() > f64::from(i32::MAX))
}

/// Shape of what is made of two values element by element.
fn common_shape(a: Shape, b: Shape) -> Shape {
    if a == Shape::Single { b } else { a }
}

impl Operation<'_, '_> {
    fn power_operand(&mut self, operand: &Expr, what: &str) -> Option<Type> {
        let ty = self.no_array(operand)?;
        if ty.basic == Basic::Scalar && ty.shape != Shape::Sequence {
            return Some(ty);
        }
        let found = self.checker.show_value(&ty);
        let diagnostic = Diagnostic::new(
            Code::PowerOperand,
            operand.span,
            format!("the {what} of a power is a Scalar or a Collection Of Scalar, not {found}"),
        )
        .label(found);
        self.checker.fail(match ty.basic {
            Basic::Vector => diagnostic.hint("the square of its length is `Dot(v, v)`"),
            Basic::Entity(_) => diagnostic.hint("its measure is `|e|`"),
            Basic::Scalar => diagnostic.hint("take the power in the loop over the sequence"),
            Basic::Bool | Basic::Text | Basic::Table | Basic::Axis(_) => diagnostic.hint("only numbers have powers"),
        })
    }

    /// `base ^ exponent`
    pub fn power(&mut self, base: Expr, exponent: Expr, span: Span) -> Option<Expr> {
        let (b, e) = (self.power_operand(&base, "base"), self.power_operand(&exponent, "exponent"));
        let (b, e) = (b?, e?);
        if !self.checker.options.agree(dim(&exponent), Dimension::NONE) {
            let found = show_dimension(dim(&exponent));
            return self.checker.fail(
                Diagnostic::new(Code::PowerDimension, exponent.span, format!("an exponent has no dimension, and this has {found}"))
                    .label(found.clone())
                    .hint(format!("divide by a reference value: `.../(1 {found})`")),
            );
        }
        if let Some(exponent) = whole(&exponent) {
            let dim = self.in_range("this power", dim(&base).power(exponent), &[&base])?;
            return Some(value(ExprKind::Power { base: Box::new(base), exponent }, b, dim, span));
        }
        self.same_set((&base, &b), (&exponent, &e))?;
        if !self.checker.options.agree(dim(&base), Dimension::NONE) && whole_but_huge(&exponent) {
            self.in_range("this power", None, &[&base])?;
        }
        if !self.checker.options.agree(dim(&base), Dimension::NONE) {
            let found = show_dimension(dim(&base));
            return self.checker.fail(
                Diagnostic::new(
                    Code::PowerDimension,
                    exponent.span,
                    format!("the base has {found}, so the exponent must be a whole number, written out"),
                )
                .label("not a whole number")
                .also(base.span, found.clone())
                .hint(format!("write `a^2`, use `Sqrt`, or divide the base by a reference value: `(a / (1 {found}))^...`")),
            );
        }
        let ty = Type { shape: common_shape(b.shape, e.shape), ..b };
        Some(value(ExprKind::Builtin { builtin: Builtin::Pow, args: vec![base, exponent] }, ty, Dimension::NONE, span))
    }
}
