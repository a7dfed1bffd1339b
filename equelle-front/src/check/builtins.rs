//! The table of built-in functions: names, parameters, and rules for arguments, result and dimension.
//! A new built-in is a row here, a variant of [`Builtin`] and its meaning in lowering.

use crate::typed::Builtin;
use crate::types::{Basic, CanonicalSet, EntityKind};

/// A row of the table.
pub(super) struct Row {
    pub name: &'static str,
    pub params: &'static [Param],
    pub target: Target,
}

/// What a call of a built-in becomes.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Call {
        builtin: Builtin,
        result: ResultRule,
        dimension: DimensionRule,
    },
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

/// What an argument may be.
#[derive(Clone, Copy)]
pub(super) enum ArgumentRule {
    /// A String.
    Text,
    /// One Scalar.
    Scalar,
    /// Scalars: one, or a collection.
    Scalars,
    /// A collection of Scalars on any domain.
    ScalarCollection,
    /// A collection of Scalars on one of these sets.
    ScalarsOn(&'static [CanonicalSet]),
    /// Vectors: one, or a collection.
    Vectors,
    /// Vectors, of the same shape as the first argument.
    VectorsLikeFirst,
    /// Faces.
    Faces,
    /// Entities of any kind.
    Entities,
    /// A domain.
    Domain,
    /// Checked by the code for the target.
    Special,
}

/// Type of the result.
#[derive(Clone, Copy)]
pub(super) enum ResultRule {
    /// One Scalar.
    Scalar,
    /// A sequence of Scalars.
    Sequence,
    /// This basic type, one per element of the first argument, or one if that is single.
    LikeFirst(Basic),
    /// Cells in AllCells(), one per element of the first argument.
    CellsLikeFirst,
    /// Scalars on a canonical set.
    ScalarsOn(CanonicalSet),
    /// Scalars on the domain that is the second argument.
    ScalarsOnSecond,
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
    Row { name, params, target: Target::Call { builtin, result, dimension } }
}

use ArgumentRule as A;
use DimensionRule as D;
use ResultRule as R;

/// All built-ins but the twelve canonical sets, which are [`CanonicalSet::all`].
pub(super) const TABLE: &[Row] = &[
    // Topology and geometry.
    row("FirstCell", &[param("faces", A::Faces)], Builtin::FirstCell, R::CellsLikeFirst, D::None),
    row("SecondCell", &[param("faces", A::Faces)], Builtin::SecondCell, R::CellsLikeFirst, D::None),
    row("IsEmpty", &[param("entities", A::Entities)], Builtin::IsEmpty, R::LikeFirst(Basic::Bool), D::None),
    row("Centroid", &[param("entities", A::Entities)], Builtin::Centroid, R::LikeFirst(Basic::Vector), D::Length),
    row("Normal", &[param("faces", A::Faces)], Builtin::Normal, R::LikeFirst(Basic::Vector), D::None),
    // Discrete operators.
    row(
        "Gradient",
        &[param("values", A::ScalarsOn(&[CanonicalSet::ALL_CELLS]))],
        Builtin::Gradient,
        R::ScalarsOn(CanonicalSet::INTERIOR_FACES),
        D::First,
    ),
    row(
        "Divergence",
        &[param("values", A::ScalarsOn(&[CanonicalSet::INTERIOR_FACES, CanonicalSet::ALL_FACES]))],
        Builtin::Divergence,
        R::ScalarsOn(CanonicalSet::ALL_CELLS),
        D::First,
    ),
    // Mathematics.
    row("Dot", &[param("v1", A::Vectors), param("v2", A::VectorsLikeFirst)], Builtin::Dot, R::LikeFirst(Basic::Scalar), D::Product),
    row("Sqrt", &[param("s", A::Scalars)], Builtin::Sqrt, R::LikeFirst(Basic::Scalar), D::Half),
    row("MaxReduce", &[param("x", A::ScalarCollection)], Builtin::MaxReduce, R::Scalar, D::First),
    row("MinReduce", &[param("x", A::ScalarCollection)], Builtin::MinReduce, R::Scalar, D::First),
    row("SumReduce", &[param("x", A::ScalarCollection)], Builtin::SumReduce, R::Scalar, D::First),
    row("ProdReduce", &[param("x", A::ScalarCollection)], Builtin::ProdReduce, R::Scalar, D::DemandNone),
    // Input: without dimension.
    row(
        "InputScalarWithDefault",
        &[param("name", A::Text), param("default", A::Scalar)],
        Builtin::InputScalarWithDefault,
        R::Scalar,
        D::DropSecond,
    ),
    row(
        "InputCollectionOfScalar",
        &[param("name", A::Text), param("entities", A::Domain)],
        Builtin::InputCollectionOfScalar,
        R::ScalarsOnSecond,
        D::None,
    ),
    row(
        "InputDomainSubsetOf",
        &[param("name", A::Text), param("entities", A::Domain)],
        Builtin::InputDomainSubsetOf,
        R::NewDomainInSecond,
        D::None,
    ),
    row("InputSequenceOfScalar", &[param("name", A::Text)], Builtin::InputSequenceOfScalar, R::Sequence, D::None),
    // Those that are more than a function of values.
    Row { name: "Output", params: &[param("tag", A::Text), param("data", A::Special)], target: Target::Output },
    Row {
        name: "NewtonSolve",
        params: &[param("residual_function", A::Special), param("u_guess", A::ScalarCollection)],
        target: Target::NewtonSolve,
    },
    Row {
        name: "NewtonSolveSystem",
        params: &[param("residual_function_array", A::Special), param("u_guess_array", A::Special)],
        target: Target::NewtonSolveSystem,
    },
];

/// A built-in other than the canonical sets, by name.
pub(super) fn lookup(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name == name)
}

/// A canonical set by the name of its built-in.
pub(super) fn canonical_set(name: &str) -> Option<CanonicalSet> {
    CanonicalSet::all().find(|set| set.name() == name)
}

/// Names of the built-ins that stay calls; canonical sets apart.
pub(super) fn names<'n>() -> impl Iterator<Item = &'n str> {
    TABLE.iter().map(|row| -> &'n str { row.name })
}

impl ArgumentRule {
    /// What it asks for, after "must be".
    pub fn expected(self) -> String {
        match self {
            A::Text => "a String".to_owned(),
            A::Scalar => "a Scalar".to_owned(),
            A::Scalars => "a Scalar or a Collection Of Scalar".to_owned(),
            A::ScalarCollection => "a Collection Of Scalar".to_owned(),
            A::ScalarsOn(sets) => {
                let names: Vec<String> = sets.iter().map(|s| format!("{}()", s.name())).collect();
                format!("a Collection Of Scalar On {}", names.join(" or "))
            }
            A::Vectors => "a Collection Of Vector".to_owned(),
            A::VectorsLikeFirst => "a Collection Of Vector on the same domain as the first argument".to_owned(),
            A::Faces => format!("a collection of {}", EntityKind::Face.name()),
            A::Entities => "a collection of entities".to_owned(),
            A::Domain => "a domain".to_owned(),
            A::Special => "suitable".to_owned(),
        }
    }
}
