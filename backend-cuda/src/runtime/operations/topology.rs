//! Relations and geometry of grid entities.

use equelle_runtime::{EntityKind, Error};

use crate::runtime::device::DevicePtr;
use crate::runtime::grid::arrays::GridArrays;
use crate::runtime::operations::arithmetic::{launch_extent, operation};
use crate::runtime::operations::operand::Extent;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{BoolCollection, Collection, EntityCollection, VectorCollection};
use crate::runtime::values::conditions::Requirement;

/// The first or second cell of a face.
#[derive(Clone, Copy, Debug)]
pub(super) enum FaceCell {
    First = 0,
    Second = 1,
}

/// The first or second cell of each face; Empty outside the grid.
pub(super) fn cell_of(rt: &mut CudaRuntime, faces: &EntityCollection, side: FaceCell) -> Result<EntityCollection, Error> {
    rt.located(only_faces(faces, "FirstCell and SecondCell"))?;
    let (domain, n) = (faces.domain(), faces.domain().len());
    let grid = rt.grid.arrays(rt.session.grid(), GridArrays { face_cells: true, ..GridArrays::default() })?;
    let checks =
        rt.conditions.operation_checks(Requirement::Geometry { kind: faces.kind(), what: "cell" }, rt.session.current_line(), domain)?;
    let out = rt.new_entity_collection(domain, EntityKind::Cell)?;
    let call = operation(rt, "equelle_cell_of")?.arg(side as u32).arg(n as u32).arg(faces.pointer()).arg(grid);
    rt.executor.launch_over(call.arg(out.pointer()).arg(checks), n)?;
    Ok(out)
}

/// The faces themselves, none of which has two cells.
pub(super) fn one_cell(rt: &mut CudaRuntime, faces: &EntityCollection) -> Result<EntityCollection, Error> {
    rt.located(only_faces(faces, "InnerCell"))?;
    let (domain, n) = (faces.domain(), faces.domain().len());
    let grid = rt.grid.arrays(rt.session.grid(), GridArrays { face_cells: true, ..GridArrays::default() })?;
    let checks = rt.conditions.operation_checks(Requirement::OneCell, rt.session.current_line(), domain)?;
    let call = operation(rt, "equelle_one_cell")?.arg(n as u32).arg(faces.pointer()).arg(grid);
    rt.executor.launch_over(call.arg(checks), n)?;
    Ok(faces.clone())
}

/// True if each entity is Empty.
pub(super) fn is_empty(rt: &mut CudaRuntime, entities: &EntityCollection) -> Result<BoolCollection, Error> {
    let (out, n) = (rt.new_bool_collection(entities.domain())?, entities.domain().len());
    let call = operation(rt, "equelle_is_empty")?.arg(n as u32).arg(entities.pointer()).arg(out.pointer());
    rt.executor.launch_over(call, n)?;
    Ok(out)
}

/// Volumes of cells, areas of faces, lengths of edges, 1 for vertices.
pub(super) fn measure(rt: &mut CudaRuntime, entities: &EntityCollection) -> Result<Collection, Error> {
    let kind = entities.kind();
    let needs = GridArrays {
        cell_volumes: kind == EntityKind::Cell,
        face_areas: kind == EntityKind::Face,
        edge_lengths: kind == EntityKind::Edge,
        ..GridArrays::default()
    };
    let args = rt.grid.arrays(rt.session.grid(), needs)?;
    let table = match kind {
        EntityKind::Cell => args.cell_volumes,
        EntityKind::Face => args.face_areas,
        EntityKind::Edge => args.edge_lengths,
        EntityKind::Vertex => 0,
    };
    let out = rt.new_collection(entities.domain())?;
    look_up(rt, entities, table, "measure", Extent::scalars(entities.domain()), &out)?;
    Ok(out)
}

/// Centroids of entities.
pub(super) fn centroid(rt: &mut CudaRuntime, entities: &EntityCollection) -> Result<VectorCollection, Error> {
    let kind = entities.kind();
    let needs = GridArrays {
        cell_centroids: kind == EntityKind::Cell,
        face_centroids: kind == EntityKind::Face,
        edge_centroids: kind == EntityKind::Edge,
        vertex_positions: kind == EntityKind::Vertex,
        ..GridArrays::default()
    };
    let args = rt.grid.arrays(rt.session.grid(), needs)?;
    let table = match kind {
        EntityKind::Cell => args.cell_centroids,
        EntityKind::Face => args.face_centroids,
        EntityKind::Edge => args.edge_centroids,
        EntityKind::Vertex => args.vertex_positions,
    };
    vectors_of(rt, entities, table, "centroid")
}

/// Unit normals of faces, from first to second cell.
pub(super) fn normal(rt: &mut CudaRuntime, faces: &EntityCollection) -> Result<VectorCollection, Error> {
    rt.located(only_faces(faces, "Normal"))?;
    let args = rt.grid.arrays(rt.session.grid(), GridArrays { face_normals: true, ..GridArrays::default() })?;
    vectors_of(rt, faces, args.face_normals, "normal")
}

/// Gaps of faces, from the side of the second cell to that of the first.
pub(super) fn face_gap(rt: &mut CudaRuntime, faces: &EntityCollection) -> Result<VectorCollection, Error> {
    rt.located(only_faces(faces, "Centroid"))?;
    let args = rt.grid.arrays(rt.session.grid(), GridArrays { face_gaps: true, ..GridArrays::default() })?;
    let table = if args.face_gaps == 0 { rt.grid.without_gaps(rt.session.grid())? } else { args.face_gaps };
    vectors_of(rt, faces, table, "gap")
}

/// Transmissibilities that the grid gives faces.
pub(super) fn face_transmissibility(rt: &mut CudaRuntime, faces: &EntityCollection) -> Result<Collection, Error> {
    rt.located(only_faces(faces, "GivenTransmissibility"))?;
    let args = rt.grid.arrays(rt.session.grid(), GridArrays { face_transmissibilities: true, ..GridArrays::default() })?;
    let table = match args.face_transmissibilities {
        0 => rt.grid.without_transmissibilities(rt.session.grid())?,
        given => given,
    };
    let out = rt.new_collection(faces.domain())?;
    look_up(rt, faces, table, "transmissibility", Extent::scalars(faces.domain()), &out)?;
    Ok(out)
}

fn vectors_of(rt: &mut CudaRuntime, entities: &EntityCollection, table: u64, what: &'static str) -> Result<VectorCollection, Error> {
    let out = rt.new_vector_collection(entities.domain())?;
    look_up(rt, entities, table, what, Extent::vectors(rt, entities.domain()), &out.values)?;
    Ok(out)
}

fn look_up(
    rt: &mut CudaRuntime,
    entities: &EntityCollection,
    table: u64,
    what: &'static str,
    extent: Extent,
    out: &Collection,
) -> Result<(), Error> {
    let size = rt.session.grid().n_entities(entities.kind())? as u32;
    let checks = rt.conditions.operation_checks(
        Requirement::Geometry { kind: entities.kind(), what },
        rt.session.current_line(),
        entities.domain(),
    )?;
    let call = operation(rt, "equelle_geometry")?.arg(extent.n as u32).arg(entities.pointer()).arg(size);
    launch_extent(rt, call.arg(DevicePtr(table)).arg(out.pointer()).arg(checks), extent);
    Ok(())
}

fn only_faces(entities: &EntityCollection, operation: &str) -> Result<(), Error> {
    if entities.kind() == EntityKind::Face { Ok(()) } else { Err(Error::needs_faces(operation, entities.kind().noun())) }
}
