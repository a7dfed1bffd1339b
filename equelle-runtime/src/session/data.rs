//! Inputs and outputs of a run; errors name the line of the statement.

use std::borrow::Cow;
use std::sync::Arc;

use super::Session;
use super::profile::Phase;
use crate::domain::Domain;
use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::grid::NONE;
use crate::input::CollectionInput;
use crate::math::table::Table;
use crate::math::table2::TablePart;
use crate::output::{Field, FieldValues, OutputCounters, Route, Support};
use crate::real::Real;

/// Subsets whose entities are remembered for outputs.
const MAX_SUBSETS: usize = 16;

impl Session {
    /// Parameter `name`, or the default.
    ///
    /// # Errors
    /// See [`Inputs::read_scalar`](crate::input::Inputs::read_scalar).
    pub fn input_scalar(&mut self, name: &str, default: f64) -> Result<f64, Error> {
        let _phase = self.in_phase(Phase::Read);
        self.progress.messages().send_start();
        self.inputs.read_scalar(&self.parameters, name, default).map_err(|e| e.at(self.line))
    }

    /// A collection on a domain; read once per name and domain.
    ///
    /// # Errors
    /// See [`Inputs::collection`](crate::input::Inputs::collection).
    pub fn input_collection(&mut self, name: &str, domain: &Arc<Domain>) -> Result<CollectionInput, Error> {
        let _phase = self.in_phase(Phase::Read);
        let collection = self.inputs.collection(&self.parameters, &self.grid, name, domain).map_err(|e| e.at(self.line));
        self.tell_of_inputs();
        collection
    }

    /// A collection of Vectors on a domain, by component; read once per name and domain.
    ///
    /// # Errors
    /// See [`Inputs::vectors`](crate::input::Inputs::vectors).
    pub fn input_vectors(&mut self, name: &str, domain: &Arc<Domain>) -> Result<Vec<CollectionInput>, Error> {
        let _phase = self.in_phase(Phase::Read);
        let vectors = self.inputs.vectors(&self.parameters, name, domain).map_err(|e| e.at(self.line));
        self.tell_of_inputs();
        vectors
    }

    /// A collection of Bools on a domain; read once per name and domain.
    ///
    /// # Errors
    /// See [`Inputs::bools`](crate::input::Inputs::bools).
    pub fn input_bools(&mut self, name: &str, domain: &Arc<Domain>) -> Result<CollectionInput<bool>, Error> {
        let _phase = self.in_phase(Phase::Read);
        let bools = self.inputs.bools(&self.parameters, name, domain).map_err(|e| e.at(self.line));
        self.tell_of_inputs();
        bools
    }

    /// A domain within another; read once per name and superset.
    ///
    /// # Errors
    /// See [`Inputs::domain`](crate::input::Inputs::domain).
    pub fn input_domain(&mut self, name: &str, within: &Arc<Domain>) -> Result<Arc<Domain>, Error> {
        let _phase = self.in_phase(Phase::Read);
        let domain = self.inputs.domain(&self.parameters, &self.grid, name, within).map_err(|e| e.at(self.line));
        self.tell_of_inputs();
        domain
    }

    /// Shows notes on inputs.
    fn tell_of_inputs(&mut self) {
        for note in self.inputs.take_notes() {
            self.progress.message(&note);
        }
    }

    /// A sequence; read once per name.
    ///
    /// # Errors
    /// See [`Inputs::sequence`](crate::input::Inputs::sequence).
    pub fn input_sequence(&mut self, name: &str) -> Result<Arc<Vec<f64>>, Error> {
        let _phase = self.in_phase(Phase::Read);
        self.inputs.sequence(&self.parameters, name).map_err(|e| e.at(self.line))
    }

    /// A table; read once per name and columns.
    ///
    /// # Errors
    /// See [`Inputs::table`](crate::input::Inputs::table).
    pub fn input_table(&mut self, name: &str, argument: &str, value: &str) -> Result<Arc<Table>, Error> {
        let _phase = self.in_phase(Phase::Read);
        self.inputs.table(&self.parameters, name, argument, value).map_err(|e| e.at(self.line))
    }

    /// A part of a table of two arguments, which is read once per name and columns.
    ///
    /// # Errors
    /// See [`Inputs::table2`](crate::input::Inputs::table2).
    pub fn input_table2(&mut self, name: &str, arguments: [&str; 2], value: &str, part: TablePart) -> Result<Arc<Table>, Error> {
        let _phase = self.in_phase(Phase::Read);
        let table = self.inputs.table2(&self.parameters, name, arguments, value).map_err(|e| e.at(self.line))?;
        Ok(Arc::clone(table.part(part)))
    }

    /// Writes a scalar.
    ///
    /// # Errors
    /// `Simulation` if it is not finite; an error of files in the background. See
    /// [`Outputs::scalar`](crate::output::Outputs::scalar).
    pub fn output_scalar(&mut self, tag: &str, value: f64) -> Result<(), Error> {
        let _phase = self.in_phase(Phase::Outputs);
        self.progress.close_bar();
        self.check_output_numbers(tag, &[value])?;
        self.outputs.scalar(tag, value).map_err(|e| e.at(self.line))
    }

    /// Writes a Bool.
    ///
    /// # Errors
    /// See [`Outputs::bool`](crate::output::Outputs::bool).
    pub fn output_bool(&mut self, tag: &str, value: bool) -> Result<(), Error> {
        let _phase = self.in_phase(Phase::Outputs);
        self.progress.close_bar();
        self.outputs.bool(tag, value).map_err(|e| e.at(self.line))
    }

    /// Writes text.
    ///
    /// # Errors
    /// See [`Outputs::text`](crate::output::Outputs::text).
    pub fn output_text(&mut self, tag: &str, value: &str) -> Result<(), Error> {
        let _phase = self.in_phase(Phase::Outputs);
        self.progress.close_bar();
        self.outputs.text(tag, value).map_err(|e| e.at(self.line))
    }

    /// Writes a vector: as many components as the grid has dimensions.
    ///
    /// # Errors
    /// See [`Outputs::vector`](crate::output::Outputs::vector).
    pub fn output_vector(&mut self, tag: &str, components: &[f64]) -> Result<(), Error> {
        let _phase = self.in_phase(Phase::Outputs);
        self.progress.close_bar();
        self.check_output_numbers(tag, components)?;
        self.outputs.vector(tag, components).map_err(|e| e.at(self.line))
    }

    /// Writes a collection of vectors, by component, one value per element of a domain; in the
    /// order of the grid's file.
    ///
    /// # Errors
    /// See [`Outputs::vectors`](crate::output::Outputs::vectors).
    ///
    /// # Panics
    /// If there is not one value for each element.
    pub fn output_vectors<R: Real>(&mut self, tag: &str, domain: &Arc<Domain>, components: &[&[R]]) -> Result<(), Error> {
        let _phase = self.in_phase(Phase::Outputs);
        let Some(route) = self.route(tag, domain) else { return Ok(()) };
        let ordered: Vec<_> = components.iter().map(|component| domain.in_file_order(component)).collect();
        let slices: Vec<&[R]> = ordered.iter().map(|component| &component[..]).collect();
        self.check_output_collection(tag, domain, &slices)?;
        match route {
            Route::Files => {
                let values = ordered.into_iter().map(Cow::into_owned).collect();
                self.output_field(tag, domain, R::field_values(values))
            }
            Route::Skip | Route::Values => self.outputs.vectors(tag, &slices).map_err(|error| error.at(self.line)),
        }
    }

    /// Writes a collection, one value per element of a domain; in the order of the grid's file.
    ///
    /// # Errors
    /// See [`Outputs::collection`](crate::output::Outputs::collection).
    ///
    /// # Panics
    /// If there is not one value for each element.
    pub fn output_collection<R: Real>(&mut self, tag: &str, domain: &Arc<Domain>, values: &[R]) -> Result<(), Error> {
        let _phase = self.in_phase(Phase::Outputs);
        let Some(route) = self.route(tag, domain) else { return Ok(()) };
        let values = domain.in_file_order(values);
        self.check_output_collection(tag, domain, &[&values])?;
        match route {
            Route::Files => self.output_field(tag, domain, R::field_values(vec![values.into_owned()])),
            Route::Skip | Route::Values => self.outputs.collection(tag, &values).map_err(|error| error.at(self.line)),
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
    pub fn output_bools(&mut self, tag: &str, domain: &Arc<Domain>, values: &[bool]) -> Result<(), Error> {
        let _phase = self.in_phase(Phase::Outputs);
        let Some(route) = self.route(tag, domain) else { return Ok(()) };
        let values = domain.in_file_order(values);
        match route {
            Route::Files => {
                let values = values.iter().map(|&value| u8::from(value)).collect();
                self.output_field(tag, domain, FieldValues::Bool(values))
            }
            Route::Skip | Route::Values => {
                let values: Vec<f64> = values.iter().map(|&value| f64::from(u8::from(value))).collect();
                self.outputs.collection(tag, &values).map_err(|error| error.at(self.line))
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
    pub fn output_entities(&mut self, tag: &str, domain: &Arc<Domain>, kind: EntityKind, entities: &[u32]) -> Result<(), Error> {
        let _phase = self.in_phase(Phase::Outputs);
        let Some(route) = self.route(tag, domain) else { return Ok(()) };
        let entities = domain.in_file_order(entities);
        let index = |entity: u32| (entity != NONE).then(|| self.grid.file_index(kind, entity));
        match route {
            Route::Files => {
                let values = entities.iter().map(|&entity| index(entity).map_or(-1, i64::from)).collect();
                self.output_field(tag, domain, FieldValues::Entity(values))
            }
            Route::Skip | Route::Values => {
                let values: Vec<f64> = entities.iter().map(|&entity| index(entity).map_or(-1.0, f64::from)).collect();
                self.outputs.collection(tag, &values).map_err(|error| error.at(self.line))
            }
        }
    }

    /// True if an output of a collection has no effect now, because it is suppressed or its step is
    /// not written; it is counted then. A back-end asks before it copies values.
    pub fn skips_output(&mut self, tag: &str, elements: usize) -> bool {
        self.outputs.route(tag, elements) == Route::Skip
    }

    /// Destination of a collection; `None` if it is not written.
    fn route(&mut self, tag: &str, domain: &Domain) -> Option<Route> {
        let route = self.outputs.route(tag, domain.len());
        if route == Route::Values {
            self.progress.close_bar();
        }
        (route != Route::Skip).then_some(route)
    }

    /// Writes a collection to files.
    fn output_field(&mut self, tag: &str, domain: &Arc<Domain>, values: FieldValues) -> Result<(), Error> {
        let support = self.support(domain);
        let field = Field { tag: tag.to_owned(), support, values, unit: self.program.output_unit(tag).cloned() };
        let result = self.outputs.write_field(field, self.line);
        self.tell_of_outputs();
        self.locate_nonfinite(result)
    }

    /// The entities of a domain, by index in the grid's file where files need that.
    fn support(&mut self, domain: &Arc<Domain>) -> Support {
        let kind = domain.kind();
        let whole = |n_entities| Support { kind, n_entities, subset: None };
        if !self.outputs.needs_support() {
            return whole(domain.len());
        }
        self.outputs.set_grid(self.grid_of_domains.get_or_insert_with(|| self.grid.without_geometry().shared()));
        let n_entities = self.grid.n_entities(kind).unwrap_or(domain.len());
        if domain.is_all() {
            return whole(n_entities);
        }
        if let Some((_, subset)) = self.subsets.iter().find(|(known, _)| known.as_ptr() == Arc::as_ptr(domain)) {
            return Support { kind, n_entities, subset: Some(Arc::clone(subset)) };
        }
        let elements = domain.in_file_order(domain.elements());
        let subset: Arc<Vec<u32>> = Arc::new(elements.iter().map(|&element| self.grid.file_index(kind, element)).collect());
        // Domains that are gone, and a bound for programs that make new ones.
        self.subsets.retain(|(known, _)| known.strong_count() > 0);
        self.subsets.truncate(MAX_SUBSETS - 1);
        self.subsets.push((Arc::downgrade(domain), Arc::clone(&subset)));
        Support { kind, n_entities, subset: Some(subset) }
    }

    /// True if collections of this size currently go to files, as [`Session::output_later`]
    /// requires.
    pub fn outputs_go_to_files(&self, elements: usize) -> bool {
        self.outputs.go_to_files(elements)
    }

    /// Shows warnings and notes of the outputs.
    pub(super) fn tell_of_outputs(&mut self) {
        for warning in self.outputs.take_warnings() {
            self.progress.warning(&warning);
        }
        for note in self.outputs.take_notes() {
            self.progress.message(&note);
        }
        for audit in self.outputs.take_audits(false) {
            self.progress.event(&audit);
        }
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
    pub fn output_later<R: Real>(
        &mut self,
        tag: &str,
        domain: &Arc<Domain>,
        numbers: impl FnOnce() -> Result<Vec<Vec<R>>, Error> + Send + 'static,
    ) -> Result<(), Error> {
        let _phase = self.in_phase(Phase::Outputs);
        let (line, ordered) = (self.line, Arc::clone(domain));
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
        let result = self.outputs.write_in_background(tag, line, support, self.program.output_unit(tag).cloned(), values);
        self.tell_of_outputs();
        self.locate_nonfinite(result)
    }

    /// Waits until all files of collections so far are written.
    ///
    /// # Errors
    /// Their error, unless it was returned before.
    pub fn wait_for_outputs(&mut self) -> Result<(), Error> {
        let _phase = self.in_phase(Phase::Disk);
        let result = self.outputs.wait_for_outputs();
        self.locate_nonfinite(result)
    }

    /// Waits until all files are written, with those of the current step. Called at every end of a
    /// run: this error is the earlier one.
    ///
    /// # Errors
    /// Their error, unless it was returned before.
    pub fn complete_outputs(&mut self) -> Result<(), Error> {
        let _phase = self.in_phase(Phase::Disk);
        let result = self.outputs.complete();
        self.tell_of_outputs();
        self.locate_nonfinite(result)
    }

    /// State that a continued run needs for its outputs.
    pub fn output_counters(&self) -> OutputCounters {
        self.outputs.counters()
    }

    /// Goes on with the outputs of another run, between two rounds.
    pub fn restore_output_counters(&mut self, counters: OutputCounters) {
        self.outputs.restore_counters(counters);
    }

    /// The error of a failed run, after its outputs are written. An error of those came earlier.
    pub fn ended_by(&mut self, error: Error) -> Error {
        self.complete_outputs().err().filter(|first| first.kind != ErrorKind::Backend).unwrap_or(error)
    }

    /// [`Session::output_collection`], even while outputs are deferred or suppressed: for values
    /// that are no output of the program.
    ///
    /// # Errors
    /// As for [`Session::output_collection`].
    ///
    /// # Panics
    /// As for [`Session::output_collection`].
    pub fn dump_collection<R: Real>(&mut self, tag: &str, domain: &Domain, values: &[R]) -> Result<(), Error> {
        let _phase = self.in_phase(Phase::Outputs);
        self.progress.close_bar();
        let result = self.outputs.collection_at_once(tag, &domain.in_file_order(values)).map_err(|e| e.at(self.line));
        self.tell_of_outputs();
        result
    }

    /// Prints a line among the results on standard output, such as those of `verbose`.
    ///
    /// # Errors
    /// `Io`.
    pub fn print_line(&mut self, text: &str) -> Result<(), Error> {
        self.progress.close_bar();
        self.outputs.line(text).map_err(|e| e.at(self.line))
    }
}
