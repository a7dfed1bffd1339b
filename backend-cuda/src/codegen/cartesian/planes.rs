//! Threads that go from plane to plane: a value that is read at many places along the third axis is
//! loaded once for all cells above and below it, not once for each.

use std::collections::BTreeMap;

use equelle_front::backend::offset_steps::{Steps, offset_steps};
use equelle_front::backend::visit::{Node, visit_block};
use equelle_front::ir::{KBlock, KExpr, KStmt, LocalId, ParamId, Path};

use crate::codegen::emit::around::{RunOfPlanes, Stretch};
use crate::codegen::emit::writer::Writer;

/// Reads along the third axis from which it pays.
const MIN_PLANES: usize = 5;

impl Writer<'_> {
    /// Returns what threads keep from plane to plane, if that pays and takes at most `most_arrays`
    /// arrays.
    pub(super) fn run_of_planes(&mut self, block: &KBlock, most_arrays: usize) -> Option<RunOfPlanes> {
        let reads = self.reads_around(block);
        let mut run = RunOfPlanes::default();
        let mut params: Vec<ParamId> = reads.iter().map(|(param, _)| *param).collect();
        params.sort_unstable();
        params.dedup();
        for &param in &params {
            let of = || reads.iter().filter(|(read, _)| *read == param).map(|(_, steps)| steps);
            let above: Vec<&Steps> = of().filter(|[x, y, _]| x.is_empty() && y.is_empty()).map(|[.., z]| z).collect();
            let columns = Stretch::of(param, &above).into_iter().filter(|column| {
                let mut planes: Vec<i8> = above.iter().filter_map(|steps| column.step(param, steps)).collect();
                planes.sort_unstable();
                planes.dedup();
                planes.len() >= MIN_PLANES
            });
            for column in columns {
                let name = self.names.fresh(&format!("{}_column", self.params[param.0 as usize]));
                run.columns.push((column, name));
            }
            let mut rows: Vec<[Steps; 2]> = Vec::new();
            for [_, y, z] in of() {
                let row = [y.clone(), z.clone()];
                if !rows.contains(&row) {
                    rows.push(row);
                }
            }
            for row in rows {
                let beside: Vec<&Steps> = of().filter(|[_, y, z]| *y == row[0] && *z == row[1]).map(|[x, ..]| x).collect();
                run.beside.extend(Stretch::of(param, &beside).into_iter().map(|stretch| (stretch, row.clone(), None)));
            }
        }
        let arrays: usize = run.columns.iter().map(|(column, _)| column.len()).sum();
        (arrays > 0 && arrays <= most_arrays).then_some(run)
    }

    /// The numbers that a block reads some steps away from the current cell.
    fn reads_around(&self, block: &KBlock) -> Vec<(ParamId, [Steps; 3])> {
        let mut cells: BTreeMap<LocalId, Path> = BTreeMap::new();
        let mut reads = Vec::new();
        visit_block(block, &mut |node| match node {
            Node::Stmt(KStmt::LetEntity { local, path }) if offset_steps(path, &cells).is_some() => {
                cells.insert(*local, path.clone());
            }
            Node::Expr(KExpr::Load { param, at }) if self.is_everywhere(*param) => {
                if let Some(steps) = offset_steps(at, &cells) {
                    reads.push((*param, steps));
                }
            }
            Node::Stmt(_) | Node::Expr(_) | Node::Path(_) => {}
        });
        reads
    }

    /// Opens the loop over the planes, with what is before it.
    pub(super) fn open_planes(&mut self, run: &RunOfPlanes) {
        for line in &run.definitions {
            self.line(line);
        }
        let number = self.reals.number();
        for (column, name) in &run.columns {
            let [low, high] = column.ends;
            self.line(&format!("EqColumn<{number}, ROW, {low}, {high}> {name};"));
            self.line("#pragma unroll");
            let load = self.load_in_column(column, name, "step");
            self.line(&format!("for (int step = {low}; step < {high}; ++step) {load}"));
        }
        self.line("const unsigned int end = eq_end_of_planes(g, cell);");
        self.line("#pragma unroll 1");
        self.open("for (; cell.ijk[2] < end; eq_next_plane(g, cell)) {");
        for (column, name) in &run.columns {
            let load = self.load_in_column(column, name, &column.ends[1].to_string());
            self.line(&load);
        }
    }

    /// Closes that loop.
    pub(super) fn close_planes(&mut self, run: &RunOfPlanes) {
        for (_, name) in &run.columns {
            self.line(&format!("{name}.go_on();"));
        }
        self.close("}");
    }
}
