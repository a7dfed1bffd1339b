//! Decimal numbers at the beginning of a text: one pass over their bytes gives the value, rounded
//! correctly, and which digits they show.

/// A decimal number, such as `-0.0125`, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Decimal {
    pub(crate) value: f64,
    /// Its bytes.
    pub(crate) len: usize,
    /// Digits from the first that is not zero to the last.
    pub(crate) significant: i32,
    /// Digits after the point, less the exponent.
    pub(crate) decimals: i32,
    pub(crate) has_point: bool,
    pub(crate) has_exponent: bool,
}

/// Powers of ten that are exact as doubles.
const EXACT_POWERS: [f64; 23] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22];

/// Whole numbers below are exact as doubles.
const EXACT: u64 = 1 << 53;

/// Digits that fit in 64 bits, whatever they are.
const DIGITS: usize = 19;

pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte.wrapping_sub(b'\t') < 5
}

/// The number at the beginning of a text, up to a blank or the end. `None` for what is no number,
/// and for numbers that take longer: more than 19 digits, or far from 1 with more than 15.
#[inline]
pub(crate) fn leading(text: &[u8]) -> Option<Decimal> {
    let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let mut mantissa = 0;
    let first = sign + zeros(&text[sign..]);
    let mut at = first + digits(&text[first..], &mut mantissa);
    let mut significant = at - first;
    let (mut fraction, mut has_point, mut any) = (0, false, at > sign);
    if text.get(at) == Some(&b'.') {
        has_point = true;
        let start = at + 1;
        let first = if significant == 0 { start + zeros(&text[start..]) } else { start };
        at = first + digits(&text[first..], &mut mantissa);
        (fraction, significant) = (at - start, significant + at - first);
        any |= fraction > 0;
    }
    let mut exponent = 0;
    let has_exponent = matches!(text.get(at), Some(b'e' | b'E'));
    if has_exponent {
        let start = at + 1 + usize::from(matches!(text.get(at + 1), Some(b'-' | b'+')));
        let mut size = 0;
        let len = digits(&text[start..], &mut size);
        if !(1..=4).contains(&len) {
            return None;
        }
        exponent = if text[at + 1] == b'-' { -(size as i32) } else { size as i32 };
        at = start + len;
    }
    if !any || significant > DIGITS || !text.get(at).is_none_or(|&byte| is_blank(byte)) {
        return None;
    }
    let decimals = fraction as i32 - exponent;
    let size = rounded(mantissa, decimals)?;
    let value = if text[0] == b'-' { -size } else { size };
    Some(Decimal { value, len: at, significant: significant as i32, decimals, has_point, has_exponent })
}

fn zeros(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| byte == b'0').count()
}

/// Number of digits at the beginning, which are appended to the value, modulo 2^64.
#[inline]
fn digits(text: &[u8], value: &mut u64) -> usize {
    let mut at = 0;
    while let Some(eight) = text[at..].first_chunk::<8>().and_then(|chunk| eight_digits(u64::from_le_bytes(*chunk))) {
        *value = value.wrapping_mul(100_000_000).wrapping_add(eight);
        at += 8;
    }
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        *value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    at
}

/// The value of eight digits, the first in the lowest byte: pairs, then fours, then all.
#[inline]
fn eight_digits(bytes: u64) -> Option<u64> {
    const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    let zeros = u64::from_le_bytes([b'0'; 8]);
    let beyond_nine = bytes.wrapping_add(u64::from_le_bytes([6; 8]));
    if bytes & HIGH != zeros || beyond_nine & HIGH != zeros {
        return None;
    }
    let digits = bytes - zeros;
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// `mantissa / 10^decimals`, rounded to nearest, ties to even.
#[inline]
fn rounded(mantissa: u64, decimals: i32) -> Option<f64> {
    let power = decimals.unsigned_abs() as usize;
    if mantissa < EXACT && power < EXACT_POWERS.len() {
        // Both are exact, so that one operation rounds correctly (Clinger 1990).
        let power = EXACT_POWERS[power];
        return Some(if decimals < 0 { mantissa as f64 * power } else { mantissa as f64 / power });
    }
    if mantissa < EXACT || !(0..=DIGITS as i32).contains(&decimals) {
        return None;
    }
    // From 2^53 on the quotient has 54 bits at least; the remainder tells ties from what is above.
    let (numerator, divisor) = (u128::from(mantissa) << 64, u128::from(10_u64.pow(decimals as u32)));
    let (quotient, remainder) = (numerator / divisor, numerator % divisor);
    let dropped = 128 - quotient.leading_zeros() - 54;
    let bits = (quotient >> dropped) as u64;
    let is_above = remainder != 0 || bits_below(quotient, dropped) != 0;
    let half = bits >> 1;
    let up = bits & 1 == 1 && (is_above || half & 1 == 1);
    let scale = f64::from_bits(u64::from(1023 + dropped + 1 - 64) << 52);
    Some((half + u64::from(up)) as f64 * scale)
}

fn bits_below(value: u128, n: u32) -> u128 {
    value & ((1 << n) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<(usize, i32, i32, bool, bool)> {
        leading(text.as_bytes()).map(|d| (d.len, d.significant, d.decimals, d.has_point, d.has_exponent))
    }

    #[test]
    fn how_numbers_are_written() {
        assert_eq!(shown("0"), Some((1, 0, 0, false, false)));
        assert_eq!(shown("-200 1"), Some((4, 3, 0, false, false)));
        assert_eq!(shown("+0.0120\n"), Some((7, 3, 4, true, false)));
        assert_eq!(shown("1.50e+01"), Some((8, 3, 1, true, true)));
        assert_eq!(shown(".5E-3"), Some((5, 1, 4, true, true)));
        assert_eq!(shown("7."), Some((2, 1, 0, true, false)));
        for text in ["", " 1", "-", ".", "-.", "e5", "1e", "1e+", "1e12345", "1.2.3", "--1", "1x", "1,5", "nan", "12345678901234567890"] {
            assert_eq!(shown(text), None, "{text}");
        }
        assert_eq!(leading(b"-0").map(|d| d.value.to_bits()), Some((-0.0_f64).to_bits()));
    }

    /// The library's own reading of numbers, which rounds correctly, is the other road.
    #[test]
    fn values_are_rounded_correctly() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ (state >> 31)
        };
        let mut read = 0;
        for _ in 0..200_000 {
            let (digits, decimals) = (next() % 10_u64.pow((next() % 20) as u32), (next() % 24) as i32);
            let text = match next() % 3 {
                0 => format!("{digits}e{}", -decimals),
                1 => format!("{digits:0width$}", width = decimals as usize + 2),
                _ => {
                    let padded = format!("{digits:0width$}", width = decimals as usize + 1);
                    let (whole, fraction) = padded.split_at(padded.len() - decimals as usize);
                    format!("{whole}.{fraction}")
                }
            };
            if let Some(found) = leading(text.as_bytes()) {
                assert_eq!(Ok(found.value.to_bits()), text.parse::<f64>().map(f64::to_bits), "{text}");
                read += 1;
            }
        }
        assert!(read > 150_000, "{read}");
        // Halfway between two doubles, and one digit beyond: to even, and up.
        for text in [
            "9007199254740993",
            "9007199254740995",
            "900719925474099.3",
            "900719925474099.35",
            "1844674407370955264.1",
            "0.9007199254740993",
        ] {
            let found = leading(text.as_bytes()).map(|d| d.value.to_bits());
            assert!(found.is_none_or(|bits| Ok(bits) == text.parse::<f64>().map(f64::to_bits)), "{text}");
        }
    }
}
