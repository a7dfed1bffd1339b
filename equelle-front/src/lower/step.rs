//! The Scalar that plays the step of a loop with computed steps: what a variable for the time grows
//! by in each round.
//!
//! A statement `time = time + dt` of the body names both. It counts where `dt` is a time, or where
//! the condition of the loop compares the growing variable with an end.

use std::collections::BTreeSet;

use crate::syntax::ast::LoopTest;
use crate::typed::clock::{ends, growth, variable};
use crate::typed::{Expr, Stmt, StmtKind, TreeType, TypedProgram, VarId};
use crate::types::{Dimension, Type};

/// The step of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The variable.
    pub variable: VarId,
    /// Place in the body where it has its value.
    pub place: StepBinding,
}

/// A place in the body of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepBinding {
    /// Before its first statement.
    Start,
    /// The statement of this number assigns it.
    Assigned(usize),
}

/// The step of a loop, if its body has one variable that plays it.
pub(super) fn find_step(body: &[Stmt], condition: Option<(LoopTest, &Expr)>, program: &TypedProgram) -> Option<Step> {
    let growing: BTreeSet<VarId> = condition.iter().flat_map(|(test, condition)| ends(condition, *test)).map(|(clock, _)| clock).collect();
    let sum = |statement| growth(statement).and_then(|(clock, by)| Some((clock, variable(by)?)));
    let second = Dimension::TIME;
    let counts = |clock: VarId, step: VarId| {
        let dims = &program.variables[step.0 as usize].dims;
        growing.contains(&clock) || dims.first() == Some(&second.into())
    };
    let sums: Vec<(usize, VarId)> = body
        .iter()
        .enumerate()
        .filter_map(|(number, statement)| Some((number, sum(statement).filter(|(clock, step)| counts(*clock, *step))?.1)))
        .collect();
    let variables: BTreeSet<VarId> = sums.iter().map(|(_, step)| *step).collect();
    let (&[(number, variable)], 1) = (sums.first_chunk::<1>()?, variables.len()) else { return None };
    let info = &program.variables[variable.0 as usize];
    if info.ty != TreeType::Value(Type::SCALAR) || info.owner.is_some() {
        return None;
    }
    let assigns = |statement: &Stmt| match &statement.kind {
        StmtKind::Let { variable: assigned, .. } | StmtKind::Assign { variable: assigned, .. } => *assigned == variable,
        StmtKind::Output { .. }
        | StmtKind::Discard(_)
        | StmtKind::For { .. }
        | StmtKind::Range { .. }
        | StmtKind::Conditional { .. }
        | StmtKind::Return(_) => false,
    };
    let place = body[..number].iter().rposition(assigns).map_or(StepBinding::Start, StepBinding::Assigned);
    Some(Step { variable, place })
}
