//! One run of a program: its parameters, grid, domains, inputs, outputs and progress. Every
//! back-end is built on one.

mod checkpoint_state;
mod checkpoints;
mod context;
mod failed_solve;
pub mod finite;
mod fit;
mod forensics;
mod grid_domains;
mod grid_parameters;
pub mod grid_requirements;
mod loops;
mod on_ranks;
mod open;
mod options;
mod parameter_checks;
pub mod placement;
pub mod profile;
mod profiler;
mod rank_report;
mod reading;
mod recovery_states;
mod round_length;
mod solves;
mod state_checks;
mod state_on_ranks;
mod steady_state;
mod summary;
mod totals;
mod writing;

use std::sync::Arc;

use crate::domain::Domain;
use crate::entity::CanonicalSet;
use crate::error::{Error, ErrorKind, OF_CHOICE};
use crate::grid::{GeometryArray, Grid};
use crate::input::Inputs;
use crate::interrupt::Interrupt;
use crate::io::Sink;
use crate::kernel_info::KernelInfo;
use crate::memory::MemoryPlan;
use crate::observer::OnRound;
use crate::output::{Outputs, Records, step_text};
use crate::params::Parameters;
use crate::program::Program;
use crate::ranks::RankContext;
use crate::report::Event;
use crate::run::RunRecord;
use crate::solve_traffic::SolveTraffic;
use crate::threads::Threads;
use checkpoint_state::Checkpoints;
pub use checkpoints::{CheckpointKeeper, STOP};
use context::RunContext;
use finite::FiniteChecks;
pub use fit::MemoryCheck;
pub use grid_domains::{GridDomains, SUPPORTED_SETS};
pub use grid_parameters::{cartesian_cells, grid_for_program, grid_from_parameters};
use loops::Loops;
pub use loops::{CountedRange, LoopControl, LoopState};
pub use on_ranks::SessionRank;
pub use options::Options;
pub use parameter_checks::{check_parameters, is_known, missing_inputs, nearest};
use profile::{KernelTimer, Phase, Profiler};
pub use reading::InputReader;
pub use round_length::{MAX_ROUNDS, RoundLength};
use solves::SolveLog;
pub use solves::SolveReports;
pub use steady_state::{Measured, MeasuredVariable, RoundChange, STOP_WHEN_CHANGE};
pub use writing::OutputWriter;

/// One run of a program. Its parts do one job each; a part that needs others borrows them for the
/// duration of a call, as [`Session::outputs`] shows.
pub struct Session {
    run: RunContext,
    grid: GridDomains,
    inputs: Inputs,
    outputs: Outputs,
    finite: FiniteChecks,
    loops: Loops,
    checkpoints: Checkpoints,
    solves: SolveLog,
    /// The memory that the run plans.
    memory: Option<Arc<MemoryPlan>>,
    /// Called after each round, if somebody follows the run.
    pub(crate) observer: Option<Box<OnRound>>,
    /// Lines with a `? :` whose branches both have `On`.
    choices: Vec<u32>,
    is_finished: bool,
    /// The rank that this is, if the run has several.
    rank: Option<SessionRank>,
}

/// An attempt of a step begins, which ranks may give up.
pub(crate) fn begin_attempt(session: &mut Session) {
    if let Some(rank) = &mut session.rank {
        rank.begin_attempt();
    }
}

/// Drops what ranks have made together in an attempt that they give up.
pub(crate) fn forget_attempt(session: &mut Session) {
    if let Some(rank) = &mut session.rank {
        rank.forget_attempt();
    }
}

impl Session {
    /// The inputs of the program, to be read.
    #[inline]
    pub fn inputs(&mut self) -> InputReader<'_> {
        InputReader { inputs: &mut self.inputs, grid: self.grid.grid(), run: &mut self.run, rank: self.rank.as_mut() }
    }

    /// The outputs of the program, to be written.
    #[inline]
    pub fn outputs(&mut self) -> OutputWriter<'_> {
        let Session { outputs, finite, grid, inputs, run, rank, .. } = self;
        OutputWriter { outputs, finite, grid, inputs, run, rank: rank.as_mut() }
    }

    /// Loops and their rounds.
    #[inline]
    pub fn loops(&mut self) -> LoopControl<'_> {
        LoopControl { loops: &mut self.loops, finite: &mut self.finite, outputs: &mut self.outputs, run: &mut self.run }
    }

    /// Checkpoints, to be written and taken up.
    #[inline]
    pub fn checkpoints(&mut self) -> CheckpointKeeper<'_> {
        let Session { checkpoints, loops, outputs, finite, grid, inputs, run, rank, .. } = self;
        CheckpointKeeper { checkpoints, loops, out: OutputWriter { outputs, finite, grid, inputs, run, rank: rank.as_mut() } }
    }

    /// Reports of solves and of steps that are repeated.
    #[inline]
    pub fn solves(&mut self) -> SolveReports<'_> {
        SolveReports { log: &mut self.solves, run: &mut self.run }
    }

    /// The memory that the run plans.
    pub fn memory(&mut self) -> MemoryCheck<'_> {
        MemoryCheck { plan: &mut self.memory, grid: &mut self.grid, inputs: &mut self.inputs, run: &mut self.run }
    }

    /// The grid with the domains on it.
    pub fn grid_domains(&mut self) -> &mut GridDomains {
        &mut self.grid
    }

    /// The record of this run, for its end; `None` if outputs stay in memory or go nowhere.
    pub fn record(&self) -> Option<RunRecord> {
        self.outputs.record().cloned()
    }

    /// Where files of this run go.
    pub fn sink(&self) -> &Sink {
        &self.run.sink
    }

    /// The program that runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.run.program
    }

    /// The grid.
    pub fn grid(&self) -> &Arc<Grid> {
        self.grid.grid()
    }

    /// The threads of loops.
    pub fn threads(&self) -> &Threads {
        &self.run.threads
    }

    /// Replaces the threads of loops, which the parameter `threads` set; also those that make
    /// arrays of the grid, unless it is shared, and texts of outputs.
    pub fn set_threads(&mut self, threads: Threads) {
        self.outputs.set_threads(&threads);
        self.grid.set_threads(&threads);
        self.run.threads = threads;
    }

    /// All parameters; back-ends may read keys of their own.
    pub fn parameters(&self) -> &Parameters {
        &self.run.parameters
    }

    /// Sets the current Equelle line; errors of this session name it.
    #[inline]
    pub fn line(&mut self, line: u32) {
        self.run.line = line;
        if let Some(rank) = &self.rank {
            rank.context.begin_statement();
        }
    }

    /// The rank that this is, if the run has several.
    #[inline]
    pub fn rank(&self) -> Option<&Arc<RankContext>> {
        self.rank.as_ref().map(|rank| &rank.context)
    }

    /// The current Equelle line.
    pub fn current_line(&self) -> u32 {
        self.run.line
    }

    /// Sets the lines on which both branches of a `? :` have `On`.
    pub fn choices(&mut self, lines: &[u32]) {
        self.choices = lines.to_vec();
    }

    /// Adds a hint to the error that ends the run, if its line has a `? :` with `On`: both branches
    /// are evaluated, so another condition does not help.
    pub fn advise(&self, error: Error) -> Error {
        let choice = error.lines.first().is_some_and(|line| self.choices.contains(line));
        if choice && error.asks_empty_element() { error.hint(OF_CHOICE) } else { error }
    }

    /// Adds the current line to an error that has none.
    pub fn locate(&self, error: Error) -> Error {
        self.run.locate(error)
    }

    /// Warns on a grid with joined sides that the statement on a line reads stored positions of
    /// cells through faces.
    pub fn read_stored_positions(&mut self, line: u32) {
        if self.grid.grid().has_joined_sides() {
            let (file, hint) = (self.run.program.source.file.clone(), "take Centroid(SecondCell(faces)) instead");
            self.warning(&format!(
                "{file}:{line}: stored positions of cells are read through faces, where those beyond joined sides are a length of the grid off: {hint}"
            ));
        }
    }

    /// The shape of a grid that [`grid_requirements::require_cells`] let through.
    ///
    /// # Errors
    /// `Data` where it has none.
    pub fn cartesian_shape(&self) -> Result<&crate::grid::Cartesian, Error> {
        let missing = || Error::new(ErrorKind::Data, "this needs a uniform Cartesian grid");
        self.grid.grid().cartesian_shape().ok_or_else(missing)
    }

    /// Sets what the summary says of precision and rounding.
    #[must_use]
    pub fn in_mode(mut self, mode: &str) -> Session {
        let mode: Arc<str> = mode.into();
        if let Some(record) = self.outputs.record() {
            record.note("mode", &*mode);
        }
        self.run.progress.messages().complete_start(|start| start.mode = Some(Arc::clone(&mode)));
        self.run.mode = Some(mode);
        self
    }

    /// Notes in the record of the run what the user decided of values, instead of the compiler.
    #[must_use]
    pub fn with_storage(self, storage: &str) -> Session {
        if let Some(record) = self.outputs.record() {
            record.note("storage", storage);
        }
        self
    }

    /// Calls a function after each round of a loop of the main program.
    pub fn observe(&mut self, on_round: Box<OnRound>) {
        self.observer = Some(on_round);
    }

    /// Records outputs in memory from now on.
    pub fn record_outputs(&mut self) -> Records {
        let records = Records::default();
        self.record_outputs_in(&records);
        records
    }

    /// The same, in records that the caller has.
    pub fn record_outputs_in(&mut self, records: &Records) {
        self.outputs = self.outputs.in_memory(records.clone());
    }

    /// The interrupt of this run; linear solvers check it between iterations.
    pub fn interrupt(&self) -> &Interrupt {
        &self.run.interrupt
    }

    /// Returns an error if the run is interrupted. Back-ends call it before each round of a loop
    /// and each Newton iteration.
    ///
    /// # Errors
    /// `Interrupted`, with the step.
    pub fn check_interrupt(&mut self) -> Result<(), Error> {
        let Some(signal) = self.run.interrupt.asked() else { return Ok(()) };
        self.run.progress.close_bar();
        let place = self.run.progress.rounds().current_step().map_or_else(String::new, |step| format!(" in {}", step_text(step)));
        let message = format!("interrupted{place} by {}; the outputs so far are complete", signal.name());
        Err(Error::new(ErrorKind::Interrupted(signal), message))
    }

    /// Adds a line to the summary, such as a profile of the back-end.
    pub fn note(&mut self, text: impl Into<String>) {
        self.run.notes.push(text.into());
    }

    /// Sends an event to programs that watch the run; nothing for users.
    pub fn event(&self, event: &Event) {
        self.run.progress.event(event);
    }

    /// Prints a message on standard error, unless quiet.
    pub fn message(&mut self, text: &str) {
        self.run.progress.message(text);
    }

    /// Prints a warning on standard error.
    pub fn warning(&mut self, text: &str) {
        self.run.progress.warning(text);
    }

    /// Frees the geometry of the grid except for these arrays. Cell centroids from a grid file
    /// stay: messages give them. So do positions and normals of faces where inputs are chosen by
    /// them.
    pub fn keep_geometry(&mut self, arrays: &[GeometryArray]) {
        let names = self.run.program.inputs.iter().map(|input| &*input.name);
        self.grid.keep_geometry(arrays, Inputs::needs_geometry(&self.run.parameters, names));
    }

    /// A canonical set; created once.
    ///
    /// # Errors
    /// `Data` for edges and vertices of a grid of arrays without nodes, and where there are too
    /// many for 32-bit indices.
    pub fn domain(&mut self, set: CanonicalSet) -> Result<Arc<Domain>, Error> {
        self.grid.canonical(set, &self.run)
    }

    /// The times of this run, with `--profile`.
    #[inline]
    pub fn profiler(&self) -> Option<&Profiler> {
        self.run.timing.shown()
    }

    /// Begins to measure a call of a kernel over its canonical set. On a Cartesian grid its loop
    /// has this form.
    pub fn time_kernel<'k>(&mut self, info: &KernelInfo<'k>, form: &'static str) -> KernelTimer<'k> {
        // Only a profile needs the number of elements.
        let elements = if self.profiler().is_some() { self.elements_of(info) } else { 0 };
        self.time_kernel_over(info, form, elements)
    }

    /// As [`Session::time_kernel`], over so many elements.
    pub fn time_kernel_over<'k>(&self, info: &KernelInfo<'k>, form: &'static str, elements: usize) -> KernelTimer<'k> {
        self.run.timing.timer(self.grid.grid(), info, form, elements)
    }

    /// Elements of the canonical set of a kernel; 0 without one.
    pub fn elements_of(&mut self, info: &KernelInfo) -> usize {
        // A set that the grid does not have is an error of the kernel, which names its line.
        info.set.and_then(|set| self.domain(set).ok()).map_or(0, |domain| domain.len())
    }

    /// Adds the work of linear solves at an Equelle line; nothing without `--profile`.
    pub fn linear_solve_ended(&self, line: u32, work: SolveTraffic) {
        if let Some(profiler) = self.profiler().filter(|_| work.solves > 0) {
            profiler.solved(line, work);
        }
    }

    /// Opens a device of a back-end, which is a phase of its own.
    pub fn opening_device<T>(&self, open: impl FnOnce() -> T) -> T {
        let _phase = self.run.in_phase(Phase::Device);
        open()
    }
}
