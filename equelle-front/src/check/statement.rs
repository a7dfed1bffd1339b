//! Statements: declarations, returns and calls here, others in files of their own.

use crate::check::assignment::{Assignment, assign_by_index};
use crate::check::builtin_call::output;
use crate::check::checker::Checker;
use crate::check::given::return_given;
use crate::check::import::import;
use crate::check::indices::is_by_index;
use crate::check::loops::{Loop, range_bounds};
use crate::check::scope::{EntryId, Meaning, Role, State, VariableEntry};
use crate::check::type_expr::{declared, is_mutable};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, Ident, StmtKind as Ast};
use crate::typed::{Expr, Stmt, StmtKind};

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
            import(self, path.as_ref(), names, stmt.span, out);
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
            Ast::StencilAssignment { name, indices, value } if is_by_index(self, indices) => assign_by_index(self, name, indices, value)?,
            Ast::StencilAssignment { name, .. } => {
                if self.scopes.lookup(&name.name).is_none() {
                    // Its uses and calls are not errors of their own.
                    let entry = VariableEntry { declared: None, mutable: true, role: Role::Local, state: State::Unknown, reported: true };
                    self.scopes.define(&name.name, name.span, Meaning::Variable(entry));
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
                Some(bounds) => Loop { checker: self, body, span: stmt.span }.over_range(variable, bounds, sequence.span)?,
                None => Loop { checker: self, body, span: stmt.span }.over_sequence(variable, sequence)?,
            },
            Ast::Conditional { test, condition, body } => Loop { checker: self, body, span: stmt.span }.conditional(*test, condition)?,
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
        let value = Expr { ty: self.rules.without_geometry(&value.ty), ..value };
        if let Some(frame) = self.frames.last_mut() {
            frame.result = Some((value.ty.clone(), value.dims.clone()));
        }
        Some(StmtKind::Return(return_given(self, value)))
    }

    /// Declares a variable.
    fn declare(&mut self, name: &'a Ident, ty: &'a ast::TypeExpr) -> EntryId {
        let declared = declared(self, ty);
        // A name that is taken means what is declared here from now on, so that the statements
        // after it are judged by what they were written for.
        let is_unread = matches!(ty.kind, ast::TypeExprKind::Error);
        let reported = !is_unread && self.taken(name, Code::Redeclaration, "declared again");
        let mutable = declared.as_ref().map_or_else(|| is_mutable(ty), |d| d.mutable);
        let entry = VariableEntry { declared, mutable, role: Role::Local, state: State::Unassigned, reported };
        self.scopes.define(&name.name, name.span, Meaning::Variable(entry))
    }

    /// True if a name is visible already; reports it if so.
    pub fn taken(&mut self, name: &Ident, code: Code, use_as: &str) -> bool {
        let Some(id) = self.scopes.lookup(&name.name) else { return false };
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
            self.reports.clashes.insert(name.name.clone());
        }
        true
    }

    fn assignment(&mut self, name: &'a Ident, ty: Option<&'a ast::TypeExpr>, value: &'a ast::Expr) -> Option<StmtKind> {
        if let Some(ty) = ty {
            self.declare(name, ty);
        }
        let unread = matches!(value.kind, ast::ExprKind::Error);
        let value = self.expr(value);
        let id = self.scopes.lookup(&name.name).unwrap_or_else(|| {
            let entry = VariableEntry { declared: None, mutable: false, role: Role::Local, state: State::Unassigned, reported: false };
            self.scopes.define(&name.name, name.span, Meaning::Variable(entry))
        });
        Assignment { checker: self, id, name }.assign(value, unread)
    }

    fn call_statement(&mut self, call: &'a ast::Expr) -> Option<StmtKind> {
        if let ast::ExprKind::Call { callee, args } = &call.kind
            && callee.name == "Output"
        {
            return output(self, callee, args, call.span);
        }
        Some(StmtKind::Discard(self.expr(call)?))
    }
}
