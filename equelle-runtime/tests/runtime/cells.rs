//! Cells over nodes for tests: boxes whose nodes are moved, cut into prisms and pyramids; and
//! Voronoi cells of random points.

use std::collections::BTreeMap;

use equelle_runtime::grid::{BuildError, CellShape, Grid, GridBuilder};
use equelle_runtime::threads::Threads;

pub type Point = [f64; 3];

/// Xorshift (Marsaglia 2003).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn point(&mut self) -> Point {
        std::array::from_fn(|_| self.unit())
    }
}

/// Nodes, and cells by their faces.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    pub nodes: Vec<Point>,
    pub cells: Vec<Vec<Vec<u32>>>,
}

impl Mesh {
    pub fn build(&self, threads: &Threads) -> Result<Grid, BuildError> {
        let mut builder = GridBuilder::new(3, self.nodes.clone())?;
        for cell in &self.cells {
            builder.add_polyhedron(cell.iter().map(Vec::as_slice))?;
        }
        builder.build(threads)
    }

    fn add(&mut self, shape: CellShape, corners: &[u32]) {
        let face = |face: &&[u8]| face.iter().map(|&corner| corners[usize::from(corner)]).collect();
        self.cells.push(shape.faces().iter().map(face).collect());
    }
}

/// Corners of the boxes of the unit cube, `n` along each axis; nodes inside are moved by up to
/// `shift` of the width.
pub fn boxes(n: usize, shift: f64, random: &mut Random) -> (Vec<Point>, Vec<[u32; 8]>) {
    let mut nodes = Vec::new();
    for k in 0..=n {
        for j in 0..=n {
            for i in 0..=n {
                let is_inside = [i, j, k].iter().all(|&at| at > 0 && at < n);
                let mut move_by = || if is_inside { shift * (2.0 * random.unit() - 1.0) } else { 0.0 };
                nodes.push([i, j, k].map(|at| (at as f64 + move_by()) / n as f64));
            }
        }
    }
    let node = |i: usize, j: usize, k: usize| (i + (n + 1) * (j + (n + 1) * k)) as u32;
    let mut cells = Vec::new();
    for at in 0..n * n * n {
        let [i, j, k] = [at % n, at / n % n, at / n / n];
        let ring = |k: usize| [node(i, j, k), node(i + 1, j, k), node(i + 1, j + 1, k), node(i, j + 1, k)];
        let [a, b] = [ring(k), ring(k + 1)];
        cells.push([a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]]);
    }
    (nodes, cells)
}

/// Boxes as they are.
pub fn hexahedra(n: usize, shift: f64, random: &mut Random) -> Mesh {
    let (nodes, cells) = boxes(n, shift, random);
    let mut mesh = Mesh { nodes, cells: Vec::new() };
    cells.iter().for_each(|corners| mesh.add(CellShape::Hexahedron, corners));
    mesh
}

/// Each box cut in two along its upright diagonal.
pub fn prisms(n: usize, shift: f64, random: &mut Random) -> Mesh {
    let (nodes, cells) = boxes(n, shift, random);
    let mut mesh = Mesh { nodes, cells: Vec::new() };
    for c in cells {
        mesh.add(CellShape::Prism, &[c[0], c[1], c[2], c[4], c[5], c[6]]);
        mesh.add(CellShape::Prism, &[c[0], c[2], c[3], c[4], c[6], c[7]]);
    }
    mesh
}

/// Six pyramids in each box, with their tips at a point near its middle.
pub fn pyramids(n: usize, shift: f64, random: &mut Random) -> Mesh {
    let (nodes, cells) = boxes(n, shift, random);
    let mut mesh = Mesh { nodes, cells: Vec::new() };
    for corners in cells {
        let sum = |axis: usize| corners.iter().map(|&corner| mesh.nodes[corner as usize][axis]).sum::<f64>() / 8.0;
        let tip = std::array::from_fn(|axis| sum(axis) + shift * (2.0 * random.unit() - 1.0) / n as f64);
        mesh.nodes.push(tip);
        for face in CellShape::Hexahedron.faces() {
            // Seen from the tip, which is inside, they turn the other way.
            let base: Vec<u32> = face.iter().rev().map(|&corner| corners[usize::from(corner)]).collect();
            let last = mesh.nodes.len() as u32 - 1;
            mesh.add(CellShape::Pyramid, &[base[0], base[1], base[2], base[3], last]);
        }
    }
    mesh
}

/// A corner of a Voronoi cell: the three planes that meet there, ascending, and its place.
type Corner = ([i32; 3], Point);

/// Voronoi cells of random points in the unit cube. Planes are the walls, -6 to -1, and those half
/// way to the other points.
pub fn voronoi(n: usize, random: &mut Random) -> Mesh {
    let points: Vec<Point> = (0..n).map(|_| random.point()).collect();
    let mut mesh = Mesh::default();
    // A corner is where four of the regions around it meet: cells and walls.
    let mut known: BTreeMap<[i32; 4], u32> = BTreeMap::new();
    for (cell, &centre) in points.iter().enumerate() {
        let mut faces = cube();
        for (other, &point) in points.iter().enumerate().filter(|&(other, _)| other != cell) {
            let normal: Point = std::array::from_fn(|axis| point[axis] - centre[axis]);
            let middle: Point = std::array::from_fn(|axis| 0.5 * (point[axis] + centre[axis]));
            let height = |p: Point| (0..3).map(|axis| normal[axis] * (p[axis] - middle[axis])).sum::<f64>();
            faces = clip(&faces, other as i32, height);
        }
        let mut number = |(planes, place): &Corner| {
            let mut key = [planes[0], planes[1], planes[2], cell as i32];
            key.sort_unstable();
            *known.entry(key).or_insert_with(|| {
                mesh.nodes.push(*place);
                mesh.nodes.len() as u32 - 1
            })
        };
        let faces = faces.values().map(|corners| corners.iter().map(&mut number).collect()).collect();
        mesh.cells.push(faces);
    }
    mesh
}

/// The unit cube: corners of each wall, counter-clockwise seen from outside.
fn cube() -> BTreeMap<i32, Vec<Corner>> {
    let corner = |at: u8| {
        let [x, y, z] = [at & 1, at >> 1 & 1, at >> 2].map(i32::from);
        let mut planes = [-6 + x, -4 + y, -2 + z];
        planes.sort_unstable();
        (planes, [f64::from(x), f64::from(y), f64::from(z)])
    };
    let walls = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    walls.iter().zip(-6..).map(|(wall, plane)| (plane, wall.iter().map(|&at| corner(at)).collect())).collect()
}

/// Returns the part of a convex cell below a plane.
fn clip(faces: &BTreeMap<i32, Vec<Corner>>, plane: i32, height: impl Fn(Point) -> f64) -> BTreeMap<i32, Vec<Corner>> {
    let mut below = BTreeMap::new();
    // From where a face leaves the plane to where it comes back.
    let mut cuts: Vec<(Corner, Corner)> = Vec::new();
    for (&face, corners) in faces {
        let (mut kept, mut leaves, mut enters) = (Vec::new(), None, None);
        for (at, a) in corners.iter().enumerate() {
            let b = &corners[(at + 1) % corners.len()];
            let (from, to) = (height(a.1), height(b.1));
            if from < 0.0 {
                kept.push(*a);
            }
            if (from < 0.0) != (to < 0.0) {
                let other = a.0.iter().find(|&&plane| plane != face && b.0.contains(&plane)).expect("an edge has two faces");
                let mut planes = [face, *other, plane];
                planes.sort_unstable();
                let part = from / (from - to);
                let cut = (planes, std::array::from_fn(|axis| a.1[axis] + part * (b.1[axis] - a.1[axis])));
                kept.push(cut);
                *(if from < 0.0 { &mut leaves } else { &mut enters }) = Some(cut);
            }
        }
        if let (Some(leaves), Some(enters)) = (leaves, enters) {
            cuts.push((leaves, enters));
        }
        if !kept.is_empty() {
            below.insert(face, kept);
        }
    }
    // The new face runs along the cuts against the sense of the others.
    if let Some(&(first, _)) = cuts.first() {
        let mut corners = vec![first];
        while corners.len() < cuts.len() {
            let last = corners[corners.len() - 1];
            let next = cuts.iter().find(|(_, enters)| enters.0 == last.0).expect("cuts close");
            corners.push(next.0);
        }
        below.insert(plane, corners);
    }
    below
}
