//! Geometry, components and costly operations that the expressions and statements of a kernel use.

use std::collections::BTreeSet;

use crate::ir::visit::{Node, visit_block, visit_expr, visit_general};
use crate::ir::{KBlock, KExpr, KStmt, Kernel, Path, UnaryOp};
use crate::ops::Arithmetic;
use crate::types::{EntityKind, SetTable};

/// Usage of expressions and statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodyUsage {
    /// Kinds of entities whose volume, area or length is read.
    pub measures: BTreeSet<EntityKind>,
    /// Kinds of entities whose centroid is read.
    pub centroids: BTreeSet<EntityKind>,
    /// True if normals are read.
    pub normals: bool,
    /// True if gaps of faces are read.
    pub gaps: bool,
    /// True if given transmissibilities of faces are read.
    pub transmissibilities: bool,
    /// Divisions and square roots, each counted where it stands.
    pub divisions_and_roots: usize,
    /// Numbers of components of the Vectors that are built from numbers: the dimensions of the only
    /// grid that fits.
    pub vector_sizes: BTreeSet<usize>,
    /// The largest component of a Vector that is named.
    pub largest_component: Option<u32>,
    /// True if it sums over the sides of a cell.
    pub sums_sides: bool,
}

impl BodyUsage {
    /// Collects the usage of a kernel's conditions and of its body for any grid.
    pub fn from_general_form(kernel: &Kernel, sets: &SetTable) -> Self {
        let mut usage = BodyUsage::default();
        visit_general(kernel, &mut |node| usage.add(kernel, sets, node));
        usage
    }

    /// Collects the usage of a kernel's conditions.
    pub fn from_checks(kernel: &Kernel, sets: &SetTable) -> Self {
        let mut usage = BodyUsage::default();
        for check in &kernel.checks {
            visit_expr(&check.condition, &mut |node| usage.add(kernel, sets, node));
        }
        usage
    }

    /// Collects the usage of a block of a kernel.
    pub fn from_block(kernel: &Kernel, sets: &SetTable, block: &KBlock) -> Self {
        let mut usage = BodyUsage::default();
        visit_block(block, &mut |node| usage.add(kernel, sets, node));
        usage
    }

    /// Combines both usages.
    #[must_use]
    pub fn and(mut self, other: BodyUsage) -> Self {
        let BodyUsage { measures, centroids, vector_sizes, .. } = other;
        self.measures.extend(measures);
        self.centroids.extend(centroids);
        self.vector_sizes.extend(vector_sizes);
        self.normals |= other.normals;
        self.gaps |= other.gaps;
        self.transmissibilities |= other.transmissibilities;
        self.divisions_and_roots += other.divisions_and_roots;
        self.largest_component = self.largest_component.max(other.largest_component);
        self.sums_sides |= other.sums_sides;
        self
    }

    fn add(&mut self, kernel: &Kernel, sets: &SetTable, node: Node<'_>) {
        // A path to no entity, such as Empty, has the geometry of a cell.
        let kind = |at: &Path| kernel.path_kind(sets, at).unwrap_or(EntityKind::Cell);
        match node {
            Node::Expr(KExpr::Measure(at)) => {
                self.measures.insert(kind(at));
            }
            Node::Expr(KExpr::Centroid(at)) => {
                self.centroids.insert(kind(at));
            }
            Node::Expr(KExpr::Normal(_)) => self.normals = true,
            Node::Expr(KExpr::FaceGap(_)) => self.gaps = true,
            Node::Expr(KExpr::FaceTransmissibility(_)) => self.transmissibilities = true,
            Node::Expr(KExpr::Arithmetic(Arithmetic::Div, ..) | KExpr::Unary(UnaryOp::Sqrt, _)) => self.divisions_and_roots += 1,
            Node::Expr(KExpr::Vector(components)) => {
                self.vector_sizes.insert(components.len());
            }
            Node::Expr(KExpr::Component(_, index)) => self.largest_component = self.largest_component.max(Some(*index)),
            Node::Stmt(KStmt::ReduceSides { .. }) => self.sums_sides = true,
            Node::Expr(_) | Node::Stmt(_) | Node::Path(_) => {}
        }
    }
}
