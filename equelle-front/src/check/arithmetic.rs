//! `+ - * /` on numbers, collections and sequences.

use crate::check::broadcast::number_beside_collection;
use crate::check::checker::{Checker, dim, show_dimension, tree_dim};
use crate::diagnostic::{Code, Diagnostic};
use crate::ops::Arithmetic;
use crate::source::Span;
use crate::typed::{Expr, ExprKind, TreeDimension, Variable};
use crate::types::{Basic, Dimension, EntityKind, SetId, Shape, Type};

fn symbol(op: Arithmetic) -> &'static str {
    match op {
        Arithmetic::Add => "+",
        Arithmetic::Sub => "-",
        Arithmetic::Mul => "*",
        Arithmetic::Div => "/",
    }
}

/// The text of a number of the program without a unit, which may stand for a collection.
fn bare_number(expr: &Expr) -> Option<String> {
    match &expr.kind {
        _ if dim(expr) != Dimension::NONE => None,
        ExprKind::Number(number) => Some(number.to_string()),
        ExprKind::Neg(number) => bare_number(number).map(|number| format!("-{number}")),
        ExprKind::Extend { data, .. } => bare_number(data),
        _ => None,
    }
}

impl Checker<'_> {
    /// Reports an operand that is not a number.
    pub fn numeric(&mut self, operand: &Expr, ty: &Type, operator: &str) -> Option<()> {
        let hint = match ty.basic {
            Basic::Scalar | Basic::Vector => return Some(()),
            Basic::Bool => "choose numbers by a condition with `condition ? a : b`",
            Basic::Entity(_) => "the measure of an entity is `|e|`, its place `Centroid(e)`",
            Basic::Table => "the value of a table at `x` is `Interpolate(table, x)`",
            Basic::Axis(_) => "an index variable stands in a read alone, as in `u(i+1)`; the number of a cell is `IndexOf(i)`",
            Basic::Text => "text is only for names and tags",
        };
        let found = self.show_value(ty);
        self.fail(
            Diagnostic::new(Code::NotNumeric, operand.span, format!("{operator} takes numbers, and this is {found}"))
                .label(found)
                .hint(hint),
        )
    }

    fn numbers(&mut self, op: Arithmetic, left: &Expr, right: &Expr) -> Option<(Type, Type)> {
        let operator = format!("`{}`", symbol(op));
        let (l, r) = self.no_arrays(left, right, &operator)?;
        let (left, right) = (self.numeric(left, &l, &operator), self.numeric(right, &r, &operator));
        left?;
        right?;
        Some((l, r))
    }

    /// Reports two collections on different sets.
    pub fn same_set(&mut self, what: &str, op_span: Span, left: (&Expr, &Type), right: (&Expr, &Type)) -> Option<()> {
        let (Some(a), Some(b)) = (left.1.mapping(), right.1.mapping()) else { return Some(()) };
        if a == b {
            return Some(());
        }
        let hint = self.domain_hint(a, b);
        self.different_sets(what, op_span, left, right, hint)
    }

    /// [`Checker::same_set`] of the condition and a branch of a choice.
    pub fn same_set_as_condition(&mut self, condition: (&Expr, &Type), branch: (&Expr, &Type)) -> Option<()> {
        let (Some(a), Some(b)) = (condition.1.mapping(), branch.1.mapping()) else { return Some(()) };
        if a == b {
            return Some(());
        }
        let hint = format!("{}; one truth value of the condition is `AnyReduce(...)` or `AllReduce(...)`", self.domain_hint(a, b));
        self.different_sets("`? :`", condition.0.span, condition, branch, hint)
    }

    fn different_sets(&mut self, what: &str, op_span: Span, left: (&Expr, &Type), right: (&Expr, &Type), hint: String) -> Option<()> {
        let (Some(a), Some(b)) = (left.1.mapping(), right.1.mapping()) else { return Some(()) };
        let diagnostic = Diagnostic::new(
            Code::DifferentDomains,
            op_span,
            format!("{what} needs collections on the same domain, but these are on {} and {}", self.set_name(a), self.set_name(b)),
        )
        .also(left.0.span, self.show_value(left.1))
        .also(right.0.span, self.show_value(right.1))
        .hint(hint);
        self.fail(diagnostic)
    }

    /// Hint how data on two sets can be combined.
    fn domain_hint(&self, a: SetId, b: SetId) -> String {
        let (a_name, b_name) = (self.set_name(a), self.set_name(b));
        let (a_kind, b_kind) = (self.sets.get(a).kind, self.sets.get(b).kind);
        match (a_kind, b_kind) {
            (EntityKind::Cell, EntityKind::Face) => {
                return format!("read the left at the cells of the faces, such as `(...) On FirstCell({b_name})`");
            }
            (EntityKind::Face, EntityKind::Cell) => {
                return format!("read the right at the cells of the faces, such as `(...) On FirstCell({a_name})`");
            }
            (a, b) if a != b => return "there is no correspondence between their elements; compute both on the same domain".to_owned(),
            (_, _) => {}
        }
        if self.sets.is_subset(a, b) {
            format!("pad the left with zeros, `(...) Extend {b_name}`, or restrict the right, `(...) On {a_name}`")
        } else if self.sets.is_subset(b, a) {
            format!("restrict the left, `(...) On {b_name}`, or pad the right with zeros, `(...) Extend {a_name}`")
        } else {
            let common = self.sets.common_superset(a, b);
            format!("pad both with zeros: `(...) Extend {}`", self.set_name(common))
        }
    }

    /// `left + right` and the like, element by element of arrays.
    pub fn arithmetic(&mut self, op: Arithmetic, op_span: Span, left: Expr, right: Expr, span: Span) -> Option<Expr> {
        let what = format!("`{}`", symbol(op));
        let (ty, dims) = self.element_wise(&what, op_span, [&left, &right], |this, left, right| match op {
            Arithmetic::Add | Arithmetic::Sub => this.sum(op, op_span, left, right),
            Arithmetic::Mul => this.product(op_span, left, right),
            Arithmetic::Div => this.quotient(op_span, left, right),
        })?;
        let kind = ExprKind::Arithmetic { op, left: Box::new(left), right: Box::new(right) };
        Some(Expr { kind, ty, dims, span })
    }

    /// `left + right`, `left - right`
    fn sum(&mut self, op: Arithmetic, op_span: Span, left: &Expr, right: &Expr) -> Option<(Type, TreeDimension)> {
        let (l, r) = self.numbers(op, left, right)?;
        let symbol = symbol(op);
        for (operand, ty) in [(left, &l), (right, &r)] {
            if ty.shape == Shape::Sequence {
                return self.sequence(operand.span, &format!("`{symbol}` takes no sequences"));
            }
        }
        self.same_set(&format!("`{symbol}`"), op_span, (left, &l), (right, &r))?;
        let Some(ty) = number_beside_collection(&l, &r).or_else(|| (l == r).then_some(l)) else {
            let (left_type, right_type) = (self.show_value(&l), self.show_value(&r));
            let diagnostic = Diagnostic::new(
                Code::DifferentTypes,
                op_span,
                format!("`{symbol}` needs two numbers or two Vectors, not {left_type} and {right_type}"),
            );
            let diagnostic = diagnostic.also(left.span, left_type).also(right.span, right_type);
            return self.fail(diagnostic.hint("take a component, `v[0]`, or the length, `|v|`; make a Vector with `Vector(a, b)`"));
        };
        let dim = self.same_dimension(Code::SumDimensions, &format!("`{symbol}`"), op_span, left, right)?;
        Some((ty, dim))
    }

    /// The dimension of two values that meet; reports different ones.
    pub fn same_dimension(&mut self, code: Code, what: &str, place: Span, left: &Expr, right: &Expr) -> Option<TreeDimension> {
        if let Some(joined) = self.joined(tree_dim(left), tree_dim(right)) {
            return Some(joined);
        }
        let (a, b) = (dim(left), dim(right));
        // A variable without a unit is one mistake, wherever it meets the same one.
        for (operand, other) in [(left, b), (right, a)] {
            if let ExprKind::Variable(var) = operand.kind
                && dim(operand) == Dimension::NONE
                && !self.without_unit.insert((var, other))
            {
                return self.unknown();
            }
        }
        let (a_text, b_text) = (show_dimension(a), show_dimension(b));
        let hint = match (bare_number(left), bare_number(right)) {
            (Some(number), None) => format!("give the number its unit: `{number} {b_text}`"),
            (None, Some(number)) => format!("give the number its unit: `{number} {a_text}`"),
            (Some(_), Some(_)) | (None, None) => {
                // The operand without a dimension most likely lacks its unit.
                let (lacking, place, ratio) = if a == Dimension::NONE { (left, "first", b.over(a)) } else { (right, "second", a.over(b)) };
                let variable = match &lacking.kind {
                    ExprKind::Variable(var) => Some(&self.variables[var.0 as usize]),
                    _ => None,
                };
                let missing = |ratio| match variable {
                    Some(Variable { name, mutable: true, .. }) => {
                        format!("; if `{name}` lacks a unit, give it to its first value: `0 {ratio}`")
                    }
                    Some(Variable { name, .. }) => format!("; if `{name}` lacks a unit, multiply it by `1 {ratio}`"),
                    None => format!("; if the {place} value lacks a unit, multiply it by `1 {ratio}`"),
                };
                format!("check the formula{}", ratio.map_or_else(String::new, missing))
            }
        };
        let diagnostic = Diagnostic::new(
            code,
            place,
            format!("{what} needs equal dimensions, but the first value has {a_text} and the second {b_text}"),
        )
        .also(left.span, a_text)
        .also(right.span, b_text)
        .hint(hint);
        self.fail(diagnostic)
    }

    /// The dimension of what is made of operands; reports one whose exponents are out of range
    /// (`None`).
    pub fn in_range(&mut self, what: &str, place: Span, dimension: Option<Dimension>, operands: &[&Expr]) -> Option<Dimension> {
        if dimension.is_some() {
            return dimension;
        }
        let mut diagnostic = Diagnostic::new(
            Code::DimensionRange,
            place,
            format!("the dimension of {what} has an exponent beyond {}", Dimension::MAX_EXPONENT),
        );
        for operand in operands {
            diagnostic = diagnostic.also(operand.span, show_dimension(dim(operand)));
        }
        self.fail(diagnostic.hint("check the exponents; of a number without a dimension every power has none: `(x / (1 [Meter]))^...`"))
    }

    fn sequence<T>(&mut self, span: Span, message: &str) -> Option<T> {
        self.fail(
            Diagnostic::new(Code::SequenceArithmetic, span, message.to_owned())
                .label("`Sequence Of Scalar`")
                .hint("a sequence can be multiplied and divided by one Scalar; other arithmetic belongs into the loop over it"),
        )
    }

    /// `left * right`
    fn product(&mut self, op_span: Span, left: &Expr, right: &Expr) -> Option<(Type, TreeDimension)> {
        let (l, r) = self.numbers(Arithmetic::Mul, left, right)?;
        for (sequence, ty, other) in [(left, &l, &r), (right, &r, &l)] {
            if ty.shape == Shape::Sequence && *other != Type::SCALAR {
                return self.sequence(sequence.span, "a sequence can only be multiplied by one Scalar");
            }
        }
        self.same_set("`*`", op_span, (left, &l), (right, &r))?;
        if l.basic == Basic::Vector && r.basic == Basic::Vector {
            return self.fail(
                Diagnostic::new(Code::VectorProduct, op_span, "two Vectors cannot be multiplied with `*`")
                    .also(left.span, self.show_value(&l))
                    .also(right.span, self.show_value(&r))
                    .hint("the scalar product is `Dot(a, b)`"),
            );
        }
        let basic = if l.basic == Basic::Vector { l.basic } else { r.basic };
        let shape = if l.shape == Shape::Single { r.shape } else { l.shape };
        let dim = self.in_range("this product", op_span, dim(left).times(dim(right)), &[left, right])?;
        Some((Type { basic, shape, within: None, halo: crate::types::Halo::NONE }, dim.into()))
    }

    /// `left / right`
    fn quotient(&mut self, op_span: Span, left: &Expr, right: &Expr) -> Option<(Type, TreeDimension)> {
        let (l, r) = self.numbers(Arithmetic::Div, left, right)?;
        if r.basic != Basic::Scalar {
            let found = self.show_value(&r);
            return self.fail(
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
        self.same_set("`/`", op_span, (left, &l), (right, &r))?;
        let shape = if l.shape == Shape::Single { r.shape } else { l.shape };
        let dim = self.in_range("this quotient", op_span, dim(left).over(dim(right)), &[left, right])?;
        Some((Type { basic: l.basic, shape, within: None, halo: crate::types::Halo::NONE }, dim.into()))
    }
}
