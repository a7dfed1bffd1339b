//! Checks parameters before anything is built or run.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use equelle::failure::Failure;
use equelle::inputs::judge;
use equelle_runtime::{Error, Parameters, Program, simulator};

use crate::console::Console;

/// Judges parameters before anything is built or run: warnings of the run, and inputs without a
/// value.
///
/// # Errors
/// Those of [`judge`]; they have been shown as the run shows them, and what is returned is their
/// exit code.
pub(super) fn check(program: &Arc<Program>, file: &Path, words: &[String], console: &Console) -> Result<Vec<String>, Failure> {
    let hint = format!("`equellec run {} --template` prints a parameter file to fill in", file.display());
    let parameters = Parameters::from_words(words).map_err(|error| (Vec::new(), error));
    parameters.and_then(|parameters| judge(program, &parameters, &hint)).map_err(|(warnings, error): (Vec<String>, Error)| {
        warnings.iter().for_each(|warning| console.warning(warning));
        let code = error.kind.exit_code();
        let text = simulator::last_words(&program.source, &Err(error), console.format_of_runs(), Instant::now());
        // A closed standard error cannot be reported; the exit code stays.
        let _ = std::io::stderr().write_all(text.as_bytes());
        Failure::Exit(code)
    })
}
