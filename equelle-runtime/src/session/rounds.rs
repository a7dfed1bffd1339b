//! Rounds of loops that a condition or a steady state ends, and of those that compute their steps.

use super::round_length::{MAX_ROUNDS, RoundLength};
use super::steady_state::{Measured, MeasuredVariable, RoundChange, STOP_WHEN_CHANGE};
use super::{LoopState, Session};
use crate::error::{Error, ErrorKind};
use crate::json;
use crate::real::Real;

/// Most rounds of a loop over a range, whose elements a device holds.
const MAX_RANGE_ROUNDS: f64 = 1e8;

/// Distance within which a bound of a range counts as a whole number.
const WHOLE_WITHIN: f64 = 1e-9;

/// The numbers of a loop over a range: `first`, `first` + 1, ..., as many as there are rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountedRange {
    /// The first number, which is whole.
    pub first: f64,
    /// Number of rounds.
    pub rounds: usize,
}

/// The whole number that a bound of a range stands for: 3 for 0.3 / 0.1, which is less by a
/// rounding.
fn whole_bound(bound: f64) -> Option<f64> {
    let whole = bound.round();
    // The quotient of two rounded numbers is off by 1.5 roundings of its size at most.
    let within = WHOLE_WITHIN.max(2.0 * f64::EPSILON * bound.abs());
    ((bound - whole).abs() <= within).then_some(whole)
}

impl Session {
    /// Begins a loop that a condition ends.
    pub fn begin_rounds(&mut self, length: RoundLength) -> LoopState {
        self.begin_loop_of(None, length)
    }

    /// Begins a loop over `from`, `from` + 1, ... below `below`, both taken as the whole numbers
    /// that they are within 1e-9 of.
    ///
    /// # Errors
    /// `Simulation` if one of them is not whole, or there are too many rounds.
    pub fn begin_range(&mut self, from: f64, below: f64, length: RoundLength) -> Result<(LoopState, CountedRange), Error> {
        let whole = |bound: f64| {
            whole_bound(bound).ok_or_else(|| {
                let message = format!("`Range` needs whole numbers, and one of its bounds is {}", json::number(bound));
                let error = self.locate(Error::new(ErrorKind::Simulation, message));
                error.hint("`Round` gives the nearest whole number, `Floor` the one below and `Ceil` the one above")
            })
        };
        let (from, below) = (whole(from)?, whole(below)?);
        let rounds = (below - from).max(0.0);
        if rounds > MAX_RANGE_ROUNDS {
            let message = format!("`Range` from {} to {} has more than {MAX_RANGE_ROUNDS} rounds", json::number(from), json::number(below));
            return Err(self.locate(Error::new(ErrorKind::Simulation, message)).hint("count the rounds of a `While` loop instead"));
        }
        let rounds = rounds as usize;
        Ok((self.begin_loop_of(Some(rounds), length), CountedRange { first: from, rounds }))
    }

    /// True if a loop that a condition ends has another round, which begins then.
    ///
    /// # Errors
    /// `Simulation` after `max_rounds` of them.
    pub fn goes_on(&mut self, state: &mut LoopState, condition: bool) -> Result<bool, Error> {
        if state.over {
            return Ok(false);
        }
        let condition = condition && !self.ends_steady(state);
        if condition && state.next >= self.max_rounds {
            let message = format!("the loop has had {} rounds, and its condition does not end it", state.next);
            let error = Error::new(ErrorKind::Simulation, message);
            return Err(self.locate(error).hint(format!("a larger `{MAX_ROUNDS}` lets it go on")));
        }
        Ok(self.advance(state, !condition))
    }

    /// Takes the length of a round, by which the time of outputs goes on; the part of it that the
    /// round takes. The first negative one is a warning: an iteration may go back, a time should
    /// not.
    ///
    /// # Errors
    /// `Simulation` if it is not finite.
    pub fn take_step(&mut self, length: f64) -> Result<f64, Error> {
        if length < 0.0 && !self.has_gone_back {
            self.has_gone_back = true;
            self.warning(&format!("the step of a loop is {}: the times of outputs go back", json::number(length)));
        }
        if !length.is_finite() {
            let message = format!("the step of this loop is {length}: a step is a finite number");
            let error = self.locate(Error::new(ErrorKind::Simulation, message));
            return Err(if length == f64::INFINITY { error.hint("`Min(dt, largest)` bounds a step where nothing moves") } else { error });
        }
        self.last_step = length;
        let taken = length * self.step_scale;
        if self.progress.is_outermost() && self.outer_length == RoundLength::Computed {
            self.outputs.set_length(taken);
            self.progress.at(self.outputs.moment().time, taken);
        }
        Ok(taken)
    }

    /// The part of a computed step that a round takes: 1, less where it is taken again.
    pub fn step_scale(&self) -> f64 {
        self.step_scale
    }

    /// Sets the part of a computed step that rounds take; returns the one before.
    pub(crate) fn set_step_scale(&mut self, scale: f64) -> f64 {
        std::mem::replace(&mut self.step_scale, scale)
    }

    /// The last computed step, as a whole; NaN before the first.
    pub(crate) fn last_step(&self) -> f64 {
        self.last_step
    }

    /// Begins to measure the round of a loop that is ending; whether change may end the loop.
    pub(super) fn begin_measure(&mut self) -> bool {
        self.steady_state.begin_round()
    }

    /// The variable that is measured next, if the round that is ending is measured.
    pub fn measured_variable(&self) -> Option<MeasuredVariable> {
        self.steady_state.next_variable()
    }

    /// Records the change of the next variable, by component; for back-ends whose values are on a
    /// device.
    pub fn record_change(&mut self, kind: Measured, components: &[RoundChange]) {
        self.steady_state.record(kind, components);
    }

    /// Measures a variable whose values the host has, if the round that is ending is measured.
    pub(super) fn measure_change<R: Real>(&mut self, kind: Measured, components: &[&[R]]) {
        self.steady_state.measure(kind, components);
    }

    /// True if change ends a loop before another round; says so then.
    pub(super) fn ends_steady(&mut self, state: &LoopState) -> bool {
        if !self.progress.is_outermost() || !self.steady_state.take_end() {
            return false;
        }
        let largest = self.steady_state.largest.unwrap_or_default();
        let of = state.len.map_or_else(String::new, |len| format!(" of {len}"));
        self.note(format!(
            "steady state after round {}{of}: no variable changes by more than {largest:e} of its range ({STOP_WHEN_CHANGE})",
            state.next
        ));
        true
    }
}
