//! One run of a program: its parameters, grid, domains, inputs, outputs and progress. Every
//! back-end is built on one.

mod checkpoint_state;
mod checkpoints;
mod data;
mod effects;
mod failed_solve;
pub mod finite;
mod fit;
mod forensics;
mod grid_parameters;
mod parameter_checks;
pub mod placement;
pub mod profile;
mod profiler;
mod recovery_states;
mod round_length;
mod rounds;
mod solves;
mod steady_state;
mod summary;
mod totals;

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::domain::Domain;
use crate::entity::{CanonicalSet, EntityKind, Extent};
use crate::error::{Error, ErrorKind, OF_CHOICE};
use crate::grid::{FaceOrder, GeometryArray, Grid, Renumber};
use crate::handover::{Handover, Pace};
use crate::input::Inputs;
use crate::interrupt::Interrupt;
use crate::io::Sink;
use crate::memory::MemoryPlan;
use crate::newton::{Range, timestep_cuts};
use crate::observer::OnRound;
use crate::output::{Nonfinite, Outputs, Records, StepTime, output_dir, step_text};
use crate::params::Parameters;
use crate::program::Program;
use crate::report::{Event, Listener, MessageFormat, Messages, Progress, ProgressStyle};
use crate::run::{self, RunRecord};
use crate::threads::Threads;
pub use grid_parameters::{cartesian_cells, grid_for_program, grid_from_parameters};
pub use parameter_checks::{check_parameters, is_known, missing_inputs, nearest};
use profiler::{Phase, Profiler};
pub use round_length::{MAX_ROUNDS, RoundLength};
pub use rounds::CountedRange;
pub use steady_state::{Measured, MeasuredVariable, RoundChange, STOP_WHEN_CHANGE};
use totals::{Rescues, Totals};

/// Options of a session's messages and streams.
pub struct Options {
    /// No progress, no summary.
    pub quiet: bool,
    /// Collect and print timings of kernels.
    pub profile: bool,
    /// Time that a driver took to compile the program; `--profile` shows it.
    pub compiled_in: Duration,
    /// Print a table of each solve of Newton's method.
    pub verbose: bool,
    /// How progress, warnings and the summary are written.
    pub format: MessageFormat,
    /// Where results go.
    pub stdout: Box<dyn Write + Send>,
    /// Where progress, warnings and the summary go.
    pub stderr: Box<dyn Write + Send>,
    /// How progress is shown unless `quiet`.
    pub progress: ProgressStyle,
    /// The source of interrupts.
    pub interrupt: Interrupt,
    /// Name of the back-end, for the record of the run.
    pub back_end: &'static str,
    /// Where output files and the record of the run go.
    pub sink: Sink,
    /// Told how long the loop that runs will take.
    pub pace: Option<Pace>,
    /// Called with each event of the run.
    pub listener: Option<Listener>,
    /// Ends the run for another program to go on.
    pub handover: Option<Handover>,
    /// The file of a run that was handed over to this one, which goes on. It is removed.
    pub take_over: Option<PathBuf>,
}

impl Default for Options {
    /// Standard streams; a progress bar on a terminal, lines elsewhere.
    fn default() -> Self {
        let progress = if std::io::stderr().is_terminal() { ProgressStyle::Bar } else { ProgressStyle::Lines };
        let (stdout, stderr) = (Box::new(std::io::stdout()), Box::new(std::io::stderr()));
        Options { quiet: false, stdout, stderr, progress, ..Options::silent() }
    }
}

impl Options {
    /// Without any output; for tests and embedding, with [`Session::record_outputs`].
    pub fn silent() -> Self {
        Options {
            quiet: true,
            profile: false,
            compiled_in: Duration::ZERO,
            verbose: false,
            format: MessageFormat::Human,
            stdout: Box::new(std::io::sink()),
            stderr: Box::new(std::io::sink()),
            progress: ProgressStyle::Quiet,
            interrupt: Interrupt::default(),
            back_end: "",
            sink: Sink::Files,
            pace: None,
            listener: None,
            handover: None,
            take_over: None,
        }
    }
}

/// One run of a program.
pub struct Session {
    program: Arc<Program>,
    parameters: Parameters,
    grid: Arc<Grid>,
    /// The grid without geometry for domains, so that geometry can be freed.
    grid_of_domains: Option<Arc<Grid>>,
    threads: Threads,
    renumber: Renumber,
    domains: Vec<(CanonicalSet, Arc<Domain>)>,
    inputs: Inputs,
    outputs: Outputs,
    /// Called after each round, if somebody follows the run.
    pub(crate) observer: Option<Box<OnRound>>,
    /// Entities of the subsets that were put out, by index in the grid's file.
    subsets: Vec<(Weak<Domain>, Arc<Vec<u32>>)>,
    checkpoints: checkpoint_state::Checkpoints,
    sink: Sink,
    nonfinite: Nonfinite,
    finite: finite::Finite,
    progress: Progress,
    interrupt: Interrupt,
    line: u32,
    /// Lines with a `? :` whose branches both have `On`.
    choices: Vec<u32>,
    memory: Option<Arc<MemoryPlan>>,
    profile: Option<profile::Profiler>,
    /// True if `--profile` was given; for a log of events alone only phases and loops are timed.
    shows_profile: bool,
    verbose: bool,
    /// By Equelle line.
    solves: BTreeMap<u32, Totals>,
    rescues: Rescues,
    /// By Equelle line.
    ranges: BTreeMap<u32, Vec<Range>>,
    /// Number of dumped failures of solves.
    failures: usize,
    /// The last solve that failed, where a folder for it may be written.
    failed_solve: Option<failed_solve::FailedSolve>,
    notes: Vec<String>,
    /// Precision and rounding of numbers, if not the default.
    mode: Option<Arc<str>>,
    /// The device of the back-end, if known.
    place: Option<placement::ComputeDevice>,
    /// The sequence of the outermost loop, and the position of the run in it.
    outer: Option<Arc<Vec<f64>>>,
    finished: bool,
    /// Time that a round of the outermost loop adds to that of outputs.
    outer_length: RoundLength,
    /// The part of a computed step that a round takes.
    step_scale: f64,
    /// The last computed step, before that.
    last_step: f64,
    /// True if a computed step was negative.
    has_gone_back: bool,
    /// Most rounds of a loop that a condition ends.
    max_rounds: usize,
    steady_state: steady_state::SteadyState,
}

/// The position of a loop over a sequence.
#[derive(Clone, Copy, Debug)]
pub struct LoopState {
    next: usize,
    /// The number of its rounds; `None` where a condition decides.
    len: Option<usize>,
    over: bool,
    /// It goes on after rounds of an earlier run: the round before the next one is not over.
    resumed: bool,
}

impl LoopState {
    /// True if no round is left.
    pub fn is_at_end(&self) -> bool {
        self.len == Some(self.next)
    }
}

impl Session {
    /// Opens a run on standard streams from command-line words (parameter files and `key=value`).
    ///
    /// # Errors
    /// Those of [`Parameters::from_words`], of the grid, and an output directory that cannot be
    /// written.
    pub fn open(program: impl Into<Arc<Program>>, words: &[String]) -> Result<Session, Error> {
        Session::open_with(program, words, Options::default())
    }

    /// [`Session::open`] with other streams.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn open_with(program: impl Into<Arc<Program>>, words: &[String], options: Options) -> Result<Session, Error> {
        Session::from_parameters(program, Parameters::from_words(words)?, options)
    }

    /// Opens a run from parameters; the grid is made from them.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn from_parameters(program: impl Into<Arc<Program>>, parameters: Parameters, options: Options) -> Result<Session, Error> {
        Session::with_grid(program.into(), parameters, options, None)
    }

    /// Opens a run on a given grid.
    ///
    /// # Errors
    /// `Data` if the grid has no cells, or fewer dimensions than the program needs, and for a bad
    /// parameter; an output directory that cannot be written.
    pub fn on_grid(program: impl Into<Arc<Program>>, parameters: Parameters, grid: Grid, options: Options) -> Result<Session, Error> {
        Session::with_grid(program.into(), parameters, options, Some(grid))
    }

    /// Checks parameters before building the grid, which may take long.
    fn with_grid(program: Arc<Program>, parameters: Parameters, options: Options, grid: Option<Grid>) -> Result<Session, Error> {
        let has_log = matches!(options.sink, Sink::Files) && parameters.flag(run::EVENT_LOG)?.unwrap_or(false);
        let profile = (options.profile || has_log).then(Profiler::default);
        profile.iter().for_each(|profile| profile.compiled_in(options.compiled_in));
        let style = if options.quiet { ProgressStyle::Quiet } else { options.progress };
        let mut progress = Progress::new(style, options.format, options.stderr);
        if let Some(pace) = options.pace {
            progress.tell_pace(pace);
        }
        if let Some(listener) = options.listener {
            progress.messages().listen(listener);
        }
        if has_log {
            progress.messages().keep_log();
        }
        parameter_checks::warnings(&program, &parameters).iter().for_each(|warning| progress.warning(warning));
        let inputs = parameter_checks::inputs(&program, &parameters)?;
        let (grid, widths) = match grid {
            Some(grid) => {
                let widths = grid_parameters::widths_of_grid(&program, &parameters, &grid);
                (grid, widths)
            }
            None => (grid_for_program(&program, &parameters)?, grid_parameters::widths_for_program(&program, &parameters)?),
        };
        let mut inputs = inputs.with_widths(widths);
        parameter_checks::empty_sequences(&program, &parameters, &mut inputs).iter().for_each(|warning| progress.warning(warning));
        // Programs are compiled for grids with cells, so that a maximum over all cells is no error.
        if grid.n_cells() == 0 || grid.n_faces() == 0 {
            return Err(Error::new(ErrorKind::Data, "the grid has no cells").hint("give a grid with at least one cell"));
        }
        if grid.dim() < program.min_dim {
            let message = format!("the program needs a grid of at least {} dimensions, this one has {}", program.min_dim, grid.dim());
            return Err(Error::new(ErrorKind::Data, message).hint(format!("give grid_dim={} or another grid file", program.min_dim)));
        }
        let threads = Threads::from_parameters(&parameters)?;
        let mut grid = grid;
        grid.set_threads(threads.clone());
        let renumber = Renumber::from_parameters(&parameters)?;
        let nonfinite = Nonfinite::from_parameters(&parameters)?;
        timestep_cuts::check(&program, &parameters)?;
        let max_rounds = round_length::max_rounds(&parameters)?;
        let steady_state = steady_state::SteadyState::from_parameters(&parameters)?;
        let dir = output_dir(&parameters)?;
        let mut checkpoints = checkpoint_state::Checkpoints::from_parameters(&parameters, &program, &dir, options.take_over)?;
        checkpoints.handover = options.handover;
        let start = run::description(&program, &parameters, &grid, options.back_end);
        let record = RunRecord::new(&program, &start, dir).writing_to(options.sink.clone());
        let record = record.telling(progress.messages()).resumed(checkpoints.restart().is_some());
        progress.messages().start(start);
        // Last, so that errors are found before the run claims the folder.
        let mut outputs = Outputs::from_parameters(&parameters, options.stdout, record, &grid)?;
        outputs.set_threads(&threads);
        if checkpoints.restart().is_some() {
            outputs.begin_replay();
        }
        let notes = grid.notes().iter().map(|note| format!("grid: {note}")).collect();
        if let Some(record) = outputs.record().filter(|_| has_log) {
            // The log is in the folder of the run, whatever the run puts out.
            let warning = record.open()?;
            warning.iter().for_each(|warning| progress.warning(warning));
        }
        let mut session = Session {
            program,
            parameters,
            grid: Arc::new(grid),
            grid_of_domains: None,
            threads,
            renumber,
            domains: Vec::new(),
            inputs,
            outputs,
            observer: None,
            subsets: Vec::new(),
            checkpoints,
            sink: options.sink,
            nonfinite,
            finite: finite::Finite::default(),
            progress,
            line: 0,
            choices: Vec::new(),
            memory: None,
            profile,
            shows_profile: options.profile,
            verbose: options.verbose,
            interrupt: options.interrupt,
            solves: BTreeMap::new(),
            rescues: Rescues::default(),
            ranges: BTreeMap::new(),
            failures: 0,
            failed_solve: None,
            notes,
            mode: None,
            place: None,
            outer: None,
            outer_length: RoundLength::Element,
            step_scale: 1.0,
            last_step: f64::NAN,
            has_gone_back: false,
            max_rounds,
            steady_state,
            finished: false,
        };
        session.phase(Phase::Build);
        for warning in session.parameters_without_effect() {
            session.progress.warning(&warning);
        }
        session.tell_of_outputs();
        Ok(session)
    }

    /// The record of this run, for its end; `None` if outputs stay in memory or go nowhere.
    pub fn record(&self) -> Option<RunRecord> {
        self.outputs.record().cloned()
    }

    /// Where files of this run go.
    pub fn sink(&self) -> &Sink {
        &self.sink
    }

    /// Step and time of the run.
    pub fn moment(&self) -> StepTime {
        self.outputs.moment()
    }

    /// The program that runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The grid.
    pub fn grid(&self) -> &Arc<Grid> {
        &self.grid
    }

    /// The threads of loops.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Replaces the threads of loops, which the parameter `threads` set; also those that make
    /// arrays of the grid, unless it is shared, and texts of outputs.
    pub fn set_threads(&mut self, threads: Threads) {
        self.outputs.set_threads(&threads);
        if let Some(grid) = Arc::get_mut(&mut self.grid) {
            grid.set_threads(threads.clone());
        }
        self.threads = threads;
    }

    /// Renumbers the grid if parameter `renumber` says so, for back-ends whose kernels gain from
    /// it; must be called first. Other back-ends use the numbering of the file. See
    /// [`Grid::renumber`].
    ///
    /// # Panics
    /// If a domain exists, or the grid is shared.
    pub fn renumber_grid(&mut self) {
        self.renumber_grid_with(FaceOrder::default());
    }

    /// [`Session::renumber_grid`] with a choice for the faces.
    ///
    /// # Panics
    /// As for [`Session::renumber_grid`].
    pub fn renumber_grid_with(&mut self, faces: FaceOrder) {
        assert!(self.domains.is_empty(), "a grid is renumbered before its domains are made");
        let grid = Arc::get_mut(&mut self.grid);
        grid.expect("a grid is renumbered before it is shared").renumber_with(self.renumber, faces);
    }

    /// Frees the geometry of the grid except for these arrays. Cell centroids from a grid file
    /// stay: messages give them. So do positions and normals of faces where inputs are chosen by
    /// them.
    pub fn keep_geometry(&mut self, arrays: &[GeometryArray]) {
        let of_inputs = Inputs::needs_geometry(&self.parameters, self.program.inputs.iter().map(|input| &*input.name));
        // Other owners of the grid keep reading it unchanged.
        if let Some(grid) = Arc::get_mut(&mut self.grid) {
            let mut kept = arrays.to_vec();
            kept.extend((!grid.has_shape()).then_some(GeometryArray::CellCentroids));
            if of_inputs && !grid.has_shape() {
                kept.extend([GeometryArray::FaceCentroids, GeometryArray::FaceNormals]);
            }
            grid.keep_geometry(&kept);
        }
    }

    /// All parameters; back-ends may read keys of their own.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// True if `--profile` was given.
    pub fn profile(&self) -> bool {
        self.shows_profile
    }

    /// Sets the current Equelle line; errors of this session name it.
    #[inline]
    pub fn line(&mut self, line: u32) {
        self.line = line;
    }

    /// The current Equelle line.
    pub fn current_line(&self) -> u32 {
        self.line
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
        error.at(self.line)
    }

    /// Refuses a grid that is no uniform Cartesian one with at least these numbers of cells.
    ///
    /// # Errors
    /// `Data`, with the line of the statement that needs the structure.
    pub fn require_cells(&self, cells: [usize; 3], line: u32) -> Result<(), Error> {
        let refused = |message: String, hint: &str| Err(Error::new(ErrorKind::Data, message).hint(hint).at(line));
        let Some(shape) = self.grid.cartesian_shape() else {
            let message = "neighbours by index need a uniform Cartesian grid, and this grid is none".to_owned();
            let hint = match self.grid.has_joined_sides() {
                true => "sides that are joined have faces alone; write Halo(u, Periodic(i)) and leave grid_periodic out",
                false => "give grid_dim, nx and dx, or a grid file of a uniform Cartesian grid",
            };
            return refused(message, hint);
        };
        for (axis, &needed) in cells.iter().enumerate() {
            let name = ["I", "J", "K"][axis];
            if needed > 0 && axis >= shape.dim {
                return refused(
                    format!("axis {name} needs a grid of {} dimensions, and this one has {}", axis + 1, shape.dim),
                    "give another grid",
                );
            }
            if shape.n[axis] < needed {
                let message = format!("the program needs {needed} cells along {name}, and the grid has {}", shape.n[axis]);
                return refused(message, "give a grid with more cells along that axis");
            }
        }
        Ok(())
    }

    /// Refuses a grid with faces that have no geometry.
    ///
    /// # Errors
    /// `Data`, with the line of the statement that reads it.
    pub fn require_face_geometry(&self, line: u32) -> Result<(), Error> {
        // A grid of a shape has no arrays yet, and all of its faces have geometry.
        if self.grid.has_shape() {
            return Ok(());
        }
        let without = self.grid.geometry().faces_without_geometry.iter();
        let Some(&face) = without.min_by_key(|&&face| self.grid.file_index(EntityKind::Face, face)) else { return Ok(()) };
        let cells = self.grid.topology().face_cells[face as usize].map(|cell| self.cell_of_deck(cell));
        let message = format!(
            "the program reads the area, normal or centroid of faces between cells, and {} and {} are joined without geometry (NNC)",
            cells[0], cells[1]
        );
        let hint = "take transmissibilities of `transmissibility` in equelle:boundaries or of GivenTransmissibility, or leave such connections out: nnc=ignore";
        Err(Error::new(ErrorKind::Data, message).hint(hint).at(line))
    }

    /// Warns on a grid with joined sides that the statement on a line reads stored positions of
    /// cells through faces.
    pub fn read_stored_positions(&mut self, line: u32) {
        if self.grid.has_joined_sides() {
            let (file, hint) = (self.program.source.file.clone(), "take Centroid(SecondCell(faces)) instead");
            self.warning(&format!(
                "{file}:{line}: stored positions of cells are read through faces, where those beyond joined sides are a length of the grid off: {hint}"
            ));
        }
    }

    /// A cell by its indices in the deck, or else by its number in the grid's file.
    fn cell_of_deck(&self, cell: u32) -> String {
        let in_file = self.grid.file_index(EntityKind::Cell, cell);
        let index = |name: &str| self.grid.named().array(EntityKind::Cell, name).map(|array| array.values[in_file as usize]);
        match ["I", "J", "K"].map(index) {
            [Some(i), Some(j), Some(k)] => format!("cell ({i}, {j}, {k})"),
            _ => format!("cell {in_file}"),
        }
    }

    /// The shape of a grid that [`Session::require_cells`] let through.
    ///
    /// # Errors
    /// `Data` where it has none.
    pub fn cartesian_shape(&self) -> Result<&crate::grid::Cartesian, Error> {
        let missing = || Error::new(ErrorKind::Data, "this needs a uniform Cartesian grid");
        self.grid.cartesian_shape().ok_or_else(missing)
    }

    /// A canonical set; created once.
    ///
    /// # Errors
    /// `Data` for edges and vertices of a grid of arrays without nodes, and where there are too
    /// many for 32-bit indices.
    pub fn domain(&mut self, set: CanonicalSet) -> Result<Arc<Domain>, Error> {
        self.progress.messages().send_start();
        if let Some((_, domain)) = self.domains.iter().find(|(s, _)| *s == set) {
            return Ok(Arc::clone(domain));
        }
        let grid = self.grid_of_domains.get_or_insert_with(|| self.grid.without_geometry().shared());
        let domain = Domain::canonical(grid, set).map_err(|e| e.at(self.line))?;
        self.domains.push((set, Arc::clone(&domain)));
        Ok(domain)
    }

    /// Sets what the summary says of precision and rounding.
    #[must_use]
    pub fn in_mode(mut self, mode: &str) -> Session {
        let mode: Arc<str> = mode.into();
        if let Some(record) = self.outputs.record() {
            record.note("mode", &*mode);
        }
        self.progress.messages().complete_start(|start| start.mode = Some(Arc::clone(&mode)));
        self.mode = Some(mode);
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

    /// Begins a loop over `len` elements.
    pub fn begin_loop(&mut self, len: usize) -> LoopState {
        self.begin_loop_of(Some(len), RoundLength::Element)
    }

    /// Begins a loop of so many rounds, if they are known.
    fn begin_loop_of(&mut self, len: Option<usize>, length: RoundLength) -> LoopState {
        self.progress.messages().send_start();
        if self.progress.current_step().is_none() {
            self.finite.begin_loop();
            self.steady_state.begin_loop();
        }
        self.progress.begin(len);
        self.profile_loop();
        if self.progress.is_outermost() {
            self.outer = None;
            self.outer_length = length;
        }
        LoopState { next: 0, len, over: false, resumed: false }
    }

    /// Rounds of the outermost loop that runs, with those of an earlier run; `None` where there is
    /// no loop or a condition ends it.
    pub fn known_rounds(&self) -> Option<usize> {
        self.progress.known_rounds()
    }

    /// Begins a loop over a sequence, whose elements are the time steps of outputs.
    pub fn begin_loop_over(&mut self, sequence: &Arc<Vec<f64>>) -> LoopState {
        let state = self.begin_loop(sequence.len());
        if self.progress.is_outermost() {
            self.outer = Some(Arc::clone(sequence));
        }
        state
    }

    /// The interrupt of this run; linear solvers check it between iterations.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Returns an error if the run is interrupted. Back-ends call it before each round of a loop
    /// and each Newton iteration.
    ///
    /// # Errors
    /// `Interrupted`, with the step.
    pub fn check_interrupt(&mut self) -> Result<(), Error> {
        let Some(signal) = self.interrupt.asked() else { return Ok(()) };
        self.progress.close_bar();
        let place = self.progress.current_step().map_or_else(String::new, |step| format!(" in {}", step_text(step)));
        let message = format!("interrupted{place} by {}; the outputs so far are complete", signal.name());
        Err(Error::new(ErrorKind::Interrupted(signal), message))
    }

    /// Position of the next element, or `None` when the loop is over. Reports progress.
    pub fn next_step(&mut self, state: &mut LoopState) -> Option<usize> {
        if state.over {
            return None;
        }
        let is_over = self.ends_steady(state) || state.len == Some(state.next);
        self.advance(state, is_over).then(|| state.next - 1)
    }

    /// Ends a round and begins another, unless the loop is over; whether it has begun.
    fn advance(&mut self, state: &mut LoopState, is_over: bool) -> bool {
        self.profile_step(is_over);
        if state.next > 0 && !std::mem::take(&mut state.resumed) {
            self.progress.step();
        }
        if is_over {
            state.over = true;
            let is_outermost = self.progress.is_outermost();
            self.progress.end();
            if is_outermost {
                self.outputs.end_loop();
            }
            if self.progress.current_step().is_none() {
                self.interrupt.defer(false);
            }
            return false;
        }
        state.next += 1;
        if self.progress.is_outermost() {
            let length = match self.outer_length {
                RoundLength::Element => self.outer.as_ref().and_then(|outer| outer.get(state.next - 1)).copied().unwrap_or(f64::NAN),
                RoundLength::Computed => 0.0,
                RoundLength::Round => 1.0,
            };
            self.outputs.begin_round(length, state.len == Some(state.next));
            self.tell_of_outputs();
            self.progress.at(self.outputs.moment().time, length);
        }
        true
    }

    /// Adds a line to the summary, such as a profile of the back-end.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Sends an event to programs that watch the run; nothing for users.
    pub fn event(&self, event: &Event) {
        self.progress.event(event);
    }

    /// The stream of messages, for threads that send events.
    pub fn messages(&self) -> &Messages {
        self.progress.messages()
    }

    /// Prints a message on standard error, unless quiet.
    pub fn message(&mut self, text: &str) {
        self.progress.message(text);
    }

    /// Prints a warning on standard error.
    pub fn warning(&mut self, text: &str) {
        self.progress.warning(text);
    }

    /// A warning for each parameter without effect, with the nearest key that has one. Shown when
    /// the session opens.
    pub fn unused_parameters(&self) -> Vec<String> {
        let mut warnings = parameter_checks::warnings(&self.program, &self.parameters);
        warnings.extend(self.parameters_without_effect());
        warnings
    }

    /// A warning for each known parameter that has no effect on this grid.
    fn parameters_without_effect(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let from_file = self.parameters.contains("grid_filename");
        for (axis, key) in grid_parameters::shape_keys() {
            let is_input = self.program.inputs.iter().any(|input| input.keys().iter().any(|own| own == key));
            let beyond = axis >= self.grid.dim();
            if let Some(origin) = self.parameters.origin(key).filter(|_| !is_input && (from_file || beyond)) {
                let why =
                    if from_file { "grid_filename is given".to_string() } else { format!("the grid has {} dimensions", self.grid.dim()) };
                warnings.push(format!("parameter `{key}` ({origin}) has no effect: {why}"));
            }
        }
        for key in ["grid_geometry", "grid_unit", "nnc"] {
            if let Some(origin) = self.parameters.origin(key).filter(|_| !from_file) {
                warnings.push(format!("parameter `{key}` ({origin}) has no effect: grid_filename is not given"));
            }
        }
        if let Some(origin) =
            self.parameters.origin("renumber").filter(|_| self.renumber == Renumber::Yes && self.grid.cartesian_shape().is_some())
        {
            warnings.push(format!(
                "parameter `renumber` ({origin}) has no effect: the grid is Cartesian, and grid_layout=unstructured was not given"
            ));
        }
        warnings
    }
}

/// The canonical sets of every grid; edges and vertices of a grid from arrays need nodes.
pub const SUPPORTED_SETS: [CanonicalSet; 6] = [
    CanonicalSet::new(EntityKind::Cell, Extent::All),
    CanonicalSet::new(EntityKind::Cell, Extent::Interior),
    CanonicalSet::new(EntityKind::Cell, Extent::Boundary),
    CanonicalSet::new(EntityKind::Face, Extent::All),
    CanonicalSet::new(EntityKind::Face, Extent::Interior),
    CanonicalSet::new(EntityKind::Face, Extent::Boundary),
];
