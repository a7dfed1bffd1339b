//! Numbers in text: words between white space, fast and strict parsing, shortest and `%g`
//! formatting.

use crate::decimal::{is_blank, leading};
use crate::real::Real;

/// Reason why a word is not a number of the expected kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberError {
    /// Not a number. `nan` and `inf` are not accepted.
    NotANumber,
    /// A number, but too large.
    OutOfRange,
}

/// A finite decimal number such as `-4.37e+04`, correctly rounded.
///
/// # Errors
/// Why it is not a number.
pub fn parse_number(word: &[u8]) -> Result<f64, NumberError> {
    if let Some(number) = leading(word).filter(|number| number.len == word.len()) {
        return Ok(number.value);
    }
    if word.is_empty() || !word.iter().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
        return Err(NumberError::NotANumber);
    }
    let text = std::str::from_utf8(word).map_err(|_| NumberError::NotANumber)?;
    let value: f64 = text.parse().map_err(|_| NumberError::NotANumber)?;
    if value.is_finite() { Ok(value) } else { Err(NumberError::OutOfRange) }
}

/// [`parse_number`], also with the exponent as Fortran writes it: `1.0D-2`.
///
/// # Errors
/// Why it is not a number.
pub fn parse_data_number(word: &[u8]) -> Result<f64, NumberError> {
    match parse_number(word) {
        Err(NumberError::NotANumber) => {}
        done @ (Ok(_) | Err(NumberError::OutOfRange)) => return done,
    }
    // One letter, so that `1D2e3` stays what it is.
    let mut letters = word.iter().enumerate().filter(|(_, byte)| byte.is_ascii_alphabetic());
    let (Some((at, b'd' | b'D')), None) = (letters.next(), letters.next()) else { return Err(NumberError::NotANumber) };
    let mut word = word.to_vec();
    word[at] = b'e';
    parse_number(&word)
}

/// A whole number, possibly negative.
///
/// # Errors
/// Why it is not a whole number.
pub fn parse_integer(word: &[u8]) -> Result<i64, NumberError> {
    let (sign, digits) = match word {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        _ => (1, word),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NumberError::NotANumber);
    }
    digits
        .iter()
        .try_fold(0i64, |value, &digit| value.checked_mul(10)?.checked_add(i64::from(digit - b'0')))
        .map(|value| sign * value)
        .ok_or(NumberError::OutOfRange)
}

/// A truth value: `true`, `yes` or `1`, `false`, `no` or `0`; `True` and `FALSE` too.
pub fn parse_truth(word: &[u8]) -> Option<bool> {
    match word {
        b"1" => Some(true),
        b"0" => Some(false),
        _ if word.eq_ignore_ascii_case(b"true") || word.eq_ignore_ascii_case(b"yes") => Some(true),
        _ if word.eq_ignore_ascii_case(b"false") || word.eq_ignore_ascii_case(b"no") => Some(false),
        _ => None,
    }
}

/// A number with a point where a word has a decimal comma.
pub fn decimal_comma(word: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(word).ok()?;
    let point = text.replacen(',', ".", 1);
    (point != text && !point.contains(',') && parse_data_number(point.as_bytes()).is_ok()).then_some(point)
}

/// The words of a text, one at a time.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    text: &'a [u8],
    at: usize,
}

/// A word and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Byte offset of its first byte in the text.
    pub offset: usize,
}

impl<'a> Words<'a> {
    /// The words of a text.
    pub fn new(text: &'a [u8]) -> Self {
        Words { text, at: 0 }
    }

    /// The words of a text from a byte offset on.
    pub fn from_offset(text: &'a [u8], offset: usize) -> Self {
        Words { text, at: offset.min(text.len()) }
    }

    /// Byte offset of the unread text.
    pub fn offset(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let rest = &self.text[self.at..];
        let begin = rest.iter().position(|&b| !is_blank(b))?;
        let rest = &rest[begin..];
        let len = rest.iter().position(|&b| is_blank(b)).unwrap_or(rest.len());
        let offset = self.at + begin;
        self.at = offset + len;
        Some(Word { bytes: &rest[..len], offset })
    }
}

/// Line and column of a byte offset, both from 1; columns count bytes.
pub fn line_and_column(text: &[u8], offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|&&b| b != b'\n').count() + 1;
    (line, column)
}

/// A word for a message: quoted, and cut when long.
pub fn quoted(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(word);
    let shown: String = text.chars().take(30).flat_map(char::escape_debug).collect();
    if text.chars().nth(30).is_some() { format!("`{shown}...`") } else { format!("`{shown}`") }
}

/// Writes the shortest digits that read back as the same number of its type; with an exponent
/// outside 1e-5 to 1e16.
pub fn write_shortest<R: Real>(out: &mut String, value: R) {
    use std::fmt::Write as _;
    let size = value.to_f64().abs();
    // Writing to a String cannot fail.
    let _ = if !size.is_finite() {
        out.push_str(non_finite(value.to_f64()));
        Ok(())
    } else if size == 0.0 || (1e-5..1e16).contains(&size) {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    };
}

/// A text without the mark of its byte order that some editors write.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Formats six significant digits as C's `%g`.
pub fn general(value: f64) -> String {
    if !value.is_finite() {
        return non_finite(value).to_string();
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0" } else { "0" }.to_string();
    }
    // The exponent after rounding to 6 digits decides the style.
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let strip = |text: &str| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text.to_string() }
    };
    if (-4..6).contains(&exponent) {
        strip(&format!("{value:.*}", (5 - exponent) as usize))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", strip(digits), exponent.abs())
    }
}

fn non_finite(value: f64) -> &'static str {
    if value.is_nan() {
        "nan"
    } else if value > 0.0 {
        "inf"
    } else {
        "-inf"
    }
}
