//! Tables that several passes need. They never edit the IR.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Block, EntitySource, Failure, Function, Module, MutableId, Op, Stmt, StmtKind, ValueId};
use crate::types::{CanonicalSet, Extent, SetTable};

/// Defining operation of each value.
#[derive(Debug, Default)]
pub(super) struct Defs {
    ops: BTreeMap<ValueId, Op>,
}

impl Defs {
    /// Collects the operations of every single-result statement of a function.
    pub(super) fn of(function: &Function) -> Defs {
        let mut defs = Defs::default();
        defs.add(&function.body.statements);
        defs
    }

    /// The operation that makes a value; `None` for parameters, loop elements, kernel results,
    /// parts of several results.
    pub(super) fn op(&self, value: ValueId) -> Option<&Op> {
        self.ops.get(&value)
    }

    /// True if no element of an entity collection can be Empty, as far as the program text tells.
    pub(super) fn never_empty(&self, function: &Function, sets: &SetTable, value: ValueId) -> bool {
        let interior = sets.canonical(CanonicalSet::INTERIOR_FACES);
        let (mut seen, mut open) = (BTreeSet::from([value]), vec![value]);
        while let Some(value) = open.pop() {
            if function.values[value.0 as usize].ty.is_domain() {
                continue;
            }
            let parts = match self.op(value).map_or(EntitySource::Stored, Op::entity_source) {
                EntitySource::First(faces) | EntitySource::Second(faces) => {
                    let within = function.values[faces.0 as usize].ty.within;
                    if !within.is_some_and(|w| sets.is_subset(w, interior)) {
                        return false;
                    }
                    vec![faces]
                }
                // The faces alone have to be there: without them neither cell is.
                EntitySource::Select { condition, if_true, if_false } => match self.inside_cell(condition, if_true, if_false) {
                    Some(faces) => vec![faces],
                    None => vec![if_true, if_false],
                },
                EntitySource::On { data, .. } | EntitySource::Same(data) | EntitySource::Shift { cells: data, .. } => vec![data],
                EntitySource::Extend(_) | EntitySource::Stored | EntitySource::None => return false,
            };
            open.extend(parts.into_iter().filter(|part| seen.insert(*part)));
        }
        true
    }

    /// The faces of `IsEmpty(FirstCell(f)) ? SecondCell(f) : FirstCell(f)` or its mirror image: one
    /// of the cells of a face exists.
    fn inside_cell(&self, condition: ValueId, if_true: ValueId, if_false: ValueId) -> Option<ValueId> {
        let Some(Op::IsEmpty(tested)) = self.op(condition) else { return None };
        let same = |a: ValueId, b: ValueId| a == b || (self.op(a).is_some() && self.op(a) == self.op(b));
        if !same(*tested, if_false) {
            return None;
        }
        match (self.op(if_true), self.op(if_false)) {
            (Some(Op::SecondCell(a)), Some(Op::FirstCell(b))) | (Some(Op::FirstCell(a)), Some(Op::SecondCell(b))) => {
                same(*a, *b).then_some(*a)
            }
            _ => None,
        }
    }

    /// True if an operation may be an error at run time, as far as the program text tells.
    pub(super) fn may_fail(&self, function: &Function, sets: &SetTable, op: &Op) -> bool {
        match op.failure() {
            Failure::Never => false,
            Failure::Empty(entities) => !self.never_empty(function, sets, entities),
            Failure::TwoCells(faces) => {
                let boundary = sets.canonical(CanonicalSet::BOUNDARY_FACES);
                !function.values[faces.0 as usize].ty.within.is_some_and(|within| sets.is_subset(within, boundary))
            }
            Failure::NoElements(values) => {
                !function.values[values.0 as usize].ty.mapping().is_some_and(|set| sets.always_has_elements(set))
            }
            Failure::Outside => true,
        }
    }

    /// Adds the operations of more statements of the function.
    pub(super) fn add(&mut self, statements: &[Stmt]) {
        for statement in statements {
            match &statement.kind {
                StmtKind::Let { results, op } => {
                    if let [result] = results[..] {
                        self.ops.insert(result, op.clone());
                    }
                }
                StmtKind::For { body, .. } => self.add(&body.statements),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
            }
        }
    }
}

/// Mutables that a block stores, loops included.
pub(super) fn stored_mutables(block: &Block) -> BTreeSet<MutableId> {
    let mut found = BTreeSet::new();
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Store { mutable, .. } => {
                found.insert(*mutable);
            }
            StmtKind::For { body, .. } => found.extend(stored_mutables(body)),
            StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
    found
}

/// True for functions of a module that are residuals of Newton's method, or called by one.
/// `[functions]`
pub(super) fn residual_functions(module: &Module) -> Vec<bool> {
    let mut found = vec![false; module.functions.len()];
    for function in module.functions.iter().chain([&module.main]) {
        note_functions(&function.body, false, &mut found);
    }
    // A function calls only functions before it.
    for index in (0..found.len()).rev() {
        if found[index] {
            note_functions(&module.functions[index].body, true, &mut found);
        }
    }
    found
}

fn note_functions(block: &Block, calls: bool, found: &mut [bool]) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Let { op: Op::Newton { residuals, .. }, .. } => residuals.iter().for_each(|f| found[f.0 as usize] = true),
            StmtKind::Let { op: Op::Call { function, .. }, .. } if calls => found[function.0 as usize] = true,
            StmtKind::For { body, .. } => note_functions(body, calls, found),
            StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
}

/// True if a canonical set holds all entities of its kind.
pub(super) fn is_all(set: Option<CanonicalSet>) -> bool {
    set.is_some_and(|s| s.extent == Extent::All)
}
