//! `equellec run`

use std::path::Path;
use std::process::Command;

use equelle_front::backend::Backend;
use equelle_front::source::SourceMap;
use equelle_front::verify::Verified;
use equelle_runtime::interrupt::Interrupt;
use equelle_runtime::params::Parameters;
use equelle_runtime::session::Options;

use super::args::{Fp, InterpretedKernels, ProgramArgs, Real, RunArgs};
use super::compile::{Compiled, check_machine, compile};
use super::inputs;
use super::plot;
use super::trial::{Outlook, Trial};
use crate::console::{Console, MessageFormat};
use crate::failure::Failure;
use crate::interpret;
use crate::pipeline;
use crate::registry::{self, Registry};

/// Compiles a program if needed, and runs it; or interprets it.
pub(super) fn run(backends: Registry, args: &RunArgs, console: &Console) -> Result<(), Failure> {
    if args.list_inputs || args.template {
        let source = pipeline::read(&args.source.file)?;
        let program = interpret::program(&source, &compile(&source, &args.source.program, &[args.backend], console)?);
        return super::print(&match (args.template, console.format) {
            (true, _) => inputs::template(program),
            (false, MessageFormat::Json) => format!("{:#}\n", inputs::json(program)),
            (false, MessageFormat::Human | MessageFormat::Short) => inputs::list(program),
        });
    }
    let asks = Parameters::from_words(&args.parameters).is_ok_and(|parameters| parameters.text("audit") == Some("yes"));
    let own = ProgramArgs { audit: args.source.program.audit || asks, ..args.source.program.clone() };
    let given = plot::parameters(args);
    // The interpreter stands in for the back-end that others are compared with.
    let reference = registry::default(backends);
    if let Some(kernels) = args.interpret {
        if args.backend != reference {
            return Err(Failure::usage(format!("--interpret does not go with --backend {}", args.backend.name())));
        }
        if args.source.program.precision == Real::F32 {
            return Err(Failure::usage(
                "--interpret computes in double precision alone; without it, programs are compiled for --precision f32",
            ));
        }
        let source = pipeline::read(&args.source.file)?;
        let verified = compile(&source, &own, &[reference], console)?;
        inputs::check(interpret::program(&source, &verified), &args.source.file, &given, console)?;
        return interpreted(kernels, &source, &verified, args, &given, console);
    }
    check_machine(args.backend)?;
    let compiled = Compiled::new(&args.source.file, &own, vec![args.backend], console)?;
    if args.verbose {
        compiled.note_slower_kernels(console)?;
    }
    let warnings = inputs::check(compiled.program(), &args.source.file, &given, console)?;
    let may_interpret = gives_same_numbers(backends, args.backend, &args.source.program) && !args.compiled && !args.profile;
    let mut outlook = Outlook::Builds;
    let instead = |state| {
        if may_interpret {
            outlook = Trial { program: compiled.program(), verified: compiled.verified(), state }.outlook(&given);
        }
        if outlook == Outlook::Builds {
            // The run repeats them: what is built now may take so long that nobody waits for it.
            warnings.iter().for_each(|warning| console.warning(warning));
        }
        outlook != Outlook::Builds
    };
    let Some(program) = compiled.build_unless(&args.source.target.target_cpu, console, instead)? else {
        if !args.quiet {
            console.progress(&format!("Interpreting the program, which takes {}; --compiled builds it", outlook.time()));
        }
        return interpreted(InterpretedKernels::Lanes, compiled.source(), compiled.verified(), args, &given, console);
    };
    let json = console.format == MessageFormat::Json;
    // A bar would be drawn over the picture.
    let is_quiet = args.quiet || args.watch.is_some();
    let flags = [(is_quiet, "--quiet"), (args.profile, "--profile"), (args.verbose, "--verbose"), (json, "--message-format=json")];
    let mut words: Vec<&str> = flags.into_iter().filter_map(|(given, flag)| given.then_some(flag)).collect();
    words.extend(given.iter().map(String::as_str));
    if !plot::is_drawn(args) {
        return start(&program, &words);
    }
    // Signals are for the simulator, which ends in order.
    let _interrupt = Interrupt::by_signals()?;
    let records = plot::Records::before(args, &given);
    let result = plot::watched(args, &records, || wait(&program, &words));
    plot::after_run(args, &records, result, console)
}

/// True if the interpreter gives the same numbers as the program that would be built.
pub(super) fn gives_same_numbers(backends: Registry, backend: &'static dyn Backend, program: &ProgramArgs) -> bool {
    backend == registry::default(backends) && program.precision == Real::F64 && program.fp == Fp::Strict
}

/// Interprets a program.
fn interpreted(
    kernels: InterpretedKernels,
    source: &SourceMap,
    verified: &Verified,
    args: &RunArgs,
    given: &[String],
    console: &Console,
) -> Result<(), Failure> {
    let format = console.format_of_runs();
    let interrupt = Interrupt::by_signals()?;
    let quiet = args.quiet || args.watch.is_some();
    let options = Options { quiet, profile: args.profile, verbose: args.verbose, format, interrupt, ..Options::default() };
    let records = plot::Records::before(args, given);
    let result = plot::watched(args, &records, || interpret::interpret(kernels.kernels(), source, verified, given, options));
    plot::after_run(args, &records, result, console)
}

/// Turns this process into the simulator, so that signals and exit codes are the simulator's own.
#[cfg(unix)]
fn start(program: &Path, words: &[&str]) -> Result<(), Failure> {
    use std::os::unix::process::CommandExt;
    let error = Command::new(program).args(words).exec();
    Err(Failure::io("start", program, &error))
}

/// Runs the simulator and ends as it does.
#[cfg(not(unix))]
fn start(program: &Path, words: &[&str]) -> Result<(), Failure> {
    wait(program, words)
}

/// Runs the simulator to its end.
fn wait(program: &Path, words: &[&str]) -> Result<(), Failure> {
    let status = Command::new(program).args(words).status().map_err(|error| Failure::io("start", program, &error))?;
    match status.code() {
        Some(0) => Ok(()),
        code => Err(Failure::Exit(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(crate::failure::INTERNAL_EXIT_CODE))),
    }
}
