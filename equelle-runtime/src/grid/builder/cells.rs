//! The cells of a builder.

use crate::grid::shapes::Vector;

/// Cells as half-faces, and half-faces as nodes.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    /// `[n_nodes]`
    pub(super) positions: Vec<Vector>,
    /// Start of the half-faces of each cell. `[n_cells + 1]`
    pub(super) cell_pos: Vec<usize>,
    /// Start of the nodes of each half-face. `[n_half_faces + 1]`
    pub(super) node_pos: Vec<usize>,
    /// Nodes of half-faces, counter-clockwise seen from outside the cell; in 2D along the cell,
    /// counter-clockwise.
    pub(super) nodes: Vec<u32>,
}

impl Cells {
    pub(super) fn len(&self) -> usize {
        self.cell_pos.len() - 1
    }

    pub(super) fn n_half_faces(&self) -> usize {
        self.node_pos.len() - 1
    }

    pub(super) fn nodes_of(&self, half_face: usize) -> &[u32] {
        &self.nodes[self.node_pos[half_face]..self.node_pos[half_face + 1]]
    }

    /// Reverses the nodes of a half-face.
    pub(super) fn turn(&mut self, half_face: usize) {
        self.nodes[self.node_pos[half_face]..self.node_pos[half_face + 1]].reverse();
    }

    /// The cell that has a half-face.
    pub(super) fn cell_of(&self, half_face: usize) -> usize {
        self.cell_pos.partition_point(|&start| start <= half_face) - 1
    }

    /// Nodes of a cell, ascending, each once.
    pub(super) fn corners_of(&self, cell: usize) -> Vec<u32> {
        let mut corners = self.nodes[self.node_pos[self.cell_pos[cell]]..self.node_pos[self.cell_pos[cell + 1]]].to_vec();
        corners.sort_unstable();
        corners.dedup();
        corners
    }
}
