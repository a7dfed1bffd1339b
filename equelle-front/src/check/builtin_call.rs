//! Calls of built-ins, with `Vector` and `Output`.

use crate::check::builtin_rules::BuiltinRules;
use crate::check::builtins::{self, Row, Target};
use crate::check::checker::{Checker, tree_dim, value};
use crate::check::geometry::is_pointwise;
use crate::check::halo::bare;
use crate::check::halo_call::RULES;
use crate::check::operation::Operation;
use crate::check::parameters::argument_count;
use crate::check::{newton, stencil};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::typed::{Builtin, Expr, ExprKind, StmtKind, TreeDimension, TreeType};
use crate::types::{Basic, CanonicalSet, Dimension, Shape, Type};

/// Most bytes of a tag in a file name: names have at most 255, and numbers and endings follow.
const MAX_TAG_BYTES: usize = 200;

impl<'a> Checker<'a> {
    /// A call of a built-in that has a value.
    pub fn builtin(&mut self, callee: &'a Ident, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
        if let Some(set) = builtins::canonical_set(&callee.name) {
            for arg in args {
                self.expr(arg);
            }
            if !args.is_empty() {
                let spans: Vec<Span> = args.iter().map(|a| a.span).collect();
                return self.fail(argument_count(&callee.name, &[], &spans, span));
            }
            let ty = Type::domain(set.kind, self.sets.canonical(set));
            return Some(value(ExprKind::CanonicalSet(set), ty, Dimension::NONE, span));
        }
        let Some(row) = builtins::lookup(&callee.name) else {
            for arg in args {
                self.expr(arg);
            }
            return self.unknown_builtin(callee);
        };
        match row.target {
            Target::Call { result, dimension, .. } => {
                let values: Vec<Option<Expr>> = args.iter().map(|a| self.expr(a)).collect();
                let row = builtins::for_arguments(row, &values);
                let Target::Call { builtin, .. } = row.target else { return None };
                let mut rules = BuiltinRules { checker: &mut *self, row };
                let args = rules.values(args, values, span)?;
                let operands: Vec<TreeType> = args.iter().map(|a| a.ty.clone()).collect();
                let args: Vec<Expr> = args.into_iter().map(bare).collect();
                let dim = rules.result_dimension(dimension, &args)?;
                let ty = rules.result_type(result, &args)?;
                let call = value(ExprKind::Builtin { builtin, args }, ty, dim, span);
                Some(if is_pointwise(builtin) { self.rules.keep_periodic(call, &operands) } else { call })
            }
            Target::Vector => vector(self, row, args, span),
            Target::Power => {
                let [base, exponent] = <[Expr; 2]>::try_from(BuiltinRules { checker: &mut *self, row }.arguments(args, span)?).ok()?;
                Operation::new(self, "`^`", callee.span).power(base, exponent, span)
            }
            Target::Table2 => {
                let args = BuiltinRules { checker: &mut *self, row }.arguments(args, span)?;
                let (kind, ty) = (ExprKind::Builtin { builtin: Builtin::InputTable2, args }, TreeType::Table2);
                let dims = vec![TreeDimension::default(); ty.elements().len()];
                Some(Expr { kind, ty, dims, span })
            }
            Target::Stencil(word) => stencil::builtin(self, word, args, span),
            Target::Output => {
                output(self, callee, args, span);
                self.fail(
                    Diagnostic::new(Code::NoValue, span, "`Output` has no value")
                        .hint("make it a statement of its own: `Output(\"tag\", data)`"),
                )
            }
            Target::NewtonSolve => newton::solve(self, row, args, span),
            Target::NewtonSolveSystem => newton::solve_system(self, row, args, span),
        }
    }

    fn unknown_builtin<T>(&mut self, callee: &Ident) -> Option<T> {
        if RULES.contains(&callee.name.as_str()) || matches!(callee.name.as_str(), "Low" | "High") {
            return self.fail(
                Diagnostic::new(Code::UnknownBuiltin, callee.span, format!("`{}` is no value: it stands in `Halo` only", callee.name))
                    .hint("write `Halo(u, Periodic(i), Value(Low(j), 0))`"),
            );
        }
        if callee.name == "Range" {
            return self.fail(
                Diagnostic::new(Code::UnknownBuiltin, callee.span, "`Range` is no value: it stands after `In` of a `For` loop only")
                    .hint("write `For n In Range(a, b) {`"),
            );
        }
        let sets: Vec<String> = CanonicalSet::all().map(CanonicalSet::name).collect();
        let near = self.reports.suggest(&callee.name, builtins::names().chain(sets.iter().map(String::as_str)));
        let diagnostic = Diagnostic::new(Code::UnknownBuiltin, callee.span, format!("there is no built-in function `{}`", callee.name));
        self.fail(match near {
            Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
            None => diagnostic.hint("names of your own functions begin with a lower-case letter"),
        })
    }
}

/// `Vector(x, y)`
pub(super) fn vector<'a>(checker: &mut Checker<'a>, row: &Row, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
    let components: Vec<Option<Expr>> = args.iter().map(|a| checker.expr(a)).collect();
    if args.is_empty() || args.len() > row.params.len() {
        let spans: Vec<Span> = args.iter().map(|a| a.span).collect();
        let names: Vec<&str> = row.params.iter().map(|p| p.name).collect();
        let mut diagnostic = argument_count(row.name, &names, &spans, span);
        diagnostic.message = format!("`Vector` takes 1 to 3 components, not {}", args.len());
        diagnostic.hint = Some("write one component for each dimension of the grid: `Vector(x, y)`".to_owned());
        return checker.fail(diagnostic);
    }
    let mut valid = true;
    for (i, component) in components.iter().enumerate() {
        if let Some(component) = component {
            valid &= BuiltinRules { checker: &mut *checker, row }.argument(i, component, None).is_some();
        }
    }
    let components: Vec<Expr> = components.into_iter().map(|c| c.map(bare)).collect::<Option<_>>()?;
    if !valid {
        return None;
    }
    let mut ty = components.first()?.ty.value()?;
    // The component that told the domain, for messages.
    let mut placed = components.first()?;
    let mut dim = tree_dim(components.first()?);
    // The component that told the dimension.
    let mut told = components.first()?;
    for component in components.iter().skip(1) {
        let other = component.ty.value()?;
        Operation::new(checker, "`Vector`", component.span).same_set((placed, &ty), (component, &other))?;
        dim = Operation::new(checker, "`Vector`", component.span).same_dimension(Code::ArgumentDimension, told, component)?;
        if tree_dim(told) == TreeDimension::OfZero {
            told = component;
        }
        if ty.shape == Shape::Single {
            (ty, placed) = (other, component);
        }
    }
    Some(value(ExprKind::Vector(components), Type { basic: Basic::Vector, ..ty }, dim, span))
}

/// Warns of a tag with which files cannot be named.
fn tag_of_file(checker: &mut Checker<'_>, tag: &str, span: Span) {
    let is_refused = |letter: char| matches!(letter, '/' | '\\' | ':') || letter.is_control();
    let (message, hint) = if let Some(letter) = tag.chars().find(|&letter| is_refused(letter)) {
        let message = format!("`{}` cannot be part of a file name because of {letter:?}: collections go to files", tag.escape_debug());
        (message, format!("write {:?}", tag.replace(is_refused, "-")))
    } else if tag.len() > MAX_TAG_BYTES {
        let message = format!("a tag of {} bytes is too long for a file name: collections go to files", tag.len());
        (message, format!("write a tag of at most {MAX_TAG_BYTES} bytes"))
    } else {
        return;
    };
    checker.report(Diagnostic::new(Code::TagOfFile, span, message).hint(hint));
}

/// `Output(tag, data)`
pub(super) fn output<'a>(checker: &mut Checker<'a>, callee: &Ident, args: &'a [ast::Expr], span: Span) -> Option<StmtKind> {
    let values: Vec<Option<Expr>> = args.iter().map(|a| checker.expr(a)).collect();
    let row = builtins::lookup(&callee.name)?;
    BuiltinRules { checker: &mut *checker, row }.count(args, span)?;
    let mut values = values.into_iter();
    let (tag, data) = (values.next().flatten(), values.next().flatten());
    let tag_fits = tag.as_ref().map(|tag| BuiltinRules { checker: &mut *checker, row }.argument(0, tag, None));
    let data = data?;
    let unwritable = |ty: &&Type| match ty.shape {
        Shape::Single => matches!(ty.basic, Basic::Entity(_) | Basic::Table | Basic::Axis(_)),
        Shape::Collection(_) | Shape::Domain(_) => false,
        Shape::Sequence => true,
    };
    let wrong = data.ty.elements().iter().find(unwritable);
    if wrong.is_some() || data.ty == TreeType::Void {
        let found = checker.show(&data.ty);
        let hint = match wrong {
            Some(&Type::TABLE) if data.ty == TreeType::Table2 => "write what it gives: `Interpolate(table, x, y)`",
            Some(&Type::TABLE) => "write what it gives: `Interpolate(table, x)`",
            Some(Type { shape: Shape::Sequence, .. }) => "write its elements in a loop: `For s In ...`",
            Some(_) | None => "write numbers computed from it",
        };
        return checker.fail(
            Diagnostic::new(
                Code::OutputData,
                data.span,
                format!("`Output` writes single values, collections, and arrays of them, not {found}"),
            )
            .label(found)
            .hint(hint),
        );
    }
    tag_fits??;
    let tag = tag?;
    if let ExprKind::Text(text) = &tag.kind
        && data.ty.elements().iter().any(|ty| matches!(ty.shape, Shape::Collection(_) | Shape::Domain(_)))
    {
        tag_of_file(checker, text, tag.span);
    }
    Some(StmtKind::Output { tag, value: data })
}
