//! Audit: balances of conserved quantities, as outputs that the program does not have itself.
//!
//! An update of a variable in a loop is conservative where it has the form `u - c / w *
//! Divergence(q)` plus other terms, after products are multiplied out: `w` is a collection that the
//! loop does not change, such as volumes, and `c` one number, such as the step. Then the sum of
//! `w * u` changes by what passes the boundary and by the other terms, its sources. A solution of
//! Newton's method has the update for which its residual is zero. What another variable's update is
//! part of is a source ([`stages`]). Each round puts out both, the change and the content.

mod algebra;
mod emit;
mod stages;
mod tags;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use super::inline::{self, inline_body};
use super::notes::Notes;
use crate::ir::{Block, FunctionId, Module, MutableId, Op, Rounds, Stmt, StmtKind, Value, ValueId};
use crate::source::Span;
use crate::types::{CanonicalSet, Dimension, Type};
use algebra::{Atom, Sum, Term, Via, is_one, update};
use emit::Emitter;
use stages::Owners;
pub use tags::{PARTS, TAG};
use values::Values;

/// Audited quantities, and variables left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audited {
    /// Names of the quantities.
    pub quantities: Vec<String>,
    /// Variables with a divergence in their update that is not audited.
    pub others: Vec<String>,
}

/// Adds the outputs of audits to a module that no pass has changed.
pub fn run(module: &mut Module) -> Audited {
    inline::run(module, &mut Notes::default());
    let body = std::mem::take(&mut module.main.body);
    let sets = module.sets.clone();
    let mut auditor = Auditor {
        values: Values::new(&sets),
        module,
        assigned: BTreeSet::new(),
        varying: BTreeSet::new(),
        loops: Vec::new(),
        ended: Vec::new(),
        found: Audited { quantities: Vec::new(), others: Vec::new() },
    };
    let body = auditor.block(body);
    let values = &auditor.values;
    let varies = |atom: Atom| auditor.varying.contains(&values.representatives[atom as usize]);
    let owners = values.stages.owners(|value| values.known_sum(value), varies);
    let ended = std::mem::take(&mut auditor.ended);
    let body = auditor.with_outputs(body, &owners, &mut ended.into_iter());
    let found = auditor.found;
    module.main.body = body;
    found
}

/// A variable in a round.
struct Variable {
    /// Its value at the begin of the round.
    start: ValueId,
    /// The value that `now` updates: the begin, or an assignment of another form.
    base: Atom,
    /// Updates before `base`.
    done: Sum,
    now: Sum,
    /// Other balances of which it is the unknown, with `done`.
    others: Vec<(Residual, Sum)>,
    /// The residual of `now`.
    residual: Option<Residual>,
    span: Span,
}

/// A residual that balances a variable.
struct Residual {
    name: String,
    /// The sign of the variable in it: a balance of oil has the saturation of water with -1.
    sign: f64,
}

/// The innermost loop.
#[derive(Default)]
struct Round {
    variables: BTreeMap<MutableId, Variable>,
    /// Values of variables at the begin, also of those that an inner loop changes.
    starts: Vec<(MutableId, ValueId)>,
    /// Variables without a value before the loop, and what they were assigned.
    own: BTreeMap<MutableId, ValueId>,
    /// Variables that the loop assigns.
    stored: BTreeSet<MutableId>,
    /// Others, once read.
    read: BTreeMap<MutableId, Sum>,
    /// Residuals at solutions: their names, values, unknowns, and the statements.
    solves: Vec<Solve>,
}

struct Solve {
    unknowns: Vec<ValueId>,
    residuals: Vec<(String, ValueId)>,
    statements: Vec<Stmt>,
}

struct Auditor<'a> {
    module: &'a mut Module,
    values: Values<'a>,
    /// Variables with a value.
    assigned: BTreeSet<MutableId>,
    /// Values that may differ from round to round.
    varying: BTreeSet<ValueId>,
    loops: Vec<Round>,
    /// Loops that have ended, inner ones first.
    ended: Vec<Round>,
    found: Audited,
}

impl Auditor<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut statements = Vec::with_capacity(block.statements.len());
        for statement in block.statements {
            let Stmt { kind, span } = statement;
            let kind = match kind {
                StmtKind::For { rounds, body } => StmtKind::For { rounds, body: self.round(rounds, body, span) },
                StmtKind::Store { mutable, value } => {
                    self.store(mutable, value, span);
                    StmtKind::Store { mutable, value }
                }
                StmtKind::Let { results, op } => {
                    self.define(&results, &op);
                    StmtKind::Let { results, op }
                }
                kind @ (StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_)) => kind,
            };
            statements.push(Stmt { kind, span });
        }
        Block { statements }
    }

    /// The body of a loop, whose round is known then.
    fn round(&mut self, rounds: Rounds, body: Block, span: Span) -> Block {
        self.varying.extend(rounds.element());
        let mut round = Round { stored: stores(&body), ..Round::default() };
        let all_cells = Type::collection(crate::types::Basic::Scalar, self.module.sets.canonical(CanonicalSet::ALL_CELLS));
        for &mutable in round.stored.intersection(&self.assigned) {
            let variable = self.module.main.mutables[mutable.0 as usize].clone();
            if variable.ty != all_cells {
                continue;
            }
            let start = ValueId(self.module.main.values.len() as u32);
            self.module.main.values.push(Value {
                ty: variable.ty,
                name: variable.name,
                dim: Dimension::NONE,
                span,
                storage: None,
                array: None,
            });
            round.starts.push((mutable, start));
            let base = self.values.atom(start);
            self.values.special.insert(base);
            self.values.bases.insert(base, mutable);
            self.varying.insert(start);
            let now = Sum::of(Term::of(base));
            let others = Vec::new();
            round.variables.insert(mutable, Variable { start, base, done: Sum::default(), now, others, residual: None, span });
        }
        self.loops.push(round);
        let body = self.block(body);
        let round = self.loops.pop().unwrap_or_default();
        // A variable that an inner loop assigns is updated there, not in the outer loop.
        if let Some(outer) = self.loops.last_mut() {
            outer.variables.retain(|mutable, _| !round.stored.contains(mutable));
            outer.own.retain(|mutable, _| !round.stored.contains(mutable));
        }
        self.ended.push(round);
        body
    }

    /// A block whose loops have the outputs of their audits.
    fn with_outputs(&mut self, block: Block, owners: &Owners, rounds: &mut impl Iterator<Item = Round>) -> Block {
        let statements = block.statements.into_iter().map(|statement| {
            let Stmt { kind, span } = statement;
            let kind = kind.map_body(|body| {
                let body = self.with_outputs(body, owners, rounds);
                let round = rounds.next().unwrap_or_default();
                self.outputs(body, round, owners, span)
            });
            Stmt { kind, span }
        });
        Block { statements: statements.collect() }
    }

    /// The body of a loop with the outputs of its audits.
    fn outputs(&mut self, mut body: Block, round: Round, owners: &Owners, span: Span) -> Block {
        let mut emitter = Emitter::new(self.module, &mut self.values, &self.varying, span);
        for (mutable, variable) in round.variables {
            let name = emitter.name(mutable);
            let own = variable.now.without(variable.base).plus(&variable.done);
            let alone = variable.others.is_empty();
            let label = |residual: Option<&Residual>| {
                let residual = residual.filter(|_| !alone);
                residual.map_or(name.clone(), |residual| format!("{name} in {}", residual.name))
            };
            let sign = variable.residual.as_ref().filter(|_| !alone).map_or(1.0, |residual| residual.sign);
            let mut all = vec![(label(variable.residual.as_ref()), sign, own)];
            all.extend(variable.others.into_iter().map(|(residual, sum)| (label(Some(&residual)), residual.sign, Some(sum))));
            for (label, sign, sum) in all {
                let sum = sum.map(|sum| owners.resolve(mutable, &sum));
                let Some(sum) = sum.filter(|sum| emitter.has_flux(sum)) else { continue };
                let label =
                    if self.found.quantities.contains(&label) { format!("{label} in loop {}", self.found.quantities.len()) } else { label };
                if emitter.quantity(&label, (mutable, variable.start), (&sum, sign), variable.span) {
                    self.found.quantities.push(label);
                } else {
                    self.found.others.push(label);
                }
            }
        }
        body.statements.extend(emitter.statements);
        // Audits of other variables and of inner loops may read residuals and begins too.
        let mut read: BTreeSet<ValueId> = body.statements.iter().flat_map(Stmt::reads_inside).collect();
        for solve in round.solves {
            if !solve.statements.iter().flat_map(Stmt::defines).any(|value| read.contains(value)) {
                continue;
            }
            read.extend(solve.statements.iter().flat_map(Stmt::reads_inside));
            let is_solve = |statement: &Stmt| statement.defines() == solve.unknowns;
            let behind = body.statements.iter().position(is_solve).map_or(body.statements.len(), |position| position + 1);
            body.statements.splice(behind..behind, solve.statements);
        }
        let loads = round.starts.into_iter().filter(|(_, start)| read.contains(start)).map(|(mutable, start)| {
            let op = Op::Load(mutable);
            Stmt { kind: StmtKind::Let { results: vec![start], op }, span }
        });
        body.statements.splice(0..0, loads);
        body
    }

    fn define(&mut self, results: &[ValueId], op: &Op) {
        let is_varying = match op {
            Op::Load(mutable) => self.loops.last().is_some_and(|round| round.stored.contains(mutable)),
            Op::Step(_) | Op::Call { .. } | Op::Newton { .. } => true,
            _ => op.operands().iter().any(|operand| self.varying.contains(operand)),
        };
        if is_varying {
            self.varying.extend(results);
        }
        if let Op::Newton { residuals, captures, carried, equations, .. } = op {
            if carried.is_empty() && equations.is_empty() && !self.loops.is_empty() {
                let (residuals, captures) = (residuals.clone(), captures.clone());
                self.solve(results, &residuals, &captures);
            }
            return;
        }
        let &[result] = results else { return };
        self.values.define(&self.module.main, result, op);
        if let (Op::Load(mutable), Some(round)) = (op, self.loops.last_mut()) {
            let own = round.own.get(mutable);
            match round.variables.get(mutable).map(|variable| &variable.now) {
                Some(sum) => {
                    let sum = self.values.came_through(sum, Via::Stored(*mutable));
                    self.values.set(result, sum);
                }
                None if own.is_some() => {
                    let value = own.copied().unwrap_or(result);
                    let sum = self.values.sum(value);
                    self.values.stages.load(result, value);
                    self.values.set(result, sum);
                }
                None if !round.stored.contains(mutable) => {
                    let sum = round.read.entry(*mutable).or_insert_with(|| self.values.sum(result)).clone();
                    self.values.set(result, sum);
                }
                None => {}
            }
        }
    }

    /// The residuals of a solve at its solution.
    fn solve(&mut self, unknowns: &[ValueId], functions: &[FunctionId], captures: &[Vec<ValueId>]) {
        for &unknown in unknowns {
            let atom = self.values.atom(unknown);
            self.values.special.insert(atom);
        }
        let mut solve = Solve { unknowns: unknowns.to_vec(), residuals: Vec::new(), statements: Vec::new() };
        for (function, captures) in functions.iter().zip(captures) {
            let args: Vec<ValueId> = unknowns.iter().chain(captures).copied().collect();
            let callee = &self.module.functions[function.0 as usize];
            let name = callee.name.clone();
            let (statements, returned) = inline_body(&mut self.module.main, callee, &args);
            // Effects of a residual are those of its solve.
            let statements: Vec<Stmt> =
                statements.into_iter().filter(|statement| !matches!(statement.kind, StmtKind::Output { .. })).collect();
            let is_plain = statements.iter().all(|statement| matches!(statement.kind, StmtKind::Let { .. }));
            let Some(&value) = returned.first().filter(|_| is_plain) else { continue };
            for statement in &statements {
                if let StmtKind::Let { results, op } = &statement.kind {
                    self.define(results, op);
                }
            }
            solve.residuals.push((name, value));
            solve.statements.extend(statements);
        }
        if let Some(round) = self.loops.last_mut() {
            round.solves.push(solve);
        }
    }

    fn store(&mut self, mutable: MutableId, value: ValueId, span: Span) {
        self.assigned.insert(mutable);
        let sum = self.values.sum(value);
        let Some(round) = self.loops.last_mut() else { return };
        let Some(variable) = round.variables.get_mut(&mutable) else {
            round.own.insert(mutable, value);
            return;
        };
        variable.span = span;
        let plain = Term { number: 1.0, ..Term::default() };
        if is_one(sum.number_of(variable.base)) {
            self.values.stages.assign(mutable, value, plain);
            self.values.update(mutable, &sum);
            variable.now = sum;
            return;
        }
        if let Some(solve) = round.solves.iter().find(|solve| solve.unknowns.contains(&value)) {
            let unknown = self.values.atom(value);
            let own = solve.unknowns.iter().position(|other| *other == value);
            let mut updates: Vec<(usize, Residual, Sum)> = Vec::new();
            for (index, (name, residual)) in solve.residuals.iter().enumerate() {
                let at = *residual;
                let residual = self.values.sum(at);
                let Some((update, factor, sign)) = update(&residual, unknown, variable.base) else { continue };
                if update.0.iter().any(|term| self.values.has_flux(term)) {
                    self.values.stages.assign(mutable, at, factor);
                    self.values.update(mutable, &update);
                }
                if update.0.iter().any(|term| self.values.has_flux(term)) {
                    updates.push((index, Residual { name: name.clone(), sign }, update));
                }
            }
            if !updates.is_empty() {
                updates.sort_by_key(|(index, ..)| (Some(*index) != own, *index));
                let done = variable.done.clone();
                let mut updates = updates.into_iter().map(|(_, residual, update)| (residual, update));
                if let Some((residual, update)) = updates.next() {
                    (variable.residual, variable.now) = (Some(residual), update);
                }
                let base = variable.base;
                variable.others.extend(updates.filter_map(|(residual, update)| Some((residual, update.without(base).plus(&done)?))));
                return;
            }
        }
        // Any other assignment: its change is neither flux nor source.
        self.values.stages.assign(mutable, value, plain);
        variable.done = variable.now.without(variable.base).plus(&variable.done).unwrap_or_default();
        variable.base = self.values.atom(value);
        self.values.special.insert(variable.base);
        self.values.bases.insert(variable.base, mutable);
        variable.now = Sum::of(Term::of(variable.base));
        // Loads from here on are this value.
        self.values.set(value, variable.now.clone());
    }
}

/// Variables that a block assigns, those of loops in it too.
fn stores(block: &Block) -> BTreeSet<MutableId> {
    let mut all = BTreeSet::new();
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Store { mutable, .. } => {
                all.insert(*mutable);
            }
            StmtKind::For { body, .. } => all.extend(stores(body)),
            StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
    all
}
