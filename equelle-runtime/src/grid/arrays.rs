//! Arrays of a grid, and how many entities they can have.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorKind};

/// Stands for "no entity" wherever an entity index is stored.
pub const NONE: u32 = u32::MAX;

/// Cells and faces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// Start of each cell's slice of `cell_faces`. `[n_cells + 1]`
    pub cell_face_pos: Vec<usize>,
    /// Faces of each cell, within a cell ascending in the numbering of the file, which is the order
    /// of sums over them.
    pub cell_faces: Vec<u32>,
    /// First and second cell of each face; [`NONE`] outside. `[n_faces]`
    pub face_cells: Vec<[u32; 2]>,
}

impl Topology {
    /// Faces of a cell, ascending in the numbering of the file.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn faces_of(&self, cell: usize) -> &[u32] {
        &self.cell_faces[self.cell_face_pos[cell]..self.cell_face_pos[cell + 1]]
    }

    /// True if one of the two cells of a face is outside.
    ///
    /// # Panics
    /// If there is no such face.
    pub fn is_boundary_face(&self, face: usize) -> bool {
        self.face_cells[face].contains(&NONE)
    }

    /// True if any face of a cell is a boundary face.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn is_boundary_cell(&self, cell: usize) -> bool {
        self.faces_of(cell).iter().any(|&face| self.is_boundary_face(face as usize))
    }
}

/// Measures, centroids, normals. Vectors have three components, unused ones 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Geometry {
    /// `[n_cells]`
    pub cell_volumes: Vec<f64>,
    /// `[n_cells]`
    pub cell_centroids: Vec<[f64; 3]>,
    /// `[n_faces]`
    pub face_areas: Vec<f64>,
    /// `[n_faces]`
    pub face_centroids: Vec<[f64; 3]>,
    /// Unit normals, from first to second cell. `[n_faces]`
    pub face_normals: Vec<[f64; 3]>,
    /// From the centroid on the side of the second cell to `face_centroids`, which is on the side
    /// of the first, where a gap or an overlap lies between both; else 0. `[n_faces]`, or empty if
    /// the sides of all faces meet.
    pub face_gaps: Vec<[f64; 3]>,
    /// Transmissibilities that the grid gives, in cubic metres; [`Geometry::FROM_GEOMETRY`] where
    /// that of geometry holds. `[n_faces]`, or empty if none is given.
    pub face_transmissibilities: Vec<f64>,
    /// Faces that join two cells by a given transmissibility alone: they have the area 0 and the
    /// normal 0. Ascending.
    pub faces_without_geometry: Vec<u32>,
}

/// Positions of the nodes along each axis, ascending, in metres; empty for axes that the grid does
/// not have. `[n + 1]`
pub(super) type RectilinearNodes = [Vec<f64>; 3];

/// Most entities of one kind: [`NONE`] and the count itself must fit in 32 bits.
pub(super) const MAX_ENTITIES: usize = u32::MAX as usize - 1;

pub(super) fn too_many(what: &str) -> Error {
    too_many_of(what, MAX_ENTITIES)
}

pub(crate) fn too_many_of(what: &str, most: usize) -> Error {
    Error::new(ErrorKind::Data, format!("the grid has too many {what}: at most {most} fit in 32-bit indices")).hint("use a coarser grid")
}

/// An array of [`Geometry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeometryArray {
    /// Volumes of cells.
    CellVolumes,
    /// Centroids of cells.
    CellCentroids,
    /// Areas of faces.
    FaceAreas,
    /// Centroids of faces.
    FaceCentroids,
    /// Normals of faces.
    FaceNormals,
}

impl GeometryArray {
    /// All of them.
    pub const ALL: [GeometryArray; 5] = [
        GeometryArray::CellVolumes,
        GeometryArray::CellCentroids,
        GeometryArray::FaceAreas,
        GeometryArray::FaceCentroids,
        GeometryArray::FaceNormals,
    ];
}

impl Geometry {
    /// Stands for the transmissibility of a face whose geometry gives it.
    pub const FROM_GEOMETRY: f64 = -1.0;

    /// Transmissibility that the grid gives a face, in cubic metres; [`Geometry::FROM_GEOMETRY`] if
    /// it gives none.
    pub fn face_transmissibility(&self, face: usize) -> f64 {
        self.face_transmissibilities.get(face).copied().unwrap_or(Geometry::FROM_GEOMETRY)
    }

    /// From the centroid of a face on the side of its second cell to that on the side of the first;
    /// zero where both meet.
    pub fn face_gap(&self, face: usize) -> [f64; 3] {
        self.face_gaps.get(face).copied().unwrap_or_default()
    }

    /// Centroid of a face, on the side of its first cell or of its second one.
    ///
    /// # Panics
    /// If there is no such face.
    pub fn side_centroid(&self, face: usize, is_first: bool) -> [f64; 3] {
        let centroid = self.face_centroids[face];
        if is_first {
            return centroid;
        }
        let gap = self.face_gap(face);
        std::array::from_fn(|axis| centroid[axis] - gap[axis])
    }

    pub(super) fn give_up(&mut self, arrays: &[GeometryArray]) {
        for array in arrays {
            match array {
                GeometryArray::CellVolumes => self.cell_volumes = Vec::new(),
                GeometryArray::CellCentroids => self.cell_centroids = Vec::new(),
                GeometryArray::FaceAreas => self.face_areas = Vec::new(),
                GeometryArray::FaceCentroids => self.face_centroids = Vec::new(),
                GeometryArray::FaceNormals => self.face_normals = Vec::new(),
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.cell_volumes[..])
            + size_of_val(&self.cell_centroids[..])
            + size_of_val(&self.face_areas[..])
            + size_of_val(&self.face_centroids[..])
            + size_of_val(&self.face_normals[..])
            + size_of_val(&self.face_gaps[..])
            + size_of_val(&self.face_transmissibilities[..])
            + size_of_val(&self.faces_without_geometry[..])
    }
}

/// Nodes of a grid, and which of them each face has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nodes {
    /// Positions, in metres; unused components 0. `[n_nodes]`
    pub positions: Vec<[f64; 3]>,
    /// Start of each face's slice of `face_nodes`. `[n_faces + 1]`
    pub face_node_pos: Vec<usize>,
    /// Nodes of each face; in 3D in their order around the face, in either sense.
    pub face_nodes: Vec<u32>,
    /// Nodes of faces on the side of the second cell, in the order of those that they face, where a
    /// gap or an overlap lies between both sides.
    pub second_sides: BTreeMap<u32, Vec<u32>>,
}

/// Nodes of a grid, and its edges and vertices that have tables of their own.
#[derive(Clone, Debug, Default)]
pub(super) struct Skeleton {
    pub nodes: Option<Arc<Nodes>>,
    /// Edges of a grid of 3 dimensions.
    pub edges: Arc<OnceLock<Edges>>,
    /// Positions of the vertices of a Cartesian grid of 2 or 3 dimensions.
    pub vertices: Arc<OnceLock<Vec<[f64; 3]>>>,
}

impl Nodes {
    /// Nodes of a face.
    ///
    /// # Panics
    /// If there is no such face.
    pub fn face_nodes(&self, face: usize) -> &[u32] {
        &self.face_nodes[self.face_node_pos[face]..self.face_node_pos[face + 1]]
    }

    /// Nodes of a face on the side of its second cell.
    ///
    /// # Panics
    /// If there is no such face.
    pub fn second_side_nodes(&self, face: usize) -> &[u32] {
        self.second_sides.get(&(face as u32)).map_or(self.face_nodes(face), Vec::as_slice)
    }

    /// Nodes of a face on the side of one of its cells.
    pub(super) fn seen_from(&self, topology: &Topology, cell: usize, face: usize) -> &[u32] {
        if topology.face_cells[face][0] == cell as u32 { self.face_nodes(face) } else { self.second_side_nodes(face) }
    }

    /// Edges of all faces, each once as smaller and larger node in one number, ascending.
    pub(super) fn edge_pairs(&self) -> Vec<u64> {
        let n_faces = self.face_node_pos.len() - 1;
        let mut pairs: Vec<u64> = (0..n_faces).flat_map(|face| self.edges_of_face(face)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Edges of a face, each as smaller and larger node in one number, whose order is the
    /// lexicographic one. A node that occurs twice in a row makes none.
    pub(super) fn edges_of_face(&self, face: usize) -> impl Iterator<Item = u64> + '_ {
        let other_side = self.second_sides.get(&(face as u32)).map_or(&[][..], Vec::as_slice);
        [self.face_nodes(face), other_side].into_iter().flat_map(|nodes| {
            let pairs = nodes.iter().zip(nodes.iter().cycle().skip(1));
            pairs.filter(|(a, b)| a != b).map(|(&a, &b)| u64::from(a.min(b)) << 32 | u64::from(a.max(b)))
        })
    }
}

/// Edges of a grid of 3 dimensions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Edges {
    /// `[n_edges]`
    pub lengths: Vec<f64>,
    /// Midpoints. `[n_edges]`
    pub centroids: Vec<[f64; 3]>,
    /// True if each belongs to a boundary face; empty where the shape of a Cartesian grid tells.
    /// `[n_edges]`
    pub on_boundary: Vec<bool>,
}
