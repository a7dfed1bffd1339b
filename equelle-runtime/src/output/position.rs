//! Position of a run, which decides what is written and at which time.

use super::schedule::Round;
use super::step_time::StepTime;

/// The position of a run in its outermost loop.
#[derive(Debug)]
pub(super) struct Position {
    pub step: u64,
    /// Sum of the lengths of rounds up to this one.
    pub sum: f64,
    /// That before it.
    before: f64,
    /// The round, inside of a loop: its length in the sequence, and whether it is the last.
    pub round: Option<(f64, bool)>,
    /// Tag of the Scalar that is the time.
    time_from: Option<String>,
    /// That Scalar in this round.
    pub put_out: Option<f64>,
    /// That Scalar in an earlier round.
    pub earlier: Option<f64>,
    was_missing: bool,
}

impl Position {
    pub(super) fn new(time_from: Option<String>) -> Position {
        Position { step: 0, sum: 0.0, before: 0.0, round: None, time_from, put_out: None, earlier: None, was_missing: false }
    }

    /// Begins a round.
    pub(super) fn begin_round(&mut self, length: f64, is_last: bool) {
        self.step += 1;
        self.before = self.sum;
        self.sum += length;
        self.round = Some((length, is_last));
        self.earlier = self.put_out.take().or(self.earlier);
    }

    /// Sets the length of the round, once or again.
    pub(super) fn set_length(&mut self, length: f64) {
        if let Some((known, _)) = &mut self.round {
            *known = length;
            self.sum = self.before + length;
        }
    }

    /// Sees an output of a Scalar, which may be the time.
    pub(super) fn put_out(&mut self, tag: &str, value: f64) {
        if self.time_from.as_deref() == Some(tag) {
            self.put_out = Some(value);
        }
    }

    /// The current step and time.
    pub(super) fn moment(&self) -> StepTime {
        StepTime { step: self.step, time: self.put_out.unwrap_or(self.sum) }
    }

    /// The last time that is known, with the Scalar of `time_from` also that of an earlier round.
    pub(super) fn known_time(&self) -> Option<f64> {
        self.put_out.or(self.earlier)
    }

    /// The tag of `time_from`, if the current round did not put it out; once for a run.
    pub(super) fn missing_time(&mut self) -> Option<&str> {
        let is_missing = self.round.is_some() && self.put_out.is_none();
        let is_first = is_missing && !std::mem::replace(&mut self.was_missing, true);
        self.time_from.as_deref().filter(|_| is_first)
    }

    /// The round, for the schedule; `None` outside of loops.
    pub(super) fn scheduled(&self) -> Option<Round> {
        let (length, is_last) = self.round?;
        Some(match self.time_from {
            None => Round { step: self.step, time: self.sum, length, is_last },
            Some(_) => {
                let length = match (self.put_out, self.earlier) {
                    (Some(now), Some(earlier)) => now - earlier,
                    (Some(_), None) | (None, _) => 0.0,
                };
                Round { step: self.step, time: self.known_time().unwrap_or(f64::NAN), length, is_last }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_the_sum_of_the_sequence() {
        let mut position = Position::new(None);
        assert_eq!((position.moment(), position.scheduled()), (StepTime::default(), None));
        position.begin_round(0.5, false);
        position.put_out("t", 7.0);
        position.begin_round(0.25, true);
        assert_eq!(position.moment(), StepTime { step: 2, time: 0.75 });
        assert_eq!(position.scheduled(), Some(Round { step: 2, time: 0.75, length: 0.25, is_last: true }));
        assert_eq!(position.missing_time(), None);
    }

    #[test]
    fn the_time_is_a_scalar() {
        let mut position = Position::new(Some("t".to_owned()));
        position.begin_round(1.0, false);
        assert!(position.scheduled().is_some_and(|round| round.time.is_nan()));
        position.put_out("s", 1.0);
        position.put_out("t", 10.0);
        assert_eq!(position.moment().time, 10.0);
        position.begin_round(1.0, false);
        // Not known yet: the schedule goes by that of the round before.
        assert_eq!(position.scheduled().map(|round| (round.time, round.length)), Some((10.0, 0.0)));
        position.put_out("t", 12.5);
        assert_eq!(position.scheduled().map(|round| (round.time, round.length)), Some((12.5, 2.5)));
        position.begin_round(1.0, true);
        assert_eq!(position.missing_time(), Some("t"));
        assert_eq!(position.missing_time(), None, "once");
    }
}
