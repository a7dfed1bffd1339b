//! Derivatives that Newton's method does not see: a reduction of an unknown has a value, but no derivatives (they would fill whole rows of the Jacobian).

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::check::checker::Checker;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::{Builtin, Expr, ExprKind, Function, FunctionId, Stmt, StmtKind, VarId};

impl Checker<'_> {
    /// Warns of reductions in a residual whose argument depends on an unknown. `passed` is where the residual is given to the solver.
    pub fn warn_dropped_derivatives(&mut self, residual: FunctionId, passed: Span) {
        let unknowns = self.functions[residual.0 as usize].params.clone();
        let mut flow = Flow { functions: &self.functions, results: HashMap::new(), found: BTreeSet::new() };
        flow.function(residual, &vec![true; unknowns.len()]);
        let found = flow.found;
        let names: Vec<String> = unknowns.iter().map(|v| format!("`{}`", self.variables[v.0 as usize].name)).collect();
        let of = names.join(", ");
        for (place, reduction) in found {
            self.report(
                Diagnostic::new(
                    Code::DroppedDerivative,
                    place,
                    format!("the derivative of `{reduction}(...)` with respect to {of} is dropped, though its value depends on it"),
                )
                .label("a constant to Newton's method")
                .also(passed, "in this residual")
                .note("each iteration uses the current value but leaves its derivative out of the Jacobian, so the solver may converge slowly or not at all")
                .hint("compute the reduction before the solve, or make its value an unknown of `NewtonSolveSystem` with an equation of its own"),
            );
        }
    }
}

/// Follows derivatives through the instances of functions.
struct Flow<'f> {
    functions: &'f [Function],
    /// Whether the result of an instance has derivatives, by which of its parameters have.
    results: HashMap<(FunctionId, Vec<bool>), bool>,
    /// Reductions of something that has derivatives.
    found: BTreeSet<(Span, &'static str)>,
}

impl Flow<'_> {
    /// Whether the result has derivatives, if these parameters have.
    fn function(&mut self, id: FunctionId, params: &[bool]) -> bool {
        let key = (id, params.to_vec());
        if let Some(&known) = self.results.get(&key) {
            return known;
        }
        let function = &self.functions[id.0 as usize];
        let mut with: HashSet<VarId> = function.params.iter().zip(params).filter(|&(_, &with)| with).map(|(&v, _)| v).collect();
        let result = self.statements(&function.body, &mut with);
        self.results.insert(key, result);
        result
    }

    /// Whether the value returned has derivatives; `with` are the variables that have.
    fn statements(&mut self, statements: &[Stmt], with: &mut HashSet<VarId>) -> bool {
        let mut result = false;
        for statement in statements {
            match &statement.kind {
                StmtKind::Let { variable, value } | StmtKind::Assign { variable, value } => {
                    // A mutable variable that has been given derivatives once may have them in the next round of a loop.
                    if self.expr(value, with) {
                        with.insert(*variable);
                    }
                }
                StmtKind::Output { value, .. } | StmtKind::Discard(value) => {
                    self.expr(value, with);
                }
                StmtKind::For { body, .. } => {
                    // Every round can give derivatives to one variable more.
                    loop {
                        let before = with.len();
                        self.statements(body, with);
                        if with.len() == before {
                            break;
                        }
                    }
                }
                StmtKind::Return(value) => result = self.expr(value, with),
            }
        }
        result
    }

    fn expr(&mut self, expr: &Expr, with: &HashSet<VarId>) -> bool {
        // Along a chain of operators in a loop: it may be long.
        let mut expr = expr;
        let mut any = false;
        while let Some(left) = expr.left_operand() {
            match &expr.kind {
                ExprKind::Arithmetic { right, .. } => any |= self.expr(right, with),
                ExprKind::Comparison { left, right, .. } | ExprKind::Logic { left, right, .. } => {
                    // Truth has no derivatives, whatever it comes from.
                    self.expr(right, with);
                    self.expr(left, with);
                    return any;
                }
                // `On` and `Extend`: their right sides are entities.
                _ => {}
            }
            expr = left;
        }
        any | self.node(expr, with)
    }

    fn node(&mut self, expr: &Expr, with: &HashSet<VarId>) -> bool {
        match &expr.kind {
            ExprKind::Variable(variable) => with.contains(variable),
            ExprKind::Builtin { builtin, args } => {
                let any = self.any(args, with);
                let reduction = match builtin {
                    Builtin::SumReduce => "SumReduce",
                    Builtin::ProdReduce => "ProdReduce",
                    Builtin::MinReduce => "MinReduce",
                    Builtin::MaxReduce => "MaxReduce",
                    // No derivatives go into any other built-in that has none in its result.
                    _ => return any,
                };
                if any {
                    self.found.insert((expr.span, reduction));
                }
                false
            }
            ExprKind::Call { function, args } => {
                let args: Vec<bool> = args.iter().map(|a| self.expr(a, with)).collect();
                self.function(*function, &args)
            }
            ExprKind::Array(elements) | ExprKind::Vector(elements) => self.any(elements, with),
            ExprKind::Newton { guesses, .. } => {
                self.any(guesses, with);
                false
            }
            ExprKind::Ternary { condition, if_true, if_false } => {
                self.expr(condition, with);
                let (a, b) = (self.expr(if_true, with), self.expr(if_false, with));
                a || b
            }
            ExprKind::Element { array: a, .. } | ExprKind::Component { vector: a, .. } => self.expr(a, with),
            ExprKind::Neg(a) | ExprKind::Not(a) | ExprKind::Norm(a) | ExprKind::Power { base: a, .. } => self.expr(a, with),
            ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Bool(_) | ExprKind::CanonicalSet(_) => false,
            // Taken apart by the caller.
            ExprKind::Arithmetic { .. }
            | ExprKind::Comparison { .. }
            | ExprKind::Logic { .. }
            | ExprKind::On { .. }
            | ExprKind::Extend { .. } => false,
        }
    }

    fn any(&mut self, exprs: &[Expr], with: &HashSet<VarId>) -> bool {
        let mut any = false;
        for expr in exprs {
            any |= self.expr(expr, with);
        }
        any
    }
}
