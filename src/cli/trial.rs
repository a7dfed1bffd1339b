//! Trials, which decide whether a program is interpreted or built: it is interpreted for a moment.
//!
//! A trial runs with the parameters of the run, and its outputs go nowhere. It is a small part of
//! the time of a build, so that a program that does not end in it has lost little. Where the number
//! of rounds is known, the rounds of the trial tell how long all of them take: a program that takes
//! less than its build is interpreted even so, and one that takes far more is not tried any longer.
//!
//! Outputs take the same time in either way, and do not count.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use equelle_front::ir::{Module, StmtKind};
use equelle_front::verify::Verified;
use equelle_runtime::interrupt::{Interrupt, Signal};
use equelle_runtime::io::Sink;
use equelle_runtime::params::Parameters;
use equelle_runtime::report::MessageFormat;
use equelle_runtime::session::{Options, cartesian_cells};
use equelle_runtime::{ErrorKind, Program, Session};

use super::compile::BuildState;
use crate::interpret;

/// Most cells of a grid, and bytes of its file, with which a round of any program is short.
const MOST_CELLS: usize = 50_000;
const MOST_BYTES: u64 = 10_000_000;
/// A run that is expected to take this many times as long as its build is not tried any longer.
const HOPELESS: f64 = 4.0;
/// Least time of rounds that tell something of the others.
const TELLING: Duration = Duration::from_millis(200);

/// What a trial says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outlook {
    /// A run ends in the time of a trial; so does one that ends with an error of the program or its
    /// data.
    Ends,
    /// Runs end before a build would be done, after about so many seconds.
    EndsIn(f64),
    /// A build is done first, or it is not known.
    Builds,
}

impl Outlook {
    /// The time of the runs, for people.
    pub(super) fn time(self) -> String {
        match self {
            Outlook::EndsIn(seconds) => format!("about {seconds:.0} s, less than a build"),
            Outlook::Ends | Outlook::Builds => "less time than a build".to_owned(),
        }
    }
}

/// How long a run takes in the interpreter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Length {
    /// It has ended after so many seconds.
    Measured(f64),
    /// So many seconds by its rounds.
    Expected(f64),
    /// Too long, or not known.
    Unknown,
}

/// How long a program is tried before a build.
fn limit(state: BuildState) -> Duration {
    match state {
        // Seconds follow.
        BuildState::Prepared => Duration::from_millis(400),
        // A minute or more follows.
        BuildState::Nothing => Duration::from_secs(4),
    }
}

/// Seconds of a build on two cores, at least.
fn build_seconds(state: BuildState) -> f64 {
    match state {
        BuildState::Prepared => 3.0,
        BuildState::Nothing => 30.0,
    }
}

/// A program that has not been built, and what has.
pub(super) struct Trial<'a> {
    pub program: &'static Program,
    pub verified: &'a Verified,
    pub state: BuildState,
}

impl Trial<'_> {
    /// The outlook of a run with these parameters.
    pub(super) fn outlook(&self, words: &[String]) -> Outlook {
        match self.length(words, limit(self.state)) {
            Length::Measured(_) => Outlook::Ends,
            Length::Expected(seconds) if seconds <= build_seconds(self.state) => Outlook::EndsIn(seconds),
            Length::Expected(_) | Length::Unknown => Outlook::Builds,
        }
    }

    /// The outlook of several runs, `jobs` at a time. Each of them takes `start` seconds before it
    /// begins.
    ///
    /// The first and the last are tried first, which differ most, then others while there is time;
    /// those that are not count as the longest of these.
    pub(super) fn outlook_of_all(&self, runs: &[Vec<String>], jobs: usize, start: f64) -> Outlook {
        let (begin, limit, build) = (Instant::now(), limit(self.state), build_seconds(self.state));
        let each = start / jobs.max(1) as f64;
        let most = build - each * runs.len() as f64;
        if most < 0.0 || !runs.iter().all(|words| self.is_small(words)) {
            return Outlook::Builds;
        }
        let last = runs.len().saturating_sub(1);
        let order = [0, last].into_iter().chain(1..last).take(runs.len());
        let (mut tried, mut sum, mut longest) = (0, 0.0, 0.0_f64);
        for number in order {
            let left = limit.saturating_sub(begin.elapsed());
            // Two are enough to tell of the others, and one alone is not.
            if left.is_zero() && tried >= 2 {
                break;
            }
            let seconds = match self.length(&runs[number], left.max(3 * limit / 4)) {
                Length::Measured(seconds) | Length::Expected(seconds) => seconds,
                Length::Unknown => return Outlook::Builds,
            };
            (tried, sum, longest) = (tried + 1, sum + seconds, longest.max(seconds));
            if sum > most * jobs.max(1) as f64 {
                return Outlook::Builds;
            }
        }
        let all = (sum + longest * (runs.len() - tried) as f64) / jobs.max(1) as f64;
        let seconds = all.max(longest) + each * runs.len() as f64;
        if seconds <= build { Outlook::EndsIn(seconds) } else { Outlook::Builds }
    }

    /// How long a run takes, found in a time.
    fn length(&self, words: &[String], limit: Duration) -> Length {
        if !self.is_small(words) {
            return Length::Unknown;
        }
        let (interrupt, forecast) = (Interrupt::default(), Forecast::of(self.verified.module()));
        let options = Options {
            back_end: "interpreter",
            sink: Sink::Nowhere,
            interrupt: interrupt.clone(),
            // Progress is told as JSON alone where nobody looks.
            quiet: false,
            format: MessageFormat::Json,
            stderr: Box::new(forecast.clone()),
            ..Options::silent()
        };
        let begin = Instant::now();
        let session = match Session::open_with(self.program, words, options) {
            Ok(session) if session.grid().n_cells() > MOST_CELLS => return Length::Unknown,
            Ok(session) => session,
            // The run has the error, too.
            Err(_) => return Length::Measured(begin.elapsed().as_secs_f64()),
        };
        // Memory that the interpreter lacks may be enough for the program.
        let Ok(mut runtime) = interpret::runtime(interpret::Kernels::Lanes, self.verified, session) else { return Length::Unknown };
        let (watched, hopeless) = (&forecast, HOPELESS * build_seconds(self.state));
        let result = std::thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            scope.spawn(move || {
                while is_done.recv_timeout(limit / 20) == Err(RecvTimeoutError::Timeout) {
                    if begin.elapsed() >= limit || watched.least().is_some_and(|seconds| seconds > hopeless) {
                        return interrupt.ask(Signal::Interrupt);
                    }
                }
            });
            let result = interpret::run_on(interpret::Kernels::Lanes, self.verified, &mut runtime);
            drop(done);
            result
        });
        match result.map_err(|error| error.kind) {
            // Nothing is written, so that an error of a file is one of its data.
            Ok(()) | Err(ErrorKind::Data | ErrorKind::Simulation | ErrorKind::Usage | ErrorKind::Io) => {
                Length::Measured(begin.elapsed().as_secs_f64())
            }
            Err(ErrorKind::Interrupted(_)) => forecast.seconds().map_or(Length::Unknown, Length::Expected),
            Err(ErrorKind::Backend) => Length::Unknown,
        }
    }

    /// True if the parameters name a small grid, or have an error, which a trial finds.
    fn is_small(&self, words: &[String]) -> bool {
        let Ok(parameters) = Parameters::from_words(words) else { return true };
        let cells = cartesian_cells(self.program, &parameters).ok().flatten().unwrap_or(1);
        let file = parameters.path("grid_filename").ok().flatten();
        let bytes = file.and_then(|path| std::fs::metadata(path).ok()).map_or(0, |file| file.len());
        cells <= MOST_CELLS && bytes <= MOST_BYTES
    }
}

/// Loops of the main program that are the outermost ones; `None` where functions have some, too.
fn outermost_loops(module: &Module) -> Option<usize> {
    let is_loop = |kind: &StmtKind| matches!(kind, StmtKind::For { .. });
    let in_functions = module.functions.iter().flat_map(|function| &function.body.statements).any(|stmt| is_loop(&stmt.kind));
    (!in_functions).then(|| module.main.body.statements.iter().filter(|stmt| is_loop(&stmt.kind)).count())
}

/// How long a run takes in all, by its events.
#[derive(Clone)]
struct Forecast(Arc<Mutex<ForecastState>>);

struct ForecastState {
    /// What was written after the last line.
    line: Vec<u8>,
    /// Outermost loops of the program, if they are known.
    loops: Option<usize>,
    /// Those that have begun, and the rounds before the last of them.
    begun: usize,
    rounds_before: Option<u64>,
    /// Seconds of the loops before that, and of this one so far.
    before: f64,
    elapsed: f64,
    /// Seconds to the end of the loop that runs, once it tells.
    seconds: Option<f64>,
}

impl Forecast {
    fn of(module: &Module) -> Forecast {
        Forecast::of_loops(outermost_loops(module))
    }

    fn of_loops(loops: Option<usize>) -> Forecast {
        let (line, seconds) = (Vec::new(), None);
        let state = ForecastState { line, loops, begun: 0, rounds_before: None, before: 0.0, elapsed: 0.0, seconds };
        Forecast(Arc::new(Mutex::new(state)))
    }

    /// The seconds of all rounds; `None` as long as too few are known, or other loops follow.
    fn seconds(&self) -> Option<f64> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.seconds.filter(|_| state.loops == Some(state.begun))
    }

    /// The seconds of all rounds without those of loops that follow.
    fn least(&self) -> Option<f64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).seconds
    }
}

impl ForecastState {
    fn line(&mut self) {
        let event = serde_json::from_slice::<serde_json::Value>(&self.line).unwrap_or_default();
        self.line.clear();
        let (Some(step), Some(all), Some(elapsed)) = (event["step"].as_u64(), event["steps_done"].as_u64(), event["elapsed"].as_f64())
        else {
            return;
        };
        let rounds_before = all.saturating_sub(step);
        if self.rounds_before != Some(rounds_before) {
            (self.begun, self.rounds_before) = (self.begun + 1, Some(rounds_before));
            (self.before, self.seconds) = (self.before + self.elapsed, None);
        }
        self.elapsed = elapsed;
        match event["left"].as_f64() {
            Some(left) if elapsed >= TELLING.as_secs_f64() => self.seconds = Some(self.before + elapsed + left),
            // Rounds that a condition ends.
            None => self.seconds = None,
            Some(_) => {}
        }
    }
}

impl io::Write for Forecast {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for &byte in bytes {
            if byte == b'\n' { told.line() } else { told.line.push(byte) }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
