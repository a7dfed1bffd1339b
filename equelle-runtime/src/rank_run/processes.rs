//! Ranks that are processes, which a launcher of MPI has started.
//!
//! Every rank ends its session, waits until all have ended, and tells rank 0 its outcome. Rank 0
//! chooses the error, prints it and tells the exit code to all. Where a rank does not answer, or
//! MPI fails, rank 0 or the rank that found it prints, and ends all at once.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use equelle_mpi::{Family, Library, MpiStart, find, launcher};

use super::{Ended, Outcome, RankedRun, fingerprint, first_error, recorded};
use crate::error::{Error, ErrorKind};
use crate::grid::Grid;
use crate::io::Sink;
use crate::params::Parameters;
use crate::program::{HaloNeeds, Program};
use crate::rank_id::RankId;
use crate::rank_parts::RankParts;
use crate::ranks::mpi::{Ending, MPI_LIBRARY, MpiTransport, Process, RANK_TIMEOUT, Received};
use crate::ranks::{RankContext, RankProgress, RankSurroundings};
use crate::report::marked::{self, RankProcess};
use crate::session::{Options, Session};
use crate::threads::Threads;

/// Seconds after which a rank that does not answer ends the run.
const DEFAULT_TIMEOUT: f64 = 600.0;
/// Time that a launcher gets to pass on the last words of a rank.
const UNTIL_PASSED_ON: Duration = Duration::from_millis(500);

/// A run of a program on a rank.
pub struct ProcessRun<'a> {
    /// The program.
    pub program: &'a Arc<Program>,
    /// Its needs.
    pub needs: HaloNeeds,
    /// Parameters as on the command line of a simulator.
    pub words: &'a [String],
    /// Options, which rank 0 follows.
    pub options: Options,
    /// Runs the program in the session of a rank.
    pub simulate: &'a (dyn Fn(Session) -> Result<(), Error> + Sync),
}

/// The start of this process by a launcher of MPI, with others.
pub fn mpi_start() -> Option<MpiStart> {
    launcher::mpi_start(|name| std::env::var(name).ok())
}

/// The library of MPI that a command line names; a command line with mistakes names none.
pub fn library_of(words: &[String]) -> Option<PathBuf> {
    Parameters::from_words(words).ok()?.path(MPI_LIBRARY).ok()?
}

/// Runs a rank from its connection with the others to its end; its exit code, which is that of all
/// ranks. `prepare` reads the command line. `say` prints the last words of a run: rank 0 calls it,
/// and another one where rank 0 does not answer. A rank that a driver watches tells its process.
pub fn run<'a>(
    start: MpiStart,
    library: Option<&Path>,
    is_watched: bool,
    prepare: impl FnOnce() -> Result<ProcessRun<'a>, Error>,
    say: &dyn Fn(&Result<(), Error>),
) -> u8 {
    match connect(start, library) {
        Ok(process) => {
            let process = Arc::new(process);
            if is_watched {
                let rank = RankProcess { rank: process.rank().0, process: std::process::id(), node: process.node().to_owned() };
                // A closed standard error cannot be reported.
                let _ = std::io::stderr().write_all(&marked::begin(&rank));
            }
            let ended = prepare().and_then(|run| on_process(&process, run));
            conclude(
                process,
                ended.unwrap_or_else(|error| Ended { outcome: Outcome::of(Err(error), &RankProgress::default()), record: None }),
                say,
            )
        }
        Err(error) => {
            let exit_code = error.kind.exit_code();
            if start.rank.is_none_or(|rank| rank == 0) {
                say(&Err(error));
            }
            exit_code
        }
    }
}

/// Connects this process with the others that were started with it.
fn connect(start: MpiStart, given: Option<&Path>) -> Result<Process, Error> {
    let failed = |message: String| Error::new(ErrorKind::Backend, message);
    let library = match given {
        Some(path) => Library::load(path).map_err(|error| failed(error.message))?,
        None => found(start).ok_or_else(|| {
            let of = start.family.map_or("MPI", Family::name);
            failed(format!("started {} times by a launcher of {of}, and its library was not found", start.n_ranks))
                .hint(format!("{MPI_LIBRARY}=FILE names it"))
        })?,
    };
    let (name, path) = (library.name(), library.path().display().to_string());
    let another = || {
        failed(format!("started {} times by a launcher of another MPI than {name}, `{path}`", start.n_ranks))
            .hint(format!("start it by the launcher of that MPI, or name the library of this one: {MPI_LIBRARY}=FILE"))
    };
    if start.family.is_some_and(|family| family != library.family()) {
        return Err(another());
    }
    let connection = library.connect().map_err(|error| failed(error.message))?;
    if connection.n_ranks() == 1 {
        // An error of its end changes nothing.
        let _ = connection.finalize();
        return Err(another());
    }
    Process::new(connection)
}

/// The library of a launcher: beside the one on the PATH, or where the loader looks.
fn found(start: MpiStart) -> Option<Library> {
    let folders = find::library_folders();
    let families = Family::ALL.into_iter().filter(|family| start.family.is_none_or(|of| of == *family));
    families.into_iter().find_map(|family| Library::first(&find::libraries(family, &folders), Some(family)))
}

/// Runs the program on this rank.
fn on_process(process: &Arc<Process>, run: ProcessRun) -> Result<Ended, Error> {
    let ProcessRun { program, needs, words, options, simulate } = run;
    // From here on the others learn where this rank ends.
    let context = RankContext::new(Box::new(MpiTransport::new(process)));
    let surroundings =
        RankSurroundings { by: process.mpi().to_owned(), n_nodes: process.ranks_of_node().n_nodes, waits: process.waits().clone() };
    context.progress().work().set_surroundings(surroundings);
    let parameters = Parameters::from_words(words)?;
    process.limit_waits(timeout(&parameters)?);
    let n_ranks = u32::try_from(process.n_ranks()).map_err(|_| Error::internal("ranks are counted with 32 bits"))?;
    let parts = RankParts::new(program, &parameters, needs, n_ranks, None)?;
    if let Some(ended) = compare(process, program, &parameters, &parts.grid, options.back_end)? {
        return Ok(ended);
    }
    if process.is_root() {
        parts.write_owners(&parameters, &options.sink)?;
    }
    let part = parts.part(process.rank());
    let whole = process.is_root().then_some(parts.grid);
    let silent = Options { back_end: options.back_end, sink: Sink::Nowhere, ..Options::silent() };
    let options = if process.is_root() { options } else { silent };
    let threads = Threads::new(process.fair_threads());
    Ok(RankedRun { program, words, threads: &threads, simulate }.on_rank(context, part, whole, options))
}

/// Compares what all ranks need to have in common; the end of a rank if another one has ended.
fn compare(process: &Process, program: &Program, parameters: &Parameters, grid: &Grid, back_end: &str) -> Result<Option<Ended>, Error> {
    let lost = |rank: u32| {
        let error = Error::new(ErrorKind::Backend, format!("rank {rank} has ended"));
        Ok(Some(Ended { outcome: Outcome { result: Err(error), statements: 0, has_lost_rank: true }, record: None }))
    };
    let own = fingerprint::of(program, parameters, grid, back_end);
    if !process.is_root() {
        process.send(RankId(0), fingerprint::bytes(&own))?;
        return match process.receive(RankId(0))? {
            Received::Message(_) => Ok(None),
            Received::End => lost(0),
        };
    }
    let others = || (1..process.n_ranks() as u32).map(RankId);
    for rank in others() {
        match process.receive(rank)? {
            Received::Message(bytes) => fingerprint::compare(&own, rank, &bytes)?,
            Received::End => return lost(rank.0),
        }
    }
    others().try_for_each(|rank| process.send(rank, Vec::new())).map(|()| None)
}

/// The longest wait for a rank.
fn timeout(parameters: &Parameters) -> Result<Option<Duration>, Error> {
    let seconds = parameters.number(RANK_TIMEOUT)?.unwrap_or(DEFAULT_TIMEOUT);
    let wrong = || Error::new(ErrorKind::Data, format!("parameter {} is no time of 0 s or more", parameters.shown(RANK_TIMEOUT)));
    let time = Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?;
    Ok((!time.is_zero()).then_some(time))
}

/// Ends this rank; the exit code.
fn conclude(process: Arc<Process>, ended: Ended, say: &dyn Fn(&Result<(), Error>)) -> u8 {
    let Ended { outcome, mut record } = ended;
    let code = |result: &Result<(), Error>| result.as_ref().err().map_or(0, |error| error.kind.exit_code());
    let mut finish = |result: Result<(), Error>| {
        let result = recorded(record.take(), result);
        say(&result);
        code(&result)
    };
    let error = match together(&process, &outcome, &mut finish) {
        Ok(code) => {
            // All that counts is written; what fails from here on changes nothing.
            if let Some(process) = Arc::into_inner(process) {
                let _ = process.leave();
            }
            return code;
        }
        Err(error) => error,
    };
    // The end of a rank that has an error of its own tells more than what follows from it.
    let own = Outcome { result: Err(outcome.result.err().filter(|_| !outcome.has_lost_rank).unwrap_or(error)), ..outcome };
    if !process.is_root() || process.ending() == Ending::WithoutMpi {
        process.post_fault(own.bytes());
    }
    let first = process.fault().and_then(|bytes| Outcome::from_bytes(&bytes)).unwrap_or(own);
    let code = finish(first.result);
    // A launcher that ends all ranks may drop what it has not passed on yet.
    std::thread::sleep(UNTIL_PASSED_ON);
    process.abort(code)
}

/// Ends this rank with the others; the exit code. Rank 0 finishes the run.
fn together(process: &Process, outcome: &Outcome, finish: &mut dyn FnMut(Result<(), Error>) -> u8) -> Result<u8, Error> {
    if process.ending() != Ending::Together {
        return outcome.result.clone().map(|()| 0);
    }
    process.end()?;
    let code = process.gather_at_root(outcome.bytes())?.map(|all| {
        let all = all.iter().filter_map(|bytes| Outcome::from_bytes(bytes)).collect();
        vec![finish(first_error(all))]
    });
    process.broadcast(code).map(|code| code.first().copied().unwrap_or(0))
}
