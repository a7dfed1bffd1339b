//! Numbering of the edges and vertices of a Cartesian grid in closed form. Where edges or vertices
//! are faces or cells ([`EntityKind::on_grid_of`]) the functions on those hold.
//!
//! With `N_a = n_a + 1` nodes along axis a: vertex (i,j,k) is `i + Nx (j + Ny k)`; edges come
//! direction by direction, and within the block of direction a the index is that of a grid with
//! `n_a` cells along a and `N_b` along the other axes b.

use super::arrays::MAX_ENTITIES;
use super::cartesian::Cartesian;
use crate::entity::{EntityKind, Extent};

/// Position of an edge of a Cartesian grid of 3 dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CartesianEdge {
    /// The axis it is parallel to.
    pub axis: usize,
    /// Position; along `axis` it counts cells, along the others nodes, 0 to n inclusive.
    pub ijk: [usize; 3],
}

impl Cartesian {
    /// Edges of a direction along each axis; along axes that the grid does not have there is one.
    fn edge_box(&self, direction: usize) -> [usize; 3] {
        std::array::from_fn(|a| if a == direction || a >= self.dim { self.n[a] } else { self.n[a] + 1 })
    }

    /// Vertices along each axis; along axes that the grid does not have there is one.
    pub fn vertex_box(&self) -> [usize; 3] {
        std::array::from_fn(|a| if a >= self.dim { 1 } else { self.n[a] + 1 })
    }

    /// Number of edges parallel to an axis; 0 for axes that the grid does not have.
    pub fn n_axis_edges(&self, axis: usize) -> usize {
        if axis >= self.dim { 0 } else { self.edge_box(axis).iter().product() }
    }

    /// Index of the first edge parallel to an axis, in 3 dimensions.
    pub fn edge_start(&self, axis: usize) -> usize {
        (0..axis).map(|a| self.n_axis_edges(a)).sum()
    }

    /// Number of edges parallel to the axes.
    pub fn n_edges(&self) -> usize {
        self.edge_start(self.dim)
    }

    /// Number of vertices.
    pub fn n_vertices(&self) -> usize {
        self.vertex_box().iter().product()
    }

    /// Number of edges unless it is too large for 32-bit indices.
    pub(super) fn checked_n_edges(&self) -> Option<usize> {
        (0..self.dim).try_fold(0usize, |sum, axis| checked_product(self.edge_box(axis))?.checked_add(sum).filter(|&n| n <= MAX_ENTITIES))
    }

    /// Number of vertices unless it is too large for 32-bit indices.
    pub(super) fn checked_n_vertices(&self) -> Option<usize> {
        checked_product(self.vertex_box())
    }

    /// Index of an edge, in 3 dimensions.
    pub fn edge(&self, edge: CartesianEdge) -> usize {
        let [nx, ny, _] = self.edge_box(edge.axis);
        self.edge_start(edge.axis) + edge.ijk[0] + nx * (edge.ijk[1] + ny * edge.ijk[2])
    }

    /// Position of an edge, in 3 dimensions.
    pub fn edge_ijk(&self, edge: usize) -> CartesianEdge {
        let mut axis = 0;
        let mut index = edge;
        while axis + 1 < self.dim && index >= self.n_axis_edges(axis) {
            index -= self.n_axis_edges(axis);
            axis += 1;
        }
        CartesianEdge { axis, ijk: split(index, self.edge_box(axis)) }
    }

    /// Index of a vertex.
    pub fn vertex(&self, ijk: [usize; 3]) -> usize {
        let [nx, ny, _] = self.vertex_box();
        ijk[0] + nx * (ijk[1] + ny * ijk[2])
    }

    /// Position of a vertex, in nodes.
    pub fn vertex_ijk(&self, vertex: usize) -> [usize; 3] {
        split(vertex, self.vertex_box())
    }

    /// True if an edge belongs to a boundary face, in 3 dimensions.
    pub fn is_boundary_edge(&self, edge: usize) -> bool {
        let CartesianEdge { axis, ijk } = self.edge_ijk(edge);
        (0..self.dim).any(|a| a != axis && (ijk[a] == 0 || ijk[a] == self.n[a]))
    }

    /// True if a vertex belongs to a boundary face.
    pub fn is_boundary_vertex(&self, vertex: usize) -> bool {
        let ijk = self.vertex_ijk(vertex);
        (0..self.dim).any(|a| ijk[a] == 0 || ijk[a] == self.n[a])
    }

    /// Low corner and sizes of the block of interior edges of a direction.
    fn interior_edges(&self, direction: usize) -> ([usize; 3], [usize; 3]) {
        let low = std::array::from_fn(|a| usize::from(a != direction && a < self.dim));
        let size = std::array::from_fn(|a| if low[a] == 1 { self.n[a] - 1 } else { self.n[a] });
        (low, size)
    }

    /// Low corner and sizes of the block of interior vertices.
    fn interior_vertices(&self) -> ([usize; 3], [usize; 3]) {
        let low = std::array::from_fn(|a| usize::from(a < self.dim));
        let size = std::array::from_fn(|a| if a < self.dim { self.n[a] - 1 } else { 1 });
        (low, size)
    }

    /// All and interior edges (3 dimensions) or vertices.
    pub(super) fn skeleton_len(&self, kind: EntityKind) -> (usize, usize) {
        if kind == EntityKind::Vertex {
            return (self.n_vertices(), self.interior_vertices().1.iter().product());
        }
        (self.n_edges(), (0..self.dim).map(|axis| self.interior_edges(axis).1.iter().product::<usize>()).sum())
    }

    pub(super) fn edge_rank(&self, extent: Extent, edge: usize) -> Option<usize> {
        let CartesianEdge { axis, ijk } = self.edge_ijk(edge);
        let before: usize = (0..axis).map(|a| self.interior_edges(a).1.iter().product::<usize>()).sum();
        let (low, size) = self.interior_edges(axis);
        rank(extent, edge, self.is_boundary_edge(edge), before + before_in_block(low, size, ijk))
    }

    pub(super) fn vertex_rank(&self, extent: Extent, vertex: usize) -> Option<usize> {
        let (low, size) = self.interior_vertices();
        rank(extent, vertex, self.is_boundary_vertex(vertex), before_in_block(low, size, self.vertex_ijk(vertex)))
    }
}

/// Position of an entity in a set, from the number of interior ones with a smaller index.
pub(super) fn rank(extent: Extent, index: usize, boundary: bool, interior_before: usize) -> Option<usize> {
    match extent {
        Extent::All => Some(index),
        Extent::Interior => (!boundary).then_some(interior_before),
        Extent::Boundary => boundary.then(|| index - interior_before),
    }
}

/// Entities of a block, given by its low corner and sizes, that come before a position, x fastest.
pub(super) fn before_in_block(low: [usize; 3], size: [usize; 3], ijk: [usize; 3]) -> usize {
    let mut count = 0;
    for axis in (0..3).rev() {
        let layer: usize = size[..axis].iter().product();
        let at = ijk[axis].saturating_sub(low[axis]).min(size[axis]);
        count += at * layer;
        if ijk[axis] < low[axis] || at == size[axis] {
            break;
        }
    }
    count
}

fn checked_product(sizes: [usize; 3]) -> Option<usize> {
    sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size)).filter(|&product| product <= MAX_ENTITIES)
}

fn split(index: usize, sizes: [usize; 3]) -> [usize; 3] {
    let row = index / sizes[0];
    [index % sizes[0], row % sizes[1], row / sizes[1]]
}
