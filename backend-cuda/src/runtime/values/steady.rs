//! Profile of the steady rounds of a loop (`--profile`): time and work after the first rounds have
//! compiled, allocated and recorded graphs.

use std::time::Instant;

use equelle_runtime::{Error, Session};

use crate::runtime::executor::Executor;
use crate::runtime::executor::queue::Counters;

/// Largest number of rounds that are queued together: their launches form one graph.
pub(crate) const ROUNDS_TOGETHER: u32 = 16;
/// Number of launches from which a round is queued alone.
pub(crate) const LAUNCHES_TOGETHER: usize = 64;
/// Least numbers of warm-up rounds and of sequences of launches: two buffers that swap need four
/// until each sequence is a graph.
const WARM_UP: (usize, usize) = (10, 4);

/// Measurement of one loop.
#[derive(Debug, Default)]
pub(crate) struct Steady {
    rounds: usize,
    /// Number of sequences of launches that were submitted to the device.
    sequences: usize,
    since: Option<Start>,
}

/// The beginning of the measurement.
#[derive(Debug)]
struct Start {
    at: Instant,
    rounds: usize,
    counters: Counters,
}

impl Steady {
    /// Begins a round.
    pub(crate) fn next(&mut self, executor: &Executor) -> Result<(), Error> {
        if executor.queue().is_empty() {
            if self.since.is_none() && self.rounds >= WARM_UP.0 && self.sequences >= WARM_UP.1 {
                executor.synchronise()?;
                self.since = Some(Start { at: Instant::now(), rounds: self.rounds, counters: executor.counters() });
            }
            self.sequences += 1;
        }
        self.rounds += 1;
        Ok(())
    }

    /// Ends the loop: adds a line to the summary.
    pub(crate) fn end(&mut self, executor: &Executor, session: &mut Session) -> Result<(), Error> {
        let Some(Start { at, rounds, counters: before }) = self.since.take() else { return Ok(()) };
        let after = executor.counters();
        executor.synchronise()?;
        let rounds = self.rounds - rounds;
        let milliseconds = 1e3 * at.elapsed().as_secs_f64() / rounds as f64;
        session.note(format!(
            "steady steps: {rounds} of {milliseconds:.4} ms; in all {} kernels, {} graphs, {} copies to the device, {} from it, {} allocations, {} waits",
            after.kernels - before.kernels,
            after.graphs - before.graphs,
            after.uploads - before.uploads,
            after.downloads - before.downloads,
            after.allocations - before.allocations,
            after.synchronisations - before.synchronisations
        ));
        Ok(())
    }
}
