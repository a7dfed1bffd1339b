//! The arrays of Cartesian and rectilinear grids.

use super::arrays::{Edges, GeometryArray, RectilinearNodes};
use super::{Cartesian, CartesianEdge, CartesianFace, Geometry, NONE, Topology};
use crate::threads::Threads;

/// Topology of a Cartesian grid.
pub(super) fn topology(shape: &Cartesian, threads: &Threads) -> Topology {
    let (n_cells, faces_per_cell) = (shape.n_cells(), 2 * shape.dim);
    let [nx, ny, _] = shape.n;
    let starts: [usize; 3] = std::array::from_fn(|axis| shape.face_start(axis.min(shape.dim)));
    // Ascending: axis by axis, low side before high side.
    let sides = |cell: usize| {
        let [i, j, k] = shape.cell_ijk(cell);
        let x = starts[0] + i + (nx + 1) * (j + ny * k);
        let y = starts[1] + i + nx * (j + (ny + 1) * k);
        let z = starts[2] + i + nx * (j + ny * k);
        [x, x + 1, y, y + nx, z, z + nx * ny].map(|face| face as u32)
    };
    let cell_faces = match shape.dim {
        1 => threads.values(n_cells, |cell| sides(cell)[..2].try_into().unwrap_or([0; 2])).into_flattened(),
        2 => threads.values(n_cells, |cell| sides(cell)[..4].try_into().unwrap_or([0; 4])).into_flattened(),
        _ => threads.values(n_cells, sides).into_flattened(),
    };
    let face_cells = threads.values(shape.n_faces(), |face| {
        let CartesianFace { axis, ijk } = shape.face_ijk(face);
        // The cell index at a high boundary is never used, so that it may be out of range.
        let high = shape.cell(ijk);
        let second = if ijk[axis] < shape.n[axis] { high as u32 } else { NONE };
        let first = if ijk[axis] > 0 { (high - shape.stride(axis)) as u32 } else { NONE };
        [first, second]
    });
    let cell_face_pos = threads.values(n_cells + 1, |cell| cell * faces_per_cell);
    Topology { cell_face_pos, cell_faces, face_cells }
}

/// Geometry of a Cartesian or rectilinear grid: widths are differences of node positions, centres
/// their means. What has been given up stays empty.
pub(super) fn geometry(shape: &Cartesian, axes: &Axes, given_up: &[GeometryArray], threads: &Threads) -> Geometry {
    let (n_cells, n_faces) = (shape.n_cells(), shape.n_faces());
    let wanted = |array: GeometryArray, n: usize| if given_up.contains(&array) { 0 } else { n };
    Geometry {
        // Widths along axes that the grid does not have are 1, and multiplying by 1 is exact.
        cell_volumes: threads.values(wanted(GeometryArray::CellVolumes, n_cells), |cell| {
            let [i, j, k] = shape.cell_ijk(cell);
            axes[0].widths[i] * axes[1].widths[j] * axes[2].widths[k]
        }),
        cell_centroids: threads.values(wanted(GeometryArray::CellCentroids, n_cells), |cell| cell_centroid(shape, axes, cell)),
        face_areas: threads.values(wanted(GeometryArray::FaceAreas, n_faces), |face| {
            let CartesianFace { axis, ijk } = shape.face_ijk(face);
            (0..3).filter(|&a| a != axis).fold(1.0, |area, a| area * axes[a].widths[ijk[a]])
        }),
        face_centroids: threads.values(wanted(GeometryArray::FaceCentroids, n_faces), |face| face_centroid(shape, axes, face)),
        face_normals: threads.values(wanted(GeometryArray::FaceNormals, n_faces), |face| {
            let mut normal = [0.0; 3];
            normal[shape.face_ijk(face).axis] = 1.0;
            normal
        }),
        face_gaps: Vec::new(),
        face_transmissibilities: Vec::new(),
        faces_without_geometry: Vec::new(),
    }
}

/// Centroid of a cell, as [`geometry`] has it.
pub(super) fn cell_centroid(shape: &Cartesian, axes: &Axes, cell: usize) -> [f64; 3] {
    let ijk = shape.cell_ijk(cell);
    std::array::from_fn(|a| axes[a].centres[ijk[a]])
}

/// The cell that contains a point, up to rounding at the ends; the first of two on a face.
pub(super) fn cell_at(shape: &Cartesian, axes: &Axes, point: [f64; 3]) -> Option<usize> {
    let mut ijk = [0; 3];
    for axis in 0..shape.dim {
        let Axis { nodes, widths, .. } = &axes[axis];
        let (at, last) = (point[axis], shape.n[axis] - 1);
        let (low, high) = (nodes[0] - 1e-9 * widths[0], nodes[last + 1] + 1e-9 * widths[last]);
        if !(low <= at && at <= high) {
            return None;
        }
        ijk[axis] = nodes.partition_point(|&node| node < at).saturating_sub(1).min(last);
    }
    Some(shape.cell(ijk))
}

/// Centroid of a face, as [`geometry`] has it.
pub(super) fn face_centroid(shape: &Cartesian, axes: &Axes, face: usize) -> [f64; 3] {
    let CartesianFace { axis, ijk } = shape.face_ijk(face);
    std::array::from_fn(|a| if a == axis { axes[a].nodes[ijk[a]] } else { axes[a].centres[ijk[a]] })
}

/// Edges of a Cartesian grid of 3 dimensions, in ascending index. Which are on the boundary the
/// shape tells.
pub(super) fn edges(shape: &Cartesian, axes: &Axes) -> Edges {
    let n = shape.n_edges();
    let mut edges = Edges { lengths: Vec::with_capacity(n), centroids: Vec::with_capacity(n), on_boundary: Vec::new() };
    for edge in 0..n {
        let CartesianEdge { axis, ijk } = shape.edge_ijk(edge);
        edges.lengths.push(axes[axis].widths[ijk[axis]]);
        edges.centroids.push(std::array::from_fn(|a| if a == axis { axes[a].centres[ijk[a]] } else { axes[a].nodes[ijk[a]] }));
    }
    edges
}

/// Positions of the vertices of a Cartesian grid, in ascending index.
pub(super) fn vertices(shape: &Cartesian, axes: &Axes) -> Vec<[f64; 3]> {
    let position = |ijk: [usize; 3]| std::array::from_fn(|a| axes[a].nodes[ijk[a]]);
    (0..shape.n_vertices()).map(|vertex| position(shape.vertex_ijk(vertex))).collect()
}

/// Positions along the three axes.
pub(super) type Axes = [Axis; 3];

/// Positions along one axis; along an axis that the grid does not have, one cell of width 1 at 0.
pub(super) struct Axis {
    nodes: Vec<f64>,
    widths: Vec<f64>,
    centres: Vec<f64>,
}

impl Axis {
    /// From the positions of all nodes, and of both ends of each cell.
    fn new(nodes: Vec<f64>, ends: &[[f64; 2]]) -> Axis {
        let widths = ends.iter().map(|[low, high]| high - low).collect();
        let centres = ends.iter().map(|[low, high]| (low + high) / 2.0).collect();
        Axis { nodes, widths, centres }
    }
}

/// Axes of a Cartesian grid, whose node positions are i dx, or of a rectilinear one with these
/// nodes.
pub(super) fn axes(shape: &Cartesian, nodes: Option<&RectilinearNodes>) -> Axes {
    std::array::from_fn(|axis| {
        if axis >= shape.dim {
            return Axis { nodes: vec![0.0, 0.0], widths: vec![1.0], centres: vec![0.0] };
        }
        let nodes = match nodes {
            Some(nodes) => nodes[axis].clone(),
            None => {
                // Cells of a box beyond a side of the whole grid are those at its other end.
                let ends = (0..shape.n[axis]).map(|at| shape.whole_index(axis, at)).map(|at| [at, at + 1].map(|node| node as f64));
                let ends: Vec<[f64; 2]> = ends.map(|ends| ends.map(|node| node * shape.spacing[axis])).collect();
                let nodes = ends.iter().map(|ends| ends[0]).chain(ends.last().map(|ends| ends[1])).collect();
                return Axis::new(nodes, &ends);
            }
        };
        let ends: Vec<[f64; 2]> = nodes.windows(2).map(|w| [w[0], w[1]]).collect();
        Axis::new(nodes, &ends)
    })
}
