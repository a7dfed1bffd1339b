//! Rounds of loops, and their time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Rounds of the outermost loop that runs, and those of all outermost loops.
#[derive(Default)]
pub struct Rounds {
    depth: usize,
    /// `None` where a condition decides.
    pub(super) total: Option<usize>,
    pub(super) done: usize,
    /// Rounds that an earlier run did.
    pub(super) skipped: usize,
    /// Steps of outermost loops so far.
    pub steps: usize,
    /// Those of them that an earlier run did.
    pub(super) earlier_steps: usize,
    loop_started: Option<Instant>,
    /// Time of outermost loops that are over.
    in_loops: Duration,
    pauses: Pauses,
}

/// Time in loops that is not that of rounds. Clones share it.
#[derive(Clone, Default)]
struct Pauses(Arc<Mutex<PauseState>>);

#[derive(Default)]
struct PauseState {
    /// When the first of the pauses that go on began, and how many go on.
    open: Option<(Instant, u32)>,
    total: Duration,
}

/// A pause until it is dropped.
#[must_use]
pub struct Pause(Option<Pauses>);

impl Pauses {
    fn state(&self) -> MutexGuard<'_, PauseState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn total(&self) -> Duration {
        self.state().total
    }

    fn begin(&self) -> Pauses {
        let mut state = self.state();
        let (since, count) = state.open.unwrap_or_else(|| (Instant::now(), 0));
        state.open = Some((since, count + 1));
        self.clone()
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        let Some(pauses) = &self.0 else { return };
        let mut state = pauses.state();
        match state.open {
            Some((since, 1)) => {
                state.total += since.elapsed();
                state.open = None;
            }
            Some((since, count)) => state.open = Some((since, count.saturating_sub(1))),
            None => {}
        }
    }
}

impl Rounds {
    /// Begins a loop; true if it is the outermost one.
    pub(super) fn begin(&mut self, total: Option<usize>) -> bool {
        self.depth += 1;
        if self.is_outermost() {
            (self.total, self.done, self.skipped, self.loop_started) = (total, 0, 0, Some(Instant::now()));
        }
        self.is_outermost()
    }

    /// Ends a round of the innermost loop; true if that is the outermost one.
    pub(super) fn advance(&mut self) -> bool {
        let is_outermost = self.is_outermost();
        self.done += usize::from(is_outermost);
        self.steps += usize::from(is_outermost);
        is_outermost
    }

    /// Ends the innermost loop; true if no other one runs.
    pub(super) fn end(&mut self) -> bool {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.in_loops += self.elapsed(Instant::now());
        }
        self.depth == 0
    }

    /// Time since the outermost loop began.
    pub(super) fn elapsed(&self, now: Instant) -> Duration {
        self.loop_started.map_or(Duration::ZERO, |started| now.duration_since(started))
    }

    /// Expected seconds to the end of the loop; NaN if not known.
    pub(super) fn left(&self, elapsed: f64) -> f64 {
        match self.total {
            Some(total) => elapsed / (self.done - self.skipped) as f64 * (total - self.done.min(total)) as f64,
            None => f64::NAN,
        }
    }

    /// Rounds of the outermost loop that runs, if they are known.
    pub fn known(&self) -> Option<usize> {
        self.total.filter(|_| self.depth > 0)
    }

    /// Rounds of outermost loops that this run did, and their time without reading and writing.
    pub fn in_this_run(&self) -> (usize, Duration) {
        let running = if self.depth > 0 { self.elapsed(Instant::now()) } else { Duration::ZERO };
        (self.steps - self.earlier_steps, (self.in_loops + running).saturating_sub(self.pauses.total()))
    }

    /// Time that is none of a round, until the result is dropped; that of several at once counts
    /// once.
    pub fn pause(&self) -> Pause {
        if self.depth > 0 { Pause(Some(self.pauses.begin())) } else { Pause(None) }
    }

    /// The current step of the outermost loop, from 1, and the number of steps, if known; `None`
    /// outside loops.
    pub fn current_step(&self) -> Option<(usize, Option<usize>)> {
        (self.depth > 0).then_some((self.done + 1, self.total))
    }

    /// True if the current loop is the outermost one.
    pub fn is_outermost(&self) -> bool {
        self.depth == 1
    }
}
