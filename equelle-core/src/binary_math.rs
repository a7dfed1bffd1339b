//! Functions of two numbers.

use crate::elementary::{Elementary, Work};
use crate::math::{atan2, max, min, pow};
use crate::real::Float;

/// Functions of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryMath {
    /// The smaller one; the first of two equal ones; NaN if one is NaN.
    Min,
    /// The larger one; the first of two equal ones; NaN if one is NaN.
    Max,
    /// The first to the power of the second.
    Pow,
    /// The angle, in radians, of the point whose ordinate is the first and abscissa the second.
    ATan2,
}

impl BinaryMath {
    /// All of them.
    pub const ALL: [BinaryMath; 4] = [BinaryMath::Min, BinaryMath::Max, BinaryMath::Pow, BinaryMath::ATan2];

    /// As in the language, and of operations in the text of the IR.
    pub fn name(self) -> &'static str {
        match self {
            BinaryMath::Min => "Min",
            BinaryMath::Max => "Max",
            BinaryMath::Pow => "Pow",
            BinaryMath::ATan2 => "ATan2",
        }
    }

    /// As in kernels of the IR and in Rust; in CUDA C++ `eq_` is before it.
    pub fn word(self) -> &'static str {
        match self {
            BinaryMath::Min => "min",
            BinaryMath::Max => "max",
            BinaryMath::Pow => "pow",
            BinaryMath::ATan2 => "atan2",
        }
    }

    /// Time.
    pub fn work(self) -> Work {
        match self {
            BinaryMath::Min | BinaryMath::Max => Work::Steps,
            BinaryMath::Pow | BinaryMath::ATan2 => Work::Long,
        }
    }

    /// The value at `(a, b)`.
    #[inline]
    pub fn of<R: Float>(self, a: R, b: R) -> R {
        match self {
            BinaryMath::Min => min(a, b),
            BinaryMath::Max => max(a, b),
            BinaryMath::Pow => shared_pow(a, b),
            BinaryMath::ATan2 => shared_atan2(a, b),
        }
    }

    /// The derivative with respect to the first number. Min and Max: 1 where the first is chosen,
    /// else 0.
    #[inline]
    pub fn by_first<R: Float>(self, a: R, b: R) -> R {
        match self {
            BinaryMath::Min => chosen(a <= b || a.is_nan()),
            BinaryMath::Max => chosen(a >= b || a.is_nan()),
            // Constant, rather than 0 * infinity at a = 0.
            BinaryMath::Pow if b == R::ZERO => R::ZERO,
            BinaryMath::Pow => b * shared_pow(a, b - R::ONE),
            BinaryMath::ATan2 => b / (a * a + b * b),
        }
    }

    /// The derivative with respect to the second number; `value` is the value there.
    #[inline]
    pub fn by_second<R: Float>(self, a: R, b: R, value: R) -> R {
        match self {
            BinaryMath::Min | BinaryMath::Max => R::ONE - self.by_first(a, b),
            // The limit from above for positive exponents.
            BinaryMath::Pow if value == R::ZERO => R::ZERO,
            BinaryMath::Pow => value * Elementary::Log.of(a),
            BinaryMath::ATan2 => -a / (a * a + b * b),
        }
    }
}

/// [`pow`] as a call.
#[inline(never)]
fn shared_pow<R: Float>(a: R, b: R) -> R {
    pow(a, b)
}

/// [`atan2`] as a call.
#[inline(never)]
fn shared_atan2<R: Float>(y: R, x: R) -> R {
    atan2(y, x)
}

fn chosen<R: Float>(first: bool) -> R {
    if first { R::ONE } else { R::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Central differences have an error of h^2/6 times a third derivative (below 20 here) plus
    /// rounding of 1e-16/h: 1e-8 covers both for h = 1e-5.
    #[test]
    fn derivatives_match_differences() {
        let h = 1e-5;
        for f in Elementary::ALL {
            for x in [0.3, 0.6, 0.9] {
                let difference = (f.of(x + h) - f.of(x - h)) / (2.0 * h);
                assert!((f.derivative(x, f.of(x)).factor() - difference).abs() < 1e-8, "{f:?} at {x}");
            }
        }
        for f in BinaryMath::ALL {
            for (a, b) in [(0.7, 1.9), (1.9, 0.7), (1.5, -2.0)] {
                let by_first = (f.of(a + h, b) - f.of(a - h, b)) / (2.0 * h);
                let by_second = (f.of(a, b + h) - f.of(a, b - h)) / (2.0 * h);
                assert!((f.by_first(a, b) - by_first).abs() < 1e-8, "{f:?} at {a}, {b}");
                assert!((f.by_second(a, b, f.of(a, b)) - by_second).abs() < 1e-8, "{f:?} at {a}, {b}");
            }
        }
        assert_eq!(BinaryMath::Pow.by_first(0.0, 0.0), 0.0);
        assert_eq!(BinaryMath::Pow.by_second(0.0, 2.0, 0.0), 0.0);
    }
}
