//! `equellec run`

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use equelle_front::backend::Backend;
use equelle_runtime::handover::{Handover, Pace};
use equelle_runtime::interrupt::Interrupt;
use equelle_runtime::params::Parameters;
use equelle_runtime::session::Options;
use equelle_runtime::simulator;

use super::args::{InterpretedKernels, ProgramArgs, RunArgs};
use super::compile::compile;
use super::dry_run;
use super::inputs;
use super::plot;
use super::ranks;
use crate::console::{Console, MessageFormat};
use equelle::background::BackgroundBuild;
use equelle::compiled::{CachedPackage, Compiled};
use equelle::failure::Failure;
use equelle::interpret::{self, Kernels, check_machine};
use equelle::ranks::{RankProgram, ThreadRanks, run as run_on_threads};

/// Told where runs begin without a build.
pub(super) const AT_ONCE: &str = "Running without a build, by interpretation; `--compiled` builds a faster program first";

/// Compiles a program if needed, and runs it; or interprets it.
pub(super) fn run(args: &RunArgs, this: &[OsString], console: &Console) -> Result<(), Failure> {
    let begun = Instant::now();
    ranks::refuse_launcher(args)?;
    if args.list_inputs || args.template {
        let compiled = compile(&args.source.file, &args.source.program, &[args.backend], console)?;
        let program = compiled.program();
        return super::print(&match (args.template, console.format) {
            (true, _) => equelle::inputs::template(program),
            (false, MessageFormat::Json) => format!("{:#}\n", equelle::inputs::json(program)),
            (false, MessageFormat::Human | MessageFormat::Short) => equelle::inputs::list(program),
        });
    }
    let asks = Parameters::from_words(&args.parameters).is_ok_and(|parameters| parameters.text("audit") == Some("yes"));
    let own = ProgramArgs { audit: args.source.program.audit || asks, ..args.source.program.clone() };
    let given = plot::parameters(args);
    if let (true, Some(n_ranks)) = (args.on_ranks.dry_run, args.on_ranks.ranks) {
        let compiled = compile(&args.source.file, &own, &[args.backend], console)?;
        inputs::check(compiled.program(), &args.source.file, &given, console)?;
        let kernels = args.interpret.map(|kernels| interpreted_kernels(kernels, args.backend, &args.source.program)).transpose()?;
        return dry_run::print_plan(&compiled, kernels, args.backend, &given, n_ranks, console);
    }
    if let Some(n_ranks) = args.on_ranks.ranks.filter(|&n_ranks| n_ranks > 1) {
        let compiled = compile(&args.source.file, &own, &[args.backend], console)?;
        let words = words_of_built(args, &given, None, console);
        return ranks::run(&compiled, n_ranks, args, &given, words, this, console);
    }
    if let Some(kernels) = args.interpret {
        let kernels = interpreted_kernels(kernels, args.backend, &args.source.program)?;
        check_machine(args.backend)?;
        let compiled = compile(&args.source.file, &own, &[args.backend], console)?;
        if let Some(library) = &args.on_ranks.as_rank {
            return ranks::interpret_rank(kernels, &compiled, options(args, Interrupt::by_signals()?, console), &given, library);
        }
        inputs::check(compiled.program(), &args.source.file, &given, console)?;
        return interpreted(kernels, &compiled, begun, args, &given, console);
    }
    check_machine(args.backend)?;
    let compiled = compile(&args.source.file, &own, &[args.backend], console)?;
    if args.verbose {
        compiled.note_slower_kernels(console)?;
    }
    let warnings = inputs::check(compiled.program(), &args.source.file, &given, console)?;
    let package = compiled.cached(&args.source.target.target_cpu)?;
    if let Some(program) = package.built() {
        return built(&program, begun, args, &given, console);
    }
    let kernels = interpreted_kernels(InterpretedKernels::Lanes, args.backend, &args.source.program);
    // Times of kernels are those of built programs, but on a GPU kernels are the same.
    let begins_at_once = !args.compiled && args.on_ranks.ranks_threads.is_none();
    match kernels {
        Ok(Kernels::Cuda) if begins_at_once => interpreted(Kernels::Cuda, &compiled, begun, args, &given, console),
        Ok(kernels) if begins_at_once && !args.profile => {
            if !args.quiet {
                console.progress(AT_ONCE);
            }
            at_once(kernels, &compiled, &package, args, &given, console)
        }
        Ok(_) | Err(_) => {
            // The run repeats them: a build may take so long that nobody waits for it.
            warnings.iter().for_each(|warning| console.warning(warning));
            built(&package.build(Some(console)).run()?, begun, args, &given, console)
        }
    }
}

/// The kernels with which a back-end interprets a program, to the numbers of the built one.
///
/// # Errors
/// `Usage` if none give these numbers.
pub(super) fn interpreted_kernels(
    kernels: InterpretedKernels,
    backend: &'static dyn Backend,
    program: &ProgramArgs,
) -> Result<Kernels, Failure> {
    match kernels {
        InterpretedKernels::Lanes => interpret::fast_kernels(backend, program.options(&[backend]).numbers),
        InterpretedKernels::Elements => interpret::oracle_kernels(backend, program.options(&[backend]).numbers),
    }
}

/// Runs a program that has been built.
fn built(program: &Path, begun: Instant, args: &RunArgs, given: &[String], console: &Console) -> Result<(), Failure> {
    let mut words = words_of_built(args, given, None, console);
    if args.profile {
        words.splice(..0, ["--compiled-in".to_owned(), begun.elapsed().as_secs_f64().to_string()]);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if !plot::is_drawn(args) {
        return start(program, &words);
    }
    // Signals are for the simulator, which ends in order.
    let _interrupt = Interrupt::by_signals()?;
    let records = plot::Records::before(args, given);
    let result = plot::watched(args, &records, || wait(program, &words));
    plot::after_run(args, &records, result, console)
}

/// The command line of a program that has been built, and goes on from a state if there is one.
fn words_of_built(args: &RunArgs, given: &[String], state: Option<&Path>, console: &Console) -> Vec<String> {
    let json = console.format == MessageFormat::Json;
    // A bar would be drawn over the picture.
    let is_quiet = args.quiet || args.watch.is_some();
    let flags = [(is_quiet, "--quiet"), (args.profile, "--profile"), (args.verbose, "--verbose"), (json, "--message-format=json")];
    let flags = flags.into_iter().filter(|(given, _)| *given).map(|(_, flag)| flag.to_owned());
    let state = state.into_iter().flat_map(|state| ["--take-over".to_owned(), state.display().to_string()]);
    let ranks = args.on_ranks.ranks_threads.into_iter().flat_map(|ranks| ["--ranks-threads".to_owned(), ranks.to_string()]);
    flags.chain(state).chain(ranks).chain(given.iter().cloned()).collect()
}

/// Runs a program by lanes, from now on. Where that pays it is built meanwhile, and the run goes
/// on with the built program at the end of a round; where it has linear systems, only the next run
/// has it: what solvers keep from solve to solve would let the bits depend on when the build ends.
fn at_once(
    kernels: Kernels,
    compiled: &Compiled,
    package: &CachedPackage,
    args: &RunArgs,
    given: &[String],
    console: &Console,
) -> Result<(), Failure> {
    // Without temporary files only the next run has the built program.
    let file = tempfile::Builder::new().prefix("equelle-").suffix(".npz").tempfile().ok().filter(|_| !compiled.is_implicit());
    let file = file.map(tempfile::NamedTempFile::into_temp_path);
    let (pace, handover) = (Pace::default(), file.as_ref().map(|file| Handover::through(file.to_path_buf())));
    let build = BackgroundBuild::new(package, if handover.is_some() { 1.0 } else { WORTH_OF_NEXT_RUN });
    let interrupt = Interrupt::by_signals()?;
    let options = Options { pace: Some(pace.clone()), handover: handover.clone(), ..options(args, interrupt, console) };
    let when_built = || handover.iter().for_each(Handover::ask);
    let by_lanes = || interpret(kernels, compiled, given, options, None);
    let run = || {
        let result = build.beside(|| pace.left(), when_built, by_lanes);
        let is_done = handover.as_ref().is_some_and(Handover::is_done);
        let (Some(program), Some(file)) = (build.built().filter(|_| is_done), file) else { return result };
        // The program that goes on removes it.
        let state = file.keep().map_err(|error| Failure::io("keep", &error.path, &error.error))?;
        let words = words_of_built(args, given, Some(&state), console);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if plot::is_drawn(args) { wait(&program, &words) } else { start(&program, &words) }
    };
    let records = plot::Records::before(args, given);
    let result = plot::watched(args, &records, run);
    plot::after_run(args, &records, result, console)
}

/// How many times its own time a build must save in a run that does not get the program itself.
const WORTH_OF_NEXT_RUN: f64 = 2.0;

/// Interprets a program.
fn interpreted(
    kernels: Kernels,
    compiled: &Compiled,
    begun: Instant,
    args: &RunArgs,
    given: &[String],
    console: &Console,
) -> Result<(), Failure> {
    let options = Options { compiled_in: begun.elapsed(), ..options(args, Interrupt::by_signals()?, console) };
    let records = plot::Records::before(args, given);
    let result = plot::watched(args, &records, || interpret(kernels, compiled, given, options, args.on_ranks.ranks_threads));
    plot::after_run(args, &records, result, console)
}

/// Runs a program in this process, and shows why it fails.
fn interpret(kernels: Kernels, compiled: &Compiled, parameters: &[String], options: Options, n_ranks: Option<u32>) -> Result<(), Failure> {
    let (format, started) = (options.format, Instant::now());
    let result = match n_ranks {
        None => interpret::run_by(kernels, Arc::clone(compiled.program()), compiled.verified(), parameters, options),
        Some(n_ranks) => {
            let program = RankProgram::new(compiled.verified()).map_err(|error| error.into_failure(compiled.source()))?;
            let ranks = ThreadRanks { n_ranks, partition: None, seed: Some(u64::from(n_ranks)) };
            run_on_threads(kernels, compiled.program(), &program, parameters, options, &ranks, &|_| ()).map(|_| ())
        }
    };
    // A closed standard error cannot be reported; the exit code stays.
    let _ = std::io::stderr().write_all(simulator::last_words(&compiled.program().source, &result, format, started).as_bytes());
    result.map_err(|error| Failure::Exit(error.kind.exit_code()))
}

/// The options of a run in this process.
fn options(args: &RunArgs, interrupt: Interrupt, console: &Console) -> Options {
    let format = console.format_of_runs();
    let quiet = args.quiet || args.watch.is_some();
    Options { quiet, profile: args.profile, verbose: args.verbose, format, interrupt, ..Options::default() }
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
        code => Err(Failure::Exit(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(equelle::failure::INTERNAL_EXIT_CODE))),
    }
}
