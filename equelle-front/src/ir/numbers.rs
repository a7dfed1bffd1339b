//! Precision and rounding of a program's real numbers.

/// Precision and the freedom in rounding; the same for a whole program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Precision of collections.
    pub precision: Precision,
    /// Rounding in kernels.
    pub rounding: Rounding,
}

/// The type of the numbers in collections. Scalars, single Vectors and what reductions accumulate
/// are doubles in either case; so is what kernels compute that read no collection of numbers, such
/// as transmissibilities, until they store it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// IEEE double.
    #[default]
    Double,
    /// IEEE single.
    Single,
}

impl Precision {
    /// As on the command line: `f64`, `f32`.
    pub fn name(self) -> &'static str {
        match self {
            Precision::Double => "f64",
            Precision::Single => "f32",
        }
    }

    /// The nearest number of this precision; ties to even.
    pub fn round(self, number: f64) -> f64 {
        match self {
            Precision::Double => number,
            Precision::Single => f64::from(number as f32),
        }
    }
}

/// Roundings that may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// None: every operation as written.
    #[default]
    Strict,
    /// Products may be added without being rounded, and quotients of one divisor may be products
    /// with its reciprocal.
    Fast,
}

impl Rounding {
    /// As on the command line: `strict`, `fast`.
    pub fn name(self) -> &'static str {
        match self {
            Rounding::Strict => "strict",
            Rounding::Fast => "fast",
        }
    }
}
