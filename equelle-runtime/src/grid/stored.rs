//! Areas, volumes, centroids and normals that a grid file stores, compared with what its nodes
//! give.
//!
//! Allowed are 1e-6 of the area or volume, and a distance of 1e-6 of the diameter; or what the
//! digits of the file leave open, those of the stored number and, since nodes may have been rounded
//! as well, what that makes of areas, volumes and centroids. A face without nodes counts as flat,
//! with the area, centroid and normal that are stored.

use super::digits::Digits;
use super::shapes::{Bounds, Cell, Face, Range, Vector, dot, minus, norm, times};
use super::{Nodes, Topology};
use crate::error::{Error, ErrorKind};
use crate::number::write_shortest;
use crate::params::Parameters;
use crate::threads::Threads;

/// Treatment of the areas, volumes, centroids and normals in a grid file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoredGeometry {
    /// They are compared with what the nodes give; a difference is an error.
    #[default]
    Check,
    /// They are believed.
    Trust,
}

impl StoredGeometry {
    /// From `grid_geometry` (`check`).
    ///
    /// # Errors
    /// `Data` for another word than `check` or `trust`.
    pub fn from_parameters(parameters: &Parameters) -> Result<StoredGeometry, Error> {
        match parameters.text("grid_geometry") {
            None | Some("check") => Ok(StoredGeometry::Check),
            Some("trust") => Ok(StoredGeometry::Trust),
            Some(other) => {
                let message = format!("parameter `grid_geometry` must be `check` or `trust`, not `{other}`");
                Err(Error::new(ErrorKind::Data, message))
            }
        }
    }
}

/// Largest difference, relative to the area, the volume or, of centroids, the diameter.
const ALLOWED: f64 = 1e-6;

/// A check writes nothing.
const NOTHING: [&mut [u8]; 0] = [];

/// Grid arrays that a file stores.
pub(super) struct Stored<'a> {
    pub dim: usize,
    pub nodes: &'a Nodes,
    pub topology: &'a Topology,
    pub face_areas: &'a [f64],
    pub face_centroids: &'a [Vector],
    /// Area times normal, from the first cell to the second.
    pub face_normals: &'a [Vector],
    pub cell_volumes: &'a [f64],
    pub cell_centroids: &'a [Vector],
    /// Digits of the positions of nodes.
    pub node_digits: Digits,
    /// Digits of everything else.
    pub digits: Digits,
}

/// An array of a file with something wrong in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    NodesOfFace,
    FaceArea,
    FaceCentroid,
    FaceNormal,
    CellVolume,
    CellCentroid,
}

/// An error in an item.
#[derive(Debug)]
pub(super) struct Mismatch {
    pub array: Item,
    pub index: usize,
    pub what: String,
}

impl Stored<'_> {
    /// Compares all faces, then all cells.
    ///
    /// # Errors
    /// The first that differs.
    pub fn check(&self, threads: &Threads) -> Result<(), Mismatch> {
        let first = |n: usize, check: &(dyn Fn(usize) -> Option<Mismatch> + Sync)| {
            let found = threads
                .try_each(n, NOTHING, |mut range, _: [&mut [u8]; 0]| range.find(|&index| check(index).is_some()).map_or(Ok(()), Err));
            found.err().and_then(check).map_or(Ok(()), Err)
        };
        first(self.face_areas.len(), &|face| self.face(face))?;
        first(self.cell_volumes.len(), &|cell| self.cell(cell))
    }

    fn face(&self, index: usize) -> Option<Mismatch> {
        let wrong = |array: Item, what: String| Some(Mismatch { array, index, what });
        let face = Face::of(self.nodes, index, self.dim)?;
        if face.corners < self.dim || self.dim == 2 && face.corners > 2 {
            let needed = if self.dim == 2 { "2" } else { "3 or more" };
            return wrong(
                Item::NodesOfFace,
                format!("face {index} has {} nodes, in {} dimensions it needs {needed}", face.corners, self.dim),
            );
        }
        let area = self.face_areas[index];
        let moved = || self.moved(face.bounds);
        // Each edge sweeps over its length times the way that its ends move.
        let area_error = || moved() * face.perimeter;
        let differs = |value: f64, error: f64| exceeds(face.area.distance(value), ALLOWED * face.area.most, || error + area_error());
        if differs(area, self.digits.error_of(area)) {
            return wrong(Item::FaceArea, format!("{} is not the area of face {index}: its nodes give {}", shown(area), range(face.area)));
        }
        let stored = self.face_centroids[index];
        let diameter = face.bounds.diameter();
        let vector = norm(face.vector);
        let centroid_error =
            || self.error_of(stored) + face.radius + centroid_moves(moved(), face.corners == self.dim, area_error() / vector, diameter);
        let apart = norm(minus(stored, face.centroid));
        if exceeds(apart, ALLOWED * diameter, centroid_error)
            && !(self.is_lost(vector, area_error()) && self.is_within(face.bounds, stored))
        {
            return wrong(Item::FaceCentroid, self.centroid_differs(stored, "face", index, "nodes", face.centroid, apart / diameter));
        }
        let normal = self.face_normals[index];
        let computed = if dot(normal, face.vector) < 0.0 { times(-1.0, face.vector) } else { face.vector };
        let length = norm(normal);
        let normal_error = || self.error_of(normal) + area_error();
        // For a face that is not flat, the length may be that of the vector, or the area of a
        // surface.
        let direction = norm(minus(times(vector / length, normal), computed));
        if differs(length, self.error_of(normal))
            || exceeds(direction, ALLOWED * vector, normal_error) && !self.is_lost(vector, area_error())
        {
            let what = format!(
                "{} is not area times normal of face {index}: its nodes give {}",
                self.point(normal, shown),
                self.point(computed, computed_shown)
            );
            return wrong(Item::FaceNormal, what);
        }
        None
    }

    fn cell(&self, index: usize) -> Option<Mismatch> {
        let wrong = |array: Item, what: String| Some(Mismatch { array, index, what });
        let faces = self.topology.faces_of(index);
        let origin = self.cell_origin(faces)?;
        let mut cell = Cell::empty(origin, self.dim);
        let mut without_nodes = 0.0;
        for &face in faces {
            let face = face as usize;
            let normal = self.face_normals[face];
            let outward = if self.topology.face_cells[face][0] == index as u32 { 1.0 } else { -1.0 };
            match Face::of(self.nodes, face, self.dim) {
                Some(of_nodes) => {
                    let along = if dot(of_nodes.vector, normal) < 0.0 { -1.0 } else { 1.0 };
                    cell.add(self.nodes, face, &of_nodes, outward * along);
                }
                None => {
                    let centroid = self.face_centroids[face];
                    cell.add_flat(times(outward, normal), centroid);
                    without_nodes += self.error_of(centroid) * norm(normal) + self.error_of(normal) * norm(minus(centroid, origin));
                }
            }
        }
        let volume = self.cell_volumes[index];
        // Each face sweeps over its area times the way that its nodes move. Writers that sum
        // products of coordinates in the plane, far from the origin, lose some digits.
        let far = if self.dim == 2 { f64::EPSILON * cell.corners as f64 * cell.bounds.largest().powi(2) } else { 0.0 };
        let volume_error = || self.moved(cell.bounds) * cell.surface + without_nodes + far;
        let error = || self.digits.error_of(volume) + volume_error();
        if exceeds(cell.volume.distance(volume), ALLOWED * cell.volume.most, error) {
            return wrong(
                Item::CellVolume,
                format!("{} is not the volume of cell {index}: its faces give {}", shown(volume), range(cell.volume)),
            );
        }
        let stored = self.cell_centroids[index];
        let is_simplex = faces.len() == self.dim + 1 && cell.corners == self.dim * (self.dim + 1);
        let Some((centroid, radius)) = cell.centroid().filter(|_| !self.is_lost(cell.volume.least, volume_error())) else {
            // The digits do not tell the centroid of so thin a cell.
            let distance = cell.bounds.distance(stored);
            if exceeds(distance, ALLOWED * cell.bounds.diameter(), || self.error_of(stored) + self.moved(cell.bounds)) {
                let what = format!(
                    "{} is not the centroid of cell {index}: it is outside, by {}",
                    self.point(stored, shown),
                    computed_shown(distance)
                );
                return wrong(Item::CellCentroid, what);
            }
            return None;
        };
        let diameter = cell.bounds.diameter();
        let apart = norm(minus(stored, centroid));
        let centroid_error = || {
            let moved = centroid_moves(self.moved(cell.bounds), is_simplex, volume_error() / cell.volume.least, diameter);
            self.error_of(stored) + radius + moved
        };
        if exceeds(apart, ALLOWED * diameter, centroid_error) {
            return wrong(Item::CellCentroid, self.centroid_differs(stored, "cell", index, "faces", centroid, apart / diameter));
        }
        None
    }

    /// A place near a cell: a node of its first face, or the centroid of that; `None` for a cell
    /// without faces.
    fn cell_origin(&self, faces: &[u32]) -> Option<Vector> {
        let first = *faces.first()? as usize;
        let node = self.nodes.face_nodes(first).first();
        Some(node.map_or(self.face_centroids[first], |&node| self.nodes.positions[node as usize]))
    }

    /// Bound of the distance by which rounding has moved the nodes within some bounds.
    fn moved(&self, bounds: Bounds) -> f64 {
        let size = bounds.largest();
        let rounded = if self.node_digits.are_as_many_as(self.digits) { self.node_digits.error_of(size) } else { 0.0 };
        // Whoever computed from them rounded a few times.
        (self.dim as f64).sqrt() * rounded.max(4.0 * f64::EPSILON * size)
    }

    /// The same for a stored vector.
    fn error_of(&self, vector: Vector) -> f64 {
        self.digits.error_of_vector(vector, self.dim)
    }

    /// True if the digits of the nodes leave open whether there is an area or volume at all.
    fn is_lost(&self, measure: f64, error: f64) -> bool {
        measure <= error
    }

    fn is_within(&self, bounds: Bounds, point: Vector) -> bool {
        bounds.distance(point) <= ALLOWED * bounds.diameter() + self.error_of(point) + self.moved(bounds)
    }

    fn centroid_differs(&self, stored: Vector, kind: &str, index: usize, of: &str, computed: Vector, diameters: f64) -> String {
        let (stored, computed) = (self.point(stored, shown), self.point(computed, computed_shown));
        let far = if diameters.is_finite() { format!(", {} of its diameter away", computed_shown(diameters)) } else { String::new() };
        format!("{stored} is not the centroid of {kind} {index}: its {of} give {computed}{far}")
    }

    fn point(&self, point: Vector, show: fn(f64) -> String) -> String {
        format!("({})", point[..self.dim].iter().map(|&x| show(x)).collect::<Vec<_>>().join(", "))
    }
}

/// True if a difference is more than is allowed; what the digits leave open is asked for only where
/// it matters. What is no number is too much.
fn exceeds(difference: f64, allowed: f64, error: impl Fn() -> f64) -> bool {
    let is_within = difference <= allowed || difference <= allowed + error();
    !is_within
}

/// How far a centroid moves when nodes do: of a triangle or tetrahedron no further than they; else
/// also by what area or volume is won or lost, at most a diameter away.
fn centroid_moves(nodes: f64, is_simplex: bool, part: f64, diameter: f64) -> f64 {
    if is_simplex { nodes } else { nodes + part * diameter }
}

/// As it stands in the file.
fn shown(value: f64) -> String {
    let mut text = String::new();
    write_shortest(&mut text, value);
    text
}

/// A computed number, without the digits that are rounding.
fn computed_shown(value: f64) -> String {
    shown(format!("{value:.8e}").parse().unwrap_or(value))
}

fn range(values: Range) -> String {
    let [least, most] = [values.least, values.most].map(computed_shown);
    if least == most { most } else { format!("{least} to {most}, by the triangles that faces are cut into") }
}
