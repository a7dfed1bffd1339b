//! Constants that are not finite: `1/0`, `Sqrt(-1)`, a division by a variable that is 0.
//!
//! Values that are known without a grid and without inputs are evaluated as the program would,
//! through variables that are assigned once. The branch that a known condition does not choose is
//! not looked at, so that a test may guard a division.

use std::collections::HashMap;

use crate::check::checker::Checker;
use crate::diagnostic::{Code, Diagnostic};
use crate::ops::{Argument, Arithmetic, Comparison, Logic};
use crate::source::Span;
use crate::typed::{Builtin, Expr, ExprKind, Stmt, StmtKind, VarId};

/// Known value; for a collection, the known value of each of its elements.
#[derive(Clone, Debug, PartialEq)]
enum ConstantValue {
    /// A finite number.
    Number(f64),
    Truth(bool),
    /// Values of the elements of an array.
    Array(Vec<ConstantValue>),
    Nothing,
}

impl ConstantValue {
    fn number(&self) -> Option<f64> {
        match self {
            ConstantValue::Number(value) => Some(*value),
            ConstantValue::Truth(_) | ConstantValue::Array(_) | ConstantValue::Nothing => None,
        }
    }

    fn negative(&self) -> ConstantValue {
        self.number().map_or(ConstantValue::Nothing, |value| ConstantValue::Number(-value))
    }

    /// Returns the value of an element of an array, or the one value that stands beside each.
    fn element(&self, index: usize) -> ConstantValue {
        match self {
            ConstantValue::Array(elements) => elements.get(index).cloned().unwrap_or(ConstantValue::Nothing),
            ConstantValue::Number(_) | ConstantValue::Truth(_) | ConstantValue::Nothing => self.clone(),
        }
    }
}

struct Constants<'c, 'a> {
    checker: &'c mut Checker<'a>,
    /// Values of variables that are assigned once.
    variables: HashMap<VarId, ConstantValue>,
}

/// Reports constants that are not finite in a program without errors.
pub(super) fn check(checker: &mut Checker<'_>, main: &[Stmt]) {
    let functions = std::mem::take(&mut checker.tree.functions);
    let mut constants = Constants { checker, variables: HashMap::new() };
    constants.statements(main);
    // A function may read variables of the one around it, which calls it and so comes later.
    for function in functions.iter().rev() {
        constants.statements(&function.body);
    }
    checker.tree.functions = functions;
}

impl Constants<'_, '_> {
    fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            match &statement.kind {
                StmtKind::Let { variable, value } => {
                    let known = self.value(value);
                    self.variables.insert(*variable, known);
                }
                StmtKind::Assign { value, .. } | StmtKind::Discard(value) | StmtKind::Return(value) => {
                    self.value(value);
                }
                StmtKind::Output { tag, value } => {
                    self.value(tag);
                    self.value(value);
                }
                StmtKind::For { sequence: head, body, .. } | StmtKind::Conditional { condition: head, body, .. } => {
                    self.value(head);
                    self.statements(body);
                }
                StmtKind::Range { from, below, body, .. } => {
                    self.value(from);
                    self.value(below);
                    self.statements(body);
                }
            }
        }
    }

    fn all(&mut self, values: &[Expr]) -> Vec<ConstantValue> {
        values.iter().map(|value| self.value(value)).collect()
    }

    fn value(&mut self, expr: &Expr) -> ConstantValue {
        // Chains of operators may be thousands long.
        let mut chain = Vec::new();
        let mut first = expr;
        while let Some(left) = first.left_operand() {
            chain.push(first);
            first = left;
        }
        let mut known = self.operand(first);
        let mut left = first;
        for operation in chain.into_iter().rev() {
            known = self.infix(operation, left, known);
            left = operation;
        }
        known
    }

    /// An infix operation on something known, or not, of its left operand.
    fn infix(&mut self, expr: &Expr, left_operand: &Expr, left: ConstantValue) -> ConstantValue {
        match &expr.kind {
            ExprKind::Arithmetic { op, right: right_operand, .. } => {
                let right = self.value(right_operand);
                let size = match (&left, &right) {
                    (ConstantValue::Array(elements), _) | (_, ConstantValue::Array(elements)) => elements.len(),
                    (_, _) => return self.arithmetic(*op, expr, (left_operand, left), (right_operand, right)),
                };
                let element = |i| self.arithmetic(*op, expr, (left_operand, left.element(i)), (right_operand, right.element(i)));
                ConstantValue::Array((0..size).map(element).collect())
            }
            ExprKind::Comparison { op, right, .. } => match (left, self.value(right)) {
                (ConstantValue::Number(a), ConstantValue::Number(b)) => ConstantValue::Truth(op.holds(&a, &b)),
                (ConstantValue::Truth(a), ConstantValue::Truth(b)) if *op == Comparison::Equal => ConstantValue::Truth(a == b),
                (ConstantValue::Truth(a), ConstantValue::Truth(b)) if *op == Comparison::NotEqual => ConstantValue::Truth(a != b),
                _ => ConstantValue::Nothing,
            },
            ExprKind::Logic { op, right, .. } => match (left, self.value(right)) {
                (ConstantValue::Truth(a), ConstantValue::Truth(b)) => ConstantValue::Truth(match op {
                    Logic::And => a && b,
                    Logic::Or => a || b,
                    Logic::Xor => a != b,
                }),
                _ => ConstantValue::Nothing,
            },
            ExprKind::On { target: other, .. } => {
                self.value(other);
                left
            }
            // A collection is padded with zeros; a single value is spread.
            ExprKind::Extend { domain: other, .. } => {
                self.value(other);
                if left_operand.ty.value().is_some_and(|ty| ty.shape == crate::types::Shape::Single) {
                    left
                } else {
                    ConstantValue::Nothing
                }
            }
            _ => ConstantValue::Nothing,
        }
    }

    fn operand(&mut self, expr: &Expr) -> ConstantValue {
        match &expr.kind {
            ExprKind::Number(value) => ConstantValue::Number(*value),
            ExprKind::Bool(value) => ConstantValue::Truth(*value),
            ExprKind::Variable(variable) => self.variables.get(variable).cloned().unwrap_or(ConstantValue::Nothing),
            ExprKind::Array(elements) => ConstantValue::Array(self.all(elements)),
            ExprKind::Read { args, .. } => {
                self.all(args);
                ConstantValue::Nothing
            }
            ExprKind::Axis(_) | ExprKind::CellFact(_) | ExprKind::GridNumber(_) => ConstantValue::Nothing,
            ExprKind::Element { array, index } => match self.value(array) {
                ConstantValue::Array(elements) => elements.into_iter().nth(*index as usize).unwrap_or(ConstantValue::Nothing),
                ConstantValue::Number(_) | ConstantValue::Truth(_) | ConstantValue::Nothing => ConstantValue::Nothing,
            },
            ExprKind::Neg(inner) => match self.value(inner) {
                ConstantValue::Array(elements) => ConstantValue::Array(elements.iter().map(ConstantValue::negative).collect()),
                value => value.negative(),
            },
            ExprKind::Norm(inner) => self.value(inner).number().map_or(ConstantValue::Nothing, |value| ConstantValue::Number(value.abs())),
            ExprKind::Not(inner) => match self.value(inner) {
                ConstantValue::Truth(value) => ConstantValue::Truth(!value),
                ConstantValue::Number(_) | ConstantValue::Array(_) | ConstantValue::Nothing => ConstantValue::Nothing,
            },
            ExprKind::Ternary { condition, if_true, if_false } => match self.value(condition) {
                ConstantValue::Truth(true) => self.value(if_true),
                ConstantValue::Truth(false) => self.value(if_false),
                ConstantValue::Number(_) | ConstantValue::Array(_) | ConstantValue::Nothing => {
                    self.value(if_true);
                    self.value(if_false);
                    ConstantValue::Nothing
                }
            },
            ExprKind::Power { base, exponent } => {
                let Some(value) = self.value(base).number() else { return ConstantValue::Nothing };
                let text = format!("{} ^ {exponent}", shown(value));
                let hint = if value == 0.0 { DIVISOR } else { TOO_LARGE };
                self.finite(value.powi(*exponent), &text, hint, expr.span, &[base])
            }
            ExprKind::Builtin { builtin, args } => self.builtin(*builtin, args, expr.span),
            ExprKind::Vector(args) | ExprKind::Call { args, .. } | ExprKind::Newton { guesses: args, .. } => {
                self.all(args);
                ConstantValue::Nothing
            }
            ExprKind::Component { vector, .. } => {
                self.value(vector);
                ConstantValue::Nothing
            }
            ExprKind::Text(_) | ExprKind::CanonicalSet(_) => ConstantValue::Nothing,
            // These have a left operand.
            ExprKind::Arithmetic { .. }
            | ExprKind::Comparison { .. }
            | ExprKind::Logic { .. }
            | ExprKind::On { .. }
            | ExprKind::Extend { .. } => ConstantValue::Nothing,
        }
    }

    fn arithmetic(
        &mut self,
        op: Arithmetic,
        expr: &Expr,
        (left, a): (&Expr, ConstantValue),
        (right, b): (&Expr, ConstantValue),
    ) -> ConstantValue {
        let (a, b) = (a.number(), b.number());
        if op == Arithmetic::Div && b == Some(0.0) {
            let diagnostic = Diagnostic::new(Code::NotFinite, expr.span, "this is never a finite number: the divisor is 0").hint(DIVISOR);
            self.report(diagnostic, &[right]);
            return ConstantValue::Nothing;
        }
        let (Some(a), Some(b)) = (a, b) else { return ConstantValue::Nothing };
        let value = match op {
            Arithmetic::Add => a + b,
            Arithmetic::Sub => a - b,
            Arithmetic::Mul => a * b,
            Arithmetic::Div => a / b,
        };
        self.finite(value, &format!("{} {} {}", shown(a), op.symbol(), shown(b)), TOO_LARGE, expr.span, &[left, right])
    }

    fn builtin(&mut self, builtin: Builtin, args: &[Expr], span: Span) -> ConstantValue {
        let known = self.all(args);
        let numbers: Option<Vec<f64>> = known.iter().map(ConstantValue::number).collect();
        let (name, value, hint) = match (builtin, numbers.as_deref()) {
            (Builtin::Sqrt, Some(&[x])) => ("Sqrt", x.sqrt(), "only numbers that are not negative have a square root"),
            (Builtin::Elementary(function), Some(&[x])) => {
                let hint = match function.argument() {
                    Argument::Positive => "only positive numbers have a logarithm",
                    Argument::SineOrCosine => "a sine or cosine is between -1 and 1",
                    Argument::Any(..) => TOO_LARGE,
                };
                (function.name(), function.of(x), hint)
            }
            (Builtin::Abs, Some(&[x])) => ("Abs", x.abs(), TOO_LARGE),
            (Builtin::Min, Some(&[a, b])) => ("Min", if b < a { b } else { a }, TOO_LARGE),
            (Builtin::Max, Some(&[a, b])) => ("Max", if b > a { b } else { a }, TOO_LARGE),
            (Builtin::ATan2, Some(&[y, x])) => ("ATan2", y.atan2(x), TOO_LARGE),
            (Builtin::Pow, Some(&[a, b])) => {
                let hint = match a {
                    0.0 => DIVISOR,
                    a if a < 0.0 => "a negative number has powers by whole numbers alone",
                    _ => TOO_LARGE,
                };
                ("Pow", a.powf(b), hint)
            }
            (
                Builtin::Sqrt
                | Builtin::Abs
                | Builtin::Elementary(_)
                | Builtin::Min
                | Builtin::Max
                | Builtin::Pow
                | Builtin::ATan2
                | Builtin::FirstCell
                | Builtin::SecondCell
                | Builtin::IsEmpty
                | Builtin::InnerCell
                | Builtin::OutwardSign
                | Builtin::OutwardNormal
                | Builtin::GivenTransmissibility
                | Builtin::Centroid
                | Builtin::Normal
                | Builtin::Gradient
                | Builtin::Divergence
                | Builtin::FaceSum
                | Builtin::FaceMax
                | Builtin::FaceMin
                | Builtin::Dot
                | Builtin::MaxReduce
                | Builtin::MinReduce
                | Builtin::SumReduce
                | Builtin::ProdReduce
                | Builtin::AnyReduce
                | Builtin::AllReduce
                | Builtin::InputScalarWithDefault
                | Builtin::InputCollection(_)
                | Builtin::InputDomainSubsetOf
                | Builtin::InputSequenceOfScalar
                | Builtin::InputTable
                | Builtin::InputTable2
                | Builtin::Interpolate
                | Builtin::Interpolate2
                | Builtin::Where,
                _,
            ) => return ConstantValue::Nothing,
        };
        let numbers: Vec<String> = known.iter().filter_map(ConstantValue::number).map(shown).collect();
        self.finite(value, &format!("{name}({})", numbers.join(", ")), hint, span, &args.iter().collect::<Vec<_>>())
    }

    /// A number, unless it is not finite, which is reported.
    fn finite(&mut self, value: f64, text: &str, hint: &str, span: Span, operands: &[&Expr]) -> ConstantValue {
        if value.is_finite() {
            return ConstantValue::Number(value);
        }
        let is = if value.is_nan() { "not a number" } else { "infinite" };
        self.report(Diagnostic::new(Code::NotFinite, span, format!("`{text}` is {is}")).hint(hint), operands);
        ConstantValue::Nothing
    }

    /// Reports, with the variables among the operands.
    fn report(&mut self, mut diagnostic: Diagnostic, operands: &[&Expr]) {
        for operand in operands {
            if let ExprKind::Variable(variable) = operand.kind
                && let Some(ConstantValue::Number(value)) = self.variables.get(&variable)
            {
                let declared = self.checker.tree.variable(variable);
                diagnostic = diagnostic.also(declared.span, format!("`{}` is {}", declared.name, shown(*value)));
            }
        }
        self.checker.report(diagnostic);
    }
}

/// In shortest digits.
fn shown(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-5..1e16).contains(&size) { value.to_string() } else { format!("{value:e}") }
}

const DIVISOR: &str = "divide by a number that is not 0; what may be 0 in a run is an input: `InputScalarWithDefault(...)`";
const TOO_LARGE: &str = "the largest number is about 1.8e308";
