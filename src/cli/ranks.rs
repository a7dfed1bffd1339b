//! `equellec run --ranks`: starts the ranks of a run by the launcher of an MPI.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use equelle_runtime::interrupt::{Interrupt, Signal};
use equelle_runtime::params::Parameters;
use equelle_runtime::rank_run::processes;
use equelle_runtime::ranks::mpi::MPI_LIBRARY;
use equelle_runtime::report::marked::{Line, RankProcess};
use equelle_runtime::session::Options;
use equelle_runtime::{Error, ErrorKind, simulator};

use super::args::{InterpretedKernels, RunArgs};
use super::inputs;
use super::plot;
use crate::console::Console;
use equelle::cargo;
use equelle::compiled::Compiled;
use equelle::failure::Failure;
use equelle::interpret::Kernels;
use equelle::mpi::{self, Installation};
use equelle::ranks::RankProgram;

/// Time between looks at a launcher.
const LOOK: Duration = Duration::from_millis(10);

/// Most lines of a launcher that are repeated.
const MAX_REPEATED: usize = 40;

/// Refuses to be started several times by a launcher of MPI: each would compile the program.
///
/// # Errors
/// `Usage`, with the command to use; that of one rank alone is printed.
pub(super) fn refuse_launcher(args: &RunArgs) -> Result<(), Failure> {
    let Some(start) = processes::mpi_start().filter(|_| args.on_ranks.as_rank.is_none()) else { return Ok(()) };
    if start.rank.is_some_and(|rank| rank > 0) {
        return Err(Failure::Exit(ErrorKind::Usage.exit_code()));
    }
    let message = format!("a launcher of MPI has started `equellec run` {} times: each would compile the program", start.n_ranks);
    let words = args.parameters.iter().map(|word| format!(" {word}")).collect::<String>();
    let use_instead = format!("`equellec run {}{words} --ranks {}`", args.source.file.display(), start.n_ranks);
    let hint = format!("{use_instead} starts the launcher itself; programs that `equellec build` builds may be started by it");
    Err(Error::new(ErrorKind::Usage, message).hint(hint).into())
}

/// Runs a program on ranks: built, or interpreted where the user wants it or nothing can be built.
/// `words` are the command line of a built one.
pub(super) fn run(
    compiled: &Compiled,
    n_ranks: u32,
    args: &RunArgs,
    given: &[String],
    mut words: Vec<String>,
    this: &[OsString],
    console: &Console,
) -> Result<(), Failure> {
    inputs::check(compiled.program(), &args.source.file, given, console)?;
    // A program that is refused is so before anything is built.
    RankProgram::new(compiled.verified()).map_err(|error| error.into_failure(compiled.source()))?;
    let library = Parameters::from_words(given)?.path(MPI_LIBRARY)?;
    let mpi = Installation::find(library.as_deref())?;
    if let Some(cores) = mpi::shared_cores(n_ranks).filter(|_| !mpi::is_in_job()) {
        let cores = if cores == 1 { "one core".to_owned() } else { format!("{cores} cores") };
        console.warning(&format!("{n_ranks} ranks share {cores}: fewer of them are faster"));
    }
    let is_interpreted = args.interpret.is_some() || cargo::version().is_err();
    let mut command = if is_interpreted {
        if args.source.file == Path::new("-") {
            return Err(Failure::usage("a program from standard input is interpreted in one process: give its file"));
        }
        interpreter(&mpi, n_ranks, args, this)
    } else {
        let package = compiled.cached(&args.source.target.target_cpu)?;
        let program = match package.built() {
            Some(program) => program,
            None => package.build(Some(console)).run()?,
        };
        words.insert(0, "--marked".to_owned());
        mpi.simulator(n_ranks, &program)
    };
    command.args(words);
    let records = plot::Records::before(args, given);
    let result = plot::watched(args, &records, || supervise(command, &mpi, given));
    plot::after_run(args, &records, result, console)
}

/// This program, as ranks that interpret.
fn interpreter(mpi: &Installation, n_ranks: u32, args: &RunArgs, this: &[OsString]) -> Command {
    // A command without a name is that of a caller who knows no better: the loader finds it.
    let (program, words) = this.split_first().map_or((OsStr::new("equellec"), &[][..]), |(program, words)| (program.as_os_str(), words));
    let mut command = mpi.command(n_ranks, Path::new(program));
    let kernels = args.interpret.map_or("lanes", InterpretedKernels::word);
    command.args(words).args(["run", &format!("--interpret={kernels}"), "--backend", args.backend.name()]).arg(&args.source.file);
    command.args(args.source.program.words()).arg("--as-rank").arg(mpi.library_path());
    command
}

/// Interprets a program on a rank that is this process.
pub(super) fn interpret_rank(
    kernels: Kernels,
    compiled: &Compiled,
    options: Options,
    given: &[String],
    library: &Path,
) -> Result<(), Failure> {
    let (format, started) = (options.format, Instant::now());
    let program = RankProgram::new(compiled.verified()).map_err(|error| error.into_failure(compiled.source()))?;
    let source = &compiled.program().source;
    let say = |result: &Result<(), Error>| simulator::say_last_words(source, result, format, started, true);
    let code = equelle::ranks::run_process(kernels, compiled.program(), &program, given, options.marked(), Some(library), &say)?;
    if code == 0 { Ok(()) } else { Err(Failure::Exit(code)) }
}

/// Lines of ranks and launcher so far.
#[derive(Default)]
struct Said {
    /// Exit code of the run.
    code: Option<u8>,
    /// Ranks that have begun.
    ranks: Vec<RankProcess>,
    /// Lines of the launcher.
    launcher: Vec<String>,
}

/// Starts the ranks, passes on what they print and their exit code, and what the launcher prints
/// only where it fails itself.
fn supervise(mut command: Command, mpi: &Installation, given: &[String]) -> Result<(), Failure> {
    let interrupt = Interrupt::by_signals()?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Ctrl-C reaches ranks once, by the launcher.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut launcher = command.spawn().map_err(|error| Failure::io("start", &mpi.launcher.program, &error))?;
    let (stdout, stderr) = (launcher.stdout.take(), launcher.stderr.take());
    let said = Mutex::new(Said::default());
    let status = std::thread::scope(|scope| {
        scope.spawn(|| stdout.into_iter().for_each(|from| pass_on(from, std::io::stdout(), &said)));
        scope.spawn(|| stderr.into_iter().for_each(|from| pass_on(from, std::io::stderr(), &said)));
        wait(&mut launcher, &interrupt, &said)
    });
    let status = status.map_err(|error| Failure::io("wait for", &mpi.launcher.program, &error))?;
    let said = said.into_inner().unwrap_or_else(PoisonError::into_inner);
    match said.code {
        Some(0) => Ok(()),
        Some(code) => Err(Failure::Exit(code)),
        None => Err(interrupt.signal().map_or_else(|| unfinished(&said, status, mpi, given), interrupted)),
    }
}

/// Passes on the lines of a run, and keeps those of the launcher.
fn pass_on(from: impl Read, mut to: impl Write, said: &Mutex<Said>) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        match Line::of(&line) {
            // Where nobody reads it any more the run goes on.
            Line::OfRun(line) => drop(to.write_all(line).and_then(|()| to.flush())),
            Line::Begin(rank) => said.lock().unwrap_or_else(PoisonError::into_inner).ranks.push(rank),
            Line::End(code) => said.lock().unwrap_or_else(PoisonError::into_inner).code = Some(code),
            Line::Other(line) => {
                let line = String::from_utf8_lossy(line).trim_end().to_owned();
                said.lock().unwrap_or_else(PoisonError::into_inner).launcher.push(line);
            }
        }
        line.clear();
    }
}

/// Waits for a launcher. The first signal is passed on to rank 0, which ends the run in order;
/// where that is not on this machine, to the launcher.
fn wait(launcher: &mut Child, interrupt: &Interrupt, said: &Mutex<Said>) -> std::io::Result<ExitStatus> {
    let mut is_told = false;
    loop {
        if let Some(status) = launcher.try_wait()? {
            return Ok(status);
        }
        if let Some(signal) = interrupt.signal().filter(|_| !is_told) {
            is_told = true;
            let name = match signal {
                Signal::Interrupt => "-INT",
                Signal::Terminate => "-TERM",
            };
            let said = said.lock().unwrap_or_else(PoisonError::into_inner);
            let root = said.ranks.iter().find(|rank| rank.rank == 0 && is_here(&rank.node)).map(|rank| rank.process);
            // Without the program `kill` the run goes on until the second signal.
            let _ = Command::new("kill").args([name, &root.unwrap_or_else(|| launcher.id()).to_string()]).status();
        }
        std::thread::sleep(LOOK);
    }
}

/// True for the name of this machine.
fn is_here(node: &str) -> bool {
    std::fs::read_to_string("/proc/sys/kernel/hostname").is_ok_and(|name| name.trim() == node)
}

/// The failure of a run that a signal has ended at once.
fn interrupted(signal: Signal) -> Failure {
    Error::new(ErrorKind::Interrupted(signal), format!("interrupted by {}; the outputs so far are complete", signal.name())).into()
}

/// The failure of a run that did not come to its end.
fn unfinished(said: &Said, status: ExitStatus, mpi: &Installation, given: &[String]) -> Failure {
    if let Some(Killed { rank, signal }) = Killed::of(said) {
        let rank = rank.map_or_else(|| "a rank".to_owned(), |rank| format!("rank {rank}"));
        let error = Error::new(ErrorKind::Backend, format!("{rank} was killed (signal {signal})"));
        let has_checkpoints = given.iter().any(|word| word.starts_with("checkpoint_"));
        let memory = if signal == 9 { "; the system kills so where memory ends" } else { "" };
        let hint = match has_checkpoints {
            true => format!("outputs so far are complete; restart=latest goes on from the last checkpoint{memory}"),
            false => format!("outputs so far are complete; with checkpoint_minutes=10 such a run can go on{memory}"),
        };
        return error.hint(hint).into();
    }
    let lines: Vec<&str> = said.launcher.iter().map(String::as_str).filter(|line| !line.is_empty()).take(MAX_REPEATED).collect();
    let code = status.code().map_or_else(|| "by a signal".to_owned(), |code| format!("with exit code {code}"));
    let text = if lines.is_empty() { String::new() } else { format!(":\n{}", lines.join("\n")) };
    let message = format!("`{}` of {} ended {code} before the run did{text}", mpi.launcher.program.display(), mpi.name);
    Error::new(ErrorKind::Backend, message).into()
}

/// A rank that was killed, as launchers tell it.
#[derive(Debug, PartialEq, Eq)]
struct Killed {
    rank: Option<u32>,
    signal: u32,
}

impl Killed {
    /// By the first signal in what a launcher said, and the first rank or process.
    fn of(said: &Said) -> Option<Killed> {
        let text = said.launcher.join("\n").to_lowercase();
        let number_after = |word: &str| {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
            words.skip_while(|found| *found != word).find_map(|word| word.parse::<u32>().ok())
        };
        let signal = number_after("signal")?;
        let process = number_after("pid");
        let by_process = || said.ranks.iter().find(|rank| Some(rank.process) == process).map(|rank| rank.rank);
        Some(Killed { rank: number_after("rank").or_else(by_process), signal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By what each launcher printed (Open MPI 4.1.4 and 5.0.11, MPICH 4.0.2).
    #[test]
    fn launchers_tell_which_rank_was_killed() {
        let killed = |text: &str| {
            let rank = |rank: u32, process: u32| RankProcess { rank, process, node: "vm".into() };
            Killed::of(&Said {
                ranks: vec![rank(0, 24403), rank(2, 24404)],
                launcher: text.lines().map(str::to_owned).collect(),
                ..Said::default()
            })
        };
        let open = "mpiexec.openmpi noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed).";
        assert_eq!(killed(open), Some(Killed { rank: Some(1), signal: 9 }));
        let prte = "prterun noticed that process rank 1 with PID 24465 on node vm exited on\nsignal 11 (Segmentation fault).";
        assert_eq!(killed(prte), Some(Killed { rank: Some(1), signal: 11 }));
        let hydra = "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 24404 RUNNING AT vm\n=   EXIT CODE: 9\n\
                     YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)";
        assert_eq!(killed(hydra), Some(Killed { rank: Some(2), signal: 9 }));
        assert_eq!(killed("There are not enough slots available in the system"), None);
    }
}
