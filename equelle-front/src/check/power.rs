//! Powers, and Vectors made of components.

use crate::check::builtins::Row;
use crate::check::call::argument_count;
use crate::check::checker::{Checker, dim, show_dimension, tree_dim, value};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::typed::{Builtin, Expr, ExprKind, TreeDimension};
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

impl<'a> Checker<'a> {
    fn power_operand(&mut self, operand: &Expr, what: &str) -> Option<Type> {
        let ty = self.no_array(operand, "`^`")?;
        if ty.basic == Basic::Scalar && ty.shape != Shape::Sequence {
            return Some(ty);
        }
        let found = self.show_value(&ty);
        let diagnostic = Diagnostic::new(
            Code::PowerOperand,
            operand.span,
            format!("the {what} of a power is a Scalar or a Collection Of Scalar, not {found}"),
        )
        .label(found);
        self.fail(match ty.basic {
            Basic::Vector => diagnostic.hint("the square of its length is `Dot(v, v)`"),
            Basic::Entity(_) => diagnostic.hint("its measure is `|e|`"),
            Basic::Scalar => diagnostic.hint("take the power in the loop over the sequence"),
            Basic::Bool | Basic::Text | Basic::Table | Basic::Axis(_) => diagnostic.hint("only numbers have powers"),
        })
    }

    /// `base ^ exponent`; `place` is the operator.
    pub fn power(&mut self, place: Span, base: Expr, exponent: Expr, span: Span) -> Option<Expr> {
        let (b, e) = (self.power_operand(&base, "base"), self.power_operand(&exponent, "exponent"));
        let (b, e) = (b?, e?);
        if !self.agree(dim(&exponent), Dimension::NONE) {
            let found = show_dimension(dim(&exponent));
            return self.fail(
                Diagnostic::new(Code::PowerDimension, exponent.span, format!("an exponent has no dimension, and this has {found}"))
                    .label(found.clone())
                    .hint(format!("divide by a reference value: `.../(1 {found})`")),
            );
        }
        if let Some(exponent) = whole(&exponent) {
            let dim = self.in_range("this power", place, dim(&base).power(exponent), &[&base])?;
            return Some(value(ExprKind::Power { base: Box::new(base), exponent }, b, dim, span));
        }
        self.same_set("`^`", place, (&base, &b), (&exponent, &e))?;
        if !self.agree(dim(&base), Dimension::NONE) && whole_but_huge(&exponent) {
            self.in_range("this power", place, None, &[&base])?;
        }
        if !self.agree(dim(&base), Dimension::NONE) {
            let found = show_dimension(dim(&base));
            return self.fail(
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

    /// `Vector(x, y)`
    pub fn vector(&mut self, row: &Row, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
        let components: Vec<Option<Expr>> = args.iter().map(|a| self.expr(a)).collect();
        if args.is_empty() || args.len() > row.params.len() {
            let spans: Vec<Span> = args.iter().map(|a| a.span).collect();
            let names: Vec<&str> = row.params.iter().map(|p| p.name).collect();
            let mut diagnostic = argument_count(row.name, &names, &spans, span);
            diagnostic.message = format!("`Vector` takes 1 to 3 components, not {}", args.len());
            diagnostic.hint = Some("write one component for each dimension of the grid: `Vector(x, y)`".to_owned());
            return self.fail(diagnostic);
        }
        let mut valid = true;
        for (i, component) in components.iter().enumerate() {
            if let Some(component) = component {
                valid &= self.argument(row, i, component, None).is_some();
            }
        }
        let components: Vec<Expr> = components.into_iter().map(|c| c.map(crate::check::stencil::bare)).collect::<Option<_>>()?;
        if !valid {
            return None;
        }
        let mut ty = components.first()?.ty.value()?;
        // The component that told the domain, for messages.
        let mut placed = components.first()?;
        let mut dim = tree_dim(components.first()?);
        // The component that told the dimension.
        let mut told = components.first()?;
        for component in components.iter().skip(1) {
            let other = component.ty.value()?;
            self.same_set("`Vector`", component.span, (placed, &ty), (component, &other))?;
            dim = self.same_dimension(Code::ArgumentDimension, "`Vector`", component.span, told, component)?;
            if tree_dim(told) == TreeDimension::OfZero {
                told = component;
            }
            if ty.shape == Shape::Single {
                (ty, placed) = (other, component);
            }
        }
        Some(value(ExprKind::Vector(components), Type { basic: Basic::Vector, ..ty }, dim, span))
    }
}
