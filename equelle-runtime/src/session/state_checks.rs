//! Checks of the state after rounds: that it is finite, and how it changes.

use std::sync::Arc;

use super::finite::{self, FIRST_SAMPLE, Nonfinite};
use super::steady_state::{Measured, RoundChange};
use super::summary::shown_grid;
use super::{LoopState, Session};
use crate::domain::Domain;
use crate::error::Error;
use crate::output::{ElementLocation, FirstNonfinite, NotFinite};
use crate::real::Real;

impl Session {
    /// True if numbers that are not finite end the run.
    pub fn nonfinite(&self) -> Nonfinite {
        self.finite.policy()
    }

    /// True if state is checked after the round of a loop that is ending: that it is finite, or how
    /// it changes.
    pub fn samples_state(&mut self, state: &LoopState) -> bool {
        let measures = self.loops.steady_state.begin_round();
        // Numbers that are not finite must not come into a checkpoint.
        let is_time = state.round() >= FIRST_SAMPLE && state.round().is_power_of_two();
        let samples = self.finite.is_required() && (measures || is_time || self.checkpoints().is_due());
        if samples {
            self.finite.begin_state((state.round(), state.rounds()));
        }
        samples || measures
    }

    fn state_not_finite(&self, name: &str, found: FirstNonfinite, place: Option<ElementLocation>) -> Error {
        let checked = self.finite.state_check(name, self.run.line, self.run.progress.rounds().current_step().is_some());
        finite::error(&NotFinite { checked, found, place }, shown_grid(self), &self.run.program, &self.inputs)
    }

    /// Checks a variable of single numbers, one for a Scalar, as many as dimensions for a Vector;
    /// and measures its change where change ends the loop.
    ///
    /// # Errors
    /// `Simulation`, with the current line, if one is not finite.
    pub fn check_numbers(&mut self, name: &str, numbers: &[f64]) -> Result<(), Error> {
        let components: Vec<&[f64]> = numbers.chunks(1).collect();
        self.loops.steady_state.measure(Measured::Number, &components);
        if !self.finite.is_required() {
            return Ok(());
        }
        let Some(found) = FirstNonfinite::first(&components) else { return Ok(()) };
        Err(self.state_not_finite(name, found, None))
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
    pub fn check_collection<R: Real>(&mut self, name: &str, domain: &Arc<Domain>, components: &[&[R]]) -> Result<(), Error> {
        if self.rank.is_some() {
            return check_on_ranks(self, name, domain, components);
        }
        self.loops.steady_state.measure(Measured::Collection, components);
        if !self.finite.is_required() || FirstNonfinite::first(components).is_none() {
            return Ok(());
        }
        let ordered: Vec<_> = components.iter().map(|component| domain.in_file_order(component)).collect();
        let components: Vec<&[R]> = ordered.iter().map(|component| &component[..]).collect();
        let Some(found) = FirstNonfinite::first(&components) else { return Ok(()) };
        let place = ElementLocation::in_file_order(domain, found.position);
        Err(self.state_not_finite(name, found, place))
    }
}

/// [`Session::check_collection`] on one of several ranks: rank 0 has the error.
fn check_on_ranks<R: Real>(session: &mut Session, name: &str, domain: &Arc<Domain>, components: &[&[R]]) -> Result<(), Error> {
    let Some(rank) = &mut session.rank else { return Ok(()) };
    // In the halo values may be of an earlier round.
    let own = |values: &&[R]| -> Vec<R> {
        values.iter().enumerate().filter(|(position, _)| domain.is_own(*position)).map(|(_, value)| *value).collect()
    };
    let own: Vec<Vec<R>> = components.iter().map(own).collect();
    let columns: Vec<&[R]> = own.iter().map(Vec::as_slice).collect();
    if let Some(changes) = session.loops.steady_state.changes(&columns) {
        let changes = RoundChange::reduced(&rank.context, &changes)?;
        session.loops.steady_state.record(Measured::Collection, &changes);
    }
    let is_bad = FirstNonfinite::first(&columns).is_some();
    if !session.finite.is_required() || !rank.context.any(is_bad)? {
        return Ok(());
    }
    let Some(whole) = rank.gather(domain, components, &session.run)? else { return Err(rank.context.follow_error()) };
    let columns: Vec<&[R]> = whole.columns.iter().map(Vec::as_slice).collect();
    let Some(found) = FirstNonfinite::first(&columns) else { return Ok(()) };
    let place = ElementLocation::in_file_order(&whole.domain, found.position);
    Err(session.state_not_finite(name, found, place))
}
