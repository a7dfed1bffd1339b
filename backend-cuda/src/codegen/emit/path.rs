//! Paths: entities, and where the elements that belong to them are.

use equelle_front::backend::inside::FaceAcross;
use equelle_front::ir::{LocalId, Path, Side};
use equelle_front::ops::{CellFact, SideMap};
use equelle_front::types::{CanonicalSet, Extent, SetId};

use super::sides::SideNames;
use super::text::Text;
use super::writer::{Form, Writer};

impl Writer<'_> {
    /// An entity.
    pub(in crate::codegen) fn path(&mut self, path: &Path) -> Text {
        if let Some(steps) = self.steps(path) {
            return self.cell_around(steps);
        }
        match path {
            Path::Here => match self.form {
                Form::General => Text::name("here"),
                Form::Cells => Text::atom("cell.index"),
                Form::PerAxis(_) => Text::name("axis"),
            },
            Path::Local(id) => {
                if let Some((cell, axis, high)) = self.side_of_face(*id) {
                    return Text::atom(format!("eq_side_face(g, {cell}, {axis}, {high})"));
                }
                if self.sides.contains_key(id) {
                    self.uses.faces.insert(*id);
                }
                Text::name(self.local(*id))
            }
            Path::First(face) => self.cell_of_face(face, true),
            Path::Second(face) => self.cell_of_face(face, false),
            Path::Through { param, at } => self.load(*param, at),
            Path::Select { condition, if_true, if_false } => {
                Text::compound(format!("{} ? {} : {}", self.expr(condition), self.path(if_true), self.path(if_false)))
            }
            Path::SideFace(side) => Text::atom(format!("eq_side_face(g, cell, axis, {})", high(*side))),
            Path::Shift { by, .. } => Text::atom(format!("eq_neighbour(g, cell, axis, {})", high(Side::towards(*by)))),
            Path::Offset { from, by: [i, j, k], beyond } => {
                let (shape, from) = (self.shape(), self.path(from).bare().to_owned());
                let maps = beyond.map(side_map).join(", ");
                Text::atom(format!("eq_offset_cell({shape}, {from}, {i}, {j}, {k}, {maps})"))
            }
            Path::Empty => Text::name("EQ_NONE"),
        }
    }

    /// Cell, axis and side of a face that a local stands for in the body for cells inside.
    fn side_of_face(&self, local: LocalId) -> Option<(String, usize, u8)> {
        let FaceAcross { axis, first } = self.faces_across.get(&local).copied()?;
        let mut by = first?;
        // Most faces are those of the cell itself.
        let high = by[axis] != -1;
        by[axis] += i8::from(!high);
        let [i, j, k] = by;
        let cell = if by == [0; 3] { "cell".to_owned() } else { format!("eq_cell_at(g, cell, {i}, {j}, {k})") };
        Some((cell, axis, u8::from(high)))
    }

    /// The shape of the grid.
    fn shape(&mut self) -> &'static str {
        if self.form != Form::General {
            return "g";
        }
        self.uses.grid.shape = true;
        "grid.shape"
    }

    /// Position of a cell in a Cartesian grid.
    pub(in crate::codegen) fn cell_fact(&mut self, fact: CellFact, at: &Path) -> Text {
        if let Some(steps) = self.steps(at) {
            return self.fact_around(fact, steps);
        }
        let (shape, at) = (self.shape(), self.path(at).bare().to_owned());
        match fact {
            CellFact::Outside { axis, by } => Text::atom(format!("eq_is_outside({shape}, {at}, {axis}, {by})")),
            CellFact::Index(axis) => {
                let index = format!("eq_index_along({shape}, {at}, {axis})");
                Text::atom(format!("{}({index})", self.reals.number()))
            }
            CellFact::Even([i, j, k]) => Text::atom(format!("eq_is_even({shape}, {at}, {i}, {j}, {k})")),
        }
    }

    /// The first cell of a face, or the second.
    fn cell_of_face(&mut self, face: &Path, first: bool) -> Text {
        if let Some(cell) = self.cell_of_side(face, first) {
            return Text::atom(cell);
        }
        let (cells, end) = (self.cells_of(face), if first { "first" } else { "second" });
        Text::atom(format!("{cells}.{end}"))
    }

    fn cells_of(&mut self, face: &Path) -> String {
        if let Path::Local(id) = face
            && let Some(side) = self.sides.get(id)
        {
            self.uses.face_cells.insert(*id);
            return side.cells.clone();
        }
        self.uses.grid.face_cells = true;
        let cells = if self.tells_pattern() { "eq_try_cells" } else { "eq_cells" };
        format!("{cells}(grid, {})", self.path(face))
    }

    /// Position in a collection over `set` of the element that belongs to an entity.
    pub(in crate::codegen) fn position(&mut self, set: SetId, at: &Path) -> Text {
        if *at == Path::Here && self.kernel.space_set() == Some(set) {
            return if self.form == Form::General { Text::name("element") } else { self.path(at) };
        }
        let all = self.sets.get(set).canonical.is_some_and(|c| c.extent == Extent::All);
        if all { self.path(at) } else { self.rank(set, at) }
    }

    pub(in crate::codegen) fn rank(&mut self, set: SetId, at: &Path) -> Text {
        self.uses.ranks.insert(set);
        let ranks = self.ranks[&set].clone();
        if let (Form::General, Path::Local(id), false) = (self.form, at, self.on_cartesian_grid)
            && let Some(side) = self.sides.get(id).cloned()
        {
            return self.rank_of_side(set, at, &side);
        }
        if let Path::Local(id) = at
            && let Some((cell, axis, high)) = self.side_of_face(*id)
        {
            return Text::atom(format!("eq_side_rank(g, {ranks}, {cell}, {axis}, {high})"));
        }
        Text::atom(match (self.form, at) {
            (Form::General, _) if self.on_cartesian_grid => format!("eq_rank_cartesian(g, {ranks}, {})", self.path(at)),
            (Form::General, _) if self.tells_pattern() => format!("eq_try_rank({ranks}, {})", self.path(at)),
            (Form::General, _) => format!("eq_rank({ranks}, {})", self.path(at)),
            (_, Path::SideFace(side)) => format!("eq_side_rank(g, {ranks}, cell, axis, {})", high(*side)),
            (Form::Cells, Path::Here) => format!("eq_cell_rank(g, {ranks}, cell)"),
            (Form::Cells | Form::PerAxis(_), _) => format!("eq_rank_cartesian(g, {ranks}, {})", self.path(at)),
        })
    }

    pub(in crate::codegen) fn member(&mut self, set: SetId, at: &Path) -> Text {
        let canonical = self.sets.get(set).canonical;
        if canonical.is_some_and(|c| c.extent == Extent::All) {
            return Text::name("true");
        }
        if self.form == Form::General
            && let Path::Local(id) = at
            && let Some(SideNames { neighbour, .. }) = self.sides.get(id)
        {
            match canonical {
                Some(CanonicalSet::INTERIOR_FACES) => return Text::atom(format!("eq_is_inside({neighbour})")),
                Some(CanonicalSet::BOUNDARY_FACES) => return Text::compound(format!("!eq_is_inside({neighbour})")),
                Some(_) | None => {}
            }
        }
        Text::compound(format!("{} != EQ_NONE", self.rank(set, at)))
    }
}

/// Name in the prelude of the map of a side. Any will do for an axis along which no read leaves the
/// grid.
pub(super) fn side_map(map: SideMap) -> &'static str {
    match map {
        SideMap::Wrap => "EQ_WRAP",
        SideMap::Mirror => "EQ_MIRROR",
        SideMap::MirrorAt => "EQ_MIRROR_AT",
        SideMap::Clamp | SideMap::Never => "EQ_CLAMP",
    }
}

pub(in crate::codegen) fn high(side: Side) -> u32 {
    match side {
        Side::Low => 0,
        Side::High => 1,
    }
}
