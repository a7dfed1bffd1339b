//! Analysis of the values of a body: those that are the same for both cells of a face, and those of
//! a cell.

use std::collections::BTreeMap;

use equelle_front::backend::forms::Refusal;
use equelle_front::backend::structural::asked_axis;
use equelle_front::ir::{KBlock, KExpr, KStmt, LocalId, ParamId, Path, SideBlocks, UnaryOp};
use equelle_front::ops::{Arithmetic, BinaryMath, FaceReduction};
use equelle_front::types::{Basic, CanonicalSet, EntityKind, Extent, SetId};

use super::dag::{At, Dag, Node, Op, reach};
use crate::codegen::emit::stencil_point::{End, StencilPoint};
use crate::codegen::emit::writer::{Failure, Writer, Written};

/// Faces whose terms take less time than this many additions are better evaluated by both of their
/// cells.
const WORTHWHILE: u32 = 16;
/// Values of a cell that take less time are better evaluated where they are wanted.
const WORTH_STORING: u32 = 2;

/// Reads the body of a sum over the interior faces of a cell of any grid; it yields the terms of a
/// face. [`Failure::Form`] where it asks for something else than values of the face and its two
/// cells.
pub(in crate::codegen) fn analyse_face_terms(writer: &mut Writer, face: LocalId, body: &KBlock) -> Written<FluxAnalysis> {
    let mut reader = Reader::new(writer);
    reader.face = Some(face);
    let yields = reader.block(body)?;
    let mut dag = reader.dag;
    let cells = cell_values(&mut dag, &yields);
    Ok(FluxAnalysis { dag, yields, subsets: Vec::new(), terms: Vec::new(), sums: Vec::new(), cells, expensive: true })
}

/// A body whose terms are the same for both cells of a face.
pub(in crate::codegen) struct FluxAnalysis {
    pub dag: Dag,
    /// Results of the body, from values here and sums, for cells that are in none of the `subsets`;
    /// or the terms of one face.
    pub yields: Vec<Node>,
    /// Sets of cells made at run time for whose cells the body yields something else.
    pub subsets: Vec<SetId>,
    /// Terms of the sums, by number, for each axis: from values at the first cell, the second cell
    /// and the face.
    pub terms: Vec<[Node; 3]>,
    /// The locals that hold the sums.
    pub sums: Vec<LocalId>,
    /// Values of one cell that terms are made of and that are worth storing, as values here.
    pub cells: Vec<Node>,
    /// True if faces are better evaluated once, also those between rows.
    pub expensive: bool,
}

/// Reads the body of a Cartesian form. [`Failure::Form`] where terms depend on the side that asks.
pub(in crate::codegen) fn analyse_cartesian_form(writer: &mut Writer, block: &KBlock) -> Written<FluxAnalysis> {
    let mut reader = Reader::new(writer);
    let yields = reader.block(block)?;
    let Reader { mut dag, terms, sums, .. } = reader;
    let roots: Vec<Node> = terms.iter().flatten().copied().collect();
    let expensive = roots.iter().any(|root| dag.cost(*root) >= WORTHWHILE);
    let cells = if expensive { cell_values(&mut dag, &roots) } else { Vec::new() };
    let mut subsets = Vec::new();
    for node in dag.below(&yields) {
        if let Op::Member(set, _) = dag.op(node)
            && !subsets.contains(&set)
        {
            subsets.push(set);
        }
    }
    let yields = dag.outside_subsets(&yields);
    let known = |node: &Node| !matches!(dag.op(*node), Op::Member(..) | Op::OfSubset(..));
    if !dag.below(&roots).iter().chain(&dag.below(&yields)).all(known) {
        return Err(Failure::Form(Refusal::Subset));
    }
    Ok(FluxAnalysis { dag, yields, subsets, terms, sums, cells, expensive })
}

/// Values of one cell that some terms of faces are made of and that are worth storing, as values
/// here.
fn cell_values(dag: &mut Dag, roots: &[Node]) -> Vec<Node> {
    let mut cells = Vec::new();
    let wanted = dag.below_until(roots, |node| belongs_to_a_cell(dag, node));
    for node in wanted.into_iter().filter(|node| belongs_to_a_cell(dag, *node)).collect::<Vec<_>>() {
        let at = if dag.reach(node) == reach::FIRST { At::First } else { At::Second };
        let here = dag.moved(node, at, At::Here);
        if !cells.contains(&here) {
            cells.push(here);
        }
    }
    cells
}

/// True if a value depends on only one of the two cells of a face.
fn is_one_sided(dag: &Dag, node: Node) -> bool {
    matches!(dag.reach(node), reach::FIRST | reach::SECOND)
}

/// True if a value is one of a single cell and worth storing.
fn belongs_to_a_cell(dag: &Dag, node: Node) -> bool {
    if !is_one_sided(dag, node) || dag.cost(node) < WORTH_STORING || is_bool(dag, node) {
        return false;
    }
    // A number times a stored value is better evaluated again.
    match dag.op(node) {
        Op::Arithmetic(Arithmetic::Add | Arithmetic::Sub | Arithmetic::Mul, a, b) => {
            let cheap = |number: Node, other: Node| dag.reach(number) == 0 && belongs_to_a_cell(dag, other);
            !cheap(a, b) && !cheap(b, a)
        }
        _ => true,
    }
}

/// True if a value made by an operation is a truth value.
fn is_bool(dag: &Dag, node: Node) -> bool {
    match dag.op(node) {
        Op::Bool(_) | Op::Compare(..) | Op::Logic(..) | Op::Unary(UnaryOp::Not, _) => true,
        Op::Select(_, a, b) => is_bool(dag, a) || is_bool(dag, b),
        _ => false,
    }
}

/// True if a sum adds anything at all.
pub(in crate::codegen) fn has_terms(low: &SideBlocks, high: &SideBlocks) -> bool {
    [&low.interior, &low.boundary, &high.interior, &high.boundary].into_iter().any(Option::is_some)
}

struct Reader<'w, 'a> {
    writer: &'w mut Writer<'a>,
    dag: Dag,
    values: BTreeMap<LocalId, Node>,
    /// Entities that stand for one place.
    entities: BTreeMap<LocalId, At>,
    /// Normals, by the locals that hold them.
    normals: BTreeMap<LocalId, At>,
    /// Entities that are one of two places.
    choices: BTreeMap<LocalId, (Node, At, At)>,
    /// In the block of a side: which one, and the axis.
    side: Option<(End, u32)>,
    /// In a sum over the faces of a cell of any grid: the face.
    face: Option<LocalId>,
    /// In a branch.
    conditional: bool,
    /// In a branch for members of a set made at run time, which rows do not take.
    of_members: bool,
    terms: Vec<[Node; 3]>,
    sums: Vec<LocalId>,
}

impl<'w, 'a> Reader<'w, 'a> {
    fn new(writer: &'w mut Writer<'a>) -> Self {
        Reader {
            writer,
            dag: Dag::default(),
            values: BTreeMap::new(),
            entities: BTreeMap::new(),
            normals: BTreeMap::new(),
            choices: BTreeMap::new(),
            side: None,
            face: None,
            conditional: false,
            of_members: false,
            terms: Vec::new(),
            sums: Vec::new(),
        }
    }

    fn block(&mut self, block: &KBlock) -> Written<Vec<Node>> {
        for statement in &block.statements {
            self.statement(statement)?;
        }
        block.yields.iter().map(|value| self.expr(value)).collect()
    }

    /// A block whose locals are not known outside.
    fn inner(&mut self, block: &KBlock) -> Written<Vec<Node>> {
        let outer = (self.values.clone(), self.entities.clone(), self.choices.clone(), self.writer.places.clone());
        let values = self.block(block);
        (self.values, self.entities, self.choices, self.writer.places) = outer;
        values
    }

    fn statement(&mut self, statement: &KStmt) -> Written<()> {
        match statement {
            KStmt::Let { local, value: KExpr::Normal(at) } if self.face.is_some() => {
                let at = self.at(at)?;
                self.normals.insert(*local, at);
                Ok(())
            }
            KStmt::Let { local, value } => {
                let value = self.expr(value)?;
                self.define(*local, value)
            }
            KStmt::LetEntity { local, path } => {
                if let Some(place) = self.writer.place(path) {
                    self.writer.places.insert(*local, place);
                    return Ok(());
                }
                if let Path::Select { condition, if_true, if_false } = path {
                    let choice = (self.expr(condition)?, self.at(if_true)?, self.at(if_false)?);
                    self.choices.insert(*local, choice);
                } else {
                    let at = self.at(path)?;
                    self.entities.insert(*local, at);
                }
                Ok(())
            }
            KStmt::If { results, condition, then, otherwise } => {
                let condition = self.expr(condition)?;
                if let Op::Bool(holds) = self.dag.op(condition) {
                    let values = self.inner(if holds { then } else { otherwise })?;
                    return results.iter().zip(values).try_for_each(|(result, value)| self.define(*result, value));
                }
                let (then, otherwise) = self.branches(condition, |s| s.inner(then), |s| s.inner(otherwise))?;
                for (result, (a, b)) in results.iter().zip(then.into_iter().zip(otherwise)) {
                    let value = self.dag.make(Op::Select(condition, a, b));
                    self.define(*result, value)?;
                }
                Ok(())
            }
            // Sums that some cells have and others have not are no matter of faces.
            KStmt::ReduceSides { reduction: FaceReduction::Sum, results, low, high, .. }
                if self.side.is_none() && self.face.is_none() && !self.conditional =>
            {
                self.sum(results, low, high)
            }
            KStmt::ReduceSides { reduction: FaceReduction::Sum, .. } | KStmt::ReduceFaces { .. } | KStmt::Add { .. } => {
                Err(Failure::Form(Refusal::NestedSum))
            }
            KStmt::ReduceSides { .. } => Err(Failure::Form(Refusal::ReductionOverFaces)),
        }
    }

    fn define(&mut self, local: LocalId, value: Node) -> Written<()> {
        let name = self.writer.kernel.locals.get(local.0 as usize).map_or("value", |local| local.name.as_str());
        self.dag.call(value, name);
        self.values.insert(local, value);
        Ok(())
    }

    fn sum(&mut self, results: &[LocalId], low: &SideBlocks, high: &SideBlocks) -> Written<()> {
        let (low, high) = match (&low.interior, &high.interior) {
            (Some(low), Some(high)) => (low, high),
            (None, None) => {
                let zero = self.dag.real(0.0);
                if has_terms(low, high) {
                    // On the boundary alone. Adding nothing is adding 0: a sum that begins with 0
                    // is never -0.
                    results.iter().for_each(|result| self.define_sum(*result, [zero; 3]));
                    return Ok(());
                }
                return results.iter().try_for_each(|result| self.define(*result, zero));
            }
            _ => return Err(Failure::Form(Refusal::UnequalTerms)),
        };
        let mut terms = vec![Vec::new(); results.len()];
        for axis in 0..3 {
            let (outer, known) = (self.side, self.writer.side_interior);
            self.writer.side_interior = Some(true);
            self.side = Some((End::Low, axis));
            let below = self.inner(low);
            self.side = Some((End::High, axis));
            let above = self.inner(high);
            (self.side, self.writer.side_interior) = (outer, known);
            let (below, above) = (below?, above?);
            if below != above {
                return Err(Failure::Form(Refusal::UnequalTerms));
            }
            terms.iter_mut().zip(below).for_each(|(terms, term)| terms.push(term));
        }
        for (result, terms) in results.iter().zip(terms) {
            self.define_sum(*result, <[Node; 3]>::try_from(terms).map_err(|_| Failure::Form(Refusal::UnequalTerms))?);
        }
        Ok(())
    }

    fn define_sum(&mut self, result: LocalId, terms: [Node; 3]) {
        let number = self.terms.len() as u32;
        self.terms.push(terms);
        self.sums.push(result);
        let sum = self.dag.make(Op::Sum(number));
        self.values.insert(result, sum);
    }

    /// Position of an entity, relative to the face in a side.
    fn at(&self, path: &Path) -> Written<At> {
        if let Some(face) = self.face {
            return match path {
                Path::Local(local) if *local == face => Ok(At::Face),
                Path::Local(local) => self.entities.get(local).copied().ok_or(Failure::Form(Refusal::ChosenEntity)),
                Path::First(of) if self.at(of)? == At::Face => Ok(At::First),
                Path::Second(of) if self.at(of)? == At::Face => Ok(At::Second),
                _ => Err(Failure::Form(Refusal::ChosenEntity)),
            };
        }
        match (self.writer.place(path).ok_or(Failure::Form(Refusal::ChosenEntity))?, self.side) {
            (StencilPoint::Here, None) => Ok(At::Here),
            (StencilPoint::Here, Some((End::High, _))) => Ok(At::First),
            (StencilPoint::Here, Some((End::Low, _))) => Ok(At::Second),
            (StencilPoint::Neighbour(end), Some((side, _))) if end == side => Ok(if end == End::Low { At::First } else { At::Second }),
            (StencilPoint::SideFace(end), Some((side, _))) if end == side => Ok(At::Face),
            (StencilPoint::Neighbour(_) | StencilPoint::SideFace(_), _) => Err(Failure::Form(Refusal::ChosenEntity)),
        }
    }

    fn expr(&mut self, expr: &KExpr) -> Written<Node> {
        if self.face.is_none()
            && let Some(asked) = asked_axis(expr)
        {
            let (_, axis) = self.side.ok_or(Failure::Form(Refusal::CellFact))?;
            return Ok(self.dag.make(Op::Bool(axis == asked)));
        }
        let op = match expr {
            KExpr::Real(number) => Op::Real(number.to_bits()),
            KExpr::Bool(value) => Op::Bool(*value),
            KExpr::Local(local) => return self.local(*local),
            KExpr::Param(id) => {
                let (param, _) = self.writer.param(*id)?;
                if !matches!(param.ty.basic, Basic::Scalar | Basic::Bool) {
                    return Err(Failure::Form(Refusal::Vector));
                }
                Op::Param(*id)
            }
            KExpr::Load { param, at } => return self.load(*param, at),
            KExpr::Measure(at) => match (self.writer.kind(at), self.face) {
                (Some(EntityKind::Cell), None) => Op::Volume,
                (Some(EntityKind::Face), _) if self.at(at)? == At::Face => Op::Area,
                _ => return Err(Failure::Form(Refusal::Geometry)),
            },
            KExpr::Component(vector, component) if self.face.is_some() => {
                let at = match &**vector {
                    KExpr::Normal(at) => Some(self.at(at)?),
                    KExpr::Local(local) => self.normals.get(local).copied(),
                    _ => None,
                };
                if at != Some(At::Face) {
                    return Err(Failure::Form(Refusal::Vector));
                }
                Op::Normal(*component)
            }
            KExpr::IsEmpty(at) => {
                self.at(at)?;
                Op::Bool(false)
            }
            KExpr::Same(a, b) => Op::Bool(self.at(a)? == self.at(b)?),
            KExpr::CellFact { .. } => return Err(Failure::Form(Refusal::CellFact)),
            KExpr::Member { set, at } => {
                let at = self.at(at)?;
                // A canonical set, such as the cells at the boundary, has many cells.
                if self.writer.module.sets.get(*set).canonical.is_some() || at != At::Here {
                    return Err(Failure::Form(Refusal::Subset));
                }
                Op::Member(*set, at)
            }
            KExpr::Unary(op, a) => match op {
                UnaryOp::Neg | UnaryOp::Not | UnaryOp::Abs | UnaryOp::Sqrt => Op::Unary(*op, self.expr(a)?),
                UnaryOp::Elementary(_) => Op::Unary(*op, self.function_of(a)?),
                UnaryOp::Length => return Err(Failure::Form(Refusal::Vector)),
            },
            KExpr::Arithmetic(op, a, b) => Op::Arithmetic(*op, self.expr(a)?, self.expr(b)?),
            KExpr::Compare(op, a, b) => Op::Compare(*op, self.expr(a)?, self.expr(b)?),
            KExpr::Logic(op, a, b) => Op::Logic(*op, self.expr(a)?, self.expr(b)?),
            KExpr::Math(op @ (BinaryMath::Min | BinaryMath::Max), a, b) => Op::Math(*op, self.expr(a)?, self.expr(b)?),
            KExpr::Select { condition, if_true, if_false } => {
                let condition = self.expr(condition)?;
                match self.dag.op(condition) {
                    Op::Bool(holds) => return self.expr(if holds { if_true } else { if_false }),
                    _ => {
                        let (if_true, if_false) = self.branches(condition, |s| s.expr(if_true), |s| s.expr(if_false))?;
                        Op::Select(condition, if_true, if_false)
                    }
                }
            }
            KExpr::Math(op @ (BinaryMath::Pow | BinaryMath::ATan2), a, b) => Op::Math(*op, self.function_of(a)?, self.function_of(b)?),
            KExpr::Interpolate { table, of, argument } => Op::Table(*table, *of, self.function_of(argument)?),
            KExpr::Centroid(_) | KExpr::FaceGap(_) | KExpr::FaceTransmissibility(_) | KExpr::Normal(_) => {
                return Err(Failure::Form(Refusal::Geometry));
            }
            KExpr::Component(..) | KExpr::Dot(..) | KExpr::Vector(_) | KExpr::ZeroVector => {
                return Err(Failure::Form(Refusal::Vector));
            }
            KExpr::Entity(_) => return Err(Failure::Form(Refusal::ChosenEntity)),
            KExpr::Displacement { .. } => return Err(Failure::Form(Refusal::Displacement)),
        };
        Ok(self.dag.make(op))
    }

    /// Both branches of a choice.
    fn branches<T>(
        &mut self,
        condition: Node,
        then: impl FnOnce(&mut Self) -> Written<T>,
        otherwise: impl FnOnce(&mut Self) -> Written<T>,
    ) -> Written<(T, T)> {
        let outer = (self.conditional, self.of_members);
        self.conditional = true;
        self.of_members |= matches!(self.dag.op(condition), Op::Member(..));
        let then = then(self);
        self.of_members = outer.1;
        let otherwise = otherwise(self);
        self.conditional = outer.0;
        Ok((then?, otherwise?))
    }

    /// The argument of a slow function, refused under a condition: a branch that is not taken would
    /// evaluate it, too.
    fn function_of(&mut self, argument: &KExpr) -> Written<Node> {
        if self.conditional && !self.of_members { Err(Failure::Form(Refusal::Function)) } else { self.expr(argument) }
    }

    /// A local; one from outside the side is a value of the cell that asks.
    fn local(&mut self, local: LocalId) -> Written<Node> {
        let node = self.values.get(&local).copied().ok_or(Failure::Form(Refusal::OtherElement))?;
        self.seen(node)
    }

    /// A value of the cell that asks, seen from the face if in a side.
    fn seen(&mut self, node: Node) -> Written<Node> {
        let Some((side, _)) = self.side else { return Ok(node) };
        if self.dag.reach(node) & reach::SUM != 0 {
            return Err(Failure::Form(Refusal::NestedSum));
        }
        Ok(self.dag.moved(node, At::Here, if side == End::High { At::First } else { At::Second }))
    }

    fn load(&mut self, id: ParamId, at: &Path) -> Written<Node> {
        let (param, _) = self.writer.param(id)?;
        let set = self.writer.set_of(id)?;
        if param.per_axis && self.face.is_none() {
            let op = match self.writer.module.sets.get(set).kind {
                EntityKind::Cell => Op::OfCells(id),
                EntityKind::Face if self.side.is_some() => Op::OfAxis(id),
                EntityKind::Face | EntityKind::Edge | EntityKind::Vertex => return Err(Failure::Form(Refusal::OtherElement)),
            };
            return Ok(self.dag.make(op));
        }
        let choice = match at {
            Path::Local(local) => self.choices.get(local).copied(),
            Path::Select { condition, if_true, if_false } => Some((self.expr(condition)?, self.at(if_true)?, self.at(if_false)?)),
            _ => None,
        };
        if let Some((condition, a, b)) = choice {
            let condition = self.seen(condition)?;
            let (a, b) = (self.element(id, a)?, self.element(id, b)?);
            return Ok(self.dag.make(Op::Select(condition, a, b)));
        }
        let at = self.at(at)?;
        self.element(id, at)
    }

    /// An element that consecutive faces or cells of a row find in consecutive positions.
    fn element(&mut self, id: ParamId, at: At) -> Written<Node> {
        let (param, _) = self.writer.param(id)?;
        let set = self.writer.set_of(id)?;
        let canonical: Option<CanonicalSet> = self.writer.module.sets.get(set).canonical;
        let fits = canonical.is_some_and(|set| match at {
            At::Here | At::First | At::Second => set.kind == EntityKind::Cell && set.extent == Extent::All,
            At::Face => set.kind == EntityKind::Face && set.extent != Extent::Boundary,
        });
        if !matches!(param.ty.basic, Basic::Scalar | Basic::Bool) {
            return Err(Failure::Form(Refusal::OtherElement));
        }
        if at == At::Here && canonical.is_none() {
            return Ok(self.dag.make(Op::OfSubset(id, at)));
        }
        if !fits {
            return Err(Failure::Form(Refusal::OtherElement));
        }
        Ok(self.dag.make(Op::Load(id, at)))
    }
}
