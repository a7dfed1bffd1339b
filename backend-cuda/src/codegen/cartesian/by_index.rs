//! Choice of the body that runs on the cells of a Cartesian grid, for kernels that read by index.

use equelle_front::backend::visit::{Node, visit_block};
use equelle_front::ir::{CartesianForm, KBlock, KExpr, KStmt, Kernel, Path, reads_by_index};
use equelle_front::types::{CanonicalSet, EntityKind, SetTable};

/// The body for all cells. A kernel that reads by index runs on Cartesian grids only: its general
/// body serves if it has no Cartesian form.
pub(in crate::codegen) fn body_of_cells<'a>(kernel: &'a Kernel, sets: &SetTable) -> Option<&'a KBlock> {
    let over_cells = kernel.space_set().is_some_and(|set| sets.get(set).canonical == Some(CanonicalSet::ALL_CELLS));
    match &kernel.cartesian {
        Some(CartesianForm::Full(block)) => Some(block),
        Some(CartesianForm::PerAxis(_)) => None,
        None => (over_cells && reads_by_index(kernel) && asks_cells_alone(kernel, &kernel.body, sets)).then_some(&kernel.body),
    }
}

/// True if a body reads only values of cells, and only volumes of the geometry.
fn asks_cells_alone(kernel: &Kernel, body: &KBlock, sets: &SetTable) -> bool {
    let mut alone = true;
    visit_block(body, &mut |node| {
        alone &= match node {
            Node::Stmt(KStmt::ReduceFaces { .. } | KStmt::ReduceSides { .. })
            | Node::Expr(KExpr::Centroid(_) | KExpr::Normal(_) | KExpr::Displacement { .. })
            | Node::Path(Path::First(_) | Path::Second(_) | Path::Through { .. } | Path::SideFace(_) | Path::Shift { .. } | Path::Empty) => {
                false
            }
            Node::Expr(KExpr::Measure(at)) => kernel.path_kind(sets, at) == Some(EntityKind::Cell),
            Node::Stmt(KStmt::Let { .. } | KStmt::LetEntity { .. } | KStmt::If { .. } | KStmt::Add { .. })
            | Node::Expr(_)
            | Node::Path(Path::Here | Path::Local(_) | Path::Offset { .. } | Path::Select { .. }) => true,
        };
    });
    alone
}
