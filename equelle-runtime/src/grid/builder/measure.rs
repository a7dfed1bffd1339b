//! Areas, volumes, centroids and normals of faces and cells over nodes.
//!
//! A face that is not flat is the fan of triangles around the mean of its nodes, seen from both of
//! its cells. Its area is the length of its area vector, so that the area vectors of a cell add up
//! to zero; its centroid is that of the fan projected along the area vector. The volume of a cell
//! is exact for the surface of these fans (divergence theorem).

use super::cells::Cells;
use super::error::BuildError;
use crate::grid::outwards::mean;
use crate::grid::shapes::{Vector, cross, dot, minus, norm, plus, times};
use crate::grid::{Geometry, Nodes, Topology};
use crate::threads::Threads;

/// Area of a polygon in the plane; positive if it turns counter-clockwise.
pub(super) fn area_of_polygon(positions: &[Vector], corners: &[u32]) -> f64 {
    let Some(&first) = corners.first() else { return 0.0 };
    let at = |corner: u32| minus(positions[corner as usize], positions[first as usize]);
    corners.windows(2).map(|pair| 0.5 * cross(at(pair[0]), at(pair[1]))[2]).sum()
}

/// True if sides of a quadrangle, given counter-clockwise, cross: then two of its corners turn the
/// other way. In one whose sides do not cross, one corner at most does.
pub(super) fn is_crossed(positions: &[Vector], corners: &[u32]) -> bool {
    let [a, b, c, d] = *corners else { return false };
    let turned = [[a, b, c], [b, c, d], [c, d, a], [d, a, b]];
    turned.iter().filter(|corner| area_of_polygon(positions, &corner[..]) < 0.0).count() >= 2
}

/// Measures all faces, then all cells. A face without nodes joins two cells without geometry: it
/// has neither area nor normal, and its centroid is the caller's.
///
/// # Errors
/// The first face without area; then the first cell without a positive volume.
pub(super) fn geometry(topology: &Topology, nodes: &Nodes, dim: usize, threads: &Threads) -> Result<Geometry, BuildError> {
    let (n_faces, n_cells) = (topology.face_cells.len(), topology.cell_face_pos.len() - 1);
    let mut geometry = Geometry {
        cell_volumes: vec![0.0; n_cells],
        cell_centroids: vec![[0.0; 3]; n_cells],
        face_areas: vec![0.0; n_faces],
        face_centroids: vec![[0.0; 3]; n_faces],
        face_normals: vec![[0.0; 3]; n_faces],
        face_gaps: Vec::new(),
        face_transmissibilities: Vec::new(),
        faces_without_geometry: Vec::new(),
    };
    let faces = (&mut geometry.face_areas[..], &mut geometry.face_centroids[..], &mut geometry.face_normals[..]);
    let found = threads.try_each(n_faces, faces, |mut range, (areas, centroids, normals)| {
        let start = range.start;
        range.try_for_each(|index| {
            if nodes.face_nodes(index).is_empty() {
                return Ok(());
            }
            let face = Face::of(&nodes.positions, nodes.face_nodes(index), dim);
            let area = norm(face.vector);
            // Squares of what is this small or large are no numbers any more.
            if !(area.is_normal() && area > ROUNDING * face.size && is_finite(face.centroid)) {
                return Err(index);
            }
            (areas[index - start], centroids[index - start], normals[index - start]) =
                (area, face.centroid, times(1.0 / area, face.vector));
            Ok(())
        })
    });
    if let Err(face) = found {
        return Err(BuildError::NoArea { cell: topology.face_cells[face][0] as usize });
    }
    if !nodes.second_sides.is_empty() {
        let mut gaps = vec![[0.0; 3]; n_faces];
        for (&face, second) in &nodes.second_sides {
            let centroid = Face::of(&nodes.positions, second, dim).centroid;
            gaps[face as usize] = minus(geometry.face_centroids[face as usize], centroid);
        }
        geometry.face_gaps = gaps;
    }
    let (mut volumes, mut centroids) = (std::mem::take(&mut geometry.cell_volumes), std::mem::take(&mut geometry.cell_centroids));
    let found = threads.try_each(n_cells, (&mut volumes[..], &mut centroids[..]), |mut range, (volumes, centroids)| {
        let start = range.start;
        range.try_for_each(|cell| {
            let sum = sum_of_cell(topology, nodes, &geometry, cell, dim);
            volumes[cell - start] = sum.volume;
            centroids[cell - start] = sum.centroid();
            if sum.has_volume() && is_finite(centroids[cell - start]) { Ok(()) } else { Err(cell) }
        })
    });
    if let Err(cell) = found {
        let sum = sum_of_cell(topology, nodes, &geometry, cell, dim);
        let is_inverted = sum.volume < -sum.rounding();
        return Err(if is_inverted { BuildError::Inverted { cell, volume: sum.volume } } else { BuildError::NoVolume { cell } });
    }
    (geometry.cell_volumes, geometry.cell_centroids) = (volumes, centroids);
    Ok(geometry)
}

/// The volume of a cell before faces are known; negative if it is inverted.
pub(super) fn volume_of(cells: &Cells, cell: usize, dim: usize) -> f64 {
    let half_faces = cells.cell_pos[cell]..cells.cell_pos[cell + 1];
    if half_faces.is_empty() {
        return 0.0;
    }
    let origin = cells.positions[cells.nodes_of(half_faces.start)[0] as usize];
    let mut sum = Sum::new(origin, dim);
    for half_face in half_faces {
        let nodes = cells.nodes_of(half_face);
        let face = Face::of(&cells.positions, nodes, dim);
        sum.add(&cells.positions, nodes, face.vector, 1.0);
    }
    sum.volume
}

fn sum_of_cell(topology: &Topology, nodes: &Nodes, geometry: &Geometry, cell: usize, dim: usize) -> Sum {
    let faces = topology.faces_of(cell);
    let origin = nodes.positions[nodes.face_nodes(faces[0] as usize)[0] as usize];
    let mut sum = Sum::new(origin, dim);
    for &face in faces {
        let face = face as usize;
        if nodes.face_nodes(face).is_empty() {
            continue;
        }
        let is_first = topology.face_cells[face][0] == cell as u32;
        let sign = if is_first { 1.0 } else { -1.0 };
        let vector = match nodes.second_sides.get(&(face as u32)) {
            Some(second) if !is_first => Face::of(&nodes.positions, second, dim).vector,
            _ => times(geometry.face_areas[face], geometry.face_normals[face]),
        };
        sum.add(&nodes.positions, nodes.seen_from(topology, cell, face), vector, sign);
    }
    sum
}

/// Area vector and centroid of a face.
struct Face {
    vector: Vector,
    centroid: Vector,
    /// Sum of the sizes of what was added up to the vector; 0 in 2D, where nothing is.
    size: f64,
}

fn is_finite(vector: Vector) -> bool {
    vector.iter().all(|x| x.is_finite())
}

impl Face {
    fn of(positions: &[Vector], nodes: &[u32], dim: usize) -> Face {
        let first = positions[nodes[0] as usize];
        // Differences lose nothing where coordinates are large.
        let from_first = |node: u32| minus(positions[node as usize], first);
        match *nodes {
            [_, b] if dim == 2 => {
                let along = from_first(b);
                Face { vector: [along[1], -along[0], 0.0], centroid: plus(first, times(0.5, along)), size: 0.0 }
            }
            [_, b, c] => {
                let (b, c) = (from_first(b), from_first(c));
                Face { vector: times(0.5, cross(b, c)), centroid: plus(first, times(1.0 / 3.0, plus(b, c))), size: 0.5 * norm(b) * norm(c) }
            }
            [..] => {
                let mean = mean(positions, nodes);
                let sum = |of: &dyn Fn(Vector, Vector) -> Vector| {
                    around(positions, nodes, mean).fold([0.0; 3], |sum, [a, b]| plus(sum, of(a, b)))
                };
                let vector = times(0.5, sum(&cross));
                let square = dot(vector, vector);
                let moment = sum(&|a, b| times(dot(cross(a, b), vector), plus(a, b)));
                let centroid = if square > 0.0 { plus(mean, times(1.0 / (6.0 * square), moment)) } else { mean };
                let size = around(positions, nodes, mean).map(|[a, b]| 0.5 * norm(a) * norm(b)).sum();
                Face { vector, centroid, size }
            }
        }
    }
}

/// Edges of a face, relative to a point.
fn around<'a>(positions: &'a [Vector], nodes: &'a [u32], centre: Vector) -> impl Iterator<Item = [Vector; 2]> + 'a {
    let at = move |node: u32| minus(positions[node as usize], centre);
    let last = nodes.len() - 1;
    (0..nodes.len()).map(move |i| [at(nodes[if i == 0 { last } else { i - 1 }]), at(nodes[i])])
}

/// A cell as the sum of the cones over its faces.
struct Sum {
    dim: f64,
    origin: Vector,
    volume: f64,
    /// First moment about the origin.
    moment: Vector,
    /// Sum of the sizes of what was added up to the volume.
    size: f64,
}

/// Rounding errors of an area or a volume, relative to the sum of the sizes of its terms: some ten
/// operations each.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

impl Sum {
    fn new(origin: Vector, dim: usize) -> Sum {
        Sum { dim: dim as f64, origin, volume: 0.0, moment: [0.0; 3], size: 0.0 }
    }

    /// Adds the cone over a face, whose `vector` points out if `sign` is 1.
    fn add(&mut self, positions: &[Vector], nodes: &[u32], vector: Vector, sign: f64) {
        let is_flat = nodes.len() <= 3;
        // Near the origin of the cell, numbers have digits that positions far away have not.
        let sum = nodes.iter().fold([0.0; 3], |sum, &node| plus(sum, minus(positions[node as usize], self.origin)));
        let way = times(1.0 / nodes.len() as f64, sum);
        let cone = sign * dot(way, vector) / self.dim;
        self.volume += cone;
        self.size += norm(way) * norm(vector) / self.dim;
        if is_flat {
            self.moment = plus(self.moment, times(cone * self.dim / (self.dim + 1.0), way));
        } else {
            // Tetrahedra over the triangles around the mean: their centroids are at three quarters
            // of the way.
            let of = |[a, b]: [Vector; 2]| times(0.125 * sign * dot(way, cross(a, b)), plus(way, times(1.0 / 3.0, plus(a, b))));
            let tip = plus(self.origin, way);
            self.moment = around(positions, nodes, tip).map(of).fold(self.moment, plus);
        }
    }

    fn rounding(&self) -> f64 {
        ROUNDING * self.size
    }

    fn has_volume(&self) -> bool {
        self.volume > self.rounding() && self.volume.is_normal()
    }

    fn centroid(&self) -> Vector {
        plus(self.origin, times(1.0 / self.volume, self.moment))
    }
}
