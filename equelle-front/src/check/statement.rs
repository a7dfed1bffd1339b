//! Statements: declaration, assignment, loops, call statements.

use crate::check::checker::{Checker, show_dimension};
use crate::check::scope::{Declared, EntryId, Meaning, Role, ScopeKind, State, VariableEntry};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, Ident, LoopTest, StmtKind as Ast};
use crate::typed::{Expr, ExprKind, Stmt, StmtKind, TreeDimension, TreeType, VarId, Variable};
use crate::types::{Basic, Dimension, Shape, Type};

impl<'a> Checker<'a> {
    /// The statements of a block, in the current scope. Those with errors are left out.
    pub fn statements(&mut self, statements: &'a [ast::Stmt]) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(statements.len());
        statements.iter().for_each(|s| self.statement(s, &mut out));
        out
    }

    /// Puts what a statement becomes behind `out`.
    pub fn statement(&mut self, stmt: &'a ast::Stmt, out: &mut Vec<Stmt>) {
        if let Ast::Import { path, names } = &stmt.kind {
            self.import(path.as_ref(), names, stmt.span, out);
        } else {
            let outer = std::mem::take(&mut self.before);
            let own = self.own_statement(stmt);
            out.append(&mut self.before);
            out.extend(own);
            self.before = outer;
        }
    }

    fn own_statement(&mut self, stmt: &'a ast::Stmt) -> Option<Stmt> {
        let kind = match &stmt.kind {
            Ast::Declaration { name, ty } => {
                self.declare(name, ty);
                return None;
            }
            Ast::FunctionDeclaration { name, params, result } => {
                self.declare_function(name, params, result);
                return None;
            }
            Ast::FunctionDefinition { name, params, body } => {
                self.define_function(name, params, body, stmt.span);
                return None;
            }
            Ast::Assignment { name, ty, value } => self.assignment(name, ty.as_ref(), value)?,
            Ast::StencilAssignment { name, indices, value } if self.is_by_index(indices) => self.assign_by_index(name, indices, value)?,
            Ast::StencilAssignment { name, .. } => {
                if self.scopes.lookup(&name.name, self.scope).is_none() {
                    // Its uses and calls are not errors of their own.
                    let entry = VariableEntry { declared: None, mutable: true, role: Role::Local, state: State::Unknown, reported: true };
                    self.scopes.define(self.scope, &name.name, name.span, Meaning::Variable(entry));
                }
                return self.fail(
                    Diagnostic::new(Code::StencilLeft, stmt.span, "what stands in these parentheses are no index variables")
                        .hint(format!("to define a function, put its body between braces: `{}(...) = {{`", name.name)),
                );
            }
            // Imports are dealt with by the caller.
            Ast::Import { .. } => return None,
            Ast::Call(call) => self.call_statement(call)?,
            Ast::Return(value) => self.return_statement(value, stmt.span)?,
            Ast::For { variable, sequence, body } => match range_bounds(sequence) {
                Some(bounds) => self.range_loop(variable, bounds, sequence.span, body, stmt.span)?,
                None => self.for_loop(variable, sequence, body, stmt.span)?,
            },
            Ast::Conditional { test, condition, body } => self.conditional_loop(*test, condition, body, stmt.span)?,
        };
        Some(Stmt { kind, span: stmt.span })
    }

    fn return_statement(&mut self, value: &'a ast::Expr, span: Span) -> Option<StmtKind> {
        let value = self.expr(value);
        let Some(frame) = self.frames.last() else {
            return self.fail(
                Diagnostic::new(Code::ReturnOutside, span, "`->` gives the result of a function, and this is not in a function")
                    .hint("assign the value to a variable, or write it with `Output`"),
            );
        };
        let definition = frame.definition;
        let value = value?;
        self.check_result(definition, &value);
        let value = Expr { ty: self.without_geometry(&value.ty), ..value };
        if let Some(frame) = self.frames.last_mut() {
            frame.result = Some((value.ty.clone(), value.dims.clone()));
        }
        Some(StmtKind::Return(self.return_given(value)))
    }

    /// Declares a variable.
    fn declare(&mut self, name: &'a Ident, ty: &'a ast::TypeExpr) -> EntryId {
        let declared = self.declared(ty);
        // A name that is taken means what is declared here from now on, so that the statements
        // after it are judged by what they were written for.
        let is_unread = matches!(ty.kind, ast::TypeExprKind::Error);
        let reported = !is_unread && self.taken(name, Code::Redeclaration, "declared again");
        let mutable = declared.as_ref().map_or_else(|| is_mutable(ty), |d| d.mutable);
        let entry = VariableEntry { declared, mutable, role: Role::Local, state: State::Unassigned, reported };
        self.scopes.define(self.scope, &name.name, name.span, Meaning::Variable(entry))
    }

    /// True if a name is visible already; reports it if so.
    pub fn taken(&mut self, name: &Ident, code: Code, use_as: &str) -> bool {
        let Some(id) = self.scopes.lookup(&name.name, self.scope) else { return false };
        let entry = self.scopes.entry(id);
        let what = match &entry.meaning {
            Meaning::Variable(_) => "a variable",
            Meaning::Function(_) => "a function",
        };
        let clash = (what == "a function") != (use_as == "a function");
        let diagnostic = Diagnostic::new(code, name.span, format!("`{}` is already {what} here and cannot be {use_as}", name.name))
            .also(entry.span, format!("`{}` is first named here", name.name))
            .hint("choose another name; only parameters may hide outer names");
        self.report(diagnostic);
        if clash {
            self.clashes.insert(name.name.clone());
        }
        true
    }

    fn assignment(&mut self, name: &'a Ident, ty: Option<&'a ast::TypeExpr>, value: &'a ast::Expr) -> Option<StmtKind> {
        if let Some(ty) = ty {
            self.declare(name, ty);
        }
        let unread = matches!(value.kind, ast::ExprKind::Error);
        let value = self.expr(value);
        let Some(id) = self.scopes.lookup(&name.name, self.scope) else {
            let entry = VariableEntry { declared: None, mutable: false, role: Role::Local, state: State::Unassigned, reported: false };
            let id = self.scopes.define(self.scope, &name.name, name.span, Meaning::Variable(entry));
            return self.assign_first(id, name, value);
        };
        match &self.scopes.entry(id).meaning {
            Meaning::Function(_) => {
                let span = self.scopes.entry(id).span;
                self.unknown_names.insert(name.name.clone());
                self.fail(
                    Diagnostic::new(Code::AssignToFunction, name.span, format!("`{}` is a function and cannot be assigned", name.name))
                        .also(span, "the function is named here")
                        .hint("choose another name for the variable"),
                )
            }
            Meaning::Variable(variable) => match (variable.mutable, variable.state) {
                (_, State::Unassigned) => self.assign_first(id, name, value),
                (true, State::Assigned(_) | State::Unknown) => self.assign_again(id, name, value),
                // A statement that could not be read may not have been an assignment; and a missing
                // `Mutable` is reported once.
                (false, State::Assigned(_) | State::Unknown) if unread || variable.reported => self.unknown(),
                (false, State::Assigned(_) | State::Unknown) => {
                    let role = variable.role;
                    self.report_immutable(id, name, role);
                    if let Meaning::Variable(variable) = &mut self.scopes.entry_mut(id).meaning {
                        variable.reported = true;
                    }
                    None
                }
            },
        }
    }

    fn report_immutable(&mut self, id: EntryId, name: &Ident, role: Role) {
        let entry = self.scopes.entry(id);
        let span = entry.span;
        let (what, label, hint) = match role {
            _ if entry.import.is_some() => ("imported", "imported here", "choose another name".to_owned()),
            Role::Parameter => ("a parameter", "it is a parameter", "assign to a variable of another name".to_owned()),
            Role::LoopVariable => ("a loop variable", "it is set by the loop", "assign to a variable of another name".to_owned()),
            Role::Local => {
                let ty = match &entry.meaning {
                    Meaning::Variable(VariableEntry { state: State::Assigned(var), .. }) => declaration_of(self, *var),
                    Meaning::Variable(_) | Meaning::Function(_) => None,
                };
                let ty = ty.unwrap_or_else(|| "Scalar".to_owned());
                (
                    "immutable",
                    "it has its value from here on",
                    format!("declare it before its first assignment: `{} : Mutable {ty}`", name.name),
                )
            }
        };
        self.report(
            Diagnostic::new(Code::AssignToImmutable, name.span, format!("`{}` is {what} and already has its value", name.name))
                .also(span, label)
                .hint(hint),
        );
    }

    /// First assignment of a variable, immutable or not.
    pub fn assign_first(&mut self, id: EntryId, name: &'a Ident, value: Option<Expr>) -> Option<StmtKind> {
        let entry = self.scopes.entry(id);
        let (declared_at, scope) = (entry.span, entry.scope);
        let Meaning::Variable(variable) = &entry.meaning else { return self.unknown() };
        let (mutable, declared) = (variable.mutable, variable.declared.clone());
        self.set_state(id, State::Unknown);
        if let Some(boundary) = self.scopes.boundary(self.scope, scope) {
            let (place, hint) = match (boundary, mutable) {
                (ScopeKind::Loop, true) => ("a loop, which may run no rounds at all", "give it a value before the loop"),
                (ScopeKind::Loop, false) => {
                    ("a loop, which would assign it in every round", "declare it `Mutable` and give it a value before the loop")
                }
                (ScopeKind::Function, true) => ("a function", "give it a value before the function is called"),
                (ScopeKind::Main | ScopeKind::Function, _) => ("a function", "return the value instead, and assign it outside"),
            };
            return self.fail(
                Diagnostic::new(
                    Code::FirstAssignmentInside,
                    name.span,
                    format!("`{}` would get its first value inside {place}", name.name),
                )
                .also(declared_at, "declared here, outside")
                .hint(hint),
            );
        }
        let value = value?;
        if let Some(declared) = &declared {
            self.fits(declared, name, &value)?;
        }
        self.name_domain(&value.ty, &name.name);
        let mut ty = value.ty.clone();
        if mutable {
            ty = self.without_halo(&value).ty;
        }
        if declared.as_ref().is_some_and(|d| d.stencil) {
            ty = self.with_zero_halo(&ty);
        }
        let dims = value.dims.iter().map(|dim| if mutable { dim.fixed() } else { *dim }).collect();
        let var = self.new_variable(Variable { name: name.name.clone(), ty, dims, mutable, owner: None, span: declared_at });
        self.set_state(id, State::Assigned(var));
        if !mutable {
            self.keep_definition(var, &value);
        }
        Some(if mutable { StmtKind::Assign { variable: var, value } } else { StmtKind::Let { variable: var, value } })
    }

    /// A later assignment of a mutable variable.
    pub fn assign_again(&mut self, id: EntryId, name: &'a Ident, value: Option<Expr>) -> Option<StmtKind> {
        let Meaning::Variable(VariableEntry { state: State::Assigned(var), .. }) = self.scopes.entry(id).meaning else { return None };
        let value = value?;
        let value = self.without_halo(&value);
        let variable = &self.variables[var.0 as usize];
        let (ty, dims, first) = (variable.ty.clone(), variable.dims.clone(), variable.span);
        if !self.replaces(&ty, &value.ty) {
            let (expected, found) = (self.show(&ty), self.show(&value.ty));
            return self.fail(
                Diagnostic::new(Code::DeclaredType, value.span, format!("`{}` is {expected} and cannot become {found}", name.name))
                    .label(found)
                    .also(first, format!("`{}` is {expected}", name.name))
                    .hint("a mutable variable keeps its type; use another variable"),
            );
        }
        if let Some((&old, &new)) = dims.iter().zip(&value.dims).find(|&(&a, &b)| !self.agree(a, b)) {
            if old.dimension() == Dimension::NONE && !self.without_unit.insert((var, new.dimension())) {
                return self.unknown();
            }
            let (old, new) = (show_dimension(old.dimension()), show_dimension(new.dimension()));
            return self.fail(
                Diagnostic::new(Code::MutableDimension, value.span, format!("`{}` has {old} and cannot become {new}", name.name))
                    .label(new)
                    .also(first, format!("its first value has {old}"))
                    .hint("a mutable variable keeps the dimension of its first value; give that one a unit"),
            );
        }
        Some(StmtKind::Assign { variable: var, value })
    }

    /// True if a value of type `new` may replace one of type `old`.
    fn replaces(&self, old: &TreeType, new: &TreeType) -> bool {
        let element = |old: &Type, new: &Type| {
            let inside = match (new.within, old.within) {
                (Some(new), Some(old)) => self.sets.is_subset(new, old),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            old.basic == new.basic && old.shape == new.shape && inside
        };
        match (old, new) {
            (TreeType::Value(old), TreeType::Value(new)) => element(old, new),
            (TreeType::Array(old), TreeType::Array(new)) => {
                old.len() == new.len() && old.iter().zip(new.iter()).all(|(old, new)| element(old, new))
            }
            (
                TreeType::Value(_) | TreeType::Array(_) | TreeType::Table2 | TreeType::Void,
                TreeType::Value(_) | TreeType::Array(_) | TreeType::Table2 | TreeType::Void,
            ) => false,
        }
    }

    fn fits(&mut self, declared: &Declared, name: &Ident, value: &Expr) -> Option<()> {
        if self.accepts(declared, &value.ty) {
            return Some(());
        }
        let (expected, found) = (self.show_declared(declared), self.show(&value.ty));
        let mut diagnostic =
            Diagnostic::new(Code::DeclaredType, value.span, format!("`{}` is declared {expected}, but this is {found}", name.name))
                .label(found)
                .also(declared.span, "declared here");
        if let Some(note) = self.declared_note(declared, &value.ty) {
            diagnostic = diagnostic.note(note);
        }
        let hint = self.declared_hint(declared, &value.ty);
        let hint = hint.unwrap_or_else(|| "change the declaration, or leave it out: types are inferred".to_owned());
        self.fail(diagnostic.hint(hint))
    }

    /// A new run-time set takes the name of the variable it is first assigned to.
    fn name_domain(&mut self, ty: &TreeType, name: &str) {
        let TreeType::Value(Type { shape: Shape::Domain(set), .. }) = ty else { return };
        if !self.anonymous.remove(set) {
            return;
        }
        let mut unique = name.to_owned();
        while let Some(number) = self.set_names.get_mut(&unique) {
            // A user's name may look like a numbered one, so the numbered name is looked up in
            // turn.
            *number += 1;
            unique = format!("{name}_{}", *number);
            if !self.set_names.contains_key(&unique) {
                break;
            }
            unique = name.to_owned();
        }
        self.set_names.insert(unique.clone(), 1);
        self.sets.rename(*set, &unique);
    }

    pub fn set_state(&mut self, id: EntryId, state: State) {
        if let Meaning::Variable(variable) = &mut self.scopes.entry_mut(id).meaning {
            variable.state = state;
        }
    }

    fn call_statement(&mut self, call: &'a ast::Expr) -> Option<StmtKind> {
        if let ast::ExprKind::Call { callee, args } = &call.kind
            && callee.name == "Output"
        {
            return self.output(callee, args, call.span);
        }
        Some(StmtKind::Discard(self.expr(call)?))
    }

    fn for_loop(&mut self, variable: &'a Ident, sequence: &'a ast::Expr, body: &'a ast::Block, span: Span) -> Option<StmtKind> {
        let sequence = self.expr(sequence).and_then(|s| match s.ty {
            TreeType::Value(Type { basic: Basic::Scalar, shape: Shape::Sequence, .. }) => Some(s),
            TreeType::Value(_) | TreeType::Array(_) | TreeType::Table2 | TreeType::Void => {
                let found = self.show(&s.ty);
                self.fail(
                    Diagnostic::new(Code::NotASequence, s.span, format!("`For` needs a sequence after `In`, not {found}"))
                        .label(found)
                        .hint("sequences come from `InputSequenceOfScalar`"),
                )
            }
        });
        let (var, body) = self.rounds(variable, sequence.as_ref().map(|s| s.dims.clone()), body, span);
        Some(StmtKind::For { variable: var?, sequence: sequence?, body: body? })
    }

    /// The loop variable, of this dimension, and the body of a loop.
    fn rounds(
        &mut self,
        variable: &'a Ident,
        dims: Option<Vec<TreeDimension>>,
        body: &'a ast::Block,
        span: Span,
    ) -> (Option<VarId>, Option<Vec<Stmt>>) {
        self.taken(variable, Code::Redeclaration, "a loop variable");
        let outer = self.scope;
        self.scope = self.scopes.open(ScopeKind::Loop, outer, u32::MAX);
        let var = dims.map(|dims| {
            self.new_variable(Variable {
                name: variable.name.clone(),
                ty: TreeType::Value(Type::SCALAR),
                dims,
                mutable: false,
                owner: None,
                span: variable.span,
            })
        });
        let state = var.map_or(State::Unknown, State::Assigned);
        let entry = VariableEntry { declared: None, mutable: false, role: Role::LoopVariable, state, reported: false };
        self.scopes.define(self.scope, &variable.name, variable.span, Meaning::Variable(entry));
        let body = self.nested(2, span, |this| Some(this.statements(&body.statements)));
        self.scope = outer;
        (var, body)
    }

    fn range_loop(
        &mut self,
        variable: &'a Ident,
        bounds: &'a [ast::Expr],
        range: Span,
        body: &'a ast::Block,
        span: Span,
    ) -> Option<StmtKind> {
        let values: Vec<Option<Expr>> = bounds.iter().map(|bound| self.expr(bound).and_then(|bound| self.range_bound(bound))).collect();
        if values.len() != 2 {
            let message = format!("`Range` takes 2 arguments, not {}", values.len());
            self.report(
                Diagnostic::new(Code::ArgumentCount, range, message)
                    .hint("`Range(a, b)` gives a, a + 1, ... and ends before b: `Range(0, 10)` has ten rounds"),
            );
        }
        let (var, body) = self.rounds(variable, Some(vec![TreeDimension::default()]), body, span);
        let [from, below] = <[Option<Expr>; 2]>::try_from(values).ok()?;
        Some(StmtKind::Range { variable: var?, from: from?, below: below?, body: body? })
    }

    /// A bound of a `Range`: a whole number, as far as the text tells.
    fn range_bound(&mut self, bound: Expr) -> Option<Expr> {
        if bound.ty != TreeType::Value(Type::SCALAR) {
            let found = self.show(&bound.ty);
            return self.fail(
                Diagnostic::new(Code::RangeBounds, bound.span, format!("a bound of `Range` is one number, not {found}"))
                    .label(found)
                    .hint("reduce a collection to one number, as with `MaxReduce`"),
            );
        }
        let dimension = crate::check::checker::dim(&bound);
        if !self.agree(dimension, Dimension::NONE) {
            let found = show_dimension(dimension);
            return self.fail(
                Diagnostic::new(Code::RangeBounds, bound.span, format!("`Range` counts rounds, and this has {found}"))
                    .label(found)
                    .hint("divide by one unit, or step with `While` and a variable for the time"),
            );
        }
        // As close to one as at run time.
        if let Some(number) = literal(&bound).filter(|number| (number - number.round()).abs() > 1e-9) {
            return self.fail(
                Diagnostic::new(Code::RangeBounds, bound.span, format!("a bound of `Range` is a whole number, not {number}"))
                    .hint("count rounds and compute the number from the count: `x = 0.5 * n`"),
            );
        }
        Some(bound)
    }

    fn conditional_loop(&mut self, test: LoopTest, condition: &'a ast::Expr, body: &'a ast::Block, span: Span) -> Option<StmtKind> {
        let outer = std::mem::replace(&mut self.geometry.in_condition, true);
        let condition = self.expr(condition).and_then(|condition| self.loop_condition(test, condition));
        self.geometry.in_condition = outer;
        // The values of rules would be those of the first round.
        if let Some(before) = self.before.pop() {
            self.report(
                Diagnostic::new(Code::HaloRule, before.span, "a rule in the condition of a loop gives a number of the text or a variable")
                    .hint("write the condition as a function"),
            );
        }
        let outer = self.scope;
        self.scope = self.scopes.open(ScopeKind::Loop, outer, u32::MAX);
        let body = self.nested(2, span, |this| Some(this.statements(&body.statements)));
        self.scope = outer;
        let (condition, body) = (condition?, body?);
        self.extend_captures();
        // A statement that could not be read may change it.
        if !self.incomplete && !crate::check::rounds::changes(&condition, &body, &self.variables, &self.captures) {
            let what = match test {
                LoopTest::While => "while",
                LoopTest::Until => "until",
            };
            self.report(
                Diagnostic::new(Code::ConstantCondition, condition.span, "no round changes this condition")
                    .label(format!("the loop runs {what} this holds"))
                    .note("`max_rounds` ends a loop that does not end by itself")
                    .hint("assign a `Mutable` variable of the condition in the loop"),
            );
        }
        Some(StmtKind::Conditional { test, condition, body })
    }

    fn loop_condition(&mut self, test: LoopTest, condition: Expr) -> Option<Expr> {
        if condition.ty == TreeType::Value(Type::BOOL) {
            return Some(condition);
        }
        let found = self.show(&condition.ty);
        let hint = match &condition.ty {
            TreeType::Value(Type { basic: Basic::Bool, .. }) => "reduce it to one Bool: `AnyReduce(c)` or `AllReduce(c)`",
            TreeType::Value(Type { basic: Basic::Scalar, shape: Shape::Single, .. }) => "compare it with something: `a > 0`",
            TreeType::Value(_) | TreeType::Array(_) | TreeType::Table2 | TreeType::Void => {
                "a condition compares numbers, as in `time < end`"
            }
        };
        let message = format!("`{}` needs one Bool, not {found}", test.words());
        self.fail(Diagnostic::new(Code::LoopCondition, condition.span, message).label(found).hint(hint))
    }
}

/// The arguments of `Range(...)`, if the expression is one.
fn range_bounds(sequence: &ast::Expr) -> Option<&[ast::Expr]> {
    match &sequence.kind {
        ast::ExprKind::Call { callee, args } if callee.name == "Range" => Some(args),
        ast::ExprKind::Paren(inner) => range_bounds(inner),
        _ => None,
    }
}

/// The number that a literal is, with its sign.
fn literal(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Number(number) => Some(*number),
        ExprKind::Neg(inner) => literal(inner).map(|number| -number),
        _ => None,
    }
}

pub(super) fn is_mutable(ty: &ast::TypeExpr) -> bool {
    match &ty.kind {
        // A type that could not be read may be mutable.
        ast::TypeExprKind::Mutable(_) | ast::TypeExprKind::Error => true,
        ast::TypeExprKind::Array { element, .. } => is_mutable(element),
        ast::TypeExprKind::Basic(_)
        | ast::TypeExprKind::Collection { .. }
        | ast::TypeExprKind::Stencil(_)
        | ast::TypeExprKind::Sequence(_) => false,
    }
}

/// The type to write in a declaration of a variable: without the subset of entity collections.
fn declaration_of(checker: &Checker<'_>, var: crate::typed::VarId) -> Option<String> {
    let text = |ty: &Type| match ty.shape {
        Shape::Collection(_) | Shape::Domain(_) => crate::check::print::shown_value_type(
            checker.names(),
            &Type { shape: ty.mapping().map_or(ty.shape, Shape::Collection), within: None, ..ty.bare() },
        ),
        Shape::Single | Shape::Sequence => crate::check::print::shown_value_type(checker.names(), ty),
    };
    match &checker.variables[var.0 as usize].ty {
        TreeType::Value(ty) => Some(text(ty)),
        TreeType::Array(elements) => elements.first().map(|element| format!("Array Of {} {}", elements.len(), text(element))),
        TreeType::Table2 | TreeType::Void => None,
    }
}
