//! Reasons why lanes leave a kernel to the evaluator of elements.

use std::fmt;

/// A construct that lanes do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// Derivatives outside an equation.
    Derivatives,
    /// Columns of a Jacobian that the state chooses.
    ChosenColumns,
    /// Derivatives of a sum over faces inside another one.
    NestedSums,
    /// Unknowns that have no columns, or none that ascend.
    Unknowns,
    /// A single evaluation, too few for lanes.
    OneElement,
    /// A value per axis that is no Scalar, or that has conditions.
    PerAxis,
    /// In a Cartesian form: an entity that is neither the cell nor on one of its sides.
    OtherEntity,
    /// Branches and sums inside each other.
    Depth,
    /// A value of a type that verification should have refused.
    Type,
}

impl Refusal {
    /// The construct, as reports name it.
    pub fn construct(self) -> &'static str {
        match self {
            Refusal::Derivatives => "derivatives outside of an equation",
            Refusal::ChosenColumns => "columns of a Jacobian that the state chooses",
            Refusal::NestedSums => "derivatives of a sum over faces inside another one",
            Refusal::Unknowns => "unknowns whose columns do not ascend",
            Refusal::OneElement => "a single evaluation",
            Refusal::PerAxis => "values per axis that are no Scalars",
            Refusal::OtherEntity => "a Cartesian form with other entities than sides",
            Refusal::Depth => "many branches and sums inside each other",
            Refusal::Type => "a value of another type",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.construct())
    }
}
