//! Checks that outputs and state are finite, unless `nonfinite=allow` is given.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::steady_state::Measured;
use super::{LoopState, Session};
use crate::domain::Domain;
use crate::error::{Error, ErrorKind};
use crate::input::ConstantTable;
use crate::output::{Checked, CheckedValues, ElementLocation, FirstNonfinite, NotFinite, Step};
use crate::real::Real;

pub use crate::output::Nonfinite;

/// Rounds of a loop before the first check of state; the interval then doubles. A check makes a GPU
/// wait and capture its graphs again, which takes as long as twenty small steps: 1 in 50 of them.
pub const FIRST_SAMPLE: usize = 1024;

/// The last finite outputs and state.
#[derive(Debug, Default)]
pub(super) struct Finite {
    /// By tag, the step of the last output.
    outputs: BTreeMap<String, usize>,
    /// The step after which state was checked last.
    state: Option<usize>,
    /// The step after which state was checked last, or is being checked.
    sampled: Option<Step>,
    /// The first result of the thread that writes files.
    later: Arc<Mutex<Option<NotFinite>>>,
}

impl Finite {
    /// Begins an outermost loop: its steps count from the start.
    pub(super) fn begin_loop(&mut self) {
        self.outputs.clear();
        (self.state, self.sampled) = (None, None);
    }
}

impl Session {
    /// True if numbers that are not finite end the run.
    pub fn nonfinite(&self) -> Nonfinite {
        self.nonfinite
    }

    /// True if state is checked after the round of a loop that is ending: that it is finite, or how
    /// it changes.
    pub fn samples_state(&mut self, state: &LoopState) -> bool {
        let measures = self.begin_measure();
        // Numbers that are not finite must not come into a checkpoint.
        let is_time = state.next >= FIRST_SAMPLE && state.next.is_power_of_two();
        let samples = self.nonfinite == Nonfinite::Error && (measures || is_time || self.checkpoint_due());
        if samples {
            let finite = &mut self.finite;
            finite.state = finite.sampled.map(|(step, _)| step).filter(|&step| step < state.next);
            finite.sampled = Some((state.next, state.len));
        }
        samples || measures
    }

    /// Records that an output is about to be checked.
    fn checks_output(&mut self, tag: &str) -> Checked {
        let step = self.progress.current_step();
        let finite = match step {
            None => self.finite.outputs.get(tag).copied(),
            Some((step, _)) => {
                let before = match self.finite.outputs.get_mut(tag) {
                    Some(last) => Some(std::mem::replace(last, step)),
                    None => self.finite.outputs.insert(tag.to_owned(), step),
                };
                before.filter(|&before| before < step)
            }
        };
        Checked { what: CheckedValues::Output(tag.to_owned()), line: self.line, step, finite }
    }

    fn checks_state(&self, name: &str) -> Checked {
        let Finite { state, sampled, .. } = self.finite;
        let sampled = sampled.filter(|_| self.progress.current_step().is_some());
        let finite = match sampled {
            Some(_) => state,
            None => self.finite.sampled.map(|(step, _)| step),
        };
        Checked { what: CheckedValues::State(name.to_owned()), line: self.line, step: sampled, finite }
    }

    /// True if an output is checked now; those of a trial are not.
    fn checks_outputs(&self) -> bool {
        self.nonfinite == Nonfinite::Error && !self.outputs.are_suppressed()
    }

    /// Checks an output of a single number, or of the components of a single Vector.
    pub(super) fn check_output_numbers(&mut self, tag: &str, numbers: &[f64]) -> Result<(), Error> {
        if !self.checks_outputs() {
            return Ok(());
        }
        let checked = self.checks_output(tag);
        let components: Vec<&[f64]> = numbers.chunks(1).collect();
        let Some(found) = FirstNonfinite::first(&components) else { return Ok(()) };
        // Errors of files in the background come first.
        self.wait_for_outputs()?;
        Err(self.not_finite(&NotFinite { checked, found, place: None }))
    }

    /// Checks an output of a collection, given by component in the order of the grid's file.
    pub(super) fn check_output_collection<R: Real>(&mut self, tag: &str, domain: &Domain, components: &[&[R]]) -> Result<(), Error> {
        if !self.checks_outputs() {
            return Ok(());
        }
        let checked = self.checks_output(tag);
        let Some(found) = FirstNonfinite::first(components) else { return Ok(()) };
        self.wait_for_outputs()?;
        let place = ElementLocation::in_file_order(domain, found.position);
        Err(self.not_finite(&NotFinite { checked, found, place }))
    }

    /// A check of an output whose numbers are still being copied, for the thread that writes them.
    /// It does not locate the element: see [`Session::locate_nonfinite`].
    pub(super) fn check_later<R: Real>(
        &mut self,
        tag: &str,
        domain: &Arc<Domain>,
    ) -> impl FnOnce(&[Vec<R>]) -> Result<(), Error> + Send + 'static {
        let checked = self.checks_outputs().then(|| self.checks_output(tag));
        let (domain, found_later) = (Arc::clone(domain), Arc::clone(&self.finite.later));
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
    pub(super) fn has_found_nonfinite(&self) -> bool {
        self.finite.later.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The result of outputs; adds the location of a number that is not finite. Only here is the
    /// grid available, whose geometry may be freed at any time.
    pub(super) fn locate_nonfinite<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        let located = |error: Error| error.at(self.line);
        result.map_err(|error| match self.finite.later.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(not_finite) => self.not_finite(&not_finite),
            None => located(error),
        })
    }

    /// The tables read that are constant outside of their rows.
    pub(crate) fn constant_tables(&self) -> &[ConstantTable] {
        self.inputs.constant_tables()
    }

    /// The error, which names tables that have no numbers beyond their rows.
    fn not_finite(&self, not_finite: &NotFinite) -> Error {
        let error = not_finite.error(&self.grid, !self.program.solves.is_empty());
        match self.inputs.table_with_ends() {
            Some(name) => error.hint(format!(
                "beyond its rows table `{name}` is not a number, as `{name}_outside=error` asks; `{name}_outside=constant` goes on"
            )),
            None => error,
        }
    }

    /// Checks a variable of single numbers, one for a Scalar, as many as dimensions for a Vector;
    /// and measures its change where change ends the loop.
    ///
    /// # Errors
    /// `Simulation`, with the current line, if one is not finite.
    pub fn check_numbers(&mut self, name: &str, numbers: &[f64]) -> Result<(), Error> {
        let components: Vec<&[f64]> = numbers.chunks(1).collect();
        self.measure_change(Measured::Number, &components);
        if self.nonfinite == Nonfinite::Allow {
            return Ok(());
        }
        let Some(found) = FirstNonfinite::first(&components) else { return Ok(()) };
        Err(self.not_finite(&NotFinite { checked: self.checks_state(name), found, place: None }))
    }

    /// Checks a variable that is a collection, given by component, one value per element of a
    /// domain in its own order; and measures its change where change ends the loop.
    ///
    /// # Errors
    /// `Simulation`, with the current line, if a number is not finite: the first one in the order
    /// of the grid's file.
    ///
    /// # Panics
    /// If there is not one value for each element.
    pub fn check_collection<R: Real>(&mut self, name: &str, domain: &Domain, components: &[&[R]]) -> Result<(), Error> {
        self.measure_change(Measured::Collection, components);
        if self.nonfinite == Nonfinite::Allow || FirstNonfinite::first(components).is_none() {
            return Ok(());
        }
        let ordered: Vec<_> = components.iter().map(|component| domain.in_file_order(component)).collect();
        let components: Vec<&[R]> = ordered.iter().map(|component| &component[..]).collect();
        let Some(found) = FirstNonfinite::first(&components) else { return Ok(()) };
        let place = ElementLocation::in_file_order(domain, found.position);
        Err(self.not_finite(&NotFinite { checked: self.checks_state(name), found, place }))
    }
}
