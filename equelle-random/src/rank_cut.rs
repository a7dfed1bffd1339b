//! How a run is cut into ranks, and compiled programs on them.

use std::sync::Arc;

use equelle_runtime::output::Records;
use equelle_runtime::params::Parameters;
use equelle_runtime::rank_run::{self, ThreadRanks};
use equelle_runtime::ranks::{Partition, RankId};
use equelle_runtime::session::{Options, grid_for_program};
use equelle_runtime::{Error, Program as Runnable, RankNeeds, Session};

use crate::outcome::{Outcome, from_records, with_policy};

/// How a run is cut into ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankCut {
    /// Number of ranks.
    pub n_ranks: u32,
    /// True for cells at random on each, false for boxes or bisection.
    pub scattered: bool,
}

impl RankCut {
    /// As text, which [`RankCut::parse`] reads.
    pub(crate) fn text(self) -> String {
        format!("{}{}", if self.scattered { "~" } else { "" }, self.n_ranks)
    }

    /// From text; `None` for what is none.
    pub(crate) fn parse(text: &str) -> Option<RankCut> {
        let (scattered, number) = text.strip_prefix('~').map_or((false, text), |number| (true, number));
        Some(RankCut { n_ranks: number.parse().ok()?, scattered })
    }

    /// The ranks of a run; `None` for a grid that has fewer cells.
    pub fn ranks(self, runnable: &Arc<Runnable>, words: &[String], seed: u64) -> Option<ThreadRanks> {
        let partition = match self.scattered {
            true => Some(scattered(runnable, words, self.n_ranks, seed)?),
            false => None,
        };
        Some(ThreadRanks { n_ranks: self.n_ranks, partition, seed: Some(seed) })
    }
}

/// Owners at random; `None` for a grid with fewer cells than ranks.
fn scattered(runnable: &Arc<Runnable>, words: &[String], n_ranks: u32, seed: u64) -> Option<Partition> {
    let grid = grid_for_program(runnable, &Parameters::from_words(words).ok()?).ok()?;
    let mut owners: Vec<RankId> = (0..grid.n_cells()).map(|cell| RankId(cell as u32 % n_ranks)).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut owners);
    Partition::new(owners, n_ranks).ok()
}

/// True for the error of a grid that cannot be cut so often.
pub fn is_uncut(error: &Error) -> bool {
    ["cannot be cut into boxes", "has no cell", "go around a grid"].iter().any(|text| error.message.contains(text))
}

/// Runs a compiled program on ranks; `None` for a program, or a grid, that cannot.
pub fn run_compiled(
    runnable: &Arc<Runnable>,
    words: &[String],
    cut: RankCut,
    simulate: impl Fn(Session) -> Result<(), Error> + Sync,
) -> Option<Outcome> {
    let RankNeeds::Halo(needs) = runnable.ranks else { return None };
    let ranks = cut.ranks(runnable, words, runnable.source.text.len() as u64)?;
    let records = Records::default();
    let result = rank_run::run(runnable, needs, &with_policy(runnable, words), Options::silent(), &ranks, &|mut session| {
        if session.rank().is_some_and(|rank| rank.is_root()) {
            session.record_outputs_in(&records);
        }
        simulate(session)
    });
    if result.as_ref().is_err_and(is_uncut) {
        return None;
    }
    Some(from_records(&records, result.map(|_| ())))
}
