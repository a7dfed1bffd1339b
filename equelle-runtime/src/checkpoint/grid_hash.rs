//! A hash that tells grids apart, in the numbering of the grid's file.

use crate::entity::EntityKind;
use crate::grid::{Grid, NONE};

/// Hash of the shape of a grid; of a grid without one, of the cells, gaps and given
/// transmissibilities of all faces and the centroids of all cells. Freed geometry and another
/// numbering make no difference. It reads 32 bytes a cell and 8 a face.
pub fn of(grid: &Grid) -> u64 {
    let mut hash = Mix::default();
    hash.add(grid.dim() as u64);
    if let Some(shape) = grid.shape() {
        for axis in 0..shape.dim {
            hash.add(shape.n[axis] as u64);
            hash.add(shape.spacing[axis].to_bits());
        }
        for position in grid.positions_along_axes() {
            hash.add(position.to_bits());
        }
        return hash.value();
    }
    let in_file = |kind: EntityKind, count: usize| (0..count as u32).map(move |index| grid.entity_of_file(kind, index));
    let faces = &grid.topology().face_cells;
    for face in in_file(EntityKind::Face, grid.n_faces()) {
        let number = |cell: u32| if cell == NONE { NONE } else { grid.file_index(EntityKind::Cell, cell) };
        let [first, second] = faces[face as usize].map(number);
        hash.add(u64::from(first) << 32 | u64::from(second));
    }
    let gaps = &grid.geometry().face_gaps;
    for face in in_file(EntityKind::Face, gaps.len()) {
        gaps[face as usize].iter().for_each(|component| hash.add(component.to_bits()));
    }
    let given = &grid.geometry().face_transmissibilities;
    for face in in_file(EntityKind::Face, given.len()) {
        hash.add(given[face as usize].to_bits());
    }
    for cell in in_file(EntityKind::Cell, grid.n_cells()) {
        for coordinate in grid.centroid(EntityKind::Cell, cell).unwrap_or([f64::NAN; 3]) {
            hash.add(coordinate.to_bits());
        }
    }
    hash.value()
}

/// Hash of the bits of numbers.
pub fn hash_numbers(numbers: impl IntoIterator<Item = f64>) -> u64 {
    let mut hash = Mix::default();
    numbers.into_iter().for_each(|number| hash.add(number.to_bits()));
    hash.value()
}

/// Hash of words: each is multiplied in, and the high bits go to the low ones.
#[derive(Default)]
pub(crate) struct Mix(u64);

impl Mix {
    pub(crate) fn add(&mut self, word: u64) {
        // The golden ratio times 2^64, odd.
        let mixed = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    pub(crate) fn value(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Cartesian, Renumber};

    #[test]
    fn grids_differ_by_shape_and_position_and_not_by_numbering() {
        let plane = |n, spacing| Grid::cartesian(Cartesian::plane(n, spacing)).unwrap();
        let hashes = [
            of(&plane([3, 4], [1.0, 1.0])),
            of(&plane([4, 3], [1.0, 1.0])),
            of(&plane([3, 4], [1.0, 2.0])),
            of(&Grid::rectilinear(2, [&[0.5, 1.0, 1.5], &[1.0; 4], &[]]).unwrap()),
            of(&Grid::cartesian(Cartesian::line(12, 1.0)).unwrap()),
        ];
        for (index, hash) in hashes.iter().enumerate() {
            assert!(!hashes[..index].contains(hash), "{hashes:?}");
        }
        let arrays = || {
            let cartesian = plane([3, 4], [1.0, 1.0]);
            Grid::unstructured(2, cartesian.topology().clone(), cartesian.geometry().clone()).unwrap()
        };
        let mut renumbered = arrays();
        renumbered.renumber(Renumber::Yes);
        assert!(renumbered.is_renumbered() && of(&renumbered) == of(&arrays()));
        let cartesian = plane([3, 4], [1.0, 1.0]);
        let mut geometry = cartesian.geometry().clone();
        geometry.cell_centroids[5][1] += 0.25;
        assert_ne!(of(&Grid::unstructured(2, cartesian.topology().clone(), geometry).unwrap()), of(&arrays()));
        let mut geometry = cartesian.geometry().clone();
        geometry.face_gaps = vec![[0.0, 0.5, 0.0]; cartesian.n_faces()];
        assert_ne!(of(&Grid::unstructured(2, cartesian.topology().clone(), geometry).unwrap()), of(&arrays()));
        let mut geometry = cartesian.geometry().clone();
        geometry.face_transmissibilities = vec![2.0; cartesian.n_faces()];
        assert_ne!(of(&Grid::unstructured(2, cartesian.topology().clone(), geometry).unwrap()), of(&arrays()));
    }
}
