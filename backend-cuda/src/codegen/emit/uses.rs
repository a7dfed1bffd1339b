//! References of a text, noted by whoever writes them.

use std::collections::BTreeSet;

use equelle_front::backend::usage::BodyUsage;
use equelle_front::ir::LocalId;
use equelle_front::types::{EntityKind, SetId};

/// Arrays of an `EqGrid` that a function reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct GridUse {
    pub sides: bool,
    pub side_faces: bool,
    pub side_ranks: bool,
    pub face_cells: bool,
    pub cell_volumes: bool,
    pub cell_centroids: bool,
    pub face_areas: bool,
    pub face_centroids: bool,
    pub face_normals: bool,
    pub face_gaps: bool,
    pub face_transmissibilities: bool,
    pub edge_lengths: bool,
    pub edge_centroids: bool,
    pub vertex_positions: bool,
    /// The shape of a Cartesian grid, for reads by index.
    pub shape: bool,
}

impl GridUse {
    /// With the geometry that a body reads on any grid.
    pub(in crate::codegen) fn with_geometry(self, body: &BodyUsage) -> Self {
        let measures = |kind| body.measures.contains(&kind);
        let centroids = |kind| body.centroids.contains(&kind);
        GridUse {
            cell_volumes: measures(EntityKind::Cell),
            face_areas: measures(EntityKind::Face),
            edge_lengths: measures(EntityKind::Edge),
            cell_centroids: centroids(EntityKind::Cell),
            face_centroids: centroids(EntityKind::Face),
            edge_centroids: centroids(EntityKind::Edge),
            vertex_positions: centroids(EntityKind::Vertex),
            face_normals: body.normals,
            face_gaps: body.gaps,
            face_transmissibilities: body.transmissibilities,
            ..self
        }
    }

    /// True if it reads any array.
    pub(in crate::codegen) fn any(self) -> bool {
        self != GridUse::default()
    }
}

/// References of the text of a body.
#[derive(Clone, Debug, Default)]
pub(in crate::codegen) struct Uses {
    /// Numbers of parameters.
    pub params: BTreeSet<usize>,
    /// Parameters whose values on the sides of cells are read.
    pub by_side: BTreeSet<usize>,
    /// Parameters whose number of elements is read.
    pub sizes: BTreeSet<usize>,
    /// Sets whose ranks are read.
    pub ranks: BTreeSet<SetId>,
    /// Unknowns whose first column is read.
    pub first_columns: BTreeSet<usize>,
    /// Faces of sums that are named.
    pub faces: BTreeSet<LocalId>,
    /// Faces of sums whose two cells are named.
    pub face_cells: BTreeSet<LocalId>,
    /// Arrays of topology.
    pub grid: GridUse,
}

impl Uses {
    /// With what a text refers to that is appended.
    pub(in crate::codegen) fn append(&mut self, other: Uses) {
        let Uses { params, by_side, sizes, ranks, first_columns, faces, face_cells, grid } = other;
        self.params.extend(params);
        self.by_side.extend(by_side);
        self.sizes.extend(sizes);
        self.ranks.extend(ranks);
        self.first_columns.extend(first_columns);
        self.faces.extend(faces);
        self.face_cells.extend(face_cells);
        self.grid.sides |= grid.sides;
        self.grid.side_faces |= grid.side_faces;
        self.grid.side_ranks |= grid.side_ranks;
        self.grid.face_cells |= grid.face_cells;
        self.grid.shape |= grid.shape;
    }
}
