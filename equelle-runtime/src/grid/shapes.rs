//! Measures and centroids of polygons and polyhedra from the nodes of their faces.
//!
//! A face that is not flat is a surface of triangles, and which triangles is a matter of choice:
//! around the mean of its nodes, or from one of them. What follows is a range of areas, centroids
//! and volumes. Area vectors do not depend on it.

use super::arrays::Nodes;

pub(super) type Vector = [f64; 3];

pub(super) fn minus(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|i| a[i] - b[i])
}

pub(super) fn plus(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|i| a[i] + b[i])
}

pub(super) fn times(s: f64, a: Vector) -> Vector {
    a.map(|x| s * x)
}

pub(super) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(super) fn norm(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

/// Out of the plane by less than this part of the diameter, a face counts as flat: a tenth of what
/// is allowed.
const FLAT: f64 = 1e-7;
/// Nodes from which triangles are tried; more would take quadratic time.
const APEXES: usize = 8;

/// A range of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub least: f64,
    pub most: f64,
}

impl Range {
    pub fn of(value: f64) -> Range {
        Range { least: value, most: value }
    }

    fn with(self, value: f64) -> Range {
        Range { least: self.least.min(value), most: self.most.max(value) }
    }

    fn plus(self, other: Range) -> Range {
        Range { least: self.least + other.least, most: self.most + other.most }
    }

    fn times(self, sign: f64) -> Range {
        if sign < 0.0 { Range { least: -self.most, most: -self.least } } else { self }
    }

    /// Distance of a value from the interval.
    pub fn distance(self, value: f64) -> f64 {
        (self.least - value).max(value - self.most).max(0.0)
    }
}

/// A box along the axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    low: Vector,
    high: Vector,
}

impl Bounds {
    pub const NOTHING: Bounds = Bounds { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] };

    fn with(self, point: Vector) -> Bounds {
        Bounds { low: std::array::from_fn(|i| self.low[i].min(point[i])), high: std::array::from_fn(|i| self.high[i].max(point[i])) }
    }

    fn and(self, other: Bounds) -> Bounds {
        self.with(other.low).with(other.high)
    }

    /// Length of its diagonal, at least the largest distance of two points inside.
    pub fn diameter(self) -> f64 {
        norm(minus(self.high, self.low)).max(0.0)
    }

    /// The largest coordinate by size.
    pub fn largest(self) -> f64 {
        self.low.iter().chain(&self.high).fold(0.0, |largest, x| x.abs().max(largest))
    }

    /// Distance from a point.
    pub fn distance(self, point: Vector) -> f64 {
        norm(std::array::from_fn(|i| (self.low[i] - point[i]).max(point[i] - self.high[i]).max(0.0)))
    }
}

/// A face of a grid of 2 or 3 dimensions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    /// Area times normal, by the order of the nodes.
    pub vector: Vector,
    /// Areas of its surfaces.
    pub area: Range,
    pub centroid: Vector,
    /// Distance from there of the centroids of other surfaces.
    pub radius: f64,
    pub bounds: Bounds,
    pub perimeter: f64,
    pub corners: usize,
    /// True if it is flat, but for less than matters.
    is_flat: bool,
    /// The mean of its nodes.
    mean: Vector,
    /// Between the surface around the mean of the nodes and others: volumes along `vector`, and the
    /// most that their first moment about the mean can be.
    volume: Range,
    moment: f64,
}

impl Face {
    /// Computes a face from its nodes; `None` if it has none. A face of too few nodes has no area.
    pub fn of(nodes: &Nodes, face: usize, dim: usize) -> Option<Face> {
        let corners = nodes.face_nodes(face);
        if corners.is_empty() {
            return None;
        }
        Some(Corners::of(nodes, corners, |corners, mean, bounds| {
            let face = Face {
                vector: [0.0; 3],
                area: Range::of(0.0),
                centroid: mean,
                radius: 0.0,
                bounds,
                perimeter: 0.0,
                corners: corners.0.len(),
                is_flat: true,
                mean,
                volume: Range::of(0.0),
                moment: 0.0,
            };
            if dim == 2 { face.segment(corners) } else { face.polygon(corners) }
        }))
    }

    fn segment(mut self, corners: Corners<'_>) -> Face {
        let along = minus(corners.0[corners.0.len() - 1], corners.0[0]);
        self.vector = [along[1], -along[0], 0.0];
        self.area = Range::of(norm(along));
        self.perimeter = 2.0;
        self
    }

    fn polygon(mut self, corners: Corners<'_>) -> Face {
        self.vector = times(0.5, corners.around(cross));
        self.perimeter = corners.edges().map(|[a, b]| norm(minus(b, a))).sum();
        let area = norm(self.vector);
        self.area = Range::of(area);
        if area == 0.0 {
            return self;
        }
        let normal = times(1.0 / area, self.vector);
        // As if it were flat: triangles around the mean, those that are turned over count negative.
        let centroid = times(1.0 / (6.0 * area), corners.around(|a, b| times(dot(cross(a, b), normal), plus(a, b))));
        self.centroid = plus(self.mean, centroid);
        if corners.0.len() > 3 {
            let depth = corners.0.iter().fold(0.0, |depth: f64, &corner| depth.max(dot(corner, normal).abs()));
            let diameter = self.bounds.diameter();
            self.is_flat = depth <= FLAT * diameter;
            if self.is_flat || !self.surfaces(corners, centroid) {
                // The volume between two surfaces lies between the highest and the lowest node.
                self.volume = Range { least: -depth * area, most: depth * area };
                self.moment = depth * area * diameter;
                self.radius = depth;
                self.area = if self.is_flat { self.area } else { self.area.with(area + depth * self.perimeter) };
            }
        }
        self
    }

    /// Ranges over its surfaces of triangles; `false` if each has a triangle that is turned over.
    fn surfaces(&mut self, corners: Corners<'_>, centroid: Vector) -> bool {
        let n = corners.0.len();
        // A quadrilateral has two diagonals.
        let apexes = n.min(APEXES);
        let tried = if n == 4 { 2 } else { apexes };
        let mut found = false;
        for tip in std::iter::once([0.0; 3]).chain((0..tried).map(|k| corners.0[k * n / apexes])) {
            let Some(surface) = corners.surface(tip, self.vector) else { continue };
            found = true;
            self.area = self.area.with(surface.area);
            self.radius = self.radius.max(norm(minus(surface.centroid, centroid)));
            self.volume = self.volume.with(surface.volume);
            self.moment = self.moment.max(surface.moment);
        }
        found
    }
}

/// The corners of a face, relative to their mean.
#[derive(Clone, Copy)]
struct Corners<'a>(&'a [Vector]);

/// Corners that need no memory from the system.
const FEW: usize = 8;

/// A surface of triangles.
struct Surface {
    area: f64,
    centroid: Vector,
    volume: f64,
    moment: f64,
}

impl Corners<'_> {
    /// Calls `then` with the corners at one or more nodes, and with their mean and bounds.
    fn of<T>(nodes: &Nodes, corners: &[u32], then: impl FnOnce(Corners<'_>, Vector, Bounds) -> T) -> T {
        let (mut few, mut many) = ([[0.0; 3]; FEW], Vec::new());
        let places = if corners.len() <= FEW {
            &mut few[..corners.len()]
        } else {
            many.resize(corners.len(), [0.0; 3]);
            &mut many[..]
        };
        places.iter_mut().zip(corners).for_each(|(place, &node)| *place = nodes.positions[node as usize]);
        let bounds = places.iter().fold(Bounds::NOTHING, |bounds, &place| bounds.with(place));
        // Differences from a node lose nothing where coordinates are large.
        let first = places[0];
        let sum = places.iter().fold([0.0; 3], |sum, &place| plus(sum, minus(place, first)));
        let mean = plus(first, times(1.0 / places.len() as f64, sum));
        places.iter_mut().for_each(|place| *place = minus(*place, mean));
        then(Corners(places), mean, bounds)
    }

    fn edges(&self) -> impl Iterator<Item = [Vector; 2]> + '_ {
        let last = self.0.len() - 1;
        self.0.iter().enumerate().map(move |(i, &corner)| [self.0[if i == 0 { last } else { i - 1 }], corner])
    }

    /// A sum over its edges.
    fn around(&self, of: impl Fn(Vector, Vector) -> Vector) -> Vector {
        self.edges().fold([0.0; 3], |sum, [a, b]| plus(sum, of(a, b)))
    }

    /// Triangles from a point to the edges; `None` if one is turned over.
    fn surface(&self, tip: Vector, whole: Vector) -> Option<Surface> {
        let (mut area, mut first, mut volume, mut moment) = (0.0, [0.0; 3], 0.0, [0.0; 3]);
        for [a, b] in self.edges() {
            let vector = times(0.5, cross(minus(a, tip), minus(b, tip)));
            // Nodes on a straight line make triangles of no area, on either side.
            if dot(vector, whole) < -FLAT * dot(whole, whole) {
                return None;
            }
            let (size, middle) = (norm(vector), times(1.0 / 3.0, plus(tip, plus(a, b))));
            let part = dot(tip, vector) / 3.0;
            area += size;
            first = plus(first, times(size, middle));
            volume += part;
            moment = plus(moment, times(0.75 * part, middle));
        }
        (area > 0.0).then(|| Surface { area, centroid: times(1.0 / area, first), volume, moment: norm(moment) })
    }
}

/// A cell, put together from its faces.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub volume: Range,
    /// Volume with flat faces and triangles around the means of nodes, and its first moment about
    /// `origin`.
    middle: f64,
    moment: Vector,
    /// The most that the first moment of what lies between surfaces is, about the means of the
    /// faces.
    face_moments: f64,
    /// The most that these volumes are, with the means of the faces.
    between: Vec<(f64, Vector)>,
    origin: Vector,
    dim: f64,
    /// Areas of its faces.
    pub surface: f64,
    pub bounds: Bounds,
    pub corners: usize,
}

impl Cell {
    /// Nothing yet; `origin` should be near.
    pub fn empty(origin: Vector, dim: usize) -> Cell {
        let (volume, bounds, dim) = (Range::of(0.0), Bounds::NOTHING, dim as f64);
        Cell {
            volume,
            middle: 0.0,
            moment: [0.0; 3],
            face_moments: 0.0,
            between: Vec::new(),
            origin,
            dim,
            surface: 0.0,
            bounds,
            corners: 0,
        }
    }

    /// Adds the cone over a face; `sign` is 1 where its vector points out.
    pub fn add(&mut self, nodes: &Nodes, number: usize, face: &Face, sign: f64) {
        let to_mean = minus(face.mean, self.origin);
        let cone = sign * dot(to_mean, face.vector) / self.dim;
        self.middle += cone;
        self.volume = self.volume.plus(Range::of(cone)).plus(face.volume.times(sign));
        let moment = if face.is_flat {
            times(cone * self.dim / (self.dim + 1.0), minus(face.centroid, self.origin))
        } else {
            // Tetrahedra over the triangles around the mean; their centroids are at three quarters
            // of the way.
            let of = |a, b| times(0.125 * dot(to_mean, cross(a, b)), plus(to_mean, times(1.0 / 3.0, plus(a, b))));
            times(sign, Corners::of(nodes, nodes.face_nodes(number), |corners, _, _| corners.around(of)))
        };
        self.moment = plus(self.moment, moment);
        if face.volume != Range::of(0.0) {
            self.face_moments += face.moment;
            self.between.push((face.volume.most.max(-face.volume.least), face.mean));
        }
        self.cover(face.bounds, face.area.most, face.corners);
    }

    /// Adds the cone over a flat face of which area times normal, outwards, and centroid are known.
    pub fn add_flat(&mut self, vector: Vector, centroid: Vector) {
        let way = minus(centroid, self.origin);
        let cone = dot(way, vector) / self.dim;
        self.middle += cone;
        self.volume = self.volume.plus(Range::of(cone));
        self.moment = plus(self.moment, times(cone * self.dim / (self.dim + 1.0), way));
        self.cover(Bounds::NOTHING.with(centroid), norm(vector), 0);
    }

    fn cover(&mut self, bounds: Bounds, area: f64, corners: usize) {
        self.bounds = self.bounds.and(bounds);
        self.surface += area;
        self.corners += corners;
    }

    /// Its centroid, and how far those of other surfaces are from it; `None` if it has no volume.
    pub fn centroid(&self) -> Option<(Vector, f64)> {
        let least = self.volume.least;
        // NaN counts as no volume.
        if least.is_nan() || least <= 0.0 {
            return None;
        }
        let centroid = plus(self.origin, times(1.0 / self.middle, self.moment));
        let moved: f64 = self.between.iter().map(|&(volume, mean)| volume * norm(minus(mean, centroid))).sum();
        Some((centroid, (self.face_moments + moved) / least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box of 1 x 2 x 4 with its lowest corner far away.
    fn block(corner: Vector, lift: f64) -> Nodes {
        let mut positions: Vec<Vector> =
            (0..8).map(|i| plus(corner, [f64::from(i & 1), 2.0 * f64::from(i >> 1 & 1), 4.0 * f64::from(i >> 2)])).collect();
        positions[7][2] += lift;
        let face_nodes = vec![0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6];
        Nodes { positions, face_node_pos: (0..=6).map(|i| 4 * i).collect(), face_nodes, ..Nodes::default() }
    }

    fn cell(nodes: &Nodes) -> Cell {
        let faces: Vec<Face> = (0..6).map(|face| Face::of(nodes, face, 3).expect("it has nodes")).collect();
        let mut cell = Cell::empty(faces[0].mean, 3);
        faces.iter().enumerate().for_each(|(number, face)| cell.add(nodes, number, face, 1.0));
        cell
    }

    fn near(a: Vector, b: Vector) -> bool {
        norm(minus(a, b)) < 1e-9
    }

    #[test]
    fn a_box() {
        let corner = [4.5e5, 6.7e6, -100.0];
        let nodes = block(corner, 0.0);
        let side = Face::of(&nodes, 1, 3).expect("it has nodes");
        assert!(near(side.vector, [8.0, 0.0, 0.0]) && near(side.centroid, plus(corner, [1.0, 1.0, 2.0])));
        assert_eq!((side.area, side.perimeter, side.radius), (Range::of(8.0), 12.0, 0.0));
        let cell = cell(&nodes);
        assert!(cell.volume.distance(8.0) < 1e-9 && cell.volume.most - cell.volume.least < 1e-5);
        let (centroid, radius) = cell.centroid().expect("a volume");
        assert!(near(centroid, plus(corner, [0.5, 1.0, 2.0])) && radius < 1e-6);
        assert!((cell.bounds.diameter() - 21f64.sqrt()).abs() < 1e-9 && (cell.surface - 28.0).abs() < 1e-9);
    }

    /// One corner of the top is lifted by 1.5. With the diagonal through it both triangles, each
    /// over an area of 1, rise by 1.5/3 on average; with the other diagonal one does.
    #[test]
    fn a_box_with_a_bent_top() {
        let nodes = block([0.0; 3], 1.5);
        let top = Face::of(&nodes, 5, 3).expect("it has nodes");
        assert!(near(top.vector, [-1.5, -0.75, 2.0]), "{:?}", top.vector);
        let cell = cell(&nodes);
        assert!((cell.volume.least - 8.5).abs() < 1e-9 && (cell.volume.most - 9.0).abs() < 1e-9, "{:?}", cell.volume);
        let (_, radius) = cell.centroid().expect("a volume");
        assert!(radius > 0.0 && radius < 0.5, "{radius}");
    }

    #[test]
    fn an_l_is_flat_and_not_convex() {
        let positions = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [3.0, 4.0], [3.0, 1.0], [0.0, 1.0]].map(|[x, y]| [x, y, 0.0]).to_vec();
        let nodes = Nodes { positions, face_node_pos: vec![0, 6], face_nodes: (0..6).collect(), ..Nodes::default() };
        let face = Face::of(&nodes, 0, 3).expect("it has nodes");
        // Area 7, centroid as in the test of twisted cells of grid files.
        assert_eq!((face.area, face.vector), (Range::of(7.0), [0.0, 0.0, 7.0]));
        assert!(near(face.centroid, [18.5 / 7.0, 9.5 / 7.0, 0.0]));
    }

    #[test]
    fn nothing_to_measure() {
        let positions = vec![[1.0, 2.0, 3.0], [2.0, 2.0, 3.0]];
        let nodes = Nodes { positions, face_node_pos: vec![0, 0, 1, 3, 7], face_nodes: vec![0, 0, 1, 0, 0, 1, 1], ..Nodes::default() };
        assert!(Face::of(&nodes, 0, 3).is_none());
        for face in 1..4 {
            let face = Face::of(&nodes, face, 3).expect("it has nodes");
            assert_eq!((face.area, face.vector), (Range::of(0.0), [0.0; 3]));
        }
        let mut cell = Cell::empty([0.0; 3], 3);
        assert!(cell.centroid().is_none());
        cell.add(&nodes, 3, &Face::of(&nodes, 3, 3).expect("it has nodes"), 1.0);
        assert!(cell.centroid().is_none());
    }
}
