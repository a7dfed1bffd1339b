//! Sides of a grid: `x-`, `x+` and so on.
//!
//! A grid made of a shape has them by its shape. On another one a side has the boundary faces whose
//! normal is along the axis and whose centroid lies at the end of the box around the centroids of
//! all boundary faces.

use super::{CartesianFace, Grid, NONE};
use crate::entity::EntityKind;

/// How far the normal may be from the axis, and the centroid from the end of the box in parts of
/// its size: more than files with six digits lose, less than any face that is not of the side.
const TOLERANCE: f64 = 1e-6;

/// Faces of a side, in the numbering of the grid's file, ascending.
pub fn faces(grid: &Grid, axis: usize, high: bool) -> Vec<u32> {
    if let Some(shape) = grid.shape() {
        let layer = if high { shape.n[axis] } else { 0 };
        let places = |other: usize| if other == axis { layer..layer + 1 } else { 0..shape.n[other] };
        let rows = places(2).flat_map(|k| places(1).map(move |j| [j, k]));
        let ijk = rows.flat_map(|[j, k]| places(0).map(move |i| [i, j, k]));
        return ijk.map(|ijk| shape.face(CartesianFace { axis, ijk }) as u32).collect();
    }
    let (topology, geometry) = (grid.topology(), grid.geometry());
    let boundary: Vec<usize> = (0..grid.n_faces()).filter(|&face| topology.is_boundary_face(face)).collect();
    let along = |face: usize| geometry.face_centroids[face][axis];
    let (low_end, high_end) =
        boundary.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &face| (low.min(along(face)), high.max(along(face))));
    let (end, tolerance) = (if high { high_end } else { low_end }, TOLERANCE * (high_end - low_end));
    let on_side = |&face: &usize| (along(face) - end).abs() <= tolerance && geometry.face_normals[face][axis].abs() >= 1.0 - TOLERANCE;
    let mut faces: Vec<u32> = boundary.into_iter().filter(on_side).map(|face| grid.file_index(EntityKind::Face, face as u32)).collect();
    faces.sort_unstable();
    faces
}

/// Cells with a face on a side, in the numbering of the grid's file, ascending.
pub fn cells(grid: &Grid, axis: usize, high: bool) -> Vec<u32> {
    let of_face = |face: u32| match grid.shape() {
        Some(shape) => shape.face_cells(face as usize),
        None => {
            let pair = grid.topology().face_cells[grid.entity_of_file(EntityKind::Face, face) as usize];
            pair.map(|cell| if cell == NONE { NONE } else { grid.file_index(EntityKind::Cell, cell) })
        }
    };
    let mut cells: Vec<u32> = faces(grid, axis, high).into_iter().flat_map(of_face).filter(|&cell| cell != NONE).collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}
