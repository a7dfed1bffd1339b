//! Whether a program is interpreted before it would be built: it is tried for a moment.
//!
//! The trial writes nothing. It is a small part of the time of a build, so that a program that does
//! not end in it has lost little. Where the number of rounds is known, the rounds of the trial tell
//! how long all of them take: a program that takes less than its build is interpreted even so, and
//! one that takes far more is not tried any longer.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use equelle_front::source::SourceMap;
use equelle_front::verify::Verified;
use equelle_runtime::ErrorKind;
use equelle_runtime::interrupt::{Interrupt, Signal};
use equelle_runtime::io::Sink;
use equelle_runtime::params::Parameters;
use equelle_runtime::report::MessageFormat;
use equelle_runtime::session::Options;

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
    /// A run ends before a build would be done, after about so many seconds.
    EndsIn(f64),
    /// A build is done first, or it is not known.
    Builds,
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

/// What is to be expected of a run.
pub(super) fn outlook(source: &SourceMap, verified: &Verified, words: &[String], state: BuildState) -> Outlook {
    if !is_small(words) {
        return Outlook::Builds;
    }
    let (limit, build) = (limit(state), build_seconds(state));
    let (interrupt, forecast) = (Interrupt::default(), Forecast::default());
    let options = Options {
        sink: Sink::memory(),
        interrupt: interrupt.clone(),
        // Progress is told as JSON alone where nobody looks.
        quiet: false,
        format: MessageFormat::Json,
        stderr: Box::new(forecast.clone()),
        ..Options::silent()
    };
    let words: Vec<String> = words.iter().cloned().chain(["output_to_file=false".to_owned()]).collect();
    let program = interpret::program(source, verified);
    let watched = &forecast;
    let result = std::thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        scope.spawn(move || {
            let begin = Instant::now();
            while is_done.recv_timeout(limit / 20) == Err(RecvTimeoutError::Timeout) {
                let is_hopeless = watched.seconds().is_some_and(|seconds| seconds > HOPELESS * build);
                if begin.elapsed() >= limit || is_hopeless {
                    return interrupt.ask(Signal::Interrupt);
                }
            }
        });
        let result = interpret::run(program, verified, &words, options);
        drop(done);
        result
    });
    match result.map_err(|error| error.kind) {
        Ok(()) | Err(ErrorKind::Data | ErrorKind::Simulation | ErrorKind::Usage) => Outlook::Ends,
        Err(ErrorKind::Interrupted(_)) => match forecast.seconds() {
            Some(seconds) if seconds <= build => Outlook::EndsIn(seconds),
            Some(_) | None => Outlook::Builds,
        },
        Err(ErrorKind::Io | ErrorKind::Backend) => Outlook::Builds,
    }
}

/// How long a run takes in all, by its events.
#[derive(Clone, Default)]
struct Forecast(Arc<Mutex<ForecastState>>);

#[derive(Default)]
struct ForecastState {
    /// What was written after the last line.
    line: Vec<u8>,
    seconds: Option<f64>,
}

impl Forecast {
    /// The seconds of all rounds; `None` as long as too few are known.
    fn seconds(&self) -> Option<f64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).seconds
    }
}

impl ForecastState {
    fn line(&mut self) {
        let event = serde_json::from_slice::<serde_json::Value>(&self.line).unwrap_or_default();
        self.line.clear();
        if event["event"] == "step"
            && let (Some(elapsed), Some(left)) = (event["elapsed"].as_f64(), event["left"].as_f64())
            && elapsed >= TELLING.as_secs_f64()
        {
            self.seconds = Some(elapsed + left);
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

/// Whether the parameters name a small grid and nothing that lives longer than a run.
fn is_small(words: &[String]) -> bool {
    let Ok(parameters) = Parameters::from_words(words) else { return false };
    if ["restart", "checkpoint_every", "checkpoint_minutes", "newton_dump"].iter().any(|key| parameters.contains(key)) {
        return false;
    }
    let count = |key: &str| parameters.integer(key).ok().flatten().unwrap_or(1);
    let cells = ["nx", "ny", "nz"].into_iter().map(count).fold(1_usize, usize::saturating_mul);
    let file = parameters.path("grid_filename").ok().flatten();
    let bytes = file.and_then(|path| std::fs::metadata(path).ok()).map_or(0, |file| file.len());
    cells <= MOST_CELLS && bytes <= MOST_BYTES
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn rounds_tell_how_long_all_take() {
        let mut forecast = Forecast::default();
        let mut say = |text: &str| {
            forecast.write_all(text.as_bytes()).expect("memory");
            forecast.seconds()
        };
        assert_eq!(say("{\"event\":\"start\"}\n{\"event\":\"step\",\"elapsed\":0.01,\"left\":5.0}\n"), None);
        assert_eq!(say("{\"event\":\"step\",\"elapsed\":1.0,"), None);
        assert_eq!(say("\"left\":9.5}\n"), Some(10.5));
        // Rounds that a condition ends.
        assert_eq!(say("{\"event\":\"step\",\"elapsed\":2.0,\"left\":null}\nno JSON\n"), Some(10.5));
    }
}
