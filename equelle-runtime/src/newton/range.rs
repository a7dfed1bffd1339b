//! Ranges of unknowns for messages: an iterate may satisfy the equations and be meaningless, such
//! as a negative saturation.

use std::fmt::Write as _;

use crate::json;
use crate::number::general;
use crate::program::Solve;

/// Range of an unknown's values.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// Its name in the program, or its number from 1.
    pub unknown: String,
    /// Least value, in the unknown's own unit; NaN if a value is.
    pub least: f64,
    /// Greatest value; NaN if a value is.
    pub greatest: f64,
}

impl Range {
    /// The ranges of the unknowns of a solve; `extremes`: least and greatest value of each, `None`
    /// for one without elements, which has no range. `[unknowns]`
    pub fn from_extremes(solve: Option<&Solve>, extremes: &[Option<[f64; 2]>]) -> Vec<Range> {
        let names = solve.map_or(&[][..], |solve| &solve.unknowns);
        let range = |(number, extremes): (usize, &Option<[f64; 2]>)| {
            let [least, greatest] = (*extremes)?;
            let unknown = names.get(number).map_or_else(|| (number + 1).to_string(), |name| name.to_string());
            // The sign of a zero depends on the order of elements.
            Some(Range { unknown, least: least + 0.0, greatest: greatest + 0.0 })
        };
        extremes.iter().enumerate().filter_map(range).collect()
    }

    /// Merges other ranges, by name.
    pub fn widen(all: &mut Vec<Range>, others: &[Range]) {
        for other in others {
            match all.iter_mut().find(|known| known.unknown == other.unknown) {
                Some(known) => {
                    // `f64::min` would ignore NaN.
                    known.least = if other.least < known.least || other.least.is_nan() { other.least } else { known.least };
                    known.greatest =
                        if other.greatest > known.greatest || other.greatest.is_nan() { other.greatest } else { known.greatest };
                }
                None => all.push(other.clone()),
            }
        }
    }

    /// `p from 1e+06 to 2e+07, s from 0.02 to 0.98`
    pub fn text(all: &[Range]) -> String {
        let mut text = String::new();
        for Range { unknown, least, greatest } in all {
            let comma = if text.is_empty() { "" } else { ", " };
            // Writing to a String cannot fail.
            let _ = write!(text, "{comma}{unknown} from {} to {}", general(*least), general(*greatest));
        }
        text
    }

    /// An array for programs: `[{"name":"s","least":0.02,"greatest":0.98}]`, with all digits.
    pub fn array(all: &[Range]) -> String {
        let object = |range: &Range| {
            let (least, greatest) = (json::number(range.least), json::number(range.greatest));
            format!("{{\"name\":{},\"least\":{least},\"greatest\":{greatest}}}", json::string(&range.unknown))
        };
        format!("[{}]", all.iter().map(object).collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve() -> Solve {
        Solve { line: 3, unknowns: vec!["p".into(), "s".into()] }
    }

    #[test]
    fn unknowns_without_elements_have_no_range() {
        let ranges = Range::from_extremes(Some(&solve()), &[None, Some([-0.25, 1.0])]);
        assert_eq!(ranges, [Range { unknown: "s".to_owned(), least: -0.25, greatest: 1.0 }]);
        let ranges = Range::from_extremes(None, &[Some([-0.0, -0.0])]);
        assert_eq!(Range::text(&ranges), "1 from 0 to 0");
        assert_eq!(Range::text(&[]), "");
        assert_eq!(Range::array(&[]), "[]");
    }

    #[test]
    fn ranges_widen_and_keep_what_is_not_finite() {
        let range = |s: [f64; 2], p: [f64; 2]| Range::from_extremes(Some(&solve()), &[Some(p), Some(s)]);
        let mut all = Vec::new();
        Range::widen(&mut all, &range([0.5, 0.75], [1e6, 2e6]));
        Range::widen(&mut all, &range([-0.125, 0.625], [1.5e6, 3e6]));
        assert_eq!(Range::text(&all), "p from 1e+06 to 3e+06, s from -0.125 to 0.75");
        assert_eq!(
            Range::array(&all),
            "[{\"name\":\"p\",\"least\":1000000,\"greatest\":3000000},{\"name\":\"s\",\"least\":-0.125,\"greatest\":0.75}]"
        );
        Range::widen(&mut all, &range([f64::NAN; 2], [1e6, 1e6]));
        Range::widen(&mut all, &range([0.0, 1.0], [1e6, f64::INFINITY]));
        assert_eq!(Range::text(&all), "p from 1e+06 to inf, s from nan to nan");
        assert!(Range::array(&all[1..]).contains("\"least\":null"));
    }
}
