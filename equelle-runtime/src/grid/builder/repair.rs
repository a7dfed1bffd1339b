//! Repairs of cells of files before they become a grid: nodes that no cell has are left out, cells
//! whose corners are in the other order are turned.

use super::GridBuilder;
use super::measure::volume_of;
use crate::grid::{NONE, outwards};
use crate::threads::Threads;

/// The changes of [`GridBuilder::repair`]. Cells and nodes have the numbers in which they were
/// given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Nodes that no cell had, ascending.
    pub dropped: Vec<u32>,
    /// Cells of 3 dimensions of which faces were turned, ascending.
    pub turned: Vec<u32>,
    /// New numbers of the nodes, unless they have kept theirs. `[n_nodes]`
    numbers: Option<Vec<u32>>,
}

impl Repairs {
    /// The number of a node in the grid; `None` for one that was left out.
    pub fn node(&self, node: u32) -> Option<u32> {
        match &self.numbers {
            None => Some(node),
            Some(numbers) => numbers.get(node as usize).copied().filter(|&number| number != NONE),
        }
    }

    /// Notes for the user, with cells and nodes named as a file names them.
    pub fn notes(&self, cell_name: impl Fn(usize) -> String, node_name: impl Fn(usize) -> String) -> Vec<String> {
        let dropped = match self.dropped[..] {
            [] => None,
            [node] => Some(format!("{} belongs to no cell and is left out", node_name(node as usize))),
            [first, ..] => {
                let n = self.dropped.len();
                Some(format!("{n} nodes belong to no cell and are left out, the first is {}", node_name(first as usize)))
            }
        };
        let turned = match self.turned[..] {
            [] => None,
            [cell] => Some(format!("{} was inside out and has been turned", cell_name(cell as usize))),
            [first, ..] => {
                let n = self.turned.len();
                Some(format!("{n} cells were inside out and have been turned, the first is {}", cell_name(first as usize)))
            }
        };
        dropped.into_iter().chain(turned).collect()
    }
}

impl GridBuilder {
    /// Leaves out nodes that no cell has; in 3 dimensions turns cells inside out whose volume is
    /// negative, and faces of polyhedra that turn against the others of their cell.
    ///
    /// The cells must be complete: none can be added after it.
    pub fn repair(&mut self, threads: &Threads) -> Repairs {
        let mut repairs = Repairs::default();
        self.drop_nodes(&mut repairs);
        if self.dim == 3 {
            self.turn_cells(&mut repairs, threads);
        }
        repairs
    }

    fn drop_nodes(&mut self, repairs: &mut Repairs) {
        let mut is_used = vec![false; self.cells.positions.len()];
        self.cells.nodes.iter().for_each(|&node| is_used[node as usize] = true);
        let unused = is_used.iter().zip(0..).filter(|(is_used, _)| !**is_used).map(|(_, node)| node);
        repairs.dropped = unused.collect();
        // Without any cells there are no nodes to keep: that is another mistake.
        if repairs.dropped.is_empty() || self.n_cells() == 0 {
            repairs.dropped.clear();
            return;
        }
        let (mut numbers, mut next) = (vec![NONE; is_used.len()], 0);
        for (number, _) in numbers.iter_mut().zip(&is_used).filter(|(_, is_used)| **is_used) {
            *number = next;
            next += 1;
        }
        self.cells.nodes.iter_mut().for_each(|node| *node = numbers[*node as usize]);
        let mut is_used = is_used.into_iter();
        self.cells.positions.retain(|_| is_used.next() == Some(true));
        repairs.numbers = Some(numbers);
    }

    fn turn_cells(&mut self, repairs: &mut Repairs, threads: &Threads) {
        for at in 0..self.polyhedra.len() {
            let cell = self.polyhedra[at];
            if !self.is_closed(cell as usize) {
                let half_faces = self.cells.cell_pos[cell as usize]..self.cells.cell_pos[cell as usize + 1];
                let faces: Vec<&[u32]> = half_faces.clone().map(|half_face| self.cells.nodes_of(half_face)).collect();
                let is_turned = outwards::turned(&faces, &self.cells.positions);
                if is_turned.contains(&true) {
                    repairs.turned.push(cell);
                }
                half_faces.zip(is_turned).filter(|(_, is_turned)| *is_turned).for_each(|(half_face, _)| self.cells.turn(half_face));
            }
        }
        let inverted = threads.filtered(self.n_cells(), |cell| volume_of(&self.cells, cell, 3) < 0.0);
        for &cell in &inverted {
            let half_faces = self.cells.cell_pos[cell as usize]..self.cells.cell_pos[cell as usize + 1];
            half_faces.for_each(|half_face| self.cells.turn(half_face));
        }
        repairs.turned.extend(inverted);
        repairs.turned.sort_unstable();
        repairs.turned.dedup();
    }
}
