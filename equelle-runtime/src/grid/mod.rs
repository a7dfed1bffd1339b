//! The grid: topology and geometry (runtime specification, section 1).
//!
//! A Cartesian grid keeps its arrays unbuilt until something asks for them, so that programs whose kernels run in Cartesian form
//! never pay for them.

use std::sync::OnceLock;

/// Stands for "no entity" wherever an entity index is stored.
pub const NONE: u32 = u32::MAX;

/// A grid of 1, 2 or 3 dimensions.
#[derive(Debug)]
pub struct Grid {
    dim: usize,
    n_cells: usize,
    n_faces: usize,
    cartesian: Option<Cartesian>,
    topology: OnceLock<Topology>,
    geometry: OnceLock<Geometry>,
}

/// A uniform Cartesian grid; numbering and orientation as in the runtime specification, section 1.3.
/// In 1D `n[1] = n[2] = 1` and the n[0]+1 faces have area 1; in 2D `n[2] = 1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cartesian {
    /// 1, 2 or 3.
    pub dim: usize,
    /// Cells along each axis.
    pub n: [usize; 3],
    /// Cell widths dx, dy, dz.
    pub spacing: [f64; 3],
}

/// Cells and faces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// Start of each cell's slice of `cell_faces`. `[n_cells + 1]`
    pub cell_face_pos: Vec<usize>,
    /// Faces of each cell, ascending within a cell.
    pub cell_faces: Vec<u32>,
    /// First and second cell of each face; [`NONE`] outside. `[n_faces]`
    pub face_cells: Vec<[u32; 2]>,
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
}
