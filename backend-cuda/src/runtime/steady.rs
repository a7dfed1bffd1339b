//! With `--profile`: time and work of the rounds of a loop once its first rounds have compiled, allocated and recorded what they need.

use std::time::Instant;

use equelle_runtime::Error;

use crate::runtime::program::CudaRuntime;
use crate::runtime::queue::Counters;

/// Rounds that do not count. Two buffers that swap need four rounds until every sequence of launches is a graph.
const WARM_UP: usize = 10;

/// Measurement of one loop.
#[derive(Debug, Default)]
pub(crate) struct Steady {
    rounds: usize,
    since: Option<(Instant, Counters)>,
}

impl CudaRuntime {
    /// A round begins.
    pub(crate) fn next_steady(&mut self, steady: &mut Steady) -> Result<(), Error> {
        if steady.rounds == WARM_UP {
            self.synchronise()?;
            steady.since = Some((Instant::now(), self.counters()));
        }
        steady.rounds += 1;
        Ok(())
    }

    /// The loop is over: adds a line to the summary.
    pub(crate) fn end_steady(&mut self, steady: &mut Steady) -> Result<(), Error> {
        let Some((start, before)) = steady.since.take() else { return Ok(()) };
        let after = self.counters();
        self.synchronise()?;
        let rounds = steady.rounds - WARM_UP;
        let milliseconds = 1e3 * start.elapsed().as_secs_f64() / rounds as f64;
        self.session.note(format!(
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
