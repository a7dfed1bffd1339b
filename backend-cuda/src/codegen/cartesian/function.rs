//! The functions for Cartesian grids: of every cell, and of values per axis.

use equelle_front::backend::visit::{Node, visit_block};
use equelle_front::ir::{KBlock, KStmt, Kernel};
use equelle_front::types::{EntityKind, SetTable};

use crate::codegen::emit::outputs::store;
use crate::codegen::emit::reals::Reals;
use crate::codegen::emit::writer::{Form, Writer};
use crate::codegen::signature::{Argument, Function, GridNeeds, finish};

/// Every cell of a Cartesian grid. Where sides on the boundary differ, the inside is gone through without asking for them: asked for at every cell, they take a tenth of the time of a step
/// of explicit heat, and threads that run in step wait for the one whose cell is on the boundary.
pub(in crate::codegen) fn cell_function(
    kernel: &Kernel,
    sets: &SetTable,
    reals: Reals,
    name: &str,
    comment: &str,
    block: &KBlock,
) -> Function {
    let size = "(size_t)g.n[0] * g.n[1] * g.n[2]";
    let mut w = Writer::new(kernel, sets, reals, Form::Cells);
    let apart = sums_sides(block);
    if apart {
        let mut inside = Writer::new(kernel, sets, reals, Form::Cells);
        inside.inside = true;
        inside.open("if (eq_is_inside_block(g)) {");
        inside.line("EqCell cell;");
        inside.line("#pragma unroll 1");
        inside.open("for (unsigned int step = 0; step < g.cells_per_thread; ++step) {");
        inside.line("if (!eq_inside_cell_here(g, step, cell)) continue;");
        inside.load_here(block);
        inside.statements(block);
        store(&mut inside, kernel, block, "cell.index", size);
        inside.close("}");
        inside.line("return;");
        inside.close("}");
        w.body_at = inside.out.len();
        w.out = inside.out;
    }
    w.line("EqCell cell;");
    w.line(if apart { "if (!eq_boundary_cell_here(g, cell)) return;" } else { "if (!eq_cell_here(g, cell)) return;" });
    w.load_here(block);
    w.statements(block);
    store(&mut w, kernel, block, "cell.index", size);
    let mut arguments = vec![Argument::Cartesian];
    arguments.extend(w.used_ranks().into_iter().map(Argument::Ranks));
    Function { apart, ..finish(w, kernel, name, comment, arguments, GridNeeds::default()) }
}

/// Whether a block sums over the sides of its cell.
fn sums_sides(block: &KBlock) -> bool {
    let mut found = false;
    visit_block(block, &mut |node| found |= matches!(node, Node::Stmt(KStmt::SumSides { .. })));
    found
}

pub(in crate::codegen) fn axis_function(
    kernel: &Kernel,
    sets: &SetTable,
    reals: Reals,
    name: &str,
    comment: &str,
    block: &KBlock,
) -> Function {
    let faces = kernel.space_kind(sets) == Some(EntityKind::Face);
    let mut w = Writer::new(kernel, sets, reals, Form::PerAxis(faces));
    w.line("const int axis = (int)eq_index();");
    w.line(if faces { "if (axis >= DIM) return;" } else { "if (axis >= 1) return;" });
    w.statements(block);
    store(&mut w, kernel, block, "axis", if faces { "DIM" } else { "1" });
    finish(w, kernel, name, comment, vec![Argument::Cartesian], GridNeeds::default())
}
