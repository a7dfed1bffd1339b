//! The command line: arguments ([`args`]) and one file per verb.

pub mod args;
mod check;
mod compare;
mod compile;
mod dry_run;
mod emit;
mod explain;
mod fmt;
mod grid;
mod halo_counts;
mod inputs;
mod man;
mod plot;
mod ranks;
mod run;
mod stdout;
mod sweep;
mod unknown_word;
mod warm;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;

use crate::console::{ColorChoice, Console, MessageFormat};
use args::{Cli, Verb};
use equelle::failure::Failure;
use equelle::package::vendor::Dependencies;
use equelle::package::written::Edits;
use equelle::registry::{BACKENDS, Registry};
use stdout::print;

/// Parses the arguments of this process and does what they ask for, with the back-ends of
/// `equellec`.
pub fn main() -> ExitCode {
    let this = std::env::current_exe().map_or_else(|_| "equellec".into(), std::path::PathBuf::into_os_string);
    ExitCode::from(run_with(BACKENDS, &[this], std::env::args_os()))
}

/// As [`main`], with other back-ends and other arguments, of which the first is the program; `this`
/// are the words that start the command again. Returns the exit code.
///
/// Exit codes: 0 ok, 1 the program has errors, 2 usage, 3 the simulation failed, 4 bad input data,
/// 5 input or output failed, 6 back-end unavailable or lost, 101 a bug of ours; the simulator's own
/// for `run`.
pub fn run_with(backends: Registry, this: &[OsString], arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = arguments.into_iter().collect();
    let parsed = args::command(backends).try_get_matches_from(&words).and_then(|mut found| Cli::from_arg_matches_mut(&mut found));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            if let Some(failure) = unknown_word::with_dashes(&error, &words) {
                let console = Console { format: MessageFormat::Human, color: ColorChoice::Auto.enabled() };
                console.failure(&failure);
                return failure.exit_code();
            }
            // A closed pipe is no reason to fail.
            let _ = error.print();
            return error.exit_code() as u8;
        }
    };
    let console = Console { format: cli.messages.message_format, color: cli.messages.color.enabled() };
    match dispatch(backends, this, cli, &console) {
        Ok(()) => 0,
        Err(failure) => {
            console.failure(&failure);
            failure.exit_code()
        }
    }
}

fn dispatch(backends: Registry, this: &[OsString], cli: Cli, console: &Console) -> Result<(), Failure> {
    match (cli.verb, cli.plain.file) {
        (Some(_), Some(file)) => Err(Failure::usage(format!("`{}` stands before the verb; write the verb first", file.display()))),
        (Some(verb), None) => match verb {
            Verb::Run(args) => run::run(&args, this, console),
            Verb::Build(args) => compile::build(&args, console),
            Verb::Compare(args) => compare::compare(backends, &args, console),
            Verb::Sweep(args) => sweep::sweep(&args, this, console),
            Verb::Plot(args) => plot::plot(&args, console),
            Verb::Check(args) => check::check(&args, console),
            Verb::Emit(args) => emit::emit(backends, &args, console),
            Verb::Fmt(args) => fmt::fmt(&args, console),
            Verb::Explain(args) => explain::explain(&args),
            Verb::Grid(args) => grid::grid(&args, console),
            Verb::Doctor { warm } => {
                let report = crate::doctor::examine(backends);
                print(&report.text)?;
                report.result?;
                if warm { warm::warm(backends, console) } else { Ok(()) }
            }
            Verb::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut args::command(backends), "equellec", &mut script);
                print(&String::from_utf8_lossy(&script))
            }
            Verb::Man { verb } => print(&man::page(backends, verb.as_deref())?),
        },
        (None, Some(file)) => {
            unknown_word::check(backends, &file)?;
            match cli.plain.emit {
                Some(what) => emit::emit(backends, &args::EmitArgs { what, file, program: cli.plain.program }, console),
                None => {
                    let edits = if cli.plain.force { Edits::Overwrite } else { Edits::Keep };
                    let dependencies = if cli.plain.vendor { Dependencies::Vendored } else { Dependencies::InCache };
                    let writing = compile::Writing { output: cli.plain.output, edits, dependencies };
                    compile::write_package(&file, &cli.plain.program, &cli.plain.backends, writing, console)
                }
            }
        }
        (None, None) => {
            console.progress(&format!(
                "{}\n`equellec --help` lists all commands, `equellec VERB --help` the options of one.",
                args::FIRST_COMMANDS
            ));
            Err(Failure::Exit(2))
        }
    }
}
