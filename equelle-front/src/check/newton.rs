//! `NewtonSolve` and `NewtonSolveSystem`.

use crate::check::builtins::Row;
use crate::check::checker::Checker;
use crate::check::function::Argument;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind as Ast, Ident};
use crate::typed::{Expr, ExprKind, FunctionId, TreeType};
use crate::types::{Basic, Shape, Type};

impl<'a> Checker<'a> {
    /// `NewtonSolve(residual, guess)`
    pub fn newton_solve(&mut self, row: &Row, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
        self.count(row, args, span)?;
        let [residual, guess] = args else { return self.unknown() };
        let guess = self.expr(guess);
        let residual = self.residual_name(residual);
        let guess = self.guess(guess?)?;
        let (ty, dims) = (guess.ty, guess.dims.clone());
        let residuals = self.residuals(&[residual?], std::slice::from_ref(&guess))?;
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
        let TreeType::Array { size, element } = guesses.ty else {
            let found = self.show(&guesses.ty);
            return self.fail(
                Diagnostic::new(Code::NewtonArguments, guesses_span, format!("the second argument is an array of guesses, not {found}"))
                    .label(found)
                    .hint("write the guesses between brackets: `[a, b]`"),
            );
        };
        if size as usize != names.len() {
            return self.fail(
                Diagnostic::new(
                    Code::NewtonCount,
                    span,
                    format!("residuals and unknowns must be equal in number, not {} and {size}", names.len()),
                )
                .also(residuals.span, "the residuals")
                .also(guesses_span, "the guesses")
                .hint("every unknown needs one equation"),
            );
        }
        let (ty, dims) = (guesses.ty, guesses.dims.clone());
        let elements = self.elements(guesses, size, element)?;
        let elements: Vec<Option<Expr>> = elements.into_iter().map(|e| self.guess(e)).collect();
        let elements = elements.into_iter().collect::<Option<Vec<_>>>()?;
        let residuals = self.residuals(&names, &elements)?;
        self.reaches_newton(span);
        Some(Expr { kind: ExprKind::Newton { residuals, guesses: elements }, ty, dims, span })
    }

    /// The elements of an array: those written, or one expression each for those of a variable.
    fn elements(&mut self, array: Expr, size: u32, element: Type) -> Option<Vec<Expr>> {
        match array.kind {
            ExprKind::Array(elements) => Some(elements),
            ExprKind::Variable(_) => {
                let part = |index: u32| Expr {
                    ty: TreeType::Value(element),
                    dims: array.dims.get(index as usize).copied().into_iter().collect(),
                    span: array.span,
                    kind: ExprKind::Element { array: Box::new(array.clone()), index },
                };
                Some((0..size).map(part).collect())
            }
            ExprKind::Number(_)
            | ExprKind::Text(_)
            | ExprKind::Bool(_)
            | ExprKind::CanonicalSet(_)
            | ExprKind::Builtin { .. }
            | ExprKind::Call { .. }
            | ExprKind::Newton { .. }
            | ExprKind::Element { .. }
            | ExprKind::Component { .. }
            | ExprKind::Neg(_)
            | ExprKind::Not(_)
            | ExprKind::Norm(_)
            | ExprKind::Arithmetic { .. }
            | ExprKind::Comparison { .. }
            | ExprKind::Logic { .. }
            | ExprKind::On { .. }
            | ExprKind::Extend { .. }
            | ExprKind::Ternary { .. } => self.fail(
                Diagnostic::new(Code::NewtonArguments, array.span, "the guesses are written between brackets, or are an array variable")
                    .hint("assign the array to a variable first"),
            ),
        }
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

    fn guess(&mut self, guess: Expr) -> Option<Expr> {
        if matches!(guess.ty, TreeType::Value(Type { basic: Basic::Scalar, shape: Shape::Collection(_), .. })) {
            return Some(guess);
        }
        let found = self.show(&guess.ty);
        self.fail(
            Diagnostic::new(Code::NewtonGuess, guess.span, format!("an unknown is a Collection Of Scalar, and this guess is {found}"))
                .label(found)
                .hint("spread a number over the domain with `Extend`"),
        )
    }

    /// One instance per residual, each taking all unknowns, and each living where its unknown does.
    fn residuals(&mut self, names: &[Ident], guesses: &[Expr]) -> Option<Vec<FunctionId>> {
        let arguments: Vec<Option<Argument>> = guesses.iter().map(|g| Some((g.ty, g.dims.clone()))).collect();
        let spans: Vec<Span> = guesses.iter().map(|g| g.span).collect();
        let mut found = Vec::with_capacity(names.len());
        for (name, guess) in names.iter().zip(guesses) {
            found.push(self.residual(name, guess, arguments.clone(), &spans));
        }
        found.into_iter().collect()
    }

    fn residual(&mut self, name: &Ident, guess: &Expr, arguments: Vec<Option<Argument>>, spans: &[Span]) -> Option<FunctionId> {
        let function = self.callee(name)?;
        let instance = self.apply(function, arguments, spans, name.span)?;
        if let Some(inner) = instance.newton {
            return self.fail(
                Diagnostic::new(Code::NewtonNested, name.span, format!("residual `{}` solves a Newton problem of its own", name.name))
                    .also(inner, "here")
                    .hint("solve that one before, and use its result in the residual"),
            );
        }
        if let Some(&(variable, assigned)) = instance.writes.first() {
            let variable = &self.variables[variable.0 as usize].name;
            return self.fail(
                Diagnostic::new(
                    Code::NewtonWrites,
                    name.span,
                    format!("residual `{}` assigns the variable `{variable}` of the program", name.name),
                )
                .also(assigned, "here")
                .hint("a residual is evaluated as often as the solver needs: compute the value after the solve, from its result"),
            );
        }
        let mapping = |ty: &TreeType| match ty {
            TreeType::Value(Type { basic: Basic::Scalar, shape: Shape::Collection(set), .. }) => Some(*set),
            TreeType::Value(_) | TreeType::Array { .. } | TreeType::Void => None,
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
        Some(instance.id)
    }

    fn reaches_newton(&mut self, span: Span) {
        if let Some(frame) = self.frames.last_mut() {
            frame.newton.get_or_insert(span);
        }
    }
}
