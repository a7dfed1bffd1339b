//! `equellec explain`

use equelle_front::diagnostic::explain;

use super::args::ExplainArgs;
use crate::failure::Failure;

/// Prints the page of a diagnostic code.
pub(super) fn explain(args: &ExplainArgs) -> Result<(), Failure> {
    match explain::explain(&args.code) {
        Some(page) => super::print(page),
        None => Err(Failure::usage(format!("there is no diagnostic code `{}`", args.code))),
    }
}
