//! Runs on several ranks that are threads of this process, for tests and trials.

use std::sync::Arc;

use crate::entity::EntityKind;
use crate::error::Error;
use crate::grid::{Grid, PartBox, Renumber};
use crate::io::Sink;
use crate::params::Parameters;
use crate::program::{HaloNeeds, Program};
use crate::ranks::{Boxes, CellGraph, Partition, RankContext, RankId, RankProgress, ThreadTransport, bisection, partition_file};
use crate::run::RunRecord;
use crate::session::{Options, Session, SessionRank, grid_for_program};
use crate::threads::Threads;

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
/// each rank. `simulate` runs the program in the session of a rank, in a thread of its own.
///
/// # Errors
/// The first one in the order of the program, then of the grid's file, as of one process.
pub fn run(
    program: &Arc<Program>,
    needs: HaloNeeds,
    words: &[String],
    options: Options,
    ranks: &ThreadRanks,
    simulate: &(dyn Fn(Session) -> Result<(), Error> + Sync),
) -> Result<Vec<Arc<RankProgress>>, Error> {
    let parameters = Parameters::from_words(words)?;
    let grid = grid_for_program(program, &parameters)?;
    // Renumbered, a grid with joined sides has no closed forms in one process.
    let is_renumbered = grid.has_joined_sides() && Renumber::from_parameters(&parameters)? == Renumber::Yes;
    let grid = if is_renumbered { grid.as_unstructured() } else { grid };
    let given = partition_file::from_parameters(&parameters, grid.n_cells(), ranks.n_ranks)?;
    let ranks = &ThreadRanks { partition: given.or_else(|| ranks.partition.clone()), ..*ranks };
    let parts = Parts::new(grid, needs, ranks)?;
    match &parts.cut {
        Cut::Boxes { boxes, .. } => partition_file::write_for_parameters(&parameters, boxes.owners(), &options.sink)?,
        Cut::Cells(partition) => partition_file::write_for_parameters(&parameters, partition.owners().iter().copied(), &options.sink)?,
    }
    let (back_end, interrupt) = (options.back_end, options.interrupt.clone());
    let n_ranks = ranks.partition.as_ref().map_or(ranks.n_ranks as usize, Partition::n_ranks);
    let transports = ThreadTransport::connected(n_ranks, ranks.seed);
    let mut options = Some(options);
    let ended: Vec<Ended> = std::thread::scope(|scope| {
        let threads: Vec<_> = transports
            .into_iter()
            .map(|transport| {
                let parts = &parts;
                let silent = || Options { back_end, interrupt: interrupt.clone(), sink: Sink::Nowhere, ..Options::silent() };
                let options = options.take().unwrap_or_else(silent);
                let context = RankContext::new(Box::new(transport));
                scope.spawn(move || {
                    let progress = Arc::clone(context.progress());
                    let mut record = None;
                    let result = parts.open(program, words, context, options).and_then(|session| {
                        record = session.record();
                        simulate(session)
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
struct Parts {
    grid: Grid,
    layers: usize,
    cut: Cut,
}

/// How a grid is cut.
enum Cut {
    Boxes { boxes: Boxes, wraps: [bool; 3] },
    Cells(Partition),
}

impl Parts {
    fn new(grid: Grid, needs: HaloNeeds, ranks: &ThreadRanks) -> Result<Parts, Error> {
        let HaloNeeds { layers, cuts, wraps } = needs;
        let shape = grid.closed_shape().copied();
        let (grid, cut) = match (&ranks.partition, shape) {
            (Some(partition), _) => (grid.as_unstructured(), Cut::Cells(partition.clone())),
            (None, Some(shape)) => {
                let n = shape.n.map(|n| n as u64);
                let wraps = std::array::from_fn(|axis| wraps[axis] || shape.joined[axis]);
                let boxes = Boxes::cut_along(cuts, n, wraps, ranks.n_ranks, [[1; 2]; 3]).map_err(|error| uncut(error, cuts))?;
                (grid, Cut::Boxes { boxes, wraps })
            }
            (None, None) => {
                let grid = grid.as_unstructured();
                let partition = bisection::partition(&CellGraph::of(&grid), grid.centroids(EntityKind::Cell), ranks.n_ranks)?;
                (grid, Cut::Cells(partition))
            }
        };
        Ok(Parts { grid, layers: layers as usize, cut })
    }

    fn part(&self, rank: RankId) -> Result<Grid, Error> {
        match &self.cut {
            Cut::Cells(partition) => self.grid.part_of(partition.owners(), rank, self.layers),
            Cut::Boxes { boxes, wraps } => {
                let own = boxes.box_of(rank);
                let [start, len] = [own.start, own.len].map(|sizes| sizes.map(|size| size as usize));
                let part = PartBox { start, len, layers: self.layers, wraps: *wraps };
                let boxes = *boxes;
                self.grid.box_of(part, move |ijk| boxes.owner(ijk.map(|at| at as u64)))
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
