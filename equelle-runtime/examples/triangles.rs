//! Generator of `grids/triangles-6x5.grid`: a grid of triangles in OPM's text format.
//!
//! `cargo run -p equelle-runtime --example triangles -- 6 5 > grids/triangles-6x5.grid`
//!
//! The unit square is cut into nx by ny quadrilaterals, each into two triangles along a diagonal
//! that changes from one to the next. Interior nodes are moved by up to a fifth of the spacing, so
//! that no two cells are alike; faces are numbered as they are met, and every third one is turned
//! around, so that nothing in the file resembles a Cartesian grid's order. With a third argument,
//! `shuffled`, cells and faces get random numbers.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

#[allow(dead_code, reason = "the tests include this file for `triangles` alone")]
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let sizes: Vec<usize> = words.iter().take(2).filter_map(|word| word.parse().ok()).filter(|&n| n > 0).collect();
    let order = match words.get(2).map(String::as_str) {
        None => Some(Order::Rows),
        Some("shuffled") => Some(Order::Shuffled),
        Some(_) => None,
    };
    let ([nx, ny], Some(order)) = (&sizes[..], order) else {
        eprintln!("usage: triangles NX NY [shuffled]");
        return ExitCode::from(2);
    };
    print!("{}", triangles(*nx, *ny, order));
    ExitCode::SUCCESS
}

/// Numbering of cells and faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Row by row.
    Rows,
    /// At random, though always the same.
    Shuffled,
}

/// Text of the grid file: `2 nx ny` triangles.
pub fn triangles(nx: usize, ny: usize, order: Order) -> String {
    let nodes = nodes(nx, ny);
    let mut cells = cells(nx, ny);
    let n_cells = cells.len();
    if order == Order::Shuffled {
        shuffle(&mut cells);
    }

    // Faces as they are met, counter-clockwise around each cell: the first cell is the one that
    // meets the face first.
    let mut face_of: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut face_nodes: Vec<[usize; 2]> = Vec::new();
    let mut face_cells: Vec<[i64; 2]> = Vec::new();
    let mut cell_faces: Vec<usize> = Vec::new();
    for (cell, corners) in cells.iter().enumerate() {
        for i in 0..3 {
            let (a, b) = (corners[i], corners[(i + 1) % 3]);
            let face = *face_of.entry((a.min(b), a.max(b))).or_insert_with(|| {
                face_nodes.push([a, b]);
                face_cells.push([cell as i64, -1]);
                face_nodes.len() - 1
            });
            if face_cells[face][0] != cell as i64 {
                face_cells[face][1] = cell as i64;
            }
            cell_faces.push(face);
        }
    }
    for face in (0..face_nodes.len()).step_by(3) {
        face_nodes[face].swap(0, 1);
        face_cells[face].swap(0, 1);
    }

    let n_faces = face_nodes.len();
    if order == Order::Shuffled {
        let mut old: Vec<usize> = (0..n_faces).collect();
        shuffle(&mut old);
        let mut new = vec![0; n_faces];
        for (position, &face) in old.iter().enumerate() {
            new[face] = position;
        }
        face_nodes = old.iter().map(|&face| face_nodes[face]).collect();
        face_cells = old.iter().map(|&face| face_cells[face]).collect();
        cell_faces.iter_mut().for_each(|face| *face = new[*face]);
    }
    let mut text = format!("2 {n_cells} {n_faces} {} {} {}\n0 0\n0 0\n", nodes.len(), 2 * n_faces, 3 * n_cells);
    // Writing to a String cannot fail, hence the dropped results.
    for [x, y] in &nodes {
        let _ = writeln!(text, "{x} {y}");
    }
    for face in 0..=n_faces {
        let _ = writeln!(text, "{}", 2 * face);
    }
    for [a, b] in &face_nodes {
        let _ = writeln!(text, "{a} {b}");
    }
    for [first, second] in &face_cells {
        let _ = writeln!(text, "{first} {second}");
    }
    // Going from node a to node b with the first cell on the left, the normal is to the right: (dy,
    // -dx).
    let ends = |face: usize| (nodes[face_nodes[face][0]], nodes[face_nodes[face][1]]);
    for face in 0..n_faces {
        let (a, b) = ends(face);
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let _ = writeln!(text, "{}", (dx * dx + dy * dy).sqrt());
    }
    for face in 0..n_faces {
        let (a, b) = ends(face);
        let _ = writeln!(text, "{} {}", (a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0);
    }
    for face in 0..n_faces {
        let (a, b) = ends(face);
        let _ = writeln!(text, "{} {}", b[1] - a[1], a[0] - b[0]);
    }
    for cell in 0..=n_cells {
        let _ = writeln!(text, "{}", 3 * cell);
    }
    for faces in cell_faces.chunks(3) {
        let _ = writeln!(text, "{} {} {}", faces[0], faces[1], faces[2]);
    }
    for corners in &cells {
        let [p, q, r] = corners.map(|node| nodes[node]);
        let _ = writeln!(text, "{}", ((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])) / 2.0);
    }
    for corners in &cells {
        let [p, q, r] = corners.map(|node| nodes[node]);
        let _ = writeln!(text, "{} {}", (p[0] + q[0] + r[0]) / 3.0, (p[1] + q[1] + r[1]) / 3.0);
    }
    text
}

/// Numerical Recipes' quick 32-bit generator, its upper 16 bits: any fixed sequence will do.
fn random(seed: u32) -> impl FnMut() -> u32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    }
}

/// Fisher and Yates.
fn shuffle<T>(items: &mut [T]) {
    let mut random = random(1);
    for last in (1..items.len()).rev() {
        let other = (random() as usize * 65536 + random() as usize) % (last + 1);
        items.swap(last, other);
    }
}

fn nodes(nx: usize, ny: usize) -> Vec<[f64; 2]> {
    let mut random = random(20);
    let mut shift = || (f64::from(random()) / 65536.0 - 0.5) * 0.4;
    let mut nodes = Vec::new();
    for j in 0..=ny {
        for i in 0..=nx {
            let inside = i > 0 && i < nx && j > 0 && j < ny;
            let (sx, sy) = if inside { (shift(), shift()) } else { (0.0, 0.0) };
            nodes.push([(i as f64 + sx) / nx as f64, (j as f64 + sy) / ny as f64]);
        }
    }
    nodes
}

/// Corners of each triangle, counter-clockwise.
fn cells(nx: usize, ny: usize) -> Vec<[usize; 3]> {
    let mut cells = Vec::new();
    for j in 0..ny {
        for i in 0..nx {
            let node = |a: usize, b: usize| i + a + (nx + 1) * (j + b);
            let [p, q, r, s] = [node(0, 0), node(1, 0), node(1, 1), node(0, 1)];
            if (i + j) % 2 == 0 {
                cells.extend([[p, q, r], [p, r, s]]);
            } else {
                cells.extend([[p, q, s], [q, r, s]]);
            }
        }
    }
    cells
}
