//! Numbers at axes.

/// Round numbers within a range, with their texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticks(pub Vec<(f64, String)>);

/// About `most` multiples of 1, 2 or 5 times a power of ten in a range; none if it has no width.
pub fn ticks(low: f64, high: f64, most: usize) -> Ticks {
    let width = high - low;
    if !(width > 0.0 && width.is_finite()) || most == 0 {
        return Ticks(Vec::new());
    }
    let rough = width / most as f64;
    let power = rough.log10().floor();
    let unit = 10_f64.powf(power);
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * unit >= rough * 0.999).unwrap_or(10.0);
    let step = factor * unit;
    if !(step.is_finite() && step > 0.0) || low + step == low {
        return Ticks(Vec::new());
    }
    let power = if factor == 10.0 { power + 1.0 } else { power } as i32;
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    let count = (last - first).clamp(-1.0, 2.0 * most as f64 + 2.0) as i64;
    let largest = low.abs().max(high.abs());
    let tick = |index: i64| {
        // Not -0.
        let value = (first + index as f64) * step + 0.0;
        (value, text(value, power, largest))
    };
    Ticks((0..=count).map(tick).collect())
}

/// As [`ticks`], of whole numbers alone.
pub fn whole(low: f64, high: f64, most: usize) -> Vec<(f64, String)> {
    let most = most.min((high - low).floor().max(1.0) as usize);
    let numbers = ticks(low, high, most).0.into_iter().filter(|(value, _)| value.fract() == 0.0);
    numbers.map(|(value, _)| (value, short(value))).collect()
}

/// Powers of ten in a range of logarithms, about `most`, with their texts; where there is none, the
/// ends.
pub fn powers(low: f64, high: f64, most: usize) -> Vec<(f64, String)> {
    if !(low.is_finite() && high.is_finite()) {
        return Vec::new();
    }
    let (first, last) = (low.ceil() as i32, high.floor() as i32);
    let every = ((last - first) / most.max(1) as i32 + 1).max(1);
    let text = |power: i32| if (-2..4).contains(&power) { short(10_f64.powi(power)) } else { format!("1e{power}") };
    // Multiples, so that 1 is among them.
    let found: Vec<(f64, String)> =
        (first..=last).filter(|power| power % every == 0).map(|power| (f64::from(power), text(power))).collect();
    if found.len() > 1 { found } else { [low, high].map(|end| (end, short(10_f64.powf(end)))).to_vec() }
}

/// A multiple of a power of ten, in decimals, or with an exponent where numbers are large or small.
fn text(value: f64, power: i32, largest: f64) -> String {
    let exponent = largest.log10().floor() as i32;
    if value == 0.0 {
        "0".to_owned()
    } else if (-4..6).contains(&exponent) && power >= -6 {
        format!("{value:.*}", usize::try_from(-power).unwrap_or(0))
    } else {
        let own = value.abs().log10().floor() as i32;
        tidy(&format!("{value:.*e}", usize::try_from(own - power).unwrap_or(0).min(12)))
    }
}

/// A number with four digits, for ends of ranges and times.
pub fn short(value: f64) -> String {
    with_digits(value, 4)
}

/// The ends of a range, with four digits, or as many more as tell where they are in it.
pub fn ends(low: f64, high: f64) -> [String; 2] {
    let near = |text: &str, value: f64| text.parse::<f64>().is_ok_and(|read| (read - value).abs() <= (high / 100.0 - low / 100.0).abs());
    let found = (4..=17).map(|digits| [low, high].map(|end| with_digits(end, digits)));
    let tells = |texts: &[String; 2]| near(&texts[0], low) && near(&texts[1], high);
    found.into_iter().find(tells).unwrap_or_else(|| [low, high].map(short))
}

/// A number with so many digits, without zeros at the end.
pub fn with_digits(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { format!("{value}") };
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let exponent: i32 = scientific.rsplit_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let text = format!("{value:.*}", usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0));
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        tidy(&scientific)
    }
}

/// Without zeros behind the digits.
fn tidy(scientific: &str) -> String {
    match scientific.split_once('e') {
        Some((digits, exponent)) if digits.contains('.') => {
            format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        Some(_) | None => scientific.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64, most: usize) -> Vec<String> {
        ticks(low, high, most).0.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(texts(0.0, 1.0, 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"].map(|text| if text == "0.0" { "0" } else { text }));
        assert_eq!(texts(-1.0, 1.0, 4), ["-1.0", "-0.5", "0", "0.5", "1.0"]);
        assert_eq!(texts(3.0e-9, 9.0e-9, 3), ["4e-9", "6e-9", "8e-9"]);
        assert_eq!(texts(1e7, 3e7, 4), ["1e7", "1.5e7", "2e7", "2.5e7", "3e7"]);
        assert_eq!(texts(1.0, 1.0, 4), [""; 0]);
        assert_eq!(texts(1.0, 1.0 + 1e-16, 4), [""; 0]);
        assert_eq!(texts(f64::NAN, 1.0, 4), [""; 0]);
        assert!(texts(-f64::MAX, f64::MAX, 4).is_empty());
    }

    #[test]
    fn powers_are_whole() {
        let texts = |low, high, most| powers(low, high, most).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(-12.5, 0.5, 4), ["1e-12", "1e-8", "1e-4", "1"]);
        assert_eq!(texts(-2.0, 2.0, 9), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(texts(0.1, 0.9, 4), ["1.259", "7.943"]);
    }

    #[test]
    fn counts_have_whole_ticks() {
        let texts = |low, high| whole(low, high, 6).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(0.9, 1.1), ["1"]);
        assert_eq!(texts(3.0, 4.0), ["3", "4"]);
        assert_eq!(texts(1.0, 20.0), ["5", "10", "15", "20"]);
    }

    /// To a hundredth of the range.
    #[test]
    fn ends_of_narrow_ranges_differ() {
        assert_eq!(ends(0.0, 186.2567), ["0", "186.3"]);
        assert_eq!(ends(500_000.0, 500_000.099), ["500000", "500000.099"]);
        assert_eq!(ends(-1.000_001e-9, -1e-9), ["-1.000001e-9", "-1e-9"]);
        // With four digits it would be read as infinite.
        assert_eq!(ends(-f64::MAX, f64::MAX), ["-1.79769e308", "1.79769e308"]);
        assert_eq!(ends(1.0, 1.0), ["1", "1"]);
    }

    #[test]
    fn short_numbers() {
        let all = [0.0, 1.0, 0.1, 123_456.0, 1_234_567.0, 0.000_012_34, -2.5, 299.999_99, f64::NAN].map(short);
        assert_eq!(all, ["0", "1", "0.1", "123456", "1.235e6", "1.234e-5", "-2.5", "300", "NaN"]);
    }
}
