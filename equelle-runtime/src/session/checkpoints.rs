//! Checkpoints of a run, and the checkpoint from which it goes on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checkpoint_state::{Checkpoints, Stop, checkpoints_in};
use super::loops::{LoopState, Loops};
use super::placement::ComputeDevice;
use super::recovery_states::RoundState;
use super::writing::OutputWriter;
use crate::checkpoint::header::{Header, RunIdentity};
use crate::checkpoint::policy::KEPT;
use crate::checkpoint::read::{Domains, Restart, position_of};
use crate::checkpoint::{SavedKind, SavedValue, file_name, grid_hash, write};
use crate::domain::Domain;
use crate::entity::{CanonicalSet, EntityKind};
use crate::error::{Error, ErrorKind};
use crate::grid::Grid;
use crate::handover::Handover;
use crate::interrupt::Signal;
use crate::output::step_text;
use crate::report::event::Event;

/// Name of the file in the output folder that ends a run with a checkpoint.
pub const STOP: &str = "STOP";

/// Seconds of a copy of the smallest state by the host.
const READ_ON_HOST: f64 = 1e-6;

/// The same where a GPU repeats rounds as a graph: it waits, and captures its graphs again.
const READ_BETWEEN_GRAPHS: f64 = 1e-3;

/// Saves the state of a run after rounds, writes checkpoints of it, and takes up the one from which
/// the run goes on.
pub struct CheckpointKeeper<'s> {
    pub(super) checkpoints: &'s mut Checkpoints,
    pub(super) loops: &'s Loops,
    /// Outputs come before the checkpoint that counts them.
    pub(super) out: OutputWriter<'s>,
}

impl CheckpointKeeper<'_> {
    /// Identity of the run, which must be the same where it goes on.
    fn identity(&mut self) -> RunIdentity {
        let grid = self.out.rank.as_ref().and_then(|rank| rank.whole_grid()).unwrap_or(self.out.grid.grid());
        let grid_hash = *self.checkpoints.grid_hash.get_or_insert_with(|| grid_hash::of(grid));
        RunIdentity {
            program: self.out.run.program.name.to_string(),
            text: self.out.run.program.source.hash(),
            mode: self.out.run.mode.as_deref().unwrap_or_default().to_owned(),
            grid: numbers_of(grid),
            grid_hash: format!("{grid_hash:016x}"),
        }
    }

    /// True if the run goes on in loop `number` or a later one.
    pub(crate) fn skips_to(&self, number: u32) -> bool {
        self.checkpoints.restart.as_ref().is_some_and(|restart| restart.header.loop_number >= number)
    }

    /// If the run goes on in this loop, the rounds of it that are done. From here on the run is as
    /// after the checkpoint; its state is given by [`CheckpointKeeper::restored`].
    ///
    /// # Errors
    /// `Data` if the checkpoint belongs to another program, grid or other inputs, or if the
    /// sequence of the loop differs in the rounds that are done.
    pub(crate) fn resumes(&mut self, number: u32, state: &mut LoopState) -> Result<Option<usize>, Error> {
        self.defer_interrupts();
        if self.checkpoints.restart.as_ref().is_none_or(|restart| restart.header.loop_number != number) {
            return Ok(None);
        }
        let Some(restart) = self.checkpoints.restart.take() else { return Ok(None) };
        self.check_restart(&restart)?;
        let header = &restart.header;
        for ((name, domain), hash) in self.out.inputs.hashes(&self.out.run.parameters, &self.out.run.program)? {
            if header.inputs.get(&(name.clone(), domain)).is_some_and(|saved| *saved != hash) {
                self.differs(&restart, &format!("input `{name}` has changed since"))?;
            }
        }
        let rounds = usize::try_from(header.round).unwrap_or(usize::MAX);
        if let Some(len) = state.rounds().filter(|len| rounds > *len) {
            return Err(restart.refuse(&format!("{rounds} rounds of its loop are done, and the loop of this run has {len}")));
        }
        if let (Some(saved), Some(own)) = (&header.sequence, hash_of_rounds(self.loops.outer.as_deref(), rounds))
            && *saved != own
        {
            self.differs(&restart, &format!("the sequence of its loop differs in the first {rounds} elements"))?;
        }
        state.resume(rounds);
        self.out.run.progress.skip(rounds, header.counters.step as usize);
        self.out.outputs.resume(header.counters.clone(), header.step_files);
        let from = match self.checkpoints.is_taken_over {
            true => "as a built program".to_owned(),
            false => format!("from {}", restart.path().display()),
        };
        let message = format!("goes on after step {} {from}", header.counters.step);
        self.out.run.progress.message(&message);
        self.checkpoints.policy.written();
        // A run that was killed may have left one too many.
        if let Some(dir) = self.out.outputs.dir() {
            remove_others(&dir, &self.out.run.program.name, header.counters.step);
        }
        self.checkpoints.inputs_before.clone_from(&restart.header.inputs);
        self.checkpoints.resumed = Some(restart);
        Ok(Some(rounds))
    }

    /// Checks, once, that a checkpoint belongs to this program and grid.
    fn check_restart(&mut self, restart: &Restart) -> Result<(), Error> {
        let has_grid = self.out.rank.as_ref().is_none_or(|rank| rank.context.is_root());
        if std::mem::replace(&mut self.checkpoints.is_checked, true) || !has_grid {
            return Ok(());
        }
        let identity = self.identity();
        match restart.difference(&identity) {
            None => Ok(()),
            Some(difference) => self.differs(restart, &difference),
        }
    }

    /// A difference between the run and its checkpoint: an error, or a warning with
    /// `restart_anyway=yes`.
    fn differs(&mut self, restart: &Restart, what: &str) -> Result<(), Error> {
        let error = restart.refuse(what);
        if !self.checkpoints.anyway {
            return Err(error.hint("restart_anyway=yes goes on if the names and sizes of the state fit"));
        }
        self.out.run.progress.warning(&error.message);
        Ok(())
    }

    /// A part of the state of the checkpoint from which the run goes on.
    ///
    /// # Errors
    /// `Data` if there is none of this name and kind, or it does not fit; also for numbers that are
    /// not finite, unless `nonfinite=allow` is given.
    pub(crate) fn restored(&mut self, name: &str, kind: SavedKind) -> Result<SavedValue, Error> {
        let is_resumed = self.checkpoints.resumed.is_some();
        let restart = if is_resumed { self.checkpoints.resumed.take() } else { self.checkpoints.restart.take() };
        let Some(mut restart) = restart else { return Err(Error::internal("there is no checkpoint to go on from")) };
        self.check_restart(&restart)?;
        let value = self.taken(&mut restart, name, kind);
        *(if is_resumed { &mut self.checkpoints.resumed } else { &mut self.checkpoints.restart }) = Some(restart);
        value
    }

    /// A part of the state of a checkpoint, on ranks that of the elements here.
    fn taken(&mut self, restart: &mut Restart, name: &str, kind: SavedKind) -> Result<SavedValue, Error> {
        if self.out.rank.is_some() {
            return self.taken_on_ranks(restart, name, kind);
        }
        let value = restart.take(name, kind, self.out.grid.grid().dim(), &mut self.out)?;
        self.check_finite(restart, name, value)
    }

    /// Checks that a part of the state of a checkpoint is finite.
    pub(super) fn check_finite(&self, restart: &Restart, name: &str, value: SavedValue) -> Result<SavedValue, Error> {
        if self.out.finite.is_required() && !self.checkpoints.is_taken_over && !value.is_finite() {
            return Err(restart.refuse(&format!("`{name}` is not finite")).hint("nonfinite=allow goes on with such numbers"));
        }
        Ok(value)
    }

    /// True if a run that is stopped writes a checkpoint: if it writes some anyway, or files.
    pub(super) fn ends_with_checkpoint(&self) -> bool {
        self.out.outputs.record().is_some() && (self.checkpoints.policy.is_asked() || self.out.outputs.dir().is_some())
    }

    /// Signals end the run after the round of a loop if there is a checkpoint, else before. True if
    /// there is.
    fn defer_interrupts(&mut self) -> bool {
        let defers = self.ends_with_checkpoint();
        self.out.run.interrupt.defer(defers);
        defers
    }

    /// True if a checkpoint is due at the end of a round. The same whenever it is asked in one
    /// round.
    pub(crate) fn is_due(&mut self) -> bool {
        let step = self.out.outputs.moment().step;
        if let Some((decided, due)) = self.checkpoints.decided
            && decided == step
        {
            return due;
        }
        // All that has been restored is in use by now.
        self.checkpoints.resumed = None;
        let due = match &mut self.out.rank {
            Some(rank) => {
                rank.restored.clear();
                self.is_due_on_ranks(step)
            }
            None => self.decides(step),
        };
        self.checkpoints.decided = Some((step, due));
        due
    }

    /// True if a checkpoint is due, as this process sees it.
    pub(super) fn decides(&mut self, step: u64) -> bool {
        if self.defer_interrupts() {
            self.checkpoints.stop = self.out.run.interrupt.signal().map(Stop::Signal).or_else(|| self.finds_stop().then_some(Stop::File));
        }
        let is_time = self.checkpoints.policy.is_time(step);
        // A round that the user wants a checkpoint of is none to hand over after.
        if self.checkpoints.stop.is_none() && !is_time && self.checkpoints.handover.as_ref().is_some_and(Handover::is_asked) {
            self.checkpoints.stop = Some(Stop::Handover);
        }
        self.checkpoints.stop.is_some() || is_time
    }

    /// True if the state is kept at the end of this round, written or not: a later one may fail.
    pub(crate) fn keeps_state(&mut self) -> bool {
        if !self.checkpoints.kept.is_time() {
            return false;
        }
        let keeps = self.leaves_failure();
        if !keeps {
            self.checkpoints.kept.wait(READ_ON_HOST);
        }
        keeps
    }

    fn finds_stop(&mut self) -> bool {
        self.checkpoints.policy.looks_for_stop() && self.stop_file().is_some_and(|path| path.exists())
    }

    fn stop_file(&self) -> Option<PathBuf> {
        Some(self.out.outputs.record()?.dir_of_files().join(STOP))
    }

    /// Saves a part of the state for [`CheckpointKeeper::write`].
    ///
    /// # Errors
    /// `Simulation` if it is not finite, unless `nonfinite=allow` is given; `Backend` if another
    /// rank has ended.
    pub(crate) fn save(&mut self, name: &str, value: SavedValue) -> Result<(), Error> {
        if let Some(error) = self.checkpoints.lost.take() {
            return Err(error);
        }
        let value = match &mut self.out.rank {
            Some(rank) => match rank.whole_state(value, self.out.grid.grid(), self.out.run)? {
                Some(value) => value,
                None => return Ok(()),
            },
            None => value,
        };
        // A run that is handed over ends as it would have ended.
        let is_written = self.checkpoints.decided.is_some_and(|(_, due)| due) && self.checkpoints.stop != Some(Stop::Handover);
        if is_written && self.out.finite.is_required() && !value.is_finite() {
            let step = self.out.outputs.moment().step;
            let message = format!("variable `{name}` is not finite after step {step}, and so there is no checkpoint");
            return Err(Error::new(ErrorKind::Simulation, message).at(self.out.run.line).hint("nonfinite=allow goes on with such numbers"));
        }
        self.checkpoints.saved.push((name.to_owned(), value));
        Ok(())
    }

    /// Takes the values that have been saved as the state after a round of a loop.
    fn saved_state(&mut self, loop_number: u32, state: &LoopState) -> RoundState {
        let saved = std::mem::take(&mut self.checkpoints.saved);
        let (step, counters, sequence) = (self.out.outputs.moment().step, self.out.outputs.counters(), self.loops.outer.clone());
        RoundState { loop_number, round: state.round(), step, counters, saved, sequence }
    }

    /// Keeps what has been saved.
    pub(crate) fn keep(&mut self, loop_number: u32, state: &LoopState) {
        let state = self.saved_state(loop_number, state);
        self.keep_good(state);
    }

    fn keep_good(&mut self, state: RoundState) {
        // A state after an output that is not finite is not the last good one.
        if !self.out.finite.has_found_later() {
            let repeats_rounds = self.out.run.program.solves.is_empty() && self.out.run.device == Some(ComputeDevice::Gpu);
            self.checkpoints.kept.keep(state, if repeats_rounds { READ_BETWEEN_GRAPHS } else { READ_ON_HOST });
        }
    }

    /// The header of a checkpoint of a state, without what [`write::write`] fills in.
    pub(super) fn header_of(&mut self, kept: &RoundState) -> Result<Header, Error> {
        // Inputs that only skipped parts of the program read must not change either.
        let mut inputs = self.checkpoints.inputs_before.clone();
        inputs.extend(self.out.inputs.hashes(&self.out.run.parameters, &self.out.run.program)?);
        Ok(Header {
            origin: self.identity(),
            loop_number: kept.loop_number,
            round: kept.round as u64,
            counters: kept.counters.clone(),
            step_files: self.out.outputs.record().map_or(0, |record| record.n_step_files(kept.step)),
            sequence: hash_of_rounds(kept.sequence.as_deref(), kept.round),
            inputs,
            domains: Vec::new(),
            state: std::collections::BTreeMap::new(),
        })
    }

    /// Writes a checkpoint of what has been saved, after all outputs so far.
    ///
    /// # Errors
    /// `Io`; that of an output in the background; `Interrupted` if the run ends here.
    pub(crate) fn write(&mut self, number: u32, state: &LoopState) -> Result<(), Error> {
        if let Some(error) = self.checkpoints.lost.take() {
            return Err(error);
        }
        let completed = self.out.outputs.complete();
        self.out.tell();
        self.out.located(completed)?;
        let kept = self.saved_state(number, state);
        if let (Some(Stop::Handover), Some(handover)) = (self.checkpoints.stop, self.checkpoints.handover.clone()) {
            return self.hand_over(&handover, &kept);
        }
        let Some(record) = self.out.outputs.record().cloned() else {
            self.checkpoints.policy.written();
            return Ok(());
        };
        if let Some(warning) = record.open()? {
            self.out.run.progress.warning(&warning);
        }
        let moment = self.out.outputs.moment();
        let header = self.header_of(&kept)?;
        let path = record.dir_of_files().join(file_name(&self.out.run.program.name, moment.step));
        let published = record.temporary().and_then(|file| write::write(file, header, &kept.saved)?.finish()?.publish(&path));
        published.map_err(|error| Error::cannot_write(&format!("checkpoint `{}`", path.display()), &error))?;
        if self.leaves_failure() {
            self.keep_good(kept);
        }
        self.checkpoints.policy.written();
        let file = file_name(&self.out.run.program.name, moment.step);
        self.out.run.progress.event(&Event::Checkpoint { step: moment.step, time: moment.time, file });
        remove_others(&record.dir_of_files(), &self.out.run.program.name, moment.step);
        self.end_of_stop(&path)
    }

    /// Writes the state for the program that goes on, and ends the run.
    fn hand_over(&mut self, handover: &Handover, kept: &RoundState) -> Result<(), Error> {
        let header = self.header_of(kept)?;
        if let Err(error) = handover.write(|out| write::write(out, header, &kept.saved).map(drop)) {
            // The run goes on as it is.
            (self.checkpoints.handover, self.checkpoints.stop) = (None, None);
            self.out
                .run
                .progress
                .warning(&format!("cannot go on with the built program: cannot write `{}`: {error}", handover.file().display()));
            return Ok(());
        }
        self.out.run.progress.close_bar();
        Err(Error::new(ErrorKind::HandedOver, format!("the state after {} is handed over", step_text((kept.step as usize, None)))))
    }

    /// The end of a run that was stopped.
    fn end_of_stop(&mut self, checkpoint: &Path) -> Result<(), Error> {
        let Some(stop) = self.checkpoints.stop else { return Ok(()) };
        self.out.run.progress.close_bar();
        let (by, signal) = match stop {
            Stop::Signal(signal) => (signal.name().to_owned(), signal),
            Stop::File => {
                let path = self.stop_file().unwrap_or_default();
                // The next run must not stop for it.
                let _ = std::fs::remove_file(&path);
                (format!("the file `{}`", path.display()), Signal::Terminate)
            }
            // Such a run has ended before.
            Stop::Handover => return Ok(()),
        };
        let place = self.out.run.progress.rounds().current_step().map_or_else(String::new, |step| format!(" after {}", step_text(step)));
        let state = format!("`{}` has the state", checkpoint.display());
        let message = format!("interrupted{place} by {by}; the outputs so far are complete; {state}");
        Err(Error::new(ErrorKind::Interrupted(signal), message).hint("restart=latest goes on from there"))
    }
}

/// Hash of the first elements of the sequence of a loop; `None` if they are not known here.
fn hash_of_rounds(sequence: Option<&Vec<f64>>, rounds: usize) -> Option<String> {
    let done = sequence?.get(..rounds)?;
    Some(format!("{:016x}", grid_hash::hash_numbers(done.iter().copied())))
}

/// `[dimension, cells, faces]`
fn numbers_of(grid: &Grid) -> [u64; 3] {
    [grid.dim() as u64, grid.n_cells() as u64, grid.n_faces() as u64]
}

impl Domains for OutputWriter<'_> {
    fn canonical(&mut self, set: CanonicalSet) -> Result<Arc<Domain>, Error> {
        self.grid.canonical(set, self.run)
    }

    fn known(&self, name: &str, kind: EntityKind, elements: &[u32]) -> Option<Arc<Domain>> {
        let all: Vec<Arc<Domain>> = self.inputs.domains().cloned().chain(self.grid.all_filtered()).collect();
        position_of(all.iter().map(Some), name, kind, elements).map(|position| Arc::clone(&all[position]))
    }
}

/// Removes the checkpoints of a program in its output folder after the one of a step, and all but
/// the last [`KEPT`] up to it.
fn remove_others(dir: &Path, program: &str, step: u64) {
    let (kept, later): (Vec<_>, Vec<_>) = checkpoints_in(dir, program).into_iter().partition(|(other, _)| *other <= step);
    for (_, path) in later.iter().chain(kept.iter().rev().skip(KEPT)) {
        // One that stays is an older state, or is replaced by that of this run.
        let _ = std::fs::remove_file(path);
    }
}
