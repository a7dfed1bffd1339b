//! Neighbours across each face of each cell, so that a sum over the faces of a cell reads memory in
//! order and does not ask the face which cell is which.

use super::arrays::Topology;
use crate::threads::{Entries, Threads};

/// Most cells of a grid of arrays: a [`Neighbour`] keeps two bits for itself.
pub const MAX_CELLS_OF_ARRAYS: usize = (1 << 30) - 1;

/// The cell beyond a face of a cell, and which of the face's two cells that cell is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Neighbour(u32);

impl Neighbour {
    /// Beyond a face with these cells, seen from one of them.
    #[inline]
    pub fn new([first, second]: [u32; 2], cell: u32) -> Neighbour {
        let outward = first == cell;
        let beyond = if outward { second } else { first };
        Neighbour(beyond & (u32::MAX >> 1) | u32::from(outward) << 31)
    }

    /// The cell; [`NONE`](super::NONE) outside.
    #[inline]
    pub fn cell(self) -> u32 {
        // Bit 30 is set for NONE alone: it goes where the mark was, and one further.
        ((self.0 << 1).cast_signed() >> 1).cast_unsigned()
    }

    /// Both in 32 bits: the cell in the lowest 30, bit 30 set for [`NONE`](super::NONE) alone, and
    /// bit 31 where the normal points to it.
    #[inline]
    pub fn packed(self) -> u32 {
        self.0
    }

    /// True if the normal of the face points to it: the face's first cell is the one that asks.
    #[inline]
    pub fn is_outward(self) -> bool {
        self.0 >> 31 == 1
    }
}

/// The neighbours of all cells, in the order of `cell_faces`.
pub(super) fn list(topology: &Topology, threads: &Threads) -> Vec<Neighbour> {
    let mut neighbours = vec![Neighbour::default(); topology.cell_faces.len()];
    let n_cells = topology.cell_face_pos.len().saturating_sub(1);
    threads.each(n_cells, Entries::new(&topology.cell_face_pos, &mut neighbours), |cells, mut part| {
        for cell in cells {
            for (place, &face) in part.row(cell).iter_mut().zip(topology.faces_of(cell)) {
                *place = Neighbour::new(topology.face_cells[face as usize], cell as u32);
            }
        }
    });
    neighbours
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Cartesian, Grid, NONE};

    #[test]
    fn cells_and_directions_are_kept() {
        let last = MAX_CELLS_OF_ARRAYS as u32 - 1;
        for (cells, cell, beyond, outward) in
            [([0, last], 0, last, true), ([0, last], last, 0, false), ([NONE, 7], 7, NONE, false), ([7, NONE], 7, NONE, true)]
        {
            let neighbour = Neighbour::new(cells, cell);
            assert_eq!((neighbour.cell(), neighbour.is_outward()), (beyond, outward), "{cells:?} from {cell}");
        }
    }

    #[test]
    fn a_row_of_cells() {
        let grid = Grid::cartesian(Cartesian::line(3, 1.0)).expect("a valid shape");
        let told: Vec<(u32, bool)> = grid.neighbours().iter().map(|n| (n.cell(), n.is_outward())).collect();
        assert_eq!(told, [(NONE, false), (1, true), (0, false), (2, true), (1, false), (NONE, true)]);
    }
}
