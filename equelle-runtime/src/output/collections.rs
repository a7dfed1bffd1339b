//! Collections on their way to files, and the steps that they belong to.

use std::sync::Arc;

use super::background::Order;
use super::field::{Field, FieldValues, Support};
use super::files::check_tag;
use super::record::DeferredOutput;
use super::steps::{FieldOrder, StepEnd};
use super::{LARGE, OpenStep, Outputs, StepTime, Target};
use crate::entity::EntityKind;
use crate::error::Error;
use crate::grid::Grid;
use crate::number::write_shortest;

/// Destination of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Nowhere: it is suppressed, or its step is not written. It has been counted.
    Skip,
    /// To standard output, to memory, or it is deferred to there.
    Values,
    /// To files, deferred or not.
    Files,
}

impl Outputs {
    /// Begins a round of the outermost loop, with the element of its sequence. What was put out
    /// before is complete.
    pub fn begin_round(&mut self, length: f64, is_last: bool) {
        self.end_step();
        self.pass_round();
        self.position.begin_round(length, is_last);
    }

    /// Sets the length of the round, where the program computes it.
    pub fn set_length(&mut self, length: f64) {
        self.position.set_length(length);
    }

    /// Ends the outermost loop. What follows it belongs to its last round.
    pub fn end_loop(&mut self) {
        self.pass_round();
        self.position.round = None;
    }

    fn pass_round(&mut self) {
        if let Some(round) = self.position.scheduled() {
            self.plan.schedule.pass(&round);
        }
    }

    /// The current step and time.
    pub fn moment(&self) -> StepTime {
        self.position.moment()
    }

    /// The grid without its geometry, for files of VTK.
    pub fn set_grid(&mut self, grid: &Arc<Grid>) {
        if self.plan.formats.vtu {
            self.files.grid.get_or_insert_with(|| Arc::clone(grid));
        }
    }

    /// True if files need the entities on which collections are.
    pub fn needs_support(&self) -> bool {
        self.plan.keeps_collections()
    }

    /// Decides where a collection of a tag and size goes. Counts it, if that is nowhere.
    pub fn route(&mut self, tag: &str, elements: usize) -> Route {
        if self.holds_back() || self.is_replay {
            return Route::Skip;
        }
        let is_in_memory = matches!(self.target, Target::Memory { .. });
        let route = match self.has_files_for(elements) {
            true => Route::Files,
            false if is_in_memory => Route::Values,
            false => return Route::Values,
        };
        let is_taken = (is_in_memory || self.plan.takes_collections()) && self.takes_step(!self.counts.contains_key(tag));
        match &mut self.deferred {
            _ if is_taken => return route,
            Some(deferred) => deferred.push(DeferredOutput::Skipped { tag: tag.to_owned() }),
            None => {
                self.count(tag);
            }
        }
        Route::Skip
    }

    /// True if the current step is written: the first of what is put out, what is outside of loops,
    /// and what the schedule takes.
    pub(super) fn takes_step(&self, is_first: bool) -> bool {
        is_first || self.position.scheduled().is_none_or(|round| self.plan.schedule.takes(&round))
    }

    /// Writes a collection to files, or defers that. Requires [`Route::Files`].
    ///
    /// # Errors
    /// `Data` if the tag cannot be part of a file name; `Io` if another run uses the folder; an
    /// error of earlier files.
    pub(crate) fn write_field(&mut self, field: Field, line: u32) -> Result<(), Error> {
        if let Some(deferred) = &mut self.deferred {
            deferred.push(DeferredOutput::File { field, line });
            return Ok(());
        }
        let Field { tag, support, values, unit } = field;
        self.send_field(&tag, line, support, unit, Box::new(move || Ok(values)))
    }

    /// True if collections of this size currently go to files: not to standard output or memory,
    /// and neither deferred nor suppressed.
    pub fn go_to_files(&self, elements: usize) -> bool {
        self.has_files_for(elements) && !self.is_replay && self.deferred.is_none() && self.suppressed.is_none()
    }

    /// Queues the files of a collection whose values are still being copied, in the order of the
    /// domain in the grid's file. Requires [`Outputs::go_to_files`]. Errors name the line.
    ///
    /// # Errors
    /// `Data` if the tag cannot be part of a file name; `Io` if another run uses the folder; an
    /// error of earlier files, whose copies may have failed.
    ///
    /// # Panics
    /// If collections do not go to files.
    pub fn write_in_background(
        &mut self,
        tag: &str,
        line: u32,
        support: Support,
        unit: Option<Arc<str>>,
        values: impl FnOnce() -> Result<FieldValues, Error> + Send + 'static,
    ) -> Result<(), Error> {
        assert!(self.go_to_files(support.len()), "only outputs to files are written in the background");
        self.send_field(tag, line, support, unit, Box::new(values))
    }

    fn send_field(
        &mut self,
        tag: &str,
        line: u32,
        support: Support,
        unit: Option<Arc<str>>,
        values: Box<dyn FnOnce() -> Result<FieldValues, Error> + Send>,
    ) -> Result<(), Error> {
        if let Target::Nowhere { .. } = &self.target {
            check_tag(tag).map_err(|error| error.at(line))?;
            self.count(tag);
            return values().map(drop);
        }
        let Some(record) = self.record_of_files(support.len()).map_err(|error| error.at(line))? else { return Ok(()) };
        let number = self.next_number(&record, tag).map_err(|error| error.at(line))?;
        if let Some(step) = self.open_step(tag, Some(support.kind)) {
            (step.has_collections, step.line) = (true, line);
        }
        let grid = self.files.grid.clone();
        let order = FieldOrder { tag: tag.to_owned(), grid, number, line, moment: self.position.moment(), support, unit, values };
        self.send(Order::Field(order), true)
    }

    fn send(&mut self, order: Order, reports: bool) -> Result<(), Error> {
        let Target::Streams { record, .. } = &self.target else { return Ok(()) };
        self.files.add(order, reports, record, self.plan.formats, self.rows.threads())
    }

    /// The open step, with formats that write steps. A tag that comes again on the same kind of
    /// entities begins another one.
    fn open_step(&mut self, tag: &str, entities: Option<EntityKind>) -> Option<&mut OpenStep> {
        if !self.plan.formats.has_step_files() || !matches!(self.target, Target::Streams { .. }) {
            return None;
        }
        let name = (tag.to_owned(), entities);
        if self.step.as_ref().is_some_and(|step| step.tags.contains(&name)) {
            self.end_step();
        }
        let step = self.step.get_or_insert_default();
        step.tags.insert(name);
        Some(step)
    }

    /// Keeps a single number for the files of the step.
    pub(super) fn note_number(&mut self, tag: &str, numbers: impl FnOnce() -> Vec<(String, f64)>) {
        if let Some(step) = self.open_step(tag, None) {
            step.scalars.extend(numbers());
        }
    }

    /// True if what a step has put out so far goes to files.
    pub(super) fn is_written(&self, step: &OpenStep) -> bool {
        // The first one is that of a run that goes on, too.
        step.has_collections || self.takes_step(self.written_steps == 0)
    }

    /// Ends the step that has the outputs since the last one, if there are any.
    pub(super) fn end_step(&mut self) {
        let Some(open) = self.step.take() else { return };
        if !self.is_written(&open) {
            return;
        }
        let OpenStep { scalars, line, .. } = open;
        let step = self.position.step;
        if let Some(tag) = self.position.missing_time() {
            let numbers: Vec<&str> = scalars.iter().map(|(tag, _)| tag.as_str()).collect();
            let numbers = if numbers.is_empty() { String::new() } else { format!(" but {}", numbers.join(", ")) };
            self.warnings
                .push(format!("time_from={tag}: step {step} puts out no Scalar `{tag}`{numbers}; its time is the sum of the sequence"));
        }
        self.written_steps += 1;
        // An error of the thread is that of the next file, or of the end.
        let _ = self.send(Order::EndStep(StepEnd { line, moment: self.position.moment(), scalars }), false);
    }

    /// Waits until all files of collections are written.
    ///
    /// # Errors
    /// Their error, unless it was returned before.
    pub fn wait_for_outputs(&mut self) -> Result<(), Error> {
        self.files.writer.wait(false)
    }

    /// At the end of a run, or before it is continued from here: what was put out is complete, and
    /// all files are written.
    ///
    /// # Errors
    /// Their error, unless it was returned before.
    pub fn complete(&mut self) -> Result<(), Error> {
        self.end_step();
        self.files.writer.wait(true)
    }

    /// Warnings at the end of a run that finished: what the parameters ask for and did not happen.
    pub fn end_warnings(&mut self) -> Vec<String> {
        let mut warnings = std::mem::take(&mut self.warnings);
        if matches!(self.target, Target::Nowhere { .. }) {
            return warnings;
        }
        let number = |value: f64| {
            let mut text = String::new();
            write_shortest(&mut text, value);
            text
        };
        let left: Vec<String> = self.plan.schedule.left().iter().map(|&time| number(time)).collect();
        let end = self.plan.time_from.as_ref().map_or(Some(self.position.sum), |_| self.position.known_time());
        if !left.is_empty() {
            let end = end.map_or_else(String::new, |end| format!(", the time {}", number(end)));
            warnings.push(format!("output_times: the run ended before {}{end}", left.join(", ")));
        }
        let is_in_memory = matches!(self.target, Target::Memory { .. });
        if !is_in_memory && !self.plan.schedule.is_all() && !self.files.writer.has_started() && self.files.continues_after.is_none() {
            warnings.push(format!(
                "output_every and output_times have no effect: nothing went to a file; collections of up to {LARGE} elements are printed unless output_format is given"
            ));
        }
        warnings
    }
}

impl Drop for Outputs {
    /// A run that fails leaves what it has put out.
    fn drop(&mut self) {
        self.end_step();
    }
}
