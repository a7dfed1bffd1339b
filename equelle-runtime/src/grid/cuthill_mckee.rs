//! Reverse Cuthill–McKee order of the cells: neighbours get numbers that are near each other, so
//! that what a cell reads of its neighbours is in a cache.
//!
//! Cuthill and McKee, "Reducing the bandwidth of sparse symmetric matrices" (1969): breadth first,
//! from each cell to its neighbours by ascending degree; George (1971) turns the order around,
//! which changes no distance and suits factorisations. The first cell of each part of the grid is
//! one far from everything, found as George and Liu (1979) do: go to a cell of least degree in the
//! last level as long as that gives more levels.

use super::{NONE, Topology};
use crate::threads::{BLOCK, PerBlock, Threads};

/// The cells in their new order.
pub(super) fn order(topology: &Topology) -> Vec<u32> {
    let n = topology.cell_face_pos.len() - 1;
    let mut search = Search { topology, degrees: degrees(topology), found: vec![false; n], queue: Vec::with_capacity(n), near: Vec::new() };
    for cell in 0..n {
        if !search.found[cell] {
            let start = search.far_from_everything(cell as u32);
            search.levels_from(start);
        }
    }
    search.queue.reverse();
    search.queue
}

/// Mean distance in the numbering between the two cells of an interior face; 0 without one.
pub(super) fn reach(topology: &Topology, threads: &Threads, position: impl Fn(u32) -> u32 + Sync) -> f64 {
    let cells = &topology.face_cells;
    // Whole numbers, so that the sum does not depend on the split.
    let mut blocks = vec![(0u64, 0u64); cells.len().div_ceil(BLOCK)];
    threads.each_cheap(cells.len(), PerBlock(&mut blocks), |range, PerBlock(part)| {
        for (block, cells) in part.iter_mut().zip(cells[range].chunks(BLOCK)) {
            for &[first, second] in cells.iter().filter(|cells| !cells.contains(&NONE)) {
                block.0 += u64::from(position(first).abs_diff(position(second)));
                block.1 += 1;
            }
        }
    });
    let (sum, count) = blocks.iter().fold((0, 0), |(sum, count), block| (sum + block.0, count + block.1));
    if count > 0 { sum as f64 / count as f64 } else { 0.0 }
}

fn degrees(topology: &Topology) -> Vec<u32> {
    (0..topology.cell_face_pos.len() - 1).map(|cell| neighbours(topology, cell as u32).count() as u32).collect()
}

/// Cells across the faces of a cell, in the order of its faces.
fn neighbours(topology: &Topology, cell: u32) -> impl Iterator<Item = u32> + '_ {
    topology.faces_of(cell as usize).iter().filter_map(move |&face| {
        let [first, second] = topology.face_cells[face as usize];
        let other = if first == cell { second } else { first };
        (other != NONE).then_some(other)
    })
}

struct Search<'a> {
    topology: &'a Topology,
    /// Neighbours of each cell. `[n_cells]`
    degrees: Vec<u32>,
    /// True for cells in `queue`. `[n_cells]`
    found: Vec<bool>,
    /// Cells in the order in which they were found.
    queue: Vec<u32>,
    /// New neighbours of the cell in progress.
    near: Vec<u32>,
}

impl Search<'_> {
    /// Appends all that can be reached from a cell, level by level; where the last level begins,
    /// and how many there are.
    fn levels_from(&mut self, start: u32) -> (usize, usize) {
        let mut level = self.queue.len();
        let mut levels = 0;
        self.found[start as usize] = true;
        self.queue.push(start);
        loop {
            let end = self.queue.len();
            for at in level..end {
                let mut near = std::mem::take(&mut self.near);
                near.clear();
                for other in neighbours(self.topology, self.queue[at]) {
                    if !std::mem::replace(&mut self.found[other as usize], true) {
                        near.push(other);
                    }
                }
                // Equal degrees are decided by the file's numbering, so that the order is the same
                // everywhere.
                near.sort_unstable_by_key(|&cell| (self.degrees[cell as usize], cell));
                self.queue.extend_from_slice(&near);
                self.near = near;
            }
            levels += 1;
            if self.queue.len() == end {
                return (level, levels);
            }
            level = end;
        }
    }

    /// A cell from which there are as many levels as from the cells of its last one.
    fn far_from_everything(&mut self, start: u32) -> u32 {
        let begin = self.queue.len();
        let (mut cell, mut most) = (start, 0);
        loop {
            let (last, levels) = self.levels_from(cell);
            let farthest = self.queue[last..].iter().copied().min_by_key(|&cell| (self.degrees[cell as usize], cell));
            for found in self.queue.drain(begin..) {
                self.found[found as usize] = false;
            }
            match farthest {
                Some(farthest) if levels > most => (cell, most) = (farthest, levels),
                _ => return cell,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Cartesian, Grid};

    /// With 300 x 200 cells, neighbours along x are one apart and those along y 300.
    #[test]
    fn reach_is_the_mean_distance_of_neighbours() {
        let grid = Grid::cartesian(Cartesian::plane([300, 200], [1.0, 1.0])).expect("a grid");
        let (along_x, along_y) = (299.0 * 200.0, 300.0 * 199.0);
        let mean = (along_x + 300.0 * along_y) / (along_x + along_y);
        for threads in [Threads::one(), Threads::new(3)] {
            assert_eq!(reach(grid.topology(), &threads, |cell| cell), mean);
            assert_eq!(reach(grid.topology(), &threads, |cell| 7 * cell), 7.0 * (along_x + 300.0 * along_y) / (along_x + along_y));
        }
    }
}
