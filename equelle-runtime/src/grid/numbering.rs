//! Numbers of entities in a grid and in its file.

use std::sync::Arc;

use super::arrays::NONE;
use super::box_entities::BoxEntities;
use crate::entity::EntityKind;

/// Numbers of the entities of one kind here and in the file.
#[derive(Clone, Debug)]
pub(super) enum Numbers {
    /// Any order.
    Table(Permutation),
    /// Cells or faces of the box of a rank.
    Box(Arc<BoxEntities>, EntityKind),
}

impl Numbers {
    /// The table; `None` for those of a box.
    pub(super) fn table(&self) -> Option<&Permutation> {
        match self {
            Numbers::Table(numbers) => Some(numbers),
            Numbers::Box(..) => None,
        }
    }

    /// The number in the file of an entity.
    pub(super) fn in_file(&self, entity: u32) -> Option<u32> {
        match self {
            Numbers::Table(numbers) => numbers.to_file.get(entity as usize).copied(),
            Numbers::Box(entities, kind) => entities.in_file(*kind, entity),
        }
    }

    /// The entity that has a number in the file; `None` if it is not here.
    pub(super) fn find(&self, in_file: u32) -> Option<u32> {
        match self {
            Numbers::Table(numbers) => numbers.entity(in_file),
            Numbers::Box(entities, kind) => entities.find(*kind, in_file),
        }
    }

    /// All entities in the order of the file; `None` if that is the order here.
    pub(super) fn in_file_order(&self) -> Option<&[u32]> {
        match self {
            Numbers::Table(numbers) => Some(&numbers.from_file),
            Numbers::Box(entities, kind) => entities.in_file_order(*kind),
        }
    }
}

/// Numbers of entities of one kind here and in the file.
#[derive(Clone, Debug)]
pub(super) struct Permutation {
    /// The number in the file of each entity.
    pub to_file: Vec<u32>,
    /// The entities in the order of the file, which are all that the file has unless `is_part`.
    pub from_file: Vec<u32>,
    /// True if the grid is a part of that of the file.
    is_part: bool,
}

impl Permutation {
    /// From the numbers in the file of the entities of a part of its grid. Those of the halo may
    /// stand for one that is here too, which is the one that is found.
    pub(super) fn from_part(to_file: Vec<u32>, layers: &[u8]) -> Permutation {
        let mut from_file: Vec<u32> = (0..to_file.len() as u32).collect();
        if !to_file.is_sorted_by(|a, b| a < b) {
            from_file.sort_by_key(|&entity| (to_file[entity as usize], layers[entity as usize]));
        }
        Permutation { to_file, from_file, is_part: true }
    }

    /// The entity that has a number in the file; `None` if it is not here.
    pub(super) fn entity(&self, in_file: u32) -> Option<u32> {
        if !self.is_part {
            return self.from_file.get(in_file as usize).copied();
        }
        let first = self.from_file.partition_point(|&entity| self.to_file[entity as usize] < in_file);
        self.from_file.get(first).copied().filter(|&entity| self.to_file[entity as usize] == in_file)
    }

    /// From the entities in their new order; `None` if it is the old one.
    pub(super) fn new(to_file: Vec<u32>) -> Option<Permutation> {
        if to_file.iter().enumerate().all(|(new, &old)| new == old as usize) {
            return None;
        }
        let mut from_file = vec![NONE; to_file.len()];
        for (new, &old) in to_file.iter().enumerate() {
            from_file[old as usize] = new as u32;
        }
        Some(Permutation { to_file, from_file, is_part: false })
    }
}

/// Permutations between the numbering of a grid and that of its file; none by default.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbering {
    pub cells: Option<Numbers>,
    pub faces: Option<Numbers>,
    /// Number of interior faces, where all of them come before all others.
    pub interior_first: Option<usize>,
}
