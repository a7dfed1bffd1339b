//! Calls: of user functions here, of built-ins in `builtin_call`, of Newton in `newton`.

use crate::check::beyond::with_geometry;
use crate::check::broadcast::declared_arguments;
use crate::check::checker::{CALL_WEIGHT, Checker, MAX_DEPTH};
use crate::check::declared::DeclaredType;
use crate::check::definition::{Argument, Instance};
use crate::check::given::take_given;
use crate::check::indices::has_axis;
use crate::check::parameters::{argument_count, report_count};
use crate::check::scope::{DefinitionId, Meaning, State, VariableEntry};
use crate::check::stencil_read;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::typed::{Expr, ExprKind};

/// Functions of other languages, and what to write here.
const ELSEWHERE: [(&str, &str); 11] = [
    ("print", "`Output(\"name\", value)`"),
    ("println", "`Output(\"name\", value)`"),
    ("printf", "`Output(\"name\", value)`"),
    ("write", "`Output(\"name\", value)`"),
    ("disp", "`Output(\"name\", value)`"),
    ("sum", "`SumReduce(u)`; the integral over the cells is `SumReduce(u * |AllCells()|)`"),
    ("max", "`Max(a, b)` of two values, `MaxReduce(u)` of a collection"),
    ("min", "`Min(a, b)` of two values, `MinReduce(u)` of a collection"),
    ("grad", "`Gradient(u)`, the difference across each face"),
    ("div", "`Divergence(q)`, the sum over the faces of each cell"),
    ("norm", "`|v|`"),
];

impl<'a> Checker<'a> {
    /// `callee(args)`
    pub fn call(&mut self, callee: &'a Ident, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
        if callee.name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return self.builtin(callee, args, span);
        }
        if let Some(read) = stencil_read::entry(self, callee) {
            return stencil_read::read(self, callee, read, args, span);
        }
        let function = self.callee(callee);
        // It may be a read of something unknown, whose indices are no numbers.
        let is_index = function.is_none().then(|| args.iter().map(|a| has_axis(self, a)).collect::<Vec<bool>>());
        if let Some(is_index) = is_index {
            for (argument, _) in args.iter().zip(is_index).filter(|(_, is_index)| !is_index) {
                self.expr(argument);
            }
            return None;
        }
        let values: Vec<Option<Expr>> = args.iter().map(|a| self.expr(a)).collect();
        let function = function?;
        let values = declared_arguments(self, function, values);
        let spans: Vec<Span> = args.iter().map(|a| a.span).collect();
        let is_giver = self.definitions.givers.contains(callee.name.as_str());
        let mut bound = Vec::with_capacity(values.len());
        for value in &values {
            bound.push(value.as_ref().map(|value| {
                let ty = if is_giver { with_geometry(self, value) } else { value.ty.clone() };
                (ty, value.dims.clone())
            }));
        }
        let instance = self.apply(function, bound, &spans, callee.span.to(span))?;
        let args = values.into_iter().collect::<Option<Vec<_>>>()?;
        let (ty, mut dims) = (self.tree.with_given(&instance.ty, &instance.given), instance.dims);
        dims.extend(instance.given.iter().flat_map(|var| self.tree.variable(*var).dims.clone()));
        let call = Expr { kind: ExprKind::Call { function: instance.id, args }, ty, dims, span };
        Some(take_given(self, call, &instance.ty, &instance.given))
    }

    /// The function that a name means.
    pub fn callee(&mut self, name: &Ident) -> Option<DefinitionId> {
        let Some(id) = self.scopes.lookup(&name.name) else {
            return self.unknown_function(name);
        };
        let entry = self.scopes.entry_mut(id);
        entry.used = true;
        let span = entry.span;
        match entry.meaning {
            Meaning::Function(id) => {
                self.definitions.called.insert(self.definitions.get(id).name.span);
                Some(id)
            }
            // Something else was reported about it, which may have meant a function.
            Meaning::Variable(VariableEntry { state: State::Unknown, .. }) => self.reports.unknown(),
            Meaning::Variable(_) if self.reports.clashes.contains(&name.name) => self.reports.unknown(),
            Meaning::Variable(_) => self.fail(
                Diagnostic::new(Code::NotAFunction, name.span, format!("`{}` is a variable, not a function", name.name))
                    .also(span, "the variable is named here")
                    .hint("to multiply, write `*`; to evaluate a collection elsewhere, write `On`"),
            ),
        }
    }

    fn unknown_function<T>(&mut self, name: &Ident) -> Option<T> {
        if !self.reports.unknown_names.insert(name.name.clone()) {
            return self.reports.unknown();
        }
        let diagnostic = Diagnostic::new(Code::UnknownFunction, name.span, format!("there is no function `{}` here", name.name));
        if let Some(later) = self.scopes.defined_later(&name.name) {
            let place = self.scopes.entry(later).span;
            return self.fail(
                diagnostic
                    .also(place, format!("`{}` comes into being here, after the function that uses it", name.name))
                    .hint("define it first"),
            );
        }
        if let Some((_, instead)) = ELSEWHERE.iter().find(|(other, _)| *other == name.name) {
            return self.fail(diagnostic.hint(format!("write {instead}")));
        }
        let near = self.suggest_visible(&name.name, true);
        self.fail(match near {
            Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
            None => diagnostic.hint("define it before it is called"),
        })
    }

    /// The instance of a user function for arguments at these places (`None`: unknown). Reports
    /// wrong arguments and recursion.
    pub fn apply(&mut self, id: DefinitionId, arguments: Vec<Option<Argument>>, spans: &[Span], call: Span) -> Option<Instance> {
        let definition = self.definitions.get(id);
        let (name, declared) = (definition.name, definition.declared.clone());
        let Some(defined) = definition.defined.clone() else {
            return self.fail(
                Diagnostic::new(Code::FunctionNotDefined, call, format!("`{}` is declared but not yet defined", name.name))
                    .also(name.span, "declared here")
                    .hint("put the definition before the first call"),
            );
        };
        if self.frames.iter().any(|f| f.definition == id) {
            return self.fail(
                Diagnostic::new(Code::Recursion, call, format!("`{}` calls itself, directly or through others", name.name))
                    .also(name.span, "defined here")
                    .hint("Equelle has no recursion; use a `For` loop over a sequence"),
            );
        }
        let params = defined.params;
        if arguments.len() == defined.listed && defined.listed < params.len() {
            // The call and the definition contradict the declaration.
            report_count(self, id);
            return None;
        }
        if arguments.len() != params.len() {
            let names: Vec<&str> = params.iter().map(|p| p.name.as_str()).collect();
            let diagnostic = argument_count(&name.name, &names, spans, call);
            return self.fail(diagnostic.also(name.span, "defined here"));
        }
        if let Some(declared) = declared {
            let mut fits = true;
            for (i, (expected, argument)) in declared.params.iter().zip(&arguments).enumerate() {
                let (Some(expected), Some((ty, _))) = (expected, argument) else { continue };
                let expected = DeclaredType { checker: self, declared: expected };
                if expected.accepts(ty) {
                    continue;
                }
                let (wanted, found) = (expected.shown(), self.show(ty));
                let place = spans.get(i).copied().unwrap_or(call);
                let message =
                    format!("argument {} of `{}`, `{}`, is declared {wanted}, but this is {found}", i + 1, name.name, params[i].name);
                let diagnostic = expected.refusal(Code::ArgumentType, place, message, ty, "change the argument or the declaration");
                self.report(diagnostic);
                fits = false;
            }
            if !fits {
                return None;
            }
        }
        let called = self.depth + CALL_WEIGHT < MAX_DEPTH && self.frames.iter().all(|f| f.call.is_some());
        if arguments.iter().any(Option::is_none) && called && !self.definitions.walked.contains(&name.span) {
            // The body may also be wrong in its use of the arguments that are known. (Functions
            // that no call reaches are checked one by one.)
            let types = arguments.iter().flatten().map(|(ty, _)| ty.clone()).collect();
            self.nested(CALL_WEIGHT, call, |this| this.walk_body(id, arguments, Some((call, types))));
            return self.reports.unknown();
        }
        let arguments: Vec<Argument> = arguments.into_iter().collect::<Option<_>>()?;
        let instance = self.instance(id, arguments, call)?;
        if let Some(frame) = self.frames.last_mut() {
            frame.newton = frame.newton.or(instance.newton);
        }
        Some(instance)
    }
}
