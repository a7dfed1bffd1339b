//! Unknowns of a Newton problem on which the values of its residuals depend, and those by which
//! they have derivatives.
//!
//! An unknown is followed through assignments, calls and captured variables, element by element of
//! arrays. Where it is not certain that something does not depend on an unknown, it does: a mutable
//! variable on all that it was ever given, a ternary on both branches.
//!
//! State is followed in the same way, for the conditions that domains are made by: it is what
//! `Mutable` variables and solves give, and stands for unknown 0.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::check::tree::Tree;
use crate::source::Span;
use crate::typed::{Builtin, Expr, ExprKind, FunctionId, Stmt, StmtKind, VarId};

/// Numbers of unknowns.
pub(super) type Unknowns = BTreeSet<u32>;

/// Unknowns that a value depends on; for an array, those of each element.
type Dependence = Vec<Unknowns>;

/// Adds what the elements of an operand depend on; one value stands beside every element.
fn extend(all: &mut Dependence, operand: &Dependence) {
    let single = operand.len() == 1;
    for (i, element) in all.iter_mut().enumerate() {
        element.extend(operand.get(if single { 0 } else { i }).into_iter().flatten());
    }
}

/// Kinds of path from an unknown to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Through {
    /// Anything that may change the value.
    Values,
    /// Operations with derivatives: no truth values, no entities, no reductions.
    Derivatives,
    /// Anything that may change the value, of state instead of unknowns.
    State,
}

/// Reasons why a `Where` is misplaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misplaced {
    /// It stands in this loop, or is called from there.
    InLoop(Span),
    /// It stands in a residual of this solve, or is called from there.
    InResidual(Span),
    /// Its condition depends on state, by way of this variable.
    OnState(Option<VarId>),
}

/// A `Where` that cannot be evaluated once.
#[derive(Clone, Debug)]
pub(super) struct BadWhere {
    /// The call, or its condition.
    pub span: Span,
    pub what: Misplaced,
    /// The calls that lead there, outermost first.
    pub calls: Vec<(Span, FunctionId)>,
}

/// Key of a call's effect: the instance, dependences of arguments and of captured variables.
type Key = (FunctionId, Vec<Dependence>, Vec<Dependence>);

/// The result, and the captured variables that were assigned.
type Effect = (Dependence, Vec<(VarId, Dependence)>);

/// Follows unknowns through the instances of functions.
pub(super) struct Analysis<'f> {
    tree: &'f Tree,
    through: Through,
    /// Reductions of something that depends on unknowns.
    pub reductions: BTreeMap<(Span, &'static str), Unknowns>,
    /// Misplaced domains by condition.
    pub bad_domains: Vec<BadWhere>,
    /// The loop or the residual being looked at.
    repeated: Option<Misplaced>,
    /// The calls being looked at, outermost first.
    calls: Vec<(Span, FunctionId)>,
    /// The variable that state was read from last.
    state: Option<VarId>,
    known: HashMap<Key, Effect>,
    /// Dependences of variables; variables that are absent depend on nothing.
    now: HashMap<VarId, Dependence>,
    /// Number of times that `now` has grown.
    growth: u64,
}

impl<'f> Analysis<'f> {
    /// The captures of the tree are those of all its functions.
    pub fn new(tree: &'f Tree, through: Through) -> Self {
        Analysis {
            tree,
            through,
            reductions: BTreeMap::new(),
            bad_domains: Vec::new(),
            repeated: None,
            calls: Vec::new(),
            state: None,
            known: HashMap::new(),
            now: HashMap::new(),
            growth: 0,
        }
    }

    /// Follows state through a program.
    pub fn program(&mut self, main: &[Stmt]) {
        self.statements(main);
    }

    /// The unknowns that the result of each residual depends on. Parameter `i` of every residual is
    /// unknown `i`.
    pub fn residuals(&mut self, residuals: &[FunctionId]) -> Vec<Unknowns> {
        // A variable of the program that one residual assigns may be read by another one, in the
        // next iteration.
        let outside: BTreeSet<VarId> = residuals.iter().flat_map(|r| &self.tree.captures[r.0 as usize].writes).copied().collect();
        loop {
            let before: Vec<Dependence> = outside.iter().map(|v| self.variable(*v)).collect();
            let found: Vec<Unknowns> = residuals.iter().map(|&residual| self.residual(residual)).collect();
            match self.through {
                Through::Values if outside.iter().zip(before).any(|(v, before)| self.variable(*v) != before) => {}
                Through::Values | Through::Derivatives | Through::State => return found,
            }
        }
    }

    fn residual(&mut self, residual: FunctionId) -> Unknowns {
        if self.through == Through::Derivatives {
            // From one residual to another one values are carried, without derivatives.
            self.now.clear();
        }
        let count = self.tree.function(residual).params.len() as u32;
        let unknowns = (0..count).map(|i| vec![Unknowns::from([i])]).collect();
        self.call(residual, unknowns).into_iter().flatten().collect()
    }

    /// Returns the dependence of a call's result; assigned captured variables grow.
    fn call(&mut self, id: FunctionId, args: Vec<Dependence>) -> Dependence {
        let captures = &self.tree.captures[id.0 as usize];
        let captured = captures.reads.iter().map(|v| self.variable(*v)).collect();
        let key = (id, args, captured);
        if let Some((result, written)) = self.known.get(&key).cloned() {
            for (variable, dependence) in written {
                self.grow(variable, dependence);
            }
            return result;
        }
        let function = self.tree.function(id);
        self.now.retain(|v, _| self.tree.variable(*v).owner != Some(id));
        self.now.extend(function.params.iter().copied().zip(key.1.iter().cloned()));
        let result = self.statements(&function.body);
        let written = captures.writes.iter().map(|v| (*v, self.variable(*v))).collect();
        self.known.insert(key, (result.clone(), written));
        result
    }

    fn variable(&self, variable: VarId) -> Dependence {
        let declared = self.tree.variable(variable);
        let elements = declared.ty.elements().len();
        if self.through == Through::State && declared.mutable {
            return vec![Unknowns::from([0]); elements];
        }
        self.now.get(&variable).cloned().unwrap_or_else(|| vec![Unknowns::new(); elements])
    }

    fn grow(&mut self, variable: VarId, by: Dependence) {
        let old = self.now.entry(variable).or_insert_with(|| vec![Unknowns::new(); by.len()]);
        for (old, new) in old.iter_mut().zip(by) {
            let before = old.len();
            old.extend(new);
            self.growth += u64::from(old.len() > before);
        }
    }

    /// The value that the statements return.
    fn statements(&mut self, statements: &[Stmt]) -> Dependence {
        let mut result = Dependence::new();
        for statement in statements {
            match &statement.kind {
                StmtKind::Let { variable, value } | StmtKind::Assign { variable, value } => {
                    let dependence = self.expr(value);
                    self.grow(*variable, dependence);
                }
                StmtKind::Output { value, .. } | StmtKind::Discard(value) => {
                    self.expr(value);
                }
                StmtKind::For { variable, sequence, body } => {
                    let element = self.expr(sequence);
                    self.grow(*variable, element);
                    self.rounds(statement.span, None, body);
                }
                StmtKind::Range { variable, from, below, body } => {
                    let element = self.expr(from);
                    self.grow(*variable, element);
                    self.expr(below);
                    self.rounds(statement.span, None, body);
                }
                StmtKind::Conditional { test: _, condition, body } => self.rounds(statement.span, Some(condition), body),
                StmtKind::Return(value) => result = self.expr(value),
            }
        }
        result
    }

    /// The body of a loop, with the condition that is evaluated in every round.
    fn rounds(&mut self, span: Span, condition: Option<&Expr>, body: &[Stmt]) {
        let around = self.repeated;
        self.repeated = around.or(Some(Misplaced::InLoop(span)));
        // Every round can give unknowns to one variable more.
        loop {
            let before = self.growth;
            if let Some(condition) = condition {
                self.expr(condition);
            }
            self.statements(body);
            if self.growth == before {
                break;
            }
        }
        self.repeated = around;
    }

    fn expr(&mut self, expr: &Expr) -> Dependence {
        // Along a chain of operators in a loop: it may be long.
        let Some(mut left) = expr.left_operand() else { return self.node(expr) };
        let mut node = expr;
        let mut all = vec![Unknowns::new(); expr.ty.elements().len()];
        loop {
            let right = match &node.kind {
                ExprKind::Arithmetic { right, .. } => self.expr(right),
                ExprKind::Comparison { right, .. } | ExprKind::Logic { right, .. } => {
                    let right = self.expr(right);
                    if self.through == Through::Derivatives {
                        self.any(left);
                        return all;
                    }
                    right
                }
                ExprKind::On { target: right, .. } | ExprKind::Extend { domain: right, .. } => vec![self.value_only(right)],
                // Nothing else has a left operand.
                _ => Dependence::new(),
            };
            extend(&mut all, &right);
            node = left;
            match node.left_operand() {
                Some(next) => left = next,
                None => break,
            }
        }
        let first = self.node(node);
        extend(&mut all, &first);
        all
    }

    /// All elements together.
    fn any(&mut self, expr: &Expr) -> Unknowns {
        self.expr(expr).into_iter().flatten().collect()
    }

    /// Returns the unknowns of an expression that has no derivatives itself.
    fn value_only(&mut self, expr: &Expr) -> Unknowns {
        let found = self.any(expr);
        match self.through {
            Through::Values | Through::State => found,
            Through::Derivatives => Unknowns::new(),
        }
    }

    fn all(&mut self, exprs: &[Expr]) -> Unknowns {
        exprs.iter().flat_map(|e| self.any(e)).collect()
    }

    fn node(&mut self, expr: &Expr) -> Dependence {
        let one = match &expr.kind {
            ExprKind::Variable(variable) => {
                let found = self.variable(*variable);
                if found.iter().any(|elements| !elements.is_empty()) {
                    self.state = Some(*variable);
                }
                return found;
            }
            ExprKind::Array(elements) => return elements.iter().map(|e| self.any(e)).collect(),
            ExprKind::Call { function, args } => {
                let args = args.iter().map(|a| self.expr(a)).collect();
                self.calls.push((expr.span, *function));
                let found = self.call(*function, args);
                self.calls.pop();
                return found;
            }
            ExprKind::Newton { residuals, guesses } => {
                let mut found: Unknowns = guesses.iter().flat_map(|g| self.value_only(g)).collect();
                if self.through == Through::State {
                    self.residuals_of(residuals, expr.span);
                    found.insert(0);
                }
                return vec![found; expr.ty.elements().len()];
            }
            ExprKind::Element { array, index } => self.expr(array).into_iter().nth(*index as usize).unwrap_or_default(),
            ExprKind::Builtin { builtin: Builtin::Where, args } if self.through == Through::State => {
                self.domain_by_condition(expr.span, args);
                Unknowns::new()
            }
            ExprKind::Builtin { builtin, args } => {
                let all = self.all(args);
                self.builtin(*builtin, expr.span, all)
            }
            ExprKind::Vector(components) => self.all(components),
            ExprKind::Read { args, .. } => self.all(args),
            ExprKind::Axis(_) | ExprKind::CellFact(_) | ExprKind::GridNumber(_) => Unknowns::new(),
            ExprKind::Ternary { condition, if_true, if_false } => {
                let mut all = vec![self.value_only(condition); expr.ty.elements().len()];
                for branch in [if_true, if_false] {
                    let branch = self.expr(branch);
                    extend(&mut all, &branch);
                }
                return all;
            }
            ExprKind::Neg(a) => return self.expr(a),
            ExprKind::Not(a) => self.value_only(a),
            ExprKind::Component { vector: a, .. } | ExprKind::Norm(a) | ExprKind::Power { base: a, .. } => self.any(a),
            ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Bool(_) | ExprKind::CanonicalSet(_) => Unknowns::new(),
            // Taken apart by the caller.
            ExprKind::Arithmetic { .. }
            | ExprKind::Comparison { .. }
            | ExprKind::Logic { .. }
            | ExprKind::On { .. }
            | ExprKind::Extend { .. } => Unknowns::new(),
        };
        vec![one]
    }

    /// The bodies of residuals, which a solve evaluates in each iteration.
    fn residuals_of(&mut self, residuals: &[FunctionId], solve: Span) {
        let around = self.repeated;
        self.repeated = around.or(Some(Misplaced::InResidual(solve)));
        for &residual in residuals {
            let unknowns = vec![vec![Unknowns::from([0])]; self.tree.function(residual).params.len()];
            self.calls.push((solve, residual));
            self.call(residual, unknowns);
            self.calls.pop();
        }
        self.repeated = around;
    }

    /// A `Where`, which is evaluated once, before anything changes.
    fn domain_by_condition(&mut self, span: Span, args: &[Expr]) {
        self.state = None;
        let on_state = !self.all(args).is_empty();
        let found = match self.repeated {
            Some(repeated) => Some((span, repeated)),
            None => on_state.then(|| (args.last().map_or(span, |condition| condition.span), Misplaced::OnState(self.state))),
        };
        if let Some((span, what)) = found {
            self.bad_domains.push(BadWhere { span, what, calls: self.calls.clone() });
        }
    }

    fn builtin(&mut self, builtin: Builtin, span: Span, all: Unknowns) -> Unknowns {
        let reduction = match builtin {
            Builtin::SumReduce => "SumReduce",
            Builtin::ProdReduce => "ProdReduce",
            Builtin::MinReduce => "MinReduce",
            Builtin::MaxReduce => "MaxReduce",
            // No derivatives go into any other built-in that has none in its result.
            _ => return all,
        };
        match self.through {
            Through::Values | Through::State => all,
            Through::Derivatives => {
                if !all.is_empty() {
                    self.reductions.entry((span, reduction)).or_default().extend(all);
                }
                Unknowns::new()
            }
        }
    }
}
