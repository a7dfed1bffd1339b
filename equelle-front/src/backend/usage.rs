//! What each kernel of a verified module uses: one side table that code generators read, so that
//! none looks into the text that it has written.

use std::collections::BTreeSet;

use crate::backend::loop_invariant::loop_invariant_params;
use crate::backend::visit::{Node, visit_block, visit_expr, visit_general};
use crate::ir::{KBlock, KExpr, KStmt, Kernel, Module, ParamId, Path, UnaryOp};
use crate::ops::Arithmetic;
use crate::types::{Basic, EntityKind, SetTable};

/// What the kernels of a module use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleUsage {
    /// `[kernels]`
    pub kernels: Vec<KernelUsage>,
}

impl ModuleUsage {
    /// Of a module that [`crate::verify`] accepts.
    pub fn of(module: &Module) -> Self {
        let kernels = module.kernels.iter().zip(loop_invariant_params(module));
        ModuleUsage { kernels: kernels.map(|(kernel, params)| KernelUsage::of(kernel, &module.sets, params)).collect() }
    }
}

/// What one kernel uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelUsage {
    /// Its conditions and its body for any grid.
    pub general: BodyUsage,
    /// Parameters whose argument is the same in every round of the innermost loop around its
    /// launches.
    pub loop_invariant: BTreeSet<ParamId>,
    /// Whether a condition may fail at an element.
    pub can_fail: bool,
    /// Whether the host waits for the conditions after a launch: later launches rely on them.
    pub host_waits: bool,
}

impl KernelUsage {
    fn of(kernel: &Kernel, sets: &SetTable, loop_invariant: BTreeSet<ParamId>) -> Self {
        let can_fail = !kernel.checks.is_empty();
        // Later launches follow entities without asking again whether they are Empty.
        let makes_entities = kernel.results.iter().any(|result| matches!(result.ty.basic, Basic::Entity(_)));
        KernelUsage {
            general: BodyUsage::of_general(kernel, sets),
            loop_invariant,
            can_fail,
            host_waits: can_fail && (kernel.results.is_empty() || makes_entities),
        }
    }
}

/// What expressions and statements use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodyUsage {
    /// Kinds of entities whose volume, area or length is read.
    pub measures: BTreeSet<EntityKind>,
    /// Kinds of entities whose centroid is read.
    pub centroids: BTreeSet<EntityKind>,
    /// Whether normals are read.
    pub normals: bool,
    /// Divisions and square roots, each counted where it stands.
    pub divisions_and_roots: usize,
    /// Numbers of components of the Vectors that are built from numbers: the dimensions of the only
    /// grid that fits.
    pub vector_sizes: BTreeSet<usize>,
    /// The largest component of a Vector that is named.
    pub largest_component: Option<u32>,
    /// Whether it sums over the sides of a cell.
    pub sums_sides: bool,
}

impl BodyUsage {
    /// Of the conditions of a kernel and its body for any grid.
    pub fn of_general(kernel: &Kernel, sets: &SetTable) -> Self {
        let mut usage = BodyUsage::default();
        visit_general(kernel, &mut |node| usage.add(kernel, sets, node));
        usage
    }

    /// Of the conditions of a kernel.
    pub fn of_checks(kernel: &Kernel, sets: &SetTable) -> Self {
        let mut usage = BodyUsage::default();
        for check in &kernel.checks {
            visit_expr(&check.condition, &mut |node| usage.add(kernel, sets, node));
        }
        usage
    }

    /// Of a block of a kernel.
    pub fn of_block(kernel: &Kernel, sets: &SetTable, block: &KBlock) -> Self {
        let mut usage = BodyUsage::default();
        visit_block(block, &mut |node| usage.add(kernel, sets, node));
        usage
    }

    /// Of both.
    #[must_use]
    pub fn and(mut self, other: BodyUsage) -> Self {
        let BodyUsage { measures, centroids, vector_sizes, .. } = other;
        self.measures.extend(measures);
        self.centroids.extend(centroids);
        self.vector_sizes.extend(vector_sizes);
        self.normals |= other.normals;
        self.divisions_and_roots += other.divisions_and_roots;
        self.largest_component = self.largest_component.max(other.largest_component);
        self.sums_sides |= other.sums_sides;
        self
    }

    fn add(&mut self, kernel: &Kernel, sets: &SetTable, node: Node<'_>) {
        // What is no entity, as Empty, has the geometry of a cell.
        let kind = |at: &Path| kernel.path_kind(sets, at).unwrap_or(EntityKind::Cell);
        match node {
            Node::Expr(KExpr::Measure(at)) => {
                self.measures.insert(kind(at));
            }
            Node::Expr(KExpr::Centroid(at)) => {
                self.centroids.insert(kind(at));
            }
            Node::Expr(KExpr::Normal(_)) => self.normals = true,
            Node::Expr(KExpr::Arithmetic(Arithmetic::Div, ..) | KExpr::Unary(UnaryOp::Sqrt, _)) => self.divisions_and_roots += 1,
            Node::Expr(KExpr::Vector(components)) => {
                self.vector_sizes.insert(components.len());
            }
            Node::Expr(KExpr::Component(_, index)) => self.largest_component = self.largest_component.max(Some(*index)),
            Node::Stmt(KStmt::SumSides { .. }) => self.sums_sides = true,
            Node::Expr(_) | Node::Stmt(_) | Node::Path(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::parse;

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
