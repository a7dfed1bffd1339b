//! Functions: declarations, definitions, and the instances that calls make.

use std::collections::HashMap;
use std::rc::Rc;

use crate::check::checker::{CALL_WEIGHT, Checker, Frame, MAX_WORK};
use crate::check::declared::DeclaredType;
use crate::check::definition::{Argument, Defined, Definition, FunctionType, Instance};
use crate::check::halo::gives_values;
use crate::check::parameters::{report_count, with_missing};
use crate::check::returns;
use crate::check::scope::{DefinitionId, Meaning, Role, ScopeKind, State, VariableEntry};
use crate::check::type_expr::declared;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::typed::{Expr, Function, FunctionId, TreeType, Variable};

impl<'a> Checker<'a> {
    pub fn declare_function(&mut self, name: &'a Ident, params: &'a [(Ident, ast::TypeExpr)], result: &'a ast::TypeExpr) {
        let span = name.span.to(result.span);
        let names = params.iter().map(|(name, _)| name).collect();
        let params = params.iter().map(|(_, ty)| declared(self, ty)).collect();
        let result = declared(self, result);
        if let Some(id) = self.scopes.lookup(&name.name)
            && matches!(self.scopes.entry(id).meaning, Meaning::Function(_))
        {
            let first = self.scopes.entry(id).span;
            self.report(
                Diagnostic::new(Code::FunctionTwice, name.span, format!("function `{}` is already known here", name.name))
                    .also(first, "first named here")
                    .hint("a declaration stands once, before the definition"),
            );
            return;
        }
        self.taken(name, Code::Redeclaration, "a function");
        let declared = Some(Rc::new(FunctionType { names, params, result, span }));
        self.add_definition(name, declared, None);
    }

    fn add_definition(&mut self, name: &'a Ident, declared: Option<Rc<FunctionType<'a>>>, defined: Option<Defined<'a>>) {
        let id = DefinitionId(self.definitions.all.len() as u32);
        self.scopes.define(&name.name, name.span, Meaning::Function(id));
        // The horizon lies behind the function's own name, so that recursion is seen as such.
        let horizon = self.scopes.horizon();
        let instances = HashMap::new();
        self.definitions.all.push(Definition { name, scope: self.scopes.current, horizon, declared, defined, instances });
    }

    pub fn define_function(&mut self, name: &'a Ident, params: &'a [Ident], body: &'a ast::Block, span: Span) {
        for (i, param) in params.iter().enumerate() {
            if let Some(first) = params[..i].iter().find(|p| p.name == param.name) {
                self.report(
                    Diagnostic::new(Code::DuplicateParameter, param.span, format!("there are two parameters `{}`", param.name))
                        .also(first.span, "the first one")
                        .hint("give them different names"),
                );
            }
        }
        returns::check(self, name, body, span);
        if gives_values(body, &self.definitions.givers) {
            self.definitions.givers.insert(&name.name);
        }
        let listed = params.len();
        let mut defined = Defined { params: params.iter().collect(), listed, body, span };
        if let Some(entry) = self.scopes.lookup(&name.name)
            && let Meaning::Function(id) = self.scopes.entry(entry).meaning
        {
            let (scope, first) = (self.scopes.entry(entry).scope, self.scopes.entry(entry).span);
            let horizon = self.scopes.horizon();
            let definition = self.definitions.get_mut(id);
            if definition.defined.is_some() || scope != self.scopes.current {
                self.report(
                    Diagnostic::new(Code::FunctionTwice, name.span, format!("function `{}` is already known here", name.name))
                        .also(first, "first named here")
                        .hint("choose another name"),
                );
                // Calls from here on were written for this one.
                self.add_definition(name, None, Some(defined));
                return;
            }
            let merged = definition.declared.as_deref().map(|declared| with_missing(params, &declared.names));
            if let Some(Some(merged)) = &merged {
                defined.params = Rc::clone(merged);
            }
            definition.defined = Some(defined);
            definition.horizon = horizon;
            definition.name = name;
            if merged == Some(None) {
                report_count(self, id);
            }
            return;
        }
        self.taken(name, Code::Redeclaration, "a function");
        self.add_definition(name, None, Some(defined));
    }

    /// Compares the value returned with the declared result.
    pub fn check_result(&mut self, definition: DefinitionId, value: &Expr) {
        let definition = self.definitions.get(definition);
        let (Some(declared), name) = (definition.declared.clone(), definition.name) else { return };
        let Some(expected) = &declared.result else { return };
        let expected = DeclaredType { checker: self, declared: expected };
        if expected.accepts(&value.ty) {
            return;
        }
        // Calls have the domain of the result, whatever the declaration says.
        let code = if expected.accepts_elsewhere(&value.ty) { Code::ResultDomain } else { Code::ResultType };
        let (wanted, found) = (expected.shown(), self.show(&value.ty));
        let message = format!("`{}` is declared to return {wanted}, but this is {found}", name.name);
        let diagnostic = expected.refusal(code, value.span, message, &value.ty, "change the declaration or the result");
        self.report(diagnostic);
    }

    /// The instance of a function for these arguments; `None` if its result is unknown.
    pub fn instance(&mut self, id: DefinitionId, arguments: Vec<Argument>, call: Span) -> Option<Instance> {
        if let Some(known) = self.definitions.get(id).instances.get(&arguments) {
            return known.clone().or_else(|| self.reports.unknown());
        }
        if self.work > MAX_WORK {
            return self.fail(
                Diagnostic::new(
                    Code::TooManyInstances,
                    call,
                    "functions are instantiated too often: for too many combinations of types, or for too many new domains",
                )
                .hint("make domains outside functions, and pass them in"),
            );
        }
        let sets_before = self.runtime_sets.count;
        let types = arguments.iter().map(|(ty, _)| ty.clone()).collect();
        let bound = arguments.iter().map(|a| Some(a.clone())).collect();
        let instance = self.nested(CALL_WEIGHT, call, |this| this.walk_body(id, bound, Some((call, types))));
        // A function that makes a domain makes a new one at every call.
        if self.runtime_sets.count == sets_before {
            self.definitions.get_mut(id).instances.insert(arguments, instance.clone());
        }
        instance
    }

    /// Checks a body with these parameters (`None`: unknown), and makes an instance of it if all is
    /// known.
    pub fn walk_body(
        &mut self,
        id: DefinitionId,
        arguments: Vec<Option<Argument>>,
        call: Option<(Span, Vec<TreeType>)>,
    ) -> Option<Instance> {
        let definition = self.definitions.get(id);
        let (name, Defined { params, body, span, .. }) = (definition.name, definition.defined.clone()?);
        let outer = self.scopes.enter(ScopeKind::Function, Some(definition.scope), definition.horizon);
        self.definitions.walked.insert(name.span);
        self.frames.push(Frame { definition: id, call, locals: Vec::new(), result: None, given: Vec::new(), newton: None });
        let mut variables = Vec::with_capacity(params.len());
        let mut arguments = arguments.into_iter();
        for &param in params.iter() {
            let state = match arguments.next().flatten() {
                Some((ty, dims)) => {
                    let var =
                        self.new_variable(Variable { name: param.name.clone(), ty, dims, mutable: false, owner: None, span: param.span });
                    variables.push(var);
                    State::Assigned(var)
                }
                None => State::Unknown,
            };
            let entry = VariableEntry { declared: None, mutable: false, role: Role::Parameter, state, reported: false };
            self.scopes.define(&param.name, param.span, Meaning::Variable(entry));
        }
        let body = self.statements(&body.statements);
        self.scopes.current = outer;
        let frame = self.frames.pop()?;
        let (ty, dims) = match frame.result {
            Some(result) if variables.len() == params.len() => result,
            Some(_) | None => return self.reports.unknown(),
        };
        let function = FunctionId(self.tree.functions.len() as u32);
        for var in frame.locals {
            self.tree.variable_mut(var).owner = Some(function);
        }
        let result = self.tree.with_given(&ty, &frame.given);
        self.tree.functions.push(Function { name: name.name.clone(), params: variables, body, result, span });
        Some(Instance { id: function, ty, dims, given: frame.given, newton: frame.newton })
    }
}
