//! The part of a grid that one rank holds: the cells that it owns, and layers of cells around them.
//!
//! Layer 0 are the cells that the rank owns, layer k those at distance k across faces. A face has
//! the least layer of its cells. Cells and faces are numbered by layer, then as in the file, until
//! the part is renumbered ([`Grid::renumber`]).
//!
//! Beyond the last layer cells are missing: faces of that layer may lack a cell, and count as faces
//! of the boundary. So sets of faces and cells have the members of the whole grid in all layers but
//! the last one.

use std::sync::Arc;

use super::numbering::{Numbering, Numbers, Permutation};
use super::part_owners::{GridPart, KindPart, LazySkeleton};
use super::part_skeleton::array_skeleton;
use super::{Geometry, Grid, NONE, Topology};
use crate::entity::EntityKind;
use crate::error::Error;
use crate::rank_id::RankId;

impl Grid {
    /// Owners and layers, if it is a part of a grid ([`Grid::part_of`]).
    pub fn part(&self) -> Option<&GridPart> {
        self.part.as_deref()
    }

    /// True if values at an entity are computed from values that are right, and so errors there are
    /// errors of the run: everywhere but in the halo of a part.
    pub fn is_own(&self, kind: EntityKind, entity: u32) -> bool {
        let kind = kind.on_grid_of(self.dim);
        self.part.as_ref().is_none_or(|part| part.layer(kind, entity) == Some(0))
    }

    /// The part of this grid that a rank holds, with so many layers around the cells that it owns.
    /// `owners` has the rank of each cell. It has no named sets, and keeps this grid for its edges
    /// and vertices. Costs a few bytes for each cell of the whole grid meanwhile.
    ///
    /// # Errors
    /// Those of [`Grid::unstructured`].
    ///
    /// # Panics
    /// If there is not one owner for each cell, or arrays of geometry have been given up.
    pub fn part_of(&self, owners: &[RankId], rank: RankId, layers: usize) -> Result<Grid, Error> {
        let (topology, geometry) = (self.topology(), self.geometry());
        let (cells, cell_ends) = layers_of_cells(topology, owners, rank, layers);
        let (faces, face_ends) = layers_of_faces(topology, &cells, &cell_ends);
        let (cell_layers, face_layers) = (layers_up_to(&cell_ends), layers_up_to(&face_ends));
        let (here, face_here) = (Permutation::from_part(cells, &cell_layers), Permutation::from_part(faces, &face_layers));
        let local = local_topology(topology, &here, &face_here);
        let cell_owner = |cell: u32| owners[cell as usize];
        let face_owner = |face: u32| {
            let [first, second] = topology.face_cells[face as usize];
            cell_owner(if first == NONE { second } else { first })
        };
        let (of_skeleton, all_owners, skeleton_layers) = (self.without_geometry().shared(), owners.to_vec(), cell_layers.clone());
        let skeleton_cells = here.to_file.clone();
        let part = GridPart {
            skeleton: LazySkeleton::new(move || array_skeleton(&of_skeleton, &all_owners, rank, &skeleton_cells, &skeleton_layers)),
            cells: KindPart::Table {
                owners: here.to_file.iter().map(|&cell| cell_owner(cell)).collect(),
                layers: cell_layers,
                whole: self.n_cells,
            },
            faces: KindPart::Table {
                owners: face_here.to_file.iter().map(|&face| face_owner(face)).collect(),
                layers: face_layers,
                whole: self.n_faces,
            },
        };
        let local_geometry = local_geometry(geometry, &here.to_file, &face_here.to_file, |face| face_here.entity(face));
        let mut grid = Grid::unstructured(self.dim, local, local_geometry)?;
        let (cells, faces) = (Some(Numbers::Table(here)), Some(Numbers::Table(face_here)));
        grid.numbering = Arc::new(Numbering { cells, faces, interior_first: None });
        grid.has_joined_sides = self.has_joined_sides;
        grid.part = Some(Arc::new(part));
        Ok(grid)
    }
}

/// The cells up to a layer, by layer and then ascending; and the number of them up to each layer.
fn layers_of_cells(topology: &Topology, owners: &[RankId], rank: RankId, layers: usize) -> (Vec<u32>, Vec<usize>) {
    let n_cells = topology.cell_face_pos.len() - 1;
    assert_eq!(owners.len(), n_cells, "one owner for each cell");
    let mut cells: Vec<u32> = (0..n_cells as u32).filter(|&cell| owners[cell as usize] == rank).collect();
    let mut is_known = vec![false; n_cells];
    cells.iter().for_each(|&cell| is_known[cell as usize] = true);
    let (mut ends, mut start) = (vec![cells.len()], 0);
    for _ in 0..layers {
        let end = cells.len();
        for position in start..end {
            for &face in topology.faces_of(cells[position] as usize) {
                for other in topology.face_cells[face as usize] {
                    if other != NONE && !std::mem::replace(&mut is_known[other as usize], true) {
                        cells.push(other);
                    }
                }
            }
        }
        cells[end..].sort_unstable();
        start = end;
        ends.push(cells.len());
    }
    (cells, ends)
}

/// The layer of each entity, of the numbers of entities up to each layer.
fn layers_up_to(ends: &[usize]) -> Vec<u8> {
    let mut layers = Vec::new();
    for (layer, &end) in ends.iter().enumerate() {
        layers.resize(end, u8::try_from(layer).unwrap_or(u8::MAX));
    }
    layers
}

/// The faces of cells, by layer and then ascending; and the number of them up to each layer.
fn layers_of_faces(topology: &Topology, cells: &[u32], cell_ends: &[usize]) -> (Vec<u32>, Vec<usize>) {
    let mut is_known = vec![false; topology.face_cells.len()];
    let (mut faces, mut ends, mut start) = (Vec::new(), Vec::new(), 0);
    for &end in cell_ends {
        let before = faces.len();
        for &cell in &cells[start..end] {
            let new = topology.faces_of(cell as usize).iter().filter(|&&face| !std::mem::replace(&mut is_known[face as usize], true));
            faces.extend(new);
        }
        faces[before..].sort_unstable();
        ends.push(faces.len());
        start = end;
    }
    (faces, ends)
}

fn local_topology(topology: &Topology, cells: &Permutation, faces: &Permutation) -> Topology {
    let mut local = Topology { cell_face_pos: vec![0], ..Topology::default() };
    for &cell in &cells.to_file {
        // In the order of the file, which is that of sums.
        let here = topology.faces_of(cell as usize).iter().filter_map(|&face| faces.entity(face));
        local.cell_faces.extend(here);
        local.cell_face_pos.push(local.cell_faces.len());
    }
    let here = |cell: u32| if cell == NONE { NONE } else { cells.entity(cell).unwrap_or(NONE) };
    let ends = faces.to_file.iter().map(|&face| topology.face_cells[face as usize].map(here));
    local.face_cells = ends.collect();
    local
}

/// Geometry of the cells and faces with these numbers in a grid; `here` has the number here of a
/// face there.
pub(super) fn local_geometry(geometry: &Geometry, cells: &[u32], faces: &[u32], here: impl Fn(u32) -> Option<u32>) -> Geometry {
    fn gather<T: Copy>(values: &[T], numbers: &[u32]) -> Vec<T> {
        if values.is_empty() {
            return Vec::new();
        }
        numbers.iter().map(|&entity| values[entity as usize]).collect()
    }
    let mut without: Vec<u32> = geometry.faces_without_geometry.iter().filter_map(|&face| here(face)).collect();
    without.sort_unstable();
    Geometry {
        cell_volumes: gather(&geometry.cell_volumes, cells),
        cell_centroids: gather(&geometry.cell_centroids, cells),
        face_areas: gather(&geometry.face_areas, faces),
        face_centroids: gather(&geometry.face_centroids, faces),
        face_normals: gather(&geometry.face_normals, faces),
        face_gaps: gather(&geometry.face_gaps, faces),
        face_transmissibilities: gather(&geometry.face_transmissibilities, faces),
        faces_without_geometry: without,
    }
}
