//! Positions of cells that are stored and then read through faces: over joined sides of a grid they
//! are a length of the grid off.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::op::{Block, Function, FunctionId, Module, MutableId, Op, StmtKind, UnaryOp, ValueId};
use crate::ops::Arithmetic;
use crate::source::Span;
use crate::types::{Basic, EntityKind, Extent};

/// The first statement that reads positions of cells, stored in a collection, at the cells of
/// faces, or takes their gradient. Positions are centroids, their components, and sums, differences
/// and multiples of these. Kernels are not looked at.
pub fn stored_positions(module: &Module) -> Option<Span> {
    let mut search = Search { module, known: BTreeMap::new(), found: None };
    search.function(&module.main, &[]);
    search.found
}

struct Search<'a> {
    module: &'a Module,
    /// Results of functions that are positions, by function and by the parameters that are
    /// positions.
    known: BTreeMap<(FunctionId, Vec<bool>), Vec<bool>>,
    found: Option<Span>,
}

impl<'a> Search<'a> {
    /// The results of a function that are positions, if these of its parameters are.
    fn function(&mut self, function: &'a Function, params: &[bool]) -> Vec<bool> {
        let positions = function.params.iter().zip(params).filter(|(_, is)| **is).map(|(param, _)| *param).collect();
        let mut body = Body { function, positions, mutables: BTreeSet::new(), returned: vec![false; function.results.len()] };
        // A mutable may be read in a loop before the statement that stores a position into it.
        loop {
            let known = body.mutables.len();
            self.block(&mut body, &function.body);
            if body.mutables.len() == known {
                return body.returned;
            }
        }
    }

    fn called(&mut self, id: FunctionId, params: Vec<bool>) -> Vec<bool> {
        if let Some(results) = self.known.get(&(id, params.clone())) {
            return results.clone();
        }
        let module = self.module;
        let results = self.function(&module.functions[id.0 as usize], &params);
        self.known.insert((id, params), results.clone());
        results
    }

    fn block(&mut self, body: &mut Body<'a>, block: &'a Block) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { results, op } => {
                    for (result, is_position) in results.iter().zip(self.results(body, op)) {
                        if is_position {
                            body.positions.insert(*result);
                        }
                    }
                    if body.reads_through_faces(self.module, op) && self.found.is_none_or(|found| statement.span.start < found.start) {
                        self.found = Some(statement.span);
                    }
                }
                StmtKind::Store { mutable, value } => {
                    if body.positions.contains(value) {
                        body.mutables.insert(*mutable);
                    }
                }
                StmtKind::Return(values) => {
                    for (returned, value) in body.returned.iter_mut().zip(values) {
                        *returned |= body.positions.contains(value);
                    }
                }
                StmtKind::For { body: round, .. } => self.block(body, round),
                StmtKind::Output { .. } | StmtKind::Launch { .. } => {}
            }
        }
    }

    /// The results of an operation that are positions.
    fn results(&mut self, body: &Body<'a>, op: &Op) -> Vec<bool> {
        let are = |values: &[ValueId]| values.iter().map(|value| body.positions.contains(value)).collect::<Vec<_>>();
        match op {
            Op::Call { function, args } => self.called(*function, are(args)),
            Op::Newton { residuals, captures, guesses, .. } => {
                for (residual, captures) in residuals.iter().zip(captures) {
                    self.called(*residual, [are(guesses), are(captures)].concat());
                }
                Vec::new()
            }
            _ => vec![body.is_position(self.module, op)],
        }
    }
}

/// A function that is being looked at.
struct Body<'a> {
    function: &'a Function,
    /// Values that are positions of all cells.
    positions: BTreeSet<ValueId>,
    mutables: BTreeSet<MutableId>,
    returned: Vec<bool>,
}

impl Body<'_> {
    fn is_position(&self, module: &Module, op: &Op) -> bool {
        let is = |value: &ValueId| self.positions.contains(value);
        match op {
            Op::Centroid(entities) => self.are_all_cells(module, *entities),
            Op::Load(mutable) => self.mutables.contains(mutable),
            Op::Component(vector, _) | Op::Unary(UnaryOp::Neg, vector) => is(vector),
            Op::Arithmetic(Arithmetic::Add | Arithmetic::Sub, a, b) | Op::Dot(a, b) => is(a) != is(b),
            Op::Arithmetic(Arithmetic::Mul | Arithmetic::Div, a, b) => is(a) && !is(b) || is(b) && !is(a),
            _ => false,
        }
    }

    fn are_all_cells(&self, module: &Module, entities: ValueId) -> bool {
        let ty = self.function.values[entities.0 as usize].ty;
        let canonical = ty.within.and_then(|within| module.sets.get(within).canonical);
        ty.basic == Basic::Entity(EntityKind::Cell) && canonical.is_some_and(|canonical| canonical.extent == Extent::All)
    }

    fn reads_through_faces(&self, module: &Module, op: &Op) -> bool {
        let is = |value: &ValueId| self.positions.contains(value);
        match op {
            Op::Gradient(data) => is(data),
            Op::On { data, target } => is(data) && self.is_on_faces(module, *target),
            _ => false,
        }
    }

    /// True for cells that belong to faces.
    fn is_on_faces(&self, module: &Module, entities: ValueId) -> bool {
        let mapping = self.function.values[entities.0 as usize].ty.mapping();
        mapping.is_some_and(|set| module.sets.get(set).kind == EntityKind::Face)
    }
}
