//! Precision of the numbers of a text, judged by the digits that it shows.

use crate::decimal::Decimal;

/// The most digits that numbers of one kind show. A writer gives all of them the same number of
/// significant digits or of decimals, and may leave zeros at the end out; so either number says how
/// far off its numbers are, and the coarser one is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digits {
    significant: i32,
    decimals: i32,
    /// True if some have an exponent.
    exponents: bool,
    /// True if all are numbers of single precision, however they are printed.
    single: bool,
}

/// Digits that show a number of single precision fully.
const DIGITS_OF_SINGLE: i32 = 9;
/// Half of the distance of neighbouring numbers of single precision, relative to them; and of
/// double precision.
const ROUNDING_OF_SINGLE: f64 = 1.0 / 16_777_216.0;
const ROUNDING_OF_DOUBLE: f64 = f64::EPSILON / 2.0;
/// Numbers without exponents that show fewer significant digits have not been rounded to that many:
/// nobody prints grids with `%.2g`.
const MIN_DIGITS: i32 = 3;

impl Default for Digits {
    fn default() -> Self {
        Digits { significant: 0, decimals: 0, exponents: false, single: true }
    }
}

impl Digits {
    /// Takes note of a number and how it is written.
    pub fn see(&mut self, word: &[u8], value: f64) {
        let (mut significant, mut zeros, mut decimals, mut after_point) = (0, 0, 0, false);
        for (at, &byte) in word.iter().enumerate() {
            match byte {
                b'0'..=b'9' => {
                    decimals += i32::from(after_point);
                    significant += i32::from(byte != b'0' || significant > 0);
                    zeros = if byte == b'0' { zeros + 1 } else { 0 };
                }
                b'.' => after_point = true,
                b'e' | b'E' => {
                    self.exponents = true;
                    let exponent = std::str::from_utf8(&word[at + 1..]).ok().and_then(|text| text.parse::<i32>().ok());
                    decimals = decimals.saturating_sub(exponent.unwrap_or(0));
                    break;
                }
                _ => {}
            }
        }
        // The zeros at the end of a whole number may be its value, and no digits that were looked
        // at.
        let shown = if after_point { significant } else { significant - zeros };
        self.significant = self.significant.max(shown);
        self.decimals = self.decimals.max(decimals);
        self.single &= f64::from(value as f32) == value;
    }

    /// The same of a number with a point, which has been read.
    #[inline]
    pub fn see_decimal(&mut self, number: &Decimal) {
        self.significant = self.significant.max(number.significant);
        self.decimals = self.decimals.max(number.decimals);
        self.exponents |= number.has_exponent;
        self.single &= f64::from(number.value as f32) == number.value;
    }

    /// Digits of these numbers and others together.
    pub fn and(self, other: Digits) -> Digits {
        Digits {
            significant: self.significant.max(other.significant),
            decimals: self.decimals.max(other.decimals),
            exponents: self.exponents || other.exponents,
            single: self.single && other.single,
        }
    }

    /// Error bound of a vector with one component per dimension of the space.
    pub fn error_of_vector(self, vector: [f64; 3], dim: usize) -> f64 {
        vector[..dim].iter().map(|&component| self.error_of(component).powi(2)).sum::<f64>().sqrt()
    }

    /// Error bound of a number of this size.
    pub fn error_of(self, value: f64) -> f64 {
        let size = value.abs();
        let relative = if self.single || self.significant <= DIGITS_OF_SINGLE { ROUNDING_OF_SINGLE } else { ROUNDING_OF_DOUBLE };
        let significant = self.significant.max(if self.exponents { 1 } else { MIN_DIGITS });
        let by_significant = if size > 0.0 { 0.5 * power(size.log10().floor().clamp(-400.0, 400.0) as i32 + 1 - significant) } else { 0.0 };
        (relative * size).max(by_significant).max(0.5 * power(-self.decimals))
    }

    /// True if these numbers show all the digits that the writer of `others` gives to numbers, so
    /// that they may have been rounded. Else they are exact, such as the corners of a unit square
    /// among areas of six digits.
    pub fn are_as_many_as(self, others: Digits) -> bool {
        let significant = self.significant >= MIN_DIGITS.max(others.significant);
        significant || self.decimals > 0 && self.decimals >= others.decimals
    }
}

fn power(exponent: i32) -> f64 {
    10f64.powi(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(words: &str) -> Digits {
        let mut digits = Digits::default();
        words.split(' ').for_each(|word| digits.see(word.as_bytes(), word.parse().expect("a number")));
        digits
    }

    #[test]
    fn shown() {
        let shown = |words: &str| (digits(words).significant, digits(words).decimals);
        assert_eq!(shown("0 1 200"), (1, 0));
        assert_eq!(shown("0.333"), (3, 3));
        assert_eq!(shown("-0.0120 1.50e+01"), (3, 4));
        assert_eq!(shown("1.25e-3"), (3, 5));
        assert_eq!(shown("0.000"), (0, 3));
        assert!(digits("0.5 2").single && !digits("0.1").single);
    }

    #[test]
    fn numbers_that_have_been_read_show_the_same() {
        for word in ["0.0", "-0.0120", "1.50e+01", "1.25e-3", ".5", "7.", "0.12345678901234567", "123.456"] {
            let mut seen = Digits::default();
            let number = crate::decimal::leading(word.as_bytes()).expect(word);
            seen.see_decimal(&number);
            assert_eq!(seen, digits(word), "{word}");
        }
        assert_eq!(digits("0.25 1").and(digits("1.5e3")), digits("0.25 1 1.5e3"));
    }

    #[test]
    fn errors_are_those_of_the_coarser_reading() {
        // Three significant digits: half of the third. Four decimals come with 0.0123 alone.
        let general = digits("0.0123 12.3 1");
        assert!((general.error_of(12.3) - 0.05).abs() < 1e-15 && (general.error_of(0.0123) - 0.5e-4).abs() < 1e-18);
        // Three decimals, whatever the size.
        let fixed = digits("0.001 1234.567");
        assert!((fixed.error_of(0.001) - 0.0005).abs() < 1e-18 && (fixed.error_of(0.0) - 0.0005).abs() < 1e-18);
        assert!((fixed.error_of(1234.567) - 0.0005).abs() < 1e-15);
        // One decimal, though there is one digit; two significant digits, where an exponent shows
        // that they were counted.
        assert!((digits("0.5 1").error_of(1.0) - 0.05).abs() < 1e-16);
        assert!((digits("1.2e+01 3.4e-05").error_of(12.0) - 0.5).abs() < 1e-15);
        // All digits of a double; and a single printed as a double.
        assert!(digits("0.12345678901234567").error_of(1.0) < 2e-16);
        assert_eq!(digits("0.3333333432674408").error_of(1.0), ROUNDING_OF_SINGLE);
    }

    #[test]
    fn few_digits_among_many_are_exact() {
        assert!(!digits("0 1").are_as_many_as(digits("0.333 1")));
        assert!(!digits("0 1").are_as_many_as(digits("0.5 1")));
        assert!(!digits("0 250 1000").are_as_many_as(digits("0.5 999.5")));
        assert!(digits("0.333").are_as_many_as(digits("0.167")));
        assert!(digits("12.346 0.001").are_as_many_as(digits("152.416 0.004")));
        assert!(digits("0.1234567890123").are_as_many_as(digits("0.123456")));
    }
}
