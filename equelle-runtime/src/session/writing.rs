//! Outputs of a run; errors name the line of the statement.

use std::borrow::Cow;
use std::sync::Arc;

use super::context::RunContext;
use super::finite::{self, FiniteChecks};
use super::grid_domains::GridDomains;
use super::on_ranks::{SessionRank, WholeValues};
use super::profile::Phase;
use crate::domain::Domain;
use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::grid::NONE;
use crate::input::Inputs;
use crate::output::{
    Checked, DeferredOutput, ElementLocation, Field, FieldValues, FirstNonfinite, NotFinite, OutputCounters, Outputs, Route, StepTime,
    Support,
};
use crate::real::Real;
use crate::wire::Wire;

/// Values of an output on a run that may have several ranks.
enum Collected<T> {
    /// The run has one rank, and its values.
    Here,
    /// Rank 0 has them.
    Elsewhere,
    /// This rank writes them for all.
    Whole(WholeValues<T>),
}

/// Writes outputs in the order of the grid's file: it checks that they are finite, times that,
/// shows notes, and gives errors their line.
pub struct OutputWriter<'s> {
    pub(super) outputs: &'s mut Outputs,
    pub(super) finite: &'s mut FiniteChecks,
    pub(super) grid: &'s mut GridDomains,
    /// For hints on tables.
    pub(super) inputs: &'s Inputs,
    pub(super) run: &'s mut RunContext,
    pub(super) rank: Option<&'s mut SessionRank>,
}

impl OutputWriter<'_> {
    /// Writes a scalar.
    ///
    /// # Errors
    /// `Simulation` if it is not finite; an error of files in the background. See
    /// [`Outputs::scalar`](crate::output::Outputs::scalar).
    pub fn scalar(&mut self, tag: &str, value: f64) -> Result<(), Error> {
        let _phase = self.run.in_phase(Phase::Outputs);
        self.run.progress.close_bar();
        self.check_numbers(tag, &[value])?;
        self.meet()?;
        self.outputs.scalar(tag, value).map_err(|error| self.run.locate(error))
    }

    /// Writes a Bool.
    ///
    /// # Errors
    /// See [`Outputs::bool`](crate::output::Outputs::bool).
    pub fn bool(&mut self, tag: &str, value: bool) -> Result<(), Error> {
        let _phase = self.run.in_phase(Phase::Outputs);
        self.run.progress.close_bar();
        self.meet()?;
        self.outputs.bool(tag, value).map_err(|error| self.run.locate(error))
    }

    /// Writes text.
    ///
    /// # Errors
    /// See [`Outputs::text`](crate::output::Outputs::text).
    pub fn text(&mut self, tag: &str, value: &str) -> Result<(), Error> {
        let _phase = self.run.in_phase(Phase::Outputs);
        self.run.progress.close_bar();
        self.meet()?;
        self.outputs.text(tag, value).map_err(|error| self.run.locate(error))
    }

    /// Writes a vector: as many components as the grid has dimensions.
    ///
    /// # Errors
    /// See [`Outputs::vector`](crate::output::Outputs::vector).
    pub fn vector(&mut self, tag: &str, components: &[f64]) -> Result<(), Error> {
        let _phase = self.run.in_phase(Phase::Outputs);
        self.run.progress.close_bar();
        self.check_numbers(tag, components)?;
        self.meet()?;
        self.outputs.vector(tag, components).map_err(|error| self.run.locate(error))
    }

    /// Writes a collection of vectors, by component, one value per element of a domain; in the
    /// order of the grid's file.
    ///
    /// # Errors
    /// See [`Outputs::vectors`](crate::output::Outputs::vectors).
    ///
    /// # Panics
    /// If there is not one value for each element.
    pub fn vectors<R: Real>(&mut self, tag: &str, domain: &Arc<Domain>, components: &[&[R]]) -> Result<(), Error> {
        let _phase = self.run.in_phase(Phase::Outputs);
        let Some(route) = self.route(tag, domain)? else { return Ok(()) };
        match self.collected(domain, components)? {
            Collected::Here => self.put_numbers(route, tag, domain, components, Outputs::vectors),
            Collected::Elsewhere => Ok(()),
            Collected::Whole(WholeValues { domain, columns }) => {
                let columns: Vec<&[R]> = columns.iter().map(Vec::as_slice).collect();
                self.put_numbers(route, tag, &domain, &columns, Outputs::vectors)
            }
        }
    }

    /// Writes a collection, one value per element of a domain; in the order of the grid's file.
    ///
    /// # Errors
    /// See [`Outputs::collection`](crate::output::Outputs::collection).
    ///
    /// # Panics
    /// If there is not one value for each element.
    pub fn collection<R: Real>(&mut self, tag: &str, domain: &Arc<Domain>, values: &[R]) -> Result<(), Error> {
        let _phase = self.run.in_phase(Phase::Outputs);
        let Some(route) = self.route(tag, domain)? else { return Ok(()) };
        let put = |outputs: &mut Outputs, tag: &str, columns: &[&[R]]| outputs.collection(tag, columns[0]);
        match self.collected(domain, &[values])? {
            Collected::Here => self.put_numbers(route, tag, domain, &[values], put),
            Collected::Elsewhere => Ok(()),
            Collected::Whole(WholeValues { domain, columns }) => self.put_numbers(route, tag, &domain, &[&columns[0]], put),
        }
    }

    /// Writes numbers of a domain by component.
    fn put_numbers<R: Real>(
        &mut self,
        route: Route,
        tag: &str,
        domain: &Arc<Domain>,
        components: &[&[R]],
        put: impl FnOnce(&mut Outputs, &str, &[&[R]]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let ordered: Vec<_> = components.iter().map(|component| domain.in_file_order(component)).collect();
        let slices: Vec<&[R]> = ordered.iter().map(|component| &component[..]).collect();
        self.check_collection(tag, domain, &slices)?;
        match route {
            Route::Files => {
                let values = ordered.into_iter().map(Cow::into_owned).collect();
                self.output_field(tag, domain, R::field_values(values))
            }
            Route::Skip | Route::Values => put(self.outputs, tag, &slices).map_err(|error| self.run.locate(error)),
        }
    }

    /// Writes a collection of Bools, one value per element of a domain: 1 or 0; in the order of the
    /// grid's file.
    ///
    /// # Errors
    /// See [`Outputs::collection`](crate::output::Outputs::collection).
    ///
    /// # Panics
    /// If there is not one value for each element.
    pub fn bools(&mut self, tag: &str, domain: &Arc<Domain>, values: &[bool]) -> Result<(), Error> {
        let _phase = self.run.in_phase(Phase::Outputs);
        let Some(route) = self.route(tag, domain)? else { return Ok(()) };
        let (domain, values) = match self.collected(domain, &[values])? {
            Collected::Elsewhere => return Ok(()),
            Collected::Here => (Arc::clone(domain), domain.in_file_order(values)),
            Collected::Whole(WholeValues { domain, columns }) => (domain, Cow::Owned(columns.concat())),
        };
        match route {
            Route::Files => {
                let values = values.iter().map(|&value| u8::from(value)).collect();
                self.output_field(tag, &domain, FieldValues::Bool(values))
            }
            Route::Skip | Route::Values => {
                let values: Vec<f64> = values.iter().map(|&value| f64::from(u8::from(value))).collect();
                self.outputs.collection(tag, &values).map_err(|error| self.run.locate(error))
            }
        }
    }

    /// Writes a collection of entities of a kind, one per element of a domain: their indices in the
    /// grid's file, -1 for [`NONE`]; in the order of that file.
    ///
    /// # Errors
    /// See [`Outputs::collection`](crate::output::Outputs::collection).
    ///
    /// # Panics
    /// If there is not one value for each element.
    pub fn entities(&mut self, tag: &str, domain: &Arc<Domain>, kind: EntityKind, entities: &[u32]) -> Result<(), Error> {
        let _phase = self.run.in_phase(Phase::Outputs);
        let Some(route) = self.route(tag, domain)? else { return Ok(()) };
        let in_file = |&entity: &u32| if entity == NONE { NONE } else { self.grid.grid().file_index(kind, entity) };
        let indices: Vec<u32> = entities.iter().map(in_file).collect();
        let (domain, indices) = match self.collected(domain, &[&indices])? {
            Collected::Elsewhere => return Ok(()),
            Collected::Here => (Arc::clone(domain), domain.in_file_order(&indices)),
            Collected::Whole(WholeValues { domain, columns }) => (domain, Cow::Owned(columns.concat())),
        };
        let index = |index: u32| (index != NONE).then_some(index);
        match route {
            Route::Files => {
                let values = indices.iter().map(|&entity| index(entity).map_or(-1, i64::from)).collect();
                self.output_field(tag, &domain, FieldValues::Entity(values))
            }
            Route::Skip | Route::Values => {
                let values: Vec<f64> = indices.iter().map(|&entity| index(entity).map_or(-1.0, f64::from)).collect();
                self.outputs.collection(tag, &values).map_err(|error| self.run.locate(error))
            }
        }
    }

    /// Waits for all ranks before a single value is put out.
    fn meet(&self) -> Result<(), Error> {
        self.rank.as_ref().map_or(Ok(()), |rank| rank.context.meet_at_root())
    }

    /// Values of the whole domain, where this rank writes them.
    fn collected<T: Wire>(&mut self, domain: &Arc<Domain>, components: &[&[T]]) -> Result<Collected<T>, Error> {
        let Some(rank) = &mut self.rank else { return Ok(Collected::Here) };
        Ok(match rank.gather(domain, components, self.run)? {
            Some(whole) => Collected::Whole(whole),
            None => Collected::Elsewhere,
        })
    }

    /// True if an output of a collection has no effect now, because it is suppressed or its step is
    /// not written; it is counted then. A back-end asks before it copies values.
    pub fn skips(&mut self, tag: &str, elements: usize) -> bool {
        self.outputs.route(tag, elements) == Route::Skip
    }

    /// Destination of a collection; `None` if it is not written. Rank 0 decides for all.
    fn route(&mut self, tag: &str, domain: &Arc<Domain>) -> Result<Option<Route>, Error> {
        let elements = match &self.rank {
            Some(rank) => rank.context.whole_len(domain)?,
            None => domain.len(),
        };
        let decides = self.rank.as_ref().is_none_or(|rank| rank.context.is_root());
        let decided = decides.then(|| self.outputs.route(tag, elements));
        let route = match &self.rank {
            Some(rank) => rank.route(decided)?,
            None => decided.unwrap_or(Route::Skip),
        };
        if route == Route::Values {
            self.run.progress.close_bar();
        }
        Ok((route != Route::Skip).then_some(route))
    }

    /// Writes a collection to files.
    fn output_field(&mut self, tag: &str, domain: &Arc<Domain>, values: FieldValues) -> Result<(), Error> {
        let support = self.support(domain);
        let field = Field { tag: tag.to_owned(), support, values, unit: self.run.program.output_unit(tag).cloned() };
        let result = self.outputs.write_field(field, self.run.line);
        self.tell();
        self.located(result)
    }

    /// The entities of a domain, by index in the grid's file where files need that.
    fn support(&mut self, domain: &Arc<Domain>) -> Support {
        if !self.outputs.needs_support() {
            return Support { kind: domain.kind(), n_entities: domain.len(), subset: None };
        }
        let grid = self.rank.as_mut().and_then(|rank| rank.whole_domains()).unwrap_or(self.grid);
        self.outputs.set_grid(grid.without_geometry());
        grid.support(domain)
    }

    /// True if collections of this size currently go to files, as [`OutputWriter::later`]
    /// requires.
    pub fn go_to_files(&self, elements: usize) -> bool {
        self.outputs.go_to_files(elements)
    }

    /// Writes a collection whose numbers are still being copied, one value per element of a domain:
    /// one component for scalars, as many as dimensions for vectors. A thread waits for them and
    /// writes the files, in the order of the grid's file; the run goes on.
    ///
    /// # Errors
    /// `Data` if the tag cannot be part of a file name; an error of earlier such outputs.
    ///
    /// # Panics
    /// If outputs do not go to files now. The thread panics if there is not one number for each
    /// element.
    pub fn later<R: Real>(
        &mut self,
        tag: &str,
        domain: &Arc<Domain>,
        numbers: impl FnOnce() -> Result<Vec<Vec<R>>, Error> + Send + 'static,
    ) -> Result<(), Error> {
        let _phase = self.run.in_phase(Phase::Outputs);
        let (line, ordered) = (self.run.line, Arc::clone(domain));
        let check = self.check_later::<R>(tag, domain);
        let values = move || {
            let components = numbers().map_err(|error| error.at(line))?;
            let components = match ordered.file_order() {
                None => components,
                Some(_) => components.iter().map(|component| ordered.in_file_order(component).into_owned()).collect(),
            };
            check(&components)?;
            Ok(R::field_values(components))
        };
        let support = self.support(domain);
        let result = self.outputs.write_in_background(tag, line, support, self.run.program.output_unit(tag).cloned(), values);
        self.tell();
        self.located(result)
    }

    /// Waits until all files of collections so far are written.
    ///
    /// # Errors
    /// Their error, unless it was returned before.
    pub fn wait(&mut self) -> Result<(), Error> {
        let _phase = self.run.in_phase(Phase::Disk);
        let result = self.outputs.wait_for_outputs();
        self.located(result)
    }

    /// Waits until all files are written, with those of the current step. Called at every end of a
    /// run: this error is the earlier one.
    ///
    /// # Errors
    /// Their error, unless it was returned before.
    pub fn complete(&mut self) -> Result<(), Error> {
        let _phase = self.run.in_phase(Phase::Disk);
        let result = self.outputs.complete();
        self.tell();
        self.located(result)
    }

    /// State that a continued run needs for its outputs.
    pub fn counters(&self) -> OutputCounters {
        self.outputs.counters()
    }

    /// Goes on with the outputs of another run, between two rounds.
    pub fn restore_counters(&mut self, counters: OutputCounters) {
        self.outputs.restore_counters(counters);
    }

    /// The error of a failed run, after its outputs are written. An error of those came earlier.
    pub fn ended_by(&mut self, error: Error) -> Error {
        self.complete().err().filter(|first| first.kind != ErrorKind::Backend).unwrap_or(error)
    }

    /// [`OutputWriter::collection`], even while outputs are deferred or suppressed: for values
    /// that are no output of the program.
    ///
    /// # Errors
    /// As for [`OutputWriter::collection`].
    ///
    /// # Panics
    /// As for [`OutputWriter::collection`].
    pub fn dump<R: Real>(&mut self, tag: &str, domain: &Domain, values: &[R]) -> Result<(), Error> {
        let _phase = self.run.in_phase(Phase::Outputs);
        self.run.progress.close_bar();
        let result = self.outputs.collection_at_once(tag, &domain.in_file_order(values)).map_err(|error| self.run.locate(error));
        self.tell();
        result
    }

    /// Prints a line among the results on standard output, such as those of `verbose`.
    ///
    /// # Errors
    /// `Io`.
    pub fn print_line(&mut self, text: &str) -> Result<(), Error> {
        self.run.progress.close_bar();
        self.outputs.line(text).map_err(|error| self.run.locate(error))
    }

    /// Shows warnings and notes of the outputs.
    pub(super) fn tell(&mut self) {
        self.run.tell_of_outputs(self.outputs);
    }

    /// Step and time of the run.
    pub fn moment(&self) -> StepTime {
        self.outputs.moment()
    }

    /// Suppresses outputs from now on; [`OutputWriter::holds_back`] returns true.
    pub fn begin_trial(&mut self) {
        self.outputs.suppress();
    }

    /// Ends suppression; returns whether a side effect was suppressed.
    pub fn end_trial(&mut self) -> bool {
        self.outputs.end_suppression()
    }

    /// True if a side effect must be suppressed, because a residual is on trial.
    pub fn holds_back(&mut self) -> bool {
        self.outputs.holds_back()
    }

    /// Defers outputs until [`OutputWriter::release`].
    pub fn defer(&mut self) {
        self.outputs.defer();
    }

    /// Takes the deferred outputs.
    pub fn take_deferred(&mut self) -> Vec<DeferredOutput> {
        self.outputs.take_deferred()
    }

    /// Writes deferred outputs and ends deferring.
    ///
    /// # Errors
    /// Those of the outputs.
    pub fn release(&mut self, deferred: Vec<DeferredOutput>) -> Result<(), Error> {
        if !deferred.is_empty() {
            self.run.progress.close_bar();
        }
        let result = self.outputs.release(deferred).map_err(|error| self.run.locate(error));
        self.tell();
        result
    }

    /// The check of an output that comes now; those of a trial have none.
    fn begin_check(&mut self, tag: &str) -> Option<Checked> {
        let is_checked = self.finite.is_required() && !self.outputs.are_suppressed();
        is_checked.then(|| self.finite.begin_output(tag, self.run.line, self.run.progress.rounds().current_step()))
    }

    /// Checks an output of a single number, or of the components of a single Vector.
    fn check_numbers(&mut self, tag: &str, numbers: &[f64]) -> Result<(), Error> {
        let Some(checked) = self.begin_check(tag) else { return Ok(()) };
        let components: Vec<&[f64]> = numbers.chunks(1).collect();
        let Some(found) = FirstNonfinite::first(&components) else { return Ok(()) };
        // Errors of files in the background come first.
        self.wait()?;
        Err(self.not_finite(&NotFinite { checked, found, place: None }))
    }

    /// Checks an output of a collection, given by component in the order of the grid's file.
    fn check_collection<R: Real>(&mut self, tag: &str, domain: &Domain, components: &[&[R]]) -> Result<(), Error> {
        let Some(checked) = self.begin_check(tag) else { return Ok(()) };
        let Some(found) = FirstNonfinite::first(components) else { return Ok(()) };
        self.wait()?;
        let place = ElementLocation::in_file_order(domain, found.position);
        Err(self.not_finite(&NotFinite { checked, found, place }))
    }

    /// A check of an output whose numbers are still being copied, for the thread that writes them.
    /// It does not locate the element: see [`OutputWriter::located`].
    fn check_later<R: Real>(
        &mut self,
        tag: &str,
        domain: &Arc<Domain>,
    ) -> impl FnOnce(&[Vec<R>]) -> Result<(), Error> + Send + 'static + use<R> {
        let checked = self.begin_check(tag);
        self.finite.check_later(checked, domain)
    }

    /// The result of outputs; adds the location of a number that is not finite. Only here is the
    /// grid available, whose geometry may be freed at any time.
    pub(super) fn located<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|error| match self.finite.take_later() {
            Some(not_finite) => self.not_finite(&not_finite),
            None => self.run.locate(error),
        })
    }

    fn not_finite(&self, not_finite: &NotFinite) -> Error {
        let grid = self.rank.as_ref().and_then(|rank| rank.whole_grid()).unwrap_or(self.grid.grid());
        finite::error(not_finite, grid, &self.run.program, self.inputs)
    }
}
