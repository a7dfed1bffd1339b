//! Expressions: literals, names, arrays, indices, signs and norms; the other files of this folder
//! do the operators and calls.

use crate::check::arrays::element;
use crate::check::checker::{Checker, tree_dim, value};
use crate::check::halo::bare;
use crate::check::number::number;
use crate::check::operation::Operation;
use crate::check::scope::{Meaning, State};
use crate::diagnostic::{Code, Diagnostic};
use crate::ops::CONSTANTS;
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOp, ExprKind as Ast, UnaryOp};
use crate::typed::{Expr, ExprKind, TreeType};
use crate::types::{Basic, Dimension, EntityKind, Shape, Type};

impl<'a> Checker<'a> {
    /// An expression that has a value. `None` if it is unknown.
    pub fn expr(&mut self, expr: &'a ast::Expr) -> Option<Expr> {
        let span = expr.span;
        if !self.frames.is_empty() {
            self.work += 1;
        }
        self.nested(1, span, |this| match &expr.kind {
            Ast::Number { value, unit } => number(this, *value, unit.as_ref(), span),
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
            Ast::Error => this.reports.unknown(),
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
                    if matches!(op, BinaryOp::On | BinaryOp::Extend) {
                        result
                    } else {
                        result.map(|e| self.rules.keep_periodic(e, &operands))
                    }
                }
                (Some(_), None) | (None, Some(_) | None) => None,
            };
        }
        result
    }

    fn infix(&mut self, op: BinaryOp, op_span: Span, left: Expr, right: Expr, span: Span) -> Option<Expr> {
        let name = format!("`{}`", op.text());
        let mut operation = Operation::new(self, &name, op_span);
        match op {
            BinaryOp::Arithmetic(op) => operation.arithmetic(op, left, right, span),
            BinaryOp::Power => operation.power(left, right, span),
            BinaryOp::Comparison(op) => operation.compare(op, left, right, span),
            BinaryOp::Logic(op) => operation.logic(op, left, right, span),
            BinaryOp::On => operation.on(left, right, span),
            BinaryOp::Extend => operation.extend(left, right, span),
        }
    }

    fn name(&mut self, name: &'a str, span: Span) -> Option<Expr> {
        let Some(id) = self.scopes.lookup(name) else {
            return match CONSTANTS.iter().find(|(constant, _)| *constant == name) {
                Some(&(_, number)) => Some(value(ExprKind::Number(number), Type::SCALAR, Dimension::NONE, span)),
                None => self.unknown_name(name, span),
            };
        };
        let entry = self.scopes.entry_mut(id);
        entry.used = true;
        let defined = entry.span;
        match &mut entry.meaning {
            Meaning::Function(_) if self.reports.unknown_names.contains(name) => self.reports.unknown(),
            Meaning::Function(_) if self.reports.clashes.contains(name) => self.reports.unknown(),
            Meaning::Function(_) => {
                let hint = format!("call it: `{name}(...)`");
                self.reports.unknown_names.insert(name.to_owned());
                self.fail(
                    Diagnostic::new(Code::FunctionAsValue, span, format!("`{name}` is a function, and a function is not a value"))
                        .also(defined, "the function is named here")
                        .hint(hint),
                )
            }
            Meaning::Variable(variable) => match variable.state {
                State::Assigned(var) => {
                    let variable = self.tree.variable(var);
                    Some(Expr { kind: ExprKind::Variable(var), ty: variable.ty.clone(), dims: variable.dims.clone(), span })
                }
                State::Unknown => self.reports.unknown(),
                State::Unassigned if variable.reported => self.reports.unknown(),
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
        if !self.reports.unknown_names.insert(name.to_owned()) {
            return self.reports.unknown();
        }
        let mut diagnostic = Diagnostic::new(Code::UnknownName, span, format!("there is no variable `{name}` here"));
        if let Some(later) = self.scopes.defined_later(name) {
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
                Some(self.rules.keep_periodic(value(component, Type { basic: Basic::Scalar, ..ty.bare() }, dim, span), &operands))
            }
            TreeType::Value(_) | TreeType::Table2 | TreeType::Void => self.fail(
                Diagnostic::new(Code::NotIndexable, base.span, format!("only arrays and Vectors can be indexed, and this is {found}"))
                    .label(found)
                    .hint("to pick elements of a collection, restrict it with `On` a domain"),
            ),
        }
    }

    fn negative(&mut self, operand: &'a ast::Expr, span: Span) -> Option<Expr> {
        let operand = self.expr(operand)?;
        for index in 0..operand.ty.elements().len().max(1) {
            let element = element(&operand, index);
            let ty = Operation::new(self, "unary minus", span).no_array(&element)?;
            Operation::new(self, "`-`", span).numeric(&element, &ty)?;
        }
        let operands = [operand.ty.clone()];
        let (ty, dims) = (operand.ty.bare(), operand.dims.clone());
        Some(self.rules.keep_periodic(Expr { kind: ExprKind::Neg(Box::new(operand)), ty, dims, span }, &operands))
    }

    /// `Not operand`
    fn not(&mut self, operand: &'a ast::Expr, span: Span) -> Option<Expr> {
        let operand = self.expr(operand)?;
        let ty = Operation::new(self, "`Not`", span).logic_operand(&operand)?;
        Some(value(ExprKind::Not(Box::new(operand)), ty, Dimension::NONE, span))
    }

    /// `condition ? if_true : if_false`
    fn ternary(&mut self, condition: &'a ast::Expr, if_true: &'a ast::Expr, if_false: &'a ast::Expr, span: Span) -> Option<Expr> {
        let (condition, if_true, if_false) = (self.expr(condition), self.expr(if_true), self.expr(if_false));
        let (condition, if_true, if_false) = (condition?, if_true?, if_false?);
        let operands = [condition.ty.clone(), if_true.ty.clone(), if_false.ty.clone()];
        let [condition, if_true, if_false] = [condition, if_true, if_false].map(bare);
        let place = if_true.span.to(if_false.span);
        let c = Operation::new(self, "`? :`", place).no_array(&condition)?;
        if c.basic != Basic::Bool {
            let found = self.show_value(&c);
            return self.fail(
                Diagnostic::new(Code::TernaryCondition, condition.span, format!("the condition before `?` is a Bool, not {found}"))
                    .label(found)
                    .hint("compare: `a > b ? ... : ...`"),
            );
        }
        let (ty, dims) =
            Operation::new(self, "`? :`", place).element_wise([&if_true, &if_false], |this, a, b| this.choice((&condition, &c), a, b))?;
        let kind = ExprKind::Ternary { condition: Box::new(condition), if_true: Box::new(if_true), if_false: Box::new(if_false) };
        Some(self.rules.keep_periodic(Expr { kind, ty, dims, span }, &operands))
    }

    fn norm(&mut self, operand: &'a ast::Expr, span: Span) -> Option<Expr> {
        let operand = self.expr(operand)?;
        let ty = Operation::new(self, "`| |`", span).no_array(&operand)?;
        let dim = match ty.basic {
            Basic::Scalar | Basic::Vector if ty.shape != Shape::Sequence => tree_dim(&operand),
            Basic::Entity(kind) => {
                let power = match kind {
                    EntityKind::Vertex => 0,
                    EntityKind::Edge => 1,
                    EntityKind::Face => 2,
                    EntityKind::Cell => 3,
                };
                self.options.dimension(Dimension::LENGTH.power(power).unwrap_or_default()).into()
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
