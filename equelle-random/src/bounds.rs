//! Bounds of a number, known before the program runs: an interval, and how much it magnifies.

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

    /// A monotone function with jumps, of something exact.
    pub fn stepped(self, f: impl Fn(f64) -> f64) -> Self {
        self.map(0.0, f)
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

    /// The exponential function.
    pub fn exp(self) -> Self {
        self.map(self.hi.exp(), f64::exp)
    }

    /// The logarithm of something positive.
    pub fn ln(self) -> Self {
        self.map(1.0 / self.lo, f64::ln)
    }

    /// A sine or cosine.
    pub fn wave(self) -> Self {
        Bounds { lo: -1.0, hi: 1.0, ..self }
    }

    /// The tangent within (-pi/2, pi/2).
    pub fn tan(self) -> Self {
        self.map(1.0 + self.magnitude().tan().powi(2), f64::tan)
    }

    /// The hyperbolic tangent.
    pub fn tanh(self) -> Self {
        self.map(1.0, f64::tanh)
    }

    /// The hyperbolic sine.
    pub fn sinh(self) -> Self {
        self.map(self.magnitude().cosh(), f64::sinh)
    }

    /// The hyperbolic cosine.
    pub fn cosh(self) -> Self {
        let slope = self.magnitude().sinh();
        Bounds { lo: 1.0, hi: self.magnitude().cosh(), slope: slope * self.slope, error: slope * self.error }
    }

    /// The arcus sine within (-1, 1).
    pub fn asin(self) -> Self {
        self.map(1.0 / (1.0 - self.magnitude() * self.magnitude()).sqrt(), f64::asin)
    }

    /// The arcus cosine within (-1, 1).
    pub fn acos(self) -> Self {
        self.map(1.0 / (1.0 - self.magnitude() * self.magnitude()).sqrt(), f64::acos)
    }

    /// The arcus tangent.
    pub fn atan(self) -> Self {
        self.map(1.0, f64::atan)
    }

    /// The logarithm of base 10 of something positive.
    pub fn log10(self) -> Self {
        self.map(std::f64::consts::LOG10_E / self.lo, f64::log10)
    }

    /// The error function.
    pub fn erf(self) -> Self {
        let slope = std::f64::consts::FRAC_2_SQRT_PI;
        Bounds { lo: -1.0, hi: 1.0, slope: slope * self.slope, error: slope * self.error }
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
        self.ln().times(other).exp()
    }

    /// A sum of at most `n` values like this one, of either sign if `signed`.
    pub fn sum(self, n: f64, signed: bool) -> Self {
        let (lo, hi) = if signed { (-self.magnitude(), self.magnitude()) } else { (self.lo.min(0.0), self.hi.max(0.0)) };
        Bounds { lo: n * lo, hi: n * hi, slope: n * self.slope, error: n * self.error }
    }
}
