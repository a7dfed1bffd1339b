//! Assignments to variables.

use crate::check::beyond::keep_definition;
use crate::check::checker::{Checker, show_dimension};
use crate::check::declared::DeclaredType;
use crate::check::given::without_halo;
use crate::check::indices::offsets;
use crate::check::operation::Operation;
use crate::check::print::shown_value_type;
use crate::check::scope::{Declared, EntryId, Meaning, Role, ScopeKind, State, VariableEntry};
use crate::diagnostic::{Code, Diagnostic};
use crate::ops::Offset;
use crate::syntax::ast::{self, Ident};
use crate::typed::{Expr, StmtKind, TreeType, VarId, Variable};
use crate::types::{Dimension, Shape, Type};

/// An assignment to a name.
pub(super) struct Assignment<'c, 'a> {
    pub checker: &'c mut Checker<'a>,
    pub id: EntryId,
    pub name: &'a Ident,
}

impl Assignment<'_, '_> {
    /// An assignment of a name that may have a value, or be no variable. `unread` if a syntax error
    /// stands for the value.
    pub fn assign(&mut self, value: Option<Expr>, unread: bool) -> Option<StmtKind> {
        match &self.checker.scopes.entry(self.id).meaning {
            Meaning::Function(_) => {
                self.checker.reports.unknown_names.insert(self.name.name.clone());
                self.refuse_function()
            }
            Meaning::Variable(variable) => match (variable.mutable, variable.state) {
                (_, State::Unassigned) => self.first(value),
                (true, State::Assigned(_) | State::Unknown) => self.again(value),
                // A statement that could not be read may not have been an assignment; and a missing
                // `Mutable` is reported once.
                (false, State::Assigned(_) | State::Unknown) if unread || variable.reported => self.checker.reports.unknown(),
                (false, State::Assigned(_) | State::Unknown) => {
                    let role = variable.role;
                    self.report_immutable(role);
                    if let Meaning::Variable(variable) = &mut self.checker.scopes.entry_mut(self.id).meaning {
                        variable.reported = true;
                    }
                    None
                }
            },
        }
    }

    /// Reports an assignment to a function.
    fn refuse_function<T>(&mut self) -> Option<T> {
        let (name, span) = (self.name, self.checker.scopes.entry(self.id).span);
        self.checker.fail(
            Diagnostic::new(Code::AssignToFunction, name.span, format!("`{}` is a function and cannot be assigned", name.name))
                .also(span, "the function is named here")
                .hint("choose another name for the variable"),
        )
    }

    fn report_immutable(&mut self, role: Role) {
        let entry = self.checker.scopes.entry(self.id);
        let span = entry.span;
        let (what, label, hint) = match role {
            _ if entry.import.is_some() => ("imported", "imported here", "choose another name".to_owned()),
            Role::Parameter => ("a parameter", "it is a parameter", "assign to a variable of another name".to_owned()),
            Role::LoopVariable => ("a loop variable", "it is set by the loop", "assign to a variable of another name".to_owned()),
            Role::Local => {
                let ty = match &entry.meaning {
                    Meaning::Variable(VariableEntry { state: State::Assigned(var), .. }) => declaration(self.checker, *var),
                    Meaning::Variable(_) | Meaning::Function(_) => None,
                };
                let ty = ty.unwrap_or_else(|| "Scalar".to_owned());
                (
                    "immutable",
                    "it has its value from here on",
                    format!("declare it before its first assignment: `{} : Mutable {ty}`", self.name.name),
                )
            }
        };
        self.checker.report(
            Diagnostic::new(Code::AssignToImmutable, self.name.span, format!("`{}` is {what} and already has its value", self.name.name))
                .also(span, label)
                .hint(hint),
        );
    }

    /// First assignment of a variable, immutable or not.
    pub fn first(&mut self, value: Option<Expr>) -> Option<StmtKind> {
        let entry = self.checker.scopes.entry(self.id);
        let (declared_at, scope) = (entry.span, entry.scope);
        let Meaning::Variable(variable) = &entry.meaning else { return self.checker.reports.unknown() };
        let (mutable, declared) = (variable.mutable, variable.declared.clone());
        self.checker.scopes.set_state(self.id, State::Unknown);
        if let Some(boundary) = self.checker.scopes.boundary(scope) {
            let (place, hint) = match (boundary, mutable) {
                (ScopeKind::Loop, true) => ("a loop, which may run no rounds at all", "give it a value before the loop"),
                (ScopeKind::Loop, false) => {
                    ("a loop, which would assign it in every round", "declare it `Mutable` and give it a value before the loop")
                }
                (ScopeKind::Function, true) => ("a function", "give it a value before the function is called"),
                (ScopeKind::Main | ScopeKind::Function, _) => ("a function", "return the value instead, and assign it outside"),
            };
            return self.checker.fail(
                Diagnostic::new(
                    Code::FirstAssignmentInside,
                    self.name.span,
                    format!("`{}` would get its first value inside {place}", self.name.name),
                )
                .also(declared_at, "declared here, outside")
                .hint(hint),
            );
        }
        let value = value?;
        if let Some(declared) = &declared {
            self.fits(declared, &value)?;
        }
        if let TreeType::Value(Type { shape: Shape::Domain(set), .. }) = value.ty {
            self.checker.runtime_sets.name(&mut self.checker.sets, set, &self.name.name);
        }
        let mut ty = value.ty.clone();
        if mutable {
            ty = without_halo(self.checker, &value).ty;
        }
        if declared.as_ref().is_some_and(|d| d.stencil) {
            ty = self.checker.rules.with_zero_halo(&ty);
        }
        let dims = value.dims.iter().map(|dim| if mutable { dim.fixed() } else { *dim }).collect();
        let var = self.checker.new_variable(Variable { name: self.name.name.clone(), ty, dims, mutable, owner: None, span: declared_at });
        self.checker.scopes.set_state(self.id, State::Assigned(var));
        if !mutable {
            keep_definition(self.checker, var, &value);
        }
        Some(if mutable { StmtKind::Assign { variable: var, value } } else { StmtKind::Let { variable: var, value } })
    }

    /// A later assignment of a mutable variable.
    pub fn again(&mut self, value: Option<Expr>) -> Option<StmtKind> {
        let Meaning::Variable(VariableEntry { state: State::Assigned(var), .. }) = self.checker.scopes.entry(self.id).meaning else {
            return None;
        };
        let value = value?;
        let value = without_halo(self.checker, &value);
        let variable = self.checker.tree.variable(var);
        let (ty, dims, first) = (variable.ty.clone(), variable.dims.clone(), variable.span);
        if !self.replaces(&ty, &value.ty) {
            let (expected, found) = (self.checker.show(&ty), self.checker.show(&value.ty));
            return self.checker.fail(
                Diagnostic::new(Code::DeclaredType, value.span, format!("`{}` is {expected} and cannot become {found}", self.name.name))
                    .label(found)
                    .also(first, format!("`{}` is {expected}", self.name.name))
                    .hint("a mutable variable keeps its type; use another variable"),
            );
        }
        if let Some((&old, &new)) = dims.iter().zip(&value.dims).find(|&(&a, &b)| !self.checker.options.agree(a, b)) {
            if old.dimension() == Dimension::NONE && !self.checker.reports.without_unit.insert((var, new.dimension())) {
                return self.checker.reports.unknown();
            }
            let (old, new) = (show_dimension(old.dimension()), show_dimension(new.dimension()));
            return self.checker.fail(
                Diagnostic::new(Code::MutableDimension, value.span, format!("`{}` has {old} and cannot become {new}", self.name.name))
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
                (Some(new), Some(old)) => self.checker.sets.is_subset(new, old),
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

    fn fits(&mut self, declared: &Declared, value: &Expr) -> Option<()> {
        let declared = DeclaredType { checker: self.checker, declared };
        if declared.accepts(&value.ty) {
            return Some(());
        }
        let (expected, found) = (declared.shown(), self.checker.show(&value.ty));
        let message = format!("`{}` is declared {expected}, but this is {found}", self.name.name);
        let otherwise = "change the declaration, or leave it out: types are inferred";
        let diagnostic = declared.refusal(Code::DeclaredType, value.span, message, &value.ty, otherwise);
        self.checker.fail(diagnostic)
    }
}

/// The type to write in a declaration of a variable: without the subset of entity collections.
fn declaration(checker: &Checker<'_>, var: VarId) -> Option<String> {
    let text = |ty: &Type| match ty.shape {
        Shape::Collection(_) | Shape::Domain(_) => {
            shown_value_type(checker.names(), &Type { shape: ty.mapping().map_or(ty.shape, Shape::Collection), within: None, ..ty.bare() })
        }
        Shape::Single | Shape::Sequence => shown_value_type(checker.names(), ty),
    };
    match &checker.tree.variable(var).ty {
        TreeType::Value(ty) => Some(text(ty)),
        TreeType::Array(elements) => elements.first().map(|element| format!("Array Of {} {}", elements.len(), text(element))),
        TreeType::Table2 | TreeType::Void => None,
    }
}

/// `u(i, j) = value`: an assignment of the whole. An unknown name becomes a mutable variable
/// with zero beyond the grid.
pub(super) fn assign_by_index<'a>(
    checker: &mut Checker<'a>,
    name: &'a Ident,
    indices: &'a [ast::Expr],
    assigned: &'a ast::Expr,
) -> Option<StmtKind> {
    let by = offsets(checker, indices);
    let assigned = checker.expr(assigned);
    let known = checker.scopes.lookup(&name.name);
    let entry = VariableEntry { declared: None, mutable: true, role: Role::Local, state: State::Unassigned, reported: false };
    let id = known.unwrap_or_else(|| checker.scopes.define(&name.name, name.span, Meaning::Variable(entry)));
    let assigned = assigned.and_then(|assigned| {
        Operation::new(checker, "an assignment by index", assigned.span).on_cells(&assigned)?;
        if by? != Offset::default() {
            let span = indices.first()?.span.to(indices.last()?.span);
            return checker.fail(
                Diagnostic::new(Code::StencilLeft, span, "the left side names the cell itself: no offset")
                    .hint("write the offset in what is read on the right"),
            );
        }
        Some(assigned)
    });
    let Meaning::Variable(variable) = &checker.scopes.entry(id).meaning else { return Assignment { checker, id, name }.refuse_function() };
    match (variable.mutable, variable.state) {
        (_, State::Unassigned) => {
            let made = Assignment { checker: &mut *checker, id, name }.first(assigned)?;
            if let (None, StmtKind::Assign { variable, .. }) = (known, &made) {
                let variable = checker.tree.variable_mut(*variable);
                variable.ty = checker.rules.with_zero_halo(&variable.ty);
            }
            Some(made)
        }
        (true, State::Assigned(_) | State::Unknown) => Assignment { checker, id, name }.again(assigned),
        (false, _) => {
            let span = checker.scopes.entry(id).span;
            checker.fail(
                Diagnostic::new(Code::AssignToImmutable, name.span, format!("`{}` already has its value", name.name))
                    .also(span, "it has its value from here on")
                    .hint("declare it `Mutable` before its first assignment"),
            )
        }
    }
}
