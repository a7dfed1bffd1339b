//! Floating-point numbers of either precision.

use std::fmt::{Debug, Display, LowerExp};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use crate::elementary_table;
use crate::functions::{double, single};

/// Declarations of the elementary functions in [`Float`].
macro_rules! declare {
    ($($variant:ident $function:ident $work:ident { doc: $doc:literal, $($facts:tt)* })*) => {
        /// `f64` or `f32`. The operations are IEEE, correctly rounded; the functions are those of
        /// [`crate::math`].
        pub trait Float:
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
            /// +0.
            const ZERO: Self;
            /// 1.
            const ONE: Self;

            /// The nearest number of this type; ties to even.
            fn from_f64(value: f64) -> Self;
            /// The same number.
            fn to_f64(self) -> f64;
            /// True if it is NaN.
            fn is_nan(self) -> bool;
            /// Magnitude.
            #[must_use]
            fn abs(self) -> Self;
            /// Square root.
            #[must_use]
            fn sqrt(self) -> Self;
            $(
                #[doc = $doc]
                #[must_use]
                fn $function(self) -> Self;
            )*
            /// To the power of `b`.
            #[must_use]
            fn pow(self, b: Self) -> Self;
            /// The angle, in radians, of the point with this ordinate and the abscissa `x`.
            #[must_use]
            fn atan2(self, x: Self) -> Self;
        }
    };
}

elementary_table!(declare);

/// A function by its work: compilers decide about long ones.
macro_rules! function {
    (Long $functions:ident $function:ident) => {
        #[inline]
        fn $function(self) -> Self {
            $functions::$function(self)
        }
    };
    ($work:ident $functions:ident $function:ident) => {
        #[inline(always)]
        fn $function(self) -> Self {
            $functions::$function(self)
        }
    };
}

macro_rules! double_functions {
    ($($variant:ident $function:ident $work:ident { $($facts:tt)* })*) => { $(function!($work double $function);)* };
}

macro_rules! single_functions {
    ($($variant:ident $function:ident $work:ident { $($facts:tt)* })*) => { $(function!($work single $function);)* };
}

macro_rules! float {
    ($float:ident, $from:expr, $functions:ident, $all:ident) => {
        impl Float for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                ($from)(value)
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
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

            elementary_table!($all);

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

float!(f64, |value| value, double, double_functions);
float!(f32, |value| value as f32, single, single_functions);

#[cfg(test)]
mod tests {
    use super::Float;

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
}
