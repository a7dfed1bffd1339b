//! The functions for Cartesian grids: of every cell, and of values per axis.

use equelle_front::backend::usage::BodyUsage;
use equelle_front::ir::KBlock;
use equelle_front::types::EntityKind;

use crate::codegen::emit::outputs::{CELL, store};
use crate::codegen::emit::uses::GridUse;
use crate::codegen::emit::writer::{Form, Source, Writer};
use crate::codegen::signature::{Argument, Function, LaunchBounds, finish};

use super::row_cells::row_widths;

/// Every cell of a Cartesian grid. Where sides on the boundary differ, the inside is gone through
/// without asking for them: asked for at every cell, they take a tenth of the time of a step of
/// explicit heat, and threads that run in step wait for the one whose cell is on the boundary.
pub(in crate::codegen) fn cell_function(source: Source<'_>, block: &KBlock) -> Function {
    let usage = BodyUsage::from_block(source.kernel, source.sets, block);
    let bounds = LaunchBounds::for_cells(&usage, block);
    let first = bounds.leaves_registers();
    let mut w = Writer::new(source, Form::Cells);
    w.loads_neighbours_first = first;
    let apart = usage.sums_sides;
    if apart {
        let mut inside = Writer::new(source, Form::Cells);
        inside.inside = true;
        inside.loads_neighbours_first = first;
        inside.open("if (eq_is_inside_block(g)) {");
        inside.line("EqInsideCell cell;");
        inside.line("#pragma unroll 1");
        inside.open("for (unsigned int step = 0; step < g.cells_per_thread; ++step) {");
        inside.line("if (!eq_inside_cell_here(g, step, cell)) continue;");
        inside.cell(block, bounds == LaunchBounds::Wide);
        inside.close("}");
        inside.line("return;");
        inside.close("}");
        w.append(inside);
    }
    w.line("EqCell cell;");
    w.line(if apart { "if (!eq_boundary_cell_here(g, cell)) return;" } else { "if (!eq_cell_here(g, cell)) return;" });
    w.cell(block, bounds == LaunchBounds::Wide);
    let mut arguments = vec![Argument::Cartesian];
    arguments.extend(w.uses.ranks.iter().copied().map(Argument::Ranks));
    let function = finish(w, format!("{}_cartesian", source.name), bounds, arguments, GridUse::default());
    if apart { function.inside_and_boundary() } else { function }
}

/// The function with several cells of a row per thread, if these load values together.
pub(in crate::codegen) fn row_function(source: Source<'_>, block: &KBlock) -> Option<Function> {
    let (widths, inside) = row_widths(source, block)?;
    let mut w = Writer::new(source, Form::Cells);
    let mut rows = Writer::new(source, Form::Cells);
    rows.rows_inside(&inside);
    w.append(rows);
    w.line("EqCell cell;");
    w.line("if (!eq_boundary_cell_beside_rows(g, cell)) return;");
    w.cell(block, false);
    let mut arguments = vec![Argument::Cartesian];
    arguments.extend(w.uses.ranks.iter().copied().map(Argument::Ranks));
    let name = format!("{}_cartesian_rows", source.name);
    Some(finish(w, name, LaunchBounds::RowCells, arguments, GridUse::default()).inside_and_boundary().with_row_widths(widths))
}

impl Writer<'_> {
    /// All of one cell; what is read of it alone first, unless registers are few.
    fn cell(&mut self, block: &KBlock, is_wide: bool) {
        if is_wide {
            self.load_per_axis(block);
            self.wide_cell(block);
            return;
        }
        self.with_cells_around(|w| {
            w.load_here(block);
            w.statements(block);
            store(w, block, CELL.0, CELL.1);
        });
    }
}

/// Values that are kept per axis of a Cartesian grid, or once.
pub(in crate::codegen) fn axis_function(source: Source<'_>, block: &KBlock) -> Function {
    let faces = source.kernel.space_kind(source.sets) == Some(EntityKind::Face);
    let mut w = Writer::new(source, Form::PerAxis(faces));
    w.line("const int axis = (int)eq_index();");
    w.line(if faces { "if (axis >= DIM) return;" } else { "if (axis >= 1) return;" });
    w.statements(block);
    store(&mut w, block, "axis", if faces { "DIM" } else { "1" });
    let bounds = LaunchBounds::of(&BodyUsage::from_block(source.kernel, source.sets, block), false);
    finish(w, format!("{}_per_axis", source.name), bounds, vec![Argument::Cartesian], GridUse::default())
}
