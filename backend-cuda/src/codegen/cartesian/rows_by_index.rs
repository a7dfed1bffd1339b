//! Kernels that read by index, with several cells of a row in each thread: these load together the
//! values of their own row, and those of another row at the same offset.

use equelle_front::backend::usage::BodyUsage;
use equelle_front::ir::KBlock;

use crate::codegen::emit::around::RowsTogether;
use crate::codegen::emit::outputs::{CELL, store};
use crate::codegen::emit::uses::GridUse;
use crate::codegen::emit::writer::{Form, Source, Writer};
use crate::codegen::signature::{Argument, Function, LaunchBounds, finish};

use super::row_cells::{registers_of_rows, stores_rows, widths_within};

/// Registers for the values that are loaded together, with each choice of launch bounds.
const REGISTERS: [(usize, LaunchBounds); 2] = [(40, LaunchBounds::RowCells), (56, LaunchBounds::MoreRowCells)];
/// Registers for the values that threads keep from plane to plane.
const COLUMN_REGISTERS: usize = 40;
/// Registers for these values and those loaded for a plane. A thread has 96; a kernel that needs
/// all of them for values spills.
const PLANE_REGISTERS: usize = 88;
/// Rows from which it pays: a kernel that reads along x alone loads each value by itself.
const MIN_ROWS: usize = 3;

/// The function for several cells of a row a thread, where they load enough rows together.
pub(in crate::codegen) fn row_function_by_index(source: Source<'_>, block: &KBlock) -> Option<Function> {
    let kernel = source.kernel;
    let is_light = LaunchBounds::for_cells(&BodyUsage::from_block(kernel, source.sets, block), block) == LaunchBounds::Light;
    if !is_light || kernel.writes_what_it_reads() || !stores_rows(kernel) {
        return None;
    }
    planes_function(source, block).or_else(|| {
        let mut w = Writer::new(source, Form::Cells);
        w.around.together = Some(RowsTogether::default());
        w.line("EqCell cell;");
        w.line("if (!eq_row_here<ROW>(g, cell)) return;");
        let rows = w.cells_of_rows(block);
        if rows < MIN_ROWS {
            return None;
        }
        // As many cells as one instruction loads, with more registers if need be.
        let (widths, bounds) = widths_and_bounds(source, rows)?;
        Some(row_function(source, w, bounds).with_row_widths(widths))
    })
}

/// The function whose threads go from plane to plane, where that pays.
fn planes_function(source: Source<'_>, block: &KBlock) -> Option<Function> {
    let widths = widths_within(source, 1, COLUMN_REGISTERS)?;
    let arrays = COLUMN_REGISTERS / registers_of_rows(source, widths);
    let mut w = Writer::new(source, Form::Cells);
    let run = w.run_of_planes(block, arrays)?;
    w.around.together = Some(RowsTogether { run: Some(run), ..RowsTogether::default() });
    w.line("EqCell cell;");
    w.line("if (!eq_column_here<ROW>(g, cell)) return;");
    let loaded = w.cells_of_planes(block, widths.last().copied().unwrap_or(1));
    if loaded * registers_of_rows(source, widths) > PLANE_REGISTERS {
        return None;
    }
    Some(row_function(source, w, LaunchBounds::Planes).with_row_widths(widths))
}

fn row_function(source: Source<'_>, w: Writer<'_>, bounds: LaunchBounds) -> Function {
    let mut arguments = vec![Argument::Cartesian];
    arguments.extend(w.uses.ranks.iter().copied().map(Argument::Ranks));
    finish(w, format!("{}_cartesian_rows", source.name), bounds, arguments, GridUse::default())
}

/// The widest numbers of cells that fit, and the launch bounds with which they do.
fn widths_and_bounds(source: Source<'_>, rows: usize) -> Option<(&'static [u32], LaunchBounds)> {
    let fitting = REGISTERS.iter().filter_map(|&(registers, bounds)| Some((widths_within(source, rows, registers)?, bounds)));
    // Among equally wide ones the first wins: it has fewer registers.
    fitting.rev().max_by_key(|(widths, _)| widths.last().copied())
}

impl Writer<'_> {
    /// Writes the body for the cells of a row; returns the number of arrays loaded together.
    fn cells_of_rows(&mut self, block: &KBlock) -> usize {
        self.load_per_axis(block);
        let results = self.names_of_rows();
        let text = self.cells_of_row(block, &results);
        let together = self.around.together.take().unwrap_or_default();
        self.whole_row(&together.definitions, &results, &text);
        together.loads.len()
    }

    /// Writes the body for `row` cells of a row, plane after plane; returns the number of arrays
    /// that are loaded or kept.
    fn cells_of_planes(&mut self, block: &KBlock, row: u32) -> usize {
        self.load_per_axis(block);
        let (block, divides) = self.same_for_every_cell(block);
        let results = self.names_of_rows();
        self.indent += 1;
        let text = self.cells_of_row(&block, &results);
        self.indent -= 1;
        self.inverses.clear();
        let together = self.around.together.take().unwrap_or_default();
        let run = together.run.unwrap_or_default();
        self.open_planes(&run);
        if divides {
            self.line("rare = rare_divisor;");
        }
        self.whole_row(&together.definitions, &results, &text);
        if divides {
            self.open("if (rare) {");
            self.line("#pragma unroll 1");
            self.open("for (int at = 0; at < ROW; ++at) {");
            self.line("EqCell cell = eq_cell_of_row(row, at);");
            self.line("eq_forget(cell);");
            self.with_cells_around(|w| {
                w.statements(&block);
                store(w, &block, CELL.0, CELL.1);
            });
            self.close("}");
            self.close("}");
        }
        self.close_planes(&run);
        together.loads.len() + run.arrays(row)
    }

    /// Names of arrays for the results in a row.
    fn names_of_rows(&mut self) -> Vec<String> {
        self.results.clone().iter().map(|name| self.names.fresh(&format!("{name}_row"))).collect()
    }

    /// The loop over the cells of a row.
    fn cells_of_row(&mut self, block: &KBlock, results: &[String]) -> String {
        let before = std::mem::take(&mut self.out);
        self.open("for (int at = 0; at < ROW; ++at) {");
        self.line("const EqCell cell = eq_cell_of_row(row, at);");
        self.with_cells_around(|w| {
            w.statements(block);
            for (name, value) in results.iter().zip(&block.yields) {
                let value = w.expr(value);
                w.line(&format!("{name}[at] = {};", value.bare()));
            }
        });
        self.close("}");
        std::mem::replace(&mut self.out, before)
    }

    /// Writes that loop, with the lines before and after it.
    fn whole_row(&mut self, definitions: &[String], results: &[String], cells: &str) {
        for line in definitions {
            self.line(line);
        }
        for (name, result) in results.iter().zip(&self.kernel.results) {
            let text = format!("{} {name}[ROW];", self.reals.stored(&result.ty, false));
            self.line(&text);
        }
        self.line("const EqCell row = cell;");
        self.line("#pragma unroll");
        self.out += cells;
        for (name, to) in results.iter().zip(self.results.clone()) {
            self.line(&format!("eq_store_row({to}, row.index, {name});"));
        }
    }
}
