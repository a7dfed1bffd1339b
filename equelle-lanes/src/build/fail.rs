//! Choices whose branches may fail at an element: only the branch taken is evaluated.

use equelle_front::ir::visit::{Node, visit_block, visit_expr, visit_path};
use equelle_front::ir::{KBlock, KExpr, Path};
use equelle_front::types::CanonicalSet;

use super::Builder;

/// Most parts of a branch that is evaluated in all lanes.
const FEW: usize = 12;

impl Builder<'_> {
    /// True if a branch is evaluated only in the lanes that take it: it may fail, or costs
    /// more than to open a region.
    pub fn needs_region(&self, branch: &KExpr) -> bool {
        let (mut parts, mut fails) = (0, false);
        visit_expr(branch, &mut |node| {
            parts += 1;
            fails |= self.node_may_fail(node) || is_costly(node);
        });
        fails || parts > FEW
    }

    /// The same of a path.
    pub fn path_needs_region(&self, branch: &Path) -> bool {
        let mut fails = false;
        visit_path(branch, &mut |node| fails |= self.node_may_fail(node));
        fails
    }

    /// The same of a block.
    pub fn block_needs_region(&self, branch: &KBlock) -> bool {
        let (mut parts, mut fails) = (0, false);
        visit_block(branch, &mut |node| {
            parts += 1;
            fails |= self.node_may_fail(node) || is_costly(node) || matches!(node, Node::Stmt(_));
        });
        fails || parts > FEW
    }

    fn node_may_fail(&self, node: Node<'_>) -> bool {
        match node {
            Node::Stmt(_) => false,
            Node::Expr(KExpr::Load { param, at }) => self.read_may_fail(*param, at),
            Node::Path(Path::Through { param, at }) => self.read_may_fail(*param, at),
            Node::Expr(
                KExpr::Measure(at)
                | KExpr::Centroid(at)
                | KExpr::FaceGap(at)
                | KExpr::FaceTransmissibility(at)
                | KExpr::Normal(at)
                | KExpr::CellFact { at, .. }
                | KExpr::Member { at, .. },
            ) => self.may_be_empty(at),
            Node::Path(Path::First(at) | Path::Second(at) | Path::Offset { from: at, .. }) => self.may_be_empty(at),
            Node::Expr(KExpr::Component(_, index)) => *index as usize >= self.target.dim,
            Node::Expr(_) | Node::Path(_) => false,
        }
    }

    fn read_may_fail(&self, param: equelle_front::ir::ParamId, at: &Path) -> bool {
        let set = self.kernel.param(param).and_then(|param| param.ty.mapping());
        let holds_all = set.is_some_and(|set| {
            let all = [CanonicalSet::ALL_CELLS, CanonicalSet::ALL_FACES];
            (*at == Path::Here && Some(set) == self.space()) || all.iter().any(|&all| self.target.sets.get(set).canonical == Some(all))
        });
        !holds_all || self.may_be_empty(at)
    }

    fn may_be_empty(&self, at: &Path) -> bool {
        match at {
            Path::Here | Path::SideFace(_) | Path::Shift { .. } => false,
            Path::Local(local) => !self.never_empty.contains(local),
            Path::Offset { from, .. } => self.may_be_empty(from),
            Path::First(_) | Path::Second(_) | Path::Through { .. } | Path::Select { .. } | Path::Empty => true,
        }
    }
}

/// True if a part takes as long as ten others.
fn is_costly(node: Node<'_>) -> bool {
    matches!(node, Node::Expr(KExpr::Unary(equelle_front::ir::UnaryOp::Elementary(_), _) | KExpr::Math(..) | KExpr::Interpolate { .. }))
        && !matches!(node, Node::Expr(KExpr::Math(equelle_front::ops::BinaryMath::Min | equelle_front::ops::BinaryMath::Max, ..)))
}
