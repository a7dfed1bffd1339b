//! Numbers with units in parameters: `10 [Milli*Darcy]`, in the unit that the program takes.

use super::token::{TextError, Tokens};
use super::unit::{Dimension, Unit, bracketed_unit};
use crate::error::Error;
use crate::number::{NumberError, parse_number};
use crate::params::Parameters;
use crate::program::InputUnit;

/// Names of the base units, in the order of a [`Dimension`].
const BASE_UNITS: [&str; 7] = ["Meter", "Second", "Kilogram", "Kelvin", "Ampere", "Mole", "Candela"];

/// The number of a parameter, in the unit that the program takes if it has a unit.
///
/// # Errors
/// `Data` for what is no number, for a unit of another dimension, and for one where the program
/// takes none.
pub fn number(parameters: &Parameters, key: &str, expected: Option<&InputUnit>) -> Result<Option<f64>, Error> {
    let Some((at, text)) = with_unit(parameters, key) else { return parameters.number(key) };
    let read = || {
        let scale = Scale::of(text, at, expected)?;
        scale.apply(&text[..at], 0)
    };
    read().map(Some).map_err(|error| error.into_parameter_error(parameters, key))
}

/// The numbers of a parameter, separated by commas or blanks; one unit after the last one is that
/// of all.
///
/// # Errors
/// As for [`number`].
pub fn numbers(parameters: &Parameters, key: &str, expected: Option<&InputUnit>) -> Result<Option<Vec<f64>>, Error> {
    let Some((at, text)) = with_unit(parameters, key) else { return parameters.numbers(key) };
    let read = || {
        let scale = Scale::of(text, at, expected)?;
        let words = text[..at].split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
        let numbers: Vec<f64> = words.map(|word| scale.apply(word, offset_in(text, word))).collect::<Result<_, _>>()?;
        if numbers.is_empty() { Err(TextError::new(0, "there is no number before the unit")) } else { Ok(numbers) }
    };
    read().map(Some).map_err(|error| error.into_parameter_error(parameters, key))
}

/// Numbers in SI units, in the unit that the program takes; `dimension` is that of their units,
/// `None` if they have none and are what the program takes.
///
/// # Errors
/// As for [`number`].
pub fn from_si(values: &mut [f64], dimension: Option<Dimension>, expected: Option<&InputUnit>) -> Result<(), TextError> {
    let Some(dimension) = dimension else { return Ok(()) };
    let expected = fitting(dimension, 0, expected)?;
    for value in values {
        *value /= expected.factor;
        if !value.is_finite() {
            return Err(beyond_range(0));
        }
    }
    Ok(())
}

/// Numbers in a unit, in the unit that the program takes.
///
/// # Errors
/// As for [`number`].
pub fn convert(values: &mut [f64], unit: Unit, expected: Option<&InputUnit>) -> Result<(), TextError> {
    let scale = Scale::between(unit, 0, expected)?;
    for value in values {
        *value = scale.convert(*value, 0)?;
    }
    Ok(())
}

/// A number whose unit, if it has one, comes next; in the unit that the program takes.
///
/// # Errors
/// As for [`number`].
pub fn before_unit(tokens: &mut Tokens<'_>, number: f64, expected: Option<&InputUnit>) -> Result<f64, TextError> {
    let offset = tokens.peek().offset;
    match bracketed_unit(tokens)? {
        Some(unit) => Scale::between(unit, offset, expected)?.convert(number, offset),
        None => Ok(number),
    }
}

/// A text with a unit, and the byte at which the unit begins.
fn with_unit<'p>(parameters: &'p Parameters, key: &str) -> Option<(usize, &'p str)> {
    let text = parameters.text(key)?;
    Some((text.find('[')?, text))
}

fn offset_in(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// From the unit of a parameter to that which the program takes.
enum Scale {
    /// They are the same.
    One,
    /// Both in SI units.
    Ratio { given: f64, expected: f64 },
}

impl Scale {
    /// Scale of the unit that begins at byte `at`.
    fn of(text: &str, at: usize, expected: Option<&InputUnit>) -> Result<Scale, TextError> {
        Scale::between(unit_after(text, at)?, at, expected)
    }

    fn between(unit: Unit, offset: usize, expected: Option<&InputUnit>) -> Result<Scale, TextError> {
        let expected = fitting(unit.dimension, offset, expected)?;
        Ok(if unit.factor == expected.factor { Scale::One } else { Scale::Ratio { given: unit.factor, expected: expected.factor } })
    }

    fn apply(&self, word: &str, offset: usize) -> Result<f64, TextError> {
        let number = parse_number(word.trim().as_bytes()).map_err(|fault| match fault {
            NumberError::NotANumber => TextError::new(offset, format!("expected a number before the unit, found `{}`", word.trim())),
            NumberError::OutOfRange => beyond_range(offset),
        })?;
        self.convert(number, offset)
    }

    fn convert(&self, number: f64, offset: usize) -> Result<f64, TextError> {
        let value = match self {
            Scale::One => number,
            Scale::Ratio { given, expected } => number * given / expected,
        };
        if value.is_finite() { Ok(value) } else { Err(beyond_range(offset)) }
    }
}

fn beyond_range(offset: usize) -> TextError {
    TextError::new(offset, "this number is beyond the range of numbers in the unit of the program")
}

fn unit_after(text: &str, at: usize) -> Result<Unit, TextError> {
    let read = || {
        let mut tokens = Tokens::new(&text[at..])?;
        let unit = bracketed_unit(&mut tokens)?;
        tokens.expect_end("the end after the unit")?;
        unit.ok_or_else(|| tokens.unexpected("a unit"))
    };
    read().map_err(|error| error.within(at))
}

/// The unit that the program takes, if it has this dimension.
fn fitting(dimension: Dimension, offset: usize, expected: Option<&InputUnit>) -> Result<&InputUnit, TextError> {
    let Some(expected) = expected else {
        return Err(TextError::new(offset, "a unit, and the program gives this input none")
            .hint("give the number alone; a unit is known where the program multiplies what it reads by one, as in `... * 1 [Meter]`"));
    };
    if dimension != expected.dimension {
        let [given, wanted] = [dimension, expected.dimension].map(dimension_text);
        return Err(TextError::new(offset, format!("a unit of dimension {given}, and the program takes {wanted}"))
            .hint(format!("a number without a unit is in {}", expected.text)));
    }
    Ok(expected)
}

/// `[Meter * Second^-1]`, as in messages of the compiler.
fn dimension_text(dimension: Dimension) -> String {
    let named = BASE_UNITS.iter().zip(dimension).filter(|(_, exponent)| *exponent != 0);
    let parts: Vec<String> =
        named.map(|(name, exponent)| if exponent == 1 { (*name).to_owned() } else { format!("{name}^{exponent}") }).collect();
    if parts.is_empty() { "none".to_owned() } else { format!("[{}]", parts.join(" * ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(text: &str, factor: f64) -> InputUnit {
        InputUnit { text: text.into(), factor, dimension: [1, 0, 0, 0, 0, 0, 0] }
    }

    fn kilometres() -> InputUnit {
        length("Kilo*Meter", 1000.0)
    }

    fn given(value: &str) -> Parameters {
        let mut parameters = Parameters::default();
        parameters.set("l", value);
        parameters
    }

    #[test]
    fn units_are_converted() {
        for (text, value) in
            [("2.5", 2.5), ("2.5 [Kilo*Meter]", 2.5), ("-500[Meter]", -0.5), ("2 [Mega*Meter]", 2000.0), ("0.1 [Kilo*Meter]", 0.1)]
        {
            assert_eq!(number(&given(text), "l", Some(&kilometres())).expect(text), Some(value), "{text}");
        }
        assert_eq!(numbers(&given("1, 20 [Meter]"), "l", Some(&kilometres())).expect("both"), Some(vec![0.001, 0.02]));
        assert_eq!(number(&Parameters::default(), "l", Some(&kilometres())).expect("none"), None);
        let mut tokens = Tokens::new("[Meter], [Second]").expect("tokens");
        assert_eq!(before_unit(&mut tokens, 250.0, Some(&kilometres())), Ok(0.25));
        assert_eq!(before_unit(&mut tokens, 250.0, None), Ok(250.0));
        tokens.advance();
        assert!(before_unit(&mut tokens, 250.0, Some(&kilometres())).is_err());
        let mut values = [3000.0, 500.0];
        from_si(&mut values, Some(kilometres().dimension), Some(&kilometres())).expect("lengths");
        assert_eq!(values, [3.0, 0.5]);
        let small = length("Milli*Meter", 0.001);
        assert!(from_si(&mut [1.0, 1e308], Some(small.dimension), Some(&small)).is_err());
    }

    #[test]
    fn wrong_units_are_refused() {
        for (text, expected, message, hint) in [
            (
                "1 [Second]",
                Some(&kilometres()),
                "character 3 of `1 [Second]`: a unit of dimension [Second], and the program takes [Meter]",
                "in Kilo*Meter",
            ),
            ("1 [Meter]", None, "character 3 of `1 [Meter]`: a unit, and the program gives this input none", "give the number alone"),
            ("1 [Metre]", Some(&kilometres()), "character 4 of `1 [Metre]`: there is no unit `Metre`", "`Meter`"),
            ("1 [Meter", Some(&kilometres()), "character 9 of `1 [Meter`: expected `*`, `/`, `^` or the `]`", ""),
            ("1 [Meter] 2", Some(&kilometres()), "character 11 of `1 [Meter] 2`: expected the end after the unit", ""),
            ("one [Meter]", Some(&kilometres()), "character 1 of `one [Meter]`: expected a number before the unit, found `one`", ""),
            ("[Meter]", Some(&kilometres()), "character 1 of `[Meter]`: expected a number before the unit, found ``", ""),
            ("1e308 [Tera*Meter]", Some(&kilometres()), "character 1 of `1e308 [Tera*Meter]`: this number is beyond the range", ""),
        ] {
            let error = number(&given(text), "l", expected).expect_err(text);
            assert!(error.message.contains(message), "{text}: {}", error.message);
            assert!(error.hint.unwrap_or_default().contains(hint), "{text}");
        }
        let error = numbers(&given("1, x [Meter]"), "l", Some(&kilometres())).expect_err("a word");
        assert!(error.message.contains("character 4 of `1, x [Meter]`"), "{}", error.message);
    }
}
