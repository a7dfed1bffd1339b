//! Elementary functions to 100 bits and more: sums of two doubles, and series that converge fast.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A sum of two doubles, of which the second is below the last bit of the first.
#[derive(Clone, Copy, Debug)]
pub struct Wide(pub f64, pub f64);

const PI: Wide = Wide(std::f64::consts::PI, 1.224_646_799_147_353_2e-16);
const LN2: Wide = Wide(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
const LN10: Wide = Wide(std::f64::consts::LN_10, -2.170_756_223_382_249e-16);
const TWO_BY_SQRT_PI: Wide = Wide(std::f64::consts::FRAC_2_SQRT_PI, 1.533_545_961_316_588e-17);
/// pi/2 in parts of 33 bits, and what is left.
const HALF_PI: [f64; 5] =
    [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_711_166_5e-21, 8.478_427_660_368_9e-32, 2.670_145_466_379_146_5e-48];

fn two_sum(a: f64, b: f64) -> Wide {
    let s = a + b;
    let t = s - a;
    Wide(s, (a - (s - t)) + (b - t))
}

fn halves(a: f64) -> (f64, f64) {
    let t = 134_217_729.0 * a;
    let high = t - (t - a);
    (high, a - high)
}

impl From<f64> for Wide {
    fn from(x: f64) -> Wide {
        Wide(x, 0.0)
    }
}

impl Neg for Wide {
    type Output = Wide;
    fn neg(self) -> Wide {
        Wide(-self.0, -self.1)
    }
}

impl Add for Wide {
    type Output = Wide;
    fn add(self, b: Wide) -> Wide {
        let (s, t) = (two_sum(self.0, b.0), two_sum(self.1, b.1));
        let c = two_sum(s.0, s.1 + t.0);
        two_sum(c.0, c.1 + t.1)
    }
}

impl Sub for Wide {
    type Output = Wide;
    fn sub(self, b: Wide) -> Wide {
        self + -b
    }
}

impl Mul for Wide {
    type Output = Wide;
    fn mul(self, b: Wide) -> Wide {
        let p = self.0 * b.0;
        // Dekker's product: a fused multiply-add is slow where the processor has none.
        let ((a1, a2), (b1, b2)) = (halves(self.0), halves(b.0));
        let rest = ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2;
        two_sum(p, rest + (self.0 * b.1 + self.1 * b.0))
    }
}

impl Div for Wide {
    type Output = Wide;
    fn div(self, b: Wide) -> Wide {
        let q = self.0 / b.0;
        let rest = self - Wide::from(q) * b;
        let r = rest.0 / b.0;
        let last = rest - Wide::from(r) * b;
        Wide::from(q) + two_sum(r, last.0 / b.0)
    }
}

impl Wide {
    fn sqrt(self) -> Wide {
        let root = self.0.sqrt();
        if root == 0.0 {
            return Wide::from(0.0);
        }
        let rest = self - Wide::from(root) * Wide::from(root);
        two_sum(root, rest.0 / (2.0 * root))
    }

    fn scaled(self, power: i32) -> Wide {
        let (half, other) = (power / 2, power - power / 2);
        let factors = (2f64.powi(half), 2f64.powi(other));
        Wide(self.0 * factors.0 * factors.1, self.1 * factors.0 * factors.1)
    }
}

/// Sum of terms, each the one before times `z` over what `divisor` says of its number.
fn series(first: Wide, z: Wide, divisor: impl Fn(f64) -> f64) -> Wide {
    let (mut term, mut sum) = (first, first);
    for n in 1..400 {
        term = term * z / Wide::from(divisor(f64::from(n)));
        sum = sum + term;
        if term.0.abs() <= sum.0.abs() * 1e-34 {
            break;
        }
    }
    sum
}

/// The exponential function times a power of two.
fn exp_parts(x: Wide) -> (Wide, i32) {
    let k = (x.0 / LN2.0).round();
    let r = (x - LN2 * Wide::from(k)).scaled(-6);
    let mut y = series(Wide::from(1.0), r, |n| n);
    for _ in 0..6 {
        y = y * y;
    }
    (y, k as i32)
}

pub fn exp(x: Wide) -> Wide {
    let (y, k) = exp_parts(x);
    y.scaled(k)
}

pub fn expm1(x: f64) -> Wide {
    let x = Wide::from(x);
    if x.0.abs() < 0.5 { series(x, x, |n| n + 1.0) } else { exp(x) - Wide::from(1.0) }
}

pub fn log(x: f64) -> Wide {
    let (x, offset) = if x < 1e-300 { (x * 2f64.powi(64), 64.0) } else { (x, 0.0) };
    let mut k = ((x.to_bits() >> 52) as i32) - 1023;
    let mut m = f64::from_bits((x.to_bits() & ((1 << 52) - 1)) | 1023 << 52);
    if m > std::f64::consts::SQRT_2 {
        (m, k) = (m / 2.0, k + 1);
    }
    let s = Wide::from(m - 1.0) / two_sum(m, 1.0);
    let z = s * s;
    let (mut power, mut sum) = (s, s);
    for n in 1..40 {
        power = power * z;
        sum = sum + power / Wide::from(f64::from(2 * n + 1));
    }
    sum + sum + LN2 * Wide::from(f64::from(k) - offset)
}

pub fn log10(x: f64) -> Wide {
    log(x) / LN10
}

pub fn pow(a: f64, b: f64) -> Wide {
    exp(log(a) * Wide::from(b))
}

fn sin_small(x: Wide) -> Wide {
    series(x, -(x * x), |n| 2.0 * n * (2.0 * n + 1.0))
}

fn cos_small(x: Wide) -> Wide {
    series(Wide::from(1.0), -(x * x), |n| 2.0 * n * (2.0 * n - 1.0))
}

/// Sine and cosine of an angle of at most a million.
pub fn sin_cos(x: f64) -> (Wide, Wide) {
    let n = (x / HALF_PI[0]).round();
    let mut r = Wide::from(x);
    for part in HALF_PI {
        r = r - Wide::from(n) * Wide::from(part);
    }
    let (s, c) = (sin_small(r), cos_small(r));
    match (n as i64).rem_euclid(4) {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

pub fn tan(x: f64) -> Wide {
    let (s, c) = sin_cos(x);
    s / c
}

pub fn sinh(x: f64) -> Wide {
    if x.abs() < 0.5 {
        let x = Wide::from(x);
        return series(x, x * x, |n| 2.0 * n * (2.0 * n + 1.0));
    }
    let (y, k) = exp_parts(Wide::from(x.abs()));
    let half = (y - (Wide::from(1.0) / y).scaled(-2 * k)).scaled(k - 1);
    if x < 0.0 { -half } else { half }
}

pub fn cosh(x: f64) -> Wide {
    let (y, k) = exp_parts(Wide::from(x.abs()));
    (y + (Wide::from(1.0) / y).scaled(-2 * k)).scaled(k - 1)
}

pub fn tanh(x: f64) -> Wide {
    if x.abs() > 300.0 { Wide::from(x.signum()) } else { sinh(x) / cosh(x) }
}

fn asin_small(x: Wide) -> Wide {
    let y = x.0.asin();
    let (s, c) = (sin_small(Wide::from(y)), cos_small(Wide::from(y)));
    let step = (x - s) / c;
    Wide::from(y) + step + Wide::from(0.5) * step * step * s / c
}

pub fn asin(x: f64) -> Wide {
    let size = Wide::from(x.abs());
    let y = if size.0 <= 0.5 { asin_small(size) } else { PI.scaled(-1) - asin_small((Wide::from(1.0) - size).scaled(-1).sqrt()).scaled(1) };
    if x < 0.0 { -y } else { y }
}

pub fn acos(x: f64) -> Wide {
    if x > 0.5 { asin_small((Wide::from(1.0) - Wide::from(x)).scaled(-1).sqrt()).scaled(1) } else { PI.scaled(-1) - asin(x) }
}

fn atan_of(x: Wide) -> Wide {
    let y = x.0.atan();
    let (s, c) = sin_cos(y);
    let step = (x * c - s) / (c + x * s);
    Wide::from(y) + step
}

pub fn atan(x: f64) -> Wide {
    if x.abs() > 1e30 { Wide::from(x.signum()) * PI.scaled(-1) - Wide::from(1.0 / x) } else { atan_of(Wide::from(x)) }
}

pub fn atan2(y: f64, x: f64) -> Wide {
    let first = atan_of(Wide::from(y.abs()) / Wide::from(x.abs()));
    let size = if x < 0.0 { PI - first } else { first };
    if y < 0.0 { -size } else { size }
}

pub fn erf(x: f64) -> Wide {
    let (x, square) = (Wide::from(x), Wide::from(x) * Wide::from(x));
    TWO_BY_SQRT_PI * exp(-square) * series(x, square + square, |n| 2.0 * n + 1.0)
}
