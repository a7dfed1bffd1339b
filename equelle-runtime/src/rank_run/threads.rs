//! Ranks that are threads of this process, for tests and trials.

use std::sync::Arc;

use super::{Ended, Outcome, RankedRun, first_error, recorded};
use crate::error::Error;
use crate::io::Sink;
use crate::params::Parameters;
use crate::program::{HaloNeeds, Program};
use crate::rank_parts::RankParts;
use crate::ranks::{Partition, RankContext, RankProgress, RankSurroundings, ThreadTransport};
use crate::session::{Options, Session};
use crate::threads::Threads;

/// Ranks of a run.
#[derive(Clone, Debug)]
pub struct ThreadRanks {
    /// Number of ranks.
    pub n_ranks: u32,
    /// Owner of each cell in the order of the grid's file, of a grid that is treated as arrays.
    /// Without it Cartesian grids are cut into boxes, others by bisection.
    pub partition: Option<Partition>,
    /// Messages are delayed at random from this seed on.
    pub seed: Option<u64>,
}

/// Runs a program on ranks, with parameters as on the command line of a simulator; the progress of
/// each rank. `simulate` runs the program in the session of a rank, in a thread of its own.
///
/// # Errors
/// The first one in the order of the program, then of the grid's file, as of one process.
pub fn run(
    program: &Arc<Program>,
    needs: HaloNeeds,
    words: &[String],
    options: Options,
    ranks: &ThreadRanks,
    simulate: &(dyn Fn(Session) -> Result<(), Error> + Sync),
) -> Result<Vec<Arc<RankProgress>>, Error> {
    let parameters = Parameters::from_words(words)?;
    let parts = RankParts::new(program, &parameters, needs, ranks.n_ranks, ranks.partition.clone())?;
    parts.write_owners(&parameters, &options.sink)?;
    let run = RankedRun { program, words, threads: &Threads::one(), simulate };
    let (back_end, interrupt) = (options.back_end, options.interrupt.clone());
    let context = |transport: ThreadTransport| {
        let surroundings = RankSurroundings { by: "threads of one process".to_owned(), n_nodes: 1, waits: transport.waits().clone() };
        let context = RankContext::new(Box::new(transport));
        context.progress().work().set_surroundings(surroundings);
        context
    };
    let contexts: Vec<RankContext> = ThreadTransport::connected(parts.n_ranks(), ranks.seed).into_iter().map(context).collect();
    let progress = contexts.iter().map(|context| Arc::clone(context.progress())).collect();
    let mut options = Some(options);
    let mut ended: Vec<Ended> = std::thread::scope(|scope| {
        let threads: Vec<_> = contexts
            .into_iter()
            .map(|context| {
                let (parts, run) = (&parts, &run);
                let silent = || Options { back_end, interrupt: interrupt.clone(), sink: Sink::Nowhere, ..Options::silent() };
                let options = options.take().unwrap_or_else(silent);
                scope.spawn(move || {
                    let (part, whole) = (parts.part(context.rank()), context.is_root().then(|| parts.grid.clone()));
                    run.on_rank(context, part, whole, options)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let record = ended.first_mut().and_then(|root| root.record.take());
    let outcomes: Vec<Outcome> = ended.into_iter().map(|ended| ended.outcome).collect();
    recorded(record, first_error(outcomes)).map(|()| progress)
}
