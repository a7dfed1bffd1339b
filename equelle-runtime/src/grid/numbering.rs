//! Numbers of entities in a grid and in its file.

use super::arrays::NONE;
use crate::entity::EntityKind;

/// Numbers of entities of one kind here and in the file.
#[derive(Clone, Debug)]
pub(super) struct Permutation {
    pub to_file: Vec<u32>,
    pub from_file: Vec<u32>,
}

impl Permutation {
    /// From the entities in their new order; `None` if it is the old one.
    pub(super) fn new(to_file: Vec<u32>) -> Option<Permutation> {
        if to_file.iter().enumerate().all(|(new, &old)| new == old as usize) {
            return None;
        }
        let mut from_file = vec![NONE; to_file.len()];
        for (new, &old) in to_file.iter().enumerate() {
            from_file[old as usize] = new as u32;
        }
        Some(Permutation { to_file, from_file })
    }
}

/// Permutations between the numbering of a grid and that of its file; none by default.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbering {
    pub cells: Option<Permutation>,
    pub faces: Option<Permutation>,
    /// Number of interior faces, where all of them come before all others.
    pub interior_first: Option<usize>,
}

impl Numbering {
    pub(super) fn of(&self, kind: EntityKind) -> Option<&Permutation> {
        match kind {
            EntityKind::Cell => self.cells.as_ref(),
            EntityKind::Face => self.faces.as_ref(),
            EntityKind::Edge | EntityKind::Vertex => None,
        }
    }
}
