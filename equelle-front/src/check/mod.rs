//! The checker: untyped tree in, typed tree and diagnostics out (`docs/language`).
//!
//! One walk over the program resolves names, infers types, domains and dimensions, and instantiates
//! functions at their calls. The decisions behind it:
//!
//! * **Names** are resolved lexically. A function body sees the names of its defining scope that
//!   stand before the definition; whether an outer variable has a value is asked at the call. See
//!   [`scope`].
//! * **Unknown values.** An expression that was reported, or depends on one that was, is `None`;
//!   nothing is said about it again.
//! * **Instances.** A function is checked once per combination of argument types and dimensions;
//!   once per call site if it makes a domain. A diagnostic in a body is reported for the first
//!   instance that has it, with the calls that led there.
//! * **Built-ins** are rows of one table, [`mod@builtins`]; [`builtins()`] lists them for
//!   documentation and completion.
//! * **Parts.** The checker holds parts that own their state: [`reports`], [`tree`], [`scope`],
//!   [`definition`], [`halo`], [`geometry`]. A topic with state of its own borrows the checker, as
//!   do [`operation`], [`assignment`], [`loops`], [`import`] and [`newton`].
//! * **Bounds.** Nesting and the work spent on instances are limited ([`checker::MAX_DEPTH`],
//!   [`checker::MAX_WORK`]), so that no program, however contrived, exhausts stack, time or memory.

use crate::diagnostic::Diagnostic;
use crate::source::SourceMap;
use crate::syntax::ast::Program;
use crate::syntax::{self, Parsed, parse};
use texts::Texts;

mod arithmetic;
mod arrays;
mod assignment;
mod beyond;
mod broadcast;
mod builtin_call;
mod builtin_rules;
mod builtins;
mod call;
mod checker;
mod conditions;
mod constants;
mod declared;
mod definition;
mod dependence;
mod domain;
mod dropped;
mod effects;
mod expression;
mod function;
mod geometry;
mod given;
mod halo;
mod halo_call;
mod import;
mod indices;
mod last_step;
mod loops;
mod newton;
mod number;
mod operation;
mod outcome;
mod parameters;
mod power;
mod print;
mod program;
mod reports;
mod returns;
mod rounds;
mod runtime_sets;
mod scope;
mod statement;
mod stencil;
mod stencil_read;
mod table;
mod texts;
mod tree;
mod truth;
mod type_expr;
mod uncalled;
mod unused;

pub use outcome::{CheckOptions, Checked};
pub use print::{set_name, type_name};
pub use table::{BuiltinInfo, Category, Parameter, builtins};

/// Checks a program that imports nothing. Cost: linear in its length, times the number of instances
/// of its functions.
///
/// Trees with [`crate::syntax::ast::ExprKind::Error`] nodes are checked as far as they go, give no
/// further diagnostics about those nodes, and no program.
pub fn check(program: &Program, options: &CheckOptions) -> Checked {
    program::check(checker::Checker::new(*options, Texts::new(None, &[])), program)
}

/// As [`check_source`] for a text that is no file.
pub fn check_text(text: &str, options: &CheckOptions) -> Checked {
    check_source(&SourceMap::new("", text), options)
}

/// Parses and checks a program with all that it imports. The diagnostics of both are given
/// together, by position; beside syntax errors there are the errors of what could be read, but no
/// warnings. A first line `# dimensions: ignore` of the program has the effect of
/// [`CheckOptions::nondimensional`]; where only that is missing, the first error says so.
pub fn check_source(source: &SourceMap, options: &CheckOptions) -> Checked {
    let options = CheckOptions { nondimensional: options.nondimensional || ignores_dimensions(source.text()) };
    let mut checked = check_as_asked(source, &options);
    if !options.nondimensional
        && let Some(first) = checked.diagnostics.iter_mut().find(|diagnostic| diagnostic.is_error())
        && check_as_asked(source, &CheckOptions { nondimensional: true }).program.is_some()
    {
        first.notes.push(format!(
            "without dimensions the program is right: `--nondimensional`, or its first line `{IGNORE_DIMENSIONS}`, leaves them unchecked"
        ));
    }
    checked
}

/// The first line of a program whose dimensions are not checked.
const IGNORE_DIMENSIONS: &str = "# dimensions: ignore";

/// True if the first line of a program says that its dimensions are not checked; blanks do not
/// matter.
fn ignores_dimensions(text: &str) -> bool {
    let words = |line: &str| line.replace('#', " # ").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    text.lines().next().is_some_and(|first| words(first) == words(IGNORE_DIMENSIONS))
}

/// [`check_source`] by the options alone; the first line of the text is not considered.
fn check_as_asked(source: &SourceMap, options: &CheckOptions) -> Checked {
    let mut diagnostics = Vec::new();
    let mut programs = Vec::with_capacity(source.files().len());
    let mut blocks_lost = false;
    for file in source.files() {
        let Parsed { mut program, diagnostics: mut found, blocks_lost: lost } = parse(file.text());
        if file.start() > 0 {
            syntax::shift(&mut program.statements, &mut found, file.start());
        }
        diagnostics.append(&mut found);
        programs.push(program);
        blocks_lost |= lost;
    }
    let has_errors = diagnostics.iter().any(Diagnostic::is_error);
    let mut program = None;
    if !blocks_lost {
        let mut checker = checker::Checker::new(*options, Texts::new(Some(source), &programs));
        checker.reports.incomplete = has_errors;
        checker.reports.unread = diagnostics.iter().map(|diagnostic| diagnostic.primary.span).collect();
        let checked = program::check(checker, &programs[0]);
        diagnostics.extend(checked.diagnostics.into_iter().filter(|d| !has_errors || d.is_error()));
        program = checked.program;
        diagnostics.extend(program.iter().flat_map(|program| last_step::warnings(program, source)));
    }
    diagnostics.sort_by_key(|d| (d.primary.span, d.code));
    Checked { program, diagnostics }
}
