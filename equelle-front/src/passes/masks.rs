//! Masks: for each entity whether it is in a set made at run time.
//!
//! Loops over cells or faces that ask for members of such a set read its mask instead
//! ([`mod@super::fuse`]): rows cannot ask a set. `mask = (true Extend left) Extend AllCells()` is
//! such a one. Here each set that a loop asks gets one where it is made. A set that a condition
//! makes of a canonical one has it already, and fusion drops those that no kernel reads.

use std::collections::{BTreeMap, BTreeSet};

use super::analysis::residual_functions;
use crate::ir::{Block, Function, Module, Op, Stmt, StmtKind, Value, ValueId};
use crate::source::Span;
use crate::types::{Basic, Dimension, EntityKind, Extent, SetId, SetTable, Shape, Type};

/// Makes the masks of every function but residuals of Newton's method.
pub(super) fn run(module: &mut Module) {
    let residuals = residual_functions(module);
    let functions = module.functions.iter_mut().zip(residuals).filter(|(_, residual)| !residual).map(|(function, _)| function);
    for function in functions.chain([&mut module.main]) {
        let mut asked = Asked { function, sets: &module.sets, made: BTreeMap::new(), sets_of_loops: BTreeSet::new() };
        asked.block(&function.body, 0);
        let wanted = asked.sets_of_loops;
        if !wanted.is_empty() {
            let body = std::mem::take(&mut function.body);
            function.body = with_masks(function, &module.sets, body, &wanted);
        }
    }
}

/// The mask of each set, where it stands behind the set as this pass puts it.
pub(super) fn masks(function: &Function, block: &Block, found: &mut BTreeMap<SetId, ValueId>) {
    let made = |index: usize| match &block.statements.get(index)?.kind {
        StmtKind::Let { results, op } => Some((*results.first()?, op)),
        StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::For { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => None,
    };
    let mask = |index: usize| {
        let ((domain, _), (held, holds)) = (made(index)?, made(index + 1)?);
        let ((data, broadcast), (mask, extend)) = (made(index + 2)?, made(index + 4)?);
        let Shape::Domain(set) = function.values[domain.0 as usize].ty.shape else { return None };
        let is_mask = matches!(holds, Op::Bool(true))
            && matches!(broadcast, Op::Broadcast { value, domain: of } if (*value, *of) == (held, domain))
            && matches!(extend, Op::Extend { data: of, .. } if *of == data);
        is_mask.then_some((set, mask))
    };
    found.extend((0..block.statements.len()).filter_map(mask));
    for statement in &block.statements {
        if let StmtKind::For { body, .. } = &statement.kind {
            masks(function, body, found);
        }
    }
}

/// Finds sets that loops ask.
struct Asked<'a> {
    function: &'a Function,
    sets: &'a SetTable,
    /// How many loops surround the place where each set is made that needs a mask.
    made: BTreeMap<SetId, usize>,
    sets_of_loops: BTreeSet<SetId>,
}

impl Asked<'_> {
    fn ty(&self, value: ValueId) -> Type {
        self.function.values[value.0 as usize].ty
    }

    fn block(&mut self, block: &Block, depth: usize) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { results, op } => {
                    if let [result] = results[..]
                        && let Shape::Domain(set) = self.ty(result).shape
                        && self.needs_mask(set, op)
                    {
                        self.made.insert(set, depth);
                    }
                    for data in asked_of(op) {
                        let made = self.ty(data).mapping().and_then(|set| Some((set, *self.made.get(&set)?)));
                        self.sets_of_loops.extend(made.filter(|(_, outer)| *outer < depth).map(|(set, _)| set));
                    }
                }
                StmtKind::For { body, .. } => self.block(body, depth + 1),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    /// True for a set of cells or faces of which no condition tells the members. The boundary has
    /// few of them.
    fn needs_mask(&self, set: SetId, op: &Op) -> bool {
        let info = self.sets.get(set);
        let is_told = matches!(op, Op::Where { within, .. }
            if matches!(self.ty(*within).shape, Shape::Domain(parent) if self.sets.get(parent).canonical.is_some()));
        info.canonical.is_none()
            && !is_told
            && matches!(info.kind, EntityKind::Cell | EntityKind::Face)
            && self.sets.canonical_superset(set).extent != Extent::Boundary
    }
}

/// Operands at entities that may be in their set or not.
fn asked_of(op: &Op) -> Vec<ValueId> {
    match op {
        Op::Extend { data, .. } => vec![*data],
        Op::Divergence(fluxes) => vec![*fluxes],
        Op::FaceReduce { first, second, .. } => vec![*first, *second],
        _ => Vec::new(),
    }
}

/// The block with the masks of sets after the statements that make these.
fn with_masks(function: &mut Function, sets: &SetTable, block: Block, wanted: &BTreeSet<SetId>) -> Block {
    let mut out = Vec::with_capacity(block.statements.len());
    for statement in block.statements {
        let span = statement.span;
        match statement.kind {
            StmtKind::For { rounds, body } => {
                let body = with_masks(function, sets, body, wanted);
                out.push(Stmt { kind: StmtKind::For { rounds, body }, span });
            }
            kind @ StmtKind::Let { .. } => {
                let made = match &kind {
                    StmtKind::Let { results, .. } => results.clone(),
                    _ => Vec::new(),
                };
                out.push(Stmt { kind, span });
                for domain in made {
                    if let Shape::Domain(set) = function.values[domain.0 as usize].ty.shape
                        && wanted.contains(&set)
                    {
                        mask(function, sets, (domain, set), span, &mut out);
                    }
                }
            }
            kind @ (StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_)) => {
                out.push(Stmt { kind, span });
            }
        }
    }
    Block { statements: out }
}

/// The statements that make the mask of a set.
fn mask(function: &mut Function, sets: &SetTable, (domain, set): (ValueId, SetId), span: Span, out: &mut Vec<Stmt>) {
    let canonical = sets.canonical_superset(set);
    let all = sets.canonical(canonical);
    let mut emit = |op: Op, ty: Type, name: String| {
        let value = ValueId(function.values.len() as u32);
        function.values.push(Value { ty, name, dim: Dimension::NONE, span, storage: None, array: None });
        out.push(Stmt { kind: StmtKind::Let { results: vec![value], op }, span });
        value
    };
    let holds = Op::Bool(true);
    let value = emit(holds, Type { basic: Basic::Bool, ..Type::SCALAR }, String::new());
    let data = emit(Op::Broadcast { value, domain }, Type::collection(Basic::Bool, set), String::new());
    let whole = emit(Op::CanonicalSet(canonical), Type::domain(canonical.kind, all), String::new());
    let name = format!("is_in_{}", sets.get(set).name);
    emit(Op::Extend { data, domain: whole }, Type::collection(Basic::Bool, all), name);
}
