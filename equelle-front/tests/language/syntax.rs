//! The parser against `docs/language/grammar.md`: lexical rules, precedence, recovery, limits.

mod grouping;
mod lexical;
mod pages;
mod recovery;
mod statements;

use equelle_front::syntax::ast::{Expr, StmtKind};

use crate::common::{errors, good};

/// The value assigned in a text of one assignment.
fn value(text: &str) -> Expr {
    let mut program = good(text);
    assert_eq!(program.statements.len(), 1, "{text:?}");
    match program.statements.remove(0).kind {
        StmtKind::Assignment { value, .. } => value,
        other => panic!("{text:?} is {other:?}"),
    }
}
