//! Geometry that nothing reads any more.

use std::sync::{Arc, OnceLock};

use super::build::{self, Axes};
use super::{Cartesian, Geometry, GeometryArray, Grid};
use crate::entity::EntityKind;

impl Grid {
    /// The same grid without its geometry, which a grid made of a shape would build anew and one of
    /// arrays does not have any more; everything else is shared.
    pub fn without_geometry(&self) -> Grid {
        Grid {
            dim: self.dim,
            n_cells: self.n_cells,
            n_faces: self.n_faces,
            shape: self.shape.clone(),
            topology: Arc::clone(&self.topology),
            neighbours: Arc::clone(&self.neighbours),
            geometry: OnceLock::new(),
            given_up: Vec::new(),
            skeleton: self.skeleton.clone(),
            numbering: Arc::clone(&self.numbering),
            named: Arc::clone(&self.named),
            has_joined_sides: self.has_joined_sides,
            notes: Arc::clone(&self.notes),
            threads: self.threads.clone(),
            part: self.part.clone(),
        }
    }

    /// Gives the memory of all arrays of geometry back but of these, which alone will be read.
    pub fn keep_geometry(&mut self, kept: &[GeometryArray]) {
        self.given_up = GeometryArray::ALL.into_iter().filter(|array| !kept.contains(array)).collect();
        if let Some(geometry) = self.geometry.get_mut() {
            geometry.give_up(&self.given_up);
        }
    }

    /// Memory of the arrays of geometry that there are, in bytes.
    pub fn geometry_bytes(&self) -> usize {
        self.geometry.get().map_or(0, Geometry::bytes)
    }

    /// Centroid of an entity, also where the array has been given up, if the shape of the grid
    /// still tells it. Builds no array; of a shape, costs all positions along its axes. See
    /// [`Grid::centroids_of`].
    pub fn centroid(&self, kind: EntityKind, entity: u32) -> Option<[f64; 3]> {
        self.centroids_of(kind).at(entity)
    }

    /// The centroids of the entities of a kind, each as [`Grid::centroid`]: what a shape tells of
    /// all of them is worked out once.
    pub fn centroids_of(&self, kind: EntityKind) -> Centroids<'_> {
        let kind = kind.on_grid_of(self.dim);
        let shape = match kind {
            EntityKind::Cell | EntityKind::Face => self.shape().map(|shape| (shape, self.shape.axes(shape))),
            EntityKind::Edge | EntityKind::Vertex => None,
        };
        Centroids { grid: self, kind, n_entities: self.n_entities(kind).unwrap_or(0), shape }
    }

    /// The cell of a grid made of a shape that contains a point, if there is one; `None` for grids
    /// of arrays. Builds no array.
    pub(crate) fn cell_of_shape(&self, point: [f64; 3]) -> Option<Option<u32>> {
        let shape = self.shape()?;
        let of_file = build::cell_at(shape, &self.shape.axes(shape), point);
        let here = |cell: u32| if self.part.is_some() { cell } else { self.entity_of_file(EntityKind::Cell, cell) };
        Some(of_file.map(|cell| here(cell as u32)))
    }
}

/// The centroids of the entities of a kind.
pub struct Centroids<'g> {
    grid: &'g Grid,
    kind: EntityKind,
    n_entities: usize,
    /// The shape that the grid is made of, with positions along its axes.
    shape: Option<(&'g Cartesian, Axes)>,
}

impl Centroids<'_> {
    /// That of an entity; `None` if there is no such entity, or the array has been given up.
    pub fn at(&self, entity: u32) -> Option<[f64; 3]> {
        if entity as usize >= self.n_entities {
            return None;
        }
        // A box is made in its own numbering, other shapes in that of the file.
        let in_file = || if self.grid.part.is_some() { entity } else { self.grid.file_index(self.kind, entity) };
        let of_file = || in_file() as usize;
        match (self.kind, &self.shape) {
            (EntityKind::Cell, Some((shape, axes))) => Some(build::cell_centroid(shape, axes, of_file())),
            (EntityKind::Face, Some((shape, axes))) => Some(build::face_centroid(shape, axes, of_file())),
            (EntityKind::Cell | EntityKind::Face | EntityKind::Edge | EntityKind::Vertex, _) => {
                self.grid.centroids(self.kind).get(entity as usize).copied()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cartesian, Renumber};
    use super::*;

    /// 2 x 1 cells of 1 x 2, as a grid of arrays: what is kept is as it was, and a centroid that
    /// was given up is still told.
    #[test]
    fn geometry_is_given_up_array_by_array() {
        let mut grid = Grid::cartesian(Cartesian::plane([2, 1], [1.0, 2.0])).expect("a grid").as_unstructured();
        let bare = grid.without_geometry();
        assert_eq!(grid.geometry_bytes(), 0, "nothing is built before it is read");
        let all = grid.geometry().clone();
        // Two cells of 32 bytes, seven faces of 56.
        assert_eq!(grid.geometry_bytes(), 2 * 32 + 7 * 56);
        grid.keep_geometry(&[GeometryArray::CellVolumes, GeometryArray::FaceNormals]);
        assert_eq!(grid.geometry_bytes(), 2 * 8 + 7 * 24);
        assert_eq!(grid.geometry().cell_volumes, [2.0, 2.0]);
        assert_eq!(grid.geometry().face_normals, all.face_normals);
        assert_eq!(grid.centroid(EntityKind::Cell, 1), Some([1.5, 1.0, 0.0]));
        assert_eq!(grid.centroid(EntityKind::Cell, 2), None);
        // Given up before it is built, it is not kept when it is.
        let mut other = bare;
        other.keep_geometry(&[GeometryArray::FaceAreas]);
        assert_eq!(other.geometry().face_areas, all.face_areas);
        assert_eq!(other.geometry_bytes(), 7 * 8);
        assert!(std::ptr::eq(other.topology(), grid.topology()), "cells and faces are shared");
    }

    /// Positions told without an array are those of the arrays, bit for bit, in a numbering of its
    /// own too.
    #[test]
    fn centroids_without_arrays() {
        for shape in [Cartesian::line(4, 0.3), Cartesian::plane([3, 4], [0.1, 0.7]), Cartesian::block([4, 2, 3], [0.3, 0.1, 1.7])] {
            for how in [Renumber::No, Renumber::Yes] {
                let mut grid = Grid::cartesian(shape).expect("a grid").as_unstructured();
                grid.renumber(how);
                let bare = grid.without_geometry();
                for kind in [EntityKind::Cell, EntityKind::Face] {
                    for (entity, expected) in grid.centroids(kind).iter().enumerate() {
                        assert_eq!(bare.centroid(kind, entity as u32).as_ref(), Some(expected), "{shape:?} {kind:?} {entity}");
                    }
                }
                assert_eq!(bare.geometry_bytes(), 0);
            }
        }
    }

    /// A grid of arrays has its geometry once: another one without it has none.
    #[test]
    fn arrays_are_not_copied() {
        let cartesian = Grid::cartesian(Cartesian::line(3, 1.0)).expect("a grid");
        let (topology, geometry) = (cartesian.topology().clone(), cartesian.geometry().clone());
        let mut grid = Grid::unstructured(1, topology, geometry).expect("a grid");
        assert_eq!(grid.without_geometry().geometry_bytes(), 0);
        grid.keep_geometry(&[]);
        assert_eq!((grid.geometry_bytes(), grid.centroid(EntityKind::Cell, 0)), (0, None));
    }
}
