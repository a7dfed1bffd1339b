//! The precision of a program: what collections and derivatives hold. Scalars, single Vectors, sequences, what reductions accumulate and linear systems are doubles in either case.

use equelle_runtime::Real;

/// A type of numbers in device memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// IEEE double.
    #[default]
    Double,
    /// IEEE single.
    Single,
}

impl Precision {
    /// That of the numbers of a runtime in the precision `R`.
    pub fn of<R: Real>() -> Self {
        if R::NAME == f32::NAME { Precision::Single } else { Precision::Double }
    }

    /// Bytes of a number.
    pub fn bytes(self) -> u64 {
        match self {
            Precision::Double => 8,
            Precision::Single => 4,
        }
    }
}
