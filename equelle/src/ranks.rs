//! Interpretation of programs on several ranks.

use std::sync::Arc;

use equelle_runtime::rank_run;
pub use equelle_runtime::rank_run::ThreadRanks;
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
