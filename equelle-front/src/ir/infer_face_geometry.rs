//! Reads of areas, normals and centroids of faces between cells.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::op::{Block, Function, FunctionId, Module, Op, OpClass, StmtKind, ValueId};
use crate::source::Span;
use crate::types::{Basic, CanonicalSet, EntityKind};

/// The first statement that reads the area, normal or centroid of faces that may lie between two
/// cells, other than where the grid gives no transmissibility
/// ([`crate::typed::Builtin::GivenTransmissibility`]). Kernels are not looked at.
pub fn face_geometry(module: &Module) -> Option<Span> {
    let mut search = Search { module, seen: BTreeSet::new(), found: None };
    search.function(&module.main);
    search.found
}

struct Search<'a> {
    module: &'a Module,
    seen: BTreeSet<FunctionId>,
    found: Option<Span>,
}

impl Search<'_> {
    /// Follows values back from what a function does with them.
    fn function(&mut self, function: &Function) {
        let mut definitions = BTreeMap::new();
        let mut wanted = Vec::new();
        collect(&function.body, &mut definitions, &mut wanted);
        let mut seen = BTreeSet::new();
        while let Some(value) = wanted.pop() {
            if !seen.insert(value) {
                continue;
            }
            let Some(&(op, span)) = definitions.get(&value) else { continue };
            if let Op::Measure(entities) | Op::Centroid(entities) | Op::Normal(entities) = op
                && self.may_join_cells(function, *entities)
                && self.found.is_none_or(|found| span.start < found.start)
            {
                self.found = Some(span);
            }
            match *op {
                Op::Select { condition, if_true, .. } if is_given(&definitions, condition) => wanted.extend([condition, if_true]),
                _ => wanted.extend(op.operands()),
            }
            for &callee in op.functions() {
                let module = self.module;
                if self.seen.insert(callee) {
                    self.function(&module.functions[callee.0 as usize]);
                }
            }
        }
    }

    /// True for faces, unless all of them lie on the boundary.
    fn may_join_cells(&self, function: &Function, entities: ValueId) -> bool {
        let ty = function.values[entities.0 as usize].ty;
        let sets = &self.module.sets;
        let boundary = sets.canonical(CanonicalSet::BOUNDARY_FACES);
        ty.basic == Basic::Entity(EntityKind::Face) && ty.within.is_none_or(|within| !sets.is_subset(within, boundary))
    }
}

type Definitions<'a> = BTreeMap<ValueId, (&'a Op, Span)>;

/// Definitions of values, and the values that statements use.
fn collect<'a>(block: &'a Block, definitions: &mut Definitions<'a>, used: &mut Vec<ValueId>) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Let { results, op } => {
                // Inputs are read and domains made whether their results are used or not.
                if matches!(op.class(), OpClass::Input | OpClass::Solve) {
                    used.extend(results);
                }
                definitions.extend(results.iter().map(|&result| (result, (op, statement.span))));
            }
            StmtKind::Store { value, .. } => used.push(*value),
            StmtKind::Output { tag, value } => used.extend([*tag, *value]),
            StmtKind::For { rounds, body } => {
                used.extend(rounds.operands());
                collect(body, definitions, used);
            }
            StmtKind::Launch { args, .. } => used.extend(args),
            StmtKind::Return(values) => used.extend(values),
        }
    }
}

/// True for the condition that the grid gives a transmissibility.
fn is_given(definitions: &Definitions<'_>, condition: ValueId) -> bool {
    let op = |value: ValueId| definitions.get(&value).map(|(op, _)| *op);
    matches!(op(condition), Some(Op::Compare(_, given, _)) if matches!(op(*given), Some(Op::FaceTransmissibility(_))))
}
