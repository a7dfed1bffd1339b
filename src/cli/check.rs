//! `equellec check`

use super::args::CheckArgs;
use crate::console::Console;
use equelle::failure::Failure;
use equelle::pipeline;

/// Checks every file, also after one that has errors.
pub(super) fn check(args: &CheckArgs, console: &Console) -> Result<(), Failure> {
    let mut wrong = false;
    for file in &args.files {
        match pipeline::check(&pipeline::read(file)?, args.nondimensional, console) {
            Ok(_) => {}
            Err(Failure::Program) => wrong = true,
            Err(other) => return Err(other),
        }
    }
    if wrong { Err(Failure::Program) } else { Ok(()) }
}
