//! Choice of the rounds of the outermost loop that are written: `output_every` and `output_times`.

use crate::error::{Error, ErrorKind};
use crate::io::sequence::parse_sequence;
use crate::params::Parameters;

/// A round that ends less than this part of its length before a requested time counts as that time:
/// sums of steps are rounded.
const AT_A_TIME: f64 = 1e-3;

const TIMES: &str = "output_times";

/// Most times that a hint lists.
const MAX_LISTED: usize = 20;

/// The rounds that are written. The steps of the program do not change.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Schedule {
    /// Each round whose number is a multiple; `None` if not given.
    every: Option<u64>,
    /// The first round at or after each of these times, ascending.
    times: Option<Vec<f64>>,
    /// Rounds have reached the times up to this one.
    reached: f64,
}

/// A round of the outermost loop, or what is outside of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Round {
    /// Its number, from 1.
    pub step: u64,
    /// Time at its end.
    pub time: f64,
    /// Its share of that time.
    pub length: f64,
    /// True if it is the last one of its loop.
    pub is_last: bool,
}

impl Default for Schedule {
    /// Every round.
    fn default() -> Schedule {
        Schedule { every: None, times: None, reached: f64::NEG_INFINITY }
    }
}

impl Schedule {
    /// Reads `output_every` and `output_times`.
    ///
    /// # Errors
    /// `Data` if `output_every` is 0, or one of them is illegal.
    pub(super) fn from_parameters(parameters: &Parameters) -> Result<Schedule, Error> {
        let every = parameters.integer("output_every")?.map(|every| every as u64);
        if every == Some(0) {
            let message = format!("parameter {} must be 1 or more", parameters.shown("output_every"));
            return Err(Error::new(ErrorKind::Data, message)
                .hint("output_every=10 writes every tenth step; a large number leaves the first and the last one"));
        }
        let mut times = parameters.numbers(TIMES).map_err(|error| match steps_as_times(parameters) {
            Some(times) => error.hint(format!("COUNT*NUMBER is a number of equal steps, and these are times: write `{TIMES}={times}`")),
            None => error,
        })?;
        if let Some(times) = &mut times {
            if let Some(wrong) = times.iter().find(|time| !time.is_finite()) {
                let place = parameters.place(TIMES);
                return Err(Error::new(ErrorKind::Data, format!("parameter `{TIMES}`{place} has the time {wrong}")));
            }
            times.sort_unstable_by(f64::total_cmp);
        }
        Ok(Schedule { every, times, ..Schedule::default() })
    }

    /// True if every round is written.
    pub(super) fn is_all(&self) -> bool {
        self.times.is_none() && self.every.is_none_or(|every| every == 1)
    }

    /// True if a round is written, the first output of a tag aside.
    pub(super) fn takes(&self, round: &Round) -> bool {
        let by_number = self.every.map_or(self.times.is_none(), |every| round.step.is_multiple_of(every));
        by_number || round.is_last || self.n_reached(self.reached) < self.n_reached(bound(round))
    }

    /// After a round.
    pub(super) fn pass(&mut self, round: &Round) {
        self.reached = self.reached_after(Some(round));
    }

    /// The last time that counts as reached after a round, if there is one.
    pub(super) fn reached_after(&self, round: Option<&Round>) -> f64 {
        // The larger one, or the one that is known.
        round.map_or(self.reached, |round| self.reached.max(bound(round)))
    }

    /// Goes on after the rounds of another run.
    pub(super) fn restore(&mut self, reached: f64) {
        self.reached = reached;
    }

    /// Requested times that no round has reached.
    pub(super) fn left(&self) -> &[f64] {
        &self.times()[self.n_reached(self.reached)..]
    }

    /// Number of requested times up to this one.
    fn n_reached(&self, bound: f64) -> usize {
        self.times().partition_point(|&time| time <= bound)
    }

    fn times(&self) -> &[f64] {
        self.times.as_deref().unwrap_or_default()
    }
}

/// The times after the steps that `output_times` gives in place of times.
fn steps_as_times(parameters: &Parameters) -> Option<String> {
    let steps = parse_sequence(parameters.text(TIMES)?).ok().filter(|steps| steps.dimension.is_none())?.values;
    let mut time = 0.0;
    let times = steps.iter().take(MAX_LISTED).map(|step| {
        time += step;
        // As somebody would write it.
        ((time * 1e9).round() / 1e9).to_string()
    });
    let more = if steps.len() > MAX_LISTED { ", ..." } else { "" };
    Some(times.collect::<Vec<_>>().join(", ") + more)
}

/// The last time that a round reaches; NaN if its time is not known.
fn bound(round: &Round) -> f64 {
    round.time + AT_A_TIME * round.length.abs().min(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of the rounds that are written, of a loop over these steps.
    fn written(text: &str, steps: &[f64]) -> (Vec<u64>, usize) {
        let mut parameters = Parameters::default();
        parameters.read_text("a.param".as_ref(), text.as_bytes()).expect("good lines");
        let mut schedule = Schedule::from_parameters(&parameters).expect("legal");
        let (mut time, mut taken) = (0.0, Vec::new());
        for (index, &length) in steps.iter().enumerate() {
            time += length;
            let round = Round { step: index as u64 + 1, time, length, is_last: index + 1 == steps.len() };
            taken.extend(schedule.takes(&round).then_some(round.step));
            schedule.pass(&round);
        }
        (taken, schedule.left().len())
    }

    #[test]
    fn multiples_and_the_last() {
        let steps = [0.5; 25];
        assert_eq!(written("", &steps).0.len(), 25);
        assert_eq!(written("output_every=10", &steps), (vec![10, 20, 25], 0));
        assert_eq!(written("output_every=1", &steps).0.len(), 25);
        assert_eq!(written("output_every=1000", &steps).0, [25]);
    }

    /// Ten steps of 0.1 sum to less than 1, and three to more than 0.3.
    #[test]
    fn the_first_round_at_or_after_a_time() {
        let steps = [0.1; 20];
        assert!(steps[..10].iter().sum::<f64>() < 1.0 && steps[..3].iter().sum::<f64>() > 0.3);
        assert_eq!(written("output_times=1", &steps), (vec![10, 20], 0));
        assert_eq!(written("output_times=0.3, 0.31", &steps), (vec![3, 4, 20], 0));
        // Two times in one step, one at the start, one beyond the end, in any order.
        assert_eq!(written("output_times=5, 0.55, 0.51, 0", &steps), (vec![1, 6, 20], 1));
        assert_eq!(written("output_times=0.55\noutput_every=8", &steps).0, [6, 8, 16, 20]);
        // 0.0999 is within a thousandth of a step of 0.1, 0.0998 is before.
        assert_eq!(written("output_times=0.1", &[0.09995, 0.1]).0, [1, 2]);
        assert_eq!(written("output_times=0.1", &[0.0998, 0.1, 0.1]).0, [2, 3]);
    }

    #[test]
    fn a_time_that_nobody_knows_is_reached_by_nobody() {
        assert_eq!(written("output_times=0.1", &[f64::NAN, 0.1, 0.1]), (vec![3], 1));
    }

    #[test]
    fn illegal_parameters() {
        for text in ["output_every=0", "output_every=-1", "output_every=1.5", "output_times=soon", "output_times=nan", "output_times="] {
            let mut parameters = Parameters::default();
            parameters.read_text("a.param".as_ref(), text.as_bytes()).expect("good lines");
            let error = Schedule::from_parameters(&parameters).expect_err(text);
            assert_eq!(error.kind, ErrorKind::Data);
            assert!(error.message.contains("(a.param:1)"), "{error}");
        }
    }
}
