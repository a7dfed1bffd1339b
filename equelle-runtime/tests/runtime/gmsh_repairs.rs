//! Gmsh meshes of other programs and versions: what is put right with a note, what is refused
//! unless it is ignored, and version numbers.

use std::path::Path;

use equelle_runtime::Parameters;
use equelle_runtime::grid::io::gmsh::{self, GmshOptions};
use equelle_runtime::grid::{Grid, NONE};
use equelle_runtime::io::DataSource;
use equelle_runtime::session::grid_from_parameters;
use equelle_runtime::threads::Threads;

use crate::common::*;
use crate::gmsh::{SQUARE, mixed, read, refused};
use crate::msh::{Encoding, Mesh};

/// The mesh with a change is the same grid, with one note.
fn put_right(change: impl Fn(&mut Mesh), note: &str) {
    let good = read(&mixed().bytes(Encoding::Text22)).unwrap();
    let mut mesh = mixed();
    change(&mut mesh);
    for encoding in Encoding::ALL {
        let grid = read(&mesh.bytes(encoding)).unwrap();
        assert!(matches!(grid.notes(), [only] if only.ends_with(note)), "{encoding:?}: {:?}", grid.notes());
        assert_eq!(grid.geometry().cell_volumes, good.geometry().cell_volumes);
        let sizes = |grid: &Grid| grid.named().sets().map(|set| (set.name.clone(), set.members.len())).collect::<Vec<_>>();
        assert_eq!((grid.n_faces(), sizes(&grid)), (good.n_faces(), sizes(&good)));
        assert_consistent(&grid);
    }
}

/// Nodes without a cell, wherever they are, and cells whose corners are in the other order.
#[test]
fn what_is_put_right_with_a_note() {
    assert!(read(&mixed().bytes(Encoding::Text22)).unwrap().notes().is_empty());
    put_right(|mesh| mesh.nodes.push((13, [3.0; 3])), "node 13 belongs to no cell and is left out");
    put_right(|mesh| mesh.nodes.insert(0, (13, [3.0; 3])), "node 13 belongs to no cell and is left out");
    put_right(
        |mesh| mesh.nodes.splice(2..2, [(14, [3.0; 3]), (13, [0.0; 3])]).for_each(drop),
        "2 nodes belong to no cell and are left out, the first is node 14",
    );
    let turned = " was inside out and has been turned";
    put_right(|mesh| mesh.elements[8].nodes.swap(0, 1), turned);
    put_right(|mesh| mesh.elements[5].nodes.rotate_left(4), turned);
    // A node beside a plane mesh makes no surface in space of it.
    let orphan = SQUARE.replacen("2 5 1 5", "2 6 1 6", 1).replacen("2 1 0 1\n5\n", "2 1 0 2\n5\n6\n", 1).replacen(
        "0.5 0.5 3\n",
        "0.5 0.5 3\n2 2 7\n",
        1,
    );
    let grid = read(orphan.as_bytes()).unwrap();
    assert_eq!((grid.dim(), grid.notes()), (2, &["node 6 belongs to no cell and is left out".to_owned()][..]));
}

/// Two squares, periodic along x.
pub const PERIODIC: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n\
$EndNodes\n$Elements\n4\n1 1 2 1 1 1 4\n2 1 2 2 2 3 6\n3 3 2 3 1 1 2 5 4\n4 3 2 3 1 2 3 6 5\n$EndElements\n\
$Periodic\n1\n1 2 1\n2\n3 1\n6 4\n$EndPeriodic\n";

#[test]
fn periodic_sides_are_joined_or_boundaries() {
    // Faces in the order in which cells name them, that of node 3 and 6 left out.
    let grid = read(PERIODIC.as_bytes()).unwrap();
    assert_eq!((grid.n_cells(), grid.n_faces()), (2, 6));
    assert_eq!(grid.notes(), ["`curve 2` and `curve 1` are joined, 1 faces"]);
    assert_eq!(grid.topology().face_cells.iter().filter(|cells| !cells.contains(&NONE)).count(), 2);
    let boundaries = GmshOptions { joins_sides: false };
    let grid = gmsh::read(Path::new("m.msh"), PERIODIC.as_bytes(), &boundaries, &Threads::one()).unwrap();
    assert_eq!((grid.n_cells(), grid.n_faces()), (2, 7));
    assert_eq!(grid.notes(), ["$Periodic is left out, 1 in all: its sides are boundaries"]);
    let none = PERIODIC.replace("$Periodic\n1\n1 2 1\n2\n3 1\n6 4\n", "$Periodic\n0\n");
    assert!(read(none.as_bytes()).unwrap().notes().is_empty());
    let source = DataSource::memory([("p.msh", PERIODIC.as_bytes().to_vec())]);
    let n_faces = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        grid_from_parameters(&Parameters::from_words_in(source.clone(), &words).unwrap()).map(|grid| grid.n_faces())
    };
    assert_eq!(n_faces(&["grid_filename=p.msh", "grid_periodic=none"]), Ok(7));
    assert_eq!(n_faces(&["grid_filename=p.msh"]), Ok(6));
    assert_eq!(n_faces(&["grid_filename=p.msh", "grid_periodic=x-:x+"]), Ok(6));
    let wrong = n_faces(&["grid_filename=p.msh", "grid_periodic=yes"]).unwrap_err().message;
    assert_eq!(wrong, "parameter `grid_periodic` (command line): sides cannot be joined: expected two sides with a colon, found `yes`");
}

/// A link with an affine transform, one of a corner, and one to nodes that are nowhere.
#[test]
fn links_of_other_kinds() {
    let links = "$Periodic\n2\n0 3 1\n1\n3 1\n1 2 1\nAffine 1 0 0 2 0 1 0 0 0 0 1 0 0 0 0 1\n2\n3 1\n6 4\n";
    let mesh = PERIODIC.replace("$Periodic\n1\n1 2 1\n2\n3 1\n6 4\n", links);
    assert_eq!(read(mesh.as_bytes()).unwrap().n_faces(), 6);
    let nowhere = read(PERIODIC.replace("3 1\n6 4\n$EndP", "3 7\n6 8\n$EndP").as_bytes()).unwrap_err();
    assert_eq!(nowhere.message, "m.msh: $Periodic: sides cannot be joined: `curve 1` has no faces");
    assert_eq!(nowhere.hint.as_deref(), Some("with grid_periodic=none its sides are boundaries"));
    let cut_off = read(PERIODIC.replace("2\n3 1\n6 4\n$EndP", "9\n3 1\n6 4\n$EndP").as_bytes()).unwrap_err();
    assert!(cut_off.message.contains("expected 9 nodes of a periodic entity"), "{}", cut_off.message);
    // Without its whole `$Periodic` a file is cut off, and refused.
    for len in PERIODIC.find("$Periodic").unwrap() + 1..PERIODIC.trim_end().len() {
        let error = read(&PERIODIC.as_bytes()[..len]).unwrap_err();
        assert!(error.message.starts_with("m.msh"), "{}", error.message);
    }
}

#[test]
fn versions_with_other_numbers() {
    let text = String::from_utf8(mixed().bytes(Encoding::Text22)).unwrap();
    let good = read(text.as_bytes()).unwrap();
    for version in ["2", "2.0", "2.1", "2.200000"] {
        let grid = read(text.replacen("2.2 0 8", &format!("{version} 0 8"), 1).as_bytes()).unwrap();
        assert_eq!((grid.geometry(), grid.named()), (good.geometry(), good.named()), "{version}");
    }
    for version in ["1", "3", "4.0", "4.2", "two"] {
        let expected = format!("m.msh:2: $MeshFormat: expected version 2 to 2.2 or 4.1, found `{version}`");
        refused(&text.replacen("2.2 0 8", &format!("{version} 0 8"), 1), &expected);
    }
}
