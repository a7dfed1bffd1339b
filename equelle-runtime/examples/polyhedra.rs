//! Generator of grids of polyhedra in OPM's text format, for trials of solvers.
//!
//! * `cargo run -p equelle-runtime --example polyhedra -- tetrahedra 6 5 4`: the unit cube cut into
//!   boxes, each into six tetrahedra around a diagonal; interior nodes are moved by up to a tenth
//!   of the spacing.
//! * `... -- clusters 46 112 22 45000`: boxes of 50 x 50 x 5 m, of which clusters at random places
//!   are removed until about that many are left; what is not connected to most of the rest is
//!   removed too.
//! * `... -- bent 6 5 4`: the unit cube cut into boxes whose interior nodes are moved by up to a
//!   tenth of the spacing, so that most faces are not flat.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

#[allow(dead_code, reason = "the tests include this file for its grids alone")]
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let sizes: Vec<usize> = words.iter().skip(1).filter_map(|word| word.parse().ok()).filter(|&n| n > 0).collect();
    let mesh = match (words.first().map(String::as_str), &sizes[..]) {
        (Some("tetrahedra"), &[nx, ny, nz]) => tetrahedra([nx, ny, nz]),
        (Some("clusters"), &[nx, ny, nz, active]) => clusters([nx, ny, nz], active),
        (Some("bent"), &[nx, ny, nz]) => bent([nx, ny, nz]),
        _ => {
            eprintln!("usage: polyhedra tetrahedra NX NY NZ | polyhedra clusters NX NY NZ ACTIVE | polyhedra bent NX NY NZ");
            return ExitCode::from(2);
        }
    };
    print!("{}", mesh.text());
    ExitCode::SUCCESS
}

type Point = [f64; 3];

/// Cells by their faces, and faces by their nodes, counter-clockwise seen from outside the cell.
#[derive(Debug)]
pub struct Mesh {
    nodes: Vec<Point>,
    cells: Vec<Vec<Vec<usize>>>,
}

/// Six tetrahedra a box, whose faces meet those of the neighbours: all share the diagonal from the
/// lowest to the highest corner.
pub fn tetrahedra(n: [usize; 3]) -> Mesh {
    let nodes = moved_nodes(n);
    let node = |place: [usize; 3]| place[0] + (n[0] + 1) * (place[1] + (n[1] + 1) * place[2]);
    let mut cells = Vec::new();
    for place in lattice(n).filter(|place| (0..3).all(|axis| place[axis] < n[axis])) {
        for axes in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0]] {
            let mut corner = place;
            let mut corners = vec![node(corner)];
            for axis in axes {
                corner[axis] += 1;
                corners.push(node(corner));
            }
            let [a, b, c, d] = [corners[0], corners[1], corners[2], corners[3]];
            // Even orders of the axes are right-handed.
            let even = (axes[1] + 3 - axes[0]) % 3 == 1;
            let faces = if even { [[a, c, b], [a, b, d], [b, c, d], [a, d, c]] } else { [[a, b, c], [a, d, b], [b, d, c], [a, c, d]] };
            cells.push(faces.map(|face| face.to_vec()).to_vec());
        }
    }
    Mesh { nodes, cells }
}

/// The nodes of a unit cube cut into boxes, those inside moved.
fn moved_nodes(n: [usize; 3]) -> Vec<Point> {
    let mut random = random(30);
    let mut shift = || (f64::from(random()) / 65536.0 - 0.5) * 0.2;
    let moved = lattice(n).map(|place| {
        let inside = (0..3).all(|axis| place[axis] > 0 && place[axis] < n[axis]);
        std::array::from_fn(|axis| (place[axis] as f64 + if inside { shift() } else { 0.0 }) / n[axis] as f64)
    });
    moved.collect()
}

/// Boxes whose nodes have been moved.
pub fn bent(n: [usize; 3]) -> Mesh {
    Mesh { nodes: moved_nodes(n), cells: boxes(n, |_| true) }
}

/// Boxes of which clusters have been removed.
pub fn clusters(n: [usize; 3], active: usize) -> Mesh {
    let size = [50.0, 50.0, 5.0];
    let nodes = lattice(n).map(|place| std::array::from_fn(|axis| place[axis] as f64 * size[axis])).collect();
    let index = |place: [usize; 3]| place[0] + n[0] * (place[1] + n[1] * place[2]);
    let mut present = vec![true; n[0] * n[1] * n[2]];
    let mut left = present.len();
    let mut random = random(40);
    while left > active.max(1) {
        let centre: [usize; 3] = std::array::from_fn(|axis| random() as usize % n[axis]);
        let radius: [usize; 3] = [1 + random() as usize % 5, 1 + random() as usize % 5, 1 + random() as usize % 2];
        for place in lattice(n).filter(|place| (0..3).all(|axis| place[axis] < n[axis])) {
            let inside =
                (0..3).map(|axis| (place[axis] as f64 - centre[axis] as f64) / radius[axis] as f64).map(|x| x * x).sum::<f64>() <= 1.0;
            if inside && left > active.max(1) && std::mem::replace(&mut present[index(place)], false) {
                left -= 1;
            }
        }
    }
    let present = largest_part(n, &present);
    Mesh { nodes, cells: boxes(n, |place| present[index(place)]) }
}

/// The faces of boxes at some places.
fn boxes(n: [usize; 3], present: impl Fn([usize; 3]) -> bool) -> Vec<Vec<Vec<usize>>> {
    let node = |place: [usize; 3]| place[0] + (n[0] + 1) * (place[1] + (n[1] + 1) * place[2]);
    let mut cells = Vec::new();
    for place in lattice(n).filter(|place| (0..3).all(|axis| place[axis] < n[axis])).filter(|&place| present(place)) {
        let corner = |x: usize, y: usize, z: usize| node([place[0] + x, place[1] + y, place[2] + z]);
        let [a, b, c, d] = [corner(0, 0, 0), corner(1, 0, 0), corner(1, 1, 0), corner(0, 1, 0)];
        let [e, f, g, h] = [corner(0, 0, 1), corner(1, 0, 1), corner(1, 1, 1), corner(0, 1, 1)];
        let faces = [[a, e, h, d], [b, c, g, f], [a, b, f, e], [d, h, g, c], [a, d, c, b], [e, f, g, h]];
        cells.push(faces.map(|face| face.to_vec()).to_vec());
    }
    cells
}

/// The places of the nodes of a box of cells, x fastest.
fn lattice(n: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..=n[2]).flat_map(move |k| (0..=n[1]).flat_map(move |j| (0..=n[0]).map(move |i| [i, j, k])))
}

/// The largest set of cells that hang together.
fn largest_part(n: [usize; 3], present: &[bool]) -> Vec<bool> {
    let strides = [1, n[0], n[0] * n[1]];
    let mut part = vec![0usize; present.len()];
    let mut sizes = vec![0usize];
    for start in 0..present.len() {
        if !present[start] || part[start] > 0 {
            continue;
        }
        let number = sizes.len();
        sizes.push(0);
        part[start] = number;
        let mut waiting = vec![start];
        while let Some(cell) = waiting.pop() {
            sizes[number] += 1;
            for axis in 0..3 {
                let at = cell / strides[axis] % n[axis];
                let low = (at > 0).then(|| cell - strides[axis]);
                let high = (at + 1 < n[axis]).then(|| cell + strides[axis]);
                for next in [low, high].into_iter().flatten().filter(|&next| present[next]) {
                    if part[next] == 0 {
                        part[next] = number;
                        waiting.push(next);
                    }
                }
            }
        }
    }
    let largest = (0..sizes.len()).fold(0, |largest, number| if sizes[number] > sizes[largest] { number } else { largest });
    part.iter().map(|&number| number > 0 && number == largest).collect()
}

impl Mesh {
    /// Number of cells.
    #[allow(dead_code, reason = "some tests include this file for the text alone")]
    pub fn n_cells(&self) -> usize {
        self.cells.len()
    }

    /// Text of the grid file.
    pub fn text(&self) -> String {
        // Faces as they are met: the first cell is the one that meets the face first, and its nodes
        // turn around that cell's outer normal.
        let mut face_of: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let mut faces: Vec<&[usize]> = Vec::new();
        let mut face_cells: Vec<[i64; 2]> = Vec::new();
        let mut cell_faces: Vec<Vec<usize>> = Vec::new();
        for (cell, of_cell) in self.cells.iter().enumerate() {
            let mut numbers = Vec::with_capacity(of_cell.len());
            for nodes in of_cell {
                let mut key = nodes.clone();
                key.sort_unstable();
                let face = *face_of.entry(key).or_insert_with(|| {
                    faces.push(nodes);
                    face_cells.push([cell as i64, -1]);
                    faces.len() - 1
                });
                if face_cells[face][0] != cell as i64 {
                    face_cells[face][1] = cell as i64;
                }
                numbers.push(face);
            }
            cell_faces.push(numbers);
        }
        let used = self.used_nodes(&faces);
        let areas: Vec<(Point, Point)> = faces.iter().map(|face| self.area_and_centroid(face)).collect();
        let n_face_nodes: usize = faces.iter().map(|face| face.len()).sum();
        let n_cell_faces: usize = cell_faces.iter().map(Vec::len).sum();
        let n_nodes = used.iter().filter(|number| number.is_some()).count();
        let mut text = format!("3 {} {} {n_nodes} {n_face_nodes} {n_cell_faces}\n0 0\n0 0 0\n", self.cells.len(), faces.len());
        // Writing to a String cannot fail, hence the dropped results.
        let point = |text: &mut String, [x, y, z]: Point| {
            let _ = writeln!(text, "{x} {y} {z}");
        };
        let ends = |text: &mut String, lens: &mut dyn Iterator<Item = usize>| {
            let mut end = 0;
            let _ = writeln!(text, "0");
            for len in lens {
                end += len;
                let _ = writeln!(text, "{end}");
            }
        };
        self.nodes.iter().zip(&used).filter(|(_, number)| number.is_some()).for_each(|(node, _)| point(&mut text, *node));
        ends(&mut text, &mut faces.iter().map(|face| face.len()));
        for node in faces.iter().flat_map(|face| face.iter()) {
            let _ = writeln!(text, "{}", used[*node].unwrap_or_default());
        }
        for [first, second] in &face_cells {
            let _ = writeln!(text, "{first} {second}");
        }
        for (area, _) in &areas {
            let _ = writeln!(text, "{}", length(*area));
        }
        areas.iter().for_each(|(_, centroid)| point(&mut text, *centroid));
        areas.iter().for_each(|(area, _)| point(&mut text, *area));
        ends(&mut text, &mut cell_faces.iter().map(Vec::len));
        for face in cell_faces.iter().flatten() {
            let _ = writeln!(text, "{face}");
        }
        let cells: Vec<(f64, Point)> = self.cells.iter().map(|faces| self.volume_and_centroid(faces)).collect();
        for (volume, _) in &cells {
            let _ = writeln!(text, "{volume}");
        }
        cells.iter().for_each(|(_, centroid)| point(&mut text, *centroid));
        text
    }

    /// New numbers of the nodes that some face has.
    fn used_nodes(&self, faces: &[&[usize]]) -> Vec<Option<usize>> {
        let mut used = vec![None; self.nodes.len()];
        faces.iter().flat_map(|face| face.iter()).for_each(|&node| used[node] = Some(0));
        used.iter_mut().flatten().enumerate().for_each(|(number, node)| *node = number);
        used
    }

    /// Area times normal, and centroid, of a face: triangles around its first node.
    fn area_and_centroid(&self, face: &[usize]) -> (Point, Point) {
        let first = self.nodes[face[0]];
        let (mut area, mut centroid, mut total) = ([0.0; 3], [0.0; 3], 0.0);
        for pair in face[1..].windows(2) {
            let (a, b) = (self.nodes[pair[0]], self.nodes[pair[1]]);
            let part = cross(minus(a, first), minus(b, first)).map(|x| x / 2.0);
            let weight = length(part);
            total += weight;
            for axis in 0..3 {
                area[axis] += part[axis];
                centroid[axis] += weight * (first[axis] + a[axis] + b[axis]) / 3.0;
            }
        }
        (area, centroid.map(|x| x / total))
    }

    /// Volume and centroid of a cell: tetrahedra over the triangles of its faces, with their tips
    /// at one of its nodes.
    fn volume_and_centroid(&self, faces: &[Vec<usize>]) -> (f64, Point) {
        let tip = self.nodes[faces[0][0]];
        let (mut volume, mut centroid) = (0.0, [0.0; 3]);
        for face in faces {
            let first = self.nodes[face[0]];
            for pair in face[1..].windows(2) {
                let (a, b) = (self.nodes[pair[0]], self.nodes[pair[1]]);
                let part = dot(minus(first, tip), cross(minus(a, tip), minus(b, tip))) / 6.0;
                volume += part;
                for axis in 0..3 {
                    centroid[axis] += part * (tip[axis] + first[axis] + a[axis] + b[axis]) / 4.0;
                }
            }
        }
        (volume, centroid.map(|x| x / volume))
    }
}

fn minus(a: Point, b: Point) -> Point {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

fn cross(a: Point, b: Point) -> Point {
    std::array::from_fn(|axis| a[(axis + 1) % 3] * b[(axis + 2) % 3] - a[(axis + 2) % 3] * b[(axis + 1) % 3])
}

fn dot(a: Point, b: Point) -> f64 {
    a.iter().zip(&b).map(|(a, b)| a * b).sum()
}

fn length(a: Point) -> f64 {
    dot(a, a).sqrt()
}

/// Numerical Recipes' quick 32-bit generator, its upper 16 bits: any fixed sequence will do.
fn random(seed: u32) -> impl FnMut() -> u32 {
    let mut state: u32 = seed;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    }
}
