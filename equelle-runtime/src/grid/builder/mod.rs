//! Grids from cells: each cell is a list of faces, each face a list of nodes.
//!
//! [`GridBuilder`] takes the `cells`, `shape` knows the faces of standard cells, `matching` finds
//! the two cells of each face, `measure` computes areas, volumes, centroids and normals,
//! `repair` puts right what files have wrong, `error` has what else may be wrong, `lookup` finds
//! faces by their nodes.
//!
//! Faces are numbered in the order in which the cells, one after the other, name them. The first
//! cell of a face is the one with the lower number, and the normal points out of it. Everything has
//! the same bits for any number of threads.

mod cells;
mod error;
mod lookup;
mod matching;
mod measure;
mod repair;
mod shape;

use super::arrays::MAX_ENTITIES;
use super::{Geometry, Grid, MAX_CELLS_OF_ARRAYS, NONE, Nodes, Topology};
use crate::threads::Threads;

use cells::Cells;

pub use error::BuildError;
pub(crate) use lookup::FacesByNodes;
pub use repair::Repairs;
pub use shape::CellShape;

/// Nodes that are compared each with each.
const FEW: usize = 16;

/// Areas, volumes, centroids and normals of a grid of 3 dimensions whose faces are known; the nodes
/// of each turn such that its normal points to the second cell.
pub(crate) fn geometry_of(topology: &Topology, nodes: &Nodes, threads: &Threads) -> Result<Geometry, BuildError> {
    measure::geometry(topology, nodes, 3, threads)
}

/// Cells of a grid of 2 or 3 dimensions, put together one after the other.
///
/// ```
/// use equelle_runtime::grid::{CellShape, GridBuilder};
/// use equelle_runtime::threads::Threads;
///
/// // A unit square, cut along a diagonal.
/// let nodes = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
/// let mut builder = GridBuilder::new(2, nodes)?;
/// builder.add(CellShape::Triangle, &[0, 1, 2])?;
/// builder.add(CellShape::Triangle, &[0, 2, 3])?;
/// let grid = builder.build(&Threads::one())?;
/// assert_eq!((grid.n_cells(), grid.n_faces()), (2, 5));
/// assert_eq!(grid.geometry().cell_volumes, [0.5, 0.5]);
/// # Ok::<(), equelle_runtime::grid::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GridBuilder {
    dim: usize,
    cells: Cells,
    /// Cells whose faces were given one by one, so that they may not be closed.
    polyhedra: Vec<u32>,
    /// Reused by [`GridBuilder::add`].
    corners: Vec<u32>,
}

impl GridBuilder {
    /// No cells yet. Positions are in metres, `[n_nodes]`; in 2D their third component must be 0.
    ///
    /// # Errors
    /// If a position is not finite, or there are too many nodes for 32-bit indices.
    ///
    /// # Panics
    /// If `dim` is neither 2 nor 3.
    pub fn new(dim: usize, positions: Vec<[f64; 3]>) -> Result<GridBuilder, BuildError> {
        assert!(dim == 2 || dim == 3, "a grid of cells has 2 or 3 dimensions, not {dim}");
        if positions.len() > MAX_ENTITIES {
            return Err(BuildError::TooMany { what: "nodes", most: MAX_ENTITIES });
        }
        if let Some(node) = positions.iter().position(|position| position.iter().any(|x| !x.is_finite())) {
            return Err(BuildError::NotFinite { node });
        }
        let cells = Cells { positions, cell_pos: vec![0], node_pos: vec![0], nodes: Vec::new() };
        Ok(GridBuilder { dim, cells, polyhedra: Vec::new(), corners: Vec::new() })
    }

    /// Number of cells so far.
    pub fn n_cells(&self) -> usize {
        self.cells.len()
    }

    /// Asks for the memory of `n_cells` cells of a shape at once.
    pub fn reserve(&mut self, shape: CellShape, n_cells: usize) {
        let faces = shape.faces();
        self.cells.cell_pos.reserve(n_cells);
        self.cells.node_pos.reserve(n_cells * faces.len());
        self.cells.nodes.reserve(n_cells * faces.iter().map(|face| face.len()).sum::<usize>());
    }

    /// Adds a cell of a standard shape, with its corners in the order of [`CellShape`]. In 2D
    /// either sense will do.
    ///
    /// # Errors
    /// If a node does not exist or occurs twice, or there are too many cells.
    ///
    /// # Panics
    /// If the shape has another dimension or another number of corners.
    pub fn add(&mut self, shape: CellShape, corners: &[u32]) -> Result<(), BuildError> {
        assert_eq!(shape.dim(), self.dim, "a cell of the dimension of the grid");
        assert_eq!(shape.n_corners(), corners.len(), "as many corners as the shape has");
        if self.dim == 2 {
            return self.add_polygon(corners);
        }
        self.check_nodes(corners)?;
        for face in shape.faces() {
            self.cells.nodes.extend(face.iter().map(|&corner| corners[usize::from(corner)]));
            self.cells.node_pos.push(self.cells.nodes.len());
        }
        self.end_cell()
    }

    /// Adds a cell of 2 dimensions by its corners, in either sense.
    ///
    /// # Errors
    /// If it has less than three corners, a node does not exist or occurs twice, sides of a
    /// quadrangle cross, or there are too many cells.
    ///
    /// # Panics
    /// If the grid has another dimension.
    pub fn add_polygon(&mut self, corners: &[u32]) -> Result<(), BuildError> {
        assert_eq!(self.dim, 2, "a polygon in 2 dimensions");
        self.check_nodes(corners)?;
        if corners.len() < 3 {
            return Err(BuildError::TooFewNodes { cell: self.n_cells() });
        }
        let mut ordered = std::mem::take(&mut self.corners);
        ordered.clear();
        ordered.extend_from_slice(corners);
        if measure::area_of_polygon(&self.cells.positions, corners) < 0.0 {
            ordered.reverse();
        }
        if measure::is_crossed(&self.cells.positions, &ordered) {
            return Err(BuildError::Crossed { cell: self.n_cells() });
        }
        for (at, &corner) in ordered.iter().enumerate() {
            self.cells.nodes.extend([corner, ordered[(at + 1) % ordered.len()]]);
            self.cells.node_pos.push(self.cells.nodes.len());
        }
        self.corners = ordered;
        self.end_cell()
    }

    /// Adds a cell of 3 dimensions by its faces, of which each names its nodes counter-clockwise
    /// seen from outside.
    ///
    /// # Errors
    /// If a face has less than three nodes, a node does not exist or occurs twice in a face, or
    /// there are too many cells. Whether the cell is closed is checked when the grid is built.
    ///
    /// # Panics
    /// If the grid has another dimension.
    pub fn add_polyhedron<'a>(&mut self, faces: impl IntoIterator<Item = &'a [u32]>) -> Result<(), BuildError> {
        assert_eq!(self.dim, 3, "a polyhedron in 3 dimensions");
        for face in faces {
            self.check_nodes(face)?;
            if face.len() < 3 {
                return Err(BuildError::TooFewNodes { cell: self.n_cells() });
            }
            self.cells.nodes.extend_from_slice(face);
            self.cells.node_pos.push(self.cells.nodes.len());
        }
        self.polyhedra.push(self.n_cells() as u32);
        self.end_cell()
    }

    fn check_nodes(&self, nodes: &[u32]) -> Result<(), BuildError> {
        let cell = self.n_cells();
        if let Some(&node) = nodes.iter().find(|&&node| node as usize >= self.cells.positions.len()) {
            return Err(BuildError::NoSuchNode { cell, node: node as usize });
        }
        let twice = if nodes.len() <= FEW {
            nodes.iter().enumerate().find(|&(at, node)| nodes[..at].contains(node)).map(|(_, &node)| node)
        } else {
            let mut sorted = nodes.to_vec();
            sorted.sort_unstable();
            sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
        };
        twice.map_or(Ok(()), |node| Err(BuildError::NodeTwice { cell, node: node as usize }))
    }

    fn end_cell(&mut self) -> Result<(), BuildError> {
        self.cells.cell_pos.push(self.cells.n_half_faces());
        if self.n_cells() > MAX_CELLS_OF_ARRAYS {
            return Err(BuildError::TooMany { what: "cells", most: MAX_CELLS_OF_ARRAYS });
        }
        if self.cells.n_half_faces() > MAX_ENTITIES {
            return Err(BuildError::TooMany { what: "faces", most: MAX_ENTITIES });
        }
        Ok(())
    }

    /// The grid of the cells, with cells and nodes numbered as they were given. Takes, beside the
    /// arrays of the grid, about 20 bytes for each half-face.
    ///
    /// # Errors
    /// The first of: there is no cell; a node belongs to no cell; a cell is not closed; a face has
    /// more than two cells; a cell is there twice; two cells overlap at their face; a face has no
    /// area; a cell is inverted or has no volume.
    pub fn build(mut self, threads: &Threads) -> Result<Grid, BuildError> {
        if self.n_cells() == 0 {
            return Err(BuildError::NoCells);
        }
        self.check_all_nodes_are_used()?;
        if let Some(&cell) = self.polyhedra.iter().find(|&&cell| !self.is_closed(cell as usize)) {
            return Err(BuildError::NotClosed { cell: cell as usize });
        }
        let partners = matching::partners(&self.cells, self.dim, threads)?;
        let (topology, nodes) = self.topology(&partners, threads);
        drop(partners);
        let geometry = measure::geometry(&topology, &nodes, self.dim, threads)?;
        let grid = Grid::unstructured(self.dim, topology, geometry).and_then(|grid| grid.with_nodes(nodes));
        grid.map_err(BuildError::Arrays)
    }

    fn check_all_nodes_are_used(&self) -> Result<(), BuildError> {
        let mut is_used = vec![false; self.cells.positions.len()];
        self.cells.nodes.iter().for_each(|&node| is_used[node as usize] = true);
        is_used.iter().position(|&is_used| !is_used).map_or(Ok(()), |node| Err(BuildError::UnusedNode { node }))
    }

    /// True if each edge of a cell is there once in each direction.
    fn is_closed(&self, cell: usize) -> bool {
        let half_faces = self.cells.cell_pos[cell]..self.cells.cell_pos[cell + 1];
        let mut edges: Vec<(u32, u32, bool)> = Vec::new();
        for half_face in half_faces {
            let nodes = self.cells.nodes_of(half_face);
            edges.extend(nodes.iter().zip(nodes.iter().cycle().skip(1)).map(|(&a, &b)| (a.min(b), a.max(b), a < b)));
        }
        edges.sort_unstable();
        let is_pair = |pair: &[(u32, u32, bool)]| matches!(pair, [(a, b, false), (c, d, true)] if a == c && b == d);
        edges.len() >= 12 && edges.chunks(2).all(is_pair) && edges.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// Faces in the order in which cells name them; takes the cells.
    fn topology(&mut self, partners: &[u32], threads: &Threads) -> (Topology, Nodes) {
        let cells = &mut self.cells;
        let n_faces = partners.iter().enumerate().filter(|&(half_face, &partner)| partner as usize > half_face).count();
        let mut face_cells: Vec<[u32; 2]> = Vec::with_capacity(n_faces);
        let mut cell_faces = vec![NONE; cells.n_half_faces()];
        let mut nodes = Nodes { face_node_pos: Vec::with_capacity(n_faces + 1), ..Nodes::default() };
        nodes.face_node_pos.push(0);
        for cell in 0..cells.len() {
            for half_face in cells.cell_pos[cell]..cells.cell_pos[cell + 1] {
                let partner = partners[half_face];
                let face = match cell_faces.get(partner as usize) {
                    Some(&face) if (partner as usize) < half_face => {
                        face_cells[face as usize] = [face_cells[face as usize][0], cell as u32];
                        face
                    }
                    Some(_) | None => {
                        // Nodes of faces are never behind those of half-faces, so that they move to
                        // the front of the same array.
                        let end = nodes.face_node_pos[face_cells.len()];
                        let from = cells.node_pos[half_face]..cells.node_pos[half_face + 1];
                        nodes.face_node_pos.push(end + from.len());
                        cells.nodes.copy_within(from, end);
                        face_cells.push([cell as u32, NONE]);
                        face_cells.len() as u32 - 1
                    }
                };
                cell_faces[half_face] = face;
            }
        }
        cells.node_pos = Vec::new();
        cells.nodes.truncate(nodes.face_node_pos[n_faces]);
        cells.nodes.shrink_to_fit();
        nodes.face_nodes = std::mem::take(&mut cells.nodes);
        nodes.positions = std::mem::take(&mut cells.positions);
        let cell_face_pos = std::mem::take(&mut cells.cell_pos);
        let n_cells = cell_face_pos.len() - 1;
        threads.each(n_cells, crate::threads::Entries::new(&cell_face_pos, &mut cell_faces[..]), |range, mut faces| {
            range.for_each(|cell| faces.row(cell).sort_unstable());
        });
        (Topology { cell_face_pos, cell_faces, face_cells }, nodes)
    }
}
