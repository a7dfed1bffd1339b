//! Grid files: good ones, and every way in which one is refused.

use std::path::Path;

use equelle_runtime::grid::io::{self, opm};
use equelle_runtime::grid::{Grid, NONE};
use equelle_runtime::{Error, ErrorKind};

use crate::common::*;

/// Two unit squares side by side, all counts different enough that no line can stand for another.
///
/// ```text
///  3---4---5     cells: 0 left, 1 right
///  | 0 | 1 |     faces: 0 1 2 vertical from left to right; 3 4 bottom; 5 6 top
///  0---1---2
/// ```
const TWO_SQUARES: &str = "2 2 7 6 14 8
0 0
2 1
0 0
1 0
2 0
0 1
1 1
2 1
0 2 4 6 8 10 12 14
0 3  1 4  2 5  0 1  1 2  3 4  4 5
-1 0
0 1
1 -1
-1 0
-1 1
0 -1
1 -1
1 1 1 1 1 1 1
0 0.5
1 0.5
2 0.5
0.5 0
1.5 0
0.5 1
1.5 1
1 0
1 0
1 0
0 1
0 1
0 1
0 1
0 4 8
0 3 1 5
1 4 2 6
1 1
0.5 0.5
1.5 0.5
";

fn read(text: &str) -> Result<Grid, Error> {
    opm::read_text(Path::new("grid.txt"), text.as_bytes())
}

/// The text with line `number` (from 1) replaced.
fn with_line(number: usize, line: &str) -> String {
    let mut lines: Vec<&str> = TWO_SQUARES.lines().collect();
    lines[number - 1] = line;
    lines.join("\n")
}

fn refused(text: &str, message: &str) {
    let error = read(text).expect_err(message);
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Data, message));
}

#[test]
fn two_squares() {
    let grid = read(TWO_SQUARES).unwrap();
    assert_eq!((grid.dim(), grid.n_cells(), grid.n_faces()), (2, 2, 7));
    assert!(grid.cartesian_shape().is_none());
    assert_consistent(&grid);
    // The file lists the faces of cell 0 as 0 3 1 5; here they ascend.
    assert_eq!(grid.topology().faces_of(0), [0, 1, 3, 5]);
    assert_eq!(grid.topology().face_cells[0], [NONE, 0]);
    assert_eq!(grid.canonical_elements(INTERIOR_FACES).unwrap(), [1]);
    assert_eq!(grid.canonical_elements(BOUNDARY_CELLS).unwrap(), [0, 1]);
    assert_eq!(grid.geometry().cell_centroids[1], [1.5, 0.5, 0.0]);
    assert_eq!(worst_closure(&grid), 0.0);
}

#[test]
fn tags_index_map_and_odd_layout() {
    let tagged =
        TWO_SQUARES.replace("\n0 0\n2 1\n", "\n1 1\n2 1\n").replace("0 3 1 5\n1 4 2 6\n", "0 0 3 2 1 1 5 3\n1 0 4 2 2 1 6 3\n10 11\n");
    let plain = read(TWO_SQUARES).unwrap();
    let one_line = tagged.replace('\n', "\r\n\t ");
    for text in [tagged.as_str(), one_line.trim_end()] {
        let grid = read(text).unwrap();
        assert_eq!(grid.topology(), plain.topology());
        assert_eq!(grid.geometry(), plain.geometry());
    }
}

#[test]
fn normals_become_unit_vectors() {
    // A square of side 3: areas 3, normals of length 3 in the file.
    let text = "2 1 4 4 8 4 0 0 0 0  0 0 3 0 3 3 0 3  0 2 4 6 8  0 1 1 2 2 3 3 0  0 -1 0 -1 0 -1 0 -1
        3 3 3 3  1.5 0 3 1.5 1.5 3 0 1.5  0 -3 3 0 0 3 -3 0  0 4 0 1 2 3  9  1.5 1.5";
    let grid = read(text).unwrap();
    assert_eq!(grid.geometry().face_normals, [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]);
    assert_eq!(grid.geometry().face_areas, [3.0; 4]);
}

#[test]
fn truncated_anywhere() {
    // After any number of whole words but all of them, an error says what is missing.
    let words: Vec<&str> = TWO_SQUARES.split_whitespace().collect();
    for n in 0..words.len() {
        let error = read(&words[..n].join(" ")).expect_err("truncated");
        assert!(error.message.contains("the grid file ends too early: "), "{n} words: {}", error.message);
        assert!(error.hint.is_some());
    }
    refused(&words[..10].join("\n"), "grid.txt:10:2: the grid file ends too early: node_coordinates[0] is missing");
    refused("", "grid.txt:1:1: the grid file ends too early: dimensions[0] is missing");
    // Sizes that no file could hold must not ask for memory first.
    let error = read("3 4000000000 4000000000 4000000000 9000000000000 9000000000000 0 0 1 1 1 0 0 0").unwrap_err();
    assert!(error.message.contains("ends too early"), "{}", error.message);
}

#[test]
fn too_long() {
    refused(&format!("{TWO_SQUARES}7\n"), "grid.txt:40:1: `7` after the last cell centroid");
}

#[test]
fn no_numbers() {
    refused(&with_line(1, "2 two 7 6 14 8"), "grid.txt:1:3: number_of_cells[0]: `two` is not a whole number");
    refused(&with_line(6, "2 O"), "grid.txt:6:3: node_coordinates[2]: `O` is not a number");
    refused(&with_line(19, "1 1 nan 1 1 1 1"), "grid.txt:19:5: face_areas[2]: `nan` is not a number");
    refused(&with_line(13, "0.0 1"), "grid.txt:13:1: face_cells[1]: `0.0` is not a whole number");
}

#[test]
fn indices_out_of_range() {
    refused(&with_line(1, "4 2 7 6 14 8"), "grid.txt:1:1: dimensions[0]: 4 is out of range (allowed is 0 to 3)");
    refused(&with_line(1, "1 2 7 6 14 8"), "grid.txt:1:1: dimensions: a grid file has 2 or 3, not 1");
    refused(&with_line(1, "2 -2 7 6 14 8"), "grid.txt:1:3: number_of_cells[0]: -2 is out of range (allowed is 0 to 4294967294)");
    refused(&with_line(2, "0 2"), "grid.txt:2:3: has-indexmap flag[0]: 2 is out of range (allowed is 0 to 1)");
    refused(&with_line(11, "0 3  1 4  2 6  0 1  1 2  3 4  4 5"), "grid.txt:11:13: face_nodes[5]: 6 is out of range (allowed is 0 to 5)");
    refused(&with_line(13, "0 2"), "grid.txt:13: face_cells[1]: cell 2 is out of range (the grid has 2 cells; -1 is outside)");
    refused(&with_line(13, "0 -2"), "grid.txt:13: face_cells[1]: cell -2 is out of range (the grid has 2 cells; -1 is outside)");
    refused(&with_line(36, "1 4 7 6"), "grid.txt:36:5: cell_faces[6]: 7 is out of range (allowed is 0 to 6)");
    refused(&with_line(10, "0 2 4 6 5 10 12 14"), "grid.txt:10: face_nodepos[4]: 5: must not be less than the one before it, 6");
    refused(&with_line(10, "1 2 4 6 8 10 12 14"), "grid.txt:10: face_nodepos[0]: 1: the first must be 0");
    refused(&with_line(34, "0 4 7"), "grid.txt:34: cell_facepos[2]: 7: the last must be 8, the number of entries given in the first line");
}

#[test]
fn cells_and_faces_that_disagree() {
    refused(&with_line(12, "-1 -1"), "grid.txt:12: face_cells[0]: both cells of the face are outside");
    refused(&with_line(13, "0 0"), "grid.txt:13: face_cells[1]: both cells of the face are 0");
    refused(&with_line(36, "1 4 0 6"), "grid.txt:36: cell_faces[6]: cell 1 lists face 0, but face_cells[0] does not list cell 1");
    refused(&with_line(35, "0 3 0 5"), "grid.txt:35: cell_faces[2]: cell 0 lists face 0 twice");
    // Face 6 between cells 0 and 1 according to face_cells, but only cell 1 lists it.
    refused(&with_line(18, "1 0"), "grid.txt:18: face_cells[6]: lists cell 0, but cell_faces of cell 0 does not list face 6");
}

#[test]
fn measures_that_are_not_positive() {
    refused(&with_line(19, "1 1 1 0 1 1 1"), "grid.txt:19: face_areas[3]: 0 is not positive");
    refused(&with_line(37, "1 -1"), "grid.txt:37: cell_volumes[1]: -1 is not positive");
    refused(&with_line(28, "2 0"), "grid.txt:28: face_normals[1]: its length 2 is not the area of the face, 1");
    refused(&with_line(28, "0 0"), "grid.txt:28: face_normals[1]: its length 0 is not the area of the face, 1");
}

#[test]
fn swapped_orientation() {
    // Interior face 1: either its normal or its cells turned around.
    let swapped = "face_normals[1]: swapped orientation: the normal points from cell 1 to cell 0, but face_cells[1] has cell 0 first";
    refused(&with_line(28, "-1 0"), &format!("grid.txt:28: {swapped}"));
    let turned = "face_normals[1]: swapped orientation: the normal points from cell 0 to cell 1, but face_cells[1] has cell 1 first";
    refused(&with_line(13, "1 0"), &format!("grid.txt:28: {turned}"));
    // Turning both is the same grid, oriented the other way.
    let both =
        with_line(13, "1 0").lines().enumerate().map(|(i, line)| if i + 1 == 28 { "-1 0" } else { line }).collect::<Vec<_>>().join("\n");
    assert!(read(&both).is_ok());
    // On the boundary.
    refused(
        &with_line(12, "0 -1"),
        "grid.txt:27: face_normals[0]: swapped orientation: the normal points from outside to cell 0, but face_cells[0] has cell 0 first",
    );
    // All at once: every cell stays closed, but is inside out.
    let inside_out: Vec<String> = TWO_SQUARES
        .lines()
        .enumerate()
        .map(|(i, line)| match i + 1 {
            27..=29 => "-1 0".to_string(),
            30..=33 => "0 -1".to_string(),
            _ => line.to_string(),
        })
        .collect();
    let error = read(&inside_out.join("\n")).unwrap_err();
    assert!(error.message.starts_with("grid.txt:27: face_normals[0]: swapped orientation"), "{}", error.message);
}

#[test]
fn cells_that_are_not_closed() {
    // The top face of cell 0 leans over: its length and direction still pass, the sum does not.
    refused(&with_line(32, "0.6 0.8"), "grid.txt:35: cell_faces[0]: cell 0 is not closed: its outward area vectors do not sum to zero");
}

#[test]
fn a_twisted_but_sound_cell_is_accepted() {
    // Cell 0 is L-shaped: (0,0) (4,0) (4,4) (3,4) (3,1) (0,1), area 7, centroid ((4*2 + 3*3.5)/7,
    // (4*0.5 + 3*2.5)/7) = (18.5/7, 9.5/7). Cell 1 is the unit square (2,1)-(3,2) in its corner.
    // The boundary faces 3 (x = 3, y from 2 to 4) and 6 (y = 1, x from 0 to 2) have outward normals
    // that point back over the centroid of cell 0.
    let text = "2 2 10 9 20 12
0 0
0 0
0 0  4 0  4 4  3 4  3 2  3 1  2 1  0 1  2 2
0 2 4 6 8 10 12 14 16 18 20
0 1  1 2  2 3  3 4  4 5  5 6  6 7  7 0  6 8  8 4
0 -1
0 -1
0 -1
0 -1
0 1
0 1
0 -1
0 -1
1 -1
1 -1
4 4 1 2 1 1 2 1 1 1
2 0  4 2  3.5 4  3 3  3 1.5  2.5 1  1 1  0 0.5  2 1.5  2.5 2
0 -4  4 0  0 1  -2 0  -1 0  0 1  0 2  -1 0  -1 0  0 1
0 8 12
0 1 2 3 4 5 6 7
4 5 8 9
7 1
2.642857142857143 1.3571428571428572
2.5 1.5";
    let grid = read(text).unwrap();
    assert!(worst_closure(&grid) < 1e-15);
    // The same face with its normal turned around is the one to blame, although its normal now
    // points along the way and that of face 3 does not.
    let error = read(&text.replace("0 1  0 2  -1 0  -1 0  0 1\n", "0 1  0 -2  -1 0  -1 0  0 1\n")).unwrap_err();
    assert!(error.message.starts_with("grid.txt:19: face_normals[6]: swapped orientation"), "{}", error.message);
}

#[test]
fn the_committed_triangles_are_what_their_generator_makes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
    let text = std::fs::read_to_string(&path).expect("grids/triangles-6x5.grid is committed");
    assert_eq!(text, crate::triangles::triangles(6, 5, crate::triangles::Order::Rows), "run the generator again: see grids/README.md");
    let grid = io::read_file(&path).unwrap();
    // 2 * 6 * 5 triangles; Euler: edges = cells + nodes - 1 = 60 + 42 - 1; boundary: 2 * (6 + 5).
    assert_eq!((grid.dim(), grid.n_cells(), grid.n_faces()), (2, 60, 101));
    assert_eq!(grid.canonical_elements(BOUNDARY_FACES).unwrap().len(), 22);
    assert_consistent(&grid);
    // Sums of three (closure) and sixty (volume of the unit square) numbers of size 0.2 or less:
    // round-off.
    assert!(worst_closure(&grid) < 1e-15);
    assert!((grid.geometry().cell_volumes.iter().sum::<f64>() - 1.0).abs() < 1e-14);
}

#[test]
fn reference_triangles_when_present() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/reference/heat-implicit-2d-triangles/input/grid.txt");
    if !path.exists() {
        println!("skipped: there is no {}", path.display());
        return;
    }
    let grid = io::read_file(&path).unwrap();
    assert_eq!((grid.dim(), grid.n_cells(), grid.n_faces()), (2, 450, 705));
    assert_consistent(&grid);
    // 16 nodes along each side of the unit square.
    assert_eq!(grid.canonical_elements(BOUNDARY_FACES).unwrap().len(), 60);
    assert!((grid.geometry().cell_volumes.iter().sum::<f64>() - 1.0).abs() < 1e-13);
    assert!(worst_closure(&grid) < 1e-14);
}

/// A grid of a format that has no reader, whatever its name: the message says which.
#[test]
fn a_known_format_without_a_reader_is_named() {
    let path = crate::common::fresh_dir("grid-format").join("mesh.grid");
    std::fs::write(&path, b"\x89HDF\r\n\x1a\n").unwrap();
    let error = io::read_file(&path).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Data);
    assert_eq!(error.message, format!("`{}` is an HDF5 file, a format that is not read", path.display()));
}
