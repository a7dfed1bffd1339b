//! Precision of a program: that of collections and derivatives. Scalars, single Vectors, sequences,
//! accumulators of reductions and linear systems are always in double precision.

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
    /// The precision of numbers of type `R`.
    pub fn of<R: Real>() -> Self {
        if R::NAME == f32::NAME { Precision::Single } else { Precision::Double }
    }

    /// Size of a number in bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Precision::Double => 8,
            Precision::Single => 4,
        }
    }
}
