//! Runs on several ranks that are threads of this process, for tests and trials.

use std::sync::Arc;

use crate::error::Error;
use crate::io::Sink;
use crate::params::Parameters;
use crate::program::{HaloNeeds, Program};
use crate::rank_parts::RankParts;
use crate::ranks::{Partition, RankContext, RankProgress, ThreadTransport};
use crate::run::RunRecord;
use crate::session::{Options, Session, SessionRank};
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

/// The end of a rank.
struct Ended {
    result: Result<(), Error>,
    record: Option<RunRecord>,
    progress: Arc<RankProgress>,
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
    let (back_end, interrupt) = (options.back_end, options.interrupt.clone());
    let transports = ThreadTransport::connected(parts.n_ranks(), ranks.seed);
    let mut options = Some(options);
    let ended: Vec<Ended> = std::thread::scope(|scope| {
        let threads: Vec<_> = transports
            .into_iter()
            .map(|transport| {
                let parts = &parts;
                let silent = || Options { back_end, interrupt: interrupt.clone(), sink: Sink::Nowhere, ..Options::silent() };
                let options = options.take().unwrap_or_else(silent);
                let context = RankContext::new(Box::new(transport));
                scope.spawn(move || {
                    let progress = Arc::clone(context.progress());
                    let mut record = None;
                    let result = open(parts, program, words, context, options).and_then(|session| {
                        record = session.record();
                        simulate(session)
                    });
                    Ended { result, record, progress }
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let progress = ended.iter().map(|ended| Arc::clone(&ended.progress)).collect();
    let record = ended.first().and_then(|root| root.record.clone());
    let result = first_error(ended);
    let written = record.map_or(Ok(()), |record| record.end(&result));
    result.and(written).map(|()| progress)
}

/// Opens the session of a rank.
fn open(parts: &RankParts, program: &Arc<Program>, words: &[String], context: RankContext, options: Options) -> Result<Session, Error> {
    let parameters = Parameters::from_words(words)?;
    let whole = context.is_root().then(|| parts.grid.clone());
    let has_threads = parameters.contains("threads");
    let part = parts.part(context.rank())?;
    let mut session = SessionRank::new(context, whole).open(program, parameters, part, options)?;
    if !has_threads {
        session.set_threads(Threads::one());
    }
    Ok(session)
}

/// The first error by statement, then by element in the file; errors that follow from those of
/// other ranks come last.
fn first_error(ended: Vec<Ended>) -> Result<(), Error> {
    let failed = ended.into_iter().filter_map(|rank| rank.result.err().map(|error| (rank.progress, error)));
    let first = failed.min_by_key(|(progress, error)| (progress.has_lost_rank(), progress.statements(), error.element.unwrap_or(0)));
    first.map_or(Ok(()), |(_, error)| Err(error))
}
