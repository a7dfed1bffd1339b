//! Rounds of loops that a condition ends, and of those that compute their steps.

use super::round_length::{MAX_ROUNDS, RoundLength};
use super::{LoopState, Session};
use crate::error::{Error, ErrorKind};
use crate::json;

/// Most rounds of a loop over a range, whose elements a device holds.
const LONGEST_RANGE: f64 = 1e8;

impl Session {
    /// Begins a loop that a condition ends.
    pub fn begin_rounds(&mut self, length: RoundLength) -> LoopState {
        self.begin_loop_of(None, length)
    }

    /// Begins a loop over `from`, `from` + 1, ... below `below`; its number of rounds.
    ///
    /// # Errors
    /// `Simulation` if one of them is not whole, or there are too many rounds.
    pub fn begin_range(&mut self, from: f64, below: f64, length: RoundLength) -> Result<(LoopState, usize), Error> {
        if let Some(wrong) = [from, below].into_iter().find(|bound| bound.fract() != 0.0) {
            let message = format!("`Range` needs whole numbers, and one of its bounds is {}", json::number(wrong));
            return Err(self.locate(Error::new(ErrorKind::Simulation, message)).hint("`Floor` and `Ceil` make whole numbers"));
        }
        let rounds = (below - from).max(0.0);
        if rounds > LONGEST_RANGE {
            let message = format!("`Range` from {} to {} has more than {LONGEST_RANGE} rounds", json::number(from), json::number(below));
            return Err(self.locate(Error::new(ErrorKind::Simulation, message)).hint("count the rounds of a `While` loop instead"));
        }
        let rounds = rounds as usize;
        Ok((self.begin_loop_of(Some(rounds), length), rounds))
    }

    /// Whether a loop that a condition ends has another round, which begins then.
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
    /// round takes. The first negative one is a warning: an iteration may go back, a time should not.
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
}
