//! Units in parameters: `10 [Milli*Darcy]`. Names and factors are those of programs.
//!
//! A factor is a product of powers of a few primes, so that the arithmetic of units is exact in
//! whatever order they are written. It is rounded once, to the nearest double; a value in SI is one
//! multiplication, number times factor. A program's literal with the same unit has the same bits.

use super::token::{Symbol, TextError, TokenKind, Tokens};
use super::unit_spelling::{kelvins, spelling};
use crate::params::near_match;

/// Exponents of length, time, mass, temperature, current, amount and luminous intensity.
pub type Dimension = [i32; 7];

/// The dimension of a length.
pub const METRES: Dimension = [1, 0, 0, 0, 0, 0, 0];

/// A unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// SI units in one of this unit.
    pub factor: f64,
    /// Physical dimension.
    pub dimension: Dimension,
}

/// The primes of whose powers every factor is made.
const BASES: [u32; 11] = [2, 3, 5, 7, 11, 73, 97, 127, 193, 6073, 28019];

/// Largest exponent of a dimension or of a prime: no double has a larger one.
const MAX_EXPONENT: i32 = 1000;

/// Exponents of [`BASES`], and the dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exact {
    primes: [i32; BASES.len()],
    dimension: Dimension,
}

impl Exact {
    const ONE: Exact = Exact { primes: [0; BASES.len()], dimension: [0; 7] };

    /// This times the other one to a power; `None` beyond [`MAX_EXPONENT`].
    fn times(mut self, other: Exact, power: i32) -> Option<Exact> {
        let all = self.primes.iter_mut().chain(&mut self.dimension);
        for (own, more) in all.zip(other.primes.into_iter().chain(other.dimension)) {
            *own = more.checked_mul(power)?.checked_add(*own).filter(|e| e.abs() <= MAX_EXPONENT)?;
        }
        Some(self)
    }

    /// The nearest double to the factor; `None` if it is none, or if its numerator or denominator
    /// without the powers of two exceeds 126 bits.
    fn factor(self) -> Option<f64> {
        let product = |sign: i32| {
            let odd = BASES.iter().zip(self.primes).skip(1).filter(|(_, exponent)| exponent.signum() == sign);
            odd.into_iter().try_fold(1u128, |product, (&base, exponent)| {
                let power = u128::from(base).checked_pow(exponent.unsigned_abs())?;
                product.checked_mul(power).filter(|&product| product < 1 << 126)
            })
        };
        let (numerator, denominator) = (product(1)?, product(-1)?);
        // 65 bits of the quotient or more, the last one set if anything follows: enough to round.
        let (mut quotient, mut rest, mut exponent) = (numerator / denominator, numerator % denominator, self.primes[0]);
        while quotient >> 64 == 0 {
            rest <<= 1;
            quotient = quotient << 1 | u128::from(rest >= denominator);
            if rest >= denominator {
                rest -= denominator;
            }
            exponent -= 1;
        }
        let rounded = (quotient | u128::from(rest > 0)) as f64;
        let half = exponent / 2;
        let value = rounded * power_of_two(half)? * power_of_two(exponent - half)?;
        value.is_normal().then_some(value)
    }
}

fn power_of_two(exponent: i32) -> Option<f64> {
    (-1022..=1023).contains(&exponent).then(|| f64::from_bits(((exponent + 1023) as u64) << 52))
}

const fn row(name: &'static str, powers: &[(u32, i32)], dimension: Dimension) -> (&'static str, Exact) {
    let mut primes = [0; BASES.len()];
    let mut i = 0;
    while i < powers.len() {
        let mut base = 0;
        while BASES[base] != powers[i].0 {
            base += 1;
        }
        primes[base] = powers[i].1;
        i += 1;
    }
    (name, Exact { primes, dimension })
}

const fn ten(name: &'static str, exponent: i32, dimension: Dimension) -> (&'static str, Exact) {
    row(name, &[(2, exponent), (5, exponent)], dimension)
}

const NONE: Dimension = [0; 7];
const LENGTH: Dimension = METRES;
const VOLUME: Dimension = [3, 0, 0, 0, 0, 0, 0];
const TIME: Dimension = [0, 1, 0, 0, 0, 0, 0];
const MASS: Dimension = [0, 0, 1, 0, 0, 0, 0];
const PRESSURE: Dimension = [-1, -2, 1, 0, 0, 0, 0];

const TABLE: [(&str, Exact); 43] = [
    ten("Pico", -12, NONE),
    ten("Nano", -9, NONE),
    ten("Micro", -6, NONE),
    ten("Milli", -3, NONE),
    ten("Centi", -2, NONE),
    ten("Deci", -1, NONE),
    ten("Deca", 1, NONE),
    ten("Hecto", 2, NONE),
    ten("Kilo", 3, NONE),
    ten("Mega", 6, NONE),
    ten("Giga", 9, NONE),
    ten("Tera", 12, NONE),
    ten("Meter", 0, LENGTH),
    row("Inch", &[(2, -3), (5, -4), (127, 1)], LENGTH),
    row("Feet", &[(2, -1), (3, 1), (5, -4), (127, 1)], LENGTH),
    ten("Second", 0, TIME),
    row("Minute", &[(2, 2), (3, 1), (5, 1)], TIME),
    row("Hour", &[(2, 4), (3, 2), (5, 2)], TIME),
    row("Day", &[(2, 7), (3, 3), (5, 2)], TIME),
    ten("Kilogram", 0, MASS),
    ten("Kelvin", 0, [0, 0, 0, 1, 0, 0, 0]),
    ten("Newton", 0, [1, -2, 1, 0, 0, 0, 0]),
    ten("Joule", 0, [2, -2, 1, 0, 0, 0, 0]),
    ten("Pascal", 0, PRESSURE),
    ten("Bar", 5, PRESSURE),
    row("Atm", &[(3, 1), (5, 2), (7, 1), (193, 1)], PRESSURE),
    ten("Watt", 0, [2, -3, 1, 0, 0, 0, 0]),
    row("Darcy", &[(2, -7), (3, -1), (5, -9), (7, -1), (193, -1)], [2, 0, 0, 0, 0, 0, 0]),
    ten("Poise", -1, [-1, -1, 1, 0, 0, 0, 0]),
    ten("Gram", -3, MASS),
    ten("Tonne", 3, MASS),
    ten("Liter", -3, VOLUME),
    row("Week", &[(2, 7), (3, 3), (5, 2), (7, 1)], TIME),
    row("Year", &[(2, 7), (3, 3), (5, 3), (73, 1)], TIME),
    ten("Hertz", 0, [0, -1, 0, 0, 0, 0, 0]),
    ten("Ampere", 0, [0, 0, 0, 0, 1, 0, 0]),
    ten("Mole", 0, [0, 0, 0, 0, 0, 1, 0]),
    ten("Candela", 0, [0, 0, 0, 0, 0, 0, 1]),
    ten("Coulomb", 0, [0, 1, 0, 0, 1, 0, 0]),
    ten("Volt", 0, [2, -3, 1, 0, -1, 0, 0]),
    ten("Ohm", 0, [2, -3, 1, 0, -2, 0, 0]),
    row("Psi", &[(2, -7), (5, -4), (7, 2), (11, 1), (97, 1), (127, -2), (6073, 1), (28019, 1)], PRESSURE),
    row("Stb", &[(2, -8), (3, 2), (5, -12), (7, 2), (11, 1), (127, 3)], VOLUME),
];

/// Names of all units and prefixes.
pub fn unit_names() -> impl Iterator<Item = &'static str> + Clone {
    TABLE.iter().map(|(name, _)| *name)
}

/// A unit, as between brackets: `Milli*Darcy`, `Meter/Second^2`.
///
/// # Errors
/// The first thing that is no unit, and units too large, too small or too long for a double.
pub fn parse_unit(text: &str) -> Result<Unit, TextError> {
    let mut tokens = Tokens::new(text)?;
    let unit = whole_unit(&mut tokens)?;
    tokens.expect_end("`*`, `/` or `^`")?;
    Ok(unit)
}

/// The unit between brackets that comes next; `None` if no bracket does.
///
/// # Errors
/// As [`parse_unit`].
pub fn bracketed_unit(tokens: &mut Tokens<'_>) -> Result<Option<Unit>, TextError> {
    if !tokens.eat(Symbol::OpenUnit) {
        return Ok(None);
    }
    let unit = whole_unit(tokens)?;
    tokens.expect(Symbol::CloseUnit, "`*`, `/`, `^` or the `]` that closes the unit")?;
    Ok(Some(unit))
}

fn whole_unit(tokens: &mut Tokens<'_>) -> Result<Unit, TextError> {
    let offset = tokens.peek().offset;
    let exact = product(tokens)?;
    let factor = exact.factor().ok_or_else(|| out_of_range(offset))?;
    Ok(Unit { factor, dimension: exact.dimension })
}

fn out_of_range(offset: usize) -> TextError {
    TextError::new(offset, "this unit is too large, too small or too long for a double")
}

/// That division binds tighter than multiplication, as in programs, makes no difference here.
fn product(tokens: &mut Tokens<'_>) -> Result<Exact, TextError> {
    let mut product = power(tokens, 1, Exact::ONE)?;
    loop {
        let sign = if tokens.eat(Symbol::Star) {
            1
        } else if tokens.eat(Symbol::Slash) {
            -1
        } else {
            return Ok(product);
        };
        product = power(tokens, sign, product)?;
    }
}

/// `so_far` times a name or parenthesis with its exponents, to the power of `sign`.
fn power(tokens: &mut Tokens<'_>, sign: i32, so_far: Exact) -> Result<Exact, TextError> {
    let start = tokens.peek().offset;
    let base = match tokens.peek().kind {
        TokenKind::Name(name) => {
            let known = TABLE.iter().find(|(known, _)| *known == name);
            let Some(known) = known else {
                tokens.advance();
                let is_whole = so_far == Exact::ONE
                    && sign == 1
                    && matches!(tokens.peek().kind, TokenKind::End | TokenKind::Symbol(Symbol::CloseUnit));
                return Err(unknown(start, name, is_whole));
            };
            tokens.advance();
            known.1
        }
        TokenKind::Symbol(Symbol::Open) => {
            tokens.advance();
            tokens.descend()?;
            let inner = product(tokens)?;
            tokens.ascend();
            tokens.expect(Symbol::Close, "`)`")?;
            inner
        }
        TokenKind::Number(_) | TokenKind::Quoted(_) | TokenKind::Symbol(_) | TokenKind::End => {
            return Err(tokens.unexpected("a unit").hint("units are `Meter`, `Kilo*Gram`, `Meter/Second^2`"));
        }
    };
    let mut exponent = sign;
    while tokens.eat(Symbol::Caret) {
        let minus = tokens.eat(Symbol::Minus);
        let TokenKind::Number(number) = tokens.peek().kind else { return Err(tokens.unexpected("a whole number")) };
        if number.fract() != 0.0 || number > f64::from(MAX_EXPONENT) {
            return Err(tokens.unexpected("a whole number up to 1000"));
        }
        tokens.advance();
        let number = if minus { -(number as i32) } else { number as i32 };
        exponent = exponent.checked_mul(number).ok_or_else(|| out_of_range(start))?;
    }
    so_far.times(base, exponent).ok_or_else(|| out_of_range(start))
}

/// `is_whole` if nothing stands beside the name.
fn unknown(offset: usize, name: &str, is_whole: bool) -> TextError {
    let error = TextError::new(offset, format!("there is no unit `{name}`"));
    if let Some(kelvins) = kelvins(name, 20.0) {
        return error.hint(format!("the zero of this scale is another one: give kelvins, 20 are `{kelvins} [Kelvin]`"));
    }
    if let Some(written) = spelling(name, unit_names(), !is_whole) {
        return error.hint(format!("write `{written}`"));
    }
    match near_match(name, unit_names()) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint("units are those of programs, such as `Meter`, `Kilo*Meter`, `Meter/Second^2`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Unit {
        parse_unit(text).unwrap_or_else(|e| panic!("{text}: {e:?}"))
    }

    #[test]
    fn factors_are_rounded_once() {
        assert_eq!(of("Day"), Unit { factor: 86400.0, dimension: TIME });
        assert_eq!(of("Milli*Darcy"), Unit { factor: 1.0 / (101_325.0 * 1e10), dimension: [2, 0, 0, 0, 0, 0, 0] });
        assert_eq!(of("Milli*Milli").factor, 1e-6);
        assert_eq!(of("Darcy * Atm / Pascal").factor, 1e-7);
        assert_eq!(of("Joule/(Kilogram*Kelvin)").dimension, [2, -2, 0, -1, 0, 0, 0]);
        assert_eq!(of("Meter/Second/Second"), of("Meter/Second^2"));
        assert_eq!(of("(Kilo*Meter)^-2^2").factor, 1e-12);
        assert_eq!(of("Giga^4").factor, 1e36);
        assert_eq!(of("Second^0"), Unit { factor: 1.0, dimension: NONE });
    }

    #[test]
    fn what_is_no_unit() {
        let deep = format!("{}Meter", "(".repeat(200));
        for (text, offset, what) in [
            ("", 0, "expected a unit, the text ends"),
            ("Meter*", 6, "expected a unit, the text ends"),
            ("Kilometer", 0, "there is no unit `Kilometer`"),
            ("Meter Second", 6, "expected `*`, `/` or `^`, found `Second`"),
            ("Meter^0.5", 6, "expected a whole number up to 1000, found `0.5`"),
            ("Meter^x", 6, "expected a whole number, found `x`"),
            ("(Meter", 6, "expected `)`, the text ends"),
            ("Tera^900", 0, "this unit is too large, too small or too long for a double"),
            ("Tera^90", 0, "this unit is too large, too small or too long for a double"),
            ("Meter^1000^1000", 0, "this unit is too large, too small or too long for a double"),
            ("Meter$", 5, "unexpected character `$`"),
            (&deep, 101, "nested more than 100 deep"),
        ] {
            let error = parse_unit(text).expect_err(text);
            assert_eq!((error.offset, &error.what[..]), (offset, what), "{text}");
        }
        assert_eq!(parse_unit("Meters").expect_err("plural").hint.as_deref(), Some("write `Meter`"));
        assert_eq!(parse_unit("mD").expect_err("symbol").hint.as_deref(), Some("write `Milli*Darcy`"));
    }
}
