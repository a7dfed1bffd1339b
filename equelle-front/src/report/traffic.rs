//! Reads, writes and operations of one evaluation of a kernel body.
//!
//! Counts are those of an element in the inside of a grid of boxes: a cell has two faces per axis,
//! each with a cell beyond. If this decides a choice, the branch taken is counted; any other choice
//! counts the loads of both branches and the operations of the longer one. A value read twice by
//! the same path counts once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::slow::SlowOperations;
use crate::backend::structural::asked_axis;
use crate::ir::reach::OffsetPaths;
use crate::ir::{FaceFilter, KBlock, KExpr, KStmt, Kernel, LocalId, Param, ParamId, Path, Space, UnaryOp};
use crate::ops::{Logic, Offset};
use crate::types::{Basic, CanonicalSet, EntityKind, Extent, SetId, SetTable, Shape};

/// Traffic and work of one element.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Numbers loaded that belong to the element itself.
    pub own: u64,
    /// Numbers loaded that belong to the cells beyond its faces; of a face, to its cells.
    pub neighbours: u64,
    /// Numbers loaded that belong to its faces.
    pub faces: u64,
    /// Numbers loaded that belong to entities which a collection names.
    pub elsewhere: u64,
    /// Indices loaded to find all these.
    pub indices: u64,
    /// Numbers stored.
    pub stores: u64,
    /// Bytes moved between memory and cache if each array is moved once: 8 per number, 4 per index
    /// and entity, 1 per truth value.
    pub bytes: f64,
    /// Arithmetic operations, comparisons and choices; a division, root or elementary function
    /// counts as one.
    pub flops: u64,
    /// Those of them that take long.
    pub slow: SlowOperations,
}

/// Body of a kernel that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    General,
    Cartesian,
}

/// Counts a body on grids of `dim` dimensions, with `number` bytes for a number of a collection.
pub(super) fn traffic<'a>(kernel: &'a Kernel, body: &'a KBlock, form: Form, sets: &'a SetTable, dim: u32, number: u64) -> Traffic {
    let mut counter = Counter {
        kernel,
        paths: OffsetPaths::of(body),
        sets,
        cartesian: form == Form::Cartesian,
        dim: u64::from(dim),
        number,
        scopes: vec![Scope { times: 1, ..Scope::default() }],
        homes: HashMap::new(),
        arrays: BTreeMap::new(),
        moved: 0,
        entries: BTreeSet::new(),
        additions: 0,
        total: Traffic::default(),
    };
    counter.block(body);
    counter.finish()
}

/// Elements of a set for each cell of a large grid of boxes. Sets made at run time are as large as
/// the canonical set that holds them.
pub(super) fn per_cell(set: CanonicalSet, dim: u32) -> f64 {
    let axes = f64::from(dim);
    match (set.extent, set.kind, dim) {
        (Extent::Boundary, _, _) => 0.0,
        (_, EntityKind::Cell | EntityKind::Vertex, _) => 1.0,
        (_, EntityKind::Face, _) => axes,
        (_, EntityKind::Edge, 1) => 1.0,
        (_, EntityKind::Edge, _) => axes,
    }
}

/// Relation of an entity to the current element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Own,
    Neighbour,
    Face,
    Elsewhere,
}

/// A block that is evaluated several times.
#[derive(Default)]
struct Scope {
    times: u64,
    seen: BTreeSet<String>,
}

/// Origin of an entity local.
#[derive(Clone)]
struct Home {
    relation: Relation,
    scope: usize,
}

struct Counter<'a> {
    kernel: &'a Kernel,
    paths: OffsetPaths,
    sets: &'a SetTable,
    cartesian: bool,
    dim: u64,
    number: u64,
    scopes: Vec<Scope>,
    homes: HashMap<LocalId, Home>,
    /// Arrays that are read: elements per cell and bytes of one.
    arrays: BTreeMap<String, (f64, u64)>,
    /// Bytes of all loads.
    moved: u64,
    /// Derivatives of a row, by unknown and path; with how many there are of each.
    entries: BTreeSet<(u32, String, u64)>,
    /// Additions to derivatives.
    additions: u64,
    total: Traffic,
}

impl Counter<'_> {
    fn finish(mut self) -> Traffic {
        let dim = self.dim as u32;
        let mut written = 0;
        if let Space::Set(_) = self.kernel.space {
            for result in self.kernel.results.iter().filter(|r| r.reduce.is_none()) {
                self.total.stores += self.numbers(result.ty.basic);
                written += self.bytes_of(result.ty.basic);
            }
        }
        let entries: u64 = self.entries.iter().map(|(_, _, times)| times).sum();
        self.total.stores += entries;
        written += 8 * entries;
        if !self.cartesian && self.additions > 0 {
            // Slots have two bytes; where rows begin, eight.
            self.total.indices += self.additions + 1;
            written += 2 * self.additions + 8;
        }
        let own = match self.kernel.space {
            Space::Set(set) => per_cell(self.sets.canonical_superset(set), dim),
            Space::Unit => 0.0,
        };
        let small = matches!(self.kernel.space, Space::Set(set) if self.sets.get(set).canonical.is_none());
        self.total.bytes = if own > 0.0 && !small {
            self.arrays.values().map(|&(count, bytes)| count * bytes as f64).sum::<f64>() / own + written as f64
        } else {
            // Few elements share nothing.
            (self.moved + written) as f64
        };
        self.total
    }

    fn numbers(&self, basic: Basic) -> u64 {
        if basic == Basic::Vector { self.dim } else { 1 }
    }

    fn bytes_of(&self, basic: Basic) -> u64 {
        match basic {
            Basic::Scalar => self.number,
            Basic::Vector => self.number * self.dim,
            Basic::Bool => 1,
            Basic::Entity(_) => 4,
            Basic::Text | Basic::Table | Basic::Axis(_) => 0,
        }
    }

    fn times(&self) -> u64 {
        self.scopes.last().map_or(1, |s| s.times)
    }

    fn scoped(&mut self, times: u64, f: impl FnOnce(&mut Self)) {
        let times = self.times().saturating_mul(times);
        self.scopes.push(Scope { times, seen: BTreeSet::new() });
        f(self);
        self.scopes.pop();
    }

    fn block(&mut self, block: &KBlock) {
        for statement in &block.statements {
            self.statement(statement);
        }
        block.yields.iter().for_each(|value| self.expr(value));
    }

    fn statement(&mut self, statement: &KStmt) {
        match statement {
            KStmt::Let { value, .. } => self.expr(value),
            KStmt::LetEntity { local, path } => {
                let (relation, scope) = self.follow(path);
                self.homes.insert(*local, Home { relation, scope });
            }
            KStmt::ReduceFaces { results, cell, face, only, body, .. } => self.sum_faces(results.len(), cell, *face, *only, body),
            KStmt::ReduceSides { results, low, high, .. } => {
                let dim = self.dim;
                for side in [low, high] {
                    if let Some(body) = &side.interior {
                        self.scoped(dim, |s| s.block(body));
                        self.flops(results.len() as u64 * dim);
                    }
                }
            }
            KStmt::If { condition, then, otherwise, .. } => self.choice(condition, |s| s.block(then), |s| s.block(otherwise)),
            KStmt::Add { unknown, at, value } => {
                self.expr(value);
                let (_, scope) = self.follow(at);
                let times = self.times();
                self.additions += times;
                self.flops(1);
                let (key, times) = match (scope, self.paths.end(at).filter(|by| *by != Offset::default())) {
                    (_, Some(by)) => (format!("{by:?}"), 1),
                    (0, None) => ("own".to_owned(), 1),
                    (_, None) => (format!("{at:?}"), times),
                };
                // One of a face's two cells is the element itself.
                let key = if matches!(at, Path::First(_) | Path::Second(_)) && scope > 0 { format!("beyond {scope}") } else { key };
                self.entries.insert((unknown.0, "own".to_owned(), 1));
                if key != "own" {
                    self.entries.insert((unknown.0, key, times));
                }
            }
        }
    }

    fn sum_faces(&mut self, results: usize, cell: &Path, face: LocalId, only: FaceFilter, body: &KBlock) {
        if only == FaceFilter::Boundary {
            return;
        }
        let (relation, scope) = self.follow(cell);
        let faces = 2 * self.dim;
        // Where the faces of the cell begin and end, its faces, and the cells of each.
        self.array("where the faces of cells begin", self.per(EntityKind::Cell), 8);
        self.index(scope, format!("faces of {cell:?}"), 2, 8);
        self.array("faces of cells", 2.0 * self.per(EntityKind::Face), 4);
        self.array("cells of faces", self.per(EntityKind::Face), 8);
        self.scoped(faces, |s| {
            let inner = s.scopes.len() - 1;
            let relation = if relation == Relation::Own { Relation::Face } else { Relation::Elsewhere };
            s.homes.insert(face, Home { relation, scope: inner });
            s.index(inner, format!("face {face:?}"), 1, 4);
            s.index(inner, format!("cells {:?}", Path::Local(face)), 2, 4);
            s.block(body);
        });
        self.flops(results as u64 * faces);
    }

    /// Entities of a kind for each cell.
    fn per(&self, kind: EntityKind) -> f64 {
        per_cell(CanonicalSet { kind, extent: Extent::All }, self.dim as u32)
    }

    fn flops(&mut self, count: u64) {
        self.total.flops += count.saturating_mul(self.times());
    }

    fn array(&mut self, name: impl Into<String>, per_cell: f64, bytes: u64) {
        if !self.cartesian {
            self.arrays.insert(name.into(), (per_cell, bytes));
        }
    }

    fn index(&mut self, scope: usize, key: String, count: u64, bytes: u64) {
        if self.cartesian || !self.scopes[scope].seen.insert(key) {
            return;
        }
        let times = self.scopes[scope].times;
        self.total.indices += count * times;
        self.moved += count * times * bytes;
    }

    /// Whose an entity is, and the innermost block that it belongs to. Counts the indices on the
    /// way.
    fn follow(&mut self, path: &Path) -> (Relation, usize) {
        let here = self.scopes.len() - 1;
        match path {
            Path::Here | Path::Empty => (Relation::Own, 0),
            Path::Local(local) => self.homes.get(local).map_or((Relation::Elsewhere, here), |home| (home.relation, home.scope)),
            Path::First(face) | Path::Second(face) => {
                let (relation, scope) = self.follow(face);
                self.array("cells of faces", self.per(EntityKind::Face), 8);
                self.index(scope, format!("cells {:?}", **face), 2, 4);
                match relation {
                    Relation::Own | Relation::Face => (Relation::Neighbour, scope),
                    Relation::Neighbour | Relation::Elsewhere => (Relation::Elsewhere, scope),
                }
            }
            Path::Through { param, at } => {
                let (_, scope) = self.follow(at);
                let declared = self.param(*param).clone();
                self.index(scope, format!("{path:?}"), 1, 4);
                self.array(format!("parameter {}", param.0), self.elements(&declared), 4);
                (Relation::Elsewhere, scope)
            }
            Path::Select { condition, if_true, if_false } => {
                self.expr(condition);
                let (a, b) = (self.follow(if_true), self.follow(if_false));
                let relation = if a.0 == b.0 { a.0 } else { Relation::Neighbour };
                (relation, a.1.max(b.1))
            }
            Path::SideFace(_) => (Relation::Face, here),
            Path::Shift { .. } => (Relation::Neighbour, here),
            Path::Offset { from, .. } => (Relation::Neighbour, self.follow(from).1),
        }
    }

    fn param(&self, param: ParamId) -> &Param {
        &self.kernel.params[param.0 as usize]
    }

    /// Elements of a collection for each cell.
    fn elements(&self, param: &Param) -> f64 {
        let set = param.ty.mapping().map(|set| self.sets.canonical_superset(set));
        set.map_or(0.0, |set| per_cell(set, self.dim as u32))
    }

    /// Counts numbers of an array at an entity.
    fn load(&mut self, array: &str, count: u64, per_cell: f64, bytes: u64, at: &Path) {
        if let Path::Select { condition, if_true, if_false } = at {
            self.expr(condition);
            self.flops(1);
            self.load(array, count, per_cell, bytes, if_true);
            self.load(array, count, per_cell, bytes, if_false);
            return;
        }
        let (relation, scope) = self.follow(at);
        self.arrays.insert(array.to_owned(), (per_cell, bytes));
        // One of the two cells of a cell's face is the cell itself.
        let of_sum = matches!(at, Path::First(face) | Path::Second(face) if **face != Path::Here);
        let key = if of_sum && relation == Relation::Neighbour { format!("{array} beyond {scope}") } else { format!("{array} {at:?}") };
        if self.scopes[scope].seen.insert(key) {
            let total = count * self.scopes[scope].times;
            self.moved += bytes * self.scopes[scope].times;
            match relation {
                Relation::Own => self.total.own += total,
                Relation::Neighbour => self.total.neighbours += total,
                Relation::Face => self.total.faces += total,
                Relation::Elsewhere => self.total.elsewhere += total,
            }
        }
        if of_sum && relation == Relation::Neighbour && self.scopes[0].seen.insert(format!("{array} {:?}", Path::Here)) {
            self.total.own += count;
            self.moved += bytes;
        }
    }

    /// Counts the look-up of an entity's position in a set.
    fn rank(&mut self, set: SetId, at: &Path) {
        let canonical = self.sets.get(set).canonical;
        let all = canonical.is_some_and(|c| c.extent == Extent::All);
        let of_space = *at == Path::Here && self.kernel.space == Space::Set(set);
        if all || of_space {
            return;
        }
        let (_, scope) = self.follow(at);
        self.array(format!("positions in set {}", set.0), self.per(self.sets.get(set).kind), 4);
        self.index(scope, format!("rank {} {at:?}", set.0), 1, 4);
    }

    /// Returns the value of a condition inside a grid, if it is known.
    fn known(&self, condition: &KExpr) -> Option<bool> {
        match condition {
            KExpr::Bool(value) => Some(*value),
            KExpr::CellFact { fact: crate::ops::CellFact::Outside { .. }, .. } => Some(false),
            KExpr::Member { set, .. } => match self.sets.get(*set).canonical {
                Some(set) => Some(set.extent != Extent::Boundary),
                None => (self.sets.canonical_superset(*set).extent == Extent::Boundary).then_some(false),
            },
            KExpr::IsEmpty(Path::First(_) | Path::Second(_) | Path::Shift { .. }) => Some(false),
            KExpr::IsEmpty(Path::Empty) => Some(true),
            KExpr::Unary(UnaryOp::Not, a) => self.known(a).map(|a| !a),
            KExpr::Logic(Logic::And, a, b) => match (self.known(a), self.known(b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            KExpr::Logic(Logic::Or, a, b) => match (self.known(a), self.known(b)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    fn choice(&mut self, condition: &KExpr, then: impl FnOnce(&mut Self), otherwise: impl FnOnce(&mut Self)) {
        match self.known(condition) {
            Some(true) => then(self),
            Some(false) => otherwise(self),
            None => {
                // Code generators know the axis: the condition costs nothing at run time.
                if !self.cartesian || asked_axis(condition).is_none() {
                    self.expr(condition);
                    self.flops(1);
                }
                let before = (self.total.flops, self.total.slow);
                then(self);
                let (flops, slow) = (self.total.flops, self.total.slow);
                (self.total.flops, self.total.slow) = before;
                otherwise(self);
                self.total.flops = flops.max(self.total.flops);
                self.total.slow = slow.max(self.total.slow);
            }
        }
    }

    fn geometry(&mut self, what: &str, count: u64, at: &Path) {
        if self.cartesian {
            return;
        }
        let kind = self.kind_of(at);
        // Vectors of the grid have three components.
        self.load(&format!("{what} of {}", kind.name()), count, self.per(kind), 8 * count, at);
    }

    fn kind_of(&self, at: &Path) -> EntityKind {
        match at {
            Path::Here => match self.kernel.space {
                Space::Set(set) => self.sets.get(set).kind,
                Space::Unit => EntityKind::Cell,
            },
            Path::Local(local) => self.kernel.locals[local.0 as usize].ty.entity_kind().unwrap_or(EntityKind::Cell),
            Path::First(_) | Path::Second(_) | Path::Shift { .. } | Path::Offset { .. } | Path::Empty => EntityKind::Cell,
            Path::SideFace(_) => EntityKind::Face,
            Path::Through { param, .. } => self.param(*param).ty.entity_kind().unwrap_or(EntityKind::Cell),
            Path::Select { if_true, .. } => self.kind_of(if_true),
        }
    }

    fn expr(&mut self, expr: &KExpr) {
        let times = self.times();
        self.total.slow.add(expr, times);
        match expr {
            KExpr::Real(_) | KExpr::Bool(_) | KExpr::ZeroVector | KExpr::Local(_) | KExpr::Param(_) => {}
            KExpr::Load { param, at } => {
                let declared = self.param(*param).clone();
                if self.cartesian && declared.per_axis {
                    return;
                }
                if let Shape::Collection(set) = declared.ty.shape {
                    self.rank(set, at);
                }
                let (count, bytes, elements) =
                    (self.numbers(declared.ty.basic), self.bytes_of(declared.ty.basic), self.elements(&declared));
                self.load(&format!("parameter {}", param.0), count, elements, bytes, at);
            }
            KExpr::Measure(at) => self.geometry("measure", 1, at),
            KExpr::Centroid(at) => self.geometry("centroid", 3, at),
            KExpr::Normal(at) => self.geometry("normal", 3, at),
            // Almost no grid has gaps or given transmissibilities, and then no array of them.
            KExpr::FaceGap(at) | KExpr::FaceTransmissibility(at) | KExpr::IsEmpty(at) | KExpr::Entity(at) | KExpr::CellFact { at, .. } => {
                self.follow(at);
            }
            KExpr::Member { set, at } => self.rank(*set, at),
            KExpr::Same(a, b) => {
                self.follow(a);
                self.follow(b);
                self.flops(1);
            }
            KExpr::Unary(op, a) => {
                self.expr(a);
                self.flops(if *op == UnaryOp::Length { 2 * self.dim } else { 1 });
            }
            KExpr::Arithmetic(_, a, b) => {
                self.expr(a);
                self.expr(b);
                let vectors = self.is_vector(a) || self.is_vector(b);
                self.flops(if vectors { self.dim } else { 1 });
            }
            KExpr::Compare(_, a, b) | KExpr::Logic(_, a, b) | KExpr::Math(_, a, b) => {
                self.expr(a);
                self.expr(b);
                self.flops(1);
            }
            KExpr::Interpolate { argument, .. } => {
                self.expr(argument);
                self.flops(1);
            }
            KExpr::Dot(a, b) => {
                self.expr(a);
                self.expr(b);
                self.flops(2 * self.dim - 1);
            }
            KExpr::Select { condition, if_true, if_false } => self.choice(condition, |s| s.expr(if_true), |s| s.expr(if_false)),
            KExpr::Component(a, _) => self.expr(a),
            KExpr::Vector(components) => components.iter().for_each(|c| self.expr(c)),
            KExpr::Displacement { .. } => {}
        }
    }

    fn is_vector(&self, expr: &KExpr) -> bool {
        match expr {
            KExpr::Local(id) => self.kernel.locals[id.0 as usize].ty.basic == Basic::Vector,
            KExpr::Param(id) | KExpr::Load { param: id, .. } => self.param(*id).ty.basic == Basic::Vector,
            KExpr::Centroid(_)
            | KExpr::FaceGap(_)
            | KExpr::Normal(_)
            | KExpr::Vector(_)
            | KExpr::ZeroVector
            | KExpr::Displacement { .. } => true,
            KExpr::Unary(UnaryOp::Neg, a) => self.is_vector(a),
            KExpr::Arithmetic(_, a, b) => self.is_vector(a) || self.is_vector(b),
            KExpr::Select { if_true, .. } => self.is_vector(if_true),
            _ => false,
        }
    }
}
