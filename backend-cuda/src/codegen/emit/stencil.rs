//! Reads by index in the text of bodies that know their cell's place: the rule beyond the grid is
//! applied once for each axis and offset along it, not at each read.

use equelle_front::backend::offset_steps::{Steps, offset_steps};
use equelle_front::ir::{LocalId, ParamId, Path};
use equelle_front::ops::{CellFact, SideMap};
use equelle_front::types::Basic;

use super::around::{RowsTogether, Stretch};
use super::path::side_map;
use super::text::Text;
use super::writer::Writer;

/// Cells that share a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SameFor {
    Cell,
    /// All cells of a row that a thread has.
    Row,
    /// These in all planes that a thread has.
    Planes,
}

impl Writer<'_> {
    /// The steps from the current cell to the end of a path, where they are the same for all cells.
    pub(in crate::codegen) fn steps(&self, path: &Path) -> Option<[Steps; 3]> {
        if self.around.named { offset_steps(path, &self.around.cells) } else { None }
    }

    /// True if a path leads the same steps away from every cell; its local is noted.
    pub(in crate::codegen) fn is_cell_around(&mut self, local: LocalId, path: &Path) -> bool {
        let known = self.steps(path).is_some();
        if known {
            self.around.cells.insert(local, path.clone());
        }
        known
    }

    /// The cell some steps away.
    pub(in crate::codegen) fn cell_around(&mut self, [x, y, z]: [Steps; 3]) -> Text {
        if [&x, &y, &z].iter().all(|steps| steps.is_empty()) {
            return Text::atom("cell.index");
        }
        let row = self.row([y, z]);
        let place = self.place(0, x);
        Text::compound(format!("{row} + {place}"))
    }

    /// The place along an axis some steps away.
    fn place(&mut self, axis: usize, steps: Steps) -> String {
        if steps.is_empty() {
            return format!("cell.ijk[{axis}]");
        }
        if let Some((_, name)) = self.around.places[axis].iter().find(|(known, _)| *known == steps) {
            return name.clone();
        }
        let to = steps.iter().fold(format!("cell.ijk[{axis}]"), |at, (by, maps)| {
            let [low, high] = maps.map(side_map);
            if self.around.inside {
                return format!("{at} {} {}", if *by < 0 { '-' } else { '+' }, by.unsigned_abs());
            }
            let place = if self.is_near(axis, *by) { "eq_near_place" } else { "eq_place" };
            format!("{place}({at}, {by}, g.n[{axis}], {low}, {high})")
        });
        let name = self.names.fresh(&format!("at{}", axis_name(["x", "y", "z"][axis], &steps)));
        let line = format!("const unsigned int {name} = {to};");
        self.define(line, [SameFor::Cell, SameFor::Planes, SameFor::Row][axis]);
        self.around.places[axis].push((steps, name.clone()));
        name
    }

    /// True if so many steps along a joined axis go around the grid at most once.
    fn is_near(&self, axis: usize, by: i8) -> bool {
        u32::from(by.unsigned_abs()) <= self.cells[axis]
    }

    /// The first cell of the row some steps away.
    fn row(&mut self, steps: [Steps; 2]) -> String {
        if let Some((_, name)) = self.around.rows.iter().find(|(known, _)| *known == steps) {
            return name.clone();
        }
        let [y, z] = [0, 1].map(|axis| self.place(axis + 1, steps[axis].clone()));
        let name = self.names.fresh(&format!("row{}{}", axis_name("y", &steps[0]), axis_name("z", &steps[1])));
        self.define(format!("const EqEntity {name} = g.n[0] * ({y} + g.n[1] * {z});"), SameFor::Row);
        self.around.rows.push((steps, name.clone()));
        name
    }

    /// Adds a line to the definitions.
    fn define(&mut self, line: String, same_for: SameFor) {
        match (same_for, &mut self.around.together) {
            (SameFor::Planes, Some(RowsTogether { run: Some(run), .. })) => run.definitions.push(line),
            (SameFor::Planes | SameFor::Row, Some(together)) => together.definitions.push(line),
            (SameFor::Cell, _) | (_, None) => self.around.definitions.push(line),
        }
    }

    /// Text of a value that the cells of a row load together; its row is that of the
    /// current cell, or one at an offset from it.
    pub(in crate::codegen) fn loaded_together(&mut self, param: ParamId, at: &Path) -> Option<Text> {
        self.around.together.as_ref()?;
        let [x, y, z] = self.steps(at)?;
        let is_number = self.kernel.params[param.0 as usize].ty.basic == Basic::Scalar;
        if !is_number || !self.is_everywhere(param) {
            return None;
        }
        if x.is_empty()
            && y.is_empty()
            && let Some(text) = self.in_column(param, &z)
        {
            return Some(text);
        }
        let rows = [y, z];
        if let Some(text) = self.beside(param, &x, &rows) {
            return Some(text);
        }
        if !x.is_empty() {
            return None;
        }
        let together = self.around.together.as_ref()?;
        if let Some((.., name)) = together.loads.iter().find(|(known, steps, _)| *known == param && *steps == rows) {
            return Some(Text::atom(format!("{name}[at]")));
        }
        let (row, values) = (self.row(rows.clone()), self.param(param));
        let name = self.names.fresh(&format!("{values}{}{}", axis_name("y", &rows[0]), axis_name("z", &rows[1])));
        let number = self.reals.number();
        self.define(format!("{number} {name}[ROW];"), SameFor::Row);
        self.define(format!("eq_load_row({name}, {values}, {row} + cell.ijk[0]);"), SameFor::Row);
        self.around.together.as_mut()?.loads.push((param, rows, name.clone()));
        Some(Text::atom(format!("{name}[at]")))
    }

    /// Text of a value above or below the current cell, which a thread keeps from plane to plane.
    fn in_column(&self, param: ParamId, steps: &Steps) -> Option<Text> {
        let columns = &self.around.together.as_ref()?.run.as_ref()?.columns;
        let find = |(column, name): &(Stretch, String)| Some(Text::atom(format!("{name}[{}][at]", column.step(param, steps)?)));
        columns.iter().find_map(find)
    }

    /// A value beside the current cell, in its row or one some steps away from it, which the cells
    /// of a thread load together.
    fn beside(&mut self, param: ParamId, x: &Steps, rows: &[Steps; 2]) -> Option<Text> {
        let run = self.around.together.as_ref()?.run.as_ref()?;
        let fits = |(stretch, of, _): &(Stretch, [Steps; 2], _)| of == rows && stretch.step(param, x).is_some();
        let number = run.beside.iter().position(fits)?;
        let (stretch, _, name) = run.beside[number].clone();
        let by = stretch.step(param, x)?;
        let name = match name {
            Some(name) => name,
            None => self.load_beside(number, &stretch, rows),
        };
        let at = match by {
            0 => "at".to_owned(),
            _ => format!("at {} {}", if by < 0 { '-' } else { '+' }, by.unsigned_abs()),
        };
        Some(Text::atom(format!("{name}[{at}]")))
    }

    fn load_beside(&mut self, number: usize, stretch: &Stretch, rows: &[Steps; 2]) -> String {
        let (row, values) = (self.row(rows.clone()), self.param(stretch.param));
        let suffix = format!("{}{}", axis_name("y", &rows[0]), axis_name("z", &rows[1]));
        let name = self.names.fresh(&format!("{values}_adjacent{suffix}"));
        let [low, high] = stretch.ends.map(i8::unsigned_abs);
        let real = self.reals.number();
        self.define(format!("EqAdjacent<{real}, ROW, {low}, {high}> {name};"), SameFor::Row);
        let column = if rows[0].is_empty() { self.column_at(stretch.param, &rows[1]) } else { None };
        self.define(
            match column {
                Some(column) => format!("{name}.take({column});"),
                None => format!("eq_load_row({name}.own(), {values}, {row} + cell.ijk[0]);"),
            },
            SameFor::Row,
        );
        let near = stretch.ends.iter().all(|&by| self.is_near(0, by));
        let [low, high] = stretch.maps.map(side_map);
        let load = format!("eq_load_adjacent<{near}, {low}, {high}>({name}, {values}, {row}, cell.ijk[0], g.n[0]);");
        self.define(load, SameFor::Row);
        if let Some(run) = self.around.together.as_mut().and_then(|together| together.run.as_mut()) {
            run.beside[number].2 = Some(name.clone());
        }
        name
    }

    /// The part of a column that has the values of the cells of a row.
    fn column_at(&self, param: ParamId, steps: &Steps) -> Option<String> {
        let columns = &self.around.together.as_ref()?.run.as_ref()?.columns;
        columns.iter().find_map(|(column, name)| Some(format!("{name}[{}]", column.step(param, steps)?)))
    }

    /// Lines that load one part of a column, `by` planes from the current cells.
    pub(in crate::codegen) fn load_in_column(&mut self, column: &Stretch, name: &str, by: &str) -> String {
        let values = self.param(column.param);
        let near = column.ends.iter().all(|&by| self.is_near(2, by));
        let (place, [low, high]) = (if near { "eq_near_place" } else { "eq_place" }, column.maps.map(side_map));
        let z = format!("{place}(cell.ijk[2], {by}, g.n[2], {low}, {high})");
        format!("eq_load_row({name}[{by}], {values}, cell.ijk[0] + g.n[0] * (cell.ijk[1] + g.n[1] * {z}));")
    }

    /// Position in the grid of the current cell, or of one at an offset from it.
    pub(in crate::codegen) fn fact_around(&mut self, fact: CellFact, mut steps: [Steps; 3]) -> Text {
        let mut place = |writer: &mut Self, axis: usize| writer.place(axis, std::mem::take(&mut steps[axis]));
        match fact {
            CellFact::Outside { axis, by } => {
                let axis = usize::from(axis);
                Text::atom(format!("eq_is_beyond({}, {by}, g.n[{axis}])", place(self, axis)))
            }
            CellFact::Index(axis) => Text::atom(format!("{}({})", self.reals.number(), place(self, usize::from(axis)))),
            CellFact::Even(axes) => {
                let places: Vec<String> = (0..3).filter(|&axis| axes[axis]).map(|axis| place(self, axis)).collect();
                let sum = if places.is_empty() { "0".to_owned() } else { places.join(" + ") };
                Text::compound(format!("(({sum}) & 1) == 0"))
            }
        }
    }

    /// Writes a body, with the definitions of the neighbouring cells that it uses before it.
    pub(in crate::codegen) fn with_cells_around(&mut self, body: impl FnOnce(&mut Self)) {
        let before = std::mem::take(&mut self.out);
        self.around.named = true;
        body(self);
        let text = std::mem::replace(&mut self.out, before);
        let around = std::mem::take(&mut self.around);
        self.around.together = around.together;
        for line in around.definitions {
            self.line(&line);
        }
        self.out += &text;
    }
}

/// `x_p1`, `x_m2`
fn axis_name(axis: &str, steps: &[(i8, [SideMap; 2])]) -> String {
    let by: i32 = steps.iter().map(|(by, _)| i32::from(*by)).sum();
    let sign = if by < 0 { "m" } else { "p" };
    if steps.is_empty() { String::new() } else { format!("_{axis}{sign}{}", by.unsigned_abs()) }
}
