//! Whether a program is interpreted before it would be built: it is tried for a moment.
//!
//! The trial writes nothing. It is a small part of the time of a build, so that a program that does
//! not end in it has lost little.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use equelle_front::source::SourceMap;
use equelle_front::verify::Verified;
use equelle_runtime::ErrorKind;
use equelle_runtime::interrupt::{Interrupt, Signal};
use equelle_runtime::io::Sink;
use equelle_runtime::params::Parameters;
use equelle_runtime::session::Options;

use super::compile::BuildState;
use crate::interpret;

/// Most cells of a grid, and bytes of its file, with which a round of any program is short.
const MOST_CELLS: usize = 50_000;
const MOST_BYTES: u64 = 10_000_000;

/// How long a program is tried before a build.
fn limit(state: BuildState) -> Duration {
    match state {
        // Seconds follow.
        BuildState::Prepared => Duration::from_millis(400),
        // A minute or more follows.
        BuildState::Nothing => Duration::from_secs(4),
    }
}

/// Whether a run ends in the time that is left for a trial; so does one that ends with an error of
/// the program or its data.
pub(super) fn ends(source: &SourceMap, verified: &Verified, words: &[String], state: BuildState) -> bool {
    if !is_small(words) {
        return false;
    }
    let limit = limit(state);
    let interrupt = Interrupt::default();
    let options = Options { sink: Sink::memory(), interrupt: interrupt.clone(), ..Options::silent() };
    let words: Vec<String> = words.iter().cloned().chain(["output_to_file=false".to_owned()]).collect();
    let program = interpret::program(source, verified);
    let result = std::thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        scope.spawn(move || {
            if is_done.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                interrupt.ask(Signal::Interrupt);
            }
        });
        let result = interpret::run(program, verified, &words, options);
        drop(done);
        result
    });
    match result {
        Ok(()) => true,
        Err(error) => match error.kind {
            ErrorKind::Data | ErrorKind::Simulation | ErrorKind::Usage => true,
            ErrorKind::Interrupted(_) | ErrorKind::Io | ErrorKind::Backend => false,
        },
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
