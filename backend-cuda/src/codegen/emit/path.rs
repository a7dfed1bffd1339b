//! Paths: entities, and where the elements that belong to them are.

use equelle_front::ir::{Path, Side};
use equelle_front::types::{CanonicalSet, Extent, SetId};

use super::sides::SideNames;
use super::text::mentions;
use super::writer::{Form, Writer};

impl Writer<'_> {
    /// An entity.
    pub(in crate::codegen) fn path(&self, path: &Path) -> String {
        match path {
            Path::Here => match self.form {
                Form::General => "here".to_owned(),
                Form::Cells => "cell.index".to_owned(),
                Form::PerAxis(_) => "axis".to_owned(),
            },
            Path::Local(id) => self.local(*id).to_owned(),
            Path::First(face) => self.cell_of_side(face, true).unwrap_or_else(|| format!("{}.first", self.cells_of(face))),
            Path::Second(face) => self.cell_of_side(face, false).unwrap_or_else(|| format!("{}.second", self.cells_of(face))),
            Path::Through { param, at } => self.load(*param, at),
            Path::Select { condition, if_true, if_false } => {
                format!("({} ? {} : {})", self.expr(condition), self.path(if_true), self.path(if_false))
            }
            Path::SideFace(side) => format!("eq_side_face(g, cell, axis, {})", high(*side)),
            Path::Neighbour(side) => format!("eq_neighbour(g, cell, axis, {})", high(*side)),
            Path::Empty => "EQ_NONE".to_owned(),
        }
    }

    pub(in crate::codegen) fn cells_of(&self, face: &Path) -> String {
        if let Path::Local(id) = face
            && let Some(side) = self.sides.get(id)
        {
            return side.cells.clone();
        }
        if self.tells_pattern() {
            return format!("eq_try_cells(grid, {})", self.path(face));
        }
        format!("eq_cells(grid, {})", self.path(face))
    }

    /// Position in a collection over `set` of the element that belongs to an entity.
    pub(in crate::codegen) fn position(&self, set: SetId, at: &Path) -> String {
        if *at == Path::Here && self.kernel.space_set() == Some(set) {
            return if self.form == Form::General { "element".to_owned() } else { self.path(at) };
        }
        let all = self.sets.get(set).canonical.is_some_and(|c| c.extent == Extent::All);
        if all { self.path(at) } else { self.rank(set, at) }
    }

    pub(in crate::codegen) fn rank(&self, set: SetId, at: &Path) -> String {
        let ranks = &self.ranks[&set];
        match (self.form, at) {
            (Form::General, Path::Local(id)) if self.sides.contains_key(id) => self.rank_of_side(set, at, &self.sides[id]),
            (Form::General, _) if self.tells_pattern() => format!("eq_try_rank({ranks}, {})", self.path(at)),
            (Form::General, _) => format!("eq_rank({ranks}, {})", self.path(at)),
            (_, Path::SideFace(side)) => format!("eq_side_rank(g, {ranks}, cell, axis, {})", high(*side)),
            (Form::Cells, Path::Here) => format!("eq_cell_rank(g, {ranks}, cell)"),
            (Form::Cells | Form::PerAxis(_), _) => format!("eq_rank_cartesian(g, {ranks}, {})", self.path(at)),
        }
    }

    pub(in crate::codegen) fn member(&self, set: SetId, at: &Path) -> String {
        let canonical = self.sets.get(set).canonical;
        if canonical.is_some_and(|c| c.extent == Extent::All) {
            return "true".to_owned();
        }
        if self.form == Form::General
            && let Path::Local(id) = at
            && let Some(SideNames { neighbour, .. }) = self.sides.get(id)
        {
            match canonical {
                Some(CanonicalSet::INTERIOR_FACES) => return format!("eq_is_inside({neighbour})"),
                Some(CanonicalSet::BOUNDARY_FACES) => return format!("(!eq_is_inside({neighbour}))"),
                Some(_) | None => {}
            }
        }
        format!("({} != EQ_NONE)", self.rank(set, at))
    }

    /// Sets whose ranks the text mentions, in order.
    pub(in crate::codegen) fn used_ranks(&self) -> Vec<SetId> {
        self.ranks.iter().filter(|(_, name)| mentions(&self.out, name)).map(|(&set, _)| set).collect()
    }
}

pub(in crate::codegen) fn high(side: Side) -> u32 {
    match side {
        Side::Low => 0,
        Side::High => 1,
    }
}
