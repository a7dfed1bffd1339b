//! Kernel level.
//!
//! A kernel is evaluated once per element of its index space, independently of the other elements.
//! It reads its parameters through [`Path`]s, which lead from the element to other entities, and
//! yields one value per result, written at the element itself, or reduced.
//!
//! **Evaluation is lazy where it must be:** [`KExpr::Select`] and [`KStmt::If`] evaluate only the
//! branch taken. A [`KExpr::Load`] at an entity outside the parameter's set, or anything but a test
//! at an Empty entity, is an error of the kernel: whoever builds one guards it with
//! [`KExpr::Member`] or [`KExpr::IsEmpty`], unless the set relation is known statically.
//!
//! **Structural zeros.** A term of [`KStmt::ReduceFaces`] that is skipped for some faces (see
//! [`FaceFilter`]) adds nothing; because the sum starts at +0, this is bit-identical to adding a
//! zero.
//!
//! **Cartesian form.** On a Cartesian grid the faces of a cell are known: for each axis the low and
//! the high one. A [`Kernel`] over cells may carry a second body ([`Kernel::cartesian`]) in which
//! [`KStmt::ReduceFaces`] has become [`KStmt::ReduceSides`], whose blocks use [`Path::SideFace`]
//! and [`Path::Shift`] and are written once for a symbolic axis. Geometry there is that of a
//! uniform grid: one number per axis. The measure of a cell is the product of the cell widths in
//! the order of the axes, that of a face the product of the widths of the other axes in that order
//! (1 in one dimension). A component of the normal of a side face is structurally 1 along the
//! current axis and structurally 0 else. A body treats axes differently by asking whether a
//! component equals 1 ([`crate::backend::structural`]): a target that unrolls the axes decides that
//! beforehand, without a test at run time. A displacement is n half widths along the axis, n = -2,
//! -1, 0, 1, 2, evaluated as `(n * 0.5) * width`.

use crate::ir::op::UnaryOp;
use crate::ops::{Arithmetic, Beyond, BinaryMath, CellFact, Comparison, FaceReduction, Logic, MAX_OFFSET, Offset, Reduction, SideMap};
use crate::source::Span;
use crate::types::{SetId, Type};

/// Prefixes of the names of kernels that passes make. No method of a runtime trait has one, so that
/// kernels, which are methods of the same value, clash with none.
pub const KERNEL_PREFIXES: [&str; 3] = [COMPUTE, RESIDUAL, CHECK];
/// Prefix of a kernel that computes values.
pub const COMPUTE: &str = "compute_";
/// Prefix of a kernel that evaluates a residual.
pub const RESIDUAL: &str = "residual_";
/// Prefix of a kernel that has conditions alone.
pub const CHECK: &str = "checks_";

/// Index into [`crate::ir::Module::kernels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KernelId(pub u32);

/// Index into [`Kernel::params`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamId(pub u32);

/// Index into [`Kernel::locals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// A kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Unique name, derived from the variable it computes.
    pub name: String,
    /// Space that it is evaluated over.
    pub space: Space,
    /// Parameters: collections, Scalars, domains. All read-only; results are new collections.
    pub params: Vec<Param>,
    /// Named intermediate values and entities of both bodies.
    pub locals: Vec<Local>,
    /// The body for any grid; yields one expression per result.
    pub body: KBlock,
    /// The body for uniform Cartesian grids, if the kernel has one.
    pub cartesian: Option<CartesianForm>,
    /// The body that also adds derivatives, if the kernel is an equation of a Newton solve.
    pub jacobian: Option<JacobianForm>,
    /// Results, one per yield.
    pub results: Vec<KResult>,
    /// Conditions that must hold at every element of the space, checked before the body is
    /// evaluated there. All are of one kind.
    pub checks: Vec<Check>,
    /// The Equelle expressions it came from, innermost first.
    pub spans: Vec<Span>,
}

/// Index space of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// One evaluation; [`Path::Here`] is not available. Results are Scalars.
    Unit,
    /// Once per entity of the set, in ascending order.
    Set(SetId),
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Name, unique in the kernel.
    pub name: String,
    /// A single Scalar, Vector or Bool, a table, a collection (Scalar, Vector, Bool, entities) or a
    /// domain.
    /// A set made at run time that the body mentions has its domain among the parameters.
    pub ty: Type,
    /// In the Cartesian form: it is stored as one value per axis (faces) or one value (cells),
    /// because its producer's Cartesian form is [`CartesianForm::PerAxis`].
    pub per_axis: bool,
}

/// A local.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// Name, unique in the kernel.
    pub name: String,
    /// Scalar, Vector, Bool or entity; always Single.
    pub ty: Type,
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub struct KResult {
    /// The user's name of the value.
    pub name: String,
    /// Collection over the space (of entities where it yields [`KExpr::Entity`]); for a reduction
    /// or a Unit space a single Scalar, Vector or Bool.
    pub ty: Type,
    /// Reduction over the space, if any.
    pub reduce: Option<Reduction>,
    /// The parameter whose memory it takes. The kernel reads it at the element alone, and nothing
    /// else reads the argument afterwards.
    pub in_place: Option<ParamId>,
}

/// A condition and what it guards.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Must be true.
    pub condition: KExpr,
    /// Error where it is false.
    pub kind: CheckKind,
    /// The Equelle expression.
    pub span: Span,
}

/// Kinds of [`Check`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckKind {
    /// Data (`On`) or geometry asked of an Empty element.
    OnEmpty,
    /// A face with two cells where one has to be.
    OneCell,
}

impl CheckKind {
    /// All of them.
    pub const ALL: [CheckKind; 2] = [CheckKind::OnEmpty, CheckKind::OneCell];

    /// Word in the text of the IR.
    pub fn word(self) -> &'static str {
        match self {
            CheckKind::OnEmpty => "on_empty",
            CheckKind::OneCell => "one_cell",
        }
    }
}

/// The body for uniform Cartesian grids.
#[derive(Clone, Debug, PartialEq)]
pub enum CartesianForm {
    /// Evaluated at every element of a cell space.
    Full(KBlock),
    /// The value depends on nothing but Scalars and differences of geometry: evaluated once per
    /// axis (face spaces; `Here` is a face of that axis) or once (cell spaces). The results are
    /// stored so.
    PerAxis(KBlock),
}

/// The bodies of an equation that give the residual and add its derivatives to the row of the
/// Jacobian that belongs to the element, in one pass.
#[derive(Clone, Debug, PartialEq)]
pub struct JacobianForm {
    /// Number of unknowns: they are the first parameters, each a collection of Scalars.
    pub unknowns: u32,
    /// For any grid. Yields what the body of the kernel yields.
    pub body: KBlock,
    /// For uniform Cartesian grids, as a [`CartesianForm::Full`], where equation and unknowns are
    /// over all cells and derivatives are by [`Path::Here`] and [`Path::Shift`] alone: the columns
    /// of a row then follow from the place of the cell in the grid. A value of the cell that
    /// several sides read has one derivative here and one for each face in the other body, so that
    /// terms may be added in another order.
    pub cartesian: Option<KBlock>,
}

/// Statements, then what the block is worth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KBlock {
    /// Statements in order.
    pub statements: Vec<KStmt>,
    /// Values of the block.
    pub yields: Vec<KExpr>,
}

/// A statement. Locals are assigned once; those assigned in a nested block are not visible outside
/// it.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum KStmt {
    /// `local = value`
    Let { local: LocalId, value: KExpr },
    /// `local = entity`
    LetEntity { local: LocalId, path: Path },
    /// Over the faces of a cell in ascending face index. A sum: `results[i] += sign * terms[i]`,
    /// sign +1 where the cell is the face's first cell, else -1, from +0. An extreme: the first of
    /// the largest or smallest terms, from an infinity. Results are Scalars; those of a sum over
    /// faces may be Vectors. `face` names the face inside the body. `extreme_faces` is empty or has
    /// for each result of an extreme the face that it is of, Empty where no term is beyond the
    /// infinity.
    ReduceFaces {
        reduction: FaceReduction,
        results: Vec<LocalId>,
        extreme_faces: Vec<LocalId>,
        cell: Path,
        face: LocalId,
        only: FaceFilter,
        body: KBlock,
    },
    /// Cartesian form of a reduction over the faces of [`Path::Here`] (a cell): for axis 0, 1, ...
    /// the low side, then the high side. The sign of the low side in a sum is -1, of the high side
    /// +1, applied by whoever evaluates. Blocks yield one term per result; `None` takes no part.
    /// They use [`Path::SideFace`], and [`Path::Shift`] where interior. Of `extreme_faces` nothing
    /// is asked but whether they are a [`Path::SideFace`].
    ReduceSides { reduction: FaceReduction, results: Vec<LocalId>, extreme_faces: Vec<LocalId>, low: SideBlocks, high: SideBlocks },
    /// Lazy choice with several results.
    If { results: Vec<LocalId>, condition: KExpr, then: KBlock, otherwise: KBlock },
    /// In a Jacobian form: adds `value`, a Scalar, to the derivative of the residual here by the
    /// element of `unknown` that belongs to the entity `at`. Inside sums it is a term like others:
    /// it has the signs of all sums that it stands in.
    Add { unknown: ParamId, at: Path, value: KExpr },
}

/// Blocks of one side of a cell in [`KStmt::ReduceSides`].
#[derive(Clone, Debug, PartialEq)]
pub struct SideBlocks {
    /// Block for a side with a cell beyond it.
    pub interior: Option<KBlock>,
    /// Block for a side on the boundary of the grid.
    pub boundary: Option<KBlock>,
}

/// Faces of a cell that a reduction visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaceFilter {
    /// All.
    All,
    /// Interior faces.
    Interior,
    /// Boundary faces.
    Boundary,
}

/// Low or high side of a cell along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Towards smaller coordinates.
    Low,
    /// Towards larger coordinates.
    High,
}

impl Side {
    /// Side to which an offset other than 0 leads.
    pub fn towards(by: i8) -> Side {
        if by < 0 { Side::Low } else { Side::High }
    }
}

/// Path from one entity to another.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum Path {
    /// The element of the index space.
    Here,
    /// An entity local.
    Local(LocalId),
    /// First cell of a face; Empty on the boundary's outside.
    First(Box<Path>),
    /// Second cell of a face.
    Second(Box<Path>),
    /// The entity that an entity-collection parameter holds for the entity `at` of its set.
    Through { param: ParamId, at: Box<Path> },
    /// Chosen by state.
    Select { condition: Box<KExpr>, if_true: Box<Path>, if_false: Box<Path> },
    /// Cartesian form, inside a side block: the face of the cell on this side of the current axis.
    SideFace(Side),
    /// Cartesian form: the cell `by` cells further along the axis of the current side block,
    /// towards larger coordinates. The verifier lets through [`Path::Here`] by one, in the interior
    /// block of that side.
    Shift { from: Box<Path>, by: i8 },
    /// The cell this many cells further along each axis of a Cartesian grid; beyond a side the one
    /// that the map of the side names, always a cell of the grid.
    Offset { from: Box<Path>, by: Offset, beyond: Beyond },
    /// No entity.
    Empty,
}

/// An expression: a Scalar, a Vector, a Bool, or as a yield of the whole body an entity.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum KExpr {
    /// A number.
    Real(f64),
    /// A truth value.
    Bool(bool),
    /// A Scalar, Vector or Bool local.
    Local(LocalId),
    /// A single parameter.
    Param(ParamId),
    /// The element of a collection parameter that belongs to the entity `at`.
    Load { param: ParamId, at: Path },
    /// Volume, area or length.
    Measure(Path),
    /// Centroid.
    Centroid(Path),
    /// As [`super::Op::FaceGap`], of a face.
    FaceGap(Path),
    /// As [`super::Op::FaceTransmissibility`], of a face.
    FaceTransmissibility(Path),
    /// Unit normal of a face.
    Normal(Path),
    /// True if there is no entity.
    IsEmpty(Path),
    /// Position of a cell in a Cartesian grid.
    CellFact { fact: CellFact, at: Path },
    /// True if the entity (not Empty) is in the set.
    Member { set: SetId, at: Path },
    /// True if two entities (or Empties) are the same.
    Same(Box<Path>, Box<Path>),
    /// One operand.
    Unary(UnaryOp, Box<KExpr>),
    /// `+ - * /`; Scalar with Scalar, Vector with Vector (`+ -`), Vector with Scalar (`* /`),
    /// Scalar with Vector (`*`).
    Arithmetic(Arithmetic, Box<KExpr>, Box<KExpr>),
    /// Comparison of Scalars, or of Bools for `==` and `!=`.
    Compare(Comparison, Box<KExpr>, Box<KExpr>),
    /// Logic.
    Logic(Logic, Box<KExpr>, Box<KExpr>),
    /// Lazy choice.
    Select { condition: Box<KExpr>, if_true: Box<KExpr>, if_false: Box<KExpr> },
    /// Component of a Vector.
    Component(Box<KExpr>, u32),
    /// Scalar product.
    Dot(Box<KExpr>, Box<KExpr>),
    /// Vector of components, as many as the grid has dimensions; whoever launches the kernel has
    /// checked the dimension.
    Vector(Vec<KExpr>),
    /// The Vector of zeros.
    ZeroVector,
    /// Function of two Scalars.
    Math(BinaryMath, Box<KExpr>, Box<KExpr>),
    /// The function that a table parameter is, of a Scalar, or its derivative.
    Interpolate { table: ParamId, of: Interpolant, argument: Box<KExpr> },
    /// The entity at the end of a path, or Empty. Only as a yield of a body whose result is a
    /// collection of entities.
    Entity(Path),
    /// Cartesian form: vector of the difference of the centroids of two entities,
    /// `Centroid(to) - Centroid(from)`, from grid spacings alone. Where `is_stored`, a position of
    /// a cell behind a face is that of the cell, not the one seen through the face: they differ at
    /// joined sides.
    Displacement { to: Box<Path>, from: Box<Path>, is_stored: bool },
}

/// Quantities taken from a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interpolant {
    /// The function.
    Value,
    /// Its derivative; at a row of the table that of the piece above.
    Slope,
}

impl Interpolant {
    /// Both.
    pub const ALL: [Interpolant; 2] = [Interpolant::Value, Interpolant::Slope];

    /// Word in the text of the IR.
    pub fn word(self) -> &'static str {
        match self {
            Interpolant::Value => "interpolate",
            Interpolant::Slope => "slope",
        }
    }
}

/// Classes of expressions that passes and writers treat alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExprClass {
    /// A number or a truth value of the text.
    Literal,
    /// A local.
    Local,
    /// A single parameter.
    Param,
    /// An element of a collection.
    Load,
    /// Numbers of the grid.
    Geometry,
    /// Queries of entities, and entities.
    Topology,
    /// A number of numbers, with derivatives by them.
    Arithmetic,
    /// A truth value of numbers or truth values.
    Truth,
    /// A lazy choice.
    Select,
}

/// Calls `$expr(part, $with)` with each expression and `$path(part, $with)` with each path that an
/// expression is made of, in the order of their evaluation. The one list of parts; `$iter` is
/// `iter` or `iter_mut`.
macro_rules! for_each_part {
    ($of:expr, $iter:ident, $expr:expr, $path:expr, $with:expr) => {
        match $of {
            KExpr::Real(_) | KExpr::Bool(_) | KExpr::ZeroVector | KExpr::Local(_) | KExpr::Param(_) => {}
            KExpr::Load { at, .. }
            | KExpr::Measure(at)
            | KExpr::Centroid(at)
            | KExpr::Normal(at)
            | KExpr::FaceGap(at)
            | KExpr::FaceTransmissibility(at)
            | KExpr::IsEmpty(at)
            | KExpr::CellFact { at, .. }
            | KExpr::Member { at, .. }
            | KExpr::Entity(at) => $path(at, $with),
            KExpr::Same(a, b) | KExpr::Displacement { to: a, from: b, is_stored: _ } => {
                $path(a, $with);
                $path(b, $with);
            }
            KExpr::Unary(_, a) | KExpr::Component(a, _) | KExpr::Interpolate { argument: a, .. } => $expr(a, $with),
            KExpr::Arithmetic(_, a, b) | KExpr::Compare(_, a, b) | KExpr::Logic(_, a, b) | KExpr::Dot(a, b) | KExpr::Math(_, a, b) => {
                $expr(a, $with);
                $expr(b, $with);
            }
            KExpr::Vector(components) => components.$iter().for_each(|c| $expr(c, $with)),
            KExpr::Select { condition, if_true, if_false } => {
                $expr(condition, $with);
                $expr(if_true, $with);
                $expr(if_false, $with);
            }
        }
    };
}

/// As [`for_each_part`], of a path.
macro_rules! for_each_part_of_path {
    ($of:expr, $expr:expr, $path:expr, $with:expr) => {
        match $of {
            Path::Here | Path::Local(_) | Path::SideFace(_) | Path::Empty => {}
            Path::First(at)
            | Path::Second(at)
            | Path::Through { at, .. }
            | Path::Shift { from: at, .. }
            | Path::Offset { from: at, .. } => $path(at, $with),
            Path::Select { condition, if_true, if_false } => {
                $expr(condition, $with);
                $path(if_true, $with);
                $path(if_false, $with);
            }
        }
    };
}

pub(crate) use {for_each_part, for_each_part_of_path};

impl Path {
    /// The cell beyond the face on a side of the element.
    pub fn neighbour(side: Side) -> Path {
        let by = match side {
            Side::Low => -1,
            Side::High => 1,
        };
        Path::Shift { from: Box::new(Path::Here), by }
    }

    /// Position relative to the element along the current axis of a Cartesian form, in half cell
    /// widths; `None` where it is not known.
    pub fn half_widths(&self) -> Option<i32> {
        match self {
            Path::Here => Some(0),
            Path::SideFace(Side::Low) => Some(-1),
            Path::SideFace(Side::High) => Some(1),
            Path::Shift { from, by } => Some(from.half_widths()? + 2 * i32::from(*by)),
            // The element is a face; its cells are half a width away.
            Path::First(face) if **face == Path::Here => Some(-1),
            Path::Second(face) if **face == Path::Here => Some(1),
            Path::First(_)
            | Path::Second(_)
            | Path::Local(_)
            | Path::Through { .. }
            | Path::Select { .. }
            | Path::Offset { .. }
            | Path::Empty => None,
        }
    }

    /// The cell at an offset from the end of this path. Offsets are added up where along each axis
    /// one of the two is zero or both wrap around.
    pub fn offset(self, by: Offset, beyond: Beyond) -> Path {
        if let Path::Offset { from, by: before, beyond: sides } = &self
            && let Some((by, beyond)) = added((*before, *sides), (by, beyond))
        {
            return (**from).clone().offset(by, beyond);
        }
        if by == Offset::default() {
            return self;
        }
        Path::Offset { from: Box::new(self), by, beyond }
    }
}

/// Two offsets in turn as one.
fn added(first: (Offset, Beyond), second: (Offset, Beyond)) -> Option<(Offset, Beyond)> {
    let (mut by, mut beyond) = (Offset::default(), Beyond::default());
    for axis in 0..3 {
        let (a, b) = (first.0[axis], second.0[axis]);
        let side = |by: i8| 2 * axis + usize::from(by > 0);
        let map = if a == 0 {
            second.1[side(b)]
        } else if b == 0 {
            first.1[side(a)]
        } else if first.1[side(a)] == SideMap::Wrap && second.1[side(b)] == SideMap::Wrap {
            SideMap::Wrap
        } else {
            return None;
        };
        by[axis] = a.checked_add(b).filter(|by| by.unsigned_abs() <= 2 * MAX_OFFSET.unsigned_abs())?;
        if by[axis] != 0 {
            beyond[side(by[axis])] = map;
        }
    }
    Some((by, beyond))
}

impl Kernel {
    /// The result that takes the memory of a parameter.
    pub fn result_in(&self, param: ParamId) -> Option<usize> {
        self.results.iter().position(|result| result.in_place == Some(param))
    }

    /// True if a result is written over what it reads.
    pub fn writes_what_it_reads(&self) -> bool {
        self.results.iter().any(|result| result.in_place.is_some())
    }
}

impl KExpr {
    /// Returns its class.
    pub fn class(&self) -> ExprClass {
        match self {
            KExpr::Real(_) | KExpr::Bool(_) | KExpr::ZeroVector => ExprClass::Literal,
            KExpr::Local(_) => ExprClass::Local,
            KExpr::Param(_) => ExprClass::Param,
            KExpr::Load { .. } => ExprClass::Load,
            KExpr::Measure(_)
            | KExpr::Centroid(_)
            | KExpr::FaceGap(_)
            | KExpr::FaceTransmissibility(_)
            | KExpr::Normal(_)
            | KExpr::Displacement { .. } => ExprClass::Geometry,
            KExpr::IsEmpty(_) | KExpr::Member { .. } | KExpr::Same(..) | KExpr::Entity(_) | KExpr::CellFact { .. } => ExprClass::Topology,
            KExpr::Unary(UnaryOp::Not, _) | KExpr::Compare(..) | KExpr::Logic(..) => ExprClass::Truth,
            KExpr::Unary(UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Sqrt | UnaryOp::Length | UnaryOp::Elementary(_), _)
            | KExpr::Arithmetic(..)
            | KExpr::Component(..)
            | KExpr::Dot(..)
            | KExpr::Vector(_)
            | KExpr::Math(..)
            | KExpr::Interpolate { .. } => ExprClass::Arithmetic,
            KExpr::Select { .. } => ExprClass::Select,
        }
    }

    /// The expressions that it is made of, in the order of their evaluation. Those in its paths are
    /// not among them.
    pub fn operands(&self) -> Vec<&KExpr> {
        fn add<'a>(expr: &'a KExpr, operands: &mut Vec<&'a KExpr>) {
            operands.push(expr);
        }
        fn skip(_: &Path, _: &mut Vec<&KExpr>) {}
        let mut operands = Vec::new();
        for_each_part!(self, iter, add, skip, &mut operands);
        operands
    }

    /// The same, to be changed.
    pub(crate) fn operands_mut(&mut self) -> Vec<&mut KExpr> {
        fn add<'a>(expr: &'a mut KExpr, operands: &mut Vec<&'a mut KExpr>) {
            operands.push(expr);
        }
        fn skip(_: &mut Path, _: &mut Vec<&mut KExpr>) {}
        let mut operands = Vec::new();
        for_each_part!(self, iter_mut, add, skip, &mut operands);
        operands
    }
}
