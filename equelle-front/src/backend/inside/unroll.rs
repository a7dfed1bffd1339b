//! The body of a kernel as it is for cells inside the grid.

use std::collections::{BTreeMap, HashMap};

use super::super::stencil::Skeleton;
use super::FaceAcross;
use super::values::{Number, Value, dot};
use crate::ir::visit::{Node, visit_block};
use crate::ir::{FaceFilter, KBlock, KExpr, KStmt, Kernel, Local, LocalId, ParamId, Path, UnaryOp};
use crate::ops::{Arithmetic, CellFact, FROM_GEOMETRY, FaceReduction, Logic, Offset};
use crate::passes::adds;
use crate::types::{Basic, EntityKind, Extent, SetId, SetTable, Type};

/// Bodies of more statements are better loops.
const MAX_STATEMENTS: usize = 2000;

/// Position of an entity.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Located {
    Cell(Offset),
    /// The face across an axis whose first cell is at an offset.
    Face(usize, Offset),
    /// One of two, by state.
    Chosen(Box<(KExpr, Located, Located)>),
}

pub(super) struct Unroller<'a> {
    kernel: &'a Kernel,
    sets: &'a SetTable,
    skeleton: &'a Skeleton,
    /// Number of dimensions; `None` where no sum over faces asks for it.
    pub(super) dim: Option<usize>,
    values: BTreeMap<LocalId, Value>,
    places: BTreeMap<LocalId, Located>,
    pub(super) locals: Vec<Local>,
    pub(super) faces: BTreeMap<LocalId, FaceAcross>,
    pub(super) reach: [[u8; 2]; 3],
    /// Values that have a name, by their text, of each block around.
    named: Vec<HashMap<String, LocalId>>,
    /// The product of the signs of the sums around is -1.
    is_negative: bool,
    /// Sums around.
    depth: usize,
    statements: usize,
}

impl<'a> Unroller<'a> {
    pub(super) fn new(kernel: &'a Kernel, sets: &'a SetTable, skeleton: &'a Skeleton, dim: Option<usize>) -> Self {
        Unroller {
            kernel,
            sets,
            skeleton,
            dim,
            values: BTreeMap::new(),
            places: BTreeMap::new(),
            locals: kernel.locals.clone(),
            faces: BTreeMap::new(),
            reach: [[0; 2]; 3],
            named: Vec::new(),
            is_negative: false,
            depth: 0,
            statements: 0,
        }
    }

    /// The whole body.
    pub(super) fn whole(&mut self, block: &KBlock) -> Option<KBlock> {
        let (statements, yields) = self.block(block)?;
        let mut numbers = Vec::new();
        for value in yields {
            match value {
                Value::Number(number) => numbers.push(number.expr()),
                Value::Vector(components) => numbers.extend(components.into_iter().take(self.dim?).map(Number::expr)),
                Value::Centroid(_) => return None,
            }
        }
        Some(KBlock { statements, yields: numbers })
    }

    /// A block under a condition, whose names are not known outside.
    fn block(&mut self, block: &KBlock) -> Option<(Vec<KStmt>, Vec<Value>)> {
        self.named.push(HashMap::new());
        let mut statements = Vec::new();
        let yields = self.statements(block, &mut statements);
        self.named.pop();
        Some((statements, yields?))
    }

    fn statements(&mut self, block: &KBlock, out: &mut Vec<KStmt>) -> Option<Vec<Value>> {
        for statement in &block.statements {
            self.statement(statement, out)?;
        }
        block.yields.iter().map(|value| self.value(value)).collect()
    }

    fn push(&mut self, statement: KStmt, out: &mut Vec<KStmt>) -> Option<()> {
        self.statements += 1;
        out.push(statement);
        (self.statements <= MAX_STATEMENTS).then_some(())
    }

    fn statement(&mut self, statement: &KStmt, out: &mut Vec<KStmt>) -> Option<()> {
        match statement {
            KStmt::Let { local, value } => {
                let value = self.value(value)?;
                self.define(*local, value, out)
            }
            KStmt::LetEntity { local, path } => {
                let place = self.place(path)?;
                self.places.insert(*local, place);
                Some(())
            }
            KStmt::Add { unknown, at, value } => {
                // A column that the state chooses is not the same for all cells.
                let Located::Cell(to) = self.place(at)? else { return None };
                // Elsewhere additions here come last, and only those of this path are such.
                if self.dim.is_none() && to == Offset::default() && *at != Path::Here {
                    return None;
                }
                let value = self.number(value)?;
                let value = if self.is_negative { value.negative() } else { value };
                let at = Path::Here.offset(to, Default::default());
                self.push(KStmt::Add { unknown: *unknown, at, value: value.expr() }, out)
            }
            KStmt::If { results, condition, then, otherwise } => self.choice(results, condition, [then, otherwise], out),
            KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body } => {
                if !extreme_faces.is_empty() {
                    return None;
                }
                self.sum((*reduction, *only), results, (cell, *face), body, out)
            }
            KStmt::ReduceSides { .. } => None,
        }
    }

    fn choice(&mut self, results: &[LocalId], condition: &KExpr, branches: [&KBlock; 2], out: &mut Vec<KStmt>) -> Option<()> {
        let condition_here = self.number(condition)?;
        if let Some(holds) = condition_here.known() {
            let yields = self.statements(branches[usize::from(!holds)], out)?;
            return results.iter().zip(yields).try_for_each(|(local, value)| self.define(*local, value, out));
        }
        // Rows of cells do not branch: sums of either branch stand before the choice, but those of
        // equations, whose derivatives may be infinite where the branch is not chosen.
        if self.kernel.jacobian.is_none() && branches.iter().any(|branch| sums(branch)) {
            let [a, b] = branches.map(|branch| self.statements(branch, out));
            for ((local, a), b) in results.iter().zip(a?).zip(b?) {
                let chosen = select(condition_here.clone().expr(), a, b)?;
                self.define(*local, chosen, out)?;
            }
            return Some(());
        }
        let ((then, of_then), (otherwise, of_otherwise)) = (self.block(branches[0])?, self.block(branches[1])?);
        let [mut then, mut otherwise] = [then, otherwise].map(|statements| KBlock { statements, yields: Vec::new() });
        // The pattern follows what the grid decides, from cell to cell.
        if self.skeleton.is_decided(condition) && (adds(&then) || adds(&otherwise)) {
            return None;
        }
        let mut assigned = Vec::new();
        for ((local, a), b) in results.iter().zip(of_then).zip(of_otherwise) {
            let name = self.locals[local.0 as usize].clone();
            match (a, b) {
                (Value::Number(a), Value::Number(b)) => {
                    let result = self.own_or_new(*local, name);
                    self.values.insert(*local, Value::expr(KExpr::Local(result)));
                    assigned.push(result);
                    then.yields.push(a.expr());
                    otherwise.yields.push(b.expr());
                }
                (Value::Vector(a), Value::Vector(b)) => {
                    let mut axes = "xyz".chars();
                    let components = a.into_iter().zip(b).map(|(a, b)| {
                        let name = format!("{}_{}", name.name, axes.next().unwrap_or('x'));
                        if a == b && matches!(a, Number::Zero | Number::One) {
                            return a;
                        }
                        let result = self.new_local(Local { name, ty: Type::single(Basic::Scalar) });
                        assigned.push(result);
                        then.yields.push(a.expr());
                        otherwise.yields.push(b.expr());
                        Number::Expr(KExpr::Local(result))
                    });
                    let components: Vec<Number> = components.collect();
                    self.values.insert(*local, Value::Vector(components.try_into().ok()?));
                }
                (Value::Number(_) | Value::Vector(_) | Value::Centroid(_), _) => return None,
            }
        }
        self.push(KStmt::If { results: assigned, condition: condition_here.expr(), then, otherwise }, out)
    }

    /// A sum or an extreme over the faces of a cell, in ascending order: along each axis the low
    /// side, then the high side.
    fn sum(
        &mut self,
        (reduction, only): (FaceReduction, FaceFilter),
        results: &[LocalId],
        (cell, face): (&Path, LocalId),
        body: &KBlock,
        out: &mut Vec<KStmt>,
    ) -> Option<()> {
        let dim = self.dim?;
        let Located::Cell(cell) = self.place(cell)? else { return None };
        let is_vector = |local: &LocalId| self.locals[local.0 as usize].ty.basic == Basic::Vector;
        let start = |local| match is_vector(local) {
            true => Value::Vector([Number::Zero, Number::Zero, Number::Zero]),
            false => Value::expr(KExpr::Real(reduction.start())),
        };
        let mut sums: Vec<Value> = results.iter().map(start).collect();
        self.depth += 1;
        for (axis, is_outward) in (0..dim).flat_map(|axis| [(axis, false), (axis, true)]) {
            let mut beyond = cell;
            beyond[axis] = cell[axis].checked_add(if is_outward { 1 } else { -1 })?;
            self.reaches(beyond);
            if only == FaceFilter::Boundary {
                continue;
            }
            self.places.insert(face, Located::Face(axis, if is_outward { cell } else { beyond }));
            let outer = self.is_negative;
            self.is_negative = outer ^ !is_outward;
            let terms = self.statements(body, out);
            self.is_negative = outer;
            for (sum, term) in sums.iter_mut().zip(terms?) {
                *sum = taken_in(reduction, is_outward, sum.clone(), term)?;
            }
        }
        self.depth -= 1;
        results.iter().zip(sums).try_for_each(|(local, sum)| self.define(*local, sum, out))
    }

    /// Makes a value that of a local, under a name if it is more than a name.
    fn define(&mut self, local: LocalId, value: Value, out: &mut Vec<KStmt>) -> Option<()> {
        let info = self.locals[local.0 as usize].clone();
        let value = match value {
            Value::Number(number) => Value::Number(self.named(local, info, number, out)?),
            Value::Vector(components) => {
                let mut named = Vec::new();
                for (component, axis) in components.into_iter().zip(["x", "y", "z"]) {
                    let info = Local { name: format!("{}_{axis}", info.name), ty: Type::single(Basic::Scalar) };
                    let new = if matches!(component, Number::Expr(_)) { self.new_local(info.clone()) } else { local };
                    named.push(self.named(new, info, component, out)?);
                }
                Value::Vector(named.try_into().ok()?)
            }
            place @ Value::Centroid(_) => place,
        };
        self.values.insert(local, value);
        Some(())
    }

    fn named(&mut self, local: LocalId, info: Local, number: Number, out: &mut Vec<KStmt>) -> Option<Number> {
        let expr = match number {
            Number::Expr(expr) => expr,
            number => return Some(number),
        };
        let is_plain = matches!(expr, KExpr::Real(_) | KExpr::Local(_) | KExpr::Param(_)) && self.dim.is_some();
        if is_plain || matches!(expr, KExpr::Bool(_)) {
            return Some(Number::Expr(expr));
        }
        // Neighbours of one cell share cells and faces.
        let text = self.dim.map(|_| format!("{expr:?}"));
        if let Some(known) = text.as_ref().and_then(|text| self.named.iter().rev().find_map(|named| named.get(text))) {
            return Some(Number::Expr(KExpr::Local(*known)));
        }
        let local = self.own_or_new(local, info);
        self.push(KStmt::Let { local, value: expr }, out)?;
        if let (Some(text), Some(named)) = (text, self.named.last_mut()) {
            named.insert(text, local);
        }
        Some(Number::Expr(KExpr::Local(local)))
    }

    /// The local that is assigned for one of the body: in a sum there is one for each term.
    fn own_or_new(&mut self, local: LocalId, info: Local) -> LocalId {
        if self.depth == 0 { local } else { self.new_local(info) }
    }

    fn new_local(&mut self, local: Local) -> LocalId {
        self.locals.push(local);
        LocalId(self.locals.len() as u32 - 1)
    }

    fn number(&mut self, expr: &KExpr) -> Option<Number> {
        self.value(expr)?.number()
    }

    fn vector(&mut self, expr: &KExpr) -> Option<[Number; 3]> {
        match self.value(expr)? {
            Value::Vector(vector) => Some(vector),
            Value::Centroid(place) => self.position(place),
            Value::Number(_) => None,
        }
    }

    /// The centroid of a cell.
    fn position(&self, half_widths: [i32; 3]) -> Option<[Number; 3]> {
        let dim = self.dim?;
        if half_widths.iter().any(|half_widths| half_widths % 2 != 0) {
            return None;
        }
        let mut to = Offset::default();
        for (to, half_widths) in to.iter_mut().zip(half_widths) {
            *to = i8::try_from(half_widths / 2).ok()?;
        }
        let centroid = KExpr::Centroid(Path::Here.offset(to, Default::default()));
        let component = |axis: usize| Number::Expr(KExpr::Component(Box::new(centroid.clone()), axis as u32));
        Some(std::array::from_fn(|axis| if axis < dim { component(axis) } else { Number::Zero }))
    }

    fn value(&mut self, expr: &KExpr) -> Option<Value> {
        Some(match expr {
            KExpr::Real(_) | KExpr::Bool(_) => Value::expr(expr.clone()),
            KExpr::Param(id) => match self.kernel.params.get(id.0 as usize)?.ty.basic {
                Basic::Vector => {
                    let dim = self.dim?;
                    let component = |axis: usize| KExpr::Component(Box::new(expr.clone()), axis as u32);
                    Value::Vector(std::array::from_fn(|axis| if axis < dim { Number::Expr(component(axis)) } else { Number::Zero }))
                }
                Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => Value::expr(expr.clone()),
            },
            KExpr::ZeroVector => Value::Vector([Number::Zero, Number::Zero, Number::Zero]),
            KExpr::Local(id) => self.values.get(id).cloned()?,
            KExpr::Load { param, at } => {
                let place = self.place(at)?;
                self.load(*param, &place)?
            }
            KExpr::CellFact { fact, at } => {
                let Located::Cell(mut to) = self.place(at)? else { return None };
                Value::expr(match fact {
                    CellFact::Outside { axis, by } => {
                        let axis = usize::from(*axis);
                        to[axis] = to[axis].checked_add(*by)?;
                        self.reaches(to);
                        KExpr::Bool(false)
                    }
                    CellFact::Index(_) | CellFact::Even(_) => {
                        KExpr::CellFact { fact: *fact, at: Path::Here.offset(to, Default::default()) }
                    }
                })
            }
            KExpr::Measure(at) => Value::expr(KExpr::Measure(match self.place(at)? {
                Located::Cell(to) => Path::Here.offset(to, Default::default()),
                Located::Face(axis, _) => Path::Local(self.face_across(axis)),
                Located::Chosen(_) => return None,
            })),
            KExpr::Centroid(at) => Value::Centroid(match self.place(at)? {
                Located::Cell(to) => to.map(|by| 2 * i32::from(by)),
                Located::Face(axis, first) => {
                    let mut place = first.map(|by| 2 * i32::from(by));
                    place[axis] += 1;
                    place
                }
                Located::Chosen(_) => return None,
            }),
            // Both sides of a face are one here.
            KExpr::FaceGap(_) => Value::Vector(std::array::from_fn(|_| Number::Zero)),
            KExpr::FaceTransmissibility(_) => Value::Number(Number::Expr(KExpr::Real(FROM_GEOMETRY))),
            KExpr::Normal(at) => {
                let Located::Face(along, _) = self.place(at)? else { return None };
                Value::Vector(std::array::from_fn(|axis| if axis == along { Number::One } else { Number::Zero }))
            }
            KExpr::IsEmpty(at) => {
                // Every entity on the way exists inside.
                self.place(at)?;
                Value::expr(KExpr::Bool(false))
            }
            KExpr::Member { set, at } => {
                let place = self.place(at)?;
                Value::expr(KExpr::Bool(self.is_member(*set, &place)?))
            }
            KExpr::Same(a, b) => {
                let (a, b) = (self.place(a)?, self.place(b)?);
                if matches!((&a, &b), (Located::Chosen(_), _) | (_, Located::Chosen(_))) {
                    return None;
                }
                Value::expr(KExpr::Bool(a == b))
            }
            KExpr::Unary(op, a) => self.unary(*op, a)?,
            KExpr::Arithmetic(op, a, b) => self.arithmetic(*op, a, b)?,
            KExpr::Logic(logic, a, b) => Value::Number(self.logic(*logic, a, b)?),
            KExpr::Select { condition, if_true, if_false } => {
                let condition = self.number(condition)?;
                if let Some(holds) = condition.known() {
                    return self.value(if holds { if_true } else { if_false });
                }
                select(condition.expr(), self.value(if_true)?, self.value(if_false)?)?
            }
            KExpr::Component(vector, axis) => {
                let (vector, axis) = (self.vector(vector)?, *axis as usize);
                // Whoever launches the kernel has checked the dimension.
                let is_there = self.dim.is_none_or(|dim| axis < dim);
                Value::Number(vector.get(axis).filter(|_| is_there).cloned().unwrap_or(Number::Zero))
            }
            KExpr::Dot(a, b) => {
                let (a, b) = (self.vector(a)?, self.vector(b)?);
                Value::Number(dot(&a, &b, self.dim?))
            }
            KExpr::Vector(components) => {
                let mut vector = [Number::Zero, Number::Zero, Number::Zero];
                for (component, expr) in vector.iter_mut().zip(components) {
                    *component = self.number(expr)?;
                }
                Value::Vector(vector)
            }
            KExpr::Compare(op, a, b) => {
                let (a, b) = (self.number(a)?.expr(), self.number(b)?.expr());
                Value::expr(match (&a, &b) {
                    (KExpr::Real(a), KExpr::Real(b)) => KExpr::Bool(op.holds(a, b)),
                    _ => KExpr::Compare(*op, Box::new(a), Box::new(b)),
                })
            }
            KExpr::Math(op, a, b) => {
                let (a, b) = (self.number(a)?.expr(), self.number(b)?.expr());
                Value::expr(KExpr::Math(*op, Box::new(a), Box::new(b)))
            }
            KExpr::Interpolate { table, of, argument } => {
                let argument = Box::new(self.number(argument)?.expr());
                Value::expr(KExpr::Interpolate { table: *table, of: *of, argument })
            }
            KExpr::Entity(_) | KExpr::Displacement { .. } => return None,
        })
    }

    fn unary(&mut self, op: UnaryOp, a: &KExpr) -> Option<Value> {
        Some(match (op, self.value(a)?) {
            (UnaryOp::Neg, Value::Vector(a)) => Value::Vector(a.map(Number::negative)),
            (UnaryOp::Neg, Value::Number(a)) if self.dim.is_some() => Value::Number(a.negative()),
            (UnaryOp::Length, Value::Vector(a)) => Value::expr(KExpr::Unary(UnaryOp::Sqrt, Box::new(dot(&a, &a, self.dim?).expr()))),
            (UnaryOp::Not, Value::Number(a)) => Value::expr(match a.known() {
                Some(known) => KExpr::Bool(!known),
                None => KExpr::Unary(UnaryOp::Not, Box::new(a.expr())),
            }),
            (op, Value::Number(a)) => Value::expr(KExpr::Unary(op, Box::new(a.expr()))),
            (_, Value::Vector(_) | Value::Centroid(_)) => return None,
        })
    }

    fn arithmetic(&mut self, op: Arithmetic, a: &KExpr, b: &KExpr) -> Option<Value> {
        let each = |a: [Number; 3], f: &dyn Fn(usize, Number) -> Number| {
            let components: Vec<Number> = a.into_iter().enumerate().map(|(axis, a)| f(axis, a)).collect();
            components.try_into().ok().map(Value::Vector)
        };
        match (self.value(a)?, self.value(b)?) {
            (Value::Number(a), Value::Number(b)) => Some(Value::Number(Number::arithmetic(op, a, b))),
            (Value::Vector(a), Value::Vector(b)) => each(a, &|axis, a| Number::arithmetic(op, a, b[axis].clone())),
            (Value::Vector(a), Value::Number(b)) => each(a, &|_, a| Number::arithmetic(op, a, b.clone())),
            (Value::Number(a), Value::Vector(b)) => each(b, &|_, b| Number::arithmetic(op, a.clone(), b)),
            (Value::Centroid(to), Value::Centroid(from)) if op == Arithmetic::Sub => {
                let displacement = (0..3).map(|axis| self.displacement(axis, to[axis] - from[axis]));
                displacement.collect::<Vec<_>>().try_into().ok().map(Value::Vector)
            }
            (centroid @ Value::Centroid(_), Value::Vector(gap))
                if op == Arithmetic::Add && gap.iter().all(|gap| matches!(gap, Number::Zero)) =>
            {
                Some(centroid)
            }
            (Value::Centroid(_), _) | (_, Value::Centroid(_)) => None,
        }
    }

    /// Half widths along an axis.
    fn displacement(&mut self, axis: usize, half_widths: i32) -> Number {
        if half_widths == 0 {
            return Number::Zero;
        }
        let face = self.face_across(axis);
        let [first, second] = [Path::First, Path::Second].map(|end| Box::new(end(Box::new(Path::Local(face)))));
        let width = KExpr::Component(Box::new(KExpr::Displacement { to: second, from: first, is_stored: false }), axis as u32);
        if half_widths == 2 {
            return Number::Expr(width);
        }
        let widths = Box::new(KExpr::Real(f64::from(half_widths) * 0.5));
        Number::Expr(KExpr::Arithmetic(Arithmetic::Mul, widths, Box::new(width)))
    }

    fn logic(&mut self, logic: Logic, a: &KExpr, b: &KExpr) -> Option<Number> {
        let (a, b) = (self.number(a)?, self.number(b)?);
        let known = |known| Number::Expr(KExpr::Bool(known));
        Some(match (logic, a.known(), b.known()) {
            (Logic::And, Some(false), _) | (Logic::And, _, Some(false)) => known(false),
            (Logic::Or, Some(true), _) | (Logic::Or, _, Some(true)) => known(true),
            (Logic::Xor, Some(a), Some(b)) => known(a != b),
            (Logic::And, Some(true), _) | (Logic::Or | Logic::Xor, Some(false), _) => b,
            (Logic::And, _, Some(true)) | (Logic::Or | Logic::Xor, _, Some(false)) => a,
            (Logic::And | Logic::Or | Logic::Xor, _, _) => Number::Expr(KExpr::Logic(logic, Box::new(a.expr()), Box::new(b.expr()))),
        })
    }

    /// An element of a collection.
    fn load(&mut self, param: ParamId, place: &Located) -> Option<Value> {
        let element = self.element(param, place)?;
        match self.kernel.params.get(param.0 as usize)?.ty.basic {
            Basic::Scalar | Basic::Bool => Some(Value::expr(element)),
            Basic::Vector if matches!(place, Located::Cell(_)) && self.kernel.jacobian.is_none() => {
                let dim = self.dim?;
                let component = |axis| if axis < dim { Number::Expr(component_of(element.clone(), axis as u32)) } else { Number::Zero };
                Some(Value::Vector(std::array::from_fn(component)))
            }
            Basic::Vector | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => None,
        }
    }

    fn element(&mut self, param: ParamId, place: &Located) -> Option<KExpr> {
        let info = self.kernel.params.get(param.0 as usize)?;
        let set = info.ty.mapping()?;
        let held = self.sets.get(set);
        let is_of_all = held.canonical.is_some_and(|set| set.extent == Extent::All);
        match (place, held.kind) {
            (Located::Cell(to), EntityKind::Cell) if is_of_all => {
                Some(KExpr::Load { param, at: Path::Here.offset(*to, Default::default()) })
            }
            (Located::Face(axis, _), EntityKind::Face) if info.per_axis => {
                Some(KExpr::Load { param, at: Path::Local(self.face_across(*axis)) })
            }
            // Faces inside are in all canonical sets but the boundary.
            (Located::Face(axis, first), EntityKind::Face) if held.canonical.is_some_and(|set| set.extent != Extent::Boundary) => {
                Some(KExpr::Load { param, at: Path::Local(self.face(FaceAcross { axis: *axis, first: Some(*first) })) })
            }
            (Located::Chosen(chosen), _) => {
                let (condition, a, b) = &**chosen;
                let (if_true, if_false) = (Box::new(self.element(param, a)?), Box::new(self.element(param, b)?));
                Some(KExpr::Select { condition: Box::new(condition.clone()), if_true, if_false })
            }
            (Located::Cell(_) | Located::Face(..), _) => None,
        }
    }

    /// Membership in a set that the grid alone decides.
    fn is_member(&mut self, set: SetId, place: &Located) -> Option<bool> {
        let set = self.sets.get(set).canonical?;
        match (place, set.kind) {
            (Located::Face(..), EntityKind::Face) => {}
            (Located::Cell(to), EntityKind::Cell) => {
                if set.extent != Extent::All {
                    // A cell whose neighbours exist is none at the boundary.
                    for (axis, by) in (0..self.dim?).flat_map(|axis| [(axis, -1), (axis, 1)]) {
                        let mut beyond = *to;
                        beyond[axis] = to[axis].checked_add(by)?;
                        self.reaches(beyond);
                    }
                }
            }
            _ => return None,
        }
        Some(set.extent != Extent::Boundary)
    }

    /// End of a path, if it is the same from all cells inside, or one of two chosen by state.
    fn place(&mut self, path: &Path) -> Option<Located> {
        match path {
            Path::Here => Some(Located::Cell(Offset::default())),
            Path::Local(id) => self.places.get(id).cloned(),
            Path::First(face) => {
                let Located::Face(_, first) = self.place(face)? else { return None };
                Some(Located::Cell(first))
            }
            Path::Second(face) => {
                let Located::Face(axis, mut cell) = self.place(face)? else { return None };
                cell[axis] = cell[axis].checked_add(1)?;
                Some(Located::Cell(cell))
            }
            Path::Offset { from, by, .. } => {
                let Located::Cell(mut to) = self.place(from)? else { return None };
                for axis in (0..3).filter(|&axis| by[axis] != 0) {
                    to[axis] = to[axis].checked_add(by[axis])?;
                    self.reaches(std::array::from_fn(|other| if other == axis { to[axis] } else { 0 }));
                }
                Some(Located::Cell(to))
            }
            Path::Select { condition, if_true, if_false } if self.dim.is_some() => {
                let condition = self.number(condition)?;
                if let Some(holds) = condition.known() {
                    return self.place(if holds { if_true } else { if_false });
                }
                Some(Located::Chosen(Box::new((condition.expr(), self.place(if_true)?, self.place(if_false)?))))
            }
            Path::Select { .. } | Path::Through { .. } | Path::SideFace(_) | Path::Shift { .. } | Path::Empty => None,
        }
    }

    /// The local that stands for the faces across an axis.
    fn face_across(&mut self, axis: usize) -> LocalId {
        self.face(FaceAcross { axis, first: None })
    }

    /// The local that stands for a face.
    fn face(&mut self, face: FaceAcross) -> LocalId {
        if let Some((local, _)) = self.faces.iter().find(|(_, known)| **known == face) {
            return *local;
        }
        let ty = Type::single(Basic::Entity(EntityKind::Face));
        let name = format!("face_{}", ["x", "y", "z"][face.axis]);
        let local = self.new_local(Local { name, ty });
        self.faces.insert(local, face);
        local
    }

    fn reaches(&mut self, to: Offset) {
        for (by, [low, high]) in to.into_iter().zip(&mut self.reach) {
            let side = if by < 0 { low } else { high };
            *side = (*side).max(by.unsigned_abs());
        }
    }
}

/// True if a block has sums over faces.
fn sums(block: &KBlock) -> bool {
    let mut found = false;
    visit_block(block, &mut |node| found |= matches!(node, Node::Stmt(KStmt::ReduceFaces { .. })));
    found
}

/// A component of an element that is a Vector.
fn component_of(element: KExpr, axis: u32) -> KExpr {
    match element {
        KExpr::Select { condition, if_true, if_false } => {
            KExpr::Select { condition, if_true: Box::new(component_of(*if_true, axis)), if_false: Box::new(component_of(*if_false, axis)) }
        }
        element => KExpr::Component(Box::new(element), axis),
    }
}

fn select(condition: KExpr, a: Value, b: Value) -> Option<Value> {
    let select = |condition: KExpr, a: Number, b: Number| match (a, b) {
        (Number::Zero, Number::Zero) => Number::Zero,
        (a, b) => {
            let (if_true, if_false) = (Box::new(a.expr()), Box::new(b.expr()));
            Number::Expr(KExpr::Select { condition: Box::new(condition), if_true, if_false })
        }
    };
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Some(Value::Number(select(condition, a, b))),
        (Value::Vector(a), Value::Vector(b)) => {
            let components: Vec<Number> = a.into_iter().zip(b).map(|(a, b)| select(condition.clone(), a, b)).collect();
            components.try_into().ok().map(Value::Vector)
        }
        (Value::Number(_) | Value::Vector(_) | Value::Centroid(_), _) => None,
    }
}

/// A reduction with the term of one more face.
fn taken_in(reduction: FaceReduction, is_outward: bool, sum: Value, term: Value) -> Option<Value> {
    let op = if is_outward { Arithmetic::Add } else { Arithmetic::Sub };
    match (reduction.extreme(), sum, term) {
        (None, Value::Number(sum), Value::Number(term)) => Some(Value::Number(Number::arithmetic(op, sum, term))),
        (None, Value::Vector(sum), Value::Vector(term)) => {
            let sums: Vec<Number> = sum.into_iter().zip(term).map(|(sum, term)| Number::arithmetic(op, sum, term)).collect();
            sums.try_into().ok().map(Value::Vector)
        }
        (Some(extreme), Value::Number(value), Value::Number(term)) => {
            Some(Value::expr(KExpr::Math(extreme, Box::new(value.expr()), Box::new(term.expr()))))
        }
        (_, Value::Number(_) | Value::Vector(_) | Value::Centroid(_), _) => None,
    }
}
