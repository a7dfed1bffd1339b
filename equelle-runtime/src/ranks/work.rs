//! Times that a rank spends with others.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Work with other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankWork {
    /// Exchanges values of halos.
    Exchange,
    /// Reduces over all ranks.
    Reduce,
}

/// Time that a rank has waited for messages, which its transport counts. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Waits(Arc<AtomicU64>);

impl Waits {
    /// Adds a wait.
    pub fn add(&self, wait: Duration) {
        self.0.fetch_add(wait.as_nanos() as u64, Ordering::Relaxed);
    }

    /// All waits.
    pub fn total(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// The surroundings of a rank.
#[derive(Clone, Debug)]
pub struct RankSurroundings {
    /// The MPI that connects the ranks, such as `Open MPI 4.1.4`.
    pub by: String,
    /// Number of machines.
    pub n_nodes: usize,
    /// Its waits.
    pub waits: Waits,
}

/// Times of the work of a rank with others, and where it is.
#[derive(Debug, Default)]
pub struct WorkTimes {
    surroundings: OnceLock<RankSurroundings>,
    nanoseconds: [AtomicU64; 2],
}

/// Measures work until it is dropped.
#[must_use]
pub struct RankTimer<'a> {
    times: &'a WorkTimes,
    work: RankWork,
    begun: Instant,
    waited: Duration,
}

impl WorkTimes {
    /// Sets the surroundings of the rank; once.
    pub fn set_surroundings(&self, surroundings: RankSurroundings) {
        // All ranks of a run have the same.
        let _ = self.surroundings.set(surroundings);
    }

    /// The surroundings of the rank, if they are known.
    pub fn surroundings(&self) -> Option<&RankSurroundings> {
        self.surroundings.get()
    }

    /// Begins to measure work.
    pub fn time(&self, work: RankWork) -> RankTimer<'_> {
        RankTimer { times: self, work, begun: Instant::now(), waited: self.waited() }
    }

    /// Time of work so far, without waits.
    pub fn spent(&self, work: RankWork) -> Duration {
        Duration::from_nanos(self.nanoseconds[work as usize].load(Ordering::Relaxed))
    }

    /// Time that it has waited for others.
    pub fn waited(&self) -> Duration {
        self.surroundings().map_or(Duration::ZERO, |surroundings| surroundings.waits.total())
    }
}

impl Drop for RankTimer<'_> {
    fn drop(&mut self) {
        let waited = self.times.waited().saturating_sub(self.waited);
        let spent = self.begun.elapsed().saturating_sub(waited);
        self.times.nanoseconds[self.work as usize].fetch_add(spent.as_nanos() as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_no_work() {
        let progress = WorkTimes::default();
        let waits = Waits::default();
        progress.set_surroundings(RankSurroundings { by: "threads".into(), n_nodes: 1, waits: waits.clone() });
        let timer = progress.time(RankWork::Reduce);
        std::thread::sleep(Duration::from_millis(5));
        waits.add(Duration::from_millis(3));
        drop(timer);
        assert_eq!(progress.waited(), Duration::from_millis(3));
        let spent = progress.spent(RankWork::Reduce);
        assert!(spent >= Duration::from_millis(2), "{spent:?}");
        assert_eq!(progress.spent(RankWork::Exchange), Duration::ZERO);
        drop(progress.time(RankWork::Exchange));
        assert!(progress.spent(RankWork::Exchange) < spent);
    }
}
