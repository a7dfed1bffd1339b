//! The type of numbers in collections: double or single precision, fixed at compile time of a
//! program.
//!
//! Scalars, single Vectors, accumulators of reductions, norms and tolerances are always `f64`.

use std::borrow::Cow;

pub use equelle_core::Float;

use crate::output::FieldValues;
use crate::wire::Wire;

/// A floating-point type of collections.
pub trait Real: Float + Wire {
    /// Its name in Rust.
    const NAME: &'static str;
    /// Machine epsilon: the distance from 1 to the next larger number.
    const EPSILON: f64;

    /// Converts and rounds.
    fn vec_from_f64(values: Vec<f64>) -> Vec<Self> {
        values.into_iter().map(Self::from_f64).collect()
    }
    /// Converts without rounding.
    fn slice_to_f64(values: &[Self]) -> Vec<f64> {
        values.iter().map(|value| value.to_f64()).collect()
    }
    /// Rounded numbers; doubles as they are.
    fn rounded(values: &[f64]) -> Cow<'_, [Self]>;
    /// Writes rounded numbers. Both slices have the same length.
    fn copy_from_f64(out: &mut [Self], values: &[f64]) {
        debug_assert_eq!(out.len(), values.len());
        for (out, &value) in out.iter_mut().zip(values) {
            *out = Self::from_f64(value);
        }
    }
    /// Values of an output, by component.
    fn field_values(columns: Vec<Vec<Self>>) -> FieldValues;
    /// True if it is −0.
    fn is_negative_zero(self) -> bool;
    /// `self * b + c`, rounded once.
    #[must_use]
    fn mul_add(self, b: Self, c: Self) -> Self;
}

macro_rules! real {
    ($real:ident, $rounded:expr, $values:path) => {
        impl Real for $real {
            const NAME: &'static str = stringify!($real);
            const EPSILON: f64 = $real::EPSILON as f64;

            fn rounded(values: &[f64]) -> Cow<'_, [Self]> {
                ($rounded)(values)
            }

            fn field_values(columns: Vec<Vec<Self>>) -> FieldValues {
                $values(columns)
            }

            #[inline(always)]
            fn is_negative_zero(self) -> bool {
                self.to_bits() == (-0.0 as $real).to_bits()
            }

            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
        }
    };
}

real!(f64, Cow::Borrowed, FieldValues::F64);
real!(f32, |values: &[f64]| values.iter().map(|&value| value as f32).collect(), FieldValues::F32);

#[cfg(test)]
mod tests {
    use super::{Float, Real};

    #[test]
    fn negative_zero_is_told_apart() {
        assert!(f32::from_f64(-0.0).is_negative_zero() && Real::is_negative_zero(-0.0f64));
        assert!(!f32::ZERO.is_negative_zero() && !f64::ZERO.is_negative_zero() && !(-1.0f32).is_negative_zero());
    }
}
