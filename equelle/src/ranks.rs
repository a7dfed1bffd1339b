//! Interpretation of programs on several ranks.

use std::path::Path;
use std::sync::Arc;

use equelle_runtime::rank_run;
pub use equelle_runtime::rank_run::ThreadRanks;
use equelle_runtime::rank_run::processes::ProcessRun;
use equelle_runtime::ranks::RankProgress;
use equelle_runtime::session::Options;
use equelle_runtime::{Error, ErrorKind, Program, Session};

use crate::interpret::{Kernels, run_poisoned};
pub use crate::rank_program::{RankProgram, RankProgramError};

/// Interprets a program on ranks, with parameters as on the command line of a simulator; the
/// progress of each rank. `prepare` changes the session of rank 0 before it begins.
///
/// # Errors
/// As for [`rank_run::run`].
pub fn run(
    kernels: Kernels,
    program: &Arc<Program>,
    compiled: &RankProgram,
    words: &[String],
    options: Options,
    ranks: &ThreadRanks,
    prepare: &(dyn Fn(&mut Session) + Sync),
) -> Result<Vec<Arc<RankProgress>>, Error> {
    if let Some(option) = words.iter().find(|word| word.starts_with('-')) {
        return Err(Error::new(ErrorKind::Usage, format!("there is no option `{option}`")).hint("parameters are given as key=value"));
    }
    let options = Options { back_end: kernels.back_end(), ..options };
    rank_run::run(program, compiled.needs(), words, options, ranks, &|mut session| {
        if session.rank().is_some_and(|rank| rank.is_root()) {
            prepare(&mut session);
        }
        run_poisoned(kernels, compiled.verified(), session, compiled.poison())
    })
}

/// Interprets a program on a rank that is this process, as a launcher of MPI has started it, and
/// a driver watches; the exit code of all ranks. `say` is as for [`rank_run::processes::run`].
///
/// # Errors
/// `Usage` if no launcher has.
pub fn run_process(
    kernels: Kernels,
    program: &Arc<Program>,
    compiled: &RankProgram,
    words: &[String],
    options: Options,
    library: Option<&Path>,
    say: &dyn Fn(&Result<(), Error>),
) -> Result<u8, Error> {
    let no_launcher = || Error::new(ErrorKind::Usage, "no launcher of MPI has started this process");
    let start = rank_run::processes::mpi_start().ok_or_else(no_launcher)?;
    let simulate = |session: Session| run_poisoned(kernels, compiled.verified(), session, compiled.poison());
    let options = Options { back_end: kernels.back_end(), ..options };
    let prepare = || Ok(ProcessRun { program, needs: compiled.needs(), words, options, simulate: &simulate });
    Ok(rank_run::processes::run(start, library, true, prepare, say))
}
