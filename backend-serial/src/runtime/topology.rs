//! Relations and geometry of grid entities.

use equelle_runtime::grid::NONE;
use equelle_runtime::{EntityKind, Error, ErrorKind, Real};

use super::SerialRuntime;
use super::allocation::{element_at, two_cells, without_value};
use super::collections::{BoolCollection, EntityCollection, ScalarCollection, VectorCollection};
use super::pool::Buffer;

/// The first or second cell of a face.
#[derive(Clone, Copy)]
pub(super) enum FaceCell {
    First,
    Second,
}

/// The first or second cell of each face; Empty outside the grid.
pub(super) fn cell_of<R: Real>(rt: &SerialRuntime<R>, faces: &EntityCollection, side: FaceCell) -> Result<EntityCollection, Error> {
    let index = match side {
        FaceCell::First => 0,
        FaceCell::Second => 1,
    };
    only_faces(faces, "FirstCell and SecondCell")?;
    let face_cells = &rt.grid().topology().face_cells;
    let mut cells = rt.take_entity_buffer(faces.values.len());
    for (position, (cell, &face)) in cells.iter_mut().zip(faces.values.iter()).enumerate() {
        *cell = match face_cells.get(face as usize) {
            Some(cells) => cells[index],
            None => without_value(&faces.domain, position, NONE, || not_there(faces, position, "cell"))?,
        };
    }
    Ok(rt.entity_collection_from(&faces.domain, EntityKind::Cell, cells))
}

/// True if each entity is Empty.
pub(super) fn is_empty<R: Real>(rt: &SerialRuntime<R>, entities: &EntityCollection) -> BoolCollection {
    let mut empty = rt.take_bool_buffer(entities.values.len());
    for (empty, &entity) in empty.iter_mut().zip(entities.values.iter()) {
        *empty = entity == NONE;
    }
    rt.bool_collection_from(&entities.domain, empty)
}

/// The faces themselves, none of which has two cells.
pub(super) fn one_cell<R: Real>(rt: &SerialRuntime<R>, faces: &EntityCollection) -> Result<EntityCollection, Error> {
    only_faces(faces, "InnerCell")?;
    let face_cells = &rt.grid().topology().face_cells;
    let has_two = |face: u32| face_cells.get(face as usize).is_some_and(|cells| !cells.contains(&NONE));
    for (position, _) in faces.values.iter().enumerate().filter(|(_, face)| has_two(**face)) {
        without_value(&faces.domain, position, (), || two_cells(&faces.domain, position))?;
    }
    Ok(faces.clone())
}

/// Volumes of cells, areas of faces, lengths of edges, 1 for vertices.
pub(super) fn measure<R: Real>(rt: &SerialRuntime<R>, entities: &EntityCollection) -> Result<ScalarCollection<R>, Error> {
    let measures = rt.grid().measures(entities.kind);
    let mut out = rt.take_buffer(entities.values.len());
    for (position, (out, &entity)) in out.iter_mut().zip(entities.values.iter()).enumerate() {
        *out = R::from_f64(match measures.get(entity as usize) {
            Some(&measure) => measure,
            None => without_value(&entities.domain, position, 0.0, || not_there(entities, position, "measure"))?,
        });
    }
    Ok(rt.scalar_collection_from(&entities.domain, out))
}

/// Centroids of entities.
pub(super) fn centroid<R: Real>(rt: &SerialRuntime<R>, entities: &EntityCollection) -> Result<VectorCollection<R>, Error> {
    vectors_of(rt, entities, rt.grid().centroids(entities.kind), "centroid")
}

/// Unit normals of faces, from first to second cell.
pub(super) fn normal<R: Real>(rt: &SerialRuntime<R>, faces: &EntityCollection) -> Result<VectorCollection<R>, Error> {
    only_faces(faces, "Normal")?;
    vectors_of(rt, faces, &rt.grid().geometry().face_normals, "normal")
}

/// Gaps of faces, from the side of the second cell to that of the first.
pub(super) fn face_gap<R: Real>(rt: &SerialRuntime<R>, faces: &EntityCollection) -> Result<VectorCollection<R>, Error> {
    only_faces(faces, "Centroid")?;
    let grid = rt.grid();
    let geometry = grid.geometry();
    let gap = |face: u32| ((face as usize) < grid.n_faces()).then(|| geometry.face_gap(face as usize));
    vectors_by(rt, faces, gap, "gap")
}

/// Transmissibilities that the grid gives faces.
pub(super) fn face_transmissibility<R: Real>(rt: &SerialRuntime<R>, faces: &EntityCollection) -> Result<ScalarCollection<R>, Error> {
    only_faces(faces, "GivenTransmissibility")?;
    let grid = rt.grid();
    let mut out = rt.take_buffer(faces.values.len());
    for (position, (out, &face)) in out.iter_mut().zip(faces.values.iter()).enumerate() {
        *out = R::from_f64(match (face as usize) < grid.n_faces() {
            true => grid.geometry().face_transmissibility(face as usize),
            false => without_value(&faces.domain, position, 0.0, || not_there(faces, position, "transmissibility"))?,
        });
    }
    Ok(rt.scalar_collection_from(&faces.domain, out))
}

fn vectors_of<R: Real>(
    rt: &SerialRuntime<R>,
    entities: &EntityCollection,
    vectors: &[[f64; 3]],
    what: &str,
) -> Result<VectorCollection<R>, Error> {
    vectors_by(rt, entities, |entity| vectors.get(entity as usize).copied(), what)
}

fn vectors_by<R: Real>(
    rt: &SerialRuntime<R>,
    entities: &EntityCollection,
    vector: impl Fn(u32) -> Option<[f64; 3]>,
    what: &str,
) -> Result<VectorCollection<R>, Error> {
    let mut components: [Option<Buffer<R>>; 3] = Default::default();
    for (axis, component) in components.iter_mut().enumerate().take(rt.grid().dim()) {
        let mut buffer = rt.take_buffer(entities.values.len());
        for (position, (out, &entity)) in buffer.iter_mut().zip(entities.values.iter()).enumerate() {
            let vector = match vector(entity) {
                Some(vector) => vector,
                None => without_value(&entities.domain, position, [0.0; 3], || not_there(entities, position, what))?,
            };
            *out = R::from_f64(vector[axis]);
        }
        *component = Some(buffer);
    }
    Ok(rt.vector_collection_from(&entities.domain, components.into_iter().flatten()))
}

/// The error of entry `position`, which is Empty (or beyond the grid, an internal error), so it has
/// no `what`.
fn not_there(entities: &EntityCollection, position: usize, what: &str) -> Error {
    let owner = element_at(&entities.domain, position);
    let kind = entities.kind.noun();
    let owner_kind = entities.domain.kind().noun();
    match entities.values.get(position) {
        Some(&NONE) | None => Error::empty_entity(kind, what, &format!("{owner_kind} {owner}")),
        Some(&entity) => {
            let entity = entities.domain.grid().file_index(entities.kind, entity);
            Error::new(ErrorKind::Simulation, format!("the grid has no {kind} {entity}, which belongs to {owner_kind} {owner}"))
        }
    }
}

fn only_faces(entities: &EntityCollection, operation: &str) -> Result<(), Error> {
    if entities.kind == EntityKind::Face { Ok(()) } else { Err(Error::needs_faces(operation, entities.kind.noun())) }
}
