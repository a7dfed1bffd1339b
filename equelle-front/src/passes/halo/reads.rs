//! Reach of operations and launches: layers of the halo beyond its result from which each reads.

use std::collections::BTreeMap;

use crate::ir::visit::{Node, visit_block, visit_general};
use crate::ir::{
    CartesianForm, EntitySource, FaceFilter, Function, KBlock, KExpr, KStmt, Kernel, LocalId, Op, ParamId, Path, Space, ValueId,
};
use crate::ops::{CellFact, Offset};
use crate::types::{CanonicalSet, SetId, SetTable, Shape};

/// Parts that an element of a result is made of, with the layers beyond that of the element.
#[derive(Clone, Debug, Default)]
pub(super) struct Reads {
    /// Elements of collections.
    pub values: BTreeMap<ValueId, u32>,
    /// Memberships of entities in sets.
    pub sets: BTreeMap<SetId, u32>,
    /// Entities and their geometry.
    pub topology: u32,
}

impl Reads {
    /// Reads of an operation. `outreach` has, for collections of entities, the layers that these
    /// may lie beyond the elements that hold them.
    pub fn from_operation(sets: &SetTable, function: &Function, outreach: &[u32], op: &Op, result: ValueId) -> Reads {
        let mut reads = Reads::default();
        let ty = |v: ValueId| function.values[v.0 as usize].ty;
        let out = |v: ValueId| outreach[v.0 as usize];
        if let Some(set) = ty(result).mapping()
            && !matches!(op, Op::Where { .. })
        {
            reads.note_set(set, 0);
        }
        let operands = match op {
            Op::On { data, target } => vec![(*target, 0), (*data, out(*target))],
            Op::Gradient(values) => vec![(*values, 1)],
            // The set of the result is that of the domain.
            Op::Broadcast { value, domain: _ } => vec![(*value, 0)],
            // The file names the entities; a solve exchanges its unknowns.
            Op::InputDomain { .. } | Op::Newton { .. } => Vec::new(),
            op => op.operands().into_iter().map(|operand| (operand, 0)).collect(),
        };
        for (operand, reach) in operands {
            reads.note_value(ty(operand).shape, operand, reach);
            reads.topology = reads.topology.max(out(operand).saturating_add(reach));
        }
        reads.topology = reads.topology.max(source_outreach(sets, function, op.entity_source(), out));
        if let Op::OneCell(faces) = op {
            reads.topology = reads.topology.max(out(*faces).saturating_add(1));
        }
        if let Op::CellFact { fact, cells } = op {
            reads.topology = reads.topology.max(out(*cells).saturating_add(fact_reach(*fact)));
        }
        reads
    }

    /// Reads of a launch.
    pub fn from_launch(kernel: &Kernel, sets: &SetTable, function: &Function, outreach: &[u32], args: &[ValueId]) -> Reads {
        let of_kernel = KernelReads::new(kernel, sets, &|param| args.get(param.0 as usize).map_or(0, |arg| outreach[arg.0 as usize]));
        let mut reads = Reads { values: BTreeMap::new(), sets: of_kernel.sets, topology: of_kernel.topology };
        for (param, reach) in of_kernel.params {
            if let Some(&arg) = args.get(param.0 as usize) {
                reads.note_value(function.values[arg.0 as usize].ty.shape, arg, reach);
            }
        }
        reads
    }

    fn note_value(&mut self, shape: Shape, value: ValueId, reach: u32) {
        match shape {
            Shape::Collection(_) => note(&mut self.values, value, reach),
            Shape::Domain(set) => self.note_set(set, reach),
            Shape::Single | Shape::Sequence => {}
        }
    }

    fn note_set(&mut self, set: SetId, reach: u32) {
        note(&mut self.sets, set, reach);
    }
}

fn note<K: Ord>(table: &mut BTreeMap<K, u32>, key: K, reach: u32) {
    let most = table.entry(key).or_default();
    *most = (*most).max(reach);
}

/// Layers from an element to the entities that an operation gives it; 0 where it gives none, or
/// those of a domain.
pub(super) fn source_outreach(sets: &SetTable, function: &Function, source: EntitySource, out: impl Fn(ValueId) -> u32) -> u32 {
    match source {
        EntitySource::First(faces) | EntitySource::Second(faces) => {
            out(faces).saturating_add(cell_reach(sets, function.values[faces.0 as usize].ty.within))
        }
        EntitySource::Shift { cells, by, .. } => out(cells).saturating_add(offset_reach(by)),
        EntitySource::Same(data) | EntitySource::Extend(data) => out(data),
        EntitySource::On { data, target } => out(data).saturating_add(out(target)),
        EntitySource::Select { condition: _, if_true, if_false } => out(if_true).max(out(if_false)),
        EntitySource::Stored | EntitySource::None => 0,
    }
}

/// Layers from a face of a set to its cells: a boundary face has the layer of its one cell.
fn cell_reach(sets: &SetTable, within: Option<SetId>) -> u32 {
    let boundary = sets.canonical(CanonicalSet::BOUNDARY_FACES);
    u32::from(!within.is_some_and(|within| sets.is_subset(within, boundary)))
}

/// Layers from a cell to what a fact of it tells: the sides of a box are not those of the grid.
fn fact_reach(fact: CellFact) -> u32 {
    match fact {
        CellFact::Outside { by, .. } => u32::from(by.unsigned_abs()),
        CellFact::Index(_) | CellFact::Even(_) => 0,
    }
}

/// Layers of a box: a corner is as near as a side.
fn offset_reach(by: Offset) -> u32 {
    by.iter().map(|by| u32::from(by.unsigned_abs())).max().unwrap_or(0)
}

/// Reach of a kernel's paths from the element.
pub(super) struct KernelReads {
    /// Largest reach at which each collection is read.
    params: BTreeMap<ParamId, u32>,
    sets: BTreeMap<SetId, u32>,
    topology: u32,
    /// Reach of each result that is of entities, else 0.
    pub results: Vec<u32>,
}

impl KernelReads {
    /// Reach in all bodies; `outreach` is that of the argument that a parameter stands for.
    pub fn new(kernel: &Kernel, sets: &SetTable, outreach: &dyn Fn(ParamId) -> u32) -> KernelReads {
        let mut reads = KernelReads { params: BTreeMap::new(), sets: BTreeMap::new(), topology: 0, results: vec![0; kernel.results.len()] };
        if let Space::Set(set) = kernel.space {
            note(&mut reads.sets, set, 0);
        }
        let mut walker = Walker { kernel, sets, outreach, locals: BTreeMap::new(), reads };
        visit_general(kernel, &mut |node| walker.node(node));
        walker.results(&kernel.body);
        match &kernel.cartesian {
            Some(CartesianForm::Full(block)) => {
                visit_block(block, &mut |node| walker.node(node));
                walker.results(block);
            }
            // One value per axis is the same on all ranks.
            Some(CartesianForm::PerAxis(_)) | None => {}
        }
        // Columns of derivatives are elements of this rank.
        for block in kernel.jacobian.iter().flat_map(|form| [Some(&form.body), form.cartesian.as_ref()]).flatten() {
            visit_block(block, &mut |node| walker.node(node));
        }
        walker.reads
    }
}

struct Walker<'a> {
    kernel: &'a Kernel,
    sets: &'a SetTable,
    outreach: &'a dyn Fn(ParamId) -> u32,
    /// Reach of entity locals.
    locals: BTreeMap<LocalId, u32>,
    reads: KernelReads,
}

impl Walker<'_> {
    fn node(&mut self, node: Node<'_>) {
        match node {
            Node::Stmt(statement) => self.statement(statement),
            Node::Path(path) => {
                self.reads.topology = self.reads.topology.max(self.reach(path));
                if let Path::Through { param, at } = path {
                    let reach = self.reach(at);
                    note(&mut self.reads.params, *param, reach);
                }
            }
            Node::Expr(KExpr::Load { param, at }) => {
                let reach = self.reach(at);
                note(&mut self.reads.params, *param, reach);
            }
            Node::Expr(KExpr::Member { set, at }) => {
                let reach = self.reach(at);
                note(&mut self.reads.sets, *set, reach);
            }
            Node::Expr(KExpr::CellFact { fact, at }) => {
                self.reads.topology = self.reads.topology.max(self.reach(at).saturating_add(fact_reach(*fact)));
            }
            Node::Expr(_) => {}
        }
    }

    /// Notes entity locals before the visit comes to their readers.
    fn statement(&mut self, statement: &KStmt) {
        match statement {
            KStmt::LetEntity { local, path } => {
                let reach = self.reach(path);
                self.locals.insert(*local, reach);
            }
            KStmt::ReduceFaces { extreme_faces, cell, face, only, .. } => {
                let reach = self.reach(cell);
                self.locals.extend(extreme_faces.iter().chain([face]).map(|&local| (local, reach)));
                self.filter(*only, reach);
            }
            KStmt::ReduceSides { extreme_faces, low, high, .. } => {
                self.locals.extend(extreme_faces.iter().map(|&local| (local, 0)));
                if low.interior != low.boundary || high.interior != high.boundary {
                    self.filter(FaceFilter::Interior, 0);
                }
            }
            KStmt::Let { .. } | KStmt::If { .. } | KStmt::Add { .. } => {}
        }
    }

    fn filter(&mut self, only: FaceFilter, reach: u32) {
        let set: CanonicalSet = only.set();
        note(&mut self.reads.sets, self.sets.canonical(set), reach);
    }

    fn results(&mut self, block: &KBlock) {
        for (index, value) in block.yields.iter().enumerate() {
            if let KExpr::Entity(path) = value {
                let reach = self.reach(path);
                if let Some(result) = self.reads.results.get_mut(index) {
                    *result = (*result).max(reach);
                }
            }
        }
    }

    fn reach(&self, path: &Path) -> u32 {
        match path {
            Path::Here | Path::SideFace(_) | Path::Empty => 0,
            Path::Local(local) => self.locals.get(local).copied().unwrap_or(0),
            Path::First(face) | Path::Second(face) => {
                self.reach(face).saturating_add(cell_reach(self.sets, self.kernel.path_within(self.sets, face)))
            }
            Path::Through { param, at } => self.reach(at).saturating_add((self.outreach)(*param)),
            Path::Select { condition: _, if_true, if_false } => self.reach(if_true).max(self.reach(if_false)),
            Path::Shift { from, by } => self.reach(from).saturating_add(u32::from(by.unsigned_abs())),
            Path::Offset { from, by, .. } => self.reach(from).saturating_add(offset_reach(*by)),
        }
    }
}
