//! The type of numbers in collections: double or single precision, fixed at compile time of a
//! program.
//!
//! Scalars, single Vectors, accumulators of reductions, norms and tolerances are always `f64`.

use std::borrow::Cow;
use std::fmt::{Debug, Display, LowerExp};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use crate::math::{double, single};
use crate::output::FieldValues;

/// A floating-point type of collections. The operations are IEEE, correctly rounded; the
/// mathematical functions are those of [`crate::math`].
pub trait Real:
    Copy
    + Default
    + PartialEq
    + PartialOrd
    + Debug
    + Display
    + LowerExp
    + Send
    + Sync
    + 'static
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
{
    /// Its name in Rust.
    const NAME: &'static str;
    /// +0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Machine epsilon: the distance from 1 to the next larger number.
    const EPSILON: f64;

    /// The nearest number of this type; ties to even.
    fn from_f64(value: f64) -> Self;
    /// The same number.
    fn to_f64(self) -> f64;
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
    /// True if it is NaN.
    fn is_nan(self) -> bool;
    /// Magnitude.
    #[must_use]
    fn abs(self) -> Self;
    /// Square root.
    #[must_use]
    fn sqrt(self) -> Self;
    /// `self * b + c`, rounded once.
    #[must_use]
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// Exponential function.
    #[must_use]
    fn exp(self) -> Self;
    /// Natural logarithm.
    #[must_use]
    fn log(self) -> Self;
    /// Sine, of radians.
    #[must_use]
    fn sin(self) -> Self;
    /// Cosine, of radians.
    #[must_use]
    fn cos(self) -> Self;
    /// Tangent, of radians.
    #[must_use]
    fn tan(self) -> Self;
    /// Hyperbolic tangent.
    #[must_use]
    fn tanh(self) -> Self;
    /// Hyperbolic sine.
    #[must_use]
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    #[must_use]
    fn cosh(self) -> Self;
    /// Arcus sine, in radians; NaN outside of -1 to 1.
    #[must_use]
    fn asin(self) -> Self;
    /// Arcus cosine, in radians; NaN outside of -1 to 1.
    #[must_use]
    fn acos(self) -> Self;
    /// Arcus tangent, in radians.
    #[must_use]
    fn atan(self) -> Self;
    /// Logarithm of base 10.
    #[must_use]
    fn log10(self) -> Self;
    /// Error function.
    #[must_use]
    fn erf(self) -> Self;
    /// The largest whole number that is not above.
    #[must_use]
    fn floor(self) -> Self;
    /// The smallest whole number that is not below.
    #[must_use]
    fn ceil(self) -> Self;
    /// -1, 0 or 1 as the number is negative, zero or positive.
    #[must_use]
    fn sign(self) -> Self;
    /// The nearest whole number; halves away from zero.
    #[must_use]
    fn round(self) -> Self;
    /// To the power of `b`.
    #[must_use]
    fn pow(self, b: Self) -> Self;
    /// The angle, in radians, of the point with this ordinate and the abscissa `x`.
    #[must_use]
    fn atan2(self, x: Self) -> Self;
}

macro_rules! real {
    ($real:ident, $from:expr, $rounded:expr, $values:path, $functions:ident) => {
        impl Real for $real {
            const NAME: &'static str = stringify!($real);
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: f64 = $real::EPSILON as f64;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                ($from)(value)
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }

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
            fn is_nan(self) -> bool {
                self.is_nan()
            }

            #[inline(always)]
            fn abs(self) -> Self {
                self.abs()
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }

            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }

            #[inline(always)]
            fn exp(self) -> Self {
                $functions::exp(self)
            }

            #[inline(always)]
            fn log(self) -> Self {
                $functions::log(self)
            }

            #[inline]
            fn sin(self) -> Self {
                $functions::sin(self)
            }

            #[inline]
            fn cos(self) -> Self {
                $functions::cos(self)
            }

            #[inline]
            fn tan(self) -> Self {
                $functions::tan(self)
            }

            #[inline(always)]
            fn tanh(self) -> Self {
                $functions::tanh(self)
            }

            #[inline(always)]
            fn sinh(self) -> Self {
                $functions::sinh(self)
            }

            #[inline(always)]
            fn cosh(self) -> Self {
                $functions::cosh(self)
            }

            #[inline(always)]
            fn asin(self) -> Self {
                $functions::asin(self)
            }

            #[inline(always)]
            fn acos(self) -> Self {
                $functions::acos(self)
            }

            #[inline(always)]
            fn atan(self) -> Self {
                $functions::atan(self)
            }

            #[inline(always)]
            fn log10(self) -> Self {
                $functions::log10(self)
            }

            #[inline(always)]
            fn erf(self) -> Self {
                $functions::erf(self)
            }

            #[inline(always)]
            fn floor(self) -> Self {
                $functions::floor(self)
            }

            #[inline(always)]
            fn ceil(self) -> Self {
                $functions::ceil(self)
            }

            #[inline(always)]
            fn sign(self) -> Self {
                $functions::sign(self)
            }

            #[inline(always)]
            fn round(self) -> Self {
                $functions::round(self)
            }

            #[inline(always)]
            fn pow(self, b: Self) -> Self {
                $functions::pow(self, b)
            }

            #[inline(always)]
            fn atan2(self, x: Self) -> Self {
                $functions::atan2(self, x)
            }
        }
    };
}

real!(f64, |value| value, Cow::Borrowed, FieldValues::F64, double);
real!(f32, |value| value as f32, |values: &[f64]| values.iter().map(|&value| value as f32).collect(), FieldValues::F32, single);

#[cfg(test)]
mod tests {
    use super::Real;

    #[test]
    fn single_precision_rounds_to_the_nearest_ties_to_even() {
        // The spacing of `f32` at 1 is 2^-23: half of it ties to 1, three quarters round up;
        // overflow goes to infinity.
        let half = f64::from(f32::EPSILON) / 2.0;
        assert_eq!(f32::from_f64(1.0 + half), 1.0);
        assert_eq!(f32::from_f64(1.0 + 1.5 * half), 1.0 + f32::EPSILON);
        assert_eq!(f32::from_f64(1e39), f32::INFINITY);
        assert!(f32::from_f64(f64::NAN).is_nan());
        assert_eq!(f64::from_f64(1.0 + half), 1.0 + half);
    }

    #[test]
    fn negative_zero_is_told_apart() {
        assert!(f32::from_f64(-0.0).is_negative_zero() && Real::is_negative_zero(-0.0f64));
        assert!(!f32::ZERO.is_negative_zero() && !f64::ZERO.is_negative_zero() && !(-1.0f32).is_negative_zero());
    }
}
