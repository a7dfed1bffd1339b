//! Edges and vertices (`docs/language/grid.md`; the first compiler of Equelle has none at run time,
//! so the rules are ours).
//!
//! An edge has one dimension and a vertex none. So in 2D the edges *are* the faces; in 1D the edges
//! are the cells and the vertices are the faces: numbering, measure, centroid and boundary
//! membership are theirs, and no table of their own is made. What is left, edges in 3D and vertices
//! in 2D and 3D, is made when it is first asked for:
//!
//! * vertices are numbered as the nodes of the grid file; in a Cartesian grid with `N_a = n_a + 1`
//!   nodes along axis a, vertex (i,j,k) is `i + Nx (j + Ny k)`;
//! * edges of a Cartesian grid come direction by direction, x fastest within one, as faces do; see
//!   [`super::CartesianEdge`];
//! * edges of a grid file are all pairs of nodes that follow each other around a face, numbered in
//!   the lexicographic order of (smaller node, larger node);
//! * an edge or vertex is on the boundary when a boundary face has it; a node of no face is
//!   interior.

use std::borrow::Cow;
use std::sync::Arc;

use super::arrays::{Edges, MAX_ENTITIES, Nodes, Topology, too_many};
use super::part_owners::SkeletonTables;
use super::{Grid, build};
use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};

impl EntityKind {
    /// The kind whose numbering, measure, centroids and boundary it shares on a grid of `dim`
    /// dimensions: edges are the faces in 2D and the cells in 1D, vertices the faces in 1D.
    /// Otherwise itself.
    pub const fn on_grid_of(self, dim: usize) -> EntityKind {
        match (self, dim) {
            (EntityKind::Edge, 1) => EntityKind::Cell,
            (EntityKind::Edge, 2) | (EntityKind::Vertex, 1) => EntityKind::Face,
            (EntityKind::Cell | EntityKind::Face | EntityKind::Edge | EntityKind::Vertex, _) => self,
        }
    }
}

impl Grid {
    /// The grid with nodes, from which edges and vertices are made.
    ///
    /// # Errors
    /// `Data` if there are not as many faces as in the grid, a node is out of range or there are
    /// too many.
    pub fn with_nodes(mut self, nodes: Nodes) -> Result<Grid, Error> {
        let bad = |what: &str| Err(Error::new(ErrorKind::Data, format!("the nodes do not fit the grid: {what}")));
        if nodes.positions.len() > MAX_ENTITIES {
            return Err(too_many("nodes"));
        }
        let pos = &nodes.face_node_pos;
        if pos.len() != self.n_faces + 1 {
            return bad("face_node_pos must have one entry more than there are faces");
        }
        if pos[0] != 0 || pos[self.n_faces] != nodes.face_nodes.len() || pos.windows(2).any(|w| w[0] > w[1]) {
            return bad("face_node_pos does not partition face_nodes");
        }
        if nodes.face_nodes.iter().chain(nodes.second_sides.values().flatten()).any(|&node| node as usize >= nodes.positions.len()) {
            return bad("a node is out of range");
        }
        self.skeleton.nodes = Some(Arc::new(nodes));
        Ok(self)
    }

    /// Number of edges that are nothing else; grids of 3 dimensions.
    pub(super) fn n_own_edges(&self) -> Result<usize, Error> {
        match self.shape() {
            Some(shape) => shape.checked_n_edges().ok_or_else(|| too_many("edges")),
            None => Ok(self.own_edges()?.lengths.len()),
        }
    }

    /// Number of vertices that are nothing else; grids of 2 and 3 dimensions.
    pub(super) fn n_own_vertices(&self) -> Result<usize, Error> {
        match (self.shape(), self.nodes()) {
            (Some(shape), _) => shape.checked_n_vertices().ok_or_else(|| too_many("vertices")),
            (None, Some(nodes)) => Ok(nodes.positions.len()),
            (None, None) => part_tables(self).map(|tables| tables.positions.len()).ok_or_else(|| no_nodes("vertices")),
        }
    }

    /// Edges of a grid of 3 dimensions; built on first use.
    pub(super) fn own_edges(&self) -> Result<&Edges, Error> {
        if let Some(edges) = self.skeleton.edges.get() {
            return Ok(edges);
        }
        let edges = match (self.shape(), self.nodes()) {
            (Some(shape), _) => build::edges(shape, &self.shape.axes(shape)),
            (None, Some(nodes)) => edges(self.topology(), nodes)?,
            (None, None) => return part_tables(self).map(|tables| &tables.edges).ok_or_else(|| no_nodes("edges")),
        };
        Ok(self.skeleton.edges.get_or_init(|| edges))
    }

    /// True if each vertex of a grid of 2 or 3 dimensions without a shape belongs to a boundary
    /// face.
    pub(super) fn boundary_vertices(&self) -> Vec<bool> {
        let Some(nodes) = self.nodes() else { return part_tables(self).map_or_else(Vec::new, |tables| tables.on_boundary.clone()) };
        let mut on_boundary = vec![false; nodes.positions.len()];
        for face in (0..self.n_faces).filter(|&face| self.topology().is_boundary_face(face)) {
            for &node in nodes.face_nodes(face) {
                on_boundary[node as usize] = true;
            }
        }
        on_boundary
    }

    /// Lengths of edges, in metres (in 2D those that faces have as areas); built on first use,
    /// about 32 bytes an edge with [`Grid::edge_centroids`] in 3D. Empty if the grid has no edges,
    /// see [`Grid::n_entities`]. `[n_edges]`
    pub fn edge_lengths(&self) -> &[f64] {
        match EntityKind::Edge.on_grid_of(self.dim) {
            EntityKind::Cell => &self.geometry().cell_volumes,
            EntityKind::Face => &self.geometry().face_areas,
            EntityKind::Edge | EntityKind::Vertex => self.own_edges().map_or(&[], |edges| &edges.lengths),
        }
    }

    /// Midpoints of edges, in metres; unused components 0. Empty if the grid has no edges.
    /// `[n_edges]`
    pub fn edge_centroids(&self) -> &[[f64; 3]] {
        match EntityKind::Edge.on_grid_of(self.dim) {
            EntityKind::Cell => &self.geometry().cell_centroids,
            EntityKind::Face => &self.geometry().face_centroids,
            EntityKind::Edge | EntityKind::Vertex => self.own_edges().map_or(&[], |edges| &edges.centroids),
        }
    }

    /// Positions of vertices, in metres; unused components 0. For a Cartesian grid built on first
    /// use, 24 bytes a vertex. Empty if the grid has no vertices. `[n_vertices]`
    pub fn vertex_positions(&self) -> &[[f64; 3]] {
        match (EntityKind::Vertex.on_grid_of(self.dim), self.shape(), self.nodes()) {
            (EntityKind::Face, ..) => &self.geometry().face_centroids,
            (_, Some(shape), _) => self.skeleton.vertices.get_or_init(|| build::vertices(shape, &self.shape.axes(shape))),
            (_, None, Some(nodes)) => &nodes.positions,
            (_, None, None) => part_tables(self).map_or(&[], |tables| &tables.positions),
        }
    }

    /// Volumes of cells, areas of faces, lengths of edges, and 1 for each vertex (a point counts as
    /// one), which has no unit. Empty if the grid has no such entities. `[n]`
    pub fn measures(&self, kind: EntityKind) -> Cow<'_, [f64]> {
        match kind {
            EntityKind::Cell => Cow::Borrowed(&self.geometry().cell_volumes),
            EntityKind::Face => Cow::Borrowed(&self.geometry().face_areas),
            EntityKind::Edge => Cow::Borrowed(self.edge_lengths()),
            EntityKind::Vertex => Cow::Owned(vec![1.0; self.n_entities(kind).unwrap_or(0)]),
        }
    }

    /// Centroids of entities of a kind, in metres; unused components 0. Empty if the grid has no
    /// such entities. `[n]`
    pub fn centroids(&self, kind: EntityKind) -> &[[f64; 3]] {
        match kind {
            EntityKind::Cell => &self.geometry().cell_centroids,
            EntityKind::Face => &self.geometry().face_centroids,
            EntityKind::Edge => self.edge_centroids(),
            EntityKind::Vertex => self.vertex_positions(),
        }
    }
}

/// Edges of a grid of 3 dimensions with nodes.
fn edges(topology: &Topology, nodes: &Nodes) -> Result<Edges, Error> {
    let pairs = nodes.edge_pairs();
    if pairs.len() > MAX_ENTITIES {
        return Err(too_many("edges"));
    }
    let mut edges = Edges { on_boundary: vec![false; pairs.len()], ..Edges::default() };
    for face in (0..topology.face_cells.len()).filter(|&face| topology.is_boundary_face(face)) {
        for pair in nodes.edges_of_face(face) {
            if let Ok(edge) = pairs.binary_search(&pair) {
                edges.on_boundary[edge] = true;
            }
        }
    }
    for pair in pairs {
        let [a, b] = [(pair >> 32) as usize, (pair & u64::from(u32::MAX)) as usize].map(|node| nodes.positions[node]);
        let along: [f64; 3] = std::array::from_fn(|axis| b[axis] - a[axis]);
        edges.lengths.push((along[0] * along[0] + along[1] * along[1] + along[2] * along[2]).sqrt());
        edges.centroids.push(std::array::from_fn(|axis| (a[axis] + b[axis]) / 2.0));
    }
    Ok(edges)
}

/// Edges and vertices of a part that is arrays.
fn part_tables(grid: &Grid) -> Option<&SkeletonTables> {
    grid.part()?.skeleton.get().tables.as_ref()
}

fn no_nodes(what: &str) -> Error {
    Error::new(ErrorKind::Data, format!("the grid has no {what}: it was made without nodes"))
        .hint("give the grid as a file with nodes, or as a Cartesian grid")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Domain;
    use crate::entity::{CanonicalSet, Extent};
    use crate::grid::Cartesian;

    /// Tables of edges are large: only who asks for edges of a grid of 3 dimensions pays for them,
    /// and on a Cartesian grid sets alone need none.
    #[test]
    fn tables_are_made_when_asked_for() {
        let grid = Grid::cartesian(Cartesian::block([3, 3, 3], [1.0; 3])).expect("a good shape").shared();
        for kind in [EntityKind::Cell, EntityKind::Face, EntityKind::Edge, EntityKind::Vertex] {
            for extent in [Extent::All, Extent::Interior, Extent::Boundary] {
                let domain = Domain::canonical(&grid, CanonicalSet { kind, extent }).expect("a Cartesian grid has all sets");
                assert!(domain.elements().iter().enumerate().all(|(rank, &entity)| domain.rank(entity) == Some(rank as u32)));
            }
        }
        let skeleton = &grid.skeleton;
        assert!(skeleton.edges.get().is_none() && skeleton.vertices.get().is_none());
        assert!(grid.topology.get().is_none() && grid.geometry.get().is_none());
        assert_eq!(grid.vertex_positions().len(), 64);
        assert!(skeleton.edges.get().is_none());
        assert_eq!(grid.edge_lengths(), [1.0; 3 * 3 * 16]);
        assert!(skeleton.edges.get().is_some());
    }
}
