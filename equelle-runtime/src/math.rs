//! Functions of numbers that the language defines for every back-end.
//!
//! The mathematical functions come from the crate `libm`: the same bits on every processor.

use crate::operators::{Binary, BinaryMath, Elementary, Unary};
use crate::real::Real;

/// The smaller number; of equal ones (such as +0.0 and -0.0) the first; NaN if one is NaN.
#[inline]
pub fn min<R: Real>(a: R, b: R) -> R {
    if a <= b || a.is_nan() { a } else { b }
}

/// The larger number; of equal ones (such as +0.0 and -0.0) the first; NaN if one is NaN.
#[inline]
pub fn max<R: Real>(a: R, b: R) -> R {
    if a >= b || a.is_nan() { a } else { b }
}

/// Exponential function.
#[inline]
pub fn exp<R: Real>(x: R) -> R {
    x.exp()
}

/// Natural logarithm.
#[inline]
pub fn log<R: Real>(x: R) -> R {
    x.log()
}

/// Sine, of radians.
#[inline]
pub fn sin<R: Real>(x: R) -> R {
    x.sin()
}

/// Cosine, of radians.
#[inline]
pub fn cos<R: Real>(x: R) -> R {
    x.cos()
}

/// Tangent, of radians.
#[inline]
pub fn tan<R: Real>(x: R) -> R {
    x.tan()
}

/// `a` to the power of `b`.
#[inline]
pub fn pow<R: Real>(a: R, b: R) -> R {
    a.pow(b)
}

impl Unary {
    /// The function at `a`.
    #[inline]
    pub fn of<R: Real>(self, a: R) -> R {
        match self {
            Unary::Copy => a,
            Unary::Neg => -a,
            Unary::Abs => a.abs(),
            Unary::Sqrt => a.sqrt(),
            Unary::Elementary(function) => function.of(a),
        }
    }
}

impl Binary {
    /// The function of two numbers.
    #[inline]
    pub fn of<R: Real>(self, a: R, b: R) -> R {
        match self {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            Binary::Math(function) => function.of(a, b),
        }
    }
}

impl Elementary {
    /// The value at `x`.
    #[inline]
    pub fn of<R: Real>(self, x: R) -> R {
        match self {
            Elementary::Exp => exp(x),
            Elementary::Log => log(x),
            Elementary::Sin => sin(x),
            Elementary::Cos => cos(x),
            Elementary::Tan => tan(x),
        }
    }

    /// The derivative at `x`; `value` is the value there.
    #[inline]
    pub fn derivative<R: Real>(self, x: R, value: R) -> R {
        match self {
            Elementary::Exp => value,
            Elementary::Log => R::ONE / x,
            Elementary::Sin => cos(x),
            Elementary::Cos => -sin(x),
            Elementary::Tan => R::ONE + value * value,
        }
    }
}

impl BinaryMath {
    /// The value at `(a, b)`.
    #[inline]
    pub fn of<R: Real>(self, a: R, b: R) -> R {
        match self {
            BinaryMath::Min => min(a, b),
            BinaryMath::Max => max(a, b),
            BinaryMath::Pow => pow(a, b),
        }
    }

    /// The derivative with respect to the first number. Min and Max: 1 where the first is chosen,
    /// else 0.
    #[inline]
    pub fn by_first<R: Real>(self, a: R, b: R) -> R {
        match self {
            BinaryMath::Min => chosen(a <= b || a.is_nan()),
            BinaryMath::Max => chosen(a >= b || a.is_nan()),
            // Constant, rather than 0 * infinity at a = 0.
            BinaryMath::Pow if b == R::ZERO => R::ZERO,
            BinaryMath::Pow => b * pow(a, b - R::ONE),
        }
    }

    /// The derivative with respect to the second number; `value` is the value there.
    #[inline]
    pub fn by_second<R: Real>(self, a: R, b: R, value: R) -> R {
        match self {
            BinaryMath::Min | BinaryMath::Max => R::ONE - self.by_first(a, b),
            // The limit from above for positive exponents.
            BinaryMath::Pow if value == R::ZERO => R::ZERO,
            BinaryMath::Pow => value * log(a),
        }
    }
}

fn chosen<R: Real>(first: bool) -> R {
    if first { R::ONE } else { R::ZERO }
}

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

    /// Central differences have an error of h^2/6 times a third derivative (below 20 here) plus
    /// rounding of 1e-16/h: 1e-8 covers both for h = 1e-5.
    #[test]
    fn derivatives_match_differences() {
        let h = 1e-5;
        for f in [Elementary::Exp, Elementary::Log, Elementary::Sin, Elementary::Cos, Elementary::Tan] {
            for x in [0.3, 0.9, 1.2] {
                let difference = (f.of(x + h) - f.of(x - h)) / (2.0 * h);
                assert!((f.derivative(x, f.of(x)) - difference).abs() < 1e-8, "{f:?} at {x}");
            }
        }
        for f in [BinaryMath::Min, BinaryMath::Max, BinaryMath::Pow] {
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
