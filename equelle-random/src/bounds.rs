//! Bounds of a number, known before the program runs: an interval, and how much it magnifies.

use std::ops::{Add, Mul, Neg, Sub};

use equelle_core::{Algebra, Derivative, Elementary, Monotonicity};

/// Bounds of a Scalar, or of each component of a Vector; intervals that hold on every grid of
/// [`crate::data`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Not below.
    pub lo: f64,
    /// Not above.
    pub hi: f64,
    /// At least the sum of the absolute values of all contributions to its derivatives by the
    /// unknowns of the residual around it.
    pub slope: f64,
    /// At least its difference between two runs whose solutions of nonlinear equations differ by
    /// round-off.
    pub error: f64,
}

impl Bounds {
    /// An interval of exact values that depend on no unknown.
    pub fn new(lo: f64, hi: f64) -> Self {
        Bounds { lo, hi, slope: 0.0, error: 0.0 }
    }

    /// A number.
    pub fn number(value: f64) -> Self {
        Bounds::new(value, value)
    }

    /// The largest magnitude.
    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// True if two runs have the same bits and no unknown is in it: what may decide something.
    pub fn exact(self) -> bool {
        self.slope == 0.0 && self.error == 0.0
    }

    /// The same, chosen by what has other bounds: exact only if that is.
    pub fn decided_by(self, other: Self) -> Self {
        let least = if other.exact() { 0.0 } else { f64::MIN_POSITIVE };
        Bounds { slope: self.slope.max(least), ..self }
    }

    /// `f` at both ends of a monotone function whose derivative is at most `slope`.
    fn map(self, slope: f64, f: impl Fn(f64) -> f64) -> Self {
        let (a, b) = (f(self.lo), f(self.hi));
        Bounds { lo: a.min(b), hi: a.max(b), slope: self.slope * slope, error: self.error * slope }
    }

    fn join(self, other: Self, lo: f64, hi: f64, (a, b): (f64, f64)) -> Self {
        Bounds { lo, hi, slope: a * self.slope + b * other.slope, error: a * self.error + b * other.error }
    }

    /// `self + other`
    pub fn plus(self, other: Self) -> Self {
        self.join(other, self.lo + other.lo, self.hi + other.hi, (1.0, 1.0))
    }

    /// `self - other`
    pub fn minus(self, other: Self) -> Self {
        self.join(other, self.lo - other.hi, self.hi - other.lo, (1.0, 1.0))
    }

    /// `self * other`
    pub fn times(self, other: Self) -> Self {
        let corners = [self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi];
        let (lo, hi) = corners.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &c| (lo.min(c), hi.max(c)));
        self.join(other, lo, hi, (other.magnitude(), self.magnitude()))
    }

    /// `self / other`, where `other` is positive.
    pub fn over(self, other: Self) -> Self {
        let inverse = other.map(1.0 / (other.lo * other.lo), |x| 1.0 / x);
        self.times(inverse)
    }

    /// `-self`
    pub fn negative(self) -> Self {
        self.map(1.0, |x| -x)
    }

    /// `c * self`
    pub fn scaled(self, c: f64) -> Self {
        self.map(c.abs(), |x| c * x)
    }

    /// `|self|`
    pub fn absolute(self) -> Self {
        let lo = if self.lo <= 0.0 && self.hi >= 0.0 { 0.0 } else { self.lo.abs().min(self.hi.abs()) };
        Bounds { lo, hi: self.magnitude(), ..self }
    }

    /// The smaller one.
    pub fn min(self, other: Self) -> Self {
        Bounds { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi), ..self.either(other) }
    }

    /// The larger one.
    pub fn max(self, other: Self) -> Self {
        Bounds { lo: self.lo.max(other.lo), hi: self.hi.max(other.hi), ..self.either(other) }
    }

    /// One of both.
    pub fn either(self, other: Self) -> Self {
        Bounds {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            slope: self.slope.max(other.slope),
            error: self.error.max(other.error),
        }
    }

    /// Itself or zero.
    pub fn or_zero(self) -> Self {
        self.either(Bounds::number(0.0))
    }

    /// The square root of something positive.
    pub fn sqrt(self) -> Self {
        self.map(0.5 / self.lo.sqrt(), f64::sqrt)
    }

    /// A whole power; a negative one of something positive.
    pub fn power(self, n: i32) -> Self {
        let mut result = Bounds::number(1.0);
        for _ in 0..n.unsigned_abs() {
            result = result.times(self);
        }
        if n < 0 { Bounds::number(1.0).over(Bounds { lo: self.lo.powi(-n), ..result }) } else { result }
    }

    /// An elementary function of numbers that [`Elementary::argument`] allows.
    pub fn function(self, function: Elementary) -> Self {
        let x = Interval { lo: self.lo, hi: self.hi };
        let y = x.function(function);
        let slope = match function.derivative(x, y) {
            Derivative::Zero => 0.0,
            Derivative::Is(factor) => factor.largest(),
            Derivative::Ratio(above, below) => above.largest() / below.smallest(),
        };
        Bounds { lo: y.lo, hi: y.hi, slope: slope * self.slope, error: slope * self.error }
    }

    /// A table with values between two numbers whose slopes are at most this steep.
    pub fn tabulated(self, (lo, hi): (f64, f64), steepest: f64) -> Self {
        Bounds { lo, hi, slope: steepest * self.slope, error: steepest * self.error }
    }

    /// A table of two arguments, likewise.
    pub fn tabulated2(self, other: Self, (lo, hi): (f64, f64), steepest: f64) -> Self {
        self.join(other, lo, hi, (steepest, steepest))
    }

    /// The angle of a point whose abscissa `other` is positive.
    pub fn angle(self, other: Self) -> Self {
        let slope = 1.0 / other.lo;
        self.join(other, -std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_2, (slope, slope))
    }

    /// `self ^ other`, where `self` is positive.
    pub fn raised(self, other: Self) -> Self {
        self.function(Elementary::Log).times(other).function(Elementary::Exp)
    }

    /// A sum of at most `n` values like this one, of either sign if `signed`.
    pub fn sum(self, n: f64, signed: bool) -> Self {
        let (lo, hi) = if signed { (-self.magnitude(), self.magnitude()) } else { (self.lo.min(0.0), self.hi.max(0.0)) };
        Bounds { lo: n * lo, hi: n * hi, slope: n * self.slope, error: n * self.error }
    }
}

/// Numbers that a derivative is made of.
#[derive(Clone, Copy)]
struct Interval {
    lo: f64,
    hi: f64,
}

impl Interval {
    /// The largest magnitude.
    fn largest(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// The smallest magnitude.
    fn smallest(self) -> f64 {
        if self.lo <= 0.0 && self.hi >= 0.0 { 0.0 } else { self.lo.abs().min(self.hi.abs()) }
    }
}

impl Add for Interval {
    type Output = Interval;

    fn add(self, other: Interval) -> Interval {
        Interval { lo: self.lo + other.lo, hi: self.hi + other.hi }
    }
}

impl Sub for Interval {
    type Output = Interval;

    fn sub(self, other: Interval) -> Interval {
        self + -other
    }
}

impl Mul for Interval {
    type Output = Interval;

    fn mul(self, other: Interval) -> Interval {
        let corners = [self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi];
        let [lo, hi] = [f64::min, f64::max].map(|choose: fn(f64, f64) -> f64| corners.into_iter().fold(corners[0], choose));
        Interval { lo, hi }
    }
}

impl Neg for Interval {
    type Output = Interval;

    fn neg(self) -> Interval {
        Interval { lo: -self.hi, hi: -self.lo }
    }
}

impl Algebra for Interval {
    fn number(value: f64) -> Self {
        Interval { lo: value, hi: value }
    }

    fn root(self) -> Self {
        Interval { lo: self.lo.sqrt(), hi: self.hi.sqrt() }
    }

    fn square(self) -> Self {
        Interval { lo: self.smallest() * self.smallest(), hi: self.largest() * self.largest() }
    }

    fn function(self, function: Elementary) -> Self {
        let (low, high) = (function.of(self.lo), function.of(self.hi));
        let (least, greatest) = function.values();
        match function.monotonicity() {
            Monotonicity::Increasing => Interval { lo: low, hi: high },
            Monotonicity::Decreasing => Interval { lo: high, hi: low },
            Monotonicity::Quasiconvex => Interval { lo: least, hi: low.max(high) },
            Monotonicity::Neither => Interval { lo: least, hi: greatest },
        }
    }
}

#[cfg(test)]
mod tests {
    use equelle_core::{Argument, Work};

    use super::*;

    /// Values and difference quotients between points of an interval are within its bounds; 1e-9 is
    /// the rounding of a quotient with a distance of 1e-3 and values below 1e3.
    #[test]
    fn elementary_functions_keep_their_bounds() {
        for function in Elementary::ALL {
            let (lo, hi) = match function.argument() {
                Argument::Any(lo, hi) => (lo.max(-3.0), hi.min(3.0)),
                Argument::Positive => (0.2, 3.0),
                Argument::SineOrCosine => (-0.5, 0.5),
            };
            for (lo, hi) in [(lo, hi), (lo, 0.5 * (lo + hi)), (0.5 * (lo + hi), hi)] {
                let bounds = Bounds { lo, hi, slope: 1.0, error: 0.0 }.function(function);
                let steps = ((hi - lo) / 1e-3) as usize;
                for k in 0..steps {
                    let (x, next) = (lo + 1e-3 * k as f64, lo + 1e-3 * (k + 1) as f64);
                    let (y, after) = (function.of(x), function.of(next));
                    assert!(bounds.lo <= y && y <= bounds.hi, "{function:?} of {x}: {y}, not in {bounds:?}");
                    if function.work() != Work::Steps {
                        assert!((after - y).abs() <= 1e-3 * bounds.slope + 1e-9, "{function:?} at {x}: {bounds:?}");
                    }
                }
            }
        }
    }
}
