//! `NewtonSolve` and `NewtonSolveSystem`.

use crate::check::builtins::Row;
use crate::check::checker::Checker;
use crate::check::definition::Argument;
use crate::check::dependence::{Analysis, Through};
use crate::check::scope::Meaning;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind as Ast, Ident};
use crate::typed::{Expr, ExprKind, FunctionId, TreeDimension, TreeType};
use crate::types::{Basic, Shape, Type};

/// Properties of an unknown, by its guess.
struct Unknown {
    ty: TreeType,
    dim: TreeDimension,
    /// Span of the guess.
    span: Span,
}

/// The dimensions of unknowns: those of their guesses.
fn fixed(guesses: &Expr) -> Vec<TreeDimension> {
    guesses.dims.iter().map(|dim| dim.fixed()).collect()
}

impl<'a> Checker<'a> {
    /// `NewtonSolve(residual, guess)`
    pub fn newton_solve(&mut self, row: &Row, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
        self.count(row, args, span)?;
        let [residual, guess] = args else { return self.unknown() };
        let guess = self.expr(guess).map(crate::check::stencil::bare);
        let residual = self.residual_name(residual);
        let guess = guess?;
        let (ty, dims) = (guess.ty.clone(), fixed(&guess));
        let unknown = Unknown { ty: ty.clone(), dim: dims.first().copied().unwrap_or_default(), span: guess.span };
        self.unknown_fits(&unknown)?;
        let residual = residual?;
        let residuals = self.residuals(std::slice::from_ref(&residual), std::slice::from_ref(&unknown))?;
        self.all_determined(&[residual], &residuals, &[unknown])?;
        self.reaches_newton(span);
        Some(Expr { kind: ExprKind::Newton { residuals, guesses: vec![guess] }, ty, dims, span })
    }

    /// `NewtonSolveSystem([residual, ...], [guess, ...])`
    pub fn newton_solve_system(&mut self, row: &Row, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
        self.count(row, args, span)?;
        let [residuals, guesses] = args else { return self.unknown() };
        let names = match &residuals.kind {
            Ast::Array(elements) => {
                let names: Vec<Option<Ident>> = elements.iter().map(|e| self.residual_name(e)).collect();
                names.into_iter().collect::<Option<Vec<_>>>()
            }
            Ast::Error => self.unknown(),
            Ast::Number { .. }
            | Ast::Text(_)
            | Ast::Bool(_)
            | Ast::Name(_)
            | Ast::Call { .. }
            | Ast::Paren(_)
            | Ast::Norm(_)
            | Ast::Index { .. }
            | Ast::Unary { .. }
            | Ast::Binary { .. }
            | Ast::Ternary { .. } => self.fail(
                Diagnostic::new(Code::NewtonArguments, residuals.span, "the first argument is an array of function names")
                    .hint("write the functions between brackets: `[residual_a, residual_b]`"),
            ),
        };
        let guesses_span = guesses.span;
        let guesses = self.expr(guesses);
        let (names, guesses) = (names?, guesses?);
        let TreeType::Array(types) = guesses.ty.clone() else {
            let found = self.show(&guesses.ty);
            return self.fail(
                Diagnostic::new(Code::NewtonArguments, guesses_span, format!("the second argument is an array of guesses, not {found}"))
                    .label(found)
                    .hint("write the guesses between brackets: `[a, b]`"),
            );
        };
        if types.len() != names.len() {
            return self.fail(
                Diagnostic::new(
                    Code::NewtonCount,
                    span,
                    format!("residuals and unknowns must be equal in number, not {} and {}", names.len(), types.len()),
                )
                .also(residuals.span, "the residuals")
                .also(guesses_span, "the guesses")
                .hint("every unknown needs one equation"),
            );
        }
        let dims = fixed(&guesses);
        let unknowns: Vec<Unknown> = types
            .iter()
            .enumerate()
            .map(|(i, ty)| Unknown {
                ty: TreeType::Value(*ty),
                dim: dims.get(i).copied().unwrap_or_default(),
                span: match &guesses.kind {
                    ExprKind::Array(elements) => elements.get(i).map_or(guesses_span, |e| e.span),
                    _ => guesses_span,
                },
            })
            .collect();
        let fit: Vec<Option<()>> = unknowns.iter().map(|u| self.unknown_fits(u)).collect();
        fit.into_iter().collect::<Option<Vec<()>>>()?;
        let ty = guesses.ty.clone();
        let residuals = self.residuals(&names, &unknowns)?;
        self.all_determined(&names, &residuals, &unknowns)?;
        self.reaches_newton(span);
        Some(Expr { kind: ExprKind::Newton { residuals, guesses: vec![guesses] }, ty, dims, span })
    }

    fn residual_name(&mut self, expr: &'a ast::Expr) -> Option<Ident> {
        match &expr.kind {
            Ast::Name(name) => Some(Ident { name: name.clone(), span: expr.span }),
            Ast::Error => self.unknown(),
            Ast::Number { .. }
            | Ast::Text(_)
            | Ast::Bool(_)
            | Ast::Call { .. }
            | Ast::Array(_)
            | Ast::Paren(_)
            | Ast::Norm(_)
            | Ast::Index { .. }
            | Ast::Unary { .. }
            | Ast::Binary { .. }
            | Ast::Ternary { .. } => self.fail(
                Diagnostic::new(Code::NewtonFunction, expr.span, "a residual is given by the name of a function")
                    .hint("define `residual(u) = { ... }` and pass `residual`, without arguments"),
            ),
        }
    }

    fn unknown_fits(&mut self, unknown: &Unknown) -> Option<()> {
        if matches!(unknown.ty, TreeType::Value(Type { basic: Basic::Scalar, shape: Shape::Collection(_), .. })) {
            return Some(());
        }
        let found = self.show(&unknown.ty);
        let single = unknown.ty == TreeType::Value(Type::SCALAR);
        self.fail(
            Diagnostic::new(Code::NewtonGuess, unknown.span, format!("an unknown is a Collection Of Scalar, and this guess is {found}"))
                .label(found)
                .hint(match (&unknown.ty, single) {
                    (_, true) => "spread a number over the domain with `Extend`",
                    (TreeType::Array(_), _) => "solve for several unknowns with `NewtonSolveSystem`",
                    (TreeType::Value(_) | TreeType::Table2 | TreeType::Void, false) => {
                        "guess a number for each element of a domain, such as `0 Extend AllCells()`"
                    }
                }),
        )
    }

    /// One instance per residual, each taking all unknowns, and each living where its unknown does.
    fn residuals(&mut self, names: &[Ident], unknowns: &[Unknown]) -> Option<Vec<FunctionId>> {
        let arguments: Vec<Option<Argument>> = unknowns.iter().map(|u| Some((u.ty.clone(), vec![u.dim]))).collect();
        let spans: Vec<Span> = unknowns.iter().map(|u| u.span).collect();
        let mut found = Vec::with_capacity(names.len());
        for (name, unknown) in names.iter().zip(unknowns) {
            found.push(self.residual(name, unknown, arguments.clone(), &spans));
        }
        found.into_iter().collect()
    }

    fn residual(&mut self, name: &Ident, guess: &Unknown, arguments: Vec<Option<Argument>>, spans: &[Span]) -> Option<FunctionId> {
        let function = self.callee(name)?;
        if arguments.len() > 1
            && let Some(defined) = &self.definitions[function.0 as usize].defined
        {
            self.unknowns.extend(defined.params.iter().map(|p| p.span));
        }
        let instance = self.apply(function, arguments, spans, name.span)?;
        if let Some(inner) = instance.newton {
            return self.fail(
                Diagnostic::new(Code::NewtonNested, name.span, format!("residual `{}` solves a Newton problem of its own", name.name))
                    .also(inner, "here")
                    .hint("solve that one before, and use its result in the residual"),
            );
        }
        if !instance.given.is_empty() {
            let message = format!("a rule beyond the grid of what `{}` returns gives a value of it", name.name);
            return self.fail(
                Diagnostic::new(Code::HaloEscapes, name.span, message)
                    .hint("return the values themselves: nobody reads a residual beyond the grid"),
            );
        }
        let mapping = |ty: &TreeType| match ty {
            TreeType::Value(Type { basic: Basic::Scalar, shape: Shape::Collection(set), .. }) => Some(*set),
            TreeType::Value(_) | TreeType::Array(_) | TreeType::Table2 | TreeType::Void => None,
        };
        if mapping(&instance.ty).is_none() || mapping(&instance.ty) != mapping(&guess.ty) {
            let (wanted, result) = (self.show(&guess.ty), self.show(&instance.ty));
            let defined = self.definitions[function.0 as usize].name.span;
            return self.fail(
                Diagnostic::new(Code::NewtonResidual, name.span, format!("`{}` returns {result}, but its unknown is {wanted}", name.name))
                    .label(format!("returns {result}"))
                    .also(guess.span, format!("the unknown is {wanted}"))
                    .also(defined, "defined here")
                    .hint("an equation has one value for each value of its unknown"),
            );
        }
        self.warn_dropped_derivatives(instance.id, name.span);
        Some(instance.id)
    }

    /// Reports a residual without derivatives, which the run-time would refuse whatever its values
    /// are, and an unknown that no residual depends on.
    fn all_determined(&mut self, names: &[Ident], residuals: &[FunctionId], unknowns: &[Unknown]) -> Option<()> {
        self.extend_captures();
        let by = |through| Analysis::new(&self.functions, &self.variables, &self.captures, through).residuals(residuals);
        let (values, derivatives) = (by(Through::Values), by(Through::Derivatives));
        // Parameter `i` of residual `i` is what the program calls unknown `i`.
        let parameters = residuals.iter().enumerate().filter_map(|(i, r)| self.functions[r.0 as usize].params.get(i));
        let called: Vec<String> = parameters.map(|v| format!("`{}`", self.variables[v.0 as usize].name)).collect();
        let of = match called.as_slice() {
            [unknown] => format!("its unknown {unknown}"),
            unknowns => format!("any of the unknowns {}", unknowns.join(", ")),
        };
        let mut valid = Some(());
        for ((name, values), _) in names.iter().zip(&values).zip(&derivatives).filter(|(_, derivatives)| derivatives.is_empty()) {
            let (message, label, hint) = if values.is_empty() {
                (
                    format!("residual `{}` does not depend on {of}", name.name),
                    "the same value whatever the unknowns are",
                    "compute the value that it returns from its parameters",
                )
            } else {
                (
                    format!("residual `{}` has no derivative with respect to {of}", name.name),
                    "depends on them only through what has no derivatives",
                    "let the unknown itself stand in its equation",
                )
            };
            let mut diagnostic = Diagnostic::new(Code::NewtonIndependent, name.span, message).label(label);
            if let Some(Meaning::Function(id)) = self.scopes.lookup(&name.name, self.scope).map(|id| &self.scopes.entry(id).meaning) {
                diagnostic = diagnostic.also(self.definitions[id.0 as usize].name.span, "defined here");
            }
            if !values.is_empty() {
                diagnostic = diagnostic.note("reductions, comparisons and variables that another residual assigns have no derivatives");
            }
            self.report(diagnostic.hint(hint));
            valid = None;
        }
        // Beside an equation too few, an unknown too many is the same mistake.
        valid?;
        for (i, unknown) in unknowns.iter().enumerate() {
            if values.iter().any(|depends| depends.contains(&(i as u32))) {
                continue;
            }
            let of = called.get(i).map_or_else(String::new, |name| format!(" {name}"));
            let mut diagnostic = Diagnostic::new(Code::NewtonIndependent, unknown.span, format!("no residual depends on the unknown{of}"))
                .label("any value would do");
            if let Some(own) = names.get(i) {
                diagnostic = diagnostic.also(own.span, "its equation");
            }
            self.report(diagnostic.hint("every unknown stands in at least one equation; leave out one that is known, with its equation"));
            valid = None;
        }
        valid
    }

    fn reaches_newton(&mut self, span: Span) {
        if let Some(frame) = self.frames.last_mut() {
            frame.newton.get_or_insert(span);
        }
    }
}
