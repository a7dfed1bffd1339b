//! The canonical sets of a grid (`docs/language/grid.md`).

use super::Grid;
use crate::entity::{CanonicalSet, EntityKind, Extent};
use crate::error::Error;

impl CanonicalSet {
    /// The set of a kind and an extent.
    pub const fn new(kind: EntityKind, extent: Extent) -> Self {
        CanonicalSet { kind, extent }
    }

    /// All entities of the same kind.
    #[must_use]
    pub const fn all(self) -> Self {
        CanonicalSet { kind: self.kind, extent: Extent::All }
    }

    /// The call that makes it in Equelle, such as `InteriorFaces()`.
    pub fn name(self) -> &'static str {
        match (self.extent, self.kind) {
            (Extent::All, EntityKind::Cell) => "AllCells()",
            (Extent::All, EntityKind::Face) => "AllFaces()",
            (Extent::All, EntityKind::Edge) => "AllEdges()",
            (Extent::All, EntityKind::Vertex) => "AllVertices()",
            (Extent::Interior, EntityKind::Cell) => "InteriorCells()",
            (Extent::Interior, EntityKind::Face) => "InteriorFaces()",
            (Extent::Interior, EntityKind::Edge) => "InteriorEdges()",
            (Extent::Interior, EntityKind::Vertex) => "InteriorVertices()",
            (Extent::Boundary, EntityKind::Cell) => "BoundaryCells()",
            (Extent::Boundary, EntityKind::Face) => "BoundaryFaces()",
            (Extent::Boundary, EntityKind::Edge) => "BoundaryEdges()",
            (Extent::Boundary, EntityKind::Vertex) => "BoundaryVertices()",
        }
    }
}

impl Grid {
    /// Ascending entities of a canonical set. A Cartesian grid needs no arrays for it. Not cached:
    /// [`crate::domain::Domain`] keeps it.
    ///
    /// # Errors
    /// As [`Grid::n_entities`].
    pub fn canonical_elements(&self, set: CanonicalSet) -> Result<Vec<u32>, Error> {
        let n = self.n_entities(set.kind)?;
        let is_boundary: Box<dyn Fn(usize) -> bool + Sync + '_> = match (set.kind.on_grid_of(self.dim), self.cartesian_shape()) {
            (EntityKind::Cell, Some(shape)) => Box::new(|e| shape.is_boundary_cell(e)),
            (EntityKind::Face, Some(shape)) => Box::new(|e| shape.is_boundary_face(e)),
            (EntityKind::Cell, None) => Box::new(|e| self.topology().is_boundary_cell(e)),
            (EntityKind::Face, None) => Box::new(|e| self.topology().is_boundary_face(e)),
            // A Cartesian grid that is treated as unstructured keeps its numbering, and its
            // topology has no edges and vertices to ask.
            (EntityKind::Edge, _) => match self.shape() {
                Some(shape) => Box::new(|e| shape.is_boundary_edge(e)),
                None => {
                    let edges = self.own_edges()?;
                    Box::new(|e| edges.on_boundary[e])
                }
            },
            (EntityKind::Vertex, _) => match self.shape() {
                Some(shape) => Box::new(|e| shape.is_boundary_vertex(e)),
                None => {
                    let on_boundary = self.boundary_vertices();
                    Box::new(move |e| on_boundary[e])
                }
            },
        };
        Ok(match set.extent {
            Extent::All => self.threads.values(n, |e| e as u32),
            Extent::Interior => self.threads.filtered(n, |e| !is_boundary(e)),
            Extent::Boundary => self.threads.filtered(n, is_boundary),
        })
    }
}
