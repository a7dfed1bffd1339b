//! Memory plans of programs that are interpreted, as generated programs have them.

use equelle_front::backend::Backend;
use equelle_front::ir::Module;
use equelle_front::memory::{self, Needs};
use equelle_front::types;
use equelle_runtime::{Buffers, CanonicalSet, EntityKind, Extent, MemoryPlan, SetMemory, SolveMemory};

/// The plan of a program that runs by lanes; `None` for programs without collections.
pub(crate) fn by_lanes(module: &Module) -> Option<MemoryPlan> {
    plan(module, &Needs::by_lanes(module))
}

/// The same of one that runs element by element.
pub(crate) fn by_elements(module: &Module) -> Option<MemoryPlan> {
    plan(module, &Needs::by_elements(module))
}

/// The same of one that is built for a back-end.
pub(crate) fn built(module: &Module, backend: &dyn Backend) -> Option<MemoryPlan> {
    plan(module, &Needs::on_back_ends(module, &[backend]))
}

fn plan(module: &Module, needs: &Needs) -> Option<MemoryPlan> {
    if needs.sets.is_empty() && needs.solves.is_empty() {
        return None;
    }
    let sets = &module.sets;
    let collections = needs.sets.iter().map(|entry| SetMemory {
        name: sets.get(entry.set).name.as_str().into(),
        set: canonical_set(sets.canonical_superset(entry.set)),
        canonical: sets.get(entry.set).canonical.is_some(),
        general: buffers(entry.general),
        cartesian: buffers(entry.cartesian),
        reduced: entry.reduced,
    });
    let solves = needs.solves.iter().map(|solve| SolveMemory {
        line: solve.line,
        unknowns: solve.unknowns.iter().map(|&set| canonical_set(sets.canonical_superset(set))).collect(),
        entries: solve.entries.clone(),
        additions: solve.additions.clone(),
        cartesian: solve.cartesian,
        blocks: solve.blocks,
    });
    Some(MemoryPlan {
        collections: collections.collect(),
        solves: solves.collect(),
        topology: needs.topology,
        geometry: needs.geometry,
        positions: needs.positions.iter().map(|&set| canonical_set(set)).collect(),
        lists: needs.lists.iter().map(|&set| canonical_set(set)).collect(),
    })
}

fn buffers(buffers: memory::Buffers) -> Buffers {
    Buffers::new(buffers.numbers, buffers.truths, buffers.entities)
}

/// A canonical set, as the runtime knows it.
pub(crate) fn canonical_set(set: types::CanonicalSet) -> CanonicalSet {
    let kind = match set.kind {
        types::EntityKind::Cell => EntityKind::Cell,
        types::EntityKind::Face => EntityKind::Face,
        types::EntityKind::Edge => EntityKind::Edge,
        types::EntityKind::Vertex => EntityKind::Vertex,
    };
    let extent = match set.extent {
        types::Extent::Interior => Extent::Interior,
        types::Extent::Boundary => Extent::Boundary,
        types::Extent::All => Extent::All,
    };
    CanonicalSet::new(kind, extent)
}
