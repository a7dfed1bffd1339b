//! Cells that are seen through faces: which values hold them, and where their gaps are asked for.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Block, Function, FunctionId, Op, Stmt, StmtKind, ValueId};
use crate::types::{Basic, CanonicalSet, EntityKind, SetTable, Type};

/// Numbers of parameters of a function.
pub(super) type Params = BTreeSet<usize>;

/// Where a value of cells comes from.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// An operation.
    Op(&'a Op),
    /// A result of a call.
    Result { function: FunctionId, args: &'a [ValueId], index: usize },
    /// A parameter.
    Param(usize),
}

/// A function, with what makes its values.
pub(super) struct Body<'a> {
    pub function: &'a Function,
    sets: &'a SetTable,
    pub sources: BTreeMap<ValueId, Source<'a>>,
}

impl<'a> Body<'a> {
    pub(super) fn new(function: &'a Function, sets: &'a SetTable) -> Body<'a> {
        let params = function.params.iter().enumerate().map(|(index, &param)| (param, Source::Param(index)));
        let mut body = Body { function, sets, sources: params.collect() };
        each_statement(&function.body, &mut |statement| {
            let StmtKind::Let { results, op } = &statement.kind else { return };
            for (index, &result) in results.iter().enumerate() {
                let source = match op {
                    Op::Call { function, args } => Source::Result { function: *function, args, index },
                    _ => Source::Op(op),
                };
                body.sources.insert(result, source);
            }
        });
        body
    }

    pub(super) fn ty(&self, value: ValueId) -> Type {
        self.function.values[value.0 as usize].ty
    }

    fn are_cells(&self, value: ValueId) -> bool {
        self.ty(value).basic == Basic::Entity(EntityKind::Cell)
    }

    /// True if faces may lie between two cells; others have no gaps.
    fn may_join_cells(&self, faces: ValueId) -> bool {
        let boundary = self.sets.canonical(CanonicalSet::BOUNDARY_FACES);
        let on_boundary = self.ty(faces).within.is_some_and(|within| self.sets.is_subset(within, boundary));
        !on_boundary && !matches!(self.sources.get(&faces), Some(Source::Op(Op::OneCell(_))))
    }

    /// The functions that it runs, each with the values of its parameters.
    pub(super) fn calls(&self) -> Vec<(FunctionId, Vec<ValueId>)> {
        let mut calls = Vec::new();
        each_statement(&self.function.body, &mut |statement| match &statement.kind {
            StmtKind::Let { op: Op::Call { function, args }, .. } => calls.push((*function, args.clone())),
            StmtKind::Let { op: Op::Newton { residuals, captures, guesses, .. }, .. } => {
                calls.extend(
                    residuals.iter().zip(captures).map(|(residual, captures)| (*residual, [guesses.as_slice(), captures].concat())),
                );
            }
            _ => {}
        });
        calls
    }
}

fn each_statement<'a>(block: &'a Block, f: &mut dyn FnMut(&'a Stmt)) {
    for statement in &block.statements {
        f(statement);
        if let StmtKind::For { body, .. } = &statement.kind {
            each_statement(body, f);
        }
    }
}

/// Uses of cells that are seen through faces, in functions.
pub(super) struct Calls<'a> {
    pub bodies: &'a [Body<'a>],
    /// By function and by its parameters that are seen through faces.
    pub known: BTreeMap<(FunctionId, Params), Use>,
}

/// Parameters and results of a function that have to do with gaps.
#[derive(Clone, Default)]
pub(super) struct Use {
    /// Parameters whose gaps it asks for.
    pub wanted: Params,
    /// Results that are seen through faces.
    pub results: BTreeSet<usize>,
}

impl Calls<'_> {
    /// The parameters of a function that is called with these values whose gaps it asks for.
    pub(super) fn way(&mut self, body: &Body<'_>, seen: &Params, function: FunctionId, args: &[ValueId]) -> Params {
        let seen_args = self.seen_args(body, seen, args);
        self.of(function, seen_args).wanted
    }

    /// The arguments of a call that are seen through faces.
    fn seen_args(&mut self, body: &Body<'_>, seen: &Params, args: &[ValueId]) -> Params {
        (0..args.len()).filter(|&index| self.is_seen(body, seen, args[index])).collect()
    }

    /// The use of a function where these of its parameters are seen through faces.
    pub(super) fn of(&mut self, function: FunctionId, seen: Params) -> Use {
        let key = (function, seen);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let bodies = self.bodies;
        let found = self.analyse(&bodies[function.0 as usize], &key.1);
        self.known.insert(key, found.clone());
        found
    }

    fn analyse(&mut self, body: &Body<'_>, seen: &Params) -> Use {
        let mut found = Use::default();
        let mut wanted = Vec::new();
        each_statement(&body.function.body, &mut |statement| match &statement.kind {
            StmtKind::Let { op: Op::Centroid(cells), .. } => wanted.push(*cells),
            StmtKind::Return(values) => {
                for (index, &value) in values.iter().enumerate() {
                    if self.is_seen(body, seen, value) {
                        found.results.insert(index);
                        wanted.push(value);
                    }
                }
            }
            _ => {}
        });
        for (callee, args) in body.calls() {
            wanted.extend(self.way(body, seen, callee, &args).into_iter().map(|index| args[index]));
        }
        let mut met = BTreeSet::new();
        while let Some(value) = wanted.pop() {
            if !met.insert(value) || !self.is_seen(body, seen, value) {
                continue;
            }
            match body.sources.get(&value) {
                Some(Source::Param(index)) => {
                    found.wanted.insert(*index);
                }
                Some(Source::Op(op)) => wanted.extend(op.entity_source().parts()),
                Some(Source::Result { .. }) | None => {}
            }
        }
        found
    }

    /// True if a value is of cells that are seen through faces.
    pub(super) fn is_seen(&mut self, body: &Body<'_>, seen: &Params, value: ValueId) -> bool {
        let (mut open, mut met) = (vec![value], BTreeSet::new());
        while let Some(value) = open.pop() {
            if !body.are_cells(value) || !met.insert(value) {
                continue;
            }
            let is_seen = match body.sources.get(&value) {
                Some(Source::Param(index)) => seen.contains(index),
                Some(Source::Op(Op::SecondCell(faces))) => body.may_join_cells(*faces),
                Some(Source::Op(op)) => {
                    open.extend(op.entity_source().parts());
                    false
                }
                Some(&Source::Result { function, args, index }) => {
                    let seen_args = self.seen_args(body, seen, args);
                    self.of(function, seen_args).results.contains(&index)
                }
                None => false,
            };
            if is_seen {
                return true;
            }
        }
        false
    }
}
