//! State that a run keeps for its checkpoints.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::recovery_states::RecoveryStates;
use crate::checkpoint::policy::{Looks, Policy, RestartFrom};
use crate::checkpoint::read::Restart;
use crate::checkpoint::{SavedValue, file_name, step_of};
use crate::error::{Error, ErrorKind};
use crate::handover::Handover;
use crate::interrupt::Signal;
use crate::output::output_dir;
use crate::params::Parameters;
use crate::program::Program;
use crate::run::read_plain_file;

/// Reason for which a run ends with a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Signal(Signal),
    File,
    Handover,
}

/// The checkpoints of a run.
pub(super) struct Checkpoints {
    pub(super) policy: Policy,
    /// True if differences are warnings.
    pub(super) anyway: bool,
    pub(super) restart: Option<Restart>,
    /// True if it is known to belong to this run.
    pub(super) is_checked: bool,
    /// The restart whose loop has begun: its state is not all taken.
    pub(super) resumed: Option<Restart>,
    /// Hashes of the inputs that the run before this one read.
    pub(super) inputs_before: BTreeMap<(String, String), String>,
    /// Decided for this step.
    pub(super) decided: Option<(u64, bool)>,
    /// States after rounds, should a later one fail.
    pub(super) kept: RecoveryStates,
    pub(super) stop: Option<Stop>,
    /// On ranks: when rank 0 tells what is due.
    pub(super) looks: Looks,
    /// The error of a look that another rank does not answer.
    pub(super) lost: Option<Error>,
    /// Ends the run for another program to go on.
    pub(super) handover: Option<Handover>,
    /// True if `restart` is of a run that was handed over to this one.
    pub(super) is_taken_over: bool,
    pub(super) saved: Vec<(String, SavedValue)>,
    /// Hash of the grid, once known.
    pub(super) grid_hash: Option<u64>,
}

impl Checkpoints {
    /// From parameters; a run that `is_taken_over` goes on as another program.
    ///
    /// # Errors
    /// `Data` for bad parameters.
    pub(super) fn from_parameters(parameters: &Parameters, is_taken_over: bool) -> Result<Checkpoints, Error> {
        let policy = Policy::from_parameters(parameters)?;
        let anyway = match parameters.text("restart_anyway") {
            None | Some("no") => false,
            Some("yes") => true,
            Some(_) => {
                let error = Error::new(ErrorKind::Data, format!("{}: must be `yes` or `no`", parameters.shown("restart_anyway")));
                return Err(error.hint("`yes` goes on although program, grid or inputs have changed"));
            }
        };
        Ok(Checkpoints {
            policy,
            anyway,
            restart: None,
            is_checked: false,
            resumed: None,
            inputs_before: BTreeMap::new(),
            decided: None,
            kept: RecoveryStates::default(),
            stop: None,
            looks: Looks::default(),
            lost: None,
            handover: None,
            is_taken_over,
            saved: Vec::new(),
            grid_hash: None,
        })
    }

    /// The checkpoint from which the run goes on.
    pub(super) fn restart(&self) -> Option<&Restart> {
        self.restart.as_ref()
    }
}

/// Reads the checkpoint from which the run goes on: `take_over`, whose file is removed, before that
/// of the parameter `restart`.
///
/// # Errors
/// `Data` for a checkpoint that cannot be used; `Io` if there is none.
pub(super) fn read_restart(
    parameters: &Parameters,
    program: &Program,
    dir: &Path,
    take_over: Option<PathBuf>,
) -> Result<Option<Restart>, Error> {
    Ok(match (take_over, RestartFrom::from_parameters(parameters)?) {
        (Some(path), _) => {
            let bytes = read_checkpoint(&path)?;
            // One that stays lies among temporary files.
            let _ = std::fs::remove_file(&path);
            Some(Restart::parse(&path, &bytes)?)
        }
        (None, None) => None,
        (None, Some(RestartFrom::Latest)) => Some(latest(program, dir)?),
        (None, Some(RestartFrom::File(path))) => Some(Restart::parse(&path, &parameters.source().read(&path, "")?)?),
    })
}

/// The checkpoint of the most rounds in a folder that can be read.
fn latest(program: &Program, dir: &Path) -> Result<Restart, Error> {
    let mut refused = None;
    for (_, path) in checkpoints_in(dir, &program.name).into_iter().rev() {
        let bytes = read_checkpoint(&path)?;
        match Restart::parse(&path, &bytes) {
            Ok(restart) => return Ok(restart),
            // An earlier one may be whole.
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| no_checkpoint(program, dir)))
}

fn read_checkpoint(path: &Path) -> Result<Vec<u8>, Error> {
    read_plain_file(path).map_err(|error| Error::new(ErrorKind::Io, format!("cannot read `{}`: {error}", path.display())))
}

fn no_checkpoint(program: &Program, dir: &Path) -> Error {
    let name = file_name(&program.name, 0).replace("00000", "*");
    Error::new(ErrorKind::Io, format!("there is no checkpoint `{name}` in `{}`", dir.display()))
        .hint("give the file with restart=FILE, or its folder with output_dir=DIR")
}

/// The error of a checkpoint that is not there, before it is read.
///
/// # Errors
/// `Data` for a bad parameter, `Io` if there is no file.
pub(super) fn check_restart(program: &Program, parameters: &Parameters) -> Result<(), Error> {
    match RestartFrom::from_parameters(parameters)? {
        None => Ok(()),
        Some(RestartFrom::File(path)) => parameters.source().check(&path, ""),
        Some(RestartFrom::Latest) => {
            let dir = output_dir(parameters)?;
            if checkpoints_in(&dir, &program.name).is_empty() { Err(no_checkpoint(program, &dir)) } else { Ok(()) }
        }
    }
}

/// Checkpoints of a program in a folder, by their rounds.
pub(super) fn checkpoints_in(dir: &Path, program: &str) -> Vec<(u64, PathBuf)> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found: Vec<(u64, PathBuf)> =
        entries.filter_map(|entry| Some((step_of(entry.file_name().to_str()?, program)?, entry.path()))).collect();
    found.sort_unstable();
    found
}
