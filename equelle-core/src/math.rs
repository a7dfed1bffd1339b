//! Functions of numbers that the language defines for every back-end.
//!
//! The mathematical functions are written once ([`functions`](crate::functions)), of IEEE
//! operations without fused multiply-add, for Rust and for CUDA C++: the same bits on every
//! processor, in the interpreter, in vector instructions and on GPUs. `exp`, `expm1`, `log`, `sin`,
//! `cos` and `tanh` are within 1 ulp of the exact value, the others within 2. In single precision
//! all of their operations are single.

use crate::elementary_table;
use crate::real::Float;

/// The smaller number; of equal ones (such as +0.0 and -0.0) the first; NaN if one is NaN.
#[inline]
pub fn min<R: Float>(a: R, b: R) -> R {
    if a <= b || a.is_nan() { a } else { b }
}

/// The larger number; of equal ones (such as +0.0 and -0.0) the first; NaN if one is NaN.
#[inline]
pub fn max<R: Float>(a: R, b: R) -> R {
    if a >= b || a.is_nan() { a } else { b }
}

/// `a` to the power of `b`.
#[inline(always)]
pub fn pow<R: Float>(a: R, b: R) -> R {
    a.pow(b)
}

/// The angle, in radians, of the point `(x, y)`.
#[inline(always)]
pub fn atan2<R: Float>(y: R, x: R) -> R {
    y.atan2(x)
}

/// A function by its work: compilers decide about long ones.
macro_rules! function {
    ($doc:literal Long $function:ident) => {
        #[doc = $doc]
        #[inline]
        pub fn $function<R: Float>(x: R) -> R {
            x.$function()
        }
    };
    ($doc:literal $work:ident $function:ident) => {
        #[doc = $doc]
        #[inline(always)]
        pub fn $function<R: Float>(x: R) -> R {
            x.$function()
        }
    };
}

macro_rules! all_functions {
    ($($variant:ident $function:ident $work:ident { doc: $doc:literal, $($facts:tt)* })*) => {
        $(function!($doc $work $function);)*
    };
}

elementary_table!(all_functions);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equals_and_nan() {
        assert_eq!(min(0.0f64, -0.0).to_bits(), 0.0f64.to_bits());
        assert_eq!(max(-0.0f64, 0.0).to_bits(), (-0.0f64).to_bits());
        assert_eq!((min(1.0, 2.0), max(1.0, 2.0)), (1.0, 2.0));
        assert!(min(f64::NAN, 1.0).is_nan() && min(1.0, f64::NAN).is_nan());
        assert!(max(f64::NAN, 1.0).is_nan() && max(1.0, f64::NAN).is_nan());
    }
}
