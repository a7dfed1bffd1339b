//! Captures of a function instance from the scopes around it. Lowering passes these as extra
//! parameters and results, so that functions of the IR are closed; the checker follows unknowns
//! through them.

use std::collections::BTreeSet;

use crate::typed::{Expr, ExprKind, Function, FunctionId, Stmt, StmtKind, VarId, Variable};

/// Outer variables of one instance, its callees' included.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captures {
    /// Variables whose value it needs (mutables that it assigns are among them).
    pub reads: BTreeSet<VarId>,
    /// Outer mutables that it assigns.
    pub writes: BTreeSet<VarId>,
    /// True if it writes output.
    pub outputs: bool,
}

/// Brings the list of captures up to the last of the instances, in order. An instance calls only
/// earlier ones, so one pass suffices.
pub(crate) fn extend(known: &mut Vec<Captures>, functions: &[Function], variables: &[Variable]) {
    for (index, function) in functions.iter().enumerate().skip(known.len()) {
        let own = FunctionId(index as u32);
        let mut collector = Collector { known, found: Captures::default() };
        collector.statements(&function.body);
        let mut found = collector.found;
        let is_outer = |v: &VarId| variables[v.0 as usize].owner != Some(own);
        found.reads.retain(is_outer);
        found.writes.retain(is_outer);
        known.push(found);
    }
}

/// Returns the variables that statements read and assign, with the functions that they call.
pub(crate) fn reads_and_writes(known: &[Captures], statements: &[Stmt]) -> Captures {
    let mut collector = Collector { known, found: Captures::default() };
    collector.statements(statements);
    collector.found
}

/// The variables that statements read. `known` has the captures of all functions that they call.
pub(crate) fn reads(statements: &[Stmt], known: &[Captures]) -> BTreeSet<VarId> {
    let mut collector = Collector { known, found: Captures::default() };
    collector.statements(statements);
    collector.found.reads
}

struct Collector<'a> {
    known: &'a [Captures],
    found: Captures,
}

impl Collector<'_> {
    fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            match &statement.kind {
                StmtKind::Let { value, .. } | StmtKind::Discard(value) | StmtKind::Return(value) => self.expr(value),
                StmtKind::Assign { variable, value } => {
                    self.expr(value);
                    self.found.writes.insert(*variable);
                    self.found.reads.insert(*variable);
                }
                StmtKind::Output { tag, value } => {
                    self.found.outputs = true;
                    self.expr(tag);
                    self.expr(value);
                }
                StmtKind::For { sequence: head, body, .. } | StmtKind::Conditional { condition: head, body, .. } => {
                    self.expr(head);
                    self.statements(body);
                }
                StmtKind::Range { from, below, body, .. } => {
                    self.expr(from);
                    self.expr(below);
                    self.statements(body);
                }
            }
        }
    }

    fn callee(&mut self, function: FunctionId) {
        let callee = &self.known[function.0 as usize];
        self.found.reads.extend(&callee.reads);
        self.found.writes.extend(&callee.writes);
        self.found.outputs |= callee.outputs;
    }

    fn expr(&mut self, expr: &Expr) {
        // Along a chain of operators in a loop: it may be long.
        let mut expr = expr;
        while let Some(left) = expr.left_operand() {
            match &expr.kind {
                ExprKind::Arithmetic { right, .. } | ExprKind::Comparison { right, .. } | ExprKind::Logic { right, .. } => self.expr(right),
                ExprKind::On { target: right, .. } | ExprKind::Extend { domain: right, .. } => self.expr(right),
                // Nothing else has a left operand.
                _ => {}
            }
            expr = left;
        }
        match &expr.kind {
            ExprKind::Number(_)
            | ExprKind::Text(_)
            | ExprKind::Bool(_)
            | ExprKind::CanonicalSet(_)
            | ExprKind::Axis(_)
            | ExprKind::CellFact(_)
            | ExprKind::GridNumber(_) => {}
            ExprKind::Variable(variable) => {
                self.found.reads.insert(*variable);
            }
            ExprKind::Builtin { args, .. } | ExprKind::Read { args, .. } | ExprKind::Array(args) | ExprKind::Vector(args) => {
                args.iter().for_each(|a| self.expr(a))
            }
            ExprKind::Call { function, args } => {
                args.iter().for_each(|a| self.expr(a));
                self.callee(*function);
            }
            ExprKind::Newton { residuals, guesses } => {
                guesses.iter().for_each(|g| self.expr(g));
                residuals.iter().for_each(|&f| self.callee(f));
            }
            ExprKind::Element { array: a, .. } | ExprKind::Component { vector: a, .. } => self.expr(a),
            ExprKind::Neg(a) | ExprKind::Not(a) | ExprKind::Norm(a) | ExprKind::Power { base: a, .. } => self.expr(a),
            ExprKind::Arithmetic { left: a, right: b, .. }
            | ExprKind::Comparison { left: a, right: b, .. }
            | ExprKind::Logic { left: a, right: b, .. }
            | ExprKind::On { data: a, target: b }
            | ExprKind::Extend { data: a, domain: b } => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Ternary { condition, if_true, if_false } => {
                self.expr(condition);
                self.expr(if_true);
                self.expr(if_false);
            }
        }
    }
}
