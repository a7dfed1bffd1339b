//! Physical units: a unit expression becomes an exact factor to SI and a dimension.
//!
//! **Arithmetic.** A [`Factor`] is a product of integer powers of a few integers ([`BASES`]), so
//! multiplying, dividing and raising units is exact, in whatever order they are written: `Milli^2`
//! is 1e-6, `Darcy * Atm / Pascal` is 1e-7. [`Factor::to_f64`] rounds once, to the nearest double
//! (ties to even). A literal's value in SI is then one double multiplication: number times factor.

use crate::source::Span;
use crate::syntax::ast::{UnitExpr, UnitExprKind};
use crate::types::Dimension;

/// The primes of whose powers every factor is made.
const BASES: [u32; 11] = [2, 3, 5, 7, 11, 73, 97, 127, 193, 6073, 28019];

/// Largest number of bits of a factor's numerator or denominator. Beyond it no double could hold
/// the factor unless both are huge.
const MAX_BITS: u64 = 4096;

/// Deepest nesting of a unit expression.
const MAX_DEPTH: u32 = 100;

/// A positive rational number: the product of [`BASES`] to these exponents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor([i32; BASES.len()]);

/// A unit: factor to SI, and dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// SI units in one of this unit.
    pub factor: Factor,
    /// Physical dimension.
    pub dimension: Dimension,
}

/// Error of a unit expression.
#[derive(Clone, Debug, PartialEq)]
pub enum UnitError {
    /// No unit of this name.
    Unknown {
        /// As written.
        name: String,
        /// Where.
        span: Span,
    },
    /// The factor or an exponent is too large or too small for a double, or the expression is
    /// nested too deeply.
    OutOfRange {
        /// Where.
        span: Span,
    },
}

impl Factor {
    /// One.
    pub const ONE: Factor = Factor([0; BASES.len()]);

    /// The product of primes to powers.
    const fn of(powers: &[(u32, i32)]) -> Factor {
        let mut factor = Factor::ONE;
        let mut i = 0;
        while i < powers.len() {
            let mut base = 0;
            while BASES[base] != powers[i].0 {
                base += 1;
            }
            factor.0[base] = powers[i].1;
            i += 1;
        }
        factor
    }

    /// 10 to the power `exponent`.
    const fn ten(exponent: i32) -> Factor {
        Factor::of(&[(2, exponent), (5, exponent)])
    }

    /// Exact product; `None` if an exponent leaves the range of `i32`.
    pub fn times(self, other: Factor) -> Option<Factor> {
        Factor::from_exponents(|i| self.0[i].checked_add(other.0[i]))
    }

    /// Exact quotient; `None` if an exponent leaves the range of `i32`.
    pub fn over(self, other: Factor) -> Option<Factor> {
        Factor::from_exponents(|i| self.0[i].checked_sub(other.0[i]))
    }

    /// Exact power; `None` if an exponent leaves the range of `i32`.
    pub fn power(self, exponent: i32) -> Option<Factor> {
        Factor::from_exponents(|i| self.0[i].checked_mul(exponent))
    }

    fn from_exponents(exponent: impl Fn(usize) -> Option<i32>) -> Option<Factor> {
        let mut result = Factor::ONE;
        for (i, e) in result.0.iter_mut().enumerate() {
            *e = exponent(i)?;
        }
        Some(result)
    }

    /// The nearest double; `None` outside the range of normal doubles.
    pub fn to_f64(self) -> Option<f64> {
        let numerator = natural::product(self.0.map(|e| e.max(0)))?;
        let denominator = natural::product(self.0.map(|e| e.saturating_neg().max(0)))?;
        natural::quotient(numerator, denominator)
    }
}

impl Unit {
    /// Value in SI units of `number` of this unit; `None` if the factor or the result is not a
    /// finite double.
    pub fn to_si(self, number: f64) -> Option<f64> {
        let value = number * self.factor.to_f64()?;
        value.is_finite().then_some(value)
    }
}

/// Length, time, mass, temperature, current, amount, luminous intensity.
const fn dimension(length: i32, time: i32, mass: i32) -> Dimension {
    Dimension([length, time, mass, 0, 0, 0, 0])
}

const NONE: Dimension = Dimension::NONE;
const VOLUME: Dimension = dimension(3, 0, 0);
const TIME: Dimension = dimension(0, 1, 0);
const MASS: Dimension = dimension(0, 0, 1);
const PRESSURE: Dimension = dimension(-1, -2, 1);
const TEN_0: Factor = Factor::ONE;

/// A row of the unit table.
#[derive(Clone, Copy, Debug)]
pub struct NamedUnit {
    /// Name as written in programs.
    pub name: &'static str,
    /// Unit that it stands for.
    pub unit: Unit,
    /// True if it is an addition to the original language.
    pub extension: bool,
}

const fn row(name: &'static str, factor: Factor, dimension: Dimension) -> NamedUnit {
    NamedUnit { name, unit: Unit { factor, dimension }, extension: false }
}

const fn added(name: &'static str, factor: Factor, dimension: Dimension) -> NamedUnit {
    NamedUnit { name, unit: Unit { factor, dimension }, extension: true }
}

/// All units. Factors are exact: an inch is 254/10^4 m, an atmosphere 3 * 5^2 * 7 * 193 Pa, a darcy
/// 10^-7 / 101325 m^2, a year 365 days, psi 0.45359237 * 9.80665 / 0.0254^2 Pa, a stock tank barrel
/// 9702 cubic inches.
pub const UNITS: &[NamedUnit] = &[
    row("Pico", Factor::ten(-12), NONE),
    row("Nano", Factor::ten(-9), NONE),
    row("Micro", Factor::ten(-6), NONE),
    row("Milli", Factor::ten(-3), NONE),
    row("Centi", Factor::ten(-2), NONE),
    row("Deci", Factor::ten(-1), NONE),
    row("Deca", Factor::ten(1), NONE),
    row("Hecto", Factor::ten(2), NONE),
    row("Kilo", Factor::ten(3), NONE),
    row("Mega", Factor::ten(6), NONE),
    row("Giga", Factor::ten(9), NONE),
    row("Tera", Factor::ten(12), NONE),
    row("Meter", TEN_0, Dimension::LENGTH),
    row("Inch", Factor::of(&[(2, -3), (5, -4), (127, 1)]), Dimension::LENGTH),
    row("Feet", Factor::of(&[(2, -1), (3, 1), (5, -4), (127, 1)]), Dimension::LENGTH),
    row("Second", TEN_0, TIME),
    row("Minute", Factor::of(&[(2, 2), (3, 1), (5, 1)]), TIME),
    row("Hour", Factor::of(&[(2, 4), (3, 2), (5, 2)]), TIME),
    row("Day", Factor::of(&[(2, 7), (3, 3), (5, 2)]), TIME),
    row("Kilogram", TEN_0, MASS),
    row("Kelvin", TEN_0, Dimension([0, 0, 0, 1, 0, 0, 0])),
    row("Newton", TEN_0, dimension(1, -2, 1)),
    row("Joule", TEN_0, dimension(2, -2, 1)),
    row("Pascal", TEN_0, PRESSURE),
    row("Bar", Factor::ten(5), PRESSURE),
    row("Atm", Factor::of(&[(3, 1), (5, 2), (7, 1), (193, 1)]), PRESSURE),
    row("Watt", TEN_0, dimension(2, -3, 1)),
    row("Darcy", Factor::of(&[(2, -7), (3, -1), (5, -9), (7, -1), (193, -1)]), dimension(2, 0, 0)),
    row("Poise", Factor::ten(-1), dimension(-1, -1, 1)),
    added("Gram", Factor::ten(-3), MASS),
    added("Tonne", Factor::ten(3), MASS),
    added("Liter", Factor::ten(-3), VOLUME),
    added("Week", Factor::of(&[(2, 7), (3, 3), (5, 2), (7, 1)]), TIME),
    added("Year", Factor::of(&[(2, 7), (3, 3), (5, 3), (73, 1)]), TIME),
    added("Hertz", TEN_0, dimension(0, -1, 0)),
    added("Ampere", TEN_0, Dimension([0, 0, 0, 0, 1, 0, 0])),
    added("Mole", TEN_0, Dimension([0, 0, 0, 0, 0, 1, 0])),
    added("Candela", TEN_0, Dimension([0, 0, 0, 0, 0, 0, 1])),
    added("Coulomb", TEN_0, Dimension([0, 1, 0, 0, 1, 0, 0])),
    added("Volt", TEN_0, Dimension([2, -3, 1, 0, -1, 0, 0])),
    added("Ohm", TEN_0, Dimension([2, -3, 1, 0, -2, 0, 0])),
    added("Psi", Factor::of(&[(2, -7), (5, -4), (7, 2), (11, 1), (97, 1), (127, -2), (6073, 1), (28019, 1)]), PRESSURE),
    added("Stb", Factor::of(&[(2, -8), (3, 2), (5, -12), (7, 2), (11, 1), (127, 3)]), VOLUME),
];

/// A unit by name.
pub fn named(name: &str) -> Option<&'static NamedUnit> {
    UNITS.iter().find(|u| u.name == name)
}

/// Resolves a unit expression.
///
/// # Errors
/// The first unknown name, or a value beyond what doubles and exponents hold.
pub fn resolve(expr: &UnitExpr) -> Result<Unit, UnitError> {
    let unit = resolve_nested(expr, 0)?;
    let in_range = unit.dimension.0.iter().all(|e| e.unsigned_abs() <= 1000) && unit.factor.to_f64().is_some();
    if in_range { Ok(unit) } else { Err(UnitError::OutOfRange { span: expr.span }) }
}

fn resolve_nested(expr: &UnitExpr, depth: u32) -> Result<Unit, UnitError> {
    if depth > MAX_DEPTH {
        return Err(UnitError::OutOfRange { span: expr.span });
    }
    let part = |e: &UnitExpr| resolve_nested(e, depth + 1);
    // Also where a later factor would bring it back: what left the range is not known any more.
    let in_range = |factor: Option<Factor>, dimension: Option<Dimension>| match (factor, dimension) {
        (Some(factor), Some(dimension)) => Ok(Unit { factor, dimension }),
        (Some(_) | None, Some(_) | None) => Err(UnitError::OutOfRange { span: expr.span }),
    };
    match &expr.kind {
        UnitExprKind::Name(name) => match named(name) {
            Some(found) => Ok(found.unit),
            None => Err(UnitError::Unknown { name: name.clone(), span: expr.span }),
        },
        UnitExprKind::Paren(inner) => part(inner),
        UnitExprKind::Mul(a, b) => {
            let (a, b) = (part(a)?, part(b)?);
            in_range(a.factor.times(b.factor), a.dimension.times(b.dimension))
        }
        UnitExprKind::Div(a, b) => {
            let (a, b) = (part(a)?, part(b)?);
            in_range(a.factor.over(b.factor), a.dimension.over(b.dimension))
        }
        UnitExprKind::Power(base, exponent) => {
            let base = part(base)?;
            in_range(base.factor.power(*exponent), base.dimension.power(*exponent))
        }
    }
}

/// Natural numbers of any size, just enough to round a quotient once. Digits to base 2^32, least
/// significant first, no leading zeros.
mod natural {
    use std::cmp::Ordering;

    use super::{BASES, MAX_BITS};

    type Natural = Vec<u32>;

    /// The product of the bases to exponents that are not negative; `None` beyond [`MAX_BITS`].
    pub fn product(exponents: [i32; BASES.len()]) -> Option<Natural> {
        let bits: u64 = BASES.iter().zip(exponents).map(|(b, e)| u64::from(32 - b.leading_zeros()) * u64::from(e.unsigned_abs())).sum();
        if bits > MAX_BITS {
            return None;
        }
        let mut result = vec![1];
        for (base, exponent) in BASES.into_iter().zip(exponents) {
            for _ in 0..exponent {
                multiply(&mut result, base);
            }
        }
        Some(result)
    }

    /// The double nearest to `numerator / denominator`; `None` outside the normal range.
    pub fn quotient(numerator: Natural, denominator: Natural) -> Option<f64> {
        // Scale so that the integer quotient has 64 or 65 bits: enough for a double and a sticky
        // bit.
        let scale = 64 + bit_length(&denominator) as i64 - bit_length(&numerator) as i64;
        let mut rest = shift_left(numerator, scale.max(0) as u64);
        let mut divisor = shift_left(denominator, (-scale).max(0) as u64 + 64);
        let mut quotient: u128 = 0;
        for _ in 0..=64 {
            quotient <<= 1;
            if compare(&rest, &divisor) != Ordering::Less {
                subtract(&mut rest, &divisor);
                quotient |= 1;
            }
            halve(&mut divisor);
        }
        if !rest.is_empty() {
            quotient |= 1;
        }
        // The conversion rounds to nearest, ties to even; scaling by powers of two is exact as long
        // as the result is normal.
        let exponent = -scale;
        let half = exponent / 2;
        let value = quotient as f64 * power_of_two(half)? * power_of_two(exponent - half)?;
        value.is_normal().then_some(value)
    }

    fn power_of_two(exponent: i64) -> Option<f64> {
        (-1022..=1023).contains(&exponent).then(|| f64::from_bits(((exponent + 1023) as u64) << 52))
    }

    fn bit_length(n: &Natural) -> u64 {
        n.last().map_or(0, |top| n.len() as u64 * 32 - u64::from(top.leading_zeros()))
    }

    fn multiply(n: &mut Natural, by: u32) {
        let mut carry = 0;
        for digit in n.iter_mut() {
            let wide = u64::from(*digit) * u64::from(by) + carry;
            *digit = wide as u32;
            carry = wide >> 32;
        }
        if carry > 0 {
            n.push(carry as u32);
        }
    }

    fn shift_left(n: Natural, bits: u64) -> Natural {
        let mut shifted = vec![0; (bits / 32) as usize];
        shifted.extend(n);
        multiply(&mut shifted, 1 << (bits % 32));
        shifted
    }

    fn halve(n: &mut Natural) {
        let mut carry = 0;
        for digit in n.iter_mut().rev() {
            let low = *digit & 1;
            *digit = (*digit >> 1) | (carry << 31);
            carry = low;
        }
        trim(n);
    }

    fn compare(a: &Natural, b: &Natural) -> Ordering {
        a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
    }

    /// `a -= b`, where `a >= b`.
    fn subtract(a: &mut Natural, b: &Natural) {
        let mut borrow = 0;
        for (i, digit) in a.iter_mut().enumerate() {
            let wide = i64::from(*digit) - i64::from(b.get(i).copied().unwrap_or(0)) - borrow;
            borrow = i64::from(wide < 0);
            *digit = wide as u32;
        }
        trim(a);
    }

    fn trim(n: &mut Natural) {
        while n.last() == Some(&0) {
            n.pop();
        }
    }
}
