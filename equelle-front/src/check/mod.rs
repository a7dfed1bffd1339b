//! The checker: untyped tree in, typed tree and diagnostics out (language specification, sections 4
//! to 12).
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
//! * **Bounds.** Nesting and the work spent on instances are limited ([`checker::MAX_DEPTH`],
//!   [`checker::MAX_WORK`]), so that no program, however contrived, exhausts stack, time or memory.

use crate::diagnostic::Diagnostic;
use crate::syntax::ast::Program;
use crate::syntax::parse;

mod arithmetic;
mod arrays;
mod broadcast;
mod builtin_call;
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
mod expression;
mod function;
mod newton;
mod outcome;
mod parameters;
mod power;
mod print;
mod scope;
mod statement;
mod table;
mod truth;
mod uncalled;
mod unused;

pub use outcome::{CheckOptions, Checked};
pub use print::{set_name, type_name};
pub use table::{BuiltinInfo, Category, Parameter, builtins};

/// Checks a program. Cost: linear in its length, times the number of instances of its functions.
///
/// Trees with [`crate::syntax::ast::ExprKind::Error`] nodes are checked as far as they go, give no
/// further diagnostics about those nodes, and no program.
pub fn check(program: &Program, options: &CheckOptions) -> Checked {
    checker::Checker::new(*options).program(program)
}

/// Parses and checks a text. The diagnostics of both are given together, by position; beside syntax
/// errors there are the errors of what could be read, but no warnings.
pub fn check_text(text: &str, options: &CheckOptions) -> Checked {
    let parsed = parse(text);
    if !parsed.diagnostics.iter().any(Diagnostic::is_error) {
        let mut checked = check(&parsed.program, options);
        checked.diagnostics.extend(parsed.diagnostics);
        checked.diagnostics.sort_by_key(|d| (d.primary.span, d.code));
        return checked;
    }
    let mut diagnostics = parsed.diagnostics;
    if !parsed.blocks_lost {
        let mut checker = checker::Checker::new(*options);
        checker.incomplete = true;
        let checked = checker.program(&parsed.program).diagnostics;
        diagnostics.extend(checked.into_iter().filter(Diagnostic::is_error));
    }
    diagnostics.sort_by_key(|d| (d.primary.span, d.code));
    Checked { program: None, diagnostics }
}
