//! The command line: arguments ([`args`]) and one file per verb.

pub mod args;
mod check;
mod compare;
mod compile;
mod emit;
mod explain;
mod fmt;
mod man;
mod run;
mod stdout;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::console::Console;
use crate::failure::Failure;
use crate::package::written::Edits;
use args::{Cli, Verb};
use stdout::print;

/// Parses the arguments of this process and does what they ask for.
///
/// Exit codes: 0 ok, 1 the program has errors, 2 usage, 3 the simulation failed, 4 bad input data, 5 input or output failed, 6 back-end
/// unavailable or lost, 101 a bug of ours; the simulator's own for `run`.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let console = Console { format: cli.messages.message_format, color: cli.messages.color.enabled() };
    match dispatch(cli, &console) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console.failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

fn dispatch(cli: Cli, console: &Console) -> Result<(), Failure> {
    match (cli.verb, cli.plain.file) {
        (Some(_), Some(file)) => Err(Failure::usage(format!("`{}` stands before the verb; write the verb first", file.display()))),
        (Some(verb), None) => match verb {
            Verb::Run(args) => run::run(&args, console),
            Verb::Build(args) => compile::build(&args, console),
            Verb::Compare(args) => compare::compare(&args, console),
            Verb::Check(args) => check::check(&args, console),
            Verb::Emit(args) => emit::emit(&args, console),
            Verb::Fmt(args) => fmt::fmt(&args, console),
            Verb::Explain(args) => explain::explain(&args),
            Verb::Doctor => {
                let report = crate::doctor::examine();
                print(&report.text)?;
                report.result
            }
            Verb::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Cli::command(), "equellec", &mut script);
                print(&String::from_utf8_lossy(&script))
            }
            Verb::Man { verb } => print(&man::page(verb.as_deref())?),
        },
        (None, Some(file)) => match cli.plain.emit {
            Some(what) => emit::emit(&args::EmitArgs { what, file, program: cli.plain.program }, console),
            None => {
                let edits = if cli.plain.force { Edits::Overwrite } else { Edits::Keep };
                compile::write_package(&file, &cli.plain.program, cli.plain.backends, cli.plain.output, edits, console).map(drop)
            }
        },
        (None, None) => Err(Failure::usage("no program given; try `equellec --help`")),
    }
}
