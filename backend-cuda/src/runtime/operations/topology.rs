//! Relations and geometry of grid entities.

use std::sync::Arc;

use equelle_runtime::{EntityKind, Error, ErrorKind};

use crate::runtime::grid::arrays::GridArrays;
use crate::runtime::operations::arithmetic::Extent;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{BoolCollection, Collection, EntityCollection, VectorCollection};
use crate::runtime::values::conditions::Asked;

/// Which cell of a face.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    First = 0,
    Second = 1,
}

/// What the grid knows of entities, but for their measure.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Geometry {
    Centroid,
    Normal,
}

impl CudaRuntime {
    /// Per face its first or second cell; Empty outside the grid.
    pub(crate) fn cell_of(&mut self, faces: &EntityCollection, side: Side) -> Result<EntityCollection, Error> {
        let checked = only_faces(faces, "FirstCell and SecondCell");
        self.located(checked)?;
        let (domain, n) = (Arc::clone(faces.domain()), faces.domain().len());
        let grid = self.grid.arrays(self.session.grid(), GridArrays { face_cells: true, ..GridArrays::default() })?;
        let checks = self.operation_checks(Asked::Geometry { kind: faces.kind(), what: "cell" }, &domain)?;
        let out = self.new_entity_collection(&domain, EntityKind::Cell)?;
        let call = self.operation("equelle_cell_of")?.arg(side as u32).arg(n as u32).arg(faces.pointer()).arg(grid);
        self.executor.launch_over(call.arg(out.pointer()).arg(checks), n)?;
        Ok(out)
    }

    /// Whether each entity is Empty.
    pub(crate) fn which_are_empty(&mut self, entities: &EntityCollection) -> Result<BoolCollection, Error> {
        let (domain, n) = (Arc::clone(entities.domain()), entities.domain().len());
        let out = self.new_bool_collection(&domain)?;
        let call = self.operation("equelle_is_empty")?.arg(n as u32).arg(entities.pointer()).arg(out.pointer());
        self.executor.launch_over(call, n)?;
        Ok(out)
    }

    /// Volumes of cells, areas of faces, lengths of edges, 1 for vertices.
    pub(crate) fn measures_of(&mut self, entities: &EntityCollection) -> Result<Collection, Error> {
        let kind = entities.kind();
        let args = self.grid.arrays(
            self.session.grid(),
            GridArrays {
                cell_volumes: kind == EntityKind::Cell,
                face_areas: kind == EntityKind::Face,
                edge_lengths: kind == EntityKind::Edge,
                ..GridArrays::default()
            },
        )?;
        let table = match kind {
            EntityKind::Cell => args.cell_volumes,
            EntityKind::Face => args.face_areas,
            EntityKind::Edge => args.edge_lengths,
            EntityKind::Vertex => 0,
        };
        let domain = Arc::clone(entities.domain());
        let out = self.new_collection(&domain)?;
        self.look_up(entities, table, "measure", Extent::scalars(&domain), &out)?;
        Ok(out)
    }

    /// Centroids of entities, or unit normals of faces.
    pub(crate) fn places_of(&mut self, entities: &EntityCollection, geometry: Geometry) -> Result<VectorCollection, Error> {
        let kind = entities.kind();
        if let Geometry::Normal = geometry {
            let checked = only_faces(entities, "Normal");
            self.located(checked)?;
        }
        let centroid = |of: EntityKind| matches!(geometry, Geometry::Centroid) && kind == of;
        let args = self.grid.arrays(
            self.session.grid(),
            GridArrays {
                cell_centroids: centroid(EntityKind::Cell),
                face_centroids: centroid(EntityKind::Face),
                edge_centroids: centroid(EntityKind::Edge),
                vertex_positions: centroid(EntityKind::Vertex),
                face_normals: matches!(geometry, Geometry::Normal),
                ..GridArrays::default()
            },
        )?;
        let (table, what) = match (geometry, kind) {
            (Geometry::Normal, _) => (args.face_normals, "normal"),
            (Geometry::Centroid, EntityKind::Cell) => (args.cell_centroids, "centroid"),
            (Geometry::Centroid, EntityKind::Face) => (args.face_centroids, "centroid"),
            (Geometry::Centroid, EntityKind::Edge) => (args.edge_centroids, "centroid"),
            (Geometry::Centroid, EntityKind::Vertex) => (args.vertex_positions, "centroid"),
        };
        let domain = Arc::clone(entities.domain());
        let out = self.new_vector_collection(&domain)?;
        let extent = self.vectors_over(&domain);
        self.look_up(entities, table, what, extent, &out.values)?;
        Ok(out)
    }

    fn look_up(
        &mut self,
        entities: &EntityCollection,
        table: u64,
        what: &'static str,
        extent: Extent,
        out: &Collection,
    ) -> Result<(), Error> {
        let size = self.session.grid().n_entities(entities.kind())? as u32;
        let checks = self.operation_checks(Asked::Geometry { kind: entities.kind(), what }, entities.domain())?;
        let call = self.operation("equelle_geometry")?.arg(extent.n as u32).arg(entities.pointer()).arg(size);
        let call = call.arg(crate::runtime::device::DevicePtr(table)).arg(out.pointer()).arg(checks);
        self.launch_extent(call, extent);
        Ok(())
    }
}

fn only_faces(entities: &EntityCollection, operation: &str) -> Result<(), Error> {
    match entities.kind() {
        EntityKind::Face => Ok(()),
        EntityKind::Cell | EntityKind::Edge | EntityKind::Vertex => {
            let kind = entities.kind().noun();
            Err(Error::new(ErrorKind::Backend, format!("{operation} of a {kind} is not defined: it needs faces")))
        }
    }
}
