//! Runs in this process: parameters and data in memory in, results in memory out.

use std::sync::{Arc, Mutex, PoisonError};

use equelle_runtime::interrupt::Interrupt;
use equelle_runtime::observer::OnRound;
use equelle_runtime::output::{Record, Records, StepTime};
use equelle_runtime::report::event::{Newton, Summary};
use equelle_runtime::report::{Event, Listener};
use equelle_runtime::session::Options;
use equelle_runtime::{Error, Grid, Parameters, Session};

use crate::compiled::Compiled;
use crate::interpret::{self, Kernels};

/// Settings of a run.
#[derive(Default)]
pub struct RunSettings {
    /// The grid; by default the parameters say it.
    pub grid: Option<Grid>,
    /// Ends the run from another thread.
    pub interrupt: Interrupt,
    /// Called after each round of a loop of the main program.
    pub on_round: Option<Box<OnRound>>,
    /// Called with each event, from the thread of the run.
    pub on_event: Option<Listener>,
    /// Gets outputs while the program runs; results have what nobody took.
    pub records: Records,
}

/// Results of a run, until its end or its error.
#[derive(Debug, Default)]
pub struct Results {
    /// Outputs in order, with the step and time of each. Elements are in the order of the grid's
    /// file.
    pub outputs: Vec<(StepTime, Record)>,
    /// Solves of Newton's method, in order.
    pub newton: Vec<Newton>,
    /// Warnings: what may be a mistake.
    pub warnings: Vec<String>,
    /// Totals; `None` if the run did not reach its end.
    pub summary: Option<Summary>,
}

/// Events of a run that results keep.
#[derive(Debug, Default)]
struct RunEvents {
    newton: Vec<Newton>,
    warnings: Vec<String>,
    summary: Option<Summary>,
}

impl Compiled {
    /// Runs the program in this process. Nothing is printed. Outputs stay in memory, unless
    /// parameters ask for files (`output_dir`, `output_to_file`, `output_format`): then they go
    /// there as from the command line.
    ///
    /// # Errors
    /// Those of the run, beside the results up to there.
    pub fn run(&self, kernels: Kernels, parameters: Parameters, settings: RunSettings) -> (Results, Result<(), Error>) {
        let RunSettings { grid, interrupt, on_round, mut on_event, records } = settings;
        let events = Arc::new(Mutex::new(RunEvents::default()));
        let shared = Arc::clone(&events);
        let listener = Box::new(move |event: &Event| {
            if let Some(on_event) = &mut on_event {
                on_event(event);
            }
            let mut seen = shared.lock().unwrap_or_else(PoisonError::into_inner);
            match event {
                Event::Newton(newton) => seen.newton.push(newton.clone()),
                Event::Warning(warning) => seen.warnings.push(warning.clone()),
                Event::Summary(summary) => seen.summary = Some(summary.clone()),
                _ => {}
            }
        });
        let has_files = ["output_dir", "output_to_file", "output_format"].iter().any(|key| parameters.contains(key));
        let options = Options { interrupt, listener: Some(listener), back_end: kernels.back_end(), ..Options::silent() };
        let session = match grid {
            Some(grid) => Session::on_grid(Arc::clone(self.program()), parameters, grid, options),
            None => Session::from_parameters(Arc::clone(self.program()), parameters, options),
        };
        let result = session.and_then(|mut session| {
            if let Some(on_round) = on_round {
                session.observe(on_round);
            }
            if has_files {
                return equelle_runtime::simulator::recorded(session, |session| interpret::run_in(kernels, self.verified(), session));
            }
            session.record_outputs_in(&records);
            interpret::run_in(kernels, self.verified(), session)
        });
        let RunEvents { newton, warnings, summary } = std::mem::take(&mut *events.lock().unwrap_or_else(PoisonError::into_inner));
        (Results { outputs: records.take_with_moments(), newton, warnings, summary }, result)
    }
}
