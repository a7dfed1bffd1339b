//! The end of the outermost loop where nothing changes more: `stop_when_change`.
//!
//! After each round the runtime measures the mutable variables that the loop changes. Of a
//! component of a collection it takes the largest change of an element, and its range: the largest
//! minus the smallest value so far, after any round of the loop. The loop ends where no change is
//! larger than the parameter times the range. Single numbers, such as the time, do not keep a loop
//! with collections going; in a loop without collections they decide, with their own range.

use crate::error::{Error, ErrorKind};
use crate::params::Parameters;
use crate::ranks::RankContext;
use crate::real::Real;

/// The parameter with the largest change, relative to the range.
pub const STOP_WHEN_CHANGE: &str = "stop_when_change";

/// True if a variable is on the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// A collection.
    Collection,
    /// A single Scalar or Vector.
    Number,
}

/// Values of a component of a variable after a round, and their change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundChange {
    /// The smallest value after it.
    pub least: f64,
    /// The largest value after it.
    pub greatest: f64,
    /// The largest change of an element; `None` in the first round, which has none to compare with.
    pub change: Option<f64>,
}

/// A variable that is measured next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredVariable {
    /// Its number among those of the loop.
    pub number: usize,
    /// True if it is measured for the first time in this loop.
    pub is_first: bool,
}

/// Verdict on the variables of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Verdict {
    #[default]
    Nothing,
    Unchanged,
    Changed,
}

/// Range of a component so far.
#[derive(Clone, Copy, Debug)]
struct Range {
    least: f64,
    greatest: f64,
}

/// The measure of the outermost loop.
#[derive(Debug, Default)]
pub(super) struct SteadyState {
    /// The largest change relative to the range; `None` if no change ends a loop.
    pub(super) largest: Option<f64>,
    /// A round of the outermost loop has ended and is being measured.
    is_measuring: bool,
    /// By number of the variable, its components.
    ranges: Vec<Vec<Range>>,
    /// The same with the values after the round before, where the host has them.
    before: Vec<Vec<Vec<f64>>>,
    /// Variables measured in this round.
    measured: usize,
    collections: Verdict,
    numbers: Verdict,
}

impl SteadyState {
    /// # Errors
    /// `Data` if the parameter is no positive number.
    pub(super) fn from_parameters(parameters: &Parameters) -> Result<SteadyState, Error> {
        let largest = parameters.number(STOP_WHEN_CHANGE)?;
        match largest {
            Some(largest) if !(largest > 0.0 && largest.is_finite()) => {
                Err(Error::new(ErrorKind::Data, format!("parameter {} must be more than 0", parameters.shown(STOP_WHEN_CHANGE)))
                    .hint(format!("such as `{STOP_WHEN_CHANGE}=1e-8`, a hundred-millionth of the range of each variable")))
            }
            _ => Ok(SteadyState { largest, ..SteadyState::default() }),
        }
    }

    /// Begins an outermost loop.
    pub(super) fn begin_loop(&mut self) {
        *self = SteadyState { largest: self.largest, ..SteadyState::default() };
    }

    /// Begins to measure a round that is ending; whether change may end the loop.
    pub(super) fn begin_round(&mut self) -> bool {
        self.is_measuring = self.largest.is_some();
        self.measured = 0;
        self.is_measuring
    }

    /// The variable that is measured next, if a round is measured.
    pub(super) fn next_variable(&self) -> Option<MeasuredVariable> {
        let is_first = self.ranges.get(self.measured).is_none_or(Vec::is_empty);
        self.is_measuring.then_some(MeasuredVariable { number: self.measured, is_first })
    }

    /// Takes the change of the next variable, by component.
    pub(super) fn record(&mut self, kind: Measured, components: &[RoundChange]) {
        let Some(largest) = self.largest.filter(|_| self.is_measuring) else { return };
        let number = self.measured;
        self.measured += 1;
        if self.ranges.len() <= number {
            self.ranges.resize(number + 1, Vec::new());
        }
        let ranges = &mut self.ranges[number];
        let mut unchanged = true;
        for (component, found) in components.iter().enumerate() {
            let range = match ranges.get_mut(component) {
                Some(range) => {
                    range.least = range.least.min(found.least);
                    range.greatest = range.greatest.max(found.greatest);
                    *range
                }
                None => {
                    ranges.push(Range { least: found.least, greatest: found.greatest });
                    ranges[component]
                }
            };
            let bound = largest * (range.greatest - range.least);
            // A change that is not a number is one.
            unchanged &= bound.is_finite() && found.change.is_some_and(|change| change <= bound);
        }
        let verdict = match kind {
            Measured::Collection => &mut self.collections,
            Measured::Number => &mut self.numbers,
        };
        *verdict = if unchanged && *verdict != Verdict::Changed { Verdict::Unchanged } else { Verdict::Changed };
    }

    /// Measures values that the host has, given by component.
    pub(super) fn measure<R: Real>(&mut self, kind: Measured, components: &[&[R]]) {
        if let Some(found) = self.changes(components) {
            self.record(kind, &found);
        }
    }

    /// Changes of the next variable, by component, of values that the host has; `None` if no round
    /// is measured. It is to be recorded next.
    pub(super) fn changes<R: Real>(&mut self, components: &[&[R]]) -> Option<Vec<RoundChange>> {
        if !self.is_measuring {
            return None;
        }
        let number = self.measured;
        let before = self.before.get(number).filter(|before| !before.is_empty());
        let found: Vec<RoundChange> =
            components.iter().enumerate().map(|(c, values)| change_of(values, before.map(|b| &b[c][..]))).collect();
        if self.before.len() <= number {
            self.before.resize(number + 1, Vec::new());
        }
        self.before[number] = components.iter().map(|values| R::slice_to_f64(values)).collect();
        Some(found)
    }

    /// True if the round that was measured has changed nothing; forgets the measure.
    pub(super) fn take_end(&mut self) -> bool {
        self.is_measuring = false;
        let verdicts = (std::mem::take(&mut self.collections), std::mem::take(&mut self.numbers));
        match verdicts {
            (Verdict::Unchanged, _) | (Verdict::Nothing, Verdict::Unchanged) => true,
            (Verdict::Changed, _) | (Verdict::Nothing, Verdict::Nothing | Verdict::Changed) => false,
        }
    }
}

impl RoundChange {
    /// That of no element.
    const NONE: RoundChange = RoundChange { least: f64::INFINITY, greatest: f64::NEG_INFINITY, change: None };

    /// That of the elements of both.
    fn with(self, other: RoundChange) -> RoundChange {
        let change = match (self.change, other.change) {
            (Some(a), Some(b)) => Some(largest(a, b)),
            (one, other) => one.or(other),
        };
        RoundChange { least: self.least.min(other.least), greatest: self.greatest.max(other.greatest), change }
    }

    /// The changes of each component on all ranks, of those of the elements that this one owns.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub(super) fn reduced(context: &RankContext, own: &[RoundChange]) -> Result<Vec<RoundChange>, Error> {
        // All ranks have a round before, or none.
        let has_change = own.iter().any(|found| found.change.is_some());
        let sent: Vec<f64> = own.iter().flat_map(|found| [found.least, found.greatest, found.change.unwrap_or(0.0)]).collect();
        let mut all = vec![RoundChange::NONE; own.len()];
        for list in context.lists(&sent)? {
            for (sum, &[least, greatest, change]) in all.iter_mut().zip(list.as_chunks().0) {
                *sum = sum.with(RoundChange { least, greatest, change: has_change.then_some(change) });
            }
        }
        Ok(all)
    }
}

/// The larger one of two changes. What is not a number is larger than all.
fn largest(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// The change of a component from its values after the round before; rounded as the values are.
fn change_of<R: Real>(values: &[R], before: Option<&[f64]>) -> RoundChange {
    let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values {
        least = least.min(value.to_f64());
        greatest = greatest.max(value.to_f64());
    }
    let difference = |(value, &before): (&R, &f64)| (*value - R::from_f64(before)).to_f64().abs();
    let change = before.map(|before| values.iter().zip(before).map(difference).fold(0.0, largest));
    RoundChange { least, greatest, change }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(largest: f64, values: &[(Measured, &[f64])]) -> Vec<bool> {
        let mut steady = SteadyState { largest: Some(largest), ..SteadyState::default() };
        let ends = |&(kind, values): &(Measured, &[f64])| {
            steady.begin_round();
            steady.measure(kind, &[values]);
            steady.take_end()
        };
        values.iter().map(ends).collect()
    }

    /// The range is 8, that of the second round; changes are 4, 1 and 1/2.
    #[test]
    fn changes_are_relative_to_the_range_so_far() {
        let values = [[0.0, 4.0], [0.0, 8.0], [0.0, 7.0], [0.0, 6.5]];
        let states: Vec<(Measured, &[f64])> = values.iter().map(|v| (Measured::Collection, &v[..])).collect();
        assert_eq!(rounds(0.125, &states), [false, false, true, true]);
        assert_eq!(rounds(0.0625, &states), [false, false, false, true]);
        assert_eq!(rounds(0.0624, &states), [false; 4]);
    }

    #[test]
    fn the_limit_is_a_positive_number() {
        let limit = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            SteadyState::from_parameters(&Parameters::from_words(&words)?).map(|steady| steady.largest)
        };
        assert_eq!(limit(&["stop_when_change=1e-8"]).unwrap(), Some(1e-8));
        assert_eq!(limit(&[]).unwrap(), None);
        for wrong in ["stop_when_change=0", "stop_when_change=-1e-8", "stop_when_change=inf"] {
            assert_eq!(limit(&[wrong]).unwrap_err().kind, ErrorKind::Data, "{wrong}");
        }
    }

    /// Each round measures all variables again, from the first one; nothing is measured before a
    /// round ends, or without a limit.
    #[test]
    fn rounds_measure_variables_in_order() {
        let mut steady = SteadyState { largest: Some(1e-8), ..SteadyState::default() };
        assert_eq!(steady.next_variable(), None);
        for is_first in [true, false] {
            assert!(steady.begin_round());
            for number in 0..2 {
                assert_eq!(steady.next_variable(), Some(MeasuredVariable { number, is_first }));
                steady.record(Measured::Number, &[RoundChange { least: 0.0, greatest: 1.0, change: Some(0.5) }]);
            }
        }
        let mut without = SteadyState::default();
        assert!(!without.begin_round());
        assert_eq!(without.next_variable(), None);
    }

    #[test]
    fn what_is_not_a_number_changes() {
        let values = [[1.0, f64::NAN], [1.0, f64::NAN], [1.0, f64::INFINITY], [1.0, f64::INFINITY]];
        let states: Vec<(Measured, &[f64])> = values.iter().map(|v| (Measured::Collection, &v[..])).collect();
        assert_eq!(rounds(1e-8, &states), [false; 4]);
        // A constant has no range and does not change.
        assert_eq!(rounds(1e-8, &[(Measured::Collection, &[3.0][..]), (Measured::Collection, &[3.0][..])]), [false, true]);
    }

    /// The time goes on: it decides only where nothing else does.
    #[test]
    fn single_numbers_decide_where_there_is_no_collection() {
        let mut steady = SteadyState { largest: Some(0.1), ..SteadyState::default() };
        let mut ends = |u: Option<f64>, t: f64| {
            steady.begin_round();
            steady.measure(Measured::Number, &[&[t][..]]);
            if let Some(u) = u {
                steady.measure(Measured::Collection, &[&[u, 0.0][..]]);
            }
            steady.take_end()
        };
        assert_eq!([ends(Some(1.0), 1.0), ends(Some(1.05), 2.0)], [false, true]);
        steady.begin_loop();
        let mut ends = |t: f64| {
            steady.begin_round();
            steady.measure(Measured::Number, &[&[t][..]]);
            steady.take_end()
        };
        assert_eq!([ends(1.0), ends(2.0), ends(2.05)], [false, false, true]);
    }
}
