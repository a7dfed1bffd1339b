//! The states that a run keeps in memory, should a later round fail, and when it copies them.

use std::sync::Arc;
use std::time::Instant;

use crate::checkpoint::SavedValue;
use crate::output::OutputCounters;

/// Bytes in a second at which any back-end copies its state to the host, pages of the system, the
/// bus and the look for numbers that are not finite included.
const MIN_COPY_RATE: f64 = 1e9;

/// Largest share of the time that copies of the state may take.
const MAX_COPY_SHARE: f64 = 0.01;

/// A variable that grows by more than this times the square of the growth of rounds runs away: what
/// is fed steadily grows with the rounds, and an unstable scheme by a factor in each of them.
const RUNAWAY: f64 = 10.0;

/// The state after a round, as a checkpoint has it.
pub(super) struct RoundState {
    pub(super) loop_number: u32,
    pub(super) round: usize,
    pub(super) step: u64,
    pub(super) counters: OutputCounters,
    pub(super) saved: Vec<(String, SavedValue)>,
    /// The sequence of its loop, if there is one.
    pub(super) sequence: Option<Arc<Vec<f64>>>,
}

/// The largest absolute value that each variable has had up to a round of a loop, where it was
/// copied.
struct Scale {
    loop_number: u32,
    round: usize,
    largest: Vec<f64>,
}

/// The last finite state, and the one before its numbers ran away.
#[derive(Default)]
pub(super) struct RecoveryStates {
    last: Option<RoundState>,
    /// Where they run away in the last one.
    before: Option<RoundState>,
    /// After at most half of the rounds, and after more of them.
    scales: [Option<Scale>; 2],
    /// When a state was copied last, and seconds until the next copy.
    pause: Option<(Instant, f64)>,
}

impl RecoveryStates {
    /// True if a copy of the next state costs little beside the computation since the last one:
    /// where steps are short for the size of the state, not each of them is kept.
    pub(super) fn is_time(&self) -> bool {
        self.pause.is_none_or(|(since, seconds)| since.elapsed().as_secs_f64() >= seconds)
    }

    /// Waits as after a copy that takes so many seconds.
    pub(super) fn wait(&mut self, seconds: f64) {
        self.pause = Some((Instant::now(), seconds / MAX_COPY_SHARE));
    }

    /// Keeps the state after a round, unless its numbers are not finite. A copy takes `seconds`
    /// beside that of its bytes.
    pub(super) fn keep(&mut self, state: RoundState, seconds: f64) {
        let bytes: usize = state.saved.iter().map(|(_, value)| value.bytes()).sum();
        self.wait(seconds + bytes as f64 / MIN_COPY_RATE);
        let Some(largest) = state.saved.iter().map(|(_, value)| value.magnitude()).collect::<Option<Vec<f64>>>() else { return };
        let runs_away = self.runs_away(Scale { loop_number: state.loop_number, round: state.round, largest });
        let last = self.last.replace(state);
        self.before = if runs_away { self.before.take().or(last) } else { None };
    }

    /// True if a variable has grown as only a blow-up does.
    fn runs_away(&mut self, mut now: Scale) -> bool {
        let [half, more] = &mut self.scales;
        if more.as_ref().is_some_and(|more| more.loop_number != now.loop_number) {
            (*half, *more) = (None, None);
        }
        let is_half = |scale: &Scale| 2 * scale.round <= now.round;
        let reference = more.as_ref().filter(|more| is_half(more)).or(half.as_ref());
        let runs_away = reference.is_some_and(|before| {
            let rounds = now.round as f64 / before.round.max(1) as f64;
            // From nothing any growth is possible.
            let grows = |(now, before): (&f64, &f64)| *before > 0.0 && now / before > RUNAWAY * rounds * rounds;
            now.largest.iter().zip(&before.largest).any(grows)
        });
        if more.as_ref().is_none_or(is_half) {
            if let Some(more) = more {
                now.largest.iter_mut().zip(&more.largest).for_each(|(now, before)| *now = now.max(*before));
            }
            *half = more.replace(now);
        }
        runs_away
    }

    /// The last finite state.
    pub(super) fn take_last(&mut self) -> Option<RoundState> {
        self.last.take()
    }

    /// The last finite state whose numbers do not run away; whether a later one was finite, too.
    pub(super) fn take_good(&mut self) -> Option<(RoundState, bool)> {
        match self.before.take() {
            Some(state) => Some((state, true)),
            None => self.last.take().map(|state| (state, false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The first round in which a variable of these sizes runs away.
    fn runs_away(loop_number: u32, rounds: impl Iterator<Item = usize>, size: impl Fn(usize) -> f64) -> Option<usize> {
        let mut kept = RecoveryStates::default();
        rounds.into_iter().find(|&round| kept.runs_away(Scale { loop_number, round, largest: vec![1.0, size(round)] }))
    }

    #[test]
    fn growth_by_a_factor_in_each_round_alone_runs_away() {
        let r = |round: usize| round as f64;
        // Every round is copied, or one of a hundred.
        for every in [1, 100] {
            let rounds = || (1..5000).step_by(every);
            let sizes: [&dyn Fn(usize) -> f64; 5] =
                [&|_| 3.0, &r, &|round| r(round).powi(2), &|round| r(round - 1) * 300.0, &|round| (r(round) / 7.0).sin().abs()];
            for size in sizes {
                assert_eq!(runs_away(1, rounds(), size), None, "{every}");
            }
            // Three times as much after each round, from the beginning or from round 1,000 on: at
            // most 160 times the size before.
            for first in [1, 1000] {
                let unstable = |round: usize| if round < first { 1.0 } else { 3.0_f64.powi((round - first) as i32) };
                let found = runs_away(1, rounds(), unstable).expect("it runs away");
                assert!(found - first < 8 * every, "{found}");
            }
        }
    }

    fn state(loop_number: u32, round: usize, u: f64) -> RoundState {
        let saved = vec![("u".to_owned(), SavedValue::Vector(vec![u, 0.0]))];
        let counters = OutputCounters {
            step: round as u64,
            time: 0.0,
            put_out_time: None,
            earlier_time: None,
            reached: 0.0,
            written_steps: 0,
            counts: BTreeMap::new(),
            audits: Vec::new(),
        };
        RoundState { loop_number, round, step: round as u64, counters, saved, sequence: None }
    }

    #[test]
    fn the_state_before_is_kept_while_numbers_run_away() {
        let mut kept = RecoveryStates::default();
        assert!(kept.is_time());
        (1..=10).for_each(|round| kept.keep(state(1, round, -1.0), 0.0));
        for (round, u) in [(11, 1e6), (12, -1e9), (13, f64::INFINITY), (14, f64::NAN)] {
            kept.keep(state(1, round, u), 0.0);
        }
        let steps = |found: Option<(RoundState, bool)>| found.map(|(state, is_before)| (state.step, is_before));
        assert_eq!(steps(kept.take_good()), Some((10, true)));
        assert_eq!(kept.take_last().map(|state| state.step), Some(12));
        // Another loop has other variables, and what has grown may stay so.
        let mut kept = RecoveryStates::default();
        kept.keep(state(1, 8, 1.0), 0.0);
        kept.keep(state(2, 1, 1e5), 0.0);
        assert_eq!(steps(kept.take_good()), Some((1, false)));
        (2..40).for_each(|round| kept.keep(state(2, round, if round < 5 { 1e5 } else { 1e9 }), 0.0));
        assert_eq!(steps(kept.take_good()), Some((39, false)));
    }

    #[test]
    fn the_next_copy_waits_a_hundred_times_as_long() {
        let mut kept = RecoveryStates::default();
        kept.keep(state(1, 1, 1.0), 10.0);
        assert!(!kept.is_time());
        kept.wait(0.0);
        assert!(kept.is_time());
    }
}
