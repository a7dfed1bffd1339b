//! Gmsh meshes: each version and encoding, each element, and every way in which one is refused.

use std::path::Path;

use equelle_runtime::grid::io::gmsh::{self, GmshOptions};
use equelle_runtime::grid::{Grid, NamedSet, Renumber};
use equelle_runtime::threads::Threads;
use equelle_runtime::{EntityKind, Error, ErrorKind};

use crate::common::*;
use crate::msh::{Element, Encoding, Mesh};

pub fn read(bytes: &[u8]) -> Result<Grid, Error> {
    gmsh::read(Path::new("m.msh"), bytes, &GmshOptions::default(), &Threads::one())
}

/// A cube; on its top a pyramid with its tip 1 higher; at its side x = 1 half a cube, a prism with
/// its edge at x = 2; and a tetrahedron on the side of the pyramid above that.
pub fn mixed() -> Mesh {
    let nodes = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 1.0],
        [1.0, 1.0, 1.0],
        [0.0, 1.0, 1.0],
        [0.5, 0.5, 2.0],
        [2.0, 0.0, 0.0],
        [2.0, 1.0, 0.0],
        [2.0, 0.5, 1.5],
    ];
    let element =
        |dim, entity, kind, groups: &[i32], nodes: &[u64]| Element { dim, entity, kind, groups: groups.to_vec(), nodes: nodes.to_vec() };
    Mesh {
        names: vec![(3, 1, "rock".into()), (3, 2, "clay".into()), (3, 3, "cube and pyramid".into()), (2, 5, "bottom".into())],
        nodes: nodes.iter().zip(1..).map(|(&place, tag)| (tag, place)).collect(),
        elements: vec![
            element(0, 1, 15, &[9], &[1]),
            element(1, 1, 1, &[8], &[1, 2]),
            element(2, 1, 3, &[5], &[1, 2, 3, 4]),
            element(2, 2, 3, &[6], &[2, 6, 7, 3]),
            element(2, 3, 2, &[5], &[6, 7, 12]),
            element(3, 1, 5, &[1, 3], &[1, 2, 3, 4, 5, 6, 7, 8]),
            element(3, 2, 7, &[1, 3], &[5, 6, 7, 8, 9]),
            element(3, 3, 6, &[2], &[2, 6, 10, 3, 7, 11]),
            element(3, 4, 4, &[2], &[6, 7, 9, 12]),
        ],
    }
}

fn members(grid: &Grid, kind: EntityKind, name: &str) -> Vec<u32> {
    grid.named().set(kind, name).unwrap_or_else(|| panic!("set {name}")).members.clone()
}

#[test]
fn all_elements_in_each_version_and_encoding() {
    let first = read(&mixed().bytes(Encoding::Text41)).unwrap();
    // Tetrahedron volume: (0, 1, 0) times ((-1/2, 1/2, 1) x (1, 1/2, 1/2)), which is 5/4, over 6.
    for (volume, expected) in first.geometry().cell_volumes.iter().zip([1.0, 1.0 / 3.0, 0.5, 1.25 / 6.0]) {
        assert!((volume - expected).abs() < 1e-15, "{volume} {expected}");
    }
    assert_eq!((first.dim(), first.n_cells(), first.n_faces()), (3, 4, 6 + 5 + 5 + 4 - 3));
    assert_consistent(&first);
    assert!(worst_closure(&first) < 1e-15);
    assert_eq!(members(&first, EntityKind::Cell, "rock"), [0, 1]);
    assert_eq!(members(&first, EntityKind::Cell, "cube and pyramid"), [0, 1]);
    assert_eq!(members(&first, EntityKind::Cell, "clay"), [2, 3]);
    // The cube names its bottom first, and its side x = 1 fourth.
    assert_eq!(members(&first, EntityKind::Face, "physical_6"), [3]);
    assert_eq!(first.topology().face_cells[3], [0, 2]);
    let bottom = members(&first, EntityKind::Face, "bottom");
    assert_eq!(bottom.len(), 2);
    assert_eq!(first.geometry().face_centroids[bottom[0] as usize], [0.5, 0.5, 0.0]);
    // Groups of lines and points have no entities.
    assert_eq!(first.named().sets().count(), 5);
    for encoding in Encoding::ALL {
        let other = read(&mixed().bytes(encoding)).unwrap_or_else(|error| panic!("{encoding:?}: {}", error.message));
        assert_eq!((other.topology(), other.geometry()), (first.topology(), first.geometry()), "{encoding:?}");
        assert_eq!(other.named(), first.named(), "{encoding:?}");
    }
}

/// Tags may have holes and any order; far apart they need no table.
#[test]
fn tags_in_any_order() {
    for far in [3, 1_000_003] {
        let mut mesh = mixed();
        let new = |tag: u64| 50 * far - far * tag;
        mesh.nodes.iter_mut().for_each(|(tag, _)| *tag = new(*tag));
        mesh.elements.iter_mut().flat_map(|element| &mut element.nodes).for_each(|tag| *tag = new(*tag));
        for encoding in Encoding::ALL {
            let grid = read(&mesh.bytes(encoding)).unwrap();
            assert_eq!(grid.topology(), read(&mixed().bytes(encoding)).unwrap().topology());
        }
    }
}

/// As Gmsh writes it: a square with a node in its middle.
pub const SQUARE: &str = "$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
3
1 2 \"bottom\"
1 3 \"low right\"
2 1 \"rock\"
$EndPhysicalNames
$Entities
4 4 1 0
1 0 0 0 1 4 
2 1 0 0 0 
3 1 1 0 0 
4 0 1 0 0 
1 0 0 0 1 0 0 2 2 3 2 1 -2 
2 1 0 0 1 1 0 1 3 2 2 -3 
3 0 1 0 1 1 0 0 2 3 -4 
4 0 0 0 0 1 0 0 2 4 -1 
1 0 0 0 1 1 0 2 1 7 4 1 2 3 4 
$EndEntities
$Nodes
2 5 1 5
0 1 0 4
1
2
3
4
0 0 3
1 0 3
1 1 3
0 1 3
2 1 0 1
5
0.5 0.5 3
$EndNodes
$Elements
4 7 1 7
0 1 15 1
1 1 
1 1 1 1
2 1 2 
1 2 1 1
3 2 3 
2 1 2 4
4 1 2 5 
5 4 1 5 
6 2 3 5 
7 3 4 5 
$EndElements
";

#[test]
fn a_square_with_named_sides() {
    let comments = format!("$Comments\na $Nodes in the text\n$EndComments\n{SQUARE}$NodeData\n1\n\"u\"\n$EndNodeData\n");
    for text in [SQUARE, &comments, &SQUARE.replace('\n', "\r\n")] {
        let mut grid = read(text.as_bytes()).unwrap();
        assert_eq!((grid.dim(), grid.n_cells(), grid.n_faces()), (2, 4, 8));
        assert_eq!(grid.geometry().cell_volumes, [0.25; 4]);
        // The plane z = 3 is the plane.
        assert!(grid.geometry().face_centroids.iter().all(|centroid| centroid[2] == 0.0));
        assert_eq!(members(&grid, EntityKind::Cell, "physical_7"), [0, 1, 2, 3]);
        let bottom = grid.named().set(EntityKind::Face, "bottom").unwrap().clone();
        let low_right = members(&grid, EntityKind::Face, "low right");
        let middles = |grid: &Grid, faces: &[u32]| -> Vec<[f64; 3]> {
            faces.iter().map(|&face| grid.geometry().face_centroids[grid.entity_of_file(EntityKind::Face, face) as usize]).collect()
        };
        let expected = vec![[0.5, 0.0, 0.0], [1.0, 0.5, 0.0]];
        assert_eq!(middles(&grid, &low_right), expected);
        grid.renumber(Renumber::Yes);
        assert!(grid.is_renumbered());
        assert_eq!(middles(&grid, &low_right), expected);
        assert_eq!(bottom, NamedSet { name: "bottom".into(), kind: EntityKind::Face, members: vec![low_right[0]] });
    }
}

/// Data on the square, whose cells are elements 4 to 7; element 2 is a side.
fn data(name: &str, components: usize, rows: &str) -> String {
    format!("$ElementData\n1\n\"{name}\"\n1\n0.5\n3\n2\n{components}\n{}\n{rows}$EndElementData\n", rows.lines().count())
}

#[test]
fn data_of_elements_are_arrays_of_the_cells() {
    let of = |grid: &Grid, name: &str| grid.named().array(EntityKind::Cell, name).map(|array| array.values.clone());
    let text = format!(
        "{SQUARE}{}{}{}{}{}",
        data("PERMX", 1, "4 9\n5 9\n6 9\n7 9\n"),
        data("PERMX", 1, "7 4e-13\n6 3e-13\n2 1\n5 2e-13\n4 1e-13\n"),
        data("v", 3, "4 1 2 3\n5 4 5 6\n6 7 8 9\n7 -1 0 1\n"),
        data("part", 1, "4 1\n5 2\n6 3\n"),
        data("tensor", 9, "4 1 2 3 4 5 6 7 8 9\n"),
    );
    let grid = read(text.as_bytes()).unwrap();
    assert_eq!(of(&grid, "PERMX"), Some(vec![1e-13, 2e-13, 3e-13, 4e-13]));
    assert_eq!(of(&grid, "v_y"), Some(vec![2.0, 5.0, 8.0, 0.0]));
    assert_eq!(grid.named().arrays().count(), 4);
    // Tags of the cells of the other mesh; version 2.2 has an element for each group of a cell.
    for (encoding, tags) in [(Encoding::Binary22, [6, 8, 10, 11]), (Encoding::SwappedBinary41, [6, 7, 8, 9])] {
        let mut bytes = mixed().bytes(encoding);
        bytes.extend(b"$ElementData\n1\n\"PORO\"\n0\n3\n0\n1\n4\n");
        for tag in tags.into_iter().rev() {
            let (mut number, mut value) = (i32::to_ne_bytes(tag), (f64::from(tag) / 8.0).to_ne_bytes());
            if encoding == Encoding::SwappedBinary41 {
                number.reverse();
                value.reverse();
            }
            bytes.extend(number);
            bytes.extend(value);
        }
        bytes.extend(b"\n$EndElementData\n");
        let grid = read(&bytes).unwrap();
        assert_eq!(of(&grid, "PORO").unwrap(), tags.map(|tag| f64::from(tag) / 8.0), "{encoding:?}");
    }
    let bad = |rows: &str, message: &str| {
        let text = format!("{SQUARE}{}", data("u", 1, rows));
        refused(&text, message);
    };
    bad("4 x\n", "m.msh:60: $ElementData: expected the value of an element (a finite number), found `x`");
    bad("4.5 1\n", "m.msh:60: $ElementData: expected the number of an element (a whole number), found `4.5`");
    let huge = format!("{SQUARE}$ElementData\n99999999999\n");
    refused(&huge, "m.msh:52: $ElementData: expected 99999999999 texts of at least 2 bytes each, found 1 bytes up to the end of the file");
    let cut = format!("{SQUARE}{}", data("u", 1, "4 1\n")).replace("$EndElementData", "");
    refused(&cut, "m.msh:62: $ElementData: expected $EndElementData, found the end of the file");
}

/// A group that has a surface with a minus: version 2.2 then repeats its elements the other way
/// around.
#[test]
fn a_repeat_the_other_way_around_is_the_same_element() {
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"rock\"\n2 2 \"back\"\n$EndPhysicalNames\n\
        $Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n$Elements\n";
    let read = |rows: &str| read(format!("{mesh}{}\n{rows}$EndElements\n", rows.lines().count()).as_bytes());
    for second in ["3 2 1", "2 1 3", "1 3 2"] {
        let grid = read(&format!("1 2 2 1 7 1 2 3\n2 2 2 2 7 {second}\n3 2 2 1 7 1 3 4\n")).unwrap();
        assert_eq!((grid.n_cells(), members(&grid, EntityKind::Cell, "rock")), (2, vec![0, 1]));
        assert_eq!(members(&grid, EntityKind::Cell, "back"), [0]);
    }
    // With the same group, or in another entity, it is a cell too many; other corners are one, too.
    for rows in ["1 2 2 1 7 1 2 3\n2 2 2 1 7 3 2 1\n3 2 2 1 7 1 3 4\n", "1 2 2 1 7 1 2 3\n2 2 2 2 8 3 2 1\n3 2 2 1 7 1 3 4\n"] {
        assert!(read(rows).unwrap_err().message.contains("the cell is there twice"));
    }
}

/// Elements that alternate entities and groups: each set has its own.
#[test]
fn elements_may_alternate_entities() {
    let n = 300_u64;
    let mut mesh = Mesh { names: vec![(2, 1, "odd".into()), (2, 2, "even".into())], ..Mesh::default() };
    mesh.nodes.push((1, [0.0; 3]));
    let angle = |i: u64| i as f64 * std::f64::consts::TAU / n as f64;
    mesh.nodes.extend((0..n).map(|i| (i + 2, [angle(i).cos(), angle(i).sin(), 0.0])));
    let corner = |i: u64| i % n + 2;
    let spokes =
        (0..n).map(|i| Element { dim: 1, entity: 1 + i as i32 % 2, kind: 1, groups: vec![5 + i as i32 % 2], nodes: vec![corner(i), 1] });
    let cells = (0..n).map(|i| {
        let groups = if i % 3 == 0 { vec![1, 2] } else { vec![1 + i as i32 % 2] };
        Element { dim: 2, entity: 1 + i as i32 % 6, kind: 2, groups, nodes: vec![1, corner(i), corner(i + 1)] }
    });
    mesh.elements = spokes.chain(cells).collect();
    let grid = read(&mesh.bytes(Encoding::Text22)).unwrap();
    let odd = |i: &u32| i.is_multiple_of(3) || i.is_multiple_of(2);
    assert_eq!(members(&grid, EntityKind::Cell, "odd"), (0..n as u32).filter(odd).collect::<Vec<_>>());
    assert_eq!(members(&grid, EntityKind::Cell, "even"), (0..n as u32).filter(|i| i.is_multiple_of(3) || i % 2 == 1).collect::<Vec<_>>());
    // Spokes are found among all faces around the node in the middle.
    let angles = |name: &str| -> Vec<bool> {
        members(&grid, EntityKind::Face, name).iter().map(|&face| !grid.topology().is_boundary_face(face as usize)).collect()
    };
    assert_eq!((angles("physical_5"), angles("physical_6")), (vec![true; 150], vec![true; 150]));
}

pub fn refused(text: &str, message: &str) {
    let error = read(text.as_bytes()).map(|grid| grid.n_cells()).expect_err(message);
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Data, message));
}

/// The square with the first occurrence of a text replaced.
fn with(from: &str, to: &str) -> String {
    assert!(SQUARE.contains(from), "{from}");
    SQUARE.replacen(from, to, 1)
}

#[test]
fn headers_that_are_not_read() {
    refused("", "m.msh:1: expected $MeshFormat as the first section");
    refused("$Nodes\n", "m.msh:1: expected $MeshFormat as the first section");
    refused(&with("4.1 0 8", "4 0 8"), "m.msh:2: $MeshFormat: expected version 2 to 2.2 or 4.1, found `4`");
    refused(&with("4.1 0 8", "4.1 2 8"), "m.msh:2: $MeshFormat: expected file type 0 (text) or 1 (binary), found 2");
    refused(&with("4.1 0 8", "4.1 0 16"), "m.msh:2: $MeshFormat: expected data size 4 or 8, found 16");
    refused(&with("4.1 0 8", "2.2 0 4"), "m.msh:2: $MeshFormat: expected data size 8, found 4");
    refused(&with("4.1 0 8", "4.1 0"), "m.msh:3: $MeshFormat: expected the data size (a whole number), found `$EndMeshFormat`");
    refused(&with("$EndMeshFormat", "$EndFormat"), "m.msh:3: $MeshFormat: expected $EndMeshFormat, found `$EndFormat`");
    let mut binary = mixed().bytes(Encoding::Binary41);
    binary[20] = 7;
    assert!(read(&binary).unwrap_err().message.starts_with("m.msh: byte 20: $MeshFormat: expected the number 1, which shows the order"));
}

#[test]
fn sections_that_do_not_fit() {
    let section = |name: &str| {
        let (start, end) = (SQUARE.find(&format!("${name}\n")).unwrap(), format!("$End{name}\n"));
        let end = SQUARE.find(&end).unwrap() + end.len();
        (SQUARE[start..end].to_string(), [&SQUARE[..start], &SQUARE[end..]].concat())
    };
    let (nodes, without_nodes) = section("Nodes");
    refused(&without_nodes, "m.msh:23: $Elements: expected $Nodes before this section, found none");
    refused(&(without_nodes + &nodes), "m.msh:23: $Elements: expected $Nodes before this section, found none");
    refused(&section("Elements").1, "m.msh: expected a section $Elements, found none");
    refused(&(SQUARE.to_string() + &nodes), "m.msh:52: $Nodes: the section is there twice: expected one $Nodes");
    refused(&with("$EndNodes\n", ""), "m.msh:36: $Nodes: expected $EndNodes, found `$Elements`");
    refused(&with("$EndElements\n", ""), "m.msh:50: $Elements: expected $EndElements, found the end of the file");
    refused(&(SQUARE.to_string() + "$NodeData\n1\n"), "m.msh:53: $NodeData: expected $EndNodeData, found the end of the file");
    refused(&(SQUARE.to_string() + "rest\n"), "m.msh:51: expected the beginning of a section, such as $Nodes, found `rest`");
    let ghosts = "$GhostElements\n1\n1 1 0\n$EndGhostElements\n";
    refused(&(SQUARE.to_string() + ghosts), "m.msh:52: $GhostElements: expected a mesh in one part, found partitions or ghost elements");
    // Entities have the groups: without them, sets would silently be empty.
    refused(&section("Entities").1, "m.msh: expected a section $Entities, which $PhysicalNames needs, found none");
    refused(&with("1 2 1 1\n3 2 3", "1 9 1 1\n3 2 3"), "m.msh:44: expected an entity of $Entities, found entity 9 of dimension 1");
}

#[test]
fn numbers_that_do_not_fit() {
    refused(
        &with("2 5 1 5", "2 600000000 1 5"),
        "m.msh:23: $Nodes: expected 600000000 nodes of at least 8 bytes each, found 190 bytes up to the end of the file",
    );
    let huge = "expected 18446744073709551615 nodes of at least 32 bytes each, found";
    assert!(read(with("2 5 1 5", "2 18446744073709551615 1 5").as_bytes()).unwrap_err().message.contains("does not fit in 64 bits"));
    let mut binary = mixed().bytes(Encoding::Binary41);
    let counts = binary.windows(8).position(|bytes| bytes == b"\n$Nodes\n").unwrap() + 8;
    binary[counts + 8..counts + 16].copy_from_slice(&u64::MAX.to_ne_bytes());
    assert!(read(&binary).unwrap_err().message.contains(huge), "{}", read(&binary).unwrap_err().message);
    refused(&with("2 5 1 5", "2 6 1 5"), "m.msh:35: $Nodes: expected 6 nodes in all blocks, found 5");
    refused(&with("2 5 1 5", "2 -5 1 5"), "m.msh:23: $Nodes: expected the number of nodes, found -5, which is negative");
    refused(&with("4 7 1 7", "4 8 1 7"), "m.msh:49: $Elements: expected 8 elements in all blocks, found 7");
    refused(&with("4 7 1 7", "5 7 1 7"), "m.msh:50: $Elements: expected the dimension of an entity (a whole number), found `$EndElements`");
    refused(&with("2 1 0 1\n5", "2 1 0 1\n0.5"), "m.msh:34: $Nodes: expected the tag of a node (a whole number), found `0.5`");
    refused(&with("2 1 0 1\n5", "2 1 0 1\n3"), "m.msh:34: $Nodes: node 3 is there twice");
    refused(&with("0.5 0.5 3", "0.5 nan 3"), "m.msh:35: $Nodes: expected y of a node (a finite number), found `nan`");
    refused(
        &with("0.5 0.5 3", "1e400 0.5 3"),
        "m.msh:35: $Nodes: expected x of a node (a finite number), found `1e400`, which is too large",
    );
    refused(&with("2 1 0 1\n5", "7 1 0 1\n5"), "m.msh:33: $Nodes: expected the dimension of an entity, 0 to 3, found 7");
    refused(&with("2 1 0 1\n5", "2 1 2 1\n5"), "m.msh:33: $Nodes: expected 0 or 1, whether there are parametric coordinates, found 2");
    refused(&with("6 2 3 5", "6 2 3 9"), "m.msh:48: $Elements: expected a node of $Nodes, found node 9, which is not there");
    refused(
        &with("2 1 2 4", "3000000000 1 2 4"),
        "m.msh:45: $Elements: expected the dimension of an entity (a number of 32 bits), found 3000000000",
    );
    refused(&with("2 1 2 4", "3 1 2 4"), "m.msh:45: $Elements: expected elements of dimension 3, that of their entity, found dimension 2");
    refused(&with("4 4 1 0", "4 3 1 0"), "m.msh:20: $Entities: expected $EndEntities, found `1 0 0 0 1 1 0 2 1 7 4 1 2 3 4`");
    refused(&with("2 1 0 0 0 \n", "1 1 0 0 0 \n"), "m.msh:13: $Entities: entity 1 of dimension 0 is there twice");
    let mut nan = mixed().bytes(Encoding::Binary22);
    let nodes = nan.windows(10).position(|bytes| bytes == b"$Nodes\n12\n").unwrap() + 10;
    nan[nodes + 4..nodes + 12].copy_from_slice(&f64::NAN.to_ne_bytes());
    let message = format!("m.msh: byte {}: $Nodes: expected x of a node (a finite number), found NaN", nodes + 4);
    assert_eq!(read(&nan).unwrap_err().message, message);
}

#[test]
fn names_that_do_not_fit() {
    let again = "expected each name and number once for a dimension, found";
    refused(&with("1 3 \"low right\"", "1 3 \"bottom\""), &format!("m.msh:7: $PhysicalNames: {again} name `bottom` again"));
    refused(&with("1 3 \"low right\"", "1 2 \"low\""), &format!("m.msh:7: $PhysicalNames: {again} number 2 again"));
    for name in ["1 3 low", "4 3 \"low\"", "1 \"low\"", "1 3 5 \"low\"", "1 3 \"low", "1 3 \"\""] {
        let found = format!("expected a dimension, a number and a name in quotes, found `{}`", name.escape_debug());
        refused(&with("1 3 \"low right\"", name), &format!("m.msh:7: $PhysicalNames: {found}"));
    }
    refused(&with("3\n1 2", "three\n1 2"), "m.msh:5: $PhysicalNames: expected the number of names, found `three`");
    refused(&with("3\n1 2", "2\n1 2"), "m.msh:8: $PhysicalNames: expected $EndPhysicalNames, found `2 1 \\\"rock\\\"`");
    // A group of the name that a group without a name gets.
    let both = with("2 1 \"rock\"", "2 1 \"physical_7\"");
    refused(&both, "m.msh: $PhysicalNames: the grid has set `physical_7` of cells twice");
}

#[test]
fn elements_that_are_no_cells_of_a_grid() {
    let order = "expected an element of first order (types 1 to 7 and 15), found type";
    refused(&with("2 1 2 4", "2 1 9 4"), &format!("m.msh:45: $Elements: {order} 9, a quadratic triangle"));
    refused(&with("2 1 2 4", "2 1 11 4"), &format!("m.msh:45: $Elements: {order} 11, a quadratic tetrahedron"));
    refused(&with("2 1 2 4", "2 1 99999 4"), &format!("m.msh:45: $Elements: {order} 99999, which is no type of element"));
    refused(&with("4 1 2 5 ", "4 1 1 5 "), "m.msh:46: $Elements: element 4 names node 1 twice");
    refused(&with("6 2 3 5", "6 1 2 5"), "m.msh:48: $Elements: element 6 has the nodes of element 4: the cell is there twice");
    let three = "element 4, element 5 and element 6 have a face in common, which can have two cells only";
    refused(&with("6 2 3 5", "6 5 1 3"), &format!("m.msh:48: $Elements: {three}"));
    refused(&with("0.5 0.5 3", "0.5 0 3"), "m.msh:46: $Elements: element 4 has no volume");
    let surface = "a surface in space, which is no grid: node 5 is outside of the plane z = const of the first";
    refused(&with("0.5 0.5 3", "0.5 0.5 3.1"), &format!("m.msh:34: $Nodes: {surface}"));
    // A line across two triangles.
    let line = "expected elements of one dimension, found element 2, which has dimension 1 and is no face of a cell";
    refused(&with("2 1 2 \n", "2 1 3 \n"), &format!("m.msh:42: $Elements: {line}"));
    let lines = with("2 1 2 4\n4 1 2 5 \n5 4 1 5 \n6 2 3 5 \n7 3 4 5 \n", "").replace("4 7 1 7", "3 3 1 3");
    refused(&lines, "m.msh: $Elements: expected cells of dimension 2 or 3, found none");
}

fn refused_mesh(change: impl Fn(&mut Mesh), message: &str) {
    let mut mesh = mixed();
    change(&mut mesh);
    for encoding in Encoding::ALL {
        let error = read(&mesh.bytes(encoding)).map(|grid| grid.n_cells()).expect_err(message);
        assert!(error.kind == ErrorKind::Data && error.message.ends_with(message), "{encoding:?}: {}", error.message);
        let place = if matches!(encoding, Encoding::Text22 | Encoding::Text41) { "m.msh:" } else { "m.msh: byte " };
        assert!(error.message.starts_with(place), "{encoding:?}: {}", error.message);
    }
}

#[test]
fn cells_that_are_no_grid_in_each_version_and_encoding() {
    refused_mesh(|mesh| mesh.elements[6].kind = 14, "14, a quadratic pyramid");
    refused_mesh(|mesh| mesh.nodes[11].1 = [0.75, 0.5, 1.5], "has no volume");
    refused_mesh(|mesh| mesh.elements[4].nodes[2] = 1, "which has dimension 2 and is no face of a cell");
    // Turned around, it lies on the side of its neighbour.
    refused_mesh(|mesh| mesh.nodes[8].1 = [0.5, 0.5, 0.5], "overlap: they are on the same side of their common face");
}

#[test]
fn partitions_of_version_22() {
    let text = String::from_utf8(mixed().bytes(Encoding::Text22)).unwrap();
    let partition = text.replace("1 15 2 9 1 1", "1 15 4 9 1 1 1 1");
    refused(&partition, "m.msh:29: $Elements: expected a mesh in one part, found an element of a partition");
    // No partitions.
    assert!(read(text.replace("1 15 2 9 1 1", "1 15 3 9 1 0 1").as_bytes()).is_ok());
    let tags = "expected 1 elements of at least";
    assert!(read(text.replace("1 15 2 9 1 1", "1 15 2000000000 9 1 1").as_bytes()).unwrap_err().message.contains(tags));
}

/// Cut off anywhere, a file is refused; nothing panics.
#[test]
fn truncated_anywhere() {
    for encoding in Encoding::ALL {
        let bytes = mixed().bytes(encoding);
        let end = bytes.len() - "\n$EndElements\n".len();
        for len in 0..=end {
            let error = read(&bytes[..len]).map(|grid| grid.n_cells()).unwrap_err();
            assert!(error.message.starts_with("m.msh"), "{}", error.message);
        }
    }
}
