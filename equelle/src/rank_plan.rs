//! Plans of runs on ranks: cells, exchanges and memory of each rank, found without running. For a
//! Cartesian grid nothing as large as the grid is allocated.

mod counter;
mod memory;

use std::collections::BTreeMap;
use std::rc::Rc;

use equelle_front::backend::Backend;
use equelle_front::ir::Module;
use equelle_front::passes::halo::HaloExchange;
use equelle_front::source::Span;
use equelle_front::types::{Basic, SetId};
use equelle_runtime::params::Parameters;
use equelle_runtime::rank_parts::{Cut, RankParts};
use equelle_runtime::ranks::{Boxes, HaloCounts};
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent, Program};

use crate::interpret::Kernels;
use crate::interpret::memory::{self as needs, canonical_set};
use crate::rank_program::RankProgram;
use counter::{Counter, real_bytes};
pub use memory::{PlannedMemory, RankMemory};

/// The cells of a grid.
const ALL_CELLS: CanonicalSet = CanonicalSet::new(EntityKind::Cell, Extent::All);

/// Plan of a run on ranks.
#[derive(Clone, Debug)]
pub struct RankPlan {
    /// Layers of the halo of each rank.
    pub layers: u32,
    /// Parts of the grid.
    pub cut: PlannedCut,
    /// Cells of each rank, with a halo of all layers.
    pub cells: Rc<HaloCounts>,
    /// Exchanges in the order of the text.
    pub exchanges: Vec<PlannedExchange>,
    /// Unknowns of solves, exchanged before each evaluation of their residuals.
    pub unknowns: Vec<PlannedExchange>,
    /// Memory of each rank.
    pub memory: PlannedMemory,
}

/// How a grid is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedCut {
    /// Boxes of a Cartesian grid.
    Boxes {
        /// Cells along each axis of the grid.
        cells: Vec<u64>,
        /// Ranks along each axis of the grid.
        ranks: Vec<u32>,
        /// Axes that are not cut, and why.
        uncut: Vec<(Axis, Uncut)>,
    },
    /// As `partition_file` says.
    Given,
    /// Parts of a grid of arrays, by bisection.
    Bisection,
}

/// An axis of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis(pub usize);

/// Reasons why an axis is not cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncut {
    /// The program reads around it, and sees its ends.
    HasEnds,
    /// Other cuts cost less.
    Costs,
}

/// An exchange of a value.
#[derive(Clone, Debug)]
pub struct PlannedExchange {
    /// The user's name of the value; empty for one that has none.
    pub name: String,
    /// Equelle line of the value; 0 if unknown.
    pub line: u32,
    /// Layers.
    pub depth: u32,
    /// Line of the loop in each round of which it happens; none for one that happens once.
    pub rounds: Option<u32>,
    /// Name of its set.
    pub set: String,
    /// Name of the canonical set whose elements are counted, where the set is not canonical: the
    /// numbers are bounds from above then.
    pub counted_in: Option<String>,
    /// Messages to each neighbour: one for each component.
    pub components: u64,
    /// Bytes of a component.
    pub bytes: u64,
    /// Elements that each rank sends.
    pub counts: Rc<HaloCounts>,
}

impl PlannedExchange {
    /// Messages and bytes that each rank sends. `[n_ranks]`
    pub fn sent(&self) -> impl Iterator<Item = [u64; 2]> {
        let of_component = |elements: u64| elements * self.bytes;
        self.counts.ranks.iter().map(move |rank| [rank.neighbours, of_component(rank.sent)].map(|sent| sent * self.components))
    }
}

/// Occasions of exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Occasion {
    /// Once in a run.
    Once,
    /// In each round of the loop of this line.
    Round(u32),
    /// Before each evaluation of the residuals of the solve of this line.
    Evaluation(u32),
}

/// Exchanges of one occasion.
#[derive(Clone, Debug)]
pub struct PlannedRound<'a> {
    /// The occasion.
    pub occasion: Occasion,
    /// In the order of the text.
    pub exchanges: Vec<&'a PlannedExchange>,
    /// Messages and bytes that each rank sends. `[n_ranks]`
    pub sent: Vec<[u64; 2]>,
}

impl RankPlan {
    /// Plans a run with parameters as on the command line of a simulator, interpreted by some
    /// kernels or built for a back-end.
    ///
    /// # Errors
    /// Those of the grid; `Data` if it cannot be cut so often.
    pub fn new(
        program: &Program,
        compiled: &RankProgram,
        words: &[String],
        n_ranks: u32,
        kernels: PlannedKernels,
    ) -> Result<RankPlan, Error> {
        let module = compiled.verified().module();
        let parts = RankParts::new(program, &Parameters::from_words(words)?, compiled.needs(), n_ranks, None)?;
        let mut counter = Counter::new(&parts);
        let layers = compiled.halo().layers;
        let cells = counter.counts(ALL_CELLS, layers)?;
        let halo = compiled.halo();
        let mut planned = |exchanges: &[HaloExchange]| -> Result<Vec<PlannedExchange>, Error> {
            exchanges.iter().map(|exchange| planned_exchange(&mut counter, module, exchange)).collect()
        };
        let (exchanges, unknowns) = (planned(&halo.exchanges)?, planned(&halo.unknowns)?);
        let needs = match kernels {
            PlannedKernels::Interpreted(Kernels::Elements) => needs::by_elements(module),
            PlannedKernels::Interpreted(Kernels::Lanes | Kernels::Cuda) => needs::by_lanes(module),
            PlannedKernels::Built(backend) => needs::built(module, backend),
        };
        let superset = |exchange: &HaloExchange| Some(canonical_set(module.sets.canonical_superset(exchange.ty.mapping()?)));
        let exchanged = halo.exchanges.iter().chain(&halo.unknowns).filter_map(superset);
        let memory = memory::plan(module, &needs.unwrap_or_default(), &mut counter, layers, exchanged)?;
        let cut = match &parts.cut {
            Cut::Boxes { boxes, .. } => planned_boxes(boxes, compiled, parts.grid.dim()),
            Cut::Given(_) => PlannedCut::Given,
            Cut::Bisection(_) => PlannedCut::Bisection,
        };
        Ok(RankPlan { layers, cut, cells, exchanges, unknowns, memory })
    }

    /// Exchanges by occasion; those that happen once come first.
    pub fn rounds(&self) -> Vec<PlannedRound<'_>> {
        let mut groups: BTreeMap<Occasion, Vec<&PlannedExchange>> = BTreeMap::new();
        for exchange in &self.exchanges {
            groups.entry(exchange.rounds.map_or(Occasion::Once, Occasion::Round)).or_default().push(exchange);
        }
        for unknown in &self.unknowns {
            groups.entry(Occasion::Evaluation(unknown.rounds.unwrap_or(0))).or_default().push(unknown);
        }
        let rounds = groups.into_iter().map(|(occasion, exchanges)| {
            let mut sent = vec![[0; 2]; self.cells.ranks.len()];
            for (rank, [messages, bytes]) in exchanges.iter().flat_map(|exchange| exchange.sent().enumerate()) {
                sent[rank] = [sent[rank][0] + messages, sent[rank][1] + bytes];
            }
            PlannedRound { occasion, exchanges, sent }
        });
        rounds.collect()
    }
}

/// How a planned program runs.
#[derive(Clone, Copy)]
pub enum PlannedKernels {
    /// By the interpreter.
    Interpreted(Kernels),
    /// Built for a back-end.
    Built(&'static dyn Backend),
}

fn planned_boxes(boxes: &Boxes, compiled: &RankProgram, dim: usize) -> PlannedCut {
    let whole = |axis: &usize| boxes.ranks()[*axis] == 1 && boxes.cells()[*axis] > 1 && boxes.n_ranks() > 1;
    let why = |axis| if compiled.needs().cuts[axis] { Uncut::Costs } else { Uncut::HasEnds };
    PlannedCut::Boxes {
        cells: boxes.cells()[..dim].to_vec(),
        ranks: boxes.ranks()[..dim].to_vec(),
        uncut: (0..dim).filter(whole).map(|axis| (Axis(axis), why(axis))).collect(),
    }
}

/// The plan of an exchange.
fn planned_exchange(counter: &mut Counter<'_>, module: &Module, exchange: &HaloExchange) -> Result<PlannedExchange, Error> {
    let HaloExchange { name, depth, ty, span, rounds } = exchange;
    let line = |span: Span| if module.source.text().is_empty() { 0 } else { module.source.line(span.start) };
    let set = ty.mapping().unwrap_or(SetId(0));
    let superset = module.sets.canonical_superset(set);
    let (components, bytes) = match ty.basic {
        Basic::Vector => (counter.grid().dim() as u64, real_bytes(module)),
        Basic::Bool => (1, 1),
        Basic::Scalar | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => (1, real_bytes(module)),
    };
    Ok(PlannedExchange {
        name: name.clone(),
        line: line(*span),
        depth: *depth,
        rounds: rounds.map(line),
        set: module.sets.get(set).name.clone(),
        counted_in: module.sets.get(set).canonical.is_none().then(|| format!("{}()", superset.name())),
        components,
        bytes,
        counts: counter.counts(canonical_set(superset), *depth)?,
    })
}
