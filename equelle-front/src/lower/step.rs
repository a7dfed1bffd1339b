//! The Scalar that plays the step of a loop with computed steps: what a variable for the time grows
//! by in each round.
//!
//! A statement `time = time + dt` of the body names both. It counts where `dt` is a time, or where
//! the condition of the loop compares the growing variable with an end.

use std::collections::BTreeSet;

use crate::ops::{Arithmetic, Comparison, Logic};
use crate::syntax::ast::LoopTest;
use crate::typed::{Expr, ExprKind, Stmt, StmtKind, TreeType, TypedProgram, VarId};
use crate::types::{Dimension, Type};

/// The step of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The variable.
    pub variable: VarId,
    /// Where in the body it has its value.
    pub place: StepBinding,
}

/// A place in the body of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepBinding {
    /// Before its first statement.
    Start,
    /// Where the statement of this number assigns it.
    Assigned(usize),
}

/// The step of a loop, if its body has one variable that plays it.
pub(super) fn of_loop(body: &[Stmt], condition: Option<(LoopTest, &Expr)>, program: &TypedProgram) -> Option<Step> {
    let mut growing = BTreeSet::new();
    if let Some((test, condition)) = condition {
        grows_towards_end(condition, test, &mut growing);
    }
    let second = Dimension::TIME;
    let counts = |clock: VarId, step: VarId| {
        let dims = &program.variables[step.0 as usize].dims;
        growing.contains(&clock) || dims.first() == Some(&second)
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

/// The variable that a statement increases, and the variable by which it does.
fn sum(statement: &Stmt) -> Option<(VarId, VarId)> {
    let StmtKind::Assign { variable, value } = &statement.kind else { return None };
    let ExprKind::Arithmetic { op: Arithmetic::Add, left, right } = &value.kind else { return None };
    let (left, right) = (of_variable(left)?, of_variable(right)?);
    match (left == *variable, right == *variable) {
        (true, false) => Some((*variable, right)),
        (false, true) => Some((*variable, left)),
        (true, true) | (false, false) => None,
    }
}

fn of_variable(expr: &Expr) -> Option<VarId> {
    if let ExprKind::Variable(variable) = &expr.kind { Some(*variable) } else { None }
}

/// Variables whose growth ends a loop.
fn grows_towards_end(condition: &Expr, test: LoopTest, found: &mut BTreeSet<VarId>) {
    match &condition.kind {
        ExprKind::Comparison { op, left, right } => {
            let below = matches!(op, Comparison::Less | Comparison::LessEqual);
            let above = matches!(op, Comparison::Greater | Comparison::GreaterEqual);
            let (small, large) = match test {
                LoopTest::While => (below, above),
                LoopTest::Until => (above, below),
            };
            found.extend(of_variable(left).filter(|_| small));
            found.extend(of_variable(right).filter(|_| large));
        }
        ExprKind::Logic { op, left, right } => {
            let joins = match test {
                LoopTest::While => Logic::And,
                LoopTest::Until => Logic::Or,
            };
            if *op == joins {
                grows_towards_end(left, test, found);
                grows_towards_end(right, test, found);
            }
        }
        ExprKind::Not(inner) => {
            let other = match test {
                LoopTest::While => LoopTest::Until,
                LoopTest::Until => LoopTest::While,
            };
            grows_towards_end(inner, other, found);
        }
        _ => {}
    }
}
