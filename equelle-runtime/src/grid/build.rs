//! The arrays of Cartesian and rectilinear grids.

use super::arrays::Edges;
use super::rectilinear::RectilinearNodes;
use super::{Cartesian, CartesianEdge, CartesianFace, Geometry, NONE, Topology};

/// Topology of a Cartesian grid. Written in one sweep over cells and one over faces.
pub(super) fn topology(shape: &Cartesian) -> Topology {
    let (n_cells, n_faces, faces_per_cell) = (shape.n_cells(), shape.n_faces(), 2 * shape.dim);
    let mut cell_faces = Vec::with_capacity(n_cells * faces_per_cell);
    let [nx, ny, nz] = shape.n;
    let starts: [usize; 3] = std::array::from_fn(|axis| shape.face_start(axis.min(shape.dim)));
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                // Ascending: axis by axis, low side before high side.
                let x = starts[0] + i + (nx + 1) * (j + ny * k);
                cell_faces.extend_from_slice(&[x as u32, (x + 1) as u32]);
                if shape.dim >= 2 {
                    let y = starts[1] + i + nx * (j + (ny + 1) * k);
                    cell_faces.extend_from_slice(&[y as u32, (y + nx) as u32]);
                }
                if shape.dim == 3 {
                    let z = starts[2] + i + nx * (j + ny * k);
                    cell_faces.extend_from_slice(&[z as u32, (z + nx * ny) as u32]);
                }
            }
        }
    }
    let mut face_cells = Vec::with_capacity(n_faces);
    for_each_face(shape, |axis, ijk| {
        let along = ijk[axis];
        // The cell index at a high boundary is never used, so that it may be out of range.
        let high = shape.cell(ijk);
        let second = if along < shape.n[axis] { high as u32 } else { NONE };
        let first = if along > 0 { (high - shape.stride(axis)) as u32 } else { NONE };
        face_cells.push([first, second]);
    });
    Topology { cell_face_pos: (0..=n_cells).map(|cell| cell * faces_per_cell).collect(), cell_faces, face_cells }
}

/// Geometry of a Cartesian or rectilinear grid: widths are differences of node positions, centres
/// their means.
pub(super) fn geometry(shape: &Cartesian, axes: &Axes) -> Geometry {
    let (n_cells, n_faces) = (shape.n_cells(), shape.n_faces());
    let mut g = Geometry {
        cell_volumes: Vec::with_capacity(n_cells),
        cell_centroids: Vec::with_capacity(n_cells),
        face_areas: Vec::with_capacity(n_faces),
        face_centroids: Vec::with_capacity(n_faces),
        face_normals: Vec::with_capacity(n_faces),
    };
    for k in 0..shape.n[2] {
        for j in 0..shape.n[1] {
            for i in 0..shape.n[0] {
                // Widths along axes that the grid does not have are 1, and multiplying by 1 is
                // exact.
                g.cell_volumes.push(axes[0].widths[i] * axes[1].widths[j] * axes[2].widths[k]);
                g.cell_centroids.push([axes[0].centres[i], axes[1].centres[j], axes[2].centres[k]]);
            }
        }
    }
    for_each_face(shape, |axis, ijk| {
        let mut area = 1.0;
        let mut centroid = [0.0; 3];
        let mut normal = [0.0; 3];
        for a in 0..3 {
            if a == axis {
                centroid[a] = axes[a].nodes[ijk[a]];
            } else {
                area *= axes[a].widths[ijk[a]];
                centroid[a] = axes[a].centres[ijk[a]];
            }
        }
        normal[axis] = 1.0;
        g.face_areas.push(area);
        g.face_centroids.push(centroid);
        g.face_normals.push(normal);
    });
    g
}

/// Centroid of a cell, as [`geometry`] has it.
pub(super) fn cell_centroid(shape: &Cartesian, axes: &Axes, cell: usize) -> [f64; 3] {
    let ijk = shape.cell_ijk(cell);
    std::array::from_fn(|a| axes[a].centres[ijk[a]])
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

/// Axes of a Cartesian grid, whose node positions are i dx, or of a rectilinear one with these
/// nodes.
pub(super) fn axes(shape: &Cartesian, nodes: Option<&RectilinearNodes>) -> Axes {
    std::array::from_fn(|axis| {
        if axis >= shape.dim {
            return Axis { nodes: vec![0.0, 0.0], widths: vec![1.0], centres: vec![0.0] };
        }
        let nodes = match nodes {
            Some(nodes) => nodes[axis].clone(),
            None => (0..=shape.n[axis]).map(|i| i as f64 * shape.spacing[axis]).collect(),
        };
        let widths = nodes.windows(2).map(|w| w[1] - w[0]).collect();
        let centres = nodes.windows(2).map(|w| (w[0] + w[1]) / 2.0).collect();
        Axis { nodes, widths, centres }
    })
}

/// Calls with axis and position of every face, in ascending face index.
fn for_each_face(shape: &Cartesian, mut visit: impl FnMut(usize, [usize; 3])) {
    for axis in 0..shape.dim {
        let mut n = shape.n;
        n[axis] += 1;
        for k in 0..n[2] {
            for j in 0..n[1] {
                for i in 0..n[0] {
                    visit(axis, [i, j, k]);
                }
            }
        }
    }
}
