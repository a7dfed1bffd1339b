//! Half-faces in slices of consecutive cells: `EqGrid::side_starts` and its arrays (see the
//! prelude).

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use equelle_runtime::grid::{NONE, Neighbour, Topology};
use equelle_runtime::threads::{Entries, Threads};

use crate::runtime::executor::pool::Buffer;

/// Cells of a slice, `EQ_SLICE` of the prelude: the threads of a warp.
const SLICE: usize = 32;
/// `EQ_NO_SIDE` of the prelude. Never a [`Neighbour`]: bit 30 is set only outside the grid, with
/// all others except the mark.
const NO_SIDE: u32 = NONE - 1;

/// Copies of values on interior faces, in the order of half-faces: originals and copies.
#[derive(Debug, Default)]
pub(crate) struct SideCopies(pub Vec<(Rc<Buffer>, Rc<Buffer>)>);

/// Index of the first half-face of each slice: `[slices + 1]`.
pub(crate) fn starts(topology: &Topology) -> Vec<usize> {
    let n_cells = topology.cell_face_pos.len().saturating_sub(1);
    let mut starts = vec![0];
    let mut end = 0;
    for from in (0..n_cells).step_by(SLICE) {
        let most = (from..n_cells.min(from + SLICE)).map(|cell| topology.faces_of(cell).len()).max();
        end += SLICE * most.unwrap_or(0);
        starts.push(end);
    }
    starts
}

/// The neighbour across each half-face, packed as [`Neighbour`].
pub(crate) fn neighbours(topology: &Topology, threads: &Threads) -> Vec<u32> {
    list(topology, threads, NO_SIDE, |cell, face| Neighbour::new(topology.face_cells[face as usize], cell).packed())
}

/// [`neighbours`] in 16 bits: the mark, and an offset from the least cell beyond the same side of
/// the cells of a slice; [`NARROW_NONE`], [`NARROW_NO_SIDE`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NarrowNeighbours {
    pub(crate) bases: Vec<u32>,
    pub(crate) offsets: Vec<u16>,
}

const NARROW_NONE: u16 = 0x7fff;
const NARROW_NO_SIDE: u16 = 0x7ffe;

/// The neighbours in 16 bits; `None` where a slice has neighbours too far from one another.
pub(crate) fn narrow(topology: &Topology, threads: &Threads) -> Option<NarrowNeighbours> {
    let starts = starts(topology);
    let groups: Vec<usize> = starts.iter().map(|start| start / SLICE).collect();
    let n_cells = topology.cell_face_pos.len().saturating_sub(1);
    let (mut bases, mut offsets) = (vec![0; groups[groups.len() - 1]], vec![NARROW_NO_SIDE; starts[starts.len() - 1]]);
    let fits = AtomicBool::new(true);
    let outputs = (Entries::new(&groups, &mut bases), Entries::new(&starts, &mut offsets));
    threads.each(starts.len() - 1, outputs, |slices, (mut bases, mut offsets)| {
        for slice in slices {
            let cells = slice * SLICE..n_cells.min((slice + 1) * SLICE);
            for (side, (base, offsets)) in bases.row(slice).iter_mut().zip(offsets.row(slice).chunks_mut(SLICE)).enumerate() {
                let beyond = |cell: usize| {
                    let face = *topology.faces_of(cell).get(side)?;
                    Some(Neighbour::new(topology.face_cells[face as usize], cell as u32))
                };
                let inside = cells.clone().filter_map(beyond).map(Neighbour::cell).filter(|&cell| cell != NONE);
                *base = inside.min().unwrap_or(0);
                for (cell, packed) in cells.clone().zip(offsets) {
                    let Some(neighbour) = beyond(cell) else { continue };
                    let offset = match neighbour.cell() {
                        NONE => NARROW_NONE,
                        cell => match u16::try_from(cell - *base) {
                            Ok(offset) if offset < NARROW_NO_SIDE => offset,
                            Ok(_) | Err(_) => return fits.store(false, Ordering::Relaxed),
                        },
                    };
                    *packed = offset | u16::from(neighbour.is_outward()) << 15;
                }
            }
        }
    });
    fits.into_inner().then_some(NarrowNeighbours { bases, offsets })
}

/// The face of each half-face.
pub(crate) fn faces(topology: &Topology, threads: &Threads) -> Vec<u32> {
    list(topology, threads, NONE, |_, face| face)
}

/// The rank of each half-face's face in InteriorFaces, or in BoundaryFaces.
pub(crate) fn ranks(topology: &Topology, threads: &Threads) -> Vec<u32> {
    let (mut interior, mut boundary) = (0, 0);
    let mut next = |cells: &[u32; 2]| {
        let count = if cells.contains(&NONE) { &mut boundary } else { &mut interior };
        *count += 1;
        *count - 1
    };
    let ranks: Vec<u32> = topology.face_cells.iter().map(&mut next).collect();
    list(topology, threads, NONE, |_, face| ranks[face as usize])
}

/// A value for each half-face, and `none` where a cell has fewer than others of its slice.
fn list(topology: &Topology, threads: &Threads, none: u32, value: impl Fn(u32, u32) -> u32 + Sync) -> Vec<u32> {
    let starts = starts(topology);
    let n_cells = topology.cell_face_pos.len().saturating_sub(1);
    let mut values = vec![0; starts[starts.len() - 1]];
    threads.each(starts.len() - 1, Entries::new(&starts, &mut values), |slices, mut part| {
        for slice in slices {
            let sides = part.row(slice);
            sides.fill(none);
            for cell in slice * SLICE..n_cells.min((slice + 1) * SLICE) {
                for (side, &face) in topology.faces_of(cell).iter().enumerate() {
                    sides[cell % SLICE + side * SLICE] = value(cell as u32, face);
                }
            }
        }
    });
    values
}

#[cfg(test)]
mod tests {
    use equelle_runtime::grid::{Cartesian, Grid};

    use super::*;

    fn two() -> Threads {
        Threads::new(2)
    }

    /// A row of three cells: faces 0 to 3, of which 1 and 2 are interior.
    #[test]
    fn a_row_of_cells() {
        let grid = Grid::cartesian(Cartesian::line(3, 1.0)).unwrap().as_unstructured();
        let topology = grid.topology();
        assert_eq!(starts(topology), [0, 64]);
        let of = |values: Vec<u32>| (0..3).map(|cell| [values[cell], values[cell + 32]]).collect::<Vec<_>>();
        assert_eq!(of(faces(topology, &two())), [[0, 1], [1, 2], [2, 3]]);
        assert_eq!(of(ranks(topology, &two())), [[0, 0], [0, 1], [1, 1]]);
        let outward = 1 << 31;
        assert_eq!(of(neighbours(topology, &two())), [[NONE >> 1, 1 | outward], [0, 2 | outward], [1, NONE]]);
        assert!(neighbours(topology, &two())[3..32].iter().all(|&beyond| beyond == NO_SIDE), "cells that are not there");
    }

    /// The same in 16 bits, and refused where they do not suffice.
    #[test]
    fn neighbours_in_16_bits() {
        let grid = Grid::cartesian(Cartesian::line(40, 1.0)).unwrap().as_unstructured();
        let mut topology = grid.topology().clone();
        topology.cell_faces.pop();
        topology.cell_face_pos[40] -= 1;
        let NarrowNeighbours { bases, offsets } = narrow(&topology, &two()).unwrap();
        // Before and after the cells 0 to 31, and 32 to 39: cell 0 has no cell before it, the last
        // no face after it.
        assert_eq!(bases, [0, 1, 31, 33]);
        for (at, (&wide, &packed)) in neighbours(&topology, &two()).iter().zip(&offsets).enumerate() {
            let mark = u32::from(packed >> 15) << 31;
            let expected = match packed & 0x7fff {
                NARROW_NO_SIDE => NO_SIDE,
                NARROW_NONE => mark | NONE >> 1,
                offset => mark | (bases[at / SLICE] + u32::from(offset)),
            };
            assert_eq!(wide, expected, "{at}");
        }
        // One of two neighbours on the same side is too far from the other by one.
        let n = 32_800;
        let grid = Grid::cartesian(Cartesian::line(n, 1.0)).unwrap().as_unstructured();
        assert!(narrow(grid.topology(), &two()).is_some());
        let mut topology = grid.topology().clone();
        for (last, fits) in [(0x7ffd, true), (0x7ffe, false)] {
            // The face after cell 1 leads there; the base is cell 1, after cell 0.
            topology.face_cells[2][1] = last + 1;
            assert_eq!(narrow(&topology, &two()).is_some(), fits, "{last}");
        }
    }

    /// A slice is as long as its cell with most half-faces; others end before.
    #[test]
    fn cells_with_different_numbers_of_sides() {
        let grid = Grid::cartesian(Cartesian::line(40, 1.0)).unwrap().as_unstructured();
        let mut topology = grid.topology().clone();
        // The last cell loses its last face.
        topology.cell_faces.pop();
        topology.cell_face_pos[40] -= 1;
        assert_eq!(starts(&topology), [0, 64, 128]);
        assert_eq!(faces(&topology, &two())[64 + 7], 39);
        assert_eq!(neighbours(&topology, &two())[64 + 32 + 7], NO_SIDE);
    }
}
