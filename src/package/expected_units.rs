//! Units that inputs are given where they are read: `InputScalarWithDefault("k", 0.3) * 1 [Meter]`.
//!
//! What a program reads has no dimension, so programs multiply it by a quantity at once. This says
//! in which unit the user is expected to give the number. Only what stands in the expression itself
//! counts: numbers with units, their products and quotients, in parentheses or not.

use equelle_front::ops::Arithmetic;
use std::collections::BTreeMap;

use equelle_front::source::Span;
use equelle_front::syntax::ast::{BinaryOp, Block, CollectionDomain, Expr, ExprKind, Stmt, StmtKind, TypeExpr, TypeExprKind, UnaryOp};
use equelle_front::syntax::parse;
use equelle_front::types::Dimension;
use equelle_front::units;

/// A unit that an input is given.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expected {
    /// Its dimension.
    pub dimension: Dimension,
    /// What a 1 in the input is, in SI units.
    pub factor: f64,
    /// The quantity as the program has it, where the input is multiplied by one literal: `1
    /// [Kilo*Meter]`.
    pub written: Option<String>,
}

/// Units of the inputs of a program, by the place of the input's call.
pub(super) fn find(text: &str) -> BTreeMap<Span, Expected> {
    let mut finder = Finder { text, found: BTreeMap::new() };
    finder.statements(&parse(text).program.statements);
    finder.found
}

struct Finder<'t> {
    text: &'t str,
    found: BTreeMap<Span, Expected>,
}

/// A product of numbers, or of an input and numbers.
struct Product {
    factor: f64,
    dimension: Dimension,
    /// A unit is part of it.
    has_unit: bool,
    /// The input's call.
    input: Option<Span>,
    /// The number, if it is but one.
    literal: Option<Span>,
}

impl Product {
    /// Whether it is an input and nothing else.
    fn is_input(&self) -> bool {
        self.input.is_some() && !self.has_unit && self.literal.is_none() && self.factor == 1.0
    }
}

impl Finder<'_> {
    fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Declaration { name: _, ty } => self.ty(ty),
            StmtKind::FunctionDeclaration { name: _, params, result } => {
                params.iter().for_each(|(_, ty)| self.ty(ty));
                self.ty(result);
            }
            StmtKind::Assignment { name: _, ty, value } => {
                ty.iter().for_each(|ty| self.ty(ty));
                self.expr(value);
            }
            StmtKind::FunctionDefinition { name: _, params: _, body } => self.block(body),
            StmtKind::StencilAssignment { name: _, indices, value } => {
                indices.iter().for_each(|index| self.expr(index));
                self.expr(value);
            }
            StmtKind::Call(value) | StmtKind::Return(value) => self.expr(value),
            StmtKind::For { variable: _, sequence, body } => {
                self.expr(sequence);
                self.block(body);
            }
        }
    }

    fn block(&mut self, block: &Block) {
        self.statements(&block.statements);
    }

    fn ty(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeExprKind::Collection { element: _, place } => match place {
                Some(CollectionDomain::On(domain) | CollectionDomain::SubsetOf(domain)) => self.expr(domain),
                None => {}
            },
            TypeExprKind::Stencil(inner) | TypeExprKind::Mutable(inner) | TypeExprKind::Array { element: inner, .. } => self.ty(inner),
            TypeExprKind::Basic(_) | TypeExprKind::Sequence(_) | TypeExprKind::Error => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        if let Some(Product { factor, dimension, has_unit: true, input: Some(input), literal }) = product(expr) {
            let written = literal.and_then(|span| self.text.get(span.start as usize..span.end as usize)).map(str::to_owned);
            // A product that holds the one found before it has been looked at before.
            self.found.entry(input).or_insert(Expected { dimension, factor, written });
        }
        match &expr.kind {
            ExprKind::Number { .. } | ExprKind::Text(_) | ExprKind::Bool(_) | ExprKind::Name(_) | ExprKind::Error => {}
            ExprKind::Call { callee: _, args: parts } | ExprKind::Array(parts) => parts.iter().for_each(|part| self.expr(part)),
            ExprKind::Paren(inner) | ExprKind::Norm(inner) => self.expr(inner),
            ExprKind::Index { base: inner, .. } | ExprKind::Unary { operand: inner, .. } => self.expr(inner),
            ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Ternary { condition, if_true, if_false } => {
                self.expr(condition);
                self.expr(if_true);
                self.expr(if_false);
            }
        }
    }
}

/// The expression as a product of numbers and at most one input, which is no divisor.
fn product(expr: &Expr) -> Option<Product> {
    match &expr.kind {
        ExprKind::Number { value, unit } => {
            let unit_value = unit.as_ref().map(units::resolve).transpose().ok()?;
            let (factor, dimension) = match unit_value {
                Some(unit) => (unit.to_si(*value)?, unit.dimension),
                None => (*value, Dimension::NONE),
            };
            Some(Product { factor, dimension, has_unit: unit_value.is_some(), input: None, literal: Some(expr.span) })
        }
        ExprKind::Call { callee, args: _ } if callee.name.starts_with("Input") => {
            Some(Product { factor: 1.0, dimension: Dimension::NONE, has_unit: false, input: Some(expr.span), literal: None })
        }
        ExprKind::Paren(inner) => product(inner),
        ExprKind::Binary { op: BinaryOp::Arithmetic(Arithmetic::Mul), left, right, .. } => {
            let (a, b) = (product(left)?, product(right)?);
            if a.input.is_some() && b.input.is_some() {
                return None;
            }
            let literal = match (a.is_input(), b.is_input()) {
                (true, false) => b.literal,
                (false, true) => a.literal,
                (true, true) | (false, false) => None,
            };
            let dimension = a.dimension.times(b.dimension)?;
            let (factor, has_unit) = (a.factor * b.factor, a.has_unit || b.has_unit);
            factor.is_finite().then_some(Product { factor, dimension, has_unit, input: a.input.or(b.input), literal })
        }
        ExprKind::Binary { op: BinaryOp::Arithmetic(Arithmetic::Div), left, right, .. } => {
            let (a, b) = (product(left)?, product(right)?);
            let dimension = a.dimension.over(b.dimension)?;
            let (factor, has_unit) = (a.factor / b.factor, a.has_unit || b.has_unit);
            (b.input.is_none() && factor.is_finite()).then_some(Product { factor, dimension, has_unit, input: a.input, literal: None })
        }
        ExprKind::Unary { op: UnaryOp::Neg | UnaryOp::Not, .. }
        | ExprKind::Binary { .. }
        | ExprKind::Call { .. }
        | ExprKind::Text(_)
        | ExprKind::Bool(_)
        | ExprKind::Name(_)
        | ExprKind::Array(_)
        | ExprKind::Norm(_)
        | ExprKind::Index { .. }
        | ExprKind::Ternary { .. }
        | ExprKind::Error => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found for an expression: dimension, factor, text.
    fn expected(expression: &str) -> Option<(String, f64, Option<String>)> {
        let found = find(&format!("x = {expression}\n"));
        assert!(found.len() <= 1, "{found:?}");
        found.into_values().next().map(|e| (e.dimension.to_string(), e.factor, e.written))
    }

    #[test]
    fn literals_multiply_and_divide() {
        let written = |text: &str| Some(text.to_owned());
        for (expression, dimension, factor, text) in [
            ("Input(\"a\") * 1 [Kilo*Meter]", "[Meter]", 1000.0, written("1 [Kilo*Meter]")),
            ("2 [Hour] * Input(\"a\")", "[Second]", 7200.0, written("2 [Hour]")),
            ("((Input(\"a\"))) * (1 [Bar])", "[Meter^-1 * Second^-2 * Kilogram]", 1e5, written("1 [Bar]")),
            ("Input(\"a\") / 4 [Second]", "[Second^-1]", 0.25, None),
            // `a * b / c` is `a * (b / c)`.
            ("Input(\"a\") * 1 [Meter] / 2 [Second]", "[Meter * Second^-1]", 0.5, None),
            ("Input(\"a\") * 1 [Meter] * 3 [Meter]", "[Meter^2]", 3.0, None),
            ("Input(\"a\") / 2 * 1 [Meter]", "[Meter]", 0.5, None),
            ("f(1 + Input(\"a\") * 1 [Kelvin])", "[Kelvin]", 1.0, written("1 [Kelvin]")),
        ] {
            assert_eq!(expected(expression), Some((dimension.to_owned(), factor, text)), "{expression}");
        }
    }

    #[test]
    fn nothing_is_guessed() {
        for expression in [
            "Input(\"a\")",
            "Input(\"a\") * 2",
            "Input(\"a\") * length",
            "1 [Meter] / Input(\"a\")",
            "-Input(\"a\") + 1 [Meter]",
            "Input(\"a\") * Input(\"b\") * 1 [Meter]",
            "Input(\"a\") * 1 [NoUnit]",
            "Output(\"a\") * 1 [Meter]",
            "Input(\"a\") / 0 [Meter]",
        ] {
            assert_eq!(expected(expression), None, "{expression}");
        }
    }

    #[test]
    fn every_place_is_looked_at() {
        let text = "\
f(x) = {
    -> x * InputA(\"a\") + (InputB(\"b\") * 1 [Meter])
}
For t In InputC(\"c\") * 1 [Second] {
    y = [|InputD(\"d\") * 1 [Kelvin]|, True ? InputE(\"e\") * 1 [Bar] : 0][0]
    Output(\"f\", InputF(\"f\") * 1 [Joule])
}
";
        let names: Vec<&str> = find(text).into_keys().map(|span| &text[span.start as usize..span.start as usize + 6]).collect();
        assert_eq!(names, ["InputB", "InputC", "InputD", "InputE", "InputF"]);
    }
}
