//! Edges and vertices from end to end: a program on small grids whose answers are counted by hand.

use std::fs;
use std::path::Path;

use crate::support::{EVERY_WAY, How, Outputs, repository, run, scratch};

const PROGRAM: &str = "tests/run/edges_and_vertices.equelle";

/// Runs the program with data in a folder: `grid` is the part of the parameter file that says which
/// grid, `chosen` the boundary edges with values of their own and their values, `corner` two
/// boundary vertices, whose values are 1 and 3.
fn run_on(how: How, folder: &Path, grid: &str, chosen: [&str; 2], corner: &str) -> Outputs {
    let files = [("chosen", chosen[0]), ("v", chosen[1]), ("corner", corner), ("c", "1 3"), ("steps", "0.5 0.25")];
    let mut parameters = format!("{grid}\n");
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
        parameters += &format!("{name}_filename = {name}\n{name}_from_file = true\n");
    }
    fs::write(folder.join("case.param"), parameters).unwrap();
    run(how, PROGRAM, &[&folder.join("case.param").to_string_lossy()])
}

fn scalar(outputs: &Outputs, tag: &str) -> f64 {
    outputs.scalars[tag][0]
}

/// 0 but for the given elements.
fn sparse(n: usize, given: &[(usize, f64)]) -> Vec<f64> {
    let mut values = vec![0.0; n];
    given.iter().for_each(|&(at, value)| values[at] = value);
    values
}

/// 2 x 2 x 2 cells of 1/2 x 2 x 4. Edges: 2 * 3 * 3 each way, x first; inside there are the two
/// pieces of one line each way: x (i,1,1) = i + 2 (1 + 3) = 8, 9; y (1,j,1) = 18 + 1 + 3 (j + 2) =
/// 25, 28; z (1,1,k) = 36 + 1 + 3 (1 + 3 k) = 40, 49. Vertices: 27, one of them inside. All numbers
/// are small multiples of powers of two: exact, and the same on every way.
#[test]
fn a_block_of_eight_cells() {
    let folder = scratch("edges-block");
    fs::write(folder.join("u.txt"), "1 2 3 4 5 6").unwrap();
    for (how, layout) in EVERY_WAY.into_iter().flat_map(|how| [(how, "auto"), (how, "unstructured")]) {
        let grid = format!(
            "grid_dim = 3\nnx = 2\nny = 2\nnz = 2\ndx = 0.5\ndy = 2\ndz = 4\ngrid_layout = {layout}\nu_from_file = true\nu_filename = u.txt"
        );
        // Edge 0 is an x edge, 19 = (1,0,0) a y edge, 53 a z edge; all on the boundary.
        let found = run_on(how, &folder, &grid, ["0 19 53", "10 20 30"], "0 26");
        let lengths: Vec<f64> = [0.5, 2.0, 4.0].into_iter().flat_map(|length| [length; 18]).collect();
        assert_eq!(found.last("length"), lengths, "{how:?} {layout}");
        assert_eq!((scalar(&found, "all_length"), scalar(&found, "inner_length"), scalar(&found, "outer_length")), (117.0, 13.0, 104.0));
        assert_eq!((scalar(&found, "vertices"), scalar(&found, "inner_vertices"), scalar(&found, "outer_vertices")), (27.0, 1.0, 26.0));
        // An x edge is half way between nodes at 0, 1/2, 1; the others are at nodes, and i goes
        // fastest.
        let edge_x: Vec<f64> = [0.25, 0.75].repeat(9).into_iter().chain([0.0, 0.5, 1.0].repeat(12)).collect();
        assert_eq!(found.last("edge_x"), edge_x, "{how:?} {layout}");
        assert_eq!(found.last("vertex_x"), [0.0, 0.5, 1.0].repeat(9), "{how:?} {layout}");

        let inner = [8, 9, 25, 28, 40, 49];
        let mut w: Vec<(usize, f64)> = inner.into_iter().zip([2.0, 4.0, 6.0, 8.0, 10.0, 12.0]).collect();
        w.extend([(0, 10.0), (19, 20.0), (53, 30.0)]);
        assert_eq!(found.last("w"), sparse(54, &w), "{how:?} {layout}");
        assert_eq!(found.last("w_chosen"), [5.0, 40.0, 120.0], "{how:?} {layout}");
        let boundary: Vec<f64> = (0..54).map(|edge| if inner.contains(&edge) { 0.0 } else { lengths[edge] }).collect();
        assert_eq!(found.last("boundary_length"), boundary, "{how:?} {layout}");

        // Steps of 1/2 and 1/4 add 3/4 of 1 and 3 at the corners; vertex 13 = (1,1,1) is the one
        // inside.
        let mut t = [0.0, 0.5, 1.0].repeat(9);
        t[0] += 0.75;
        t[26] += 2.25;
        assert_eq!(found.last("t"), t, "{how:?} {layout}");
        t.remove(13);
        assert_eq!(found.last("t_outer"), t, "{how:?} {layout}");
    }
}

/// 2 x 3 cells of 1/2 x 1/4: edges are the faces, 3 * 3 across x (length 1/4) and 2 * 4 across y
/// (length 1/2); inside are 1, 4, 7 and 11, 12, 13, 14. Vertices: 3 * 4, inside are (1,1) and
/// (1,2).
#[test]
fn in_two_dimensions_edges_are_faces() {
    let folder = scratch("edges-plane");
    for (how, layout) in EVERY_WAY.into_iter().flat_map(|how| [(how, "auto"), (how, "unstructured")]) {
        let grid = format!("grid_dim = 2\nnx = 2\nny = 3\ndx = 0.5\ndy = 0.25\ngrid_layout = {layout}\nu = 1");
        let found = run_on(how, &folder, &grid, ["0 2 16", "10 20 30"], "0 11");
        let lengths: Vec<f64> = [0.25; 9].into_iter().chain([0.5; 8]).collect();
        assert_eq!(found.last("length"), lengths, "{how:?} {layout}");
        assert_eq!((scalar(&found, "inner_length"), scalar(&found, "outer_length")), (3.0 * 0.25 + 4.0 * 0.5, 6.0 * 0.25 + 4.0 * 0.5));
        assert_eq!((scalar(&found, "inner_vertices"), scalar(&found, "outer_vertices")), (2.0, 10.0));
        let mut w: Vec<(usize, f64)> = [1, 4, 7, 11, 12, 13, 14].map(|edge| (edge, 2.0)).to_vec();
        w.extend([(0, 10.0), (2, 20.0), (16, 30.0)]);
        assert_eq!(found.last("w"), sparse(17, &w), "{how:?} {layout}");
        let edge_x: Vec<f64> = [0.0, 0.5, 1.0].repeat(3).into_iter().chain([0.25, 0.75].repeat(4)).collect();
        assert_eq!(found.last("edge_x"), edge_x, "{how:?} {layout}");
        let mut t = [0.0, 0.5, 1.0].repeat(4);
        t[0] += 0.75;
        t[11] += 2.25;
        assert_eq!(found.last("t"), t, "{how:?} {layout}");
    }
}

/// Five cells of width 1/2: the edges are the cells, of which the first and the last are on the
/// boundary; the vertices are the faces.
#[test]
fn in_one_dimension_edges_are_cells_and_vertices_are_faces() {
    let folder = scratch("edges-line");
    for (how, layout) in EVERY_WAY.into_iter().flat_map(|how| [(how, "auto"), (how, "unstructured")]) {
        let grid = format!("grid_dim = 1\nnx = 5\ndx = 0.5\ngrid_layout = {layout}\nu = 1");
        let found = run_on(how, &folder, &grid, ["0 4", "10 20"], "0 5");
        assert_eq!(found.last("length"), [0.5; 5], "{how:?} {layout}");
        assert_eq!((scalar(&found, "inner_length"), scalar(&found, "outer_length")), (1.5, 1.0), "{how:?} {layout}");
        assert_eq!((scalar(&found, "inner_vertices"), scalar(&found, "outer_vertices")), (4.0, 2.0), "{how:?} {layout}");
        assert_eq!(found.last("edge_x"), [0.25, 0.75, 1.25, 1.75, 2.25], "{how:?} {layout}");
        assert_eq!(found.last("w"), [10.0, 2.0, 2.0, 2.0, 20.0], "{how:?} {layout}");
        assert_eq!(found.last("t_outer"), [0.75, 4.75], "{how:?} {layout}");
    }
}

/// The triangles of `grids/triangles-6x5.grid`: 101 edges of which 22 on the boundary, 7 * 6
/// vertices of which 22 on the boundary. The boundary of the unit square has length 4.
#[test]
fn triangles_of_a_grid_file() {
    let folder = scratch("edges-triangles");
    for how in EVERY_WAY {
        let grid = format!("grid_filename = {}\nu = 0.5", repository("grids/triangles-6x5.grid").display());
        // Edges 0, 4 and 100 have a cell on one side only, as face_cells in the file says. Node 0
        // is at (0,0), node 41 at (1,1).
        let found = run_on(how, &folder, &grid, ["0 4 100", "10 20 30"], "0 41");
        assert_eq!((found.last("length").len(), found.last("vertex_x").len()), (101, 42), "{how:?}");
        assert_eq!((scalar(&found, "inner_vertices"), scalar(&found, "outer_vertices")), (20.0, 22.0), "{how:?}");
        // A sum of 22 lengths: round-off of numbers below 4, each by less than 4.5e-16.
        assert!((scalar(&found, "outer_length") - 4.0).abs() < 22.0 * 4.5e-16, "{how:?}");
        let boundary = found.last("boundary_length").iter().filter(|length| **length > 0.0).count();
        assert_eq!(boundary, 22, "{how:?}");
        // 79 interior edges of 2 * 0.5, and 10, 20, 30 on the chosen ones: exact.
        assert_eq!(found.last("w").iter().sum::<f64>(), 139.0, "{how:?}");
        assert_eq!((found.last("t")[0], found.last("t")[41]), (0.75, 3.25), "{how:?}");
    }
}
