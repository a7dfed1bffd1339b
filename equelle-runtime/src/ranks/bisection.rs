//! Partitions of the cells of any grid by recursive bisection.
//!
//! Each half gets its exact number of cells: those below the median along the axis across which
//! fewest neighbours are parted. Then pairs of cells change sides while that parts fewer (Fiduccia
//! and Mattheyses 1982, doi:10.1145/800263.809204). Ties go by the number of the cell, so that the
//! same grid is always cut in the same way.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{CellGraph, Partition, RankId};
use crate::error::Error;

/// Most sweeps of exchanged cells of one bisection.
const MAX_SWEEPS: usize = 12;
/// Exchanges in turn without a gain after which a sweep ends.
const MAX_FRUITLESS: usize = 150;

/// Cuts cells with these centroids into parts whose sizes differ by at most one cell. Costs
/// n log(ranks) steps in time, and about 40 bytes a cell.
///
/// # Errors
/// As [`Partition::new`] if there are more ranks than cells.
pub fn partition(graph: &CellGraph, centroids: &[[f64; 3]], n_ranks: u32) -> Result<Partition, Error> {
    let n_cells = graph.n_cells();
    let mut cut = Cut { graph, centroids, owners: vec![RankId(0); n_cells], gains: vec![0; n_cells], is_fixed: vec![false; n_cells] };
    let mut cells: Vec<u32> = (0..n_cells as u32).collect();
    let ranks = n_ranks as usize;
    let sizes: Vec<usize> = (0..ranks).map(|rank| n_cells / ranks + usize::from(rank < n_cells % ranks)).collect();
    cut.recurse(&mut cells, 0, &sizes);
    Partition::new(cut.owners, n_ranks)
}

/// State of a partition that is being made.
struct Cut<'a> {
    graph: &'a CellGraph,
    centroids: &'a [[f64; 3]],
    /// The first rank of the part that a cell is in so far. `[n_cells]`
    owners: Vec<RankId>,
    /// Neighbours that are no longer parted if a cell changes sides, less those that are then.
    /// `[n_cells]`
    gains: Vec<i32>,
    /// True for the cells that have changed sides in a sweep. `[n_cells]`
    is_fixed: Vec<bool>,
}

impl Cut<'_> {
    /// Distributes cells among the ranks from `first` on, one for each of `sizes`.
    fn recurse(&mut self, cells: &mut [u32], first: u32, sizes: &[usize]) {
        if sizes.len() < 2 {
            return;
        }
        let (left, right) = sizes.split_at(sizes.len() / 2);
        let n_left = left.iter().sum();
        let ranks = [RankId(first), RankId(first + left.len() as u32)];
        self.halve(cells, n_left, ranks);
        self.exchange(cells, ranks);
        // The order within a half is that of the numbers, whatever the cut did.
        cells.sort_unstable_by_key(|&cell| (self.owners[cell as usize], cell));
        let (low, high) = cells.split_at_mut(n_left);
        self.recurse(low, ranks[0].0, left);
        self.recurse(high, ranks[1].0, right);
    }

    /// Gives the first `n_left` cells along the best axis to the first of both ranks.
    fn halve(&mut self, cells: &mut [u32], n_left: usize, ranks: [RankId; 2]) {
        if n_left == 0 || n_left == cells.len() {
            let rank = ranks[usize::from(n_left == 0)];
            cells.iter().for_each(|&cell| self.owners[cell as usize] = rank);
            return;
        }
        let mut best: Option<(usize, usize)> = None;
        for axis in 0..3 {
            if self.is_flat(cells, axis) {
                continue;
            }
            self.cut_along(cells, axis, n_left, ranks);
            let parted = self.parted(cells, ranks);
            if best.is_none_or(|(fewest, _)| parted < fewest) {
                best = Some((parted, axis));
            }
        }
        let axis = best.map_or(0, |(_, axis)| axis);
        self.cut_along(cells, axis, n_left, ranks);
    }

    /// True if all cells have the same position along an axis.
    fn is_flat(&self, cells: &[u32], axis: usize) -> bool {
        let position = |&cell: &u32| self.centroids[cell as usize][axis];
        cells.windows(2).all(|pair| position(&pair[0]) == position(&pair[1]))
    }

    fn cut_along(&mut self, cells: &mut [u32], axis: usize, n_left: usize, ranks: [RankId; 2]) {
        let centroids = self.centroids;
        let along = |a: &u32, b: &u32| centroids[*a as usize][axis].total_cmp(&centroids[*b as usize][axis]).then(a.cmp(b));
        cells.select_nth_unstable_by(n_left, along);
        for (at, &cell) in cells.iter().enumerate() {
            self.owners[cell as usize] = ranks[usize::from(at >= n_left)];
        }
    }

    /// Pairs of neighbours that are on different sides.
    fn parted(&self, cells: &[u32], ranks: [RankId; 2]) -> usize {
        let low = cells.iter().filter(|&&cell| self.owners[cell as usize] == ranks[0]);
        low.map(|&cell| self.graph.around(cell).iter().filter(|&&other| self.owners[other as usize] == ranks[1]).count()).sum()
    }

    /// Exchanges pairs of cells between both sides while that parts fewer neighbours.
    fn exchange(&mut self, cells: &[u32], ranks: [RankId; 2]) {
        for _ in 0..MAX_SWEEPS {
            if !self.sweep(cells, ranks) {
                break;
            }
        }
    }

    /// Moves cells from side to side in turn, each at most once and the best first; keeps the moves
    /// up to the best state. True if that is better than before.
    fn sweep(&mut self, cells: &[u32], ranks: [RankId; 2]) -> bool {
        let mut queues: [BinaryHeap<(i32, Reverse<u32>)>; 2] = Default::default();
        for &cell in cells {
            self.is_fixed[cell as usize] = false;
            let (gain, on_rim) = self.gain(cell, ranks);
            self.gains[cell as usize] = gain;
            if on_rim {
                queues[self.side(cell, ranks)].push((gain, Reverse(cell)));
            }
        }
        let (mut moved, mut total) = (Vec::new(), 0);
        let (mut kept, mut best) = (0, 0);
        'pairs: while moved.len() < kept + 2 * MAX_FRUITLESS {
            for side in [0, 1] {
                let Some(cell) = self.next(&mut queues[side], side, ranks) else { break 'pairs };
                total += self.gains[cell as usize];
                self.move_over(cell, side, ranks, &mut queues);
                moved.push(cell);
            }
            if total > best {
                (kept, best) = (moved.len(), total);
            }
        }
        for &cell in &moved[kept..] {
            let side = self.side(cell, ranks);
            self.owners[cell as usize] = ranks[1 - side];
        }
        best > 0
    }

    /// The cell of a side that gains most, of those that have not moved.
    fn next(&self, queue: &mut BinaryHeap<(i32, Reverse<u32>)>, side: usize, ranks: [RankId; 2]) -> Option<u32> {
        while let Some((gain, Reverse(cell))) = queue.pop() {
            // Entries are not removed when a gain changes: what is out of date is passed over.
            if !self.is_fixed[cell as usize] && self.gains[cell as usize] == gain && self.side(cell, ranks) == side {
                return Some(cell);
            }
        }
        None
    }

    fn move_over(&mut self, cell: u32, side: usize, ranks: [RankId; 2], queues: &mut [BinaryHeap<(i32, Reverse<u32>)>; 2]) {
        self.owners[cell as usize] = ranks[1 - side];
        self.is_fixed[cell as usize] = true;
        for &other in self.graph.around(cell) {
            if self.is_fixed[other as usize] || !ranks.contains(&self.owners[other as usize]) {
                continue;
            }
            let beside = self.side(other, ranks);
            self.gains[other as usize] += if beside == side { 2 } else { -2 };
            queues[beside].push((self.gains[other as usize], Reverse(other)));
        }
    }

    fn side(&self, cell: u32, ranks: [RankId; 2]) -> usize {
        usize::from(self.owners[cell as usize] == ranks[1])
    }

    /// Gain of a cell that changes sides, and true if it has a neighbour on the other one.
    fn gain(&self, cell: u32, ranks: [RankId; 2]) -> (i32, bool) {
        let here = self.side(cell, ranks);
        let count =
            |side: usize| self.graph.around(cell).iter().filter(|&&other| self.owners[other as usize] == ranks[side]).count() as i32;
        let (beside, beyond) = (count(here), count(1 - here));
        (beyond - beside, beyond > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::HaloCounts;
    use super::*;
    use crate::grid::{Cartesian, Grid};

    fn cut(n: [usize; 3], n_ranks: u32) -> (CellGraph, Partition) {
        let dim = if n[2] > 1 { 3 } else { 2 };
        let grid = Grid::cartesian(Cartesian { dim, n, spacing: [1.0; 3], joined: [false; 3], place: None }).expect("a shape");
        let graph = CellGraph::of(&grid);
        let partition = partition(&graph, &grid.geometry().cell_centroids, n_ranks).expect("enough cells");
        (graph, partition)
    }

    #[test]
    fn sizes_differ_by_at_most_one_cell() {
        for n_ranks in [1, 2, 3, 5, 7, 16, 59, 60] {
            let (_, partition) = cut([5, 4, 3], n_ranks);
            let sizes = partition.sizes();
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{n_ranks}: {sizes:?}");
        }
    }

    #[test]
    fn more_ranks_than_cells_are_refused() {
        let grid = Grid::cartesian(Cartesian::line(3, 1.0)).expect("a shape");
        let error = partition(&CellGraph::of(&grid), &grid.geometry().cell_centroids, 4).expect_err("a rank without cells");
        assert!(error.to_string().contains("rank 3 of 4 has no cell"), "{error}");
    }

    /// Halves of a square of 16 x 16 part 16 neighbours, quarters have two rims of 8.
    #[test]
    fn squares_are_cut_straight() {
        let (graph, halves) = cut([16, 16, 1], 2);
        assert_eq!(HaloCounts::of(&graph, &halves, 1).total(|rank| rank.sent), 32);
        let (graph, quarters) = cut([16, 16, 1], 4);
        let counts = HaloCounts::of(&graph, &quarters, 1);
        assert!(counts.ranks.iter().all(|rank| (rank.sent, rank.neighbours) == (16, 2)), "{counts:?}");
    }

    /// A cut across the longer side is found where numbers and positions both mislead: cells are
    /// numbered at random and the long side has the smaller distances.
    #[test]
    fn the_cut_that_parts_fewest_is_taken() {
        let (nx, ny) = (40usize, 4usize);
        let mut number: Vec<u32> = (0..(nx * ny) as u32).collect();
        fastrand::Rng::with_seed(1).shuffle(&mut number);
        let at = |i: usize, j: usize| number[i + nx * j];
        let mut around = vec![Vec::new(); nx * ny];
        let mut centroids = vec![[0.0; 3]; nx * ny];
        for (i, j) in (0..nx).flat_map(|i| (0..ny).map(move |j| (i, j))) {
            centroids[at(i, j) as usize] = [i as f64, j as f64 * 1000.0, 0.0];
            let mut join = |other: u32| {
                around[at(i, j) as usize].push(other);
                around[other as usize].push(at(i, j));
            };
            if i + 1 < nx {
                join(at(i + 1, j));
            }
            if j + 1 < ny {
                join(at(i, j + 1));
            }
        }
        let mut graph = CellGraph { starts: vec![0], neighbours: Vec::new() };
        for mut cells in around {
            cells.sort_unstable();
            graph.neighbours.extend(cells);
            graph.starts.push(graph.neighbours.len());
        }
        let halves = partition(&graph, &centroids, 2).expect("enough cells");
        assert_eq!(HaloCounts::of(&graph, &halves, 1).total(|rank| rank.sent), 8);
    }
}
