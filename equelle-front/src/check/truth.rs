//! Comparisons and logic.

use crate::check::checker::value;
use crate::check::operation::Operation;
use crate::diagnostic::{Code, Diagnostic};
use crate::ops::{Comparison, Logic};
use crate::source::Span;
use crate::typed::{Expr, ExprKind};
use crate::types::{Basic, Dimension, Shape, Type};

/// Returns a hint for a comparison that does not exist.
fn comparison_hint(left: &Type, right: &Type) -> &'static str {
    if left.shape == Shape::Sequence || right.shape == Shape::Sequence {
        return "compare the elements of the sequence in a `For` loop over it";
    }
    match (left.basic, right.basic) {
        (Basic::Axis(_), _) | (_, Basic::Axis(_)) => "the numbers of cells along an axis are `IndexOf(i)`",
        (Basic::Vector, _) | (_, Basic::Vector) => "compare components, `v[0]`, or lengths, `|v|`",
        (Basic::Table, _) | (_, Basic::Table) => "compare what tables give: `Interpolate(table, x)`",
        (Basic::Text, _) | (_, Basic::Text) => "text is only for names and tags",
        (Basic::Bool, _) | (_, Basic::Bool) => "combine conditions with `And`, `Or` and `Xor`",
        (Basic::Entity(_), _) | (_, Basic::Entity(_)) => "compare their measures, `|e|`, or the components of their `Centroid(e)`",
        (Basic::Scalar, Basic::Scalar) => "compare numbers with numbers",
    }
}

/// Bool, a collection if either side is one.
fn truth(left: &Type, right: &Type) -> Type {
    let shape = left.mapping().or(right.mapping()).map_or(Shape::Single, Shape::Collection);
    Type { basic: Basic::Bool, shape, within: None, halo: crate::types::Halo::NONE }
}

impl Operation<'_, '_> {
    /// `left < right` and the like
    pub fn compare(&mut self, op: Comparison, left: Expr, right: Expr, span: Span) -> Option<Expr> {
        let (l, r) = self.no_arrays(&left, &right)?;
        let equality = matches!(op, Comparison::Equal | Comparison::NotEqual);
        let sequence = l.shape == Shape::Sequence || r.shape == Shape::Sequence;
        let comparable = match (l.basic, r.basic) {
            (Basic::Scalar, Basic::Scalar) => !sequence,
            (Basic::Bool, Basic::Bool) => equality,
            (Basic::Entity(a), Basic::Entity(b)) => equality && a == b,
            (Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_), _) => false,
        };
        if !comparable {
            let (left_type, right_type) = (self.checker.show_value(&l), self.checker.show_value(&r));
            let what = if equality { "Scalars, Bools or entities of one kind" } else { "Scalars" };
            return self.checker.fail(
                Diagnostic::new(
                    Code::NotComparable,
                    self.place,
                    format!("{} compares {what}, not {left_type} and {right_type}", self.name),
                )
                .also(left.span, left_type)
                .also(right.span, right_type)
                .hint(comparison_hint(&l, &r)),
            );
        }
        self.same_set((&left, &l), (&right, &r))?;
        self.same_dimension(Code::ComparisonDimensions, &left, &right)?;
        let literal = |e: &Expr| matches!(e.kind, ExprKind::Number(_));
        if equality && l.basic == Basic::Scalar && !literal(&left) && !literal(&right) {
            self.checker.report(
                Diagnostic::new(Code::EqualityOfReals, self.place, "computed numbers are rarely exactly equal")
                    .hint("compare their distance with a tolerance: `|a - b| < eps`"),
            );
        }
        let kind = ExprKind::Comparison { op, left: Box::new(left), right: Box::new(right) };
        Some(value(kind, truth(&l, &r), Dimension::NONE, span))
    }

    pub fn logic_operand(&mut self, operand: &Expr) -> Option<Type> {
        let ty = self.no_array(operand)?;
        if ty.basic == Basic::Bool {
            return Some(ty);
        }
        let found = self.checker.show_value(&ty);
        self.checker.fail(
            Diagnostic::new(Code::LogicOperand, operand.span, format!("{} takes truth values, and this is {found}", self.name))
                .label(found)
                .hint("compare it with something: `a > 0`"),
        )
    }

    /// `left And right` and the like
    pub fn logic(&mut self, op: Logic, left: Expr, right: Expr, span: Span) -> Option<Expr> {
        let (l, r) = (self.logic_operand(&left), self.logic_operand(&right));
        let (l, r) = (l?, r?);
        self.same_set((&left, &l), (&right, &r))?;
        let kind = ExprKind::Logic { op, left: Box::new(left), right: Box::new(right) };
        Some(value(kind, truth(&l, &r), Dimension::NONE, span))
    }
}
