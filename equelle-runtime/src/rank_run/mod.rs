//! Runs on several ranks: threads of this process, for tests and trials ([`run`]), or processes
//! that a launcher of MPI started ([`processes`]). Both cut grids, open sessions and choose among
//! the errors of ranks in the same way.

mod fingerprint;
mod outcome;
pub mod processes;
mod threads;

use std::sync::Arc;

use crate::error::Error;
use crate::grid::Grid;
use crate::params::Parameters;
use crate::program::Program;
use crate::ranks::RankContext;
use crate::run::RunRecord;
use crate::session::{Options, Session, SessionRank};
use crate::threads::Threads;
pub(crate) use outcome::{Outcome, first_error};

pub use threads::{ThreadRanks, run};

/// A run, as all of its ranks have it.
struct RankedRun<'a> {
    program: &'a Arc<Program>,
    /// Parameters as on the command line of a simulator.
    words: &'a [String],
    /// Threads of a rank for which the parameters give no number.
    threads: &'a Threads,
    /// Runs the program in the session of a rank.
    simulate: &'a (dyn Fn(Session) -> Result<(), Error> + Sync),
}

/// The end of a rank.
struct Ended {
    outcome: Outcome,
    record: Option<RunRecord>,
}

impl RankedRun<'_> {
    /// Runs the program on a rank, on its part of the grid; rank 0 has the whole one too.
    fn on_rank(&self, context: RankContext, part: Result<Grid, Error>, whole: Option<Grid>, options: Options) -> Ended {
        let progress = Arc::clone(context.progress());
        let mut record = None;
        let result = part.and_then(|part| self.open(context, part, whole, options)).and_then(|session| {
            record = session.record();
            (self.simulate)(session)
        });
        Ended { outcome: Outcome::of(result, &progress), record }
    }

    /// Opens the session of a rank.
    fn open(&self, context: RankContext, part: Grid, whole: Option<Grid>, options: Options) -> Result<Session, Error> {
        let parameters = Parameters::from_words(self.words)?;
        let has_threads = parameters.contains("threads");
        let mut session = SessionRank::new(context, whole).open(self.program, parameters, part, options)?;
        if !has_threads {
            session.set_threads(self.threads.clone());
        }
        Ok(session)
    }
}

/// Writes the end of a run into its record, which rank 0 has.
fn recorded(record: Option<RunRecord>, result: Result<(), Error>) -> Result<(), Error> {
    let written = record.map_or(Ok(()), |record| record.end(&result));
    result.and(written)
}
