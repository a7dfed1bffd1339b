//! Variables for the time of a loop: `time` of `While time < end { ... time = time + dt }`.

use crate::ops::{Arithmetic, Comparison, Logic};
use crate::syntax::ast::LoopTest;
use crate::typed::{Expr, ExprKind, Stmt, StmtKind, VarId};

/// Variables whose growth ends a loop, each with the end that the condition compares it with.
pub(crate) fn ends(condition: &Expr, test: LoopTest) -> Vec<(VarId, &Expr)> {
    let mut found = Vec::new();
    collect_ends(condition, test, &mut found);
    found
}

fn collect_ends<'a>(condition: &'a Expr, test: LoopTest, found: &mut Vec<(VarId, &'a Expr)>) {
    match &condition.kind {
        ExprKind::Comparison { op, left, right } => {
            let below = matches!(op, Comparison::Less | Comparison::LessEqual);
            let above = matches!(op, Comparison::Greater | Comparison::GreaterEqual);
            let (small, large) = match test {
                LoopTest::While => (below, above),
                LoopTest::Until => (above, below),
            };
            found.extend(variable(left).filter(|_| small).map(|clock| (clock, &**right)));
            found.extend(variable(right).filter(|_| large).map(|clock| (clock, &**left)));
        }
        ExprKind::Logic { op, left, right } => {
            let joins = match test {
                LoopTest::While => Logic::And,
                LoopTest::Until => Logic::Or,
            };
            if *op == joins {
                collect_ends(left, test, found);
                collect_ends(right, test, found);
            }
        }
        ExprKind::Not(inner) => {
            let other = match test {
                LoopTest::While => LoopTest::Until,
                LoopTest::Until => LoopTest::While,
            };
            collect_ends(inner, other, found);
        }
        _ => {}
    }
}

/// The variable that a statement increases, and what it adds.
pub(crate) fn growth(statement: &Stmt) -> Option<(VarId, &Expr)> {
    let StmtKind::Assign { variable: clock, value } = &statement.kind else { return None };
    let ExprKind::Arithmetic { op: Arithmetic::Add, left, right } = &value.kind else { return None };
    match (variable(left) == Some(*clock), variable(right) == Some(*clock)) {
        (true, false) => Some((*clock, right)),
        (false, true) => Some((*clock, left)),
        (true, true) | (false, false) => None,
    }
}

/// The variable that an expression is.
pub(crate) fn variable(expr: &Expr) -> Option<VarId> {
    if let ExprKind::Variable(variable) = &expr.kind { Some(*variable) } else { None }
}
