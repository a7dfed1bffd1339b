//! The start of a run: parameters are checked before anything is read or written.

use std::sync::Arc;

use super::checkpoint_state::{Checkpoints, read_restart};
use super::context::RunContext;
use super::finite::FiniteChecks;
use super::grid_domains::GridDomains;
use super::loops::Loops;
use super::on_ranks::SessionRank;
use super::options::Options;
use super::profile::{Phase, Timing};
use super::solves::SolveLog;
use super::{Session, grid_for_program, grid_parameters, parameter_checks};
use crate::error::{Error, ErrorKind};
use crate::grid::{Grid, Renumber};
use crate::interrupt::Interrupt;
use crate::io::Sink;
use crate::newton::timestep_cuts;
use crate::output::{Nonfinite, Outputs, output_dir};
use crate::params::Parameters;
use crate::program::Program;
use crate::ranks::mpi::{MPI_LIBRARY, RANK_TIMEOUT};
use crate::ranks::partition_file::{PARTITION_FILE, PARTITION_WRITE};
use crate::report::{Progress, ProgressStyle};
use crate::run::{self, RunRecord};
use crate::threads::Threads;

impl SessionRank {
    /// Opens the session of a rank, on its part of the grid.
    ///
    /// # Errors
    /// As [`Session::on_grid`]; `Backend` if another rank has ended.
    pub fn open(self, program: &Arc<Program>, parameters: Parameters, part: Grid, options: Options) -> Result<Session, Error> {
        Session::with_grid(Arc::clone(program), parameters, options, Some(part), Some(self))
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
        Session::with_grid(program.into(), parameters, options, None, None)
    }

    /// Opens a run on a given grid.
    ///
    /// # Errors
    /// `Data` if the grid has no cells, or fewer dimensions than the program needs, and for a bad
    /// parameter; an output directory that cannot be written.
    pub fn on_grid(program: impl Into<Arc<Program>>, parameters: Parameters, grid: Grid, options: Options) -> Result<Session, Error> {
        Session::with_grid(program.into(), parameters, options, Some(grid), None)
    }

    /// Checks parameters before building the grid, which may take long.
    pub(super) fn with_grid(
        program: Arc<Program>,
        parameters: Parameters,
        options: Options,
        grid: Option<Grid>,
        rank: Option<SessionRank>,
    ) -> Result<Session, Error> {
        let has_log = matches!(options.sink, Sink::Files) && parameters.flag(run::EVENT_LOG)?.unwrap_or(false);
        let timing = Timing::new(options.profile, has_log, options.compiled_in);
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
                let whole = rank.as_ref().and_then(SessionRank::whole_grid).map_or(&grid, |whole| whole);
                let widths = grid_parameters::widths_of_grid(&program, &parameters, whole);
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
        let loops = Loops::from_parameters(&parameters)?;
        let dir = output_dir(&parameters)?;
        let mut checkpoints = Checkpoints::from_parameters(&parameters, options.take_over.is_some())?;
        let read = || read_restart(&parameters, &program, &dir, options.take_over);
        checkpoints.restart = match &rank {
            Some(rank) => rank.share_restart(read)?,
            None => read()?,
        };
        checkpoints.handover = options.handover;
        let shown = rank.as_ref().and_then(SessionRank::whole_grid).cloned();
        let shown = shown.as_deref().unwrap_or(&grid);
        let start = run::description(&program, &parameters, shown, options.back_end);
        let record = RunRecord::new(&program, &start, dir).writing_to(options.sink.clone());
        let record = record.telling(progress.messages()).resumed(checkpoints.restart().is_some());
        progress.messages().start(start);
        // Last, so that errors are found before the run claims the folder.
        let mut outputs = match &rank {
            Some(rank) if !rank.context.is_root() => Outputs::nowhere(&parameters)?,
            Some(_) | None => Outputs::from_parameters(&parameters, options.stdout, record, shown)?,
        };
        outputs.set_threads(&threads);
        if checkpoints.restart().is_some() {
            outputs.begin_replay();
        }
        let notes = shown.notes().iter().map(|note| format!("grid: {note}")).collect();
        if let Some(record) = outputs.record().filter(|_| has_log) {
            // The log is in the folder of the run, whatever the run puts out.
            let warning = record.open()?;
            warning.iter().for_each(|warning| progress.warning(warning));
        }
        let run = RunContext {
            program,
            parameters,
            threads,
            sink: options.sink,
            line: 0,
            progress,
            // Rank 0 ends the run, and others follow.
            interrupt: if rank.as_ref().is_none_or(|rank| rank.context.is_root()) { options.interrupt } else { Interrupt::default() },
            timing,
            notes,
            mode: None,
            device: None,
        };
        let mut session = Session {
            run,
            grid: GridDomains::new(grid, renumber),
            inputs,
            outputs,
            finite: FiniteChecks::new(nonfinite),
            loops,
            checkpoints,
            solves: SolveLog::new(options.verbose),
            memory: None,
            observer: None,
            choices: Vec::new(),
            is_finished: false,
            rank,
        };
        session.run.timing.enter(Phase::Build);
        for warning in session.parameters_without_effect() {
            session.run.progress.warning(&warning);
        }
        session.outputs().tell();
        Ok(session)
    }

    /// A warning for each parameter without effect, with the nearest key that has one. Shown when
    /// the session opens.
    pub fn unused_parameters(&self) -> Vec<String> {
        let mut warnings = parameter_checks::warnings(&self.run.program, &self.run.parameters);
        warnings.extend(self.parameters_without_effect());
        warnings
    }

    /// A warning for each known parameter that has no effect on this grid.
    fn parameters_without_effect(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let from_file = self.run.parameters.contains("grid_filename");
        for (axis, key) in grid_parameters::shape_keys() {
            let is_input = self.run.program.inputs.iter().any(|input| input.has_key(key));
            let beyond = axis >= self.grid.grid().dim();
            if let Some(origin) = self.run.parameters.origin(key).filter(|_| !is_input && (from_file || beyond)) {
                let why = if from_file {
                    "grid_filename is given".to_string()
                } else {
                    format!("the grid has {} dimensions", self.grid.grid().dim())
                };
                warnings.push(format!("parameter `{key}` ({origin}) has no effect: {why}"));
            }
        }
        for key in ["grid_geometry", "grid_unit", "nnc"] {
            if let Some(origin) = self.run.parameters.origin(key).filter(|_| !from_file) {
                warnings.push(format!("parameter `{key}` ({origin}) has no effect: grid_filename is not given"));
            }
        }
        for key in [PARTITION_FILE, PARTITION_WRITE, RANK_TIMEOUT, MPI_LIBRARY] {
            if let Some(origin) = self.run.parameters.origin(key).filter(|_| self.rank.is_none()) {
                warnings.push(format!("parameter `{key}` ({origin}) has no effect: the run has one process"));
            }
        }
        if let Some(origin) = self.run.parameters.origin("renumber").filter(|_| self.grid.ignores_renumber()) {
            warnings.push(format!(
                "parameter `renumber` ({origin}) has no effect: the grid is Cartesian, and grid_layout=unstructured was not given"
            ));
        }
        warnings
    }
}
