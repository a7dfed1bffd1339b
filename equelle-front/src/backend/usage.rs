//! Features used by each kernel of a verified module: one side table that code generators read, so
//! that none looks into the text that it has written.

use std::collections::BTreeSet;

use crate::backend::loop_invariant::loop_invariant_params;
pub use crate::ir::body_usage::BodyUsage;
use crate::ir::{Kernel, Module, ParamId};
use crate::types::{Basic, SetTable};

/// Features used by the kernels of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleUsage {
    /// `[kernels]`
    pub kernels: Vec<KernelUsage>,
}

impl ModuleUsage {
    /// Collects the usage of a module that [`crate::verify`] accepts.
    pub fn of(module: &Module) -> Self {
        let kernels = module.kernels.iter().zip(loop_invariant_params(module));
        ModuleUsage { kernels: kernels.map(|(kernel, params)| KernelUsage::of(kernel, &module.sets, params)).collect() }
    }
}

/// Features used by one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelUsage {
    /// Its conditions and its body for any grid.
    pub general: BodyUsage,
    /// Parameters whose argument is the same in every round of the innermost loop around its
    /// launches.
    pub loop_invariant: BTreeSet<ParamId>,
    /// True if a condition may fail at an element.
    pub can_fail: bool,
    /// True if the host waits for the conditions after a launch: later launches rely on them.
    pub host_waits: bool,
}

impl KernelUsage {
    fn of(kernel: &Kernel, sets: &SetTable, loop_invariant: BTreeSet<ParamId>) -> Self {
        let can_fail = !kernel.checks.is_empty();
        // Later launches follow entities without asking again whether they are Empty.
        let makes_entities = kernel.results.iter().any(|result| matches!(result.ty.basic, Basic::Entity(_)));
        KernelUsage {
            general: BodyUsage::from_general_form(kernel, sets),
            loop_invariant,
            can_fail,
            host_waits: can_fail && (kernel.results.is_empty() || makes_entities),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::parse;
    use crate::types::EntityKind;

    const MODULE: &str = "module m
kernel roots over AllCells() {
  param u: Scalar On AllCells()
  result v: Scalar On AllCells()
  body {
    yield (sqrt((u[here] / measure(here))) / component(centroid(here), 1))
  }
}
kernel beyond over BoundaryFaces() {
  param faces: Face On BoundaryFaces() In AllFaces()
  result beyond: Cell On BoundaryFaces() In AllCells()
  check on_empty not(is_empty(faces[here]))
  body {
    yield entity(second(faces[here]))
  }
}
main {
}
";

    #[test]
    fn divisions_geometry_and_components() {
        let usage = &ModuleUsage::of(&parse(MODULE).unwrap()).kernels[0];
        let expected = BodyUsage {
            measures: BTreeSet::from([EntityKind::Cell]),
            centroids: BTreeSet::from([EntityKind::Cell]),
            divisions_and_roots: 3,
            largest_component: Some(1),
            ..BodyUsage::default()
        };
        assert_eq!(usage.general, expected);
        assert!(!usage.can_fail && !usage.host_waits);
    }

    #[test]
    fn the_host_waits_for_entities_that_later_launches_follow() {
        let usage = &ModuleUsage::of(&parse(MODULE).unwrap()).kernels[1];
        assert!(usage.can_fail && usage.host_waits);
    }
}
