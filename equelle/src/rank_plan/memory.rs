//! Memory of ranks, estimated.

use std::collections::{BTreeMap, BTreeSet};

use equelle_front::ir::Module;
use equelle_front::ir::interface::Data;
use equelle_front::types::{Basic, Shape};
use equelle_runtime::memory::{Estimate, GridSize};
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent, MemoryPlan};

use super::counter::{Counter, real_bytes};
use crate::interpret::memory::canonical_set;

/// Bytes of a cell or face in a part of a grid of arrays: its owner, its layer, and its number in
/// the file with the way back. Boxes have none of these.
const BYTES_IN_PART: u64 = 4 + 1 + 4 + 4;
/// Bytes of an element in the lists of a domain: its place in the whole domain, and again with its
/// position here if it is owned.
const BYTES_IN_LISTS: u64 = 8 + 16;
/// Bytes of a place in the order of the file.
const BYTES_OF_PLACE: u64 = 8;
/// Bytes of a value that is read or put out.
const BYTES_OF_VALUE: u64 = 8;

/// Memory of each rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedMemory {
    /// By rank. `[n_ranks]`
    pub ranks: Vec<RankMemory>,
    /// Bytes on rank 0 beside: whole fields that are read or put out, places of their elements, and
    /// a whole grid of arrays.
    pub whole: u64,
}

/// Memory of a rank in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankMemory {
    /// Collections, and values from files.
    pub collections: u64,
    /// Arrays of its part of the grid.
    pub grid: u64,
    /// Lists of elements that are exchanged, read and put out.
    pub lists: u64,
}

impl RankMemory {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.collections + self.grid + self.lists
    }
}

/// Collections of an interface: sets with the numbers of components.
fn collections<'a>(module: &'a Module, data: impl Iterator<Item = &'a Data>, dim: usize) -> Vec<(CanonicalSet, u64)> {
    let on_set = |data: &Data| {
        let (Shape::Collection(set) | Shape::Domain(set)) = data.ty.shape else { return None };
        let components = if data.ty.basic == Basic::Vector { dim as u64 } else { 1 };
        Some((canonical_set(module.sets.canonical_superset(set)), components))
    };
    data.filter_map(on_set).collect()
}

/// Plans the memory of ranks that need this much, with halos of so many layers, and exchange values
/// on these sets.
pub(super) fn plan(
    module: &Module,
    needs: &MemoryPlan,
    counter: &mut Counter<'_>,
    layers: u32,
    exchanged: impl Iterator<Item = CanonicalSet>,
) -> Result<PlannedMemory, Error> {
    let dim = counter.grid().dim();
    let inputs = collections(module, module.interface.inputs.iter(), dim);
    let outputs = collections(module, module.interface.outputs.iter(), dim);
    let all = |kind| CanonicalSet::new(kind, Extent::All);
    let interior = CanonicalSet::new(EntityKind::Face, Extent::Interior);
    let reduced = needs.collections.iter().filter(|set| set.reduced).map(|set| set.set);
    let listed: BTreeSet<CanonicalSet> = inputs.iter().chain(&outputs).map(|&(set, _)| set).chain(reduced).chain(exchanged).collect();
    let mut sets: BTreeSet<CanonicalSet> = listed.clone();
    sets.extend(needs.collections.iter().map(|set| set.set));
    sets.extend(needs.positions.iter().chain(&needs.lists).flat_map(|&set| [set, all(set.kind)]));
    sets.extend([all(EntityKind::Cell), all(EntityKind::Face), interior]);
    let has_ranks = |set: &CanonicalSet| matches!(set.kind.on_grid_of(dim), EntityKind::Cell | EntityKind::Face);
    let mut lens: BTreeMap<CanonicalSet, (u64, Vec<u64>)> = BTreeMap::new();
    for set in sets.into_iter().filter(has_ranks) {
        let whole = counter.counts(set, 0)?.total(|rank| rank.owned);
        lens.insert(set, (whole, counter.lens(set, layers)?));
    }
    let whole = |set: CanonicalSet| lens.get(&set).map_or(0, |(whole, _)| *whole);
    let on_ranks = |set: CanonicalSet| lens.get(&set).map_or(0, |(_, lens)| lens.iter().sum());
    let len = |set: CanonicalSet, rank: usize| lens.get(&set).map_or(0, |(_, lens)| lens[rank]);
    let n_ranks = counter.counts(all(EntityKind::Cell), 0)?.ranks.len();
    let is_cartesian = counter.grid().cartesian_shape().is_some();
    let mut ranks = Vec::with_capacity(n_ranks);
    for rank in 0..n_ranks {
        let (n_cells, n_faces) = (len(all(EntityKind::Cell), rank), len(all(EntityKind::Face), rank));
        let grid = GridSize { dim, is_cartesian, is_renumbered: false, n_cells, n_faces };
        let estimate = Estimate::without_solves(needs, grid, real_bytes(module), &|set| len(set, rank));
        let values: u64 = estimate.collections.iter().chain(&estimate.at_most).map(|(_, bytes)| bytes).sum();
        let read: u64 = inputs.iter().map(|&(set, components)| BYTES_OF_VALUE * components * len(set, rank)).sum();
        let part = if is_cartesian { 0 } else { BYTES_IN_PART * (n_cells + n_faces) };
        ranks.push(RankMemory {
            collections: values + read,
            grid: estimate.grid + part,
            lists: listed.iter().map(|&set| BYTES_IN_LISTS * len(set, rank)).sum(),
        });
    }
    let distinct = |data: &[(CanonicalSet, u64)]| data.iter().map(|&(set, _)| set).collect::<BTreeSet<_>>();
    let places = distinct(&outputs).into_iter().map(whole).chain(distinct(&inputs).into_iter().map(on_ranks)).sum::<u64>();
    // Values that arrive stand beside those in the order of the file.
    let field = |times: u64| move |&(set, components): &(CanonicalSet, u64)| (set, times * components);
    let fields = outputs.iter().map(field(2)).chain(inputs.iter().map(field(1)));
    let largest = fields.map(|(set, times)| BYTES_OF_VALUE * times * whole(set)).max().unwrap_or(0);
    let grid = if is_cartesian { 0 } else { Estimate::without_solves(needs, counter.grid().into(), real_bytes(module), &whole).grid };
    Ok(PlannedMemory { ranks, whole: BYTES_OF_PLACE * places + largest + grid })
}
