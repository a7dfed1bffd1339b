//! Functions of numbers that the language defines for every back-end.
//!
//! The mathematical functions are written once ([`functions`]), of IEEE operations without fused
//! multiply-add, for Rust and for CUDA C++: the same bits on every processor, in the interpreter,
//! in vector instructions and on GPUs. `exp`, `log`, `sin`, `cos` and `tanh` are within 1 ulp of
//! the exact value, the others within 2. In single precision all of their operations are single.

mod constants;
mod cuda;
mod functions;
mod rust;
pub mod table;
pub mod table2;

pub use cuda::cuda_text;
pub(crate) use rust::{double, single};
pub use table::{interpolate, slope};

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
#[inline(always)]
pub fn exp<R: Real>(x: R) -> R {
    x.exp()
}

/// Natural logarithm.
#[inline(always)]
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

/// Hyperbolic tangent.
#[inline(always)]
pub fn tanh<R: Real>(x: R) -> R {
    x.tanh()
}

/// Hyperbolic sine.
#[inline(always)]
pub fn sinh<R: Real>(x: R) -> R {
    x.sinh()
}

/// Hyperbolic cosine.
#[inline(always)]
pub fn cosh<R: Real>(x: R) -> R {
    x.cosh()
}

/// Arcus sine, in radians; NaN outside of -1 to 1.
#[inline(always)]
pub fn asin<R: Real>(x: R) -> R {
    x.asin()
}

/// Arcus cosine, in radians; NaN outside of -1 to 1.
#[inline(always)]
pub fn acos<R: Real>(x: R) -> R {
    x.acos()
}

/// Arcus tangent, in radians.
#[inline(always)]
pub fn atan<R: Real>(x: R) -> R {
    x.atan()
}

/// Logarithm of base 10.
#[inline(always)]
pub fn log10<R: Real>(x: R) -> R {
    x.log10()
}

/// Error function.
#[inline(always)]
pub fn erf<R: Real>(x: R) -> R {
    x.erf()
}

/// The largest whole number that is not above.
#[inline(always)]
pub fn floor<R: Real>(x: R) -> R {
    x.floor()
}

/// The smallest whole number that is not below.
#[inline(always)]
pub fn ceil<R: Real>(x: R) -> R {
    x.ceil()
}

/// -1, 0 or 1 as the number is negative, zero or positive.
#[inline(always)]
pub fn sign<R: Real>(x: R) -> R {
    x.sign()
}

/// The nearest whole number; halves away from zero.
#[inline(always)]
pub fn round<R: Real>(x: R) -> R {
    x.round()
}

/// `a` to the power of `b`.
#[inline(always)]
pub fn pow<R: Real>(a: R, b: R) -> R {
    a.pow(b)
}

/// The angle, in radians, of the point `(x, y)`.
#[inline(always)]
pub fn atan2<R: Real>(y: R, x: R) -> R {
    y.atan2(x)
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
    /// The value at `x`. Not inlined: all functions would be wherever one may be.
    #[inline(never)]
    pub fn of<R: Real>(self, x: R) -> R {
        match self {
            Elementary::Exp => exp(x),
            Elementary::Log => log(x),
            Elementary::Sin => sin(x),
            Elementary::Cos => cos(x),
            Elementary::Tan => tan(x),
            Elementary::Tanh => tanh(x),
            Elementary::Sinh => sinh(x),
            Elementary::Cosh => cosh(x),
            Elementary::ASin => asin(x),
            Elementary::ACos => acos(x),
            Elementary::ATan => atan(x),
            Elementary::Log10 => log10(x),
            Elementary::Erf => erf(x),
            Elementary::Floor => floor(x),
            Elementary::Ceil => ceil(x),
            Elementary::Sign => sign(x),
            Elementary::Round => round(x),
        }
    }

    /// The derivative at `x`; `value` is the value there.
    #[inline(never)]
    pub fn derivative<R: Real>(self, x: R, value: R) -> R {
        match self {
            Elementary::Exp => value,
            Elementary::Log => R::ONE / x,
            Elementary::Sin => cos(x),
            Elementary::Cos => -sin(x),
            Elementary::Tan => R::ONE + value * value,
            Elementary::Tanh => R::ONE - value * value,
            Elementary::Sinh => cosh(x),
            Elementary::Cosh => sinh(x),
            Elementary::ASin => R::ONE / ((R::ONE - x) * (R::ONE + x)).sqrt(),
            Elementary::ACos => -(R::ONE / ((R::ONE - x) * (R::ONE + x)).sqrt()),
            Elementary::ATan => R::ONE / (R::ONE + x * x),
            Elementary::Log10 => R::from_f64(std::f64::consts::LOG10_E) / x,
            Elementary::Erf => R::from_f64(std::f64::consts::FRAC_2_SQRT_PI) * exp(-(x * x)),
            // Between the jumps.
            Elementary::Floor | Elementary::Ceil | Elementary::Sign | Elementary::Round => R::ZERO,
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
            BinaryMath::Pow => shared_pow(a, b),
            BinaryMath::ATan2 => shared_atan2(a, b),
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
            BinaryMath::Pow => b * shared_pow(a, b - R::ONE),
            BinaryMath::ATan2 => b / (a * a + b * b),
        }
    }

    /// The derivative with respect to the second number; `value` is the value there.
    #[inline]
    pub fn by_second<R: Real>(self, a: R, b: R, value: R) -> R {
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
fn shared_pow<R: Real>(a: R, b: R) -> R {
    pow(a, b)
}

/// [`atan2`] as a call.
#[inline(never)]
fn shared_atan2<R: Real>(y: R, x: R) -> R {
    atan2(y, x)
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
        for f in Elementary::ALL {
            for x in [0.3, 0.6, 0.9] {
                let difference = (f.of(x + h) - f.of(x - h)) / (2.0 * h);
                assert!((f.derivative(x, f.of(x)) - difference).abs() < 1e-8, "{f:?} at {x}");
            }
        }
        for f in [BinaryMath::Min, BinaryMath::Max, BinaryMath::Pow, BinaryMath::ATan2] {
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
