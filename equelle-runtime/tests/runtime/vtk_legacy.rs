//! Meshes in VTK's legacy format: text and binary, old and new lists of cells, structured points.

use std::path::Path;

use equelle_runtime::grid::Grid;
use equelle_runtime::grid::io::read_file;
use equelle_runtime::threads::Threads;
use equelle_runtime::vtk::reader::read_legacy_grid;

fn grid(bytes: &[u8]) -> Grid {
    read_legacy_grid(Path::new("m.vtk"), bytes, &Threads::one()).unwrap_or_else(|error| panic!("{error}"))
}

fn array(grid: &Grid, name: &str) -> Vec<f64> {
    grid.named().arrays().find(|array| array.name == name).unwrap_or_else(|| panic!("no array {name}")).values.clone()
}

/// A hexahedron of 8 m³ and a prism of 4 m³ beside it.
const POINTS: [f64; 30] = [
    0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 2.0, 2.0, 0.0, 0.0, 2.0, 0.0, //
    0.0, 0.0, 2.0, 2.0, 0.0, 2.0, 2.0, 2.0, 2.0, 0.0, 2.0, 2.0, //
    4.0, 0.0, 0.0, 4.0, 0.0, 2.0,
];

const TEXT: &str = "# vtk DataFile Version 3.0\nbox and wedge\nASCII\nDATASET UNSTRUCTURED_GRID\n\
FIELD FieldData 1\nTIME 1 1 double\n2.5\nPOINTS 10 double\n";

const REST: &str = "CELLS 2 16\n8 0 1 2 3 4 5 6 7\n6 1 8 2 5 9 6\n\nCELL_TYPES 2\n12\n13\n\
CELL_DATA 2\nSCALARS porosity double\nLOOKUP_TABLE default\n0.25 0.5\nVECTORS flow float\n1 2 3 4 5 6\n\
FIELD FieldData 3\nset:top 1 2 int\n0 1\na%20b 1 2 int\n7 8\nrock 2 2 short\n1 2 3 4\nMETADATA\nINFORMATION 0\n\n\
POINT_DATA 10\nSCALARS height float 1\nLOOKUP_TABLE default\n0 0 0 0 1 1 1 1 0 1\n";

pub fn text() -> String {
    let points: Vec<String> = POINTS.chunks(3).map(|p| format!("{} {} {}", p[0], p[1], p[2])).collect();
    TEXT.to_owned() + &points.join("\n") + "\n" + REST
}

fn is_box_and_wedge(grid: &Grid) {
    assert_eq!((grid.dim(), grid.n_cells(), grid.n_faces()), (3, 2, 6 + 5 - 1));
    assert_eq!(grid.geometry().cell_volumes, [8.0, 4.0]);
    assert_eq!(array(grid, "porosity"), [0.25, 0.5]);
    assert_eq!((array(grid, "flow_x"), array(grid, "flow_z")), (vec![1.0, 4.0], vec![3.0, 6.0]));
    assert_eq!((array(grid, "a b"), array(grid, "rock_y")), (vec![7.0, 8.0], vec![2.0, 4.0]));
    let sets: Vec<_> = grid.named().sets().map(|set| (set.name.clone(), set.members.clone())).collect();
    assert_eq!(sets, [("top".to_string(), vec![1])]);
}

#[test]
fn text_with_arrays_and_sets() {
    is_box_and_wedge(&grid(text().as_bytes()));
    let folder = crate::common::fresh_dir("vtk-legacy");
    let path = folder.join("mesh.vtk");
    std::fs::write(&path, text()).unwrap();
    is_box_and_wedge(&read_file(&path).unwrap());
}

/// The same in bytes, with the lists of cells of version 5.
pub fn binary() -> Vec<u8> {
    let mut bytes = b"# vtk DataFile Version 5.1\nbox\nBINARY\nDATASET UNSTRUCTURED_GRID\n".to_vec();
    let put = |bytes: &mut Vec<u8>, head: &str, data: Vec<u8>| {
        bytes.extend(head.as_bytes());
        bytes.extend(data);
        bytes.push(b'\n');
    };
    put(&mut bytes, "POINTS 10 double\n", POINTS.iter().flat_map(|x| x.to_be_bytes()).collect());
    let long = |numbers: &[i64]| numbers.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<u8>>();
    put(&mut bytes, "CELLS 3 14\nOFFSETS vtktypeint64\n", long(&[0, 8, 14]));
    put(&mut bytes, "CONNECTIVITY vtktypeint64\n", long(&[0, 1, 2, 3, 4, 5, 6, 7, 1, 8, 2, 5, 9, 6]));
    put(&mut bytes, "CELL_TYPES 2\n", [12_i32, 13].iter().flat_map(|x| x.to_be_bytes()).collect());
    let single = |numbers: &[f32]| numbers.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<u8>>();
    put(&mut bytes, "CELL_DATA 2\nSCALARS porosity float 1\nLOOKUP_TABLE default\n", single(&[0.25, 0.5]));
    put(&mut bytes, "VECTORS flow float\n", single(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    put(&mut bytes, "FIELD FieldData 3\nset:top 1 2 bit\n", vec![0b0100_0000]);
    put(&mut bytes, "a%20b 1 2 unsigned_char\n", vec![7, 8]);
    put(&mut bytes, "rock 2 2 short\n", vec![0, 1, 0, 2, 0, 3, 0, 4]);
    bytes
}

#[test]
fn binary_with_offsets() {
    let bytes = binary();
    is_box_and_wedge(&grid(&bytes));
    for len in 0..bytes.len() {
        // Cut anywhere, it is an error or, behind the cells, a grid with fewer arrays.
        let _ = read_legacy_grid(Path::new("m.vtk"), &bytes[..len], &Threads::one());
    }
}

#[test]
fn structured_points_make_boxes_and_quadrangles() {
    let points = |n: [usize; 3]| {
        let all = (0..n[2]).flat_map(|k| (0..n[1]).flat_map(move |j| (0..n[0]).map(move |i| format!("{i} {} {}\n", 2 * j, 3 * k))));
        all.collect::<String>()
    };
    let text = |n: [usize; 3]| {
        let n_points: usize = n.iter().product();
        format!(
            "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_GRID\nDIMENSIONS {} {} {}\nPOINTS {n_points} float\n{}",
            n[0],
            n[1],
            n[2],
            points(n)
        )
    };
    let boxes = grid(text([3, 4, 3]).as_bytes());
    assert_eq!((boxes.dim(), boxes.n_cells(), boxes.n_faces()), (3, 12, 3 * 6 + 2 * 4 * 2 + 3 * 6));
    assert!(boxes.geometry().cell_volumes.iter().all(|volume| (volume - 6.0).abs() < 1e-14));
    // The first axis is fastest.
    assert_eq!(boxes.geometry().cell_centroids[1][..2], [1.5, 1.0]);
    let plane = grid(text([3, 4, 1]).as_bytes());
    assert_eq!((plane.dim(), plane.n_cells()), (2, 6));
    assert!(plane.geometry().cell_volumes.iter().all(|area| (area - 2.0).abs() < 1e-14));
}

/// The list of a polyhedron is what follows its number: faces, and their points.
#[test]
fn a_polyhedron() {
    let text = "# vtk DataFile Version 4.2\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n\
                CELLS 1 18\n17 4 3 0 2 1 3 0 1 3 3 1 2 3 3 0 3 2\nCELL_TYPES 1\n42\n";
    let grid = grid(text.as_bytes());
    assert_eq!((grid.n_cells(), grid.n_faces()), (1, 4));
    assert!((grid.geometry().cell_volumes[0] - 1.0 / 6.0).abs() < 1e-16);
}

/// Texts among the arrays, as VTK writes them, and types by the names that meshio has for them.
#[test]
fn texts_and_other_names_of_types() {
    let head = "FIELD FieldData 1\ntitle 1 1 string\nof the%20mesh\n";
    let text = text()
        .replace("FIELD FieldData 1\nTIME 1 1 double\n2.5\n", head)
        .replace("set:top 1 2 int\n0 1\n", "names 1 2 string\nbox and\n\nset:top 1 2 vtktypeint32\n0 1\n");
    let text = text.replace("rock 2 2 short", "METADATA\nINFORMATION 0\n\nrock 2 2 short");
    // An empty text has a line, too.
    is_box_and_wedge(&grid(text.replace("FieldData 3", "FieldData 4").as_bytes()));
    let long = "x".repeat(100);
    let mut texts = vec![0xc5];
    texts.extend(b"hello");
    texts.extend([0x80, 100]);
    texts.extend(long.bytes());
    texts.extend([0x40, 0, 0, 1, b'a', 0, 0, 0, 0, 0, 0, 0, 2, b'b', b'c', 0xc0]);
    let bytes = binary();
    let at = bytes.windows(9).position(|window| window == b"CELL_DATA").unwrap();
    let with = |texts: &[u8]| [&bytes[..at], b"FIELD FieldData 1\nnames 1 5 string\n", texts, b"\n", &bytes[at..]].concat();
    is_box_and_wedge(&grid(&with(&texts)));
    let error = read_legacy_grid(Path::new("m.vtk"), &with(&[0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), &Threads::one());
    assert!(error.unwrap_err().message.ends_with("names: the file ends before its 5 texts"));
}
