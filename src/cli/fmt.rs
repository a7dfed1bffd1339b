//! `equellec fmt`

use std::fs;
use std::path::Path;

use equelle_front::syntax;

use super::args::FmtArgs;
use crate::console::Console;
use equelle::failure::Failure;
use equelle::files;
use equelle::pipeline;

/// Formats files in place, or reports which would change.
pub(super) fn fmt(args: &FmtArgs, console: &Console) -> Result<(), Failure> {
    let mut wrong = false;
    for file in &args.files {
        match format(file, args.check, console) {
            Ok(unchanged) => wrong |= args.check && !unchanged,
            Err(Failure::Program) => wrong = true,
            Err(other) => return Err(other),
        }
    }
    if wrong { Err(Failure::Program) } else { Ok(()) }
}

/// Formats one file; tells whether it was in order already.
fn format(file: &Path, check: bool, console: &Console) -> Result<bool, Failure> {
    let stdin = pipeline::is_standard_input(file);
    let source = pipeline::read_alone(file)?;
    let program = pipeline::parse(&source, console)?;
    let formatted = syntax::format(&program, source.text());
    let unchanged = formatted == source.text();
    if check {
        if !unchanged {
            console.warning(&format!("`{}` is not formatted", source.name()));
        }
    } else if stdin {
        super::print(&formatted)?;
    } else if !unchanged {
        // A link to the program stays one.
        let written = fs::canonicalize(file).and_then(|file| files::write(&file, &formatted));
        written.map_err(|error| Failure::io("write", file, &error))?;
    }
    Ok(unchanged)
}
