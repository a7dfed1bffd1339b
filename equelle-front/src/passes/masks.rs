//! Masks: for each entity whether it is in a set made at run time. Padded copies of values on such
//! sets of faces.
//!
//! Loops over cells or faces that ask for members of such a set read its mask instead
//! ([`mod@super::fuse`]): rows cannot ask a set. `mask = (true Extend left) Extend AllCells()` is
//! such a one. Here each set that a loop asks gets one where it is made. A set that a condition
//! makes of a canonical one has it already. What loops read of a set of faces and do not change has
//! a copy padded with zeros: only the set knows the place of a face in it. Fusion drops what no
//! kernel reads.

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
        let mut finder =
            Finder { function, sets: &module.sets, made: BTreeMap::new(), on_faces: BTreeMap::new(), wanted: Wanted::default() };
        finder.block(&function.body, 0);
        let wanted = finder.wanted;
        if !wanted.sets.is_empty() || !wanted.padded.is_empty() {
            let body = std::mem::take(&mut function.body);
            function.body = with_masks(function, &module.sets, body, &wanted);
        }
    }
}

/// The masks and padded copies of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Masks {
    /// The mask of each set that has one.
    pub of_sets: BTreeMap<SetId, ValueId>,
    /// The padded copy of each value that has one.
    pub padded: BTreeMap<ValueId, ValueId>,
}

impl Masks {
    /// Finds those of a function.
    pub(super) fn of(function: &Function, sets: &SetTable) -> Masks {
        let mut masks = Masks::default();
        find(function, sets, &function.body, &mut masks);
        masks
    }

    /// All of them.
    pub(super) fn values(&self) -> impl Iterator<Item = ValueId> {
        self.of_sets.values().chain(self.padded.values()).copied()
    }

    /// Leaves these out.
    pub(super) fn drop(&mut self, values: &BTreeSet<ValueId>) {
        self.of_sets.retain(|_, mask| !values.contains(mask));
        self.padded.retain(|_, copy| !values.contains(copy));
    }
}

/// Finds masks and copies where they stand as this pass puts them, behind what they are of.
fn find(function: &Function, sets: &SetTable, block: &Block, found: &mut Masks) {
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
    let padded = |index: usize| {
        let ((value, _), (_, whole), (copy, extend)) = (made(index)?, made(index + 1)?, made(index + 2)?);
        let is_copy = matches!(whole, Op::CanonicalSet(_))
            && matches!(extend, Op::Extend { data, .. } if *data == value)
            && is_on_some_faces(function.values[value.0 as usize].ty, sets);
        is_copy.then_some((value, copy))
    };
    found.of_sets.extend((0..block.statements.len()).filter_map(mask));
    found.padded.extend((0..block.statements.len()).filter_map(padded));
    for statement in &block.statements {
        if let StmtKind::For { body, .. } = &statement.kind {
            find(function, sets, body, found);
        }
    }
}

/// Scalars on a set of faces that is made at run time and not of the boundary.
fn is_on_some_faces(ty: Type, sets: &SetTable) -> bool {
    let is_of_faces = |set| sets.get(set).canonical.is_none() && sets.get(set).kind == EntityKind::Face;
    ty.basic == Basic::Scalar && ty.mapping().is_some_and(|set| is_of_faces(set) && sets.canonical_superset(set).extent != Extent::Boundary)
}

/// Masks and copies that loops need.
#[derive(Debug, Default)]
struct Wanted {
    /// Sets that get a mask.
    sets: BTreeSet<SetId>,
    /// Values that get a padded copy.
    padded: BTreeSet<ValueId>,
}

/// Finds that.
struct Finder<'a> {
    function: &'a Function,
    sets: &'a SetTable,
    /// Number of loops around the definition of each set that needs a mask.
    made: BTreeMap<SetId, usize>,
    /// The same of values on some faces.
    on_faces: BTreeMap<ValueId, usize>,
    wanted: Wanted,
}

impl Finder<'_> {
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
                        self.wanted.sets.extend(made.filter(|(_, outer)| *outer < depth).map(|(set, _)| set));
                    }
                    let is_of_before = |value: &ValueId| self.on_faces.get(value).is_some_and(|outer| *outer < depth);
                    self.wanted.padded.extend(op.operands().into_iter().filter(is_of_before));
                    if let [result] = results[..]
                        && is_on_some_faces(self.ty(result), self.sets)
                        && !matches!(op, Op::Broadcast { .. })
                    {
                        self.on_faces.insert(result, depth);
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

/// The block with masks and copies after the statements that make what they are of.
fn with_masks(function: &mut Function, sets: &SetTable, block: Block, wanted: &Wanted) -> Block {
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
                for value in made {
                    let mut after = After { function, sets, span, out: &mut out };
                    match after.function.values[value.0 as usize].ty.shape {
                        Shape::Domain(set) if wanted.sets.contains(&set) => after.mask(value, set),
                        Shape::Collection(set) if wanted.padded.contains(&value) => after.padded(value, set),
                        Shape::Single | Shape::Domain(_) | Shape::Collection(_) | Shape::Sequence => {}
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

/// Writes statements after another one.
struct After<'a> {
    function: &'a mut Function,
    sets: &'a SetTable,
    span: Span,
    out: &'a mut Vec<Stmt>,
}

impl After<'_> {
    fn emit(&mut self, op: Op, ty: Type, name: String, dim: Dimension) -> ValueId {
        let value = ValueId(self.function.values.len() as u32);
        self.function.values.push(Value { ty, name, dim, span: self.span, storage: None, array: None });
        self.out.push(Stmt { kind: StmtKind::Let { results: vec![value], op }, span: self.span });
        value
    }

    /// The canonical set that holds a set, and its domain.
    fn whole(&mut self, set: SetId) -> (SetId, ValueId) {
        let canonical = self.sets.canonical_superset(set);
        let whole = self.sets.canonical(canonical);
        (whole, self.emit(Op::CanonicalSet(canonical), Type::domain(canonical.kind, whole), String::new(), Dimension::NONE))
    }

    /// The mask of a set.
    fn mask(&mut self, domain: ValueId, set: SetId) {
        let value = self.emit(Op::Bool(true), Type { basic: Basic::Bool, ..Type::SCALAR }, String::new(), Dimension::NONE);
        let data = self.emit(Op::Broadcast { value, domain }, Type::collection(Basic::Bool, set), String::new(), Dimension::NONE);
        let (whole, domain) = self.whole(set);
        let name = format!("is_in_{}", self.sets.get(set).name);
        self.emit(Op::Extend { data, domain }, Type::collection(Basic::Bool, whole), name, Dimension::NONE);
    }

    /// The padded copy of a value.
    fn padded(&mut self, value: ValueId, set: SetId) {
        let (whole, domain) = self.whole(set);
        let Value { name, dim, .. } = self.function.values[value.0 as usize].clone();
        let name = if name.is_empty() { "padded".to_owned() } else { format!("padded_{name}") };
        self.emit(Op::Extend { data: value, domain }, Type::collection(Basic::Scalar, whole), name, dim);
    }
}
