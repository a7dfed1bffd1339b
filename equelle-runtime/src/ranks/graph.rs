//! The cells of a grid as a graph.

use crate::grid::{Grid, NONE};

/// Cells that share a face, in the order of the grid's file. A cell that touches another by several
/// faces has it once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellGraph {
    /// Start of the neighbours of each cell in `neighbours`. `[n_cells + 1]`
    pub starts: Vec<usize>,
    /// Neighbours of each cell, ascending.
    pub neighbours: Vec<u32>,
}

impl CellGraph {
    /// The graph of a grid. Costs its topology.
    pub fn of(grid: &Grid) -> CellGraph {
        let topology = grid.topology();
        let mut graph = CellGraph { starts: vec![0], neighbours: Vec::with_capacity(topology.cell_faces.len()) };
        let mut around = Vec::new();
        for cell in 0..grid.n_cells() {
            let here = cell as u32;
            around.clear();
            let cells = topology.faces_of(cell).iter().flat_map(|&face| topology.face_cells[face as usize]);
            around.extend(cells.filter(|&other| other != NONE && other != here));
            around.sort_unstable();
            around.dedup();
            graph.neighbours.extend_from_slice(&around);
            graph.starts.push(graph.neighbours.len());
        }
        graph
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Neighbours of a cell, ascending.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn around(&self, cell: u32) -> &[u32] {
        &self.neighbours[self.starts[cell as usize]..self.starts[cell as usize + 1]]
    }
}
