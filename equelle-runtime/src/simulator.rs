//! The command line of a simulator: `heat [OPTIONS] [FILE.param]... [key=value]...`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use equelle_mpi::MpiStart;

use crate::error::{Error, ErrorKind};
use crate::interrupt::Interrupt;
use crate::keys::{self, Part};
use crate::params::near_match;
use crate::program::{HaloNeeds, InputKind, RankNeeds};
use crate::rank_run::processes::{self, ProcessRun};
use crate::rank_run::{self, ThreadRanks};
use crate::report::MessageFormat;
use crate::report::event::{End, Event};
use crate::report::marked::{self, Marked};
use crate::session::{Options, Session};
use crate::source::Source;

pub use crate::program::Program;

/// A back-end of the simulator.
#[derive(Clone, Copy)]
pub struct Backend {
    /// The name in `--backend NAME`.
    pub name: &'static str,
    /// Runs the program.
    pub run: fn(Session) -> Result<(), Error>,
}

/// The parsed options.
#[derive(Debug, Default)]
struct CommandLine {
    backend: Option<String>,
    help: bool,
    version: bool,
    quiet: bool,
    profile: bool,
    verbose: bool,
    format: MessageFormat,
    /// The state of a run that this one goes on with.
    take_over: Option<PathBuf>,
    compiled_in: Duration,
    /// Number of ranks that are threads of this process.
    ranks_threads: Option<u32>,
    /// True if a driver reads standard output and standard error.
    is_marked: bool,
    /// The library of MPI, which a driver has found.
    mpi_library: Option<PathBuf>,
    words: Vec<String>,
}

/// `main` of a simulator: reads the command line, opens a session, runs the chosen back-end (the
/// first, unless `--backend` is given), and reports errors with the exit code of their kind.
pub fn run(program: impl Into<Arc<Program>>, backends: &[Backend]) -> ExitCode {
    // An argument that is not UTF-8 is never valid; replacing its bad bytes keeps it readable in
    // the message.
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let (program, started) = (program.into(), Instant::now());
    if let Some(start) = processes::mpi_start() {
        return ExitCode::from(run_rank(&program, backends, &words, started, start));
    }
    end(&program, &words, started, Interrupt::by_signals().and_then(|interrupt| try_run(&program, backends, &words, interrupt)))
}

/// [`run`] with the words of a command line, and without signal handlers.
pub fn run_words(program: impl Into<Arc<Program>>, backends: &[Backend], words: &[String]) -> ExitCode {
    let program = program.into();
    end(&program, words, Instant::now(), try_run(&program, backends, words, Interrupt::default()))
}

fn end(program: &Program, words: &[String], started: Instant, result: Result<(), Error>) -> ExitCode {
    let format = parse_command_line(words).map_or(MessageFormat::Human, |line| line.format);
    // A closed standard error cannot be reported; the exit code stays.
    let _ = std::io::stderr().write_all(last_words(&program.source, &result, format, started).as_bytes());
    result.map_or_else(|error| ExitCode::from(error.kind.exit_code()), |()| ExitCode::SUCCESS)
}

/// The last messages of a process that began then: its error, and the event of its end.
pub fn last_words(source: &Source, result: &Result<(), Error>, format: MessageFormat, started: Instant) -> String {
    // The program that goes on has the last word.
    if result.as_ref().is_err_and(|error| error.kind == ErrorKind::HandedOver) {
        return String::new();
    }
    let error = result.as_ref().err().map(|error| render_error(source, error, format)).unwrap_or_default();
    match format {
        MessageFormat::Human => error,
        MessageFormat::Json => format!("{error}{}\n", Event::End(End::of(result, started.elapsed().as_secs_f64())).json()),
    }
}

fn try_run(program: &Arc<Program>, backends: &[Backend], words: &[String], interrupt: Interrupt) -> Result<(), Error> {
    let line = parse_command_line(words)?;
    if line.help {
        return print(&help(program, backends));
    }
    if line.version {
        return print(&format!("{} (Equelle runtime {})\n", program.name, env!("CARGO_PKG_VERSION")));
    }
    let (backend, ranks_threads) = (choose(backends, line.backend.as_deref())?, line.ranks_threads);
    let (options, words) = opened(line, backend, interrupt);
    match ranks_threads {
        None => recorded(Session::open_with(Arc::clone(program), &words, options)?, backend.run),
        Some(n_ranks) => {
            let ranks = ThreadRanks { n_ranks, partition: None, seed: Some(u64::from(n_ranks)) };
            rank_run::run(program, halo_needs(program)?, &words, options, &ranks, &backend.run).map(|_| ())
        }
    }
}

/// Runs a rank of a run that a launcher of MPI has started; its exit code.
fn run_rank(program: &Arc<Program>, backends: &[Backend], words: &[String], started: Instant, start: MpiStart) -> u8 {
    let line = parse_command_line(words);
    let of_one = line.as_ref().is_ok_and(|line| line.help || line.version);
    if of_one {
        let is_first = start.rank.is_none_or(|rank| rank == 0);
        let printed = if is_first { try_run(program, backends, words, Interrupt::default()) } else { Ok(()) };
        return printed.map_or_else(|error| error.kind.exit_code(), |()| 0);
    }
    let format = line.as_ref().map_or(MessageFormat::Human, |line| line.format);
    let is_marked = line.as_ref().is_ok_and(|line| line.is_marked);
    let library = line.as_ref().ok().and_then(|line| line.mpi_library.clone().or_else(|| processes::library_of(&line.words)));
    let mut parameters = Vec::new();
    let prepare = || {
        let line = line?;
        let backend = choose(backends, line.backend.as_deref())?;
        if line.ranks_threads.is_some() || line.take_over.is_some() {
            return Err(Error::new(ErrorKind::Usage, "a launcher of MPI starts ranks that are processes"));
        }
        let options;
        (options, parameters) = opened(line, backend, Interrupt::by_signals()?);
        Ok(ProcessRun { program, needs: halo_needs(program)?, words: &parameters, options, simulate: &backend.run })
    };
    let say = |result: &Result<(), Error>| say_last_words(&program.source, result, format, started, is_marked);
    processes::run(start, library.as_deref(), is_marked, prepare, &say)
}

/// Prints the last messages of a run on ranks; with marks for a driver, who learns the exit code.
pub fn say_last_words(source: &Source, result: &Result<(), Error>, format: MessageFormat, started: Instant, is_marked: bool) {
    let words = last_words(source, result, format, started).into_bytes();
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ = if is_marked { Marked::new(&mut bytes).write_all(&words) } else { bytes.write_all(&words) };
    if is_marked {
        bytes.extend(marked::end(result.as_ref().err().map_or(0, |error| error.kind.exit_code())));
    }
    // A closed standard error cannot be reported; the exit code stays.
    let _ = std::io::stderr().write_all(&bytes);
}

/// The options of a run, and its parameters.
fn opened(line: CommandLine, backend: &Backend, interrupt: Interrupt) -> (Options, Vec<String>) {
    let options =
        Options { quiet: line.quiet, profile: line.profile, verbose: line.verbose, format: line.format, interrupt, ..Options::default() };
    let options = Options { back_end: backend.name, take_over: line.take_over, compiled_in: line.compiled_in, ..options };
    (if line.is_marked { options.marked() } else { options }, line.words)
}

/// The needs of a program on several ranks.
fn halo_needs(program: &Program) -> Result<HaloNeeds, Error> {
    match &program.ranks {
        RankNeeds::Halo(needs) => Ok(*needs),
        RankNeeds::Refused(refusal) => Err(Error::new(ErrorKind::Usage, refusal.to_string()).at(refusal.line)),
        RankNeeds::Unknown => {
            let error = Error::new(ErrorKind::Usage, "this program was built without exchanges, for one process");
            Err(error.hint("programs that are compiled with -O2 run on several ranks"))
        }
    }
}

/// Runs a program in a session, and records the end of the run.
///
/// # Errors
/// Those of the run; else `Io`, if the record cannot be written.
pub fn recorded(session: Session, run: impl FnOnce(Session) -> Result<(), Error>) -> Result<(), Error> {
    let record = session.record();
    let result = run(session);
    // The program that goes on ends it.
    if result.as_ref().is_err_and(|error| error.kind == ErrorKind::HandedOver) {
        return result;
    }
    let written = record.map_or(Ok(()), |record| record.end(&result));
    result.and(written)
}

fn print(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|e| Error::new(ErrorKind::Io, format!("cannot write to standard output: {e}")))
}

fn parse_command_line(words: &[String]) -> Result<CommandLine, Error> {
    const OPTIONS: [&str; 7] = ["--backend", "--help", "--version", "--quiet", "--profile", "--verbose", "--message-format"];
    let usage = |message: String| Error::new(ErrorKind::Usage, message);
    let mut line = CommandLine::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-h" | "--help" => line.help = true,
            "-V" | "--version" => line.version = true,
            "-q" | "--quiet" => line.quiet = true,
            "--profile" => line.profile = true,
            "-v" | "--verbose" => line.verbose = true,
            "--message-format" => line.format = message_format(words.next().map_or("", String::as_str))?,
            "--backend" => {
                let name = words.next().ok_or_else(|| usage("`--backend` needs the name of a back-end".to_string()))?;
                line.backend = Some(name.clone());
            }
            // For drivers alone, and so not in `--help`.
            "--compiled-in" => {
                let seconds = words.next().and_then(|word| word.parse().ok()).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                line.compiled_in = seconds.ok_or_else(|| usage("`--compiled-in` needs seconds".to_string()))?;
            }
            "--ranks-threads" => {
                let number = words.next().and_then(|word| word.parse().ok()).filter(|&number| number > 0);
                line.ranks_threads = Some(number.ok_or_else(|| usage("`--ranks-threads` needs a number above zero".to_string()))?);
            }
            "--marked" => line.is_marked = true,
            "--mpi-library" => {
                line.mpi_library = Some(words.next().ok_or_else(|| usage("`--mpi-library` needs a file".to_string()))?.into())
            }
            "--take-over" => line.take_over = Some(words.next().ok_or_else(|| usage("`--take-over` needs a file".to_string()))?.into()),
            "--" => line.words.extend(words.by_ref().cloned()),
            option if option.starts_with("--backend=") => line.backend = Some(option["--backend=".len()..].to_string()),
            option if option.starts_with("--message-format=") => line.format = message_format(&option["--message-format=".len()..])?,
            option if option.starts_with('-') => {
                let error = usage(format!("there is no option `{option}`"));
                return Err(match near_match(option, OPTIONS.into_iter()) {
                    Some(near) => error.hint(format!("did you mean `{near}`?")),
                    None => error.hint("`--help` lists the options; parameters are given as key=value"),
                });
            }
            _ => line.words.push(word.clone()),
        }
    }
    Ok(line)
}

fn message_format(word: &str) -> Result<MessageFormat, Error> {
    match word {
        "human" => Ok(MessageFormat::Human),
        "json" => Ok(MessageFormat::Json),
        _ => Err(Error::new(ErrorKind::Usage, format!("`--message-format` is `human` or `json`, not `{word}`"))),
    }
}

fn choose<'a>(backends: &'a [Backend], name: Option<&str>) -> Result<&'a Backend, Error> {
    let names: Vec<&str> = backends.iter().map(|backend| backend.name).collect();
    let chosen = match name {
        None => backends.first(),
        Some(name) => backends.iter().find(|backend| backend.name == name),
    };
    chosen.ok_or_else(|| {
        Error::new(ErrorKind::Usage, format!("this program was not built with back-end `{}`", name.unwrap_or("")))
            .hint(format!("it has: {}", names.join(", ")))
    })
}

/// Text of `--help`.
pub fn help(program: &Program, backends: &[Backend]) -> String {
    let names: Vec<&str> = backends.iter().map(|backend| backend.name).collect();
    let mut text = format!("Runs {} (compiled from {}).\n\n", program.name, program.source.file);
    let _ = writeln!(text, "Usage: {} [OPTIONS] [FILE.param]... [key=value]...\n", program.name);
    text.push_str("Parameter files are read first, in order; key=value on the command line wins.\n\nOptions:\n");
    let _ = writeln!(text, "      --backend NAME  one of: {} (default: the first)", names.join(", "));
    text.push_str("      --profile       print times of phases, loops and kernels at the end\n");
    text.push_str("  -q, --quiet         print no progress and no summary; changes nothing in JSON\n");
    text.push_str("  -v, --verbose       print a table of each solve of Newton's method\n");
    text.push_str("      --message-format FORMAT  format of progress, warnings and errors: human, json (default: human)\n");
    text.push_str("  -h, --help          print this\n");
    text.push_str("  -V, --version       print the version\n");
    text.push_str("\nInputs of the program:\n");
    if program.inputs.is_empty() {
        text.push_str("  none\n");
    }
    for input in &program.inputs {
        let forms = input.kind.forms().iter().map(|form| format!("{}{}={}", input.name, form.suffix, form.value));
        let key = forms.collect::<Vec<_>>().join(", or ");
        let what = match &input.kind {
            InputKind::Scalar => "scalar".to_string(),
            InputKind::Collection => format!("one value per element of {}", input.domain),
            InputKind::Vectors => format!("one Vector per element of {}", input.domain),
            InputKind::Bools => format!("one truth value per element of {}", input.domain),
            InputKind::Domain => format!("elements of {}", input.domain),
            InputKind::Sequence => "sequence of numbers".to_string(),
            InputKind::Table(columns) => format!("table: {}", columns.described()),
        };
        let unit = input.unit.as_ref().map_or_else(String::new, |unit| format!(", in {}", unit.text));
        let default = if input.default.is_empty() { String::new() } else { format!(" (default {})", input.default) };
        let _ = writeln!(text, "  {key}\n      {what}{unit}{default}");
    }
    for (part, title) in [(Part::Grid, "Grid"), (Part::Run, "Run"), (Part::Output, "Output")] {
        let _ = writeln!(text, "\n{title}:");
        for key in keys::single().filter(|key| key.part == part) {
            let default = if key.default.is_empty() { String::new() } else { format!(" (default {})", key.default) };
            let _ = writeln!(text, "  {:<29} {}{default}", format!("{}={}", key.name, key.form.shown()), key.meaning);
        }
    }
    text.push_str(
        "\nFile names are relative to the parameter file that gives them, or to the current directory when given on the command line.\n",
    );
    text
}

/// An error as text: message, Equelle lines innermost first, hint; in JSON one line.
pub fn render_error(source: &Source, error: &Error, format: MessageFormat) -> String {
    if format == MessageFormat::Json {
        return format!("{}\n", Event::Error(error.clone()).json());
    }
    let mut text = format!("error: {}\n", error.message);
    for &line in &error.lines {
        let (file, own) = source.file_and_line(line);
        let _ = writeln!(text, " --> {file}:{own}: {}", source.line(line));
    }
    if let Some(hint) = &error.hint {
        let _ = writeln!(text, "hint: {hint}");
    }
    text
}
