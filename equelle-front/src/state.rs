//! The state of a program: mutable variables whose numbers are checked at the end of a run, and now
//! and then in a loop.
//!
//! A variable that gets its value outside of all loops has one at the end. One that gets it in a
//! loop alone belongs to a round of that loop.

use std::collections::BTreeSet;

use crate::ir::{Block, Function, MutableId, Stmt, StmtKind};
use crate::source::Span;
use crate::types::{Basic, Shape, Type};

/// A variable that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The variable; it holds numbers.
    pub mutable: MutableId,
    /// Its last assignment before, in the order of the text.
    pub assignment: Span,
}

/// Returns the variables checked where the main program ends, in the order of the declarations.
pub fn at_end(main: &Function) -> Vec<Checked> {
    let mut outside = BTreeSet::new();
    main.body.statements.iter().for_each(|statement| store_of(statement, &mut outside));
    checked(main, &main.body, &outside)
}

/// Returns the variables checked at the end of a round of a loop of the main program's body, in the
/// order of the declarations: those that it assigns and that had a value before it.
///
/// # Panics
/// If there is no statement of this number, or it is no loop.
pub fn checked_in_round(main: &Function, loop_statement: usize) -> Vec<Checked> {
    let (before, from) = main.body.statements.split_at(loop_statement);
    let StmtKind::For { body, .. } = &from[0].kind else { panic!("statement {loop_statement} is no loop") };
    let mut outside = BTreeSet::new();
    before.iter().for_each(|statement| store_of(statement, &mut outside));
    checked(main, body, &outside)
}

fn store_of(statement: &Stmt, stored: &mut BTreeSet<MutableId>) {
    match &statement.kind {
        StmtKind::Store { mutable, .. } => {
            stored.insert(*mutable);
        }
        StmtKind::Let { .. } | StmtKind::For { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
    }
}

/// Variables with a value that a block assigns, also in loops.
fn checked(function: &Function, block: &Block, with_value: &BTreeSet<MutableId>) -> Vec<Checked> {
    // An extreme of the state may be infinite where nothing moves; what it is of is checked.
    let with_numbers = |mutable: &MutableId| {
        let info = &function.mutables[mutable.0 as usize];
        !info.carried && has_numbers(&info.ty)
    };
    let assigned = |&mutable: &MutableId| last_store(block, mutable).map(|assignment| Checked { mutable, assignment });
    with_value.iter().filter(|mutable| with_numbers(mutable)).filter_map(assigned).collect()
}

fn has_numbers(ty: &Type) -> bool {
    match (ty.basic, ty.shape) {
        (Basic::Scalar | Basic::Vector, Shape::Single | Shape::Collection(_)) => true,
        (Basic::Scalar | Basic::Vector, Shape::Domain(_) | Shape::Sequence) => false,
        (Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_), _) => false,
    }
}

fn last_store(block: &Block, mutable: MutableId) -> Option<Span> {
    block.statements.iter().rev().find_map(|statement| match &statement.kind {
        StmtKind::Store { mutable: stored, .. } => (*stored == mutable).then_some(statement.span),
        StmtKind::For { body, .. } => last_store(body, mutable),
        StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => None,
    })
}
