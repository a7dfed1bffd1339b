//! The log of the events of a run, `PROGRAM.events.jsonl`.

use std::io::{BufRead, BufReader, ErrorKind as IoKind};

use equelle_runtime::run::open_plain_file;
use equelle_runtime::{Error, ErrorKind};
use serde_json::Value;

use crate::run::Run;

/// Content of a log that pages and pictures show.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Solves of Newton's method, in order.
    pub solves: Vec<Solve>,
    /// Name and seconds of each phase.
    pub phases: Vec<(String, f64)>,
    /// Warnings and notes.
    pub messages: Vec<String>,
    /// The last `audit` event.
    pub audit: Option<Value>,
    /// How often a step was taken again in parts.
    pub n_retries: usize,
}

/// A solve of Newton's method.
#[derive(Clone, Debug, PartialEq)]
pub struct Solve {
    /// Line in the program.
    pub line: u64,
    /// Step of the outermost loop; outside of loops the number of the solve.
    pub step: u64,
    /// True if it converged.
    pub is_converged: bool,
    /// Norms of the residual: of the guess, then after each iteration.
    pub norms: Vec<f64>,
    /// Iterations of linear solvers.
    pub linear_iterations: u64,
    /// Least and greatest value of each unknown.
    pub unknowns: Vec<(String, [f64; 2])>,
}

impl Log {
    /// That of a run; `None` if it has none. A last line that is torn, as of a killed run, is left
    /// out.
    ///
    /// # Errors
    /// `Io` for a file that cannot be read; `Data` with file and line for one that is not a log.
    pub fn read(run: &Run) -> Result<Option<Log>, Error> {
        let path = run.dir().join(format!("{}.events.jsonl", run.program));
        let file = match open_plain_file(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == IoKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::new(ErrorKind::Io, format!("cannot read `{}`: {error}", path.display()))),
        };
        let mut log = Log::default();
        let mut damaged: Option<usize> = None;
        for (index, line) in BufReader::new(file).split(b'\n').enumerate() {
            let line = line.map_err(|error| Error::new(ErrorKind::Io, format!("cannot read `{}`: {error}", path.display())))?;
            if let Some(damaged) = damaged {
                return Err(Error::new(ErrorKind::Data, format!("{}: line {damaged}: not an event of a run", path.display())));
            }
            match serde_json::from_slice::<Value>(&line) {
                Ok(event) => log.add(&event),
                Err(_) => damaged = Some(index + 1),
            }
        }
        Ok(Some(log))
    }

    fn add(&mut self, event: &Value) {
        match event["event"].as_str() {
            Some("newton") => {
                let number = self.solves.len() as u64 + 1;
                self.solves.extend(Solve::of(event, number));
            }
            Some("profile") => {
                let phases = event["phases"].as_array().into_iter().flatten();
                let phase = |phase: &Value| Some((phase["name"].as_str()?.to_owned(), phase["seconds"].as_f64()?));
                self.phases = phases.filter_map(phase).collect();
            }
            Some("warning") => self.messages.extend(event["message"].as_str().map(|text| format!("warning: {text}"))),
            Some("note") => self.messages.extend(event["message"].as_str().map(str::to_owned)),
            Some("step_failed") => self.n_retries += 1,
            Some("audit") => self.audit = Some(event.clone()),
            Some(_) | None => {}
        }
    }
}

impl Solve {
    fn of(event: &Value, number: u64) -> Option<Solve> {
        let iterations = event["iterations"].as_array()?;
        let range =
            |unknown: &Value| Some((unknown["name"].as_str()?.to_owned(), [unknown["least"].as_f64()?, unknown["greatest"].as_f64()?]));
        Some(Solve {
            line: event["line"].as_u64().unwrap_or(0),
            step: event["step"].as_u64().unwrap_or(number),
            is_converged: event["outcome"] == "converged",
            norms: iterations.iter().map(|iteration| iteration["norm"].as_f64().unwrap_or(f64::NAN)).collect(),
            linear_iterations: iterations.iter().filter_map(|iteration| iteration["linear_iterations"].as_u64()).sum(),
            unknowns: event["unknowns"].as_array().into_iter().flatten().filter_map(range).collect(),
        })
    }

    /// Iterations: those after the guess.
    pub fn n_iterations(&self) -> usize {
        self.norms.len().saturating_sub(1)
    }
}
