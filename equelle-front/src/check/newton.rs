//! `NewtonSolve` and `NewtonSolveSystem`.

use std::rc::Rc;

use crate::check::builtin_rules::BuiltinRules;
use crate::check::builtins::Row;
use crate::check::checker::Checker;
use crate::check::definition::Argument;
use crate::check::dependence::{Analysis, Through};
use crate::check::dropped;
use crate::check::halo::bare;
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

/// A problem of Newton's method: a residual for each unknown.
struct Problem<'c, 'a> {
    checker: &'c mut Checker<'a>,
    names: Vec<Ident>,
    unknowns: Vec<Unknown>,
}

/// The dimensions of unknowns: those of their guesses.
fn fixed(guesses: &Expr) -> Vec<TreeDimension> {
    guesses.dims.iter().map(|dim| dim.fixed()).collect()
}

/// `NewtonSolve(residual, guess)`
pub(super) fn solve<'a>(checker: &mut Checker<'a>, row: &Row, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
    BuiltinRules { checker: &mut *checker, row }.count(args, span)?;
    let [residual, guess] = args else { return checker.reports.unknown() };
    let guess = checker.expr(guess).map(bare);
    let residual = residual_name(checker, residual);
    let guess = guess?;
    let dim = fixed(&guess).first().copied().unwrap_or_default();
    let unknown = Unknown { ty: guess.ty.clone(), dim, span: guess.span };
    unknown_fits(checker, &unknown)?;
    Problem { checker, names: vec![residual?], unknowns: vec![unknown] }.solve(guess, span)
}

/// `NewtonSolveSystem([residual, ...], [guess, ...])`
pub(super) fn solve_system<'a>(checker: &mut Checker<'a>, row: &Row, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
    BuiltinRules { checker: &mut *checker, row }.count(args, span)?;
    let [residuals, guesses] = args else { return checker.reports.unknown() };
    let names = match &residuals.kind {
        Ast::Array(elements) => {
            let names: Vec<Option<Ident>> = elements.iter().map(|e| residual_name(checker, e)).collect();
            names.into_iter().collect::<Option<Vec<_>>>()
        }
        Ast::Error => checker.reports.unknown(),
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
        | Ast::Ternary { .. } => checker.fail(
            Diagnostic::new(Code::NewtonArguments, residuals.span, "the first argument is an array of function names")
                .hint("write the functions between brackets: `[residual_a, residual_b]`"),
        ),
    };
    let guesses_span = guesses.span;
    let guesses = checker.expr(guesses);
    let (names, guesses) = (names?, guesses?);
    let TreeType::Array(types) = guesses.ty.clone() else {
        let found = checker.show(&guesses.ty);
        return checker.fail(
            Diagnostic::new(Code::NewtonArguments, guesses_span, format!("the second argument is an array of guesses, not {found}"))
                .label(found)
                .hint("write the guesses between brackets: `[a, b]`"),
        );
    };
    if types.len() != names.len() {
        return checker.fail(
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
    let fit: Vec<Option<()>> = unknowns.iter().map(|u| unknown_fits(checker, u)).collect();
    fit.into_iter().collect::<Option<Vec<()>>>()?;
    Problem { checker, names, unknowns }.solve(guesses, span)
}

fn residual_name(checker: &mut Checker<'_>, expr: &ast::Expr) -> Option<Ident> {
    match &expr.kind {
        Ast::Name(name) => Some(Ident { name: name.clone(), span: expr.span }),
        Ast::Error => checker.reports.unknown(),
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
        | Ast::Ternary { .. } => checker.fail(
            Diagnostic::new(Code::NewtonFunction, expr.span, "a residual is given by the name of a function")
                .hint("define `residual(u) = { ... }` and pass `residual`, without arguments"),
        ),
    }
}

/// Reports an unknown that is no collection of numbers.
fn unknown_fits(checker: &mut Checker<'_>, unknown: &Unknown) -> Option<()> {
    if matches!(unknown.ty, TreeType::Value(Type { basic: Basic::Scalar, shape: Shape::Collection(_), .. })) {
        return Some(());
    }
    let found = checker.show(&unknown.ty);
    let single = unknown.ty == TreeType::Value(Type::SCALAR);
    checker.fail(
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

impl Problem<'_, '_> {
    fn solve(&mut self, guesses: Expr, span: Span) -> Option<Expr> {
        let (ty, dims) = (guesses.ty.clone(), fixed(&guesses));
        let residuals = self.residuals()?;
        self.all_determined(&residuals)?;
        if let Some(frame) = self.checker.frames.last_mut() {
            frame.newton.get_or_insert(span);
        }
        Some(Expr { kind: ExprKind::Newton { residuals, guesses: vec![guesses] }, ty, dims, span })
    }

    /// One instance per residual, each taking all unknowns, and each living where its unknown does.
    fn residuals(&mut self) -> Option<Vec<FunctionId>> {
        let arguments: Vec<Option<Argument>> = self.unknowns.iter().map(|u| Some((u.ty.clone(), vec![u.dim]))).collect();
        let spans: Vec<Span> = self.unknowns.iter().map(|u| u.span).collect();
        let found: Vec<Option<FunctionId>> = (0..self.names.len()).map(|i| self.residual(i, arguments.clone(), &spans)).collect();
        found.into_iter().collect()
    }

    fn residual(&mut self, index: usize, arguments: Vec<Option<Argument>>, spans: &[Span]) -> Option<FunctionId> {
        let (name, guess) = (self.names.get(index)?, self.unknowns.get(index)?);
        let function = self.checker.callee(name)?;
        if arguments.len() > 1
            && let Some(defined) = &self.checker.definitions.get(function).defined
        {
            let params = Rc::clone(&defined.params);
            self.checker.definitions.unknowns.extend(params.iter().map(|p| p.span));
        }
        let instance = self.checker.apply(function, arguments, spans, name.span)?;
        if let Some(inner) = instance.newton {
            return self.checker.fail(
                Diagnostic::new(Code::NewtonNested, name.span, format!("residual `{}` solves a Newton problem of its own", name.name))
                    .also(inner, "here")
                    .hint("solve that one before, and use its result in the residual"),
            );
        }
        if !instance.given.is_empty() {
            let message = format!("a rule beyond the grid of what `{}` returns gives a value of it", name.name);
            return self.checker.fail(
                Diagnostic::new(Code::HaloEscapes, name.span, message)
                    .hint("return the values themselves: nobody reads a residual beyond the grid"),
            );
        }
        let mapping = |ty: &TreeType| match ty {
            TreeType::Value(Type { basic: Basic::Scalar, shape: Shape::Collection(set), .. }) => Some(*set),
            TreeType::Value(_) | TreeType::Array(_) | TreeType::Table2 | TreeType::Void => None,
        };
        if mapping(&instance.ty).is_none() || mapping(&instance.ty) != mapping(&guess.ty) {
            let (wanted, result) = (self.checker.show(&guess.ty), self.checker.show(&instance.ty));
            let defined = self.checker.definitions.get(function).name.span;
            return self.checker.fail(
                Diagnostic::new(Code::NewtonResidual, name.span, format!("`{}` returns {result}, but its unknown is {wanted}", name.name))
                    .label(format!("returns {result}"))
                    .also(guess.span, format!("the unknown is {wanted}"))
                    .also(defined, "defined here")
                    .hint("an equation has one value for each value of its unknown"),
            );
        }
        dropped::warn(self.checker, instance.id, name.span);
        Some(instance.id)
    }

    /// Reports a residual without derivatives, which the run-time would refuse whatever its values
    /// are, and an unknown that no residual depends on.
    fn all_determined(&mut self, residuals: &[FunctionId]) -> Option<()> {
        self.checker.tree.extend_captures();
        let by = |through| Analysis::new(&self.checker.tree, through).residuals(residuals);
        let (values, derivatives) = (by(Through::Values), by(Through::Derivatives));
        // Parameter `i` of residual `i` is what the program calls unknown `i`.
        let parameters = residuals.iter().enumerate().filter_map(|(i, r)| self.checker.tree.function(*r).params.get(i));
        let called: Vec<String> = parameters.map(|v| format!("`{}`", self.checker.tree.variable(*v).name)).collect();
        let of = match called.as_slice() {
            [unknown] => format!("its unknown {unknown}"),
            unknowns => format!("any of the unknowns {}", unknowns.join(", ")),
        };
        let mut valid = Some(());
        for ((name, values), _) in self.names.iter().zip(&values).zip(&derivatives).filter(|(_, derivatives)| derivatives.is_empty()) {
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
            if let Some(Meaning::Function(id)) = self.checker.scopes.lookup(&name.name).map(|id| &self.checker.scopes.entry(id).meaning) {
                diagnostic = diagnostic.also(self.checker.definitions.get(*id).name.span, "defined here");
            }
            if !values.is_empty() {
                diagnostic = diagnostic.note("reductions, comparisons and variables that another residual assigns have no derivatives");
            }
            self.checker.report(diagnostic.hint(hint));
            valid = None;
        }
        // Beside an equation too few, an unknown too many is the same mistake.
        valid?;
        for (i, unknown) in self.unknowns.iter().enumerate() {
            if values.iter().any(|depends| depends.contains(&(i as u32))) {
                continue;
            }
            let of = called.get(i).map_or_else(String::new, |name| format!(" {name}"));
            let mut diagnostic = Diagnostic::new(Code::NewtonIndependent, unknown.span, format!("no residual depends on the unknown{of}"))
                .label("any value would do");
            if let Some(own) = self.names.get(i) {
                diagnostic = diagnostic.also(own.span, "its equation");
            }
            self.checker
                .report(diagnostic.hint("every unknown stands in at least one equation; leave out one that is known, with its equation"));
            valid = None;
        }
        valid
    }
}
