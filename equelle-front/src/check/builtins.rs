//! The table of built-in functions: names, parameters, and rules for arguments, result and
//! dimension. A new built-in is a row here, a variant of [`Builtin`] and its meaning in lowering;
//! an elementary function is a row of [`elementary_table`].
//!
//! The table also serves the reference page of the book, `equellec explain`, the editor modes and
//! completion, by way of [`crate::check::table`]. A row gets its category and its line of
//! documentation with [`Row::doc`]; a test fails for a row without.

use crate::check::print::basic_name;
use crate::check::table::Category;
use crate::ops::{Elementary, InputElement, UnitRule, elementary_table};
use crate::typed::{Builtin, Expr, TreeType};
use crate::types::{Basic, CanonicalSet, EntityKind};

/// A row of the table.
pub(super) struct Row {
    pub name: &'static str,
    pub params: &'static [Param],
    pub target: Target,
    /// Where it stands in the reference, and what it does, in a sentence.
    pub doc: Option<(Category, &'static str)>,
}

impl Row {
    /// The row with its place in the reference and a sentence in Markdown that says what the
    /// built-in does. Parameters are named as in the row.
    const fn doc(self, category: Category, text: &'static str) -> Row {
        Row { doc: Some((category, text)), ..self }
    }
}

/// Meaning of a call of a built-in.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Call {
        builtin: Builtin,
        result: ResultRule,
        dimension: DimensionRule,
    },
    /// `Vector`, of one to three components.
    Vector,
    /// `Pow`, the operator `^` as a function.
    Power,
    /// `InputTable2`.
    Table2,
    /// A built-in of structured grids.
    Stencil(Word),
    /// `Output`, a statement.
    Output,
    NewtonSolve,
    NewtonSolveSystem,
}

/// A parameter.
pub(super) struct Param {
    pub name: &'static str,
    pub rule: ArgumentRule,
}

/// Rules for an argument.
#[derive(Clone, Copy)]
pub(super) enum ArgumentRule {
    /// A String.
    Text,
    /// One Scalar.
    Scalar,
    /// Scalars: one, or a collection.
    Scalars,
    /// Scalars: one, or a collection on the domain of the first argument if that is one.
    ScalarsWithFirst,
    /// A collection of Scalars on any domain.
    ScalarCollection,
    /// A collection of Scalars or of Vectors on any domain.
    NumberCollection,
    /// A collection of Bools on any domain.
    BoolCollection,
    /// A collection of Bools on the domain that is the first argument.
    BoolsOnFirst,
    /// A collection of Scalars on one of these sets.
    ScalarsOn(&'static [CanonicalSet]),
    /// Scalars or Vectors: one, or a collection on faces.
    NumbersOnFaces,
    /// Scalars: one, or a collection on faces.
    ScalarsOnFaces,
    /// A collection like the first argument, or one such value beside it; where the first argument
    /// is one value, a collection of such on faces.
    LikeFirst,
    /// Scalars: one, or a collection on `AllCells()`.
    ScalarsOnCells,
    /// Vectors: one, or a collection.
    Vectors,
    /// Vectors: one, or a collection on the domain of the first argument if that is one.
    VectorsLikeFirst,
    /// A table.
    Table,
    /// A table of two arguments, which has been seen to be one.
    Table2,
    /// Faces.
    Faces,
    /// Faces that may have one cell.
    BoundaryFaces,
    /// Entities of any kind.
    Entities,
    /// A domain.
    Domain,
    /// Checked by the code for the target; the types, for people.
    Special(&'static str),
}

/// Type of the result.
#[derive(Clone, Copy)]
pub(super) enum ResultRule {
    /// One Scalar.
    Scalar,
    /// One Bool.
    Bool,
    /// One of what the first argument is a collection of.
    ElementOfFirst,
    /// Scalars, one per element of the argument that is a collection, or one if none is.
    ScalarsLikeEither,
    /// A sequence of Scalars.
    Sequence,
    /// A table.
    Table,
    /// This basic type, one per element of the first argument, or one if that is single.
    LikeFirst(Basic),
    /// Cells in AllCells(), one per element of the first argument.
    CellsLikeFirst,
    /// Scalars on a canonical set.
    ScalarsOn(CanonicalSet),
    /// One per cell of what the first argument is a collection of.
    OnCells,
    /// This basic type, on the domain that is the second argument.
    OnSecond(Basic),
    /// A new domain within the one that is the first argument.
    NewDomainInFirst,
    /// A new domain within the one that is the second argument.
    NewDomainInSecond,
}

/// Dimension of the result, and what it demands of the arguments.
#[derive(Clone, Copy)]
pub(super) enum DimensionRule {
    None,
    Length,
    /// That of the first argument.
    First,
    /// That of the second argument.
    Second,
    /// That of all arguments, which must be the same.
    Equal,
    /// None, and the argument, the last one, must have none.
    Pure,
    /// None, and all arguments must have the same.
    Ratio,
    /// The sum of the exponents of both.
    Product,
    /// Half the first argument's exponents, which must be even.
    Half,
    /// The first argument must have none.
    DemandNone,
    /// None; that of the second argument is dropped, with a warning.
    DropSecond,
}

const fn param(name: &'static str, rule: ArgumentRule) -> Param {
    Param { name, rule }
}

const fn row(name: &'static str, params: &'static [Param], builtin: Builtin, result: ResultRule, dimension: DimensionRule) -> Row {
    Row { name, params, target: Target::Call { builtin, result, dimension }, doc: None }
}

const fn elementary(function: Elementary) -> Row {
    let dimension = match function.unit() {
        UnitRule::Pure => DimensionRule::Pure,
        UnitRule::Dropped => DimensionRule::None,
    };
    const PARAMS: &[Param] = &[param("x", A::Scalars)];
    row(function.name(), PARAMS, Builtin::Elementary(function), R::LikeFirst(Basic::Scalar), dimension)
        .doc(Category::Mathematics, function.doc())
}

/// Built-ins of structured grids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// `StencilI()` and the like.
    Axis(u8),
    /// `Width(a)`
    Width,
    /// `Extent(a)`
    Extent,
    /// `IndexOf(a)`
    Index,
    /// `Even(a, ...)`
    Even,
    /// `Halo(u, rule, ...)`
    Halo,
}

impl Word {
    /// As in programs.
    pub fn name(self) -> &'static str {
        match self {
            Word::Axis(0) => "StencilI",
            Word::Axis(1) => "StencilJ",
            Word::Axis(_) => "StencilK",
            Word::Width => "Width",
            Word::Extent => "Extent",
            Word::Index => "IndexOf",
            Word::Even => "Even",
            Word::Halo => "Halo",
        }
    }
}

const INDEX: ArgumentRule = ArgumentRule::Special("an index variable");

const fn stencil(name: &'static str, params: &'static [Param], word: Word, doc: &'static str) -> Row {
    Row { name, params, target: Target::Stencil(word), doc: Some((Category::Geometry, doc)) }
}

use ArgumentRule as A;
use Category as C;
use DimensionRule as D;
use ResultRule as R;

/// All built-ins but the elementary functions, and the twelve canonical sets, which are
/// [`CanonicalSet::all`].
const TABLE: &[Row] = &[
    // Topology and geometry.
    row("FirstCell", &[param("faces", A::Faces)], Builtin::FirstCell, R::CellsLikeFirst, D::None)
        .doc(C::Geometry, "The first cell of each face: the one that its normal points away from. Empty where that is outside the grid."),
    row("SecondCell", &[param("faces", A::Faces)], Builtin::SecondCell, R::CellsLikeFirst, D::None)
        .doc(C::Geometry, "The second cell of each face: the one that its normal points to. Empty where that is outside the grid."),
    row("IsEmpty", &[param("entities", A::Entities)], Builtin::IsEmpty, R::LikeFirst(Basic::Bool), D::None)
        .doc(C::Geometry, "Whether each entity is Empty, as `FirstCell` and `SecondCell` are outside the grid."),
    row("InnerCell", &[param("faces", A::BoundaryFaces)], Builtin::InnerCell, R::CellsLikeFirst, D::None)
        .doc(C::Geometry, "The one cell of each boundary face. A face with two cells is an error."),
    row("Centroid", &[param("entities", A::Entities)], Builtin::Centroid, R::LikeFirst(Basic::Vector), D::Length)
        .doc(C::Geometry, "The centroid of each entity."),
    row("Normal", &[param("faces", A::Faces)], Builtin::Normal, R::LikeFirst(Basic::Vector), D::None)
        .doc(C::Geometry, "The unit normal of each face, from its first to its second cell."),
    row("OutwardSign", &[param("faces", A::BoundaryFaces)], Builtin::OutwardSign, R::LikeFirst(Basic::Scalar), D::None)
        .doc(C::Geometry, "Where the normal of a boundary face points: 1 out of the grid, -1 into it. A face with two cells is an error."),
    row("OutwardNormal", &[param("faces", A::BoundaryFaces)], Builtin::OutwardNormal, R::LikeFirst(Basic::Vector), D::None)
        .doc(C::Geometry, "The unit normal of each boundary face that points out of the grid. A face with two cells is an error."),
    row(
        "GivenTransmissibility",
        &[param("faces", A::Faces), param("otherwise", A::ScalarsWithFirst)],
        Builtin::GivenTransmissibility,
        R::LikeFirst(Basic::Scalar),
        D::Second,
    )
    .doc(
        C::Geometry,
        "The transmissibility that the grid gives each face, in cubic metres, as for connections without geometry (NNC of a deck); `otherwise` on all other faces, and on all faces of most grids.",
    ),
    row("Where", &[param("entities", A::Domain), param("condition", A::BoolsOnFirst)], Builtin::Where, R::NewDomainInFirst, D::None).doc(
        C::Domains,
        "The domain of those `entities` for which the condition holds. It is made once: not in a loop, and of inputs and geometry alone.",
    ),
    // Discrete operators.
    row(
        "Gradient",
        &[param("values", A::ScalarsOn(&[CanonicalSet::ALL_CELLS]))],
        Builtin::Gradient,
        R::ScalarsOn(CanonicalSet::INTERIOR_FACES),
        D::First,
    )
    .doc(C::Operators, "Per interior face, the value in the second cell minus the value in the first; not divided by a distance."),
    row(
        "Divergence",
        &[param("values", A::ScalarsOn(&[CanonicalSet::INTERIOR_FACES, CanonicalSet::ALL_FACES]))],
        Builtin::Divergence,
        R::ScalarsOn(CanonicalSet::ALL_CELLS),
        D::First,
    )
    .doc(C::Operators, "Per cell, the sum of the values on its faces, counted as leaving through the normal; not divided by a volume."),
    row("FaceSum", &[param("a", A::NumbersOnFaces), param("b", A::LikeFirst)], Builtin::FaceSum, R::OnCells, D::Equal).doc(
        C::Operators,
        "Per cell, the sum over its faces of `a` where the cell is the first of the face and of `b` where it is the second; faces without values do not take part. A number stands for itself on all of these faces. `Divergence(q)` is `FaceSum(q, -q)`.",
    ),
    row(
        "FaceMax",
        &[param("a", A::ScalarsOnFaces), param("b", A::LikeFirst), param("start", A::ScalarsOnCells)],
        Builtin::FaceMax,
        R::OnCells,
        D::Equal,
    )
    .doc(
        C::Operators,
        "Per cell, the largest of `start` and of `a` on the faces of which the cell is the first and `b` on those of which it is the second; faces without values do not take part.",
    ),
    row(
        "FaceMin",
        &[param("a", A::ScalarsOnFaces), param("b", A::LikeFirst), param("start", A::ScalarsOnCells)],
        Builtin::FaceMin,
        R::OnCells,
        D::Equal,
    )
    .doc(C::Operators, "As `FaceMax`, the smallest."),
    // Mathematics.
    row("Dot", &[param("v1", A::Vectors), param("v2", A::VectorsLikeFirst)], Builtin::Dot, R::ScalarsLikeEither, D::Product)
        .doc(C::Mathematics, "The scalar product."),
    row("Sqrt", &[param("s", A::Scalars)], Builtin::Sqrt, R::LikeFirst(Basic::Scalar), D::Half)
        .doc(C::Mathematics, "The square root. Every exponent of the dimension must be even."),
    row("Abs", &[param("x", A::Scalars)], Builtin::Abs, R::LikeFirst(Basic::Scalar), D::First).doc(C::Mathematics, "The magnitude, `|x|`."),
    row("Min", &[param("a", A::Scalars), param("b", A::ScalarsWithFirst)], Builtin::Min, R::ScalarsLikeEither, D::Equal)
        .doc(C::Mathematics, "The smaller of two numbers, which have the same dimension. NaN if one is NaN."),
    row("Max", &[param("a", A::Scalars), param("b", A::ScalarsWithFirst)], Builtin::Max, R::ScalarsLikeEither, D::Equal)
        .doc(C::Mathematics, "The larger of two numbers, which have the same dimension. NaN if one is NaN."),
    row("ATan2", &[param("y", A::Scalars), param("x", A::ScalarsWithFirst)], Builtin::ATan2, R::ScalarsLikeEither, D::Ratio).doc(
        C::Mathematics,
        "The angle, in radians between -pi and pi, of the point `(x, y)`. Both have the same dimension.",
    ),
    Row {
        name: "Pow",
        params: &[param("a", A::Scalars), param("b", A::ScalarsWithFirst)],
        target: Target::Power,
        doc: Some((
            C::Mathematics,
            "The power `a^b`. Both have no dimension, unless `b` is a whole number: then the dimension of `a` is raised to that power.",
        )),
    },
    Row {
        name: "Vector",
        params: &[param("x", A::Scalars), param("y", A::ScalarsWithFirst), param("z", A::ScalarsWithFirst)],
        target: Target::Vector,
        doc: Some((
            C::Mathematics,
            "The Vector of these components, all of one dimension and as many as the grid has dimensions: `Vector(x, y)` on a 2D grid.",
        )),
    },
    row("MaxReduce", &[param("x", A::NumberCollection)], Builtin::MaxReduce, R::ElementOfFirst, D::First)
        .doc(C::Reductions, "The largest value; of Vectors, the largest of each component."),
    row("MinReduce", &[param("x", A::NumberCollection)], Builtin::MinReduce, R::ElementOfFirst, D::First)
        .doc(C::Reductions, "The smallest value; of Vectors, the smallest of each component."),
    row("SumReduce", &[param("x", A::NumberCollection)], Builtin::SumReduce, R::ElementOfFirst, D::First)
        .doc(C::Reductions, "The sum of all values."),
    row("AnyReduce", &[param("x", A::BoolCollection)], Builtin::AnyReduce, R::Bool, D::None)
        .doc(C::Reductions, "Whether any value is true; false of no values."),
    row("AllReduce", &[param("x", A::BoolCollection)], Builtin::AllReduce, R::Bool, D::None)
        .doc(C::Reductions, "Whether all values are true; true of no values."),
    row("ProdReduce", &[param("x", A::ScalarCollection)], Builtin::ProdReduce, R::Scalar, D::DemandNone)
        .doc(C::Reductions, "The product of all values, which must have no dimension."),
    // Input: without dimension.
    row(
        "InputScalarWithDefault",
        &[param("name", A::Text), param("default", A::Scalar)],
        Builtin::InputScalarWithDefault,
        R::Scalar,
        D::DropSecond,
    )
    .doc(C::Input, "The parameter `name`, or `default` if none is given."),
    row(
        "InputCollectionOfScalar",
        &[param("name", A::Text), param("entities", A::Domain)],
        Builtin::InputCollection(InputElement::Scalar),
        R::OnSecond(Basic::Scalar),
        D::None,
    )
    .doc(C::Input, "One number for each of the `entities`, read from the data file that the parameter `name` gives."),
    row(
        "InputCollectionOfVector",
        &[param("name", A::Text), param("entities", A::Domain)],
        Builtin::InputCollection(InputElement::Vector),
        R::OnSecond(Basic::Vector),
        D::None,
    )
    .doc(C::Input, "One Vector for each of the `entities`, read from the data file that the parameter `name` gives, element by element."),
    row(
        "InputCollectionOfBool",
        &[param("name", A::Text), param("entities", A::Domain)],
        Builtin::InputCollection(InputElement::Bool),
        R::OnSecond(Basic::Bool),
        D::None,
    )
    .doc(C::Input, "One truth value for each of the `entities`, read from the data file that the parameter `name` gives."),
    row(
        "InputDomainSubsetOf",
        &[param("name", A::Text), param("entities", A::Domain)],
        Builtin::InputDomainSubsetOf,
        R::NewDomainInSecond,
        D::None,
    )
    .doc(C::Input, "The domain of those `entities` that the data file lists which the parameter `name` gives."),
    row("InputSequenceOfScalar", &[param("name", A::Text)], Builtin::InputSequenceOfScalar, R::Sequence, D::None)
        .doc(C::Input, "The numbers in the data file that the parameter `name` gives, in its order."),
    row("InputTable", &[param("name", A::Text), param("argument", A::Text), param("value", A::Text)], Builtin::InputTable, R::Table, D::None)
        .doc(
            C::Input,
            "The table in the data file that the parameter `name` gives: the columns of these names have its arguments, which ascend, and its values.",
        ),
    Row {
        name: "InputTable2",
        params: &[param("name", A::Text), param("first", A::Text), param("second", A::Text), param("value", A::Text)],
        target: Target::Table2,
        doc: Some((
            C::Input,
            "The table of two arguments in the data file that the parameter `name` gives: the columns of these names have the arguments, a row for each pair, sorted by `first` and then by `second`, and the values.",
        )),
    },
    row("Interpolate", &[param("table", A::Table), param("x", A::Scalars)], Builtin::Interpolate, R::ScalarsLikeEither, D::Pure).doc(
        C::Mathematics,
        "The value of the table at `x`: between two rows along a straight line, or along a monotone cubic where the parameter `NAME_interpolation` says so. `Interpolate(table, x, y)` is the value of a table of two arguments, bilinear between its rows.",
    ),
    stencil("StencilI", &[], Word::Axis(0), "The index variable of the first axis of a Cartesian grid: `u(i+1)` is `u` one cell further along it."),
    stencil("StencilJ", &[], Word::Axis(1), "The index variable of the second axis of a Cartesian grid."),
    stencil("StencilK", &[], Word::Axis(2), "The index variable of the third axis of a Cartesian grid."),
    stencil("Width", &[param("axis", INDEX)], Word::Width, "The width of the cells of a Cartesian grid along an axis."),
    stencil("Extent", &[param("axis", INDEX)], Word::Extent, "The number of cells of a Cartesian grid along an axis."),
    stencil("IndexOf", &[param("axis", INDEX)], Word::Index, "The number of each cell along an axis of a Cartesian grid, from 0."),
    stencil("Even", &[param("axes", INDEX)], Word::Even, "Whether the sum of the numbers of each cell along one or more axes is even."),
    stencil(
        "Halo",
        &[param("u", A::Special("a collection on AllCells()")), param("rules", A::Special("rules such as `Periodic(i)`"))],
        Word::Halo,
        "The values `u`, which are worth what the rules say where they are read beyond the grid.",
    ),
    // Those that are more than a function of values.
    Row {
        name: "Output",
        params: &[param("tag", A::Text), param("data", A::Special("a Scalar, Vector, Bool or String, or a collection"))],
        target: Target::Output,
        doc: Some((C::Output, "Writes `data` under the name `tag`. A statement: it has no value.")),
    },
    Row {
        name: "NewtonSolve",
        params: &[
            param("residual_function", A::Special("a function of the unknown to a Collection Of Scalar")),
            param("u_guess", A::ScalarCollection),
        ],
        target: Target::NewtonSolve,
        doc: Some((C::Solvers, "The unknown, near `u_guess`, for which `residual_function` is zero, found with Newton's method.")),
    },
    Row {
        name: "NewtonSolveSystem",
        params: &[
            param("residual_function_array", A::Special("an Array of functions, one per unknown, of all unknowns")),
            param("u_guess_array", A::Special("an Array of Collections Of Scalar")),
        ],
        target: Target::NewtonSolveSystem,
        doc: Some((
            C::Solvers,
            "The unknowns, near the guesses, for which all residual functions are zero; each function takes all unknowns.",
        )),
    },
];

macro_rules! elementary_rows {
    ($($variant:ident $function:ident $work:ident { $($facts:tt)* })*) => { [$(elementary(Elementary::$variant)),*] };
}

/// The elementary functions.
static ELEMENTARY: [Row; Elementary::ALL.len()] = elementary_table!(elementary_rows);

/// All built-ins but the canonical sets.
pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    TABLE.iter().chain(&ELEMENTARY)
}

/// `Interpolate` of a table of two arguments.
static INTERPOLATE_2: Row = row(
    "Interpolate",
    &[param("table", A::Table2), param("x", A::Scalars), param("y", A::ScalarsWithFirst)],
    Builtin::Interpolate2,
    R::ScalarsLikeEither,
    D::Pure,
);

/// The row for a call with these arguments, as far as they are known.
pub(super) fn for_arguments(row: &'static Row, args: &[Option<Expr>]) -> &'static Row {
    let Target::Call { builtin: Builtin::Interpolate, .. } = row.target else { return row };
    let takes_two = match args.first() {
        Some(Some(table)) => table.ty == TreeType::Table2,
        Some(None) => args.len() == INTERPOLATE_2.params.len(),
        None => false,
    };
    if takes_two { &INTERPOLATE_2 } else { row }
}

/// A built-in other than the canonical sets, by name.
pub(super) fn lookup(name: &str) -> Option<&'static Row> {
    rows().find(|row| row.name == name)
}

/// A canonical set by the name of its built-in.
pub(super) fn canonical_set(name: &str) -> Option<CanonicalSet> {
    CanonicalSet::all().find(|set| set.name() == name)
}

/// Names of the built-ins that stay calls; canonical sets apart.
pub(super) fn names<'n>() -> impl Iterator<Item = &'n str> {
    rows().map(|row| -> &'n str { row.name })
}

impl ArgumentRule {
    /// Returns advice for any argument that breaks the rule.
    pub fn hint(self) -> &'static str {
        match self {
            A::Text => "write the name between double quotes",
            A::Scalar => "reduce a collection to one number with `SumReduce`, `MinReduce` or `MaxReduce`",
            A::Scalars | A::ScalarsWithFirst => "it works on numbers: choose them by a condition with `? :`, or take a component `v[0]`",
            A::ScalarCollection | A::NumberCollection | A::ScalarsOn(_) => {
                "it needs one number for each element of a domain; `x Extend AllCells()` spreads one"
            }
            A::NumbersOnFaces => "it needs one number for each of some faces: `u On FirstCell(InteriorFaces())` gives those of cells",
            A::ScalarsOnFaces => "it needs one Scalar for each of some faces: `u On FirstCell(InteriorFaces())` gives those of cells",
            A::LikeFirst => "bring both to one set of faces with `On` or `Extend`",
            A::ScalarsOnCells => "it is where the comparison begins: the value of the cell itself, or a number beyond all of the faces",
            A::BoolsOnFirst => "it needs one truth value for each element of the domain: compare a collection on it with something",
            A::BoolCollection => "it needs one truth value for each element of a domain: compare a collection with something",
            A::Vectors => "Vectors come from `Centroid(...)` and `Normal(...)`",
            A::VectorsLikeFirst => "bring both to one domain with `On` or `Extend`",
            A::Table | A::Table2 => "tables come from `InputTable(\"name\", \"argument\", \"value\")`",
            A::Faces => "pass faces, such as `InteriorFaces()`",
            A::BoundaryFaces => "pass faces of the boundary, such as `BoundaryFaces()`",
            A::Entities => "pass entities, such as `AllCells()`",
            A::Domain => "name a domain, such as `AllCells()`",
            A::Special(_) => "look at the examples of its use in the documentation",
        }
    }

    /// Describes the required argument, after "must be".
    pub fn expected(self) -> String {
        match self {
            A::Text => "a String".to_owned(),
            A::Scalar => "a Scalar".to_owned(),
            A::Scalars => "a Scalar or a Collection Of Scalar".to_owned(),
            A::ScalarsWithFirst => "a Scalar, or a Collection Of Scalar on the domain of the first argument".to_owned(),
            A::ScalarCollection => "a Collection Of Scalar".to_owned(),
            A::NumberCollection => "a Collection Of Scalar or Vector".to_owned(),
            A::BoolCollection => "a Collection Of Bool".to_owned(),
            A::BoolsOnFirst => "a Collection Of Bool on the domain that is the first argument".to_owned(),
            A::ScalarsOn(sets) => {
                let names: Vec<String> = sets.iter().map(|s| format!("{}()", s.name())).collect();
                format!("a Collection Of Scalar On {}", names.join(" or "))
            }
            A::NumbersOnFaces => "a Collection Of Scalar or Vector on faces, or one such value".to_owned(),
            A::ScalarsOnFaces => "a Collection Of Scalar on faces, or one Scalar".to_owned(),
            A::LikeFirst => "a collection on the faces of the first argument, or one such value".to_owned(),
            A::ScalarsOnCells => "a Scalar or a Collection Of Scalar On AllCells()".to_owned(),
            A::Vectors => "a Vector or a Collection Of Vector".to_owned(),
            A::VectorsLikeFirst => "a Vector, or a Collection Of Vector on the domain of the first argument".to_owned(),
            A::Table => "a Table".to_owned(),
            A::Table2 => "a Table of two arguments".to_owned(),
            A::Faces => format!("a collection of {}", EntityKind::Face.name()),
            A::BoundaryFaces => format!("a collection of {} with one cell each", EntityKind::Face.name()),
            A::Entities => "a collection of entities".to_owned(),
            A::Domain => "a domain".to_owned(),
            A::Special(types) => types.to_owned(),
        }
    }
}

impl ResultRule {
    /// The type of the result, as the reference names it.
    pub fn described(self) -> String {
        match self {
            R::Scalar => "Scalar".to_owned(),
            R::Bool => "Bool".to_owned(),
            R::ElementOfFirst => "Scalar or Vector, as the elements of the argument".to_owned(),
            R::ScalarsLikeEither => "Scalar, one per element of the argument that is a collection".to_owned(),
            R::Sequence => "Sequence Of Scalar".to_owned(),
            R::Table => "Table".to_owned(),
            R::LikeFirst(basic) => format!("{}, one per element of the first argument", basic_name(basic)),
            R::CellsLikeFirst => "Cell, one per element of the first argument".to_owned(),
            R::ScalarsOn(set) => format!("Collection Of Scalar On {}()", set.name()),
            R::OnCells => "Scalar or Vector, as the first argument, On AllCells()".to_owned(),
            R::OnSecond(basic) => format!("Collection Of {} On the second argument", basic_name(basic)),
            R::NewDomainInFirst => "a new domain, a subset of the first argument".to_owned(),
            R::NewDomainInSecond => "a new domain, a subset of the second argument".to_owned(),
        }
    }
}

impl DimensionRule {
    /// The dimension of the result, as the reference names it.
    pub fn described(self) -> &'static str {
        match self {
            D::None | D::DropSecond => "none",
            D::Length => "length",
            D::First => "that of the first argument",
            D::Second => "that of the second argument",
            D::Equal => "that of the arguments, which must be the same",
            D::Ratio => "none, and the arguments must have the same",
            D::Product => "the product of both",
            D::Half => "the square root of the argument's",
            D::DemandNone | D::Pure => "none, and the argument must have none",
        }
    }
}
