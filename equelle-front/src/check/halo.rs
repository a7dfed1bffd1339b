//! Rules for values beyond the grid, as the checker numbers them.

use std::collections::HashSet;

use crate::check::geometry::NodeId;
use crate::syntax::ast::{Block, Expr, ExprKind, Stmt, StmtKind};
use crate::typed::{self, VarId};

/// Names of the axes.
pub(super) const AXES: [&str; 3] = ["I", "J", "K"];

/// The value that a rule gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Given {
    /// A number, as bits.
    Number(u64),
    Variable(VarId),
}

/// Rules beyond the grid, with the values that they number from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rules {
    pub sides: typed::Rules,
    pub given: Vec<Given>,
    /// The expression of geometry that an argument is.
    pub geometry: Option<NodeId>,
}

/// True if a body has a rule with a value of its own, or calls one of the functions that have.
pub(super) fn gives_values(body: &Block, givers: &HashSet<&str>) -> bool {
    let mut statements: Vec<&Stmt> = body.statements.iter().collect();
    let mut exprs: Vec<&Expr> = Vec::new();
    while let Some(statement) = statements.pop() {
        match &statement.kind {
            StmtKind::Assignment { value, .. } | StmtKind::StencilAssignment { value, .. } => exprs.push(value),
            StmtKind::Call(value) | StmtKind::Return(value) => exprs.push(value),
            StmtKind::For { sequence: head, body, .. } | StmtKind::Conditional { condition: head, body, .. } => {
                exprs.push(head);
                statements.extend(&body.statements);
            }
            StmtKind::FunctionDefinition { body, .. } => statements.extend(&body.statements),
            StmtKind::Declaration { .. } | StmtKind::FunctionDeclaration { .. } | StmtKind::Import { .. } => {}
        }
    }
    while let Some(expr) = exprs.pop() {
        match &expr.kind {
            ExprKind::Call { callee, args } => {
                let name = callee.name.as_str();
                if matches!(name, "AtFace" | "Value" | "Slope") || givers.contains(name) {
                    return true;
                }
                exprs.extend(args);
            }
            ExprKind::Array(elements) => exprs.extend(elements),
            ExprKind::Paren(a) | ExprKind::Norm(a) | ExprKind::Index { base: a, .. } | ExprKind::Unary { operand: a, .. } => exprs.push(a),
            ExprKind::Binary { left, right, .. } => exprs.extend([&**left, &**right]),
            ExprKind::Ternary { condition, if_true, if_false } => exprs.extend([&**condition, &**if_true, &**if_false]),
            ExprKind::Number { .. } | ExprKind::Text(_) | ExprKind::Bool(_) | ExprKind::Name(_) | ExprKind::Error => {}
        }
    }
    false
}
