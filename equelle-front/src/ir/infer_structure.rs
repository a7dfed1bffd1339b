//! Requirements of operations on the structure of a grid.

use crate::ir::op::{Block, Module, Op, StmtKind};
use crate::ir::structure::Structure;
use crate::ir::visit::{Node, visit_block};
use crate::ir::{KExpr, KStmt, Kernel, Path};
use crate::ops::{Beyond, GridNumber, Offset, SideMap};
use crate::source::Span;

/// Returns the structure that the operations of a module need, if they need any: not more than
/// [`Module::structure`].
pub fn structure(module: &Module) -> Option<Structure> {
    let mut found = None;
    for function in module.functions.iter().chain([&module.main]) {
        add_block(&function.body, &mut found);
    }
    for kernel in &module.kernels {
        let span = kernel.spans.first().copied().unwrap_or_default();
        visit_block(&kernel.body, &mut |node| match node {
            // Passes add up offsets that wrap around, which may do so more than once then.
            Node::Path(Path::Offset { by, beyond, .. }) => add_offset(&mut found, *by, *beyond, span, |_| 1),
            Node::Expr(KExpr::CellFact { fact, .. }) => add(&mut found, usize::from(fact.axis()), 1, span),
            Node::Path(_) | Node::Expr(_) | Node::Stmt(_) => {}
        });
    }
    found
}

/// True if the elements of a kernel go over their faces, on any grid.
pub fn sums_over_faces(kernel: &Kernel) -> bool {
    let mut sums = false;
    visit_block(&kernel.body, &mut |node| sums |= matches!(node, Node::Stmt(KStmt::ReduceFaces { .. })));
    sums
}

/// True if a kernel reads by index, or asks where a cell is in the grid.
pub fn reads_by_index(kernel: &Kernel) -> bool {
    let mut reads = false;
    visit_block(&kernel.body, &mut |node| {
        reads |= matches!(node, Node::Path(Path::Offset { .. }) | Node::Expr(KExpr::CellFact { .. }));
    });
    reads
}

fn add_block(block: &Block, found: &mut Option<Structure>) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Let { op, .. } => match op {
                Op::Shift { by, beyond, .. } => add_offset(found, *by, *beyond, statement.span, u32::from),
                Op::CellFact { fact, .. } => add(found, usize::from(fact.axis()), 1, statement.span),
                Op::GridNumber(GridNumber::Width(axis) | GridNumber::Extent(axis)) => add(found, usize::from(*axis), 1, statement.span),
                _ => {}
            },
            StmtKind::For { body, .. } => add_block(body, found),
            StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
}

/// `wrapped`: how many cells an axis needs so that a read may go this far around.
fn add_offset(found: &mut Option<Structure>, by: Offset, beyond: Beyond, span: Span, wrapped: impl Fn(u8) -> u32) {
    for axis in 0..3 {
        if by[axis] != 0 {
            let reach = by[axis].unsigned_abs();
            let cells = match beyond[2 * axis + usize::from(by[axis] > 0)] {
                SideMap::Wrap => wrapped(reach),
                map @ (SideMap::Mirror | SideMap::MirrorAt | SideMap::Clamp | SideMap::Never) => map.cells_needed(reach),
            };
            add(found, axis, cells, span);
        }
    }
}

fn add(found: &mut Option<Structure>, axis: usize, cells: u32, span: Span) {
    let structure = found.get_or_insert(Structure { cells: [0; 3], span });
    structure.cells[axis] = structure.cells[axis].max(cells);
    if span != Span::default() && (structure.span == Span::default() || span.start < structure.span.start) {
        structure.span = span;
    }
}
