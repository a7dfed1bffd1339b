//! Operations on values that have been checked: rules that several of them share.

use crate::check::checker::{Checker, dim, show_dimension, tree_dim};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::{Expr, ExprKind, TreeDimension, TreeType, Variable};
use crate::types::{Basic, Dimension, EntityKind, SetId, Type};

/// An operation on values that have been checked.
pub(super) struct Operation<'c, 'a> {
    pub checker: &'c mut Checker<'a>,
    /// Its name in messages.
    pub name: &'c str,
    /// The operator, or the operands of an operation without one.
    pub place: Span,
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

/// Hint how data on two sets can be combined.
fn domain_hint(checker: &Checker<'_>, a: SetId, b: SetId) -> String {
    let (a_name, b_name) = (checker.set_name(a), checker.set_name(b));
    let (a_kind, b_kind) = (checker.sets.get(a).kind, checker.sets.get(b).kind);
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
    if checker.sets.is_subset(a, b) {
        format!("pad the left with zeros, `(...) Extend {b_name}`, or restrict the right, `(...) On {a_name}`")
    } else if checker.sets.is_subset(b, a) {
        format!("restrict the left, `(...) On {b_name}`, or pad the right with zeros, `(...) Extend {a_name}`")
    } else {
        let common = checker.sets.common_superset(a, b);
        format!("pad both with zeros: `(...) Extend {}`", checker.set_name(common))
    }
}

impl<'c, 'a> Operation<'c, 'a> {
    pub fn new(checker: &'c mut Checker<'a>, name: &'c str, place: Span) -> Self {
        Operation { checker, name, place }
    }

    /// The types of two operands that must not be arrays. Two arrays are one mistake.
    pub fn no_arrays(&mut self, left: &Expr, right: &Expr) -> Option<(Type, Type)> {
        let l = self.no_array(left);
        if l.is_none() && matches!(right.ty, TreeType::Array(_)) {
            return None;
        }
        let r = self.no_array(right);
        Some((l?, r?))
    }

    /// The type of an operand that must not be an array.
    pub fn no_array(&mut self, operand: &Expr) -> Option<Type> {
        match operand.ty {
            TreeType::Value(ty) => Some(ty),
            TreeType::Table2 => {
                let found = self.checker.show(&operand.ty);
                self.checker.fail(
                    Diagnostic::new(Code::NotNumeric, operand.span, format!("{} takes no tables, and this is {found}", self.name))
                        .label(found)
                        .hint("the value of a table at `x` and `y` is `Interpolate(table, x, y)`"),
                )
            }
            TreeType::Array(_) | TreeType::Void => {
                let found = self.checker.show(&operand.ty);
                self.checker.fail(
                    Diagnostic::new(Code::ArrayOperand, operand.span, format!("{} takes no arrays, and this is {found}", self.name))
                        .label(found)
                        .hint("work on its elements: `a[0]`, `a[1]`, ..."),
                )
            }
        }
    }

    /// Reports an operand that is not a number.
    pub fn numeric(&mut self, operand: &Expr, ty: &Type) -> Option<()> {
        let hint = match ty.basic {
            Basic::Scalar | Basic::Vector => return Some(()),
            Basic::Bool => "choose numbers by a condition with `condition ? a : b`",
            Basic::Entity(_) => "the measure of an entity is `|e|`, its place `Centroid(e)`",
            Basic::Table => "the value of a table at `x` is `Interpolate(table, x)`",
            Basic::Axis(_) => "an index variable stands in a read alone, as in `u(i+1)`; the number of a cell is `IndexOf(i)`",
            Basic::Text => "text is only for names and tags",
        };
        let found = self.checker.show_value(ty);
        self.checker.fail(
            Diagnostic::new(Code::NotNumeric, operand.span, format!("{} takes numbers, and this is {found}", self.name))
                .label(found)
                .hint(hint),
        )
    }

    /// Reports two collections on different sets.
    pub fn same_set(&mut self, left: (&Expr, &Type), right: (&Expr, &Type)) -> Option<()> {
        let (Some(a), Some(b)) = (left.1.mapping(), right.1.mapping()) else { return Some(()) };
        if a == b {
            return Some(());
        }
        let hint = domain_hint(self.checker, a, b);
        self.different_sets(left, right, hint)
    }

    /// [`Operation::same_set`] of the condition and a branch of a choice.
    pub fn same_set_as_condition(&mut self, condition: (&Expr, &Type), branch: (&Expr, &Type)) -> Option<()> {
        let (Some(a), Some(b)) = (condition.1.mapping(), branch.1.mapping()) else { return Some(()) };
        if a == b {
            return Some(());
        }
        let hint = format!("{}; one truth value of the condition is `AnyReduce(...)` or `AllReduce(...)`", domain_hint(self.checker, a, b));
        Operation::new(self.checker, self.name, condition.0.span).different_sets(condition, branch, hint)
    }

    fn different_sets(&mut self, left: (&Expr, &Type), right: (&Expr, &Type), hint: String) -> Option<()> {
        let (Some(a), Some(b)) = (left.1.mapping(), right.1.mapping()) else { return Some(()) };
        let diagnostic = Diagnostic::new(
            Code::DifferentDomains,
            self.place,
            format!(
                "{} needs collections on the same domain, but these are on {} and {}",
                self.name,
                self.checker.set_name(a),
                self.checker.set_name(b)
            ),
        )
        .also(left.0.span, self.checker.show_value(left.1))
        .also(right.0.span, self.checker.show_value(right.1))
        .hint(hint);
        self.checker.fail(diagnostic)
    }

    /// The dimension of two values that meet; reports different ones.
    pub fn same_dimension(&mut self, code: Code, left: &Expr, right: &Expr) -> Option<TreeDimension> {
        if let Some(joined) = self.checker.options.joined(tree_dim(left), tree_dim(right)) {
            return Some(joined);
        }
        let (a, b) = (dim(left), dim(right));
        // A variable without a unit is one mistake, wherever it meets the same one.
        for (operand, other) in [(left, b), (right, a)] {
            if let ExprKind::Variable(var) = operand.kind
                && dim(operand) == Dimension::NONE
                && !self.checker.reports.without_unit.insert((var, other))
            {
                return self.checker.reports.unknown();
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
                    ExprKind::Variable(var) => Some(self.checker.tree.variable(*var)),
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
            self.place,
            format!("{} needs equal dimensions, but the first value has {a_text} and the second {b_text}", self.name),
        )
        .also(left.span, a_text)
        .also(right.span, b_text)
        .hint(hint);
        self.checker.fail(diagnostic)
    }

    /// The dimension of what is made of operands; reports one whose exponents are out of range
    /// (`None`).
    pub fn in_range(&mut self, what: &str, dimension: Option<Dimension>, operands: &[&Expr]) -> Option<Dimension> {
        if dimension.is_some() {
            return dimension;
        }
        let mut diagnostic = Diagnostic::new(
            Code::DimensionRange,
            self.place,
            format!("the dimension of {what} has an exponent beyond {}", Dimension::MAX_EXPONENT),
        );
        for operand in operands {
            diagnostic = diagnostic.also(operand.span, show_dimension(dim(operand)));
        }
        self.checker
            .fail(diagnostic.hint("check the exponents; of a number without a dimension every power has none: `(x / (1 [Meter]))^...`"))
    }
}
