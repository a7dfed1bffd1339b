//! Checks that outputs and state are finite, unless `nonfinite=allow` is given.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::Domain;
use crate::error::{Error, ErrorKind};
use crate::grid::Grid;
use crate::input::Inputs;
use crate::output::{Checked, CheckedValues, ElementLocation, FirstNonfinite, NotFinite, Step};
use crate::program::Program;
use crate::real::Real;

pub use crate::output::Nonfinite;

/// Rounds of a loop before the first check of state; the interval then doubles. A check makes a GPU
/// wait and capture its graphs again, which takes as long as twenty small steps: 1 in 50 of them.
pub const FIRST_SAMPLE: usize = 1024;

/// Decides whether outputs and state are checked, and knows when they were finite last.
#[derive(Debug)]
pub(super) struct FiniteChecks {
    policy: Nonfinite,
    /// By tag, the step of the last output.
    outputs: BTreeMap<String, usize>,
    /// The step after which state was checked last.
    state: Option<usize>,
    /// The step after which state was checked last, or is being checked.
    sampled: Option<Step>,
    /// The first result of the thread that writes files.
    later: Arc<Mutex<Option<NotFinite>>>,
}

impl FiniteChecks {
    pub(super) fn new(policy: Nonfinite) -> FiniteChecks {
        FiniteChecks { policy, outputs: BTreeMap::new(), state: None, sampled: None, later: Arc::default() }
    }

    pub(super) fn policy(&self) -> Nonfinite {
        self.policy
    }

    /// True if numbers that are not finite end the run.
    pub(super) fn is_required(&self) -> bool {
        self.policy == Nonfinite::Error
    }

    /// Begins an outermost loop: its steps count from the start.
    pub(super) fn begin_loop(&mut self) {
        self.outputs.clear();
        (self.state, self.sampled) = (None, None);
    }

    /// Begins a check of the state after a round.
    pub(super) fn begin_state(&mut self, round: Step) {
        self.state = self.sampled.map(|(step, _)| step).filter(|&step| step < round.0);
        self.sampled = Some(round);
    }

    /// Begins a check of an output in a step.
    pub(super) fn begin_output(&mut self, tag: &str, line: u32, step: Option<Step>) -> Checked {
        let finite = match step {
            None => self.outputs.get(tag).copied(),
            Some((step, _)) => {
                let before = match self.outputs.get_mut(tag) {
                    Some(last) => Some(std::mem::replace(last, step)),
                    None => self.outputs.insert(tag.to_owned(), step),
                };
                before.filter(|&before| before < step)
            }
        };
        Checked { what: CheckedValues::Output(tag.to_owned()), line, step, finite }
    }

    /// The check of a variable, in a loop or after all of them.
    pub(super) fn state_check(&self, name: &str, line: u32, in_loop: bool) -> Checked {
        let sampled = self.sampled.filter(|_| in_loop);
        let finite = match sampled {
            Some(_) => self.state,
            None => self.sampled.map(|(step, _)| step),
        };
        Checked { what: CheckedValues::State(name.to_owned()), line, step: sampled, finite }
    }

    /// A check for the thread that writes an output, whose result is kept for
    /// [`FiniteChecks::take_later`]; nothing without `checked`.
    pub(super) fn check_later<R: Real>(
        &self,
        checked: Option<Checked>,
        domain: &Arc<Domain>,
    ) -> impl FnOnce(&[Vec<R>]) -> Result<(), Error> + Send + 'static + use<R> {
        let (domain, found_later) = (Arc::clone(domain), Arc::clone(&self.later));
        move |components| {
            let Some(checked) = checked else { return Ok(()) };
            let columns: Vec<&[R]> = components.iter().map(Vec::as_slice).collect();
            let Some(found) = FirstNonfinite::first(&columns) else { return Ok(()) };
            let place = ElementLocation::in_file_order(&domain, found.position);
            let not_finite = NotFinite { checked, found, place };
            *found_later.lock().unwrap_or_else(PoisonError::into_inner) = Some(not_finite);
            Err(Error::new(ErrorKind::Simulation, "an output is not finite"))
        }
    }

    /// True if an output that was written in the background was found not to be finite.
    pub(super) fn has_found_later(&self) -> bool {
        self.later.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Takes the first number that the thread that writes files found not to be finite.
    pub(super) fn take_later(&self) -> Option<NotFinite> {
        self.later.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The error of a number, which names tables that have no numbers beyond their rows.
pub(super) fn error(not_finite: &NotFinite, grid: &Grid, program: &Program, inputs: &Inputs) -> Error {
    let error = not_finite.error(grid, !program.solves.is_empty());
    match inputs.table_with_ends() {
        Some(name) => error.hint(format!(
            "beyond its rows table `{name}` is not a number, as `{name}_outside=error` asks; `{name}_outside=constant` goes on"
        )),
        None => error,
    }
}
