//! Generator of `grids/triangles-6x5.grid`: a grid of triangles in OPM's text format.
//!
//! `cargo run -p equelle-runtime --example triangles -- 6 5 > grids/triangles-6x5.grid`
//!
//! The unit square is cut into nx by ny quadrilaterals, each into two triangles along a diagonal that changes from one to the next. Interior nodes are
//! moved by up to a fifth of the spacing, so that no two cells are alike; faces are numbered as they are met, and every third one is
//! turned around, so that nothing in the file resembles a Cartesian grid's order.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

#[allow(dead_code, reason = "the tests include this file for `triangles` alone")]
fn main() -> ExitCode {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).filter(|&n| n > 0).collect();
    let [nx, ny] = sizes[..] else {
        eprintln!("usage: triangles NX NY");
        return ExitCode::from(2);
    };
    print!("{}", triangles(nx, ny));
    ExitCode::SUCCESS
}

/// Text of the grid file: `2 nx ny` triangles.
pub fn triangles(nx: usize, ny: usize) -> String {
    let nodes = nodes(nx, ny);
    let cells = cells(nx, ny);
    let n_cells = cells.len();

    // Faces as they are met, counter-clockwise around each cell: the first cell is the one that meets the face first.
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
    // Going from node a to node b with the first cell on the left, the normal is to the right: (dy, -dx).
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

fn nodes(nx: usize, ny: usize) -> Vec<[f64; 2]> {
    // Numerical Recipes' quick 32-bit generator: any fixed sequence will do.
    let mut state = 20_u32;
    let mut shift = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (f64::from(state >> 16) / 65536.0 - 0.5) * 0.4
    };
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
