//! Runs on several ranks that are threads of this process, for tests and trials.

use std::sync::Arc;

use equelle_front::ir::{AxisRules, Module};
use equelle_front::passes;
use equelle_front::passes::halo::{HaloLayers, HaloRefusal};
use equelle_front::source::SourceMap;
use equelle_front::verify::halo::HaloDepths;
use equelle_front::verify::{self, Verified, VerifyError};
use equelle_interp::Poison;
use equelle_runtime::grid::{Grid, PartBox};
use equelle_runtime::io::Sink;
use equelle_runtime::params::Parameters;
use equelle_runtime::ranks::{Boxes, CellGraph, Partition, RankContext, RankId, RankProgress, ThreadTransport, bisection};
use equelle_runtime::run::RunRecord;
use equelle_runtime::session::{Options, SessionRank, grid_for_program};
use equelle_runtime::threads::Threads;
use equelle_runtime::{EntityKind, Error, ErrorKind, Program, Session};

use crate::failure::Failure;
use crate::interpret::{Kernels, run_poisoned};

/// A program with the exchanges that it needs on ranks.
#[derive(Clone, Debug)]
pub struct RankProgram {
    verified: Verified,
    halo: HaloLayers,
    axes: AxisRules,
    /// Layers to which values are right.
    depths: HaloDepths,
    /// Set where tests make values wrong beyond these layers.
    poison: Option<u64>,
}

/// An error of a program that is to run on ranks.
#[derive(Clone, Debug)]
pub enum RankProgramError {
    /// It has a construct that does not run on ranks.
    Refused(HaloRefusal),
    /// The exchanges are not those that it needs: a defect of ours.
    Invalid(Vec<VerifyError>),
}

impl RankProgramError {
    /// For the user, with the line.
    pub fn into_failure(self, source: &SourceMap) -> Failure {
        match self {
            RankProgramError::Refused(HaloRefusal { span, construct }) => {
                let line = source.line(span.start);
                let (file, own) = source.file_and_line(line);
                let place = format!("{}:{own}: {}", source.file(file).name(), source.line_text(line).trim());
                let message = format!("the program does not run on several ranks: it has {construct}\n --> {place}");
                Error::new(ErrorKind::Usage, message).into()
            }
            RankProgramError::Invalid(errors) => {
                let lines: Vec<String> = errors.iter().map(|error| format!("\n  {error}")).collect();
                Failure::Internal(format!("the IR is not valid{}", lines.concat()))
            }
        }
    }
}

impl RankProgram {
    /// Inserts the exchanges that a program needs, and proves that none is missing.
    ///
    /// # Errors
    /// For a program that cannot run on ranks.
    pub fn new(verified: &Verified) -> Result<RankProgram, RankProgramError> {
        let mut module = verified.module().clone();
        let halo = passes::for_ranks(&mut module).map_err(RankProgramError::Refused)?;
        let axes = AxisRules::from_module(&module);
        let depths = verify::halo::check(&module, halo.layers).map_err(RankProgramError::Invalid)?;
        let verified = verify::verify(module).map_err(RankProgramError::Invalid)?;
        Ok(RankProgram { verified, halo, axes, depths, poison: None })
    }

    /// For tests: values are made wrong beyond the layers to which the verifier proves that they
    /// are right, by a seed.
    pub fn poisoned(self, seed: u64) -> RankProgram {
        RankProgram { poison: Some(seed), ..self }
    }

    /// For tests: other statements with the same values, whose exchanges nobody has proved to be
    /// enough. Where values are right is told by the statements before.
    ///
    /// # Errors
    /// The module is not valid.
    pub fn with_unproven(&self, module: Module) -> Result<RankProgram, RankProgramError> {
        Ok(RankProgram { verified: verify::verify(module).map_err(RankProgramError::Invalid)?, ..self.clone() })
    }

    /// The module with its exchanges.
    pub fn verified(&self) -> &Verified {
        &self.verified
    }

    /// Axes along which boxes may be cut.
    pub(crate) fn axes(&self) -> &AxisRules {
        &self.axes
    }

    /// Layers and exchanges.
    pub fn halo(&self) -> &HaloLayers {
        &self.halo
    }
}

/// Ranks of a run.
#[derive(Clone, Debug)]
pub struct ThreadRanks {
    /// Number of ranks.
    pub n_ranks: u32,
    /// Owner of each cell in the order of the grid's file, of a grid that is treated as arrays.
    /// Without it Cartesian grids are cut into boxes, others by bisection.
    pub partition: Option<Partition>,
    /// Messages are delayed at random from this seed on.
    pub seed: Option<u64>,
}

/// The end of a rank.
struct Ended {
    result: Result<(), Error>,
    record: Option<RunRecord>,
    progress: Arc<RankProgress>,
}

/// Runs a program on ranks, with parameters as on the command line of a simulator; the progress of
/// each rank. `prepare` changes the session of rank 0 before it begins.
///
/// # Errors
/// The first one in the order of the program, then of the grid's file, as of one process.
pub fn run(
    kernels: Kernels,
    program: &Arc<Program>,
    compiled: &RankProgram,
    words: &[String],
    options: Options,
    ranks: &ThreadRanks,
    prepare: &(dyn Fn(&mut Session) + Sync),
) -> Result<Vec<Arc<RankProgress>>, Error> {
    if let Some(option) = words.iter().find(|word| word.starts_with('-')) {
        return Err(Error::new(ErrorKind::Usage, format!("there is no option `{option}`")).hint("parameters are given as key=value"));
    }
    let parts = Parts::new(grid_for_program(program, &Parameters::from_words(words)?)?, compiled, ranks)?;
    let interrupt = options.interrupt.clone();
    let n_ranks = ranks.partition.as_ref().map_or(ranks.n_ranks as usize, Partition::n_ranks);
    let transports = ThreadTransport::connected(n_ranks, ranks.seed);
    let mut options = Some(Options { back_end: kernels.back_end(), ..options });
    let ended: Vec<Ended> = std::thread::scope(|scope| {
        let threads: Vec<_> = transports
            .into_iter()
            .map(|transport| {
                let parts = &parts;
                let silent = || Options { interrupt: interrupt.clone(), sink: Sink::Nowhere, ..Options::silent() };
                let options = options.take().unwrap_or_else(silent);
                let context = RankContext::new(Box::new(transport));
                scope.spawn(move || {
                    let progress = Arc::clone(context.progress());
                    let mut record = None;
                    let is_root = context.is_root();
                    let result = parts.open(program, words, context, options).and_then(|mut session| {
                        if is_root {
                            prepare(&mut session);
                        }
                        record = session.record();
                        let poison = compiled.poison.map(|seed| Poison { depths: &compiled.depths, seed });
                        run_poisoned(kernels, &compiled.verified, session, poison)
                    });
                    Ended { result, record, progress }
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let progress = ended.iter().map(|ended| Arc::clone(&ended.progress)).collect();
    let record = ended.first().and_then(|root| root.record.clone());
    let result = first_error(ended);
    let written = record.map_or(Ok(()), |record| record.end(&result));
    result.and(written).map(|()| progress)
}

/// A grid and its parts.
pub(crate) struct Parts {
    pub(crate) grid: Grid,
    layers: usize,
    pub(crate) cut: Cut,
}

/// How a grid is cut.
pub(crate) enum Cut {
    Boxes { boxes: Boxes, wraps: [bool; 3] },
    Cells(Partition),
}

impl Parts {
    pub(crate) fn new(grid: Grid, compiled: &RankProgram, ranks: &ThreadRanks) -> Result<Parts, Error> {
        let layers = compiled.halo.layers as usize;
        let shape = grid.cartesian_shape().copied();
        let (grid, cut) = match (&ranks.partition, shape) {
            (Some(partition), _) => (grid.as_unstructured(), Cut::Cells(partition.clone())),
            (None, Some(shape)) => {
                let n = shape.n.map(|n| n as u64);
                let axes = std::array::from_fn(|axis| compiled.axes.may_be_cut(axis));
                let wraps = compiled.axes.wraps;
                let boxes = Boxes::cut_along(axes, n, wraps, ranks.n_ranks, [[1; 2]; 3]).map_err(|error| uncut(error, axes))?;
                (grid, Cut::Boxes { boxes, wraps })
            }
            (None, None) => {
                let grid = grid.as_unstructured();
                let partition = bisection::partition(&CellGraph::of(&grid), grid.centroids(EntityKind::Cell), ranks.n_ranks)?;
                (grid, Cut::Cells(partition))
            }
        };
        Ok(Parts { grid, layers, cut })
    }

    fn part(&self, rank: RankId) -> Result<Grid, Error> {
        match &self.cut {
            Cut::Cells(partition) => self.grid.part_of(partition.owners(), rank, self.layers),
            Cut::Boxes { boxes, wraps } => {
                let own = boxes.box_of(rank);
                let [start, len] = [own.start, own.len].map(|sizes| sizes.map(|size| size as usize));
                let part = PartBox { start, len, layers: self.layers, wraps: *wraps };
                self.grid.box_of(part, |ijk| boxes.owner(ijk.map(|at| at as u64)))
            }
        }
    }

    fn open(&self, program: &Arc<Program>, words: &[String], context: RankContext, options: Options) -> Result<Session, Error> {
        let parameters = Parameters::from_words(words)?;
        let whole = context.is_root().then(|| self.grid.clone());
        let has_threads = parameters.contains("threads");
        let part = self.part(context.rank())?;
        let mut session = SessionRank::new(context, whole).open(program, parameters, part, options)?;
        if !has_threads {
            session.set_threads(Threads::one());
        }
        Ok(session)
    }
}

/// Adds why axes are not cut to the error of a grid that cannot be cut so often.
fn uncut(error: Error, may_be_cut: [bool; 3]) -> Error {
    let names: Vec<&str> = ["x", "y", "z"].into_iter().zip(may_be_cut).filter(|(_, cut)| !cut).map(|(name, _)| name).collect();
    if names.is_empty() {
        return error;
    }
    let most = error.hint.clone().unwrap_or_default();
    error.hint(format!("{most}; not along {}, around which the program reads, and whose ends it sees", names.join(" and ")))
}

/// The first error by statement, then by element in the file; errors that follow from those of
/// other ranks come last.
fn first_error(ended: Vec<Ended>) -> Result<(), Error> {
    let failed = ended.into_iter().filter_map(|rank| rank.result.err().map(|error| (rank.progress, error)));
    let first = failed.min_by_key(|(progress, error)| (progress.has_lost_rank(), progress.statements(), error.element.unwrap_or(0)));
    first.map_or(Ok(()), |(_, error)| Err(error))
}
