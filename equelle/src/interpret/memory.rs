//! What the interpreter needs memory for: the plan that generated programs have as a constant, of
//! how it runs a program itself.

use equelle_front::ir::Module;
use equelle_front::memory::{self, Needs};
use equelle_front::types;
use equelle_runtime::{Buffers, CanonicalSet, EntityKind, Extent, MemoryPlan, SetMemory, SolveMemory};

/// The plan of a program that runs by lanes; `None` for programs without collections.
pub(super) fn by_lanes(module: &Module) -> Option<&'static MemoryPlan> {
    plan(module, &Needs::by_lanes(module))
}

/// The same of one that runs element by element.
pub(super) fn by_elements(module: &Module) -> Option<&'static MemoryPlan> {
    plan(module, &Needs::by_elements(module))
}

/// It lives as long as the process, because generated programs have it as a constant.
fn plan(module: &Module, needs: &Needs) -> Option<&'static MemoryPlan> {
    if needs.sets.is_empty() && needs.solves.is_empty() {
        return None;
    }
    let sets = &module.sets;
    let collections = needs.sets.iter().map(|entry| SetMemory {
        name: super::leak(&sets.get(entry.set).name),
        set: canonical_set(sets.canonical_superset(entry.set)),
        canonical: sets.get(entry.set).canonical.is_some(),
        general: buffers(entry.general),
        cartesian: buffers(entry.cartesian),
        reduced: entry.reduced,
    });
    let solves = needs.solves.iter().map(|solve| SolveMemory {
        line: solve.line,
        unknowns: all(solve.unknowns.iter().map(|&set| canonical_set(sets.canonical_superset(set)))),
        entries: all(solve.entries.iter().copied()),
        additions: all(solve.additions.iter().copied()),
        cartesian: solve.cartesian,
        blocks: solve.blocks,
    });
    Some(Box::leak(Box::new(MemoryPlan {
        collections: all(collections),
        solves: all(solves),
        topology: needs.topology,
        geometry: needs.geometry,
        positions: all(needs.positions.iter().map(|&set| canonical_set(set))),
        lists: all(needs.lists.iter().map(|&set| canonical_set(set))),
    })))
}

fn all<T>(items: impl Iterator<Item = T>) -> &'static [T] {
    Box::leak(items.collect::<Vec<T>>().into_boxed_slice())
}

fn buffers(buffers: memory::Buffers) -> Buffers {
    Buffers::new(buffers.numbers, buffers.truths, buffers.entities)
}

fn canonical_set(set: types::CanonicalSet) -> CanonicalSet {
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
