//! The checker: untyped tree in, typed tree and diagnostics out (language specification, sections 4 to 12).
//!
//! One walk over the program resolves names, infers types, domains and dimensions, and instantiates functions at their calls.
//! The decisions behind it:
//!
//! * **Names** are resolved lexically. A function body sees the names of its defining scope that stand before the definition;
//!   whether an outer variable has a value is asked at the call. See [`scope`].
//! * **Unknown values.** An expression that was reported, or depends on one that was, is `None`; nothing is said about it again.
//! * **Instances.** A function is checked once per combination of argument types and dimensions; once per call site if it makes a domain.
//!   A diagnostic in a body is reported for the first instance that has it, with the calls that led there.
//! * **Built-ins** are rows of one table, [`builtins`].
//! * **Bounds.** Nesting and the work spent on instances are limited ([`checker::MAX_DEPTH`], [`checker::MAX_WORK`]), so that no program, however
//!   contrived, exhausts stack, time or memory.

use crate::diagnostic::Diagnostic;
use crate::syntax::ast::Program;
use crate::typed::TypedProgram;

mod arithmetic;
mod builtin_call;
mod builtins;
mod call;
mod checker;
mod declared;
mod domain;
mod expression;
mod function;
mod newton;
mod print;
mod scope;
mod statement;
mod truth;
mod uncalled;
mod unused;

pub use print::{set_name, type_name};

/// What the user can choose about checking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckOptions {
    /// Take no notice of dimensions. Units still scale their numbers to SI.
    pub nondimensional: bool,
}

/// Outcome of [`check`].
#[derive(Clone, Debug)]
pub struct Checked {
    /// The typed program, if there were no errors.
    pub program: Option<TypedProgram>,
    /// Errors and warnings, by position.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks a program. Cost: linear in its length, times the number of instances of its functions.
///
/// Trees with [`crate::syntax::ast::ExprKind::Error`] nodes are checked as far as they go, give no further diagnostics about those nodes, and no program.
pub fn check(program: &Program, options: &CheckOptions) -> Checked {
    checker::Checker::new(*options).program(program)
}
