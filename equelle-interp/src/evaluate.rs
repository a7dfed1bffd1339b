//! Evaluation of a kernel at one element.

use std::collections::BTreeMap;

use equelle_front::ir::{FaceFilter, KBlock, KExpr, KStmt, Kernel, LocalId, Module, Param, ParamId, Path, Precision, Side, UnaryOp};
use equelle_front::ops::{Arithmetic, CellFact, FaceReduction};
use equelle_front::types::{Basic, EntityKind, SetId, SetTable};
use equelle_runtime::grid::{Cartesian, Grid, NONE};
use equelle_runtime::{Binary, Error, ErrorKind, Unary};

use crate::arithmetic;
use crate::operand::{Bound, Members, Number};
use crate::value::{self, defect, entity_kind, logic};

/// A local.
#[derive(Clone, Copy)]
enum Slot {
    Unassigned,
    Number(Number),
    Entity(Option<u32>),
}

/// Evaluates a kernel.
pub(crate) struct Evaluator<'a> {
    pub kernel: &'a Kernel,
    pub grid: &'a Grid,
    /// For Cartesian forms: geometry from the shape alone.
    pub shape: Option<Cartesian>,
    /// Axis of the side block being evaluated.
    pub axis: Option<usize>,
    pub here: Option<u32>,
    /// Precision in which the kernel computes.
    pub precision: Precision,
    /// Derivatives added at this element: by unknown and rank of the element of it.
    pub row: BTreeMap<(ParamId, usize), f64>,
    /// True if additions only mark where they go.
    structural: bool,
    /// Product of the signs of the sums being evaluated.
    sign: f64,
    sets: &'a SetTable,
    params: &'a [Bound],
    members: &'a BTreeMap<SetId, Members>,
    locals: Vec<Slot>,
}

impl<'a> Evaluator<'a> {
    pub fn new(
        module: &'a Module,
        kernel: &'a Kernel,
        params: &'a [Bound],
        members: &'a BTreeMap<SetId, Members>,
        grid: &'a Grid,
        shape: Option<Cartesian>,
    ) -> Self {
        let locals = vec![Slot::Unassigned; kernel.locals.len()];
        Evaluator {
            kernel,
            grid,
            shape,
            axis: None,
            here: None,
            precision: kernel.computes_in(module.numbers),
            row: BTreeMap::new(),
            structural: false,
            sign: 1.0,
            sets: &module.sets,
            params,
            members,
            locals,
        }
    }

    /// Yields of a body at an element.
    pub fn block(&mut self, block: &KBlock, here: Option<u32>) -> Result<Vec<Number>, Error> {
        self.here = here;
        self.locals.fill(Slot::Unassigned);
        self.row.clear();
        self.sign = 1.0;
        self.inner(block)
    }

    /// Adds zeros to the row where the element's derivatives are whatever the state, from the
    /// skeleton of the block evaluated last: so the pattern is that of compiled programs.
    pub fn structure(&mut self, skeleton: &KBlock) -> Result<(), Error> {
        self.structural = true;
        let evaluated = self.inner(skeleton);
        self.structural = false;
        evaluated.map(|_| ())
    }

    /// A condition at an element.
    pub fn condition(&mut self, condition: &KExpr, here: Option<u32>) -> Result<bool, Error> {
        self.here = here;
        self.expr(condition)?.bool()
    }

    fn inner(&mut self, block: &KBlock) -> Result<Vec<Number>, Error> {
        for stmt in &block.statements {
            self.statement(stmt)?;
        }
        block.yields.iter().map(|e| self.expr(e)).collect()
    }

    fn set_numbers(&mut self, locals: &[LocalId], values: impl IntoIterator<Item = Number>) {
        for (local, value) in locals.iter().zip(values) {
            self.locals[local.0 as usize] = Slot::Number(value);
        }
    }

    fn set_entities(&mut self, locals: &[LocalId], entities: Vec<Option<u32>>) {
        for (local, entity) in locals.iter().zip(entities) {
            self.locals[local.0 as usize] = Slot::Entity(entity);
        }
    }

    fn statement(&mut self, stmt: &KStmt) -> Result<(), Error> {
        match stmt {
            KStmt::Let { local, value } => {
                let value = self.expr(value)?;
                self.locals[local.0 as usize] = Slot::Number(value);
            }
            KStmt::LetEntity { local, path } => {
                let entity = self.path(path)?;
                self.locals[local.0 as usize] = Slot::Entity(entity);
            }
            KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body } => {
                let cell = self.entity(cell, "the faces of a cell")?;
                let topology = self.grid.topology();
                let (mut sums, mut found) = (self.starts(*reduction, results), vec![None; extreme_faces.len()]);
                for &f in topology.faces_of(cell as usize) {
                    let wanted = match only {
                        FaceFilter::All => true,
                        FaceFilter::Interior => !topology.is_boundary_face(f as usize),
                        FaceFilter::Boundary => topology.is_boundary_face(f as usize),
                    };
                    if wanted {
                        self.locals[face.0 as usize] = Slot::Entity(Some(f));
                        let outward = topology.face_cells[f as usize][0] == cell;
                        self.take_in(*reduction, (&mut sums, &mut found), body, (f, outward))?;
                    }
                }
                self.set_numbers(results, sums);
                self.set_entities(extreme_faces, found);
            }
            KStmt::ReduceSides { reduction, results, extreme_faces, low, high } => {
                let shape = self.shape.ok_or_else(|| defect("a sum over sides needs a Cartesian grid"))?;
                let cell = self.entity(&Path::Here, "the sides of a cell")? as usize;
                let (mut sums, mut found) = (self.starts(*reduction, results), vec![None; extreme_faces.len()]);
                for axis in 0..shape.dim {
                    self.axis = Some(axis);
                    let at = shape.cell_ijk(cell)[axis];
                    for (blocks, outward) in [(low, false), (high, true)] {
                        let block = if shape.is_boundary_side(axis, at, outward) { &blocks.boundary } else { &blocks.interior };
                        if let Some(block) = block {
                            let face = shape.cell_face(cell, axis, outward) as u32;
                            self.take_in(*reduction, (&mut sums, &mut found), block, (face, outward))?;
                        }
                    }
                }
                self.axis = None;
                self.set_numbers(results, sums);
                self.set_entities(extreme_faces, found);
            }
            // The column that a branch not chosen adds to may not exist.
            KStmt::Add { unknown, at, .. } if self.structural => {
                if let Ok(column) = self.rank(*unknown, at) {
                    self.row.entry((*unknown, column)).or_insert(0.0);
                }
            }
            KStmt::Add { unknown, at, value } => {
                let column = self.rank(*unknown, at)?;
                let value = self.expr(value)?.real()?;
                let sum = self.row.get(&(*unknown, column)).copied().unwrap_or(0.0);
                let sum = self.binary(Binary::Add, sum, self.sign * value);
                self.row.insert((*unknown, column), sum);
            }
            KStmt::If { results, condition, then, otherwise } => {
                let taken = if self.expr(condition)?.bool()? { then } else { otherwise };
                let values = self.inner(taken)?;
                self.set_numbers(results, values);
            }
        }
        Ok(())
    }

    /// Start values of reductions.
    fn starts(&self, reduction: FaceReduction, results: &[LocalId]) -> Vec<Number> {
        let is_vector = |local: &LocalId| self.kernel.local_type(*local).is_some_and(|ty| ty.basic == Basic::Vector);
        let start = |local| if is_vector(local) { Number::Vector([0.0; 3]) } else { Number::Real(reduction.start()) };
        results.iter().map(start).collect()
    }

    /// Takes the terms of one face into reductions: in sums with the sign of its orientation, into
    /// extremes with the face where it is asked for.
    fn take_in(
        &mut self,
        reduction: FaceReduction,
        (results, faces): (&mut [Number], &mut [Option<u32>]),
        body: &KBlock,
        (face, outward): (u32, bool),
    ) -> Result<(), Error> {
        let outer = self.sign;
        self.sign = if outward { outer } else { -outer };
        let terms = self.inner(body)?;
        self.sign = outer;
        let add = if outward { Binary::Add } else { Binary::Sub };
        for (i, (result, term)) in results.iter_mut().zip(terms).enumerate() {
            *result = match (reduction.extreme(), &*result, term) {
                (None, Number::Vector(sum), Number::Vector(term)) => {
                    Number::Vector(std::array::from_fn(|i| self.binary(add, sum[i], term[i])))
                }
                (None, sum, term) => Number::Real(self.binary(add, sum.real()?, term.real()?)),
                (Some(extreme), result, term) => {
                    let (result, term) = (result.real()?, term.real()?);
                    if let Some(found) = faces.get_mut(i)
                        && reduction.replaces(result, term)
                    {
                        *found = Some(face);
                    }
                    Number::Real(extreme.of(result, term))
                }
            }
        }
        Ok(())
    }

    /// The entity at the end of a path, or Empty.
    pub fn path(&mut self, path: &Path) -> Result<Option<u32>, Error> {
        match path {
            Path::Here => Ok(self.here),
            Path::Local(id) => match self.locals[id.0 as usize] {
                Slot::Entity(entity) => Ok(entity),
                Slot::Unassigned | Slot::Number(_) => Err(defect("a local holds no entity")),
            },
            Path::First(face) | Path::Second(face) => {
                let side = usize::from(matches!(path, Path::Second(_)));
                let face = self.entity(face, "the cells of a face")?;
                let cell = self.grid.topology().face_cells[face as usize][side];
                Ok((cell != NONE).then_some(cell))
            }
            Path::Through { param, at } => {
                let rank = self.rank(*param, at)?;
                match &self.params[param.0 as usize] {
                    Bound::Entities(entities) => Ok(entities[rank]),
                    Bound::Single(_) | Bound::Scalars(_) | Bound::Vectors(_) | Bound::Bools(_) | Bound::Table(_) | Bound::Domain => {
                        Err(defect("a parameter holds no entities"))
                    }
                }
            }
            Path::Select { condition, if_true, if_false } => {
                if self.expr(condition)?.bool()? {
                    self.path(if_true)
                } else {
                    self.path(if_false)
                }
            }
            Path::SideFace(side) => self.side_face(*side).map(Some),
            Path::Shift { from, by } => self.shifted(from, *by).map(Some),
            Path::Offset { from, by, beyond } => {
                let from = self.entity(from, "a neighbour")?;
                let shape = self.grid.cartesian_shape().ok_or_else(|| defect("an offset needs a Cartesian grid"))?;
                Ok(Some(shape.offset_cell(from, *by, *beyond)))
            }
            Path::Empty => Ok(None),
        }
    }

    /// The entity at the end of a path that must not be Empty.
    pub fn entity(&mut self, path: &Path, what: &str) -> Result<u32, Error> {
        match self.path(path)? {
            Some(entity) => Ok(entity),
            None => Err(self.at_here(format!("{what} is needed at an Empty element"))),
        }
    }

    /// An error that names the element.
    fn at_here(&self, what: String) -> Error {
        let kind = self.kernel.space_kind(self.sets);
        let element = self.here.zip(kind).map(|(here, kind)| self.grid.file_index(entity_kind(kind), here));
        let place = match (element, kind) {
            (Some(here), Some(kind)) => format!(" (evaluating {} at {} {here})", self.kernel.name, kind.name().to_lowercase()),
            _ => format!(" (evaluating {})", self.kernel.name),
        };
        Error { element, ..Error::new(ErrorKind::Simulation, what + &place) }
    }

    fn param(&self, id: ParamId) -> Result<&'a Param, Error> {
        self.kernel.params.get(id.0 as usize).ok_or_else(|| defect("there is no such parameter"))
    }

    /// Position of an entity in the set of a parameter.
    fn rank(&mut self, param: ParamId, at: &Path) -> Result<usize, Error> {
        let param = self.param(param)?;
        let entity = self.entity(at, &format!("`{}`", param.name))?;
        let set = param.ty.mapping().ok_or_else(|| defect("a parameter is no collection"))?;
        let members = self.members.get(&set).ok_or_else(|| defect("a set has no elements in this grid"))?;
        members.rank(entity).ok_or_else(|| {
            let held = self.sets.get(set);
            let entity = self.grid.file_index(entity_kind(held.kind), entity);
            self.at_here(format!("`{}` is on {}, which does not hold {} {entity}", param.name, held.name, held.kind.name().to_lowercase()))
        })
    }

    /// Evaluates an expression.
    pub fn expr(&mut self, expr: &KExpr) -> Result<Number, Error> {
        Ok(match expr {
            KExpr::Real(x) => self.entering(Number::Real(*x)),
            KExpr::Bool(b) => Number::Bool(*b),
            KExpr::Local(id) => match self.locals[id.0 as usize] {
                Slot::Number(value) => value,
                Slot::Unassigned | Slot::Entity(_) => return Err(defect("a local holds no value")),
            },
            KExpr::Param(id) => match &self.params[id.0 as usize] {
                Bound::Single(value) => self.entering(*value),
                Bound::Scalars(_) | Bound::Vectors(_) | Bound::Bools(_) | Bound::Entities(_) | Bound::Table(_) | Bound::Domain => {
                    return Err(defect("a parameter is not single"));
                }
            },
            KExpr::Load { param, at } => {
                let rank = self.rank(*param, at)?;
                match &self.params[param.0 as usize] {
                    Bound::Scalars(values) => Number::Real(values[rank]),
                    Bound::Bools(values) => Number::Bool(values[rank]),
                    Bound::Vectors(values) => {
                        let mut vector = [0.0; 3];
                        vector.iter_mut().zip(values).for_each(|(v, component)| *v = component[rank]);
                        Number::Vector(vector)
                    }
                    Bound::Single(_) | Bound::Entities(_) | Bound::Table(_) | Bound::Domain => {
                        return Err(defect("a parameter holds no values"));
                    }
                }
            }
            KExpr::Measure(path) => {
                let measure = self.measure(path)?;
                self.entering(Number::Real(measure))
            }
            KExpr::Centroid(path) => {
                let (kind, entity) = self.kind_and_entity(path, "a centroid")?;
                self.entering(Number::Vector(self.grid.centroids(entity_kind(kind))[entity]))
            }
            KExpr::Normal(path) => {
                let normal = self.normal(path)?;
                self.entering(Number::Vector(normal))
            }
            KExpr::FaceGap(path) => {
                let face = self.entity(path, "a gap")? as usize;
                self.entering(Number::Vector(self.grid.geometry().face_gap(face)))
            }
            KExpr::FaceTransmissibility(path) => {
                let face = self.entity(path, "a transmissibility")? as usize;
                self.entering(Number::Real(self.grid.geometry().face_transmissibility(face)))
            }
            KExpr::IsEmpty(path) => Number::Bool(self.path(path)?.is_none()),
            KExpr::CellFact { fact, at } => {
                let cell = self.entity(at, "a place")?;
                let shape = self.grid.cartesian_shape().ok_or_else(|| defect("a place needs a Cartesian grid"))?;
                match *fact {
                    CellFact::Outside { axis, by } => Number::Bool(shape.is_outside(cell, usize::from(axis), by)),
                    CellFact::Index(axis) => self.entering(Number::Real(shape.index_along(cell, usize::from(axis)) as f64)),
                    CellFact::Even(axes) => Number::Bool(shape.is_even(cell, axes)),
                }
            }
            KExpr::Member { set, at } => {
                let entity = self.entity(at, "membership")?;
                let members = self.members.get(set).ok_or_else(|| defect("a set has no elements in this grid"))?;
                Number::Bool(members.rank(entity).is_some())
            }
            KExpr::Same(a, b) => Number::Bool(self.path(a)? == self.path(b)?),
            KExpr::Unary(op, a) => {
                let a = self.expr(a)?;
                self.unary_of(*op, a)?
            }
            KExpr::Arithmetic(op, a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.arithmetic_of(*op, a, b)?
            }
            KExpr::Compare(op, a, b) => match (self.expr(a)?, self.expr(b)?) {
                (Number::Real(a), Number::Real(b)) => Number::Bool(op.holds(&a, &b)),
                (Number::Bool(a), Number::Bool(b)) => Number::Bool(op.holds(&a, &b)),
                _ => return Err(defect("this comparison is not defined")),
            },
            KExpr::Logic(op, a, b) => Number::Bool(logic(*op, self.expr(a)?.bool()?, self.expr(b)?.bool()?)),
            KExpr::Select { condition, if_true, if_false } => {
                if self.expr(condition)?.bool()? {
                    self.expr(if_true)?
                } else {
                    self.expr(if_false)?
                }
            }
            KExpr::Component(a, i) => {
                let vector = self.expr(a)?.vector()?;
                let component = vector.get(*i as usize).filter(|_| (*i as usize) < self.grid.dim());
                let missing = || Error::new(ErrorKind::Data, format!("component {i} of a Vector needs a grid of more than {i} dimensions"));
                Number::Real(*component.ok_or_else(missing)?)
            }
            KExpr::Dot(a, b) => {
                let (a, b) = (self.expr(a)?.vector()?, self.expr(b)?.vector()?);
                Number::Real(self.dot(a, b))
            }
            KExpr::Vector(components) => {
                // Whoever launches has checked their number.
                let mut vector = [0.0; 3];
                for (v, component) in vector.iter_mut().zip(components) {
                    *v = self.expr(component)?.real()?;
                }
                Number::Vector(vector)
            }
            KExpr::ZeroVector => Number::Vector([0.0; 3]),
            KExpr::Math(op, a, b) => {
                let (a, b) = (self.expr(a)?.real()?, self.expr(b)?.real()?);
                Number::Real(self.binary(Binary::Math(*op), a, b))
            }
            KExpr::Interpolate { table, of, argument } => {
                let x = self.expr(argument)?.real()?;
                let Bound::Table(numbers) = &self.params[table.0 as usize] else { return Err(defect("a parameter is no table")) };
                Number::Real(arithmetic::interpolate(self.precision, numbers, *of, x))
            }
            KExpr::Entity(path) => Number::Entity(self.path(path)?),
            KExpr::Displacement { to, from, is_stored: _ } => {
                let displacement = self.displacement(to, from)?;
                self.entering(Number::Vector(displacement))
            }
        })
    }

    /// Products of the components in use, added in order.
    fn dot(&self, a: [f64; 3], b: [f64; 3]) -> f64 {
        let product = |i: usize| self.binary(Binary::Mul, a[i], b[i]);
        (1..self.grid.dim()).fold(product(0), |sum, i| self.binary(Binary::Add, sum, product(i)))
    }

    /// Doubles that come from outside of the kernel or are written in it, as it has them.
    fn entering(&self, number: Number) -> Number {
        match number {
            Number::Real(a) => Number::Real(self.precision.round(a)),
            Number::Vector(a) => Number::Vector(a.map(|component| self.precision.round(component))),
            Number::Bool(_) | Number::Entity(_) => number,
        }
    }

    fn unary(&self, op: Unary, a: f64) -> f64 {
        arithmetic::unary(self.precision, op, a)
    }

    fn binary(&self, op: Binary, a: f64, b: f64) -> f64 {
        arithmetic::binary(self.precision, op, a, b)
    }

    fn unary_of(&self, op: UnaryOp, a: Number) -> Result<Number, Error> {
        Ok(match (op, a) {
            (UnaryOp::Neg, Number::Real(a)) => Number::Real(-a),
            (UnaryOp::Neg, Number::Vector(a)) => Number::Vector(a.map(|x| -x)),
            (UnaryOp::Not, Number::Bool(a)) => Number::Bool(!a),
            (UnaryOp::Abs, Number::Real(a)) => Number::Real(a.abs()),
            (UnaryOp::Sqrt, Number::Real(a)) => Number::Real(self.unary(Unary::Sqrt, a)),
            (UnaryOp::Length, Number::Vector(a)) => Number::Real(self.unary(Unary::Sqrt, self.dot(a, a))),
            (UnaryOp::Elementary(function), Number::Real(a)) => Number::Real(self.unary(Unary::Elementary(function), a)),
            (UnaryOp::Neg | UnaryOp::Not | UnaryOp::Abs | UnaryOp::Sqrt | UnaryOp::Length | UnaryOp::Elementary(_), _) => {
                return Err(defect(format!("{op} is not defined here")));
            }
        })
    }

    fn arithmetic_of(&self, op: Arithmetic, a: Number, b: Number) -> Result<Number, Error> {
        let op = value::binary(op);
        Ok(match (a, b) {
            (Number::Real(a), Number::Real(b)) => Number::Real(self.binary(op, a, b)),
            // Unused components of a quotient by 0 would not stay 0; nothing reads them, since
            // components and products stop at the grid's dimension.
            (Number::Vector(a), Number::Vector(b)) => Number::Vector(std::array::from_fn(|i| self.binary(op, a[i], b[i]))),
            (Number::Vector(a), Number::Real(b)) => Number::Vector(a.map(|x| self.binary(op, x, b))),
            (Number::Real(a), Number::Vector(b)) => Number::Vector(b.map(|x| self.binary(op, a, x))),
            (Number::Bool(_) | Number::Entity(_), _) | (_, Number::Bool(_) | Number::Entity(_)) => {
                return Err(defect("arithmetic is defined for numbers and Vectors"));
            }
        })
    }

    /// Entity and kind at the end of a path, an index of the grid's arrays.
    pub fn kind_and_entity(&mut self, path: &Path, what: &str) -> Result<(EntityKind, usize), Error> {
        let entity = self.entity(path, what)? as usize;
        let kind = self.kernel.path_kind(self.sets, path).ok_or_else(|| defect("a path leads to no entity"))?;
        Ok((kind, entity))
    }

    fn measure(&mut self, path: &Path) -> Result<f64, Error> {
        let (kind, entity) = self.kind_and_entity(path, "a measure")?;
        if let Some(shape) = self.shape {
            return Ok(crate::cartesian::measure(&shape, kind, entity));
        }
        Ok(match kind {
            EntityKind::Cell => self.grid.geometry().cell_volumes[entity],
            EntityKind::Face => self.grid.geometry().face_areas[entity],
            EntityKind::Edge => self.grid.edge_lengths()[entity],
            EntityKind::Vertex => 1.0,
        })
    }

    fn normal(&mut self, path: &Path) -> Result<[f64; 3], Error> {
        let face = self.entity(path, "a normal")? as usize;
        if let Some(shape) = self.shape {
            let mut normal = [0.0; 3];
            normal[shape.face_ijk(face).axis] = 1.0;
            return Ok(normal);
        }
        Ok(self.grid.geometry().face_normals[face])
    }

    fn side_face(&mut self, side: Side) -> Result<u32, Error> {
        let (shape, axis, cell) = self.side_block()?;
        Ok(shape.cell_face(cell, axis, side == Side::High) as u32)
    }

    /// The cell so many cells further along the current axis.
    fn shifted(&mut self, from: &Path, by: i8) -> Result<u32, Error> {
        let (shape, axis, _) = self.side_block()?;
        let mut place = shape.cell_ijk(self.entity(from, "an offset")? as usize);
        let beside = shape.layer_beside(axis, place[axis], by);
        place[axis] = beside.ok_or_else(|| defect("there is no cell beyond the boundary"))?;
        Ok(shape.cell(place) as u32)
    }

    fn side_block(&mut self) -> Result<(Cartesian, usize, usize), Error> {
        match (self.shape, self.axis, self.here) {
            (Some(shape), Some(axis), Some(cell)) => Ok((shape, axis, cell as usize)),
            _ => Err(defect("this path belongs into a sum over sides")),
        }
    }
}

#[cfg(test)]
mod tests {
    use equelle_front::backend::stencil::Skeleton;
    use equelle_front::ir::text::parse;

    use super::*;

    /// Three cells in a line. Where the grid has no cell or the state takes another branch, a
    /// derivative has no value; where the state alone decides, it has a place all the same.
    #[test]
    fn branches_not_chosen_leave_zeros_and_missing_cells_nothing() {
        let text = "module m

kernel residual over AllCells() {
  param u: Scalar On AllCells()
  result r: Scalar On AllCells()
  body {
    yield u[here]
  }
  jacobian by 1 {
    sum faces f of here {
      if (u[here] > 2.0) {
        add u[first(f)] = 3.0
      } else {
        add u[second(f)] = 5.0
      }
      if is_empty(first(f)) {
        add u[second(f)] = 7.0
      } else {
      }
    }
    yield u[here]
  }
}

main {
}
";
        let module = parse(text).unwrap_or_else(|error| panic!("{error:?}"));
        let kernel = &module.kernels[0];
        let body = &kernel.jacobian.as_ref().unwrap().body;
        let cells = kernel.params[0].ty.mapping().unwrap();
        let grid = Grid::cartesian(Cartesian::line(3, 1.0)).unwrap();
        let (params, members) = ([Bound::Scalars(vec![1.0, 4.0, 1.0])], BTreeMap::from([(cells, Members::All(3))]));
        let mut evaluator = Evaluator::new(&module, kernel, &params, &members, &grid, None);
        let skeleton = Skeleton::from_body(body).block;
        let mut row = |cell: u32| {
            evaluator.block(body, Some(cell)).unwrap();
            evaluator.structure(&skeleton).unwrap();
            evaluator.row.iter().map(|(&(_, column), &value)| (column, value)).collect::<Vec<_>>()
        };
        // Cell 0 is the second of face 0, which has no first: -5 - 7; face 1 leads to cell 1.
        assert_eq!(row(0), [(0, -12.0), (1, 5.0)]);
        // Cell 1 is the first of its high face.
        assert_eq!(row(1), [(0, -3.0), (1, 3.0), (2, 0.0)]);
    }
}
