//! Loops of a run: over sequences and ranges, those that a condition or a steady state ends, and
//! those that compute their steps.

use std::sync::Arc;

use super::context::RunContext;
use super::finite::FiniteChecks;
use super::round_length::{MAX_ROUNDS, RoundLength, max_rounds};
use super::steady_state::{Measured, MeasuredVariable, RoundChange, STOP_WHEN_CHANGE, SteadyState};
use crate::error::{Error, ErrorKind};
use crate::json;
use crate::output::Outputs;
use crate::params::Parameters;

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

/// The position of a loop over a sequence.
#[derive(Clone, Copy, Debug)]
pub struct LoopState {
    next: usize,
    /// The number of its rounds; `None` where a condition decides.
    len: Option<usize>,
    over: bool,
    /// It goes on after rounds of an earlier run: the round before the next one is not over.
    resumed: bool,
}

impl LoopState {
    /// Number of the rounds that have begun.
    pub(super) fn round(&self) -> usize {
        self.next
    }

    /// The number of its rounds; `None` where a condition decides.
    pub(super) fn rounds(&self) -> Option<usize> {
        self.len
    }

    /// Goes on after so many rounds of an earlier run.
    pub(super) fn resume(&mut self, rounds: usize) {
        self.next = rounds;
        self.resumed = true;
    }

    /// True if no round is left.
    pub fn is_at_end(&self) -> bool {
        self.len == Some(self.next)
    }
}

/// The outermost loop and the steps of its rounds.
pub(super) struct Loops {
    /// The sequence of the outermost loop, if that runs over one.
    pub(super) outer: Option<Arc<Vec<f64>>>,
    /// Time that a round of the outermost loop adds to that of outputs.
    outer_length: RoundLength,
    /// The part of a computed step that a round takes.
    step_scale: f64,
    /// The last computed step, before that.
    last_step: f64,
    /// True if a computed step was negative.
    has_gone_back: bool,
    /// Most rounds of a loop that a condition ends.
    max_rounds: usize,
    pub(super) steady_state: SteadyState,
}

impl Loops {
    /// # Errors
    /// `Data` for bad parameters.
    pub(super) fn from_parameters(parameters: &Parameters) -> Result<Loops, Error> {
        Ok(Loops {
            outer: None,
            outer_length: RoundLength::Element,
            step_scale: 1.0,
            last_step: f64::NAN,
            has_gone_back: false,
            max_rounds: max_rounds(parameters)?,
            steady_state: SteadyState::from_parameters(parameters)?,
        })
    }
}

/// Begins loops and their rounds, and ends them; tells progress, outputs and checks of each.
pub struct LoopControl<'s> {
    pub(super) loops: &'s mut Loops,
    pub(super) finite: &'s mut FiniteChecks,
    pub(super) outputs: &'s mut Outputs,
    pub(super) run: &'s mut RunContext,
}

impl LoopControl<'_> {
    /// Begins a loop over `len` elements.
    pub fn begin(&mut self, len: usize) -> LoopState {
        self.begin_rounds_of(Some(len), RoundLength::Element)
    }

    /// Begins a loop of so many rounds, if they are known.
    fn begin_rounds_of(&mut self, len: Option<usize>, length: RoundLength) -> LoopState {
        self.run.progress.messages().send_start();
        if self.run.progress.rounds().current_step().is_none() {
            self.finite.begin_loop();
            self.loops.steady_state.begin_loop();
        }
        self.run.progress.begin(len);
        self.run.timing.begin_loop(self.run.line);
        if self.run.progress.rounds().is_outermost() {
            self.loops.outer = None;
            self.loops.outer_length = length;
        }
        LoopState { next: 0, len, over: false, resumed: false }
    }

    /// Rounds of the outermost loop that runs, with those of an earlier run; `None` where there is
    /// no loop or a condition ends it.
    pub fn known_rounds(&self) -> Option<usize> {
        self.run.progress.rounds().known()
    }

    /// Begins a loop over a sequence, whose elements are the time steps of outputs.
    pub fn begin_over(&mut self, sequence: &Arc<Vec<f64>>) -> LoopState {
        let state = self.begin(sequence.len());
        if self.run.progress.rounds().is_outermost() {
            self.loops.outer = Some(Arc::clone(sequence));
        }
        state
    }

    /// Position of the next element, or `None` when the loop is over. Reports progress.
    pub fn next_step(&mut self, state: &mut LoopState) -> Option<usize> {
        if state.over {
            return None;
        }
        let is_over = self.ends_steady(state) || state.len == Some(state.next);
        self.advance(state, is_over).then(|| state.next - 1)
    }

    /// Ends a round and begins another, unless the loop is over; whether it has begun.
    fn advance(&mut self, state: &mut LoopState, is_over: bool) -> bool {
        self.run.timing.end_round(is_over, &self.run.progress);
        if state.next > 0 && !std::mem::take(&mut state.resumed) {
            self.run.progress.step();
        }
        if is_over {
            state.over = true;
            let is_outermost = self.run.progress.rounds().is_outermost();
            self.run.progress.end();
            if is_outermost {
                self.outputs.end_loop();
            }
            if self.run.progress.rounds().current_step().is_none() {
                self.run.interrupt.defer(false);
            }
            return false;
        }
        state.next += 1;
        if self.run.progress.rounds().is_outermost() {
            let length = match self.loops.outer_length {
                RoundLength::Element => self.loops.outer.as_ref().and_then(|outer| outer.get(state.next - 1)).copied().unwrap_or(f64::NAN),
                RoundLength::Computed => 0.0,
                RoundLength::Round => 1.0,
            };
            self.outputs.begin_round(length, state.len == Some(state.next));
            self.run.tell_of_outputs(self.outputs);
            self.run.progress.at(self.outputs.moment().time, length);
        }
        true
    }

    /// Begins a loop that a condition ends.
    pub fn begin_rounds(&mut self, length: RoundLength) -> LoopState {
        self.begin_rounds_of(None, length)
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
                let error = self.run.locate(Error::new(ErrorKind::Simulation, message));
                error.hint("`Round` gives the nearest whole number, `Floor` the one below and `Ceil` the one above")
            })
        };
        let (from, below) = (whole(from)?, whole(below)?);
        let rounds = (below - from).max(0.0);
        if rounds > MAX_RANGE_ROUNDS {
            let message = format!("`Range` from {} to {} has more than {MAX_RANGE_ROUNDS} rounds", json::number(from), json::number(below));
            return Err(self.run.locate(Error::new(ErrorKind::Simulation, message)).hint("count the rounds of a `While` loop instead"));
        }
        let rounds = rounds as usize;
        Ok((self.begin_rounds_of(Some(rounds), length), CountedRange { first: from, rounds }))
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
        if condition && state.next >= self.loops.max_rounds {
            let message = format!("the loop has had {} rounds, and its condition does not end it", state.next);
            let error = Error::new(ErrorKind::Simulation, message);
            return Err(self.run.locate(error).hint(format!("a larger `{MAX_ROUNDS}` lets it go on")));
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
        if length < 0.0 && !self.loops.has_gone_back {
            self.loops.has_gone_back = true;
            self.run.progress.warning(&format!("the step of a loop is {}: the times of outputs go back", json::number(length)));
        }
        if !length.is_finite() {
            let message = format!("the step of this loop is {length}: a step is a finite number");
            let error = self.run.locate(Error::new(ErrorKind::Simulation, message));
            return Err(if length == f64::INFINITY { error.hint("`Min(dt, largest)` bounds a step where nothing moves") } else { error });
        }
        self.loops.last_step = length;
        let taken = length * self.loops.step_scale;
        if self.run.progress.rounds().is_outermost() && self.loops.outer_length == RoundLength::Computed {
            self.outputs.set_length(taken);
            self.run.progress.at(self.outputs.moment().time, taken);
        }
        Ok(taken)
    }

    /// The part of a computed step that a round takes: 1, less where it is taken again.
    pub fn step_scale(&self) -> f64 {
        self.loops.step_scale
    }

    /// Sets the part of a computed step that rounds take; returns the one before.
    pub(crate) fn set_step_scale(&mut self, scale: f64) -> f64 {
        std::mem::replace(&mut self.loops.step_scale, scale)
    }

    /// The last computed step, as a whole; NaN before the first.
    pub(crate) fn last_step(&self) -> f64 {
        self.loops.last_step
    }

    /// The variable that is measured next, if the round that is ending is measured.
    pub fn measured_variable(&self) -> Option<MeasuredVariable> {
        self.loops.steady_state.next_variable()
    }

    /// Records the change of the next variable, by component; for back-ends whose values are on a
    /// device.
    pub fn record_change(&mut self, kind: Measured, components: &[RoundChange]) {
        self.loops.steady_state.record(kind, components);
    }

    /// True if change ends a loop before another round; says so then.
    pub(super) fn ends_steady(&mut self, state: &LoopState) -> bool {
        if !self.run.progress.rounds().is_outermost() || !self.loops.steady_state.take_end() {
            return false;
        }
        let largest = self.loops.steady_state.largest.unwrap_or_default();
        let of = state.len.map_or_else(String::new, |len| format!(" of {len}"));
        self.run.notes.push(format!(
            "steady state after round {}{of}: no variable changes by more than {largest:e} of its range ({STOP_WHEN_CHANGE})",
            state.next
        ));
        true
    }
}
