//! Known facts about an entity where it stands: the sets that it is in, and whether it is Empty.

use crate::ir::{KExpr, LocalId, Path, Side};
use crate::types::{CanonicalSet, Extent, SetId, SetTable};

use super::super::analysis::is_all;

/// The current axis, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    /// This one.
    Is(u32),
    /// None of those whose components are asked for.
    Other,
}

/// Facts in force, innermost last.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    members: Vec<(Path, SetId, bool)>,
    /// Faces being summed over and the cell they are faces of.
    faces_of: Vec<(LocalId, Path)>,
    /// In the Cartesian form: whether there is a cell beyond the current side.
    pub side: Option<(Side, bool)>,
    /// In a Cartesian form: the axis of the current side, or of the current face.
    pub axis: Option<Axis>,
}

impl Facts {
    /// Number of facts, for [`Facts::reset`].
    pub(super) fn mark(&self) -> (usize, usize) {
        (self.members.len(), self.faces_of.len())
    }

    /// Forgets what was learnt since the mark.
    pub(super) fn reset(&mut self, mark: (usize, usize)) {
        self.members.truncate(mark.0);
        self.faces_of.truncate(mark.1);
    }

    /// `path` is (not) in `set`.
    pub(super) fn learn(&mut self, sets: &SetTable, path: &Path, set: SetId, holds: bool) {
        self.members.push((path.clone(), set, holds));
        // Interior and boundary sets of a kind complement each other.
        if !holds && let Some(canonical) = sets.get(set).canonical {
            let other = match canonical.extent {
                Extent::Interior => Extent::Boundary,
                Extent::Boundary => Extent::Interior,
                Extent::All => return,
            };
            let other = sets.canonical(CanonicalSet { extent: other, ..canonical });
            self.members.push((path.clone(), other, true));
        }
    }

    /// `face` is one of the faces of `cell`.
    pub(super) fn learn_face_of(&mut self, face: LocalId, cell: &Path) {
        self.faces_of.push((face, cell.clone()));
    }

    /// True if an entity is in a set, if known. Empty is in none; that it may be Empty is not
    /// looked at otherwise.
    pub(super) fn member(&self, sets: &SetTable, set: SetId, path: &Path) -> Option<bool> {
        if *path == Path::Empty {
            return Some(false);
        }
        if is_all(sets.get(set).canonical) {
            return Some(true);
        }
        for (known, known_set, holds) in self.members.iter().rev() {
            if known != path {
                continue;
            }
            if *holds {
                if sets.is_subset(*known_set, set) {
                    return Some(true);
                }
                if sets.are_disjoint(*known_set, set) {
                    return Some(false);
                }
            } else if sets.is_subset(set, *known_set) {
                return Some(false);
            }
        }
        None
    }

    /// True if a path leads nowhere, if known.
    pub(super) fn is_empty(&self, sets: &SetTable, path: &Path) -> Option<bool> {
        match path {
            Path::Empty => Some(true),
            Path::Here | Path::Local(_) | Path::SideFace(_) | Path::Shift { .. } => Some(false),
            Path::First(face) | Path::Second(face) => {
                let interior = sets.canonical(CanonicalSet::INTERIOR_FACES);
                (self.member(sets, interior, face) == Some(true)).then_some(false)
            }
            Path::Select { condition, if_true, if_false } => {
                let (a, b) = (self.is_empty(sets, if_true), self.is_empty(sets, if_false));
                if a.is_some() && a == b {
                    return a;
                }
                inside_cell(condition, if_true, if_false).then_some(false)
            }
            Path::Offset { from, .. } => self.is_empty(sets, from),
            Path::Through { .. } => None,
        }
    }

    /// A choice between paths, simplified: the only cell of a boundary face met on the way round a
    /// cell is that cell.
    pub(super) fn select_path(&self, sets: &SetTable, condition: KExpr, if_true: Path, if_false: Path) -> Path {
        match condition {
            KExpr::Bool(true) => return if_true,
            KExpr::Bool(false) => return if_false,
            _ => {}
        }
        if if_true == if_false {
            return if_true;
        }
        if inside_cell(&condition, &if_true, &if_false)
            && let Path::First(face) | Path::Second(face) = &if_true
            && let Path::Local(local) = **face
            && self.member(sets, sets.canonical(CanonicalSet::BOUNDARY_FACES), face) == Some(true)
            && let Some((_, cell)) = self.faces_of.iter().rev().find(|(f, _)| *f == local)
        {
            return cell.clone();
        }
        Path::Select { condition: Box::new(condition), if_true: Box::new(if_true), if_false: Box::new(if_false) }
    }
}

/// `IsEmpty(first(f)) ? second(f) : first(f)` or its mirror image.
fn inside_cell(condition: &KExpr, if_true: &Path, if_false: &Path) -> bool {
    let KExpr::IsEmpty(tested) = condition else { return false };
    if tested != if_false {
        return false;
    }
    match (if_true, if_false) {
        (Path::Second(a), Path::First(b)) | (Path::First(a), Path::Second(b)) => a == b,
        _ => false,
    }
}
