//! Bodies for several cells of a row a thread, whose values are loaded and stored together.
//!
//! Light kernels wait for memory: with more bytes a load, fewer loads carry the same numbers.

use equelle_front::backend::usage::BodyUsage;
use equelle_front::backend::visit::{Node, visit_block};
use equelle_front::ir::{KBlock, KExpr, KStmt, Kernel, ParamId, Path, Precision, Side, SideBlocks};
use equelle_front::types::{Basic, Shape};

use crate::codegen::emit::path::high;
use crate::codegen::emit::writer::{Form, Source, Writer};
use crate::codegen::signature::LaunchBounds;

/// Registers for the values that a thread loads before it computes. Beyond them, `EQ_ROW_CELLS`
/// leaves too few for the rest.
const MAX_REGISTERS: usize = 40;

/// Values that the cells of a row load together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RowLoads {
    /// Parameters read in the cell or beyond one of its sides: the neighbour along x is in the row.
    own: Vec<ParamId>,
    /// Parameters read beyond a side, and which one: 0 or 1.
    beyond: Vec<(ParamId, u32)>,
}

/// Numbers of cells that threads of a kernel may take, if any; and its body inside the grid.
pub(in crate::codegen) fn row_widths(source: Source<'_>, block: &KBlock) -> Option<(&'static [u32], KBlock)> {
    let kernel = source.kernel;
    let bounds = LaunchBounds::of(&BodyUsage::from_block(kernel, source.sets, block), false);
    if !bounds.leaves_registers() || !stores_rows(kernel) {
        return None;
    }
    let inside = inside_of(block);
    let loads = RowLoads::of(&Writer::new(source, Form::Cells), &inside)?;
    // Along x, neighbours take one register more.
    let rows = loads.own.len() + 2 * loads.beyond.len();
    Some((widths_within(source, rows, MAX_REGISTERS)?, inside))
}

/// True if the results of adjacent cells are numbers that can be stored together.
pub(super) fn stores_rows(kernel: &Kernel) -> bool {
    kernel.results.iter().all(|r| r.reduce.is_none() && r.ty.basic == Basic::Scalar && matches!(r.ty.shape, Shape::Collection(_)))
}

/// The numbers of cells whose values, of so many arrays, fit into so many registers. The values of
/// an array have 16 bytes at most, which one instruction loads.
pub(super) fn widths_within(source: Source<'_>, arrays: usize, registers: usize) -> Option<&'static [u32]> {
    let widths: &[&'static [u32]] = match source.reals.stored_precision() {
        Precision::Double => &[&[2]],
        Precision::Single => &[&[2, 4], &[2]],
    };
    widths.iter().copied().find(|widths| arrays * registers_of_rows(source, widths) <= registers)
}

/// Registers for the values of an array in the largest of these numbers of cells.
pub(super) fn registers_of_rows(source: Source<'_>, widths: &[u32]) -> usize {
    let words = match source.reals.stored_precision() {
        Precision::Double => 2,
        Precision::Single => 1,
    };
    widths.last().map_or(0, |&width| width as usize * words)
}

/// A body of cells that are inside the grid.
fn inside_of(block: &KBlock) -> KBlock {
    let statement = |statement: &KStmt| match statement {
        KStmt::ReduceSides { reduction, results, extreme_faces, low, high } => KStmt::ReduceSides {
            reduction: *reduction,
            results: results.clone(),
            extreme_faces: extreme_faces.clone(),
            low: SideBlocks { boundary: None, ..low.clone() },
            high: SideBlocks { boundary: None, ..high.clone() },
        },
        KStmt::If { results, condition, then, otherwise } => {
            KStmt::If { results: results.clone(), condition: condition.clone(), then: inside_of(then), otherwise: inside_of(otherwise) }
        }
        KStmt::Let { .. } | KStmt::LetEntity { .. } | KStmt::ReduceFaces { .. } | KStmt::Add { .. } => statement.clone(),
    };
    KBlock { statements: block.statements.iter().map(statement).collect(), yields: block.yields.clone() }
}

impl RowLoads {
    /// Finds the loads of a body inside the grid; `None` if it loads something else, or nothing
    /// beyond a side.
    fn of(w: &Writer<'_>, inside: &KBlock) -> Option<Self> {
        let mut loads = RowLoads::default();
        let mut together = true;
        visit_block(inside, &mut |node| {
            let Node::Expr(KExpr::Load { param, at }) = node else {
                together &= !matches!(node, Node::Path(Path::Through { .. } | Path::Offset { .. }));
                return;
            };
            if w.kernel.params[param.0 as usize].per_axis {
                return;
            }
            match at {
                Path::Here | Path::Shift { .. } if w.is_everywhere(*param) => {}
                _ => together = false,
            }
            if !loads.own.contains(param) {
                loads.own.push(*param);
            }
            if let Path::Shift { by, .. } = at {
                let side = (*param, high(Side::towards(*by)));
                if !loads.beyond.contains(&side) {
                    loads.beyond.push(side);
                }
            }
        });
        (together && !loads.beyond.is_empty()).then_some(loads)
    }
}

impl Writer<'_> {
    /// The loop of a thread over its rows of cells inside the grid.
    pub(in crate::codegen) fn rows_inside(&mut self, block: &KBlock) {
        let Some(loads) = RowLoads::of(self, block) else { return };
        self.inside = true;
        self.row = true;
        self.loads_neighbours_first = false;
        self.open("if (eq_is_inside_block(g)) {");
        self.line("EqCell row;");
        self.line("#pragma unroll 1");
        self.open("for (unsigned int step = 0; step < g.cells_per_thread; ++step) {");
        self.line("if (!eq_inside_row_here<ROW>(g, step, row)) continue;");
        self.load_rows(&loads);
        self.load_per_axis(block);
        let results: Vec<String> = self.results.clone().iter().map(|name| self.names.fresh(&format!("{name}_row"))).collect();
        for (name, result) in results.iter().zip(&self.kernel.results) {
            let text = format!("{} {name}[ROW];", self.reals.stored(&result.ty, false));
            self.line(&text);
        }
        self.line("#pragma unroll");
        self.open("for (int at = 0; at < ROW; ++at) {");
        self.line("const EqCell cell = eq_cell_of_row(row, at);");
        self.statements(block);
        for (name, value) in results.iter().zip(&block.yields) {
            let value = self.expr(value);
            self.line(&format!("{name}[at] = {};", value.bare()));
        }
        self.close("}");
        for (name, to) in results.iter().zip(self.results.clone()) {
            self.line(&format!("eq_store_inside_row(g, {to}, row, {name});"));
        }
        self.close("}");
        self.close("}");
    }

    fn load_rows(&mut self, loads: &RowLoads) {
        let number = self.reals.number();
        for &param in &loads.own {
            let values = self.param(param);
            let name = self.names.fresh(&format!("{values}_here"));
            self.line(&format!("{number} {name}[ROW];"));
            self.line(&format!("eq_load_row({name}, {values}, row.index);"));
            self.here.insert(param, name);
        }
        for &(param, side) in &loads.beyond {
            let values = self.param(param);
            let name = self.names.fresh(&format!("{values}_{}", if side == 0 { "low" } else { "high" }));
            self.line(&format!("{number} {name}[DIM][ROW];"));
            self.neighbours.insert((param, side), name);
        }
        self.line("#pragma unroll");
        self.open("for (int axis = 0; axis < DIM; ++axis) {");
        for &(param, side) in &loads.beyond {
            let (values, here, name) = (self.param(param), self.here[&param].clone(), self.neighbours[&(param, side)].clone());
            self.line(&format!("eq_load_neighbour_row({name}[axis], {here}, g, {values}, row, axis, {side});"));
        }
        self.close("}");
    }
}
