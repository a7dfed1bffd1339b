//! Expressions: literals, names, arrays, indices, signs and norms; the other files of this folder
//! do the operators and calls.

use crate::check::arrays::element;
use crate::check::checker::{Checker, tree_dim, value};
use crate::check::scope::{Meaning, State};
use crate::check::stencil::bare;
use crate::diagnostic::{Code, Diagnostic};
use crate::ops::CONSTANTS;
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOp, ExprKind as Ast, UnaryOp, UnitExpr, UnitExprKind};
use crate::typed::{Expr, ExprKind, TreeDimension, TreeType};
use crate::types::{Basic, Dimension, EntityKind, Shape, Type};
use crate::unit_spelling::{kelvins, spelling};
use crate::units::{self, UnitError};

impl<'a> Checker<'a> {
    /// An expression that has a value. `None` if it is unknown.
    pub fn expr(&mut self, expr: &'a ast::Expr) -> Option<Expr> {
        let span = expr.span;
        if !self.frames.is_empty() {
            self.work += 1;
        }
        self.nested(1, span, |this| match &expr.kind {
            Ast::Number { value, unit } => this.number(*value, unit.as_ref(), span),
            Ast::Text(text) => Some(value(ExprKind::Text(text.clone()), Type::TEXT, Dimension::NONE, span)),
            Ast::Bool(truth) => Some(value(ExprKind::Bool(*truth), Type::BOOL, Dimension::NONE, span)),
            Ast::Name(name) => this.name(name, span),
            Ast::Call { callee, args } => this.call(callee, args, span),
            Ast::Array(elements) => this.array(elements, span),
            Ast::Paren(inner) => this.expr(inner).map(|e| Expr { span, ..e }),
            Ast::Norm(inner) => this.norm(inner, span),
            Ast::Index { base, index, index_span } => this.index(base, *index, *index_span, span),
            Ast::Unary { op: UnaryOp::Neg, operand } => this.negative(operand, span),
            Ast::Unary { op: UnaryOp::Not, operand } => this.not(operand, span),
            Ast::Binary { .. } => this.binary(expr),
            Ast::Ternary { condition, if_true, if_false } => this.ternary(condition, if_true, if_false, span),
            Ast::Error => this.unknown(),
        })
    }

    /// A chain of infix operators, each the left operand of the next: in a loop, because it may be
    /// long.
    fn binary(&mut self, expr: &'a ast::Expr) -> Option<Expr> {
        let mut chain = Vec::new();
        let mut leftmost = expr;
        while let Ast::Binary { op, op_span, left, right } = &leftmost.kind {
            chain.push((*op, *op_span, &**right, leftmost.span));
            leftmost = left;
        }
        if !self.frames.is_empty() {
            self.work += chain.len() as u64;
        }
        let mut result = self.expr(leftmost);
        for (op, op_span, right, span) in chain.into_iter().rev() {
            // Both sides are always looked at, so that each gets its own diagnostics.
            let right = self.expr(right);
            result = match (result, right) {
                (Some(left), Some(right)) => {
                    let operands = [left.ty.clone(), right.ty.clone()];
                    let result = self.infix(op, op_span, bare(left), bare(right), span);
                    // A value moved by `On` or spread by `Extend` is not where it was.
                    if matches!(op, BinaryOp::On | BinaryOp::Extend) { result } else { result.map(|e| self.keep_periodic(e, &operands)) }
                }
                (Some(_), None) | (None, Some(_) | None) => None,
            };
        }
        result
    }

    fn infix(&mut self, op: BinaryOp, op_span: Span, left: Expr, right: Expr, span: Span) -> Option<Expr> {
        match op {
            BinaryOp::Arithmetic(op) => self.arithmetic(op, op_span, left, right, span),
            BinaryOp::Power => self.power(op_span, left, right, span),
            BinaryOp::Comparison(op) => self.compare(op, op_span, left, right, span),
            BinaryOp::Logic(op) => self.logic(op, op_span, left, right, span),
            BinaryOp::On => self.on(op_span, left, right, span),
            BinaryOp::Extend => self.extend(op_span, left, right, span),
        }
    }

    fn number(&mut self, number: f64, unit: Option<&UnitExpr>, span: Span) -> Option<Expr> {
        let Some(unit) = unit else {
            let dim = if number == 0.0 { TreeDimension::OfZero } else { Dimension::NONE.into() };
            return Some(value(ExprKind::Number(number), Type::SCALAR, dim, span));
        };
        match units::resolve(unit) {
            Ok(resolved) => match resolved.to_si(number) {
                Some(si) => Some(value(ExprKind::Number(si), Type::SCALAR, self.dimension(resolved.dimension), span)),
                None => self.unit_range(span),
            },
            Err(UnitError::OutOfRange { span }) => self.unit_range(span),
            Err(UnitError::Unknown { name, span }) => {
                let hint = self.unit_hint(&name, number, matches!(unit.kind, UnitExprKind::Name(_)));
                self.fail(Diagnostic::new(Code::UnknownUnit, span, format!("there is no unit `{name}`")).hint(hint))
            }
        }
    }

    /// The hint for an unknown unit of a number; `is_whole` if nothing stands beside it.
    fn unit_hint(&mut self, name: &str, number: f64, is_whole: bool) -> String {
        let names = units::UNITS.iter().map(|u| u.name);
        match kelvins(name, number) {
            Some(kelvins) if is_whole => {
                let zero = self::kelvins(name, 0.0).unwrap_or_default();
                return format!(
                    "the zero of this scale is another one, `{zero} [Kelvin]`: {number} is `{kelvins} [Kelvin]`; to what is read add that zero"
                );
            }
            Some(_) => return "differences of temperatures are in `Kelvin`".to_owned(),
            None => {}
        }
        if let Some(written) = spelling(name, names.clone(), !is_whole) {
            return format!("write `{written}`");
        }
        match self.suggest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`equellec explain E0301` lists the units; prefixes are factors of their own: `[Kilo*Meter]`".to_owned(),
        }
    }

    fn unit_range<T>(&mut self, span: Span) -> Option<T> {
        self.fail(
            Diagnostic::new(Code::UnitRange, span, "the unit, or the number in SI units, is too large or too small to be represented")
                .hint("check the exponents"),
        )
    }

    fn name(&mut self, name: &'a str, span: Span) -> Option<Expr> {
        let Some(id) = self.scopes.lookup(name, self.scope) else {
            return match CONSTANTS.iter().find(|(constant, _)| *constant == name) {
                Some(&(_, number)) => Some(value(ExprKind::Number(number), Type::SCALAR, Dimension::NONE, span)),
                None => self.unknown_name(name, span),
            };
        };
        let entry = self.scopes.entry_mut(id);
        entry.used = true;
        let defined = entry.span;
        match &mut entry.meaning {
            Meaning::Function(_) if self.unknown_names.contains(name) => self.unknown(),
            Meaning::Function(_) if self.clashes.contains(name) => self.unknown(),
            Meaning::Function(_) => {
                let hint = format!("call it: `{name}(...)`");
                self.unknown_names.insert(name.to_owned());
                self.fail(
                    Diagnostic::new(Code::FunctionAsValue, span, format!("`{name}` is a function, and a function is not a value"))
                        .also(defined, "the function is named here")
                        .hint(hint),
                )
            }
            Meaning::Variable(variable) => match variable.state {
                State::Assigned(var) => {
                    let variable = &self.variables[var.0 as usize];
                    Some(Expr { kind: ExprKind::Variable(var), ty: variable.ty.clone(), dims: variable.dims.clone(), span })
                }
                State::Unknown => self.unknown(),
                State::Unassigned if variable.reported => self.unknown(),
                State::Unassigned => {
                    variable.reported = true;
                    self.fail(
                        Diagnostic::new(Code::UnassignedVariable, span, format!("`{name}` is declared but has no value yet"))
                            .also(defined, "declared here")
                            .hint(format!("assign it first: `{name} = ...`")),
                    )
                }
            },
        }
    }

    fn unknown_name<T>(&mut self, name: &str, span: Span) -> Option<T> {
        if !self.unknown_names.insert(name.to_owned()) {
            return self.unknown();
        }
        let mut diagnostic = Diagnostic::new(Code::UnknownName, span, format!("there is no variable `{name}` here"));
        if let Some(later) = self.scopes.defined_later(name, self.scope) {
            diagnostic = diagnostic
                .also(self.scopes.entry(later).span, format!("`{name}` comes into being here, after the function that uses it"))
                .hint("move the definition of the function below it");
            return self.fail(diagnostic);
        }
        let near = self.suggest_visible(name, false);
        diagnostic = match near {
            Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
            None => diagnostic.hint(format!("assign it first: `{name} = ...`")),
        };
        self.fail(diagnostic)
    }

    fn array(&mut self, elements: &'a [ast::Expr], span: Span) -> Option<Expr> {
        if elements.is_empty() {
            return self.fail(
                Diagnostic::new(Code::EmptyArray, span, "an array has at least one element, and this has none")
                    .hint("list its elements: `[a, b]`"),
            );
        }
        // Every element is looked at before the first unknown one ends it.
        let elements: Vec<Option<Expr>> = elements.iter().map(|e| self.expr(e)).collect();
        let elements: Vec<Expr> = elements.into_iter().collect::<Option<_>>()?;
        let mut types: Vec<Type> = Vec::with_capacity(elements.len());
        let mut dims = Vec::with_capacity(elements.len());
        for element in &elements {
            if matches!(element.ty, TreeType::Value(Type::TABLE) | TreeType::Table2) {
                let found = self.show(&element.ty);
                return self.fail(Diagnostic::new(Code::TableElement, element.span, "an array cannot hold tables").label(found).hint(
                    "give each table a name of its own; arrays of what tables give are possible: `[Interpolate(t, x), Interpolate(t, y)]`",
                ));
            }
            let TreeType::Value(ty) = element.ty else {
                return self.fail(
                    Diagnostic::new(Code::NestedArray, element.span, "an array cannot hold arrays").hint("list the elements themselves"),
                );
            };
            if matches!(ty.basic, Basic::Axis(_)) {
                return self.fail(
                    Diagnostic::new(Code::StencilNotIndex, element.span, "an array cannot hold index variables")
                        .hint("pass them to functions one by one"),
                );
            }
            if let Some(first) = types.first()
                && !differ_only_in_set(first, &ty)
            {
                let (first, found) = (self.show_value(first), self.show_value(&ty));
                return self.fail(
                    Diagnostic::new(
                        Code::ArrayElementTypes,
                        element.span,
                        format!("the elements of an array have one type: the first is {first}, this one {found}"),
                    )
                    .label(found)
                    .also(elements[0].span, first)
                    .hint("give values of different types names of their own; only the domains of collections may differ"),
                );
            }
            types.push(ty);
            dims.push(tree_dim(element));
        }
        Some(Expr { ty: TreeType::Array(types.into()), kind: ExprKind::Array(elements), dims, span })
    }

    /// The type that covers both, if they differ at most in what their entities are known to lie
    /// in.
    pub fn join(&self, a: &Type, b: &Type) -> Option<Type> {
        if a == b {
            return Some(*a);
        }
        let within = match (a.within, b.within) {
            (Some(a), Some(b)) => Some(self.sets.common_superset(a, b)),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return None,
        };
        (a.basic == b.basic && a.shape == b.shape).then_some(Type { within, ..*a })
    }

    fn index(&mut self, base: &'a ast::Expr, index: u32, index_span: Span, span: Span) -> Option<Expr> {
        let base = self.expr(base)?;
        let found = self.show(&base.ty);
        match &base.ty {
            TreeType::Array(elements) => match (elements.get(index as usize), base.dims.get(index as usize)) {
                (Some(&element), Some(&dim)) => Some(value(ExprKind::Element { array: Box::new(base), index }, element, dim, span)),
                (Some(_) | None, _) => {
                    let size = elements.len();
                    self.fail(
                        Diagnostic::new(Code::ArrayIndex, index_span, format!("there is no element {index} in an array of {size}"))
                            .also(base.span, found)
                            .hint(format!("the elements are numbered from 0 to {}", size.saturating_sub(1))),
                    )
                }
            },
            &TreeType::Value(ty) if ty.basic == Basic::Vector => {
                if index > 2 {
                    return self.fail(
                        Diagnostic::new(Code::VectorIndex, index_span, format!("there is no component {index} in a Vector"))
                            .hint("the components are 0, 1 and, on 3D grids, 2"),
                    );
                }
                let (dim, operands) = (tree_dim(&base), [base.ty.clone()]);
                let component = ExprKind::Component { vector: Box::new(base), index };
                Some(self.keep_periodic(value(component, Type { basic: Basic::Scalar, ..ty.bare() }, dim, span), &operands))
            }
            TreeType::Value(_) | TreeType::Table2 | TreeType::Void => self.fail(
                Diagnostic::new(Code::NotIndexable, base.span, format!("only arrays and Vectors can be indexed, and this is {found}"))
                    .label(found)
                    .hint("to pick elements of a collection, restrict it with `On` a domain"),
            ),
        }
    }

    /// The types of two operands that must not be arrays. Two arrays are one mistake.
    pub fn no_arrays(&mut self, left: &Expr, right: &Expr, what: &str) -> Option<(Type, Type)> {
        let l = self.no_array(left, what);
        if l.is_none() && matches!(right.ty, TreeType::Array(_)) {
            return None;
        }
        let r = self.no_array(right, what);
        Some((l?, r?))
    }

    /// The type of an operand that must not be an array.
    pub fn no_array(&mut self, operand: &Expr, what: &str) -> Option<Type> {
        match operand.ty {
            TreeType::Value(ty) => Some(ty),
            TreeType::Table2 => {
                let found = self.show(&operand.ty);
                self.fail(
                    Diagnostic::new(Code::NotNumeric, operand.span, format!("{what} takes no tables, and this is {found}"))
                        .label(found)
                        .hint("the value of a table at `x` and `y` is `Interpolate(table, x, y)`"),
                )
            }
            TreeType::Array(_) | TreeType::Void => {
                let found = self.show(&operand.ty);
                self.fail(
                    Diagnostic::new(Code::ArrayOperand, operand.span, format!("{what} takes no arrays, and this is {found}"))
                        .label(found)
                        .hint("work on its elements: `a[0]`, `a[1]`, ..."),
                )
            }
        }
    }

    fn negative(&mut self, operand: &'a ast::Expr, span: Span) -> Option<Expr> {
        let operand = self.expr(operand)?;
        for index in 0..operand.ty.elements().len().max(1) {
            let element = element(&operand, index);
            let ty = self.no_array(&element, "unary minus")?;
            self.numeric(&element, &ty, "`-`")?;
        }
        let operands = [operand.ty.clone()];
        let (ty, dims) = (operand.ty.bare(), operand.dims.clone());
        Some(self.keep_periodic(Expr { kind: ExprKind::Neg(Box::new(operand)), ty, dims, span }, &operands))
    }

    fn norm(&mut self, operand: &'a ast::Expr, span: Span) -> Option<Expr> {
        let operand = self.expr(operand)?;
        let ty = self.no_array(&operand, "`| |`")?;
        let dim = match ty.basic {
            Basic::Scalar | Basic::Vector if ty.shape != Shape::Sequence => tree_dim(&operand),
            Basic::Entity(kind) => {
                let power = match kind {
                    EntityKind::Vertex => 0,
                    EntityKind::Edge => 1,
                    EntityKind::Face => 2,
                    EntityKind::Cell => 3,
                };
                self.dimension(Dimension::LENGTH.power(power).unwrap_or_default()).into()
            }
            Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Text | Basic::Table | Basic::Axis(_) => {
                let found = self.show_value(&ty);
                return self.fail(
                    Diagnostic::new(Code::NoNorm, operand.span, format!("`| |` is for Scalars, Vectors and entities, not for {found}"))
                        .label(found)
                        .hint(match ty.basic {
                            Basic::Bool => "to count where a condition holds, choose numbers by it: `SumReduce(condition ? one : zero)`",
                            Basic::Scalar | Basic::Vector | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => {
                                "take the magnitude of one value at a time"
                            }
                        }),
                );
            }
        };
        let shape = ty.mapping().map_or(Shape::Single, Shape::Collection);
        Some(value(
            ExprKind::Norm(Box::new(operand)),
            Type { basic: Basic::Scalar, shape, within: None, halo: crate::types::Halo::NONE },
            dim,
            span,
        ))
    }
}

/// True if two types may stand side by side in an array: they are the same but for the sets that
/// collections are on and entities are in.
fn differ_only_in_set(a: &Type, b: &Type) -> bool {
    let same_shape = a.mapping().is_some() == b.mapping().is_some() && (a.shape == Shape::Sequence) == (b.shape == Shape::Sequence);
    a.basic == b.basic && same_shape
}
