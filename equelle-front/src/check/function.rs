//! Functions: declarations, definitions, and the instances that calls make.

use std::collections::HashMap;
use std::rc::Rc;

use crate::check::checker::{CALL_WEIGHT, Checker, Frame, MAX_WORK};
use crate::check::definition::{Argument, Defined, Definition, FunctionType, Instance};
use crate::check::halo::gives_values;
use crate::check::parameters::with_missing;
use crate::check::scope::{DefinitionId, Meaning, Role, ScopeKind, State, VariableEntry};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, Ident, StmtKind as Ast};
use crate::typed::{Expr, Function, FunctionId, TreeType, Variable};

impl<'a> Checker<'a> {
    pub fn declare_function(&mut self, name: &'a Ident, params: &'a [(Ident, ast::TypeExpr)], result: &'a ast::TypeExpr) {
        let span = name.span.to(result.span);
        let names = params.iter().map(|(name, _)| name).collect();
        let params = params.iter().map(|(_, ty)| self.declared(ty)).collect();
        let result = self.declared(result);
        if let Some(id) = self.scopes.lookup(&name.name, self.scope)
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
        let id = DefinitionId(self.definitions.len() as u32);
        self.scopes.define(self.scope, &name.name, name.span, Meaning::Function(id));
        // The horizon lies behind the function's own name, so that recursion is seen as such.
        let horizon = self.scopes.horizon();
        let instances = HashMap::new();
        self.definitions.push(Definition { name, scope: self.scope, horizon, declared, defined, instances });
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
        self.check_returns(name, body, span);
        if gives_values(body, &self.givers) {
            self.givers.insert(&name.name);
        }
        let listed = params.len();
        let mut defined = Defined { params: params.iter().collect(), listed, body, span };
        if let Some(entry) = self.scopes.lookup(&name.name, self.scope)
            && let Meaning::Function(id) = self.scopes.entry(entry).meaning
        {
            let (scope, first) = (self.scopes.entry(entry).scope, self.scopes.entry(entry).span);
            let horizon = self.scopes.horizon();
            let definition = &mut self.definitions[id.0 as usize];
            if definition.defined.is_some() || scope != self.scope {
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
                self.report_parameter_count(id);
            }
            return;
        }
        self.taken(name, Code::Redeclaration, "a function");
        self.add_definition(name, None, Some(defined));
    }

    /// A body has one return, its last statement.
    fn check_returns(&mut self, name: &Ident, body: &'a ast::Block, body_span: Span) {
        let mut first = None;
        let mut in_loop = false;
        for (i, stmt) in body.statements.iter().enumerate() {
            match &stmt.kind {
                Ast::Return(_) => {
                    first.get_or_insert((i, stmt.span));
                }
                Ast::For { body, .. } | Ast::Conditional { body, .. } => in_loop |= self.no_return_in_loop(body),
                Ast::Declaration { .. }
                | Ast::FunctionDeclaration { .. }
                | Ast::Assignment { .. }
                | Ast::FunctionDefinition { .. }
                | Ast::StencilAssignment { .. }
                | Ast::Import { .. }
                | Ast::Call(_) => {}
            }
        }
        match first {
            None if in_loop => {}
            // A statement with a syntax error may have been the result.
            None if self.unread.iter().any(|place| body_span.start <= place.start && place.end <= body_span.end) => {}
            None => self.report(
                Diagnostic::new(Code::MissingReturn, name.span, format!("function `{}` has no result", name.name))
                    .label("its body has no `->`")
                    .hint("end the body with `-> value`"),
            ),
            Some((i, span)) => {
                if let Some(next) = body.statements.get(i + 1) {
                    self.report(
                        Diagnostic::new(
                            Code::AfterReturn,
                            next.span,
                            format!("`->` ends function `{}`, and this comes after it", name.name),
                        )
                        .also(span, "the function ends here")
                        .hint("move `->` to the end of the body"),
                    );
                }
            }
        }
    }

    /// Reports returns in a loop; whether there are any.
    fn no_return_in_loop(&mut self, body: &'a ast::Block) -> bool {
        let mut found = false;
        // An explicit stack: loops may be nested as deep as the parser allows.
        let mut blocks = vec![body];
        while let Some(block) = blocks.pop() {
            for stmt in &block.statements {
                match &stmt.kind {
                    Ast::Return(_) => {
                        found = true;
                        self.report(
                            Diagnostic::new(Code::ReturnInLoop, stmt.span, "a loop cannot end the function")
                                .hint("assign to a `Mutable` variable in the loop, and return that after it"),
                        );
                    }
                    Ast::For { body, .. } | Ast::Conditional { body, .. } => blocks.push(body),
                    Ast::Declaration { .. }
                    | Ast::FunctionDeclaration { .. }
                    | Ast::Assignment { .. }
                    | Ast::FunctionDefinition { .. }
                    | Ast::StencilAssignment { .. }
                    | Ast::Import { .. }
                    | Ast::Call(_) => {}
                }
            }
        }
        found
    }

    /// Compares the value returned with the declared result.
    pub fn check_result(&mut self, definition: DefinitionId, value: &Expr) {
        let definition = &self.definitions[definition.0 as usize];
        let (Some(declared), name) = (definition.declared.clone(), definition.name) else { return };
        let Some(expected) = &declared.result else { return };
        if self.accepts(expected, &value.ty) {
            return;
        }
        let (wanted, found) = (self.show_declared(expected), self.show(&value.ty));
        // Calls have the domain of the result, whatever the declaration says.
        let code = if self.accepts_elsewhere(expected, &value.ty) { Code::ResultDomain } else { Code::ResultType };
        let mut diagnostic =
            Diagnostic::new(code, value.span, format!("`{}` is declared to return {wanted}, but this is {found}", name.name))
                .label(found)
                .also(expected.span, "declared here");
        if let Some(note) = self.declared_note(expected, &value.ty) {
            diagnostic = diagnostic.note(note);
        }
        let hint = self.declared_hint(expected, &value.ty).unwrap_or_else(|| "change the declaration or the result".to_owned());
        self.report(diagnostic.hint(hint));
    }

    /// The instance of a function for these arguments; `None` if its result is unknown.
    pub fn instance(&mut self, id: DefinitionId, arguments: Vec<Argument>, call: Span) -> Option<Instance> {
        if let Some(known) = self.definitions[id.0 as usize].instances.get(&arguments) {
            return known.clone().or_else(|| self.unknown());
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
        let sets_before = self.new_sets;
        let types = arguments.iter().map(|(ty, _)| ty.clone()).collect();
        let bound = arguments.iter().map(|a| Some(a.clone())).collect();
        let instance = self.nested(CALL_WEIGHT, call, |this| this.walk_body(id, bound, Some((call, types))));
        // A function that makes a domain makes a new one at every call.
        if self.new_sets == sets_before {
            self.definitions[id.0 as usize].instances.insert(arguments, instance.clone());
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
        let definition = &self.definitions[id.0 as usize];
        self.walked.insert(definition.name.span);
        let (name, Defined { params, body, span, .. }) = (definition.name, definition.defined.clone()?);
        let inside = self.scopes.open(ScopeKind::Function, definition.scope, definition.horizon);
        let outer = std::mem::replace(&mut self.scope, inside);
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
            self.scopes.define(inside, &param.name, param.span, Meaning::Variable(entry));
        }
        let body = self.statements(&body.statements);
        self.scope = outer;
        let frame = self.frames.pop()?;
        let (ty, dims) = match frame.result {
            Some(result) if variables.len() == params.len() => result,
            Some(_) | None => return self.unknown(),
        };
        let function = FunctionId(self.functions.len() as u32);
        for var in frame.locals {
            self.variables[var.0 as usize].owner = Some(function);
        }
        let result = self.with_given(&ty, &frame.given);
        self.functions.push(Function { name: name.name.clone(), params: variables, body, result, span });
        Some(Instance { id: function, ty, dims, given: frame.given, newton: frame.newton })
    }
}
