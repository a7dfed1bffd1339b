//! Stores of kernels.

use equelle_front::ir::{KBlock, KExpr, KStmt, LocalId};
use equelle_front::ops::Reduction;
use equelle_front::types::Basic;

use super::text::Text;
use super::writer::Writer;

/// Where a cell is stored, and the number of cells.
pub(in crate::codegen) const CELL: (&str, &str) = ("cell.index", "(size_t)g.n[0] * g.n[1] * g.n[2]");

impl Writer<'_> {
    /// All of a wide kernel for a cell, whose body may be written more than once.
    pub(in crate::codegen) fn wide_cell(&mut self, block: &KBlock) {
        if !self.kernel.writes_what_it_reads() {
            return self.with_divisions(block, |w| w.with_cells_around(|w| w.statements_and_stores(block)));
        }
        // Nothing is stored before all has been computed.
        let results = self.results.clone();
        let values: Vec<String> = results.iter().map(|result| self.names.fresh(&format!("{result}_value"))).collect();
        for (value, result) in values.iter().zip(&self.kernel.results) {
            let text = format!("{} {value};", self.reals.value(result.ty.basic));
            self.line(&text);
        }
        self.with_divisions(block, |w| {
            w.with_cells_around(|w| {
                w.statements(block);
                for (value, result) in values.iter().zip(&block.yields) {
                    let result = w.expr(result);
                    w.line(&format!("{value} = {};", result.bare()));
                }
            });
        });
        for (number, value) in values.into_iter().enumerate() {
            self.store_text(number, &Text::name(value), CELL.0, CELL.1);
        }
    }

    /// All of a cell in the order of its statements, results stored as soon as they are there:
    /// they would wait in registers. No result is in memory that the kernel reads.
    fn statements_and_stores(&mut self, block: &KBlock) {
        // Locals that choices and sums assign are complete only at the end of them.
        let is_let = |id: LocalId| block.statements.iter().any(|s| matches!(s, KStmt::Let { local, .. } if *local == id));
        let early = |(number, value): (usize, &KExpr)| match value {
            KExpr::Local(id) if is_let(*id) => Some((*id, number)),
            _ => None,
        };
        self.early = block.yields.iter().enumerate().filter_map(early).collect();
        self.statements(block);
        let early: Vec<usize> = std::mem::take(&mut self.early).into_iter().map(|(_, number)| number).collect();
        for (number, value) in block.yields.iter().enumerate().filter(|(number, _)| !early.contains(number)) {
            store_one(self, number, value, CELL.0, CELL.1);
        }
    }

    fn store_text(&mut self, number: usize, value: &Text, index: &str, size: &str) {
        let result = &self.kernel.results[number];
        let name = &self.results[number];
        if let Some(reduction) = result.reduce {
            let (largest, value) = (reduction == Reduction::Max, self.reals.reduced(value.clone(), result.ty.basic));
            let text = format!("eq_take_extreme<{largest}>({name}, {});", value.bare());
            return self.line(&text);
        }
        let value = value.bare();
        let text = match result.ty.basic {
            Basic::Vector => format!("eq_store({name}, {size}, {index}, {value});"),
            Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => {
                format!("{name}[{index}] = {value};")
            }
        };
        self.line(&text);
    }

    /// Stores what has just been computed, where it is a result.
    pub(in crate::codegen) fn store_early(&mut self, local: LocalId) {
        let results: Vec<usize> = self.early.iter().filter(|(id, _)| *id == local).map(|(_, number)| *number).collect();
        for number in results {
            store_one(self, number, &KExpr::Local(local), CELL.0, CELL.1);
        }
    }
}

pub(in crate::codegen) fn store(w: &mut Writer<'_>, block: &KBlock, index: &str, size: &str) {
    if block.yields.len() > 1 && w.kernel.writes_what_it_reads() {
        return store_together(w, block, index);
    }
    for (number, value) in block.yields.iter().enumerate() {
        store_one(w, number, value, index, size);
    }
}

/// Stores numbers when all of them have been computed: any may be of what a result is written to.
fn store_together(w: &mut Writer<'_>, block: &KBlock, index: &str) {
    let values = block.yields.iter().map(|value| {
        let (ty, name, value) = (w.reals.number(), w.names.fresh("value"), w.expr(value));
        w.line(&format!("const {ty} {name} = {};", value.bare()));
        name
    });
    let values: Vec<String> = values.collect();
    for (result, value) in w.results.clone().iter().zip(values) {
        w.line(&format!("{result}[{index}] = {value};"));
    }
}

pub(in crate::codegen) fn store_one(w: &mut Writer<'_>, number: usize, value: &KExpr, index: &str, size: &str) {
    let value = w.expr(value);
    w.store_text(number, &value, index, size);
}
