//! Renumbered grids: the same grid in another order, and nothing of it shows.

use equelle_runtime::grid::io::opm;
use equelle_runtime::grid::{Cartesian, FaceOrder, Geometry, Grid, LARGE, NONE, Renumber, Topology};
use equelle_runtime::input::CollectionInput;
use equelle_runtime::output::Record;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::{Domain, EntityKind, ErrorKind};

use crate::common::*;
use crate::triangles::{Order, triangles};

fn shuffled(nx: usize, ny: usize) -> Grid {
    opm::read_text("shuffled".as_ref(), triangles(nx, ny, Order::Shuffled).as_bytes()).unwrap()
}

fn plane() -> Grid {
    Grid::cartesian(Cartesian::plane([7, 5], [0.5, 0.3])).unwrap().as_unstructured()
}

fn block() -> Grid {
    Grid::cartesian(Cartesian::block([5, 4, 3], [0.5, 0.3, 0.7])).unwrap().as_unstructured()
}

fn renumbered(mut grid: Grid, how: Renumber) -> Grid {
    grid.renumber(how);
    grid
}

/// Mean distance in the numbering between neighbours.
fn reach(grid: &Grid) -> f64 {
    let interior: Vec<[u32; 2]> = grid.topology().face_cells.iter().copied().filter(|cells| !cells.contains(&NONE)).collect();
    interior.iter().map(|[a, b]| f64::from(a.abs_diff(*b))).sum::<f64>() / interior.len() as f64
}

#[test]
fn a_renumbered_grid_is_the_same_grid() {
    for make in [plane, block, || shuffled(6, 5), || Grid::cartesian(Cartesian::line(9, 0.25)).unwrap().as_unstructured()] {
        let (file, grid) = (make(), renumbered(make(), Renumber::Yes));
        assert!(grid.is_renumbered());
        assert_consistent(&grid);
        let (old, new) = (file.topology(), grid.topology());
        let (cell_in_file, face_in_file) =
            (|cell: u32| grid.file_index(EntityKind::Cell, cell), |face: u32| grid.file_index(EntityKind::Face, face));
        for cell in 0..grid.n_cells() as u32 {
            let there = cell_in_file(cell);
            assert_eq!(grid.entity_of_file(EntityKind::Cell, there), cell);
            let faces: Vec<u32> = new.faces_of(cell as usize).iter().map(|&face| face_in_file(face)).collect();
            assert_eq!(faces, old.faces_of(there as usize), "the faces of a cell, in the order of the file");
            assert_eq!(grid.geometry().cell_volumes[cell as usize], file.geometry().cell_volumes[there as usize]);
            assert_eq!(grid.geometry().cell_centroids[cell as usize], file.geometry().cell_centroids[there as usize]);
        }
        let interior = grid.interior_faces_first().unwrap();
        for face in 0..grid.n_faces() as u32 {
            let there = face_in_file(face);
            assert_eq!(grid.entity_of_file(EntityKind::Face, there), face);
            assert_eq!(new.face_cells[face as usize].map(cell_in_file), old.face_cells[there as usize], "first and second cell");
            assert_eq!(new.is_boundary_face(face as usize), face as usize >= interior);
            assert_eq!(grid.geometry().face_areas[face as usize], file.geometry().face_areas[there as usize]);
            assert_eq!(grid.geometry().face_centroids[face as usize], file.geometry().face_centroids[there as usize]);
            assert_eq!(grid.geometry().face_normals[face as usize], file.geometry().face_normals[there as usize]);
        }
        assert_eq!(cell_in_file(NONE), NONE);
        // Edges and vertices know the boundary through faces.
        for (kind, sets) in
            [(EntityKind::Edge, [INTERIOR_EDGES, BOUNDARY_EDGES]), (EntityKind::Vertex, [INTERIOR_VERTICES, BOUNDARY_VERTICES])]
        {
            for set in sets {
                let mut there: Vec<u32> = grid.canonical_elements(set).unwrap().into_iter().map(|e| grid.file_index(kind, e)).collect();
                there.sort_unstable();
                assert_eq!(there, file.canonical_elements(set).unwrap(), "{set:?}");
            }
            let measures = grid.measures(kind);
            let in_file = file.measures(kind);
            assert!((0..measures.len()).all(|e| measures[e] == in_file[grid.file_index(kind, e as u32) as usize]));
        }
    }
}

/// Interior faces in the order of the first of their cells: a loop over the cells walks through
/// them, and no face is further back than its cells.
#[test]
fn faces_follow_their_cells() {
    let grid = renumbered(shuffled(9, 8), Renumber::Yes);
    let interior = grid.interior_faces_first().unwrap();
    let lower: Vec<u32> = grid.topology().face_cells[..interior].iter().map(|cells| *cells.iter().min().unwrap()).collect();
    assert!(lower.is_sorted(), "{lower:?}");
    let boundary: Vec<u32> = grid.topology().face_cells[interior..].iter().map(|cells| *cells.iter().min().unwrap()).collect();
    assert!(boundary.is_sorted(), "{boundary:?}");
}

/// In random order neighbours are n/3 apart. Breadth first, they are in one level or in two that
/// follow each other, so at most two levels apart; a level is a front across w x w squares of two
/// triangles each, at most four cells of each of its w squares. So 8 w is a bound; the mean is
/// below it.
#[test]
fn neighbours_come_close_together() {
    let (w, file) = (60, shuffled(60, 60));
    let before = reach(&file);
    let after = reach(&renumbered(file, Renumber::Yes));
    assert!(before > 2000.0, "7200 cells in random order: {before}");
    assert!(after < f64::from(8 * w), "{after}");
}

/// Parts that do not touch each other get numbers too: two cells without a common face.
#[test]
fn a_grid_in_two_parts() {
    let topology = Topology {
        cell_face_pos: vec![0, 2, 4],
        cell_faces: vec![0, 1, 2, 3],
        face_cells: vec![[NONE, 0], [0, NONE], [NONE, 1], [1, NONE]],
    };
    let geometry = Geometry {
        cell_volumes: vec![1.0, 2.0],
        cell_centroids: vec![[0.5, 0.0, 0.0], [2.5, 0.0, 0.0]],
        face_areas: vec![1.0; 4],
        face_centroids: [0.0, 1.0, 2.0, 3.0].map(|x| [x, 0.0, 0.0]).to_vec(),
        face_normals: vec![[1.0, 0.0, 0.0]; 4],
        face_gaps: Vec::new(),
        face_transmissibilities: Vec::new(),
        faces_without_geometry: Vec::new(),
    };
    let grid = renumbered(Grid::unstructured(1, topology, geometry).unwrap(), Renumber::Yes);
    assert_consistent(&grid);
    assert_eq!(grid.interior_faces_first(), Some(0));
    let mut cells = [0, 1].map(|cell| grid.file_index(EntityKind::Cell, cell));
    cells.sort_unstable();
    assert_eq!(cells, [0, 1]);
}

#[test]
fn which_grids_are_renumbered() {
    let line = |n: usize| Grid::cartesian(Cartesian::plane([n, 1], [1.0; 2])).unwrap().as_unstructured();
    assert!(!renumbered(line(LARGE - 1), Renumber::Auto).is_renumbered());
    // The cells of a Cartesian grid are in a good order; its faces are not: those across y come
    // last, and the boundary is among them.
    let auto = renumbered(line(LARGE), Renumber::Auto);
    assert!(auto.is_renumbered());
    assert!((0..LARGE as u32).all(|cell| auto.file_index(EntityKind::Cell, cell) == cell));
    assert_eq!(auto.interior_faces_first(), Some(LARGE - 1));
    // 2 * 71 * 71 = 10,082 cells without any order.
    let auto = renumbered(shuffled(71, 71), Renumber::Auto);
    assert!((0..LARGE as u32).any(|cell| auto.file_index(EntityKind::Cell, cell) != cell));
    assert!(!renumbered(shuffled(71, 71), Renumber::No).is_renumbered());
    // Used as a Cartesian grid, it keeps its closed forms.
    let cartesian = renumbered(four_by_three(), Renumber::Yes);
    assert!(!cartesian.is_renumbered() && cartesian.cartesian_shape().is_some());
}

fn session(extra: &[&str]) -> Session {
    let mut given = vec!["nx=7", "ny=5", "grid_layout=unstructured", "renumber=yes"];
    given.extend(extra);
    let mut session = open(&given).unwrap();
    session.grid_domains().renumber();
    assert!(session.grid().is_renumbered());
    session
}

/// Inputs read in the order of the file are put out in it, and in between each value is at its
/// element.
#[test]
fn inputs_and_outputs_are_in_the_order_of_the_file() {
    let dir = fresh_dir("renumbered_inputs");
    let values: Vec<f64> = (0..35).map(|cell| f64::from(cell) + 0.5).collect();
    let u = file(&dir, "u.txt", &values.iter().map(|v| format!("{v} ")).collect::<String>());
    // All on the boundary of 7 x 5 cells: 8 x 5 = 40 faces across x, then 7 x 6 across y, the last
    // seven at the top.
    let wells = file(&dir, "dir.txt", "0 7 40 45 75 81");
    let v = file(&dir, "v.txt", "100 107 140 145 175 181");
    let mut session = session(&[
        "u_initial_from_file=true",
        &format!("u_initial_filename={}", u.display()),
        &format!("dir_filename={}", wells.display()),
        "v_from_file=true",
        &format!("v_filename={}", v.display()),
    ]);
    let records = session.record_outputs();
    let cells = session.domain(ALL_CELLS).unwrap();
    let boundary = session.domain(BOUNDARY_FACES).unwrap();
    let CollectionInput::Values(given) = session.inputs().collection("u_initial", &cells).unwrap() else { panic!("from a file") };
    for cell in 0..35 {
        assert_eq!(given[cell as usize], f64::from(session.grid().file_index(EntityKind::Cell, cell)) + 0.5);
    }
    let part = session.inputs().domain("dir", &boundary).unwrap();
    assert!(part.elements().is_sorted());
    let CollectionInput::Values(on_part) = session.inputs().collection("v", &part).unwrap() else { panic!("from a file") };
    for (&face, &value) in part.elements().iter().zip(on_part.iter()) {
        assert_eq!(value, 100.0 + f64::from(session.grid().file_index(EntityKind::Face, face)));
    }
    session.outputs().collection("u", &cells, &given).unwrap();
    session.outputs().collection("v", &part, &on_part).unwrap();
    session.outputs().vectors("w", &part, &[&on_part, &on_part]).unwrap();
    session.outputs().entities("faces", &part, EntityKind::Face, part.elements()).unwrap();
    session.outputs().entities("none", &part, EntityKind::Cell, &[NONE; 6]).unwrap();
    let collection = |tag: &str, values: &[f64]| Record::Collection { tag: tag.to_string(), values: values.to_vec() };
    let faces = [0.0, 7.0, 40.0, 45.0, 75.0, 81.0];
    let both = |value: f64| vec![100.0 + value, 100.0 + value];
    let expected = [
        collection("u", &values),
        collection("v", &faces.map(|face| 100.0 + face)),
        Record::Vectors { tag: "w".to_string(), values: faces.map(both).to_vec() },
        collection("faces", &faces),
        collection("none", &[-1.0; 6]),
    ];
    assert_eq!(records.take(), expected);
}

/// Messages speak of the file.
#[test]
fn a_bad_element_is_named_as_in_the_file() {
    let dir = fresh_dir("renumbered_domain");
    // Face 1 is the first interior one of 7 x 5 cells.
    let wells = file(&dir, "dir.txt", "0 1");
    let mut session = session(&[&format!("dir_filename={}", wells.display())]);
    let boundary = session.domain(BOUNDARY_FACES).unwrap();
    let error = session.inputs().domain("dir", &boundary).unwrap_err();
    assert!(error.message.ends_with("dir.txt:1:3: face 1 is not in BoundaryFaces()"), "{}", error.message);
}

/// Positions in the order of the file, of sets of every kind.
#[test]
fn domains_know_the_order_of_the_file() {
    let grid = renumbered(shuffled(6, 5), Renumber::Yes).shared();
    for set in SETS {
        let domain = Domain::canonical(&grid, set).unwrap();
        let there: Vec<u32> = domain.elements().iter().map(|&e| grid.file_index(set.kind, e)).collect();
        let ordered = domain.in_file_order(&there);
        assert!(ordered.is_sorted(), "{set:?}");
        assert_eq!(domain.from_file_order(ordered.to_vec()), there);
    }
    let cells = Domain::canonical(&grid, ALL_CELLS).unwrap();
    // Two cells whose order is that of the file need no order of their own.
    let (first, last) = (grid.entity_of_file(EntityKind::Cell, 0), grid.entity_of_file(EntityKind::Cell, 59));
    let pair = Domain::subset("pair", &cells, vec![first.min(last), first.max(last)]).unwrap();
    assert_eq!(pair.file_order().is_none(), first < last);
}

#[test]
fn bad_words_are_refused_and_useless_ones_warned_of() {
    let error = open(&["renumber=fast"]).map(|_| ()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Data);
    assert_eq!(error.message, "parameter `renumber` must be `auto`, `no` or `yes`, not `fast`");
    let cartesian = open(&["nx=4", "renumber=yes"]).unwrap();
    let warnings = cartesian.unused_parameters();
    assert!(warnings.iter().any(|w| w.contains("`renumber`") && w.contains("has no effect")), "{warnings:?}");
    assert!(!open(&["renumber=auto"]).unwrap().unused_parameters().iter().any(|w| w.contains("renumber")));
    // A grid given by hand is renumbered too.
    let mut session = Session::on_grid(heat(), parameters(&["renumber=yes"]), plane(), Options::silent()).unwrap();
    session.grid_domains().renumber();
    assert!(session.grid().is_renumbered());
}

/// Neighbours are near each other in the order of rows, so that cells keep it; then faces can keep
/// the file's order too, among the interior and among the boundary faces.
#[test]
fn faces_can_keep_the_order_of_the_file() {
    let mut grid = Grid::cartesian(Cartesian::plane([110, 100], [1.0, 1.0])).unwrap().as_unstructured();
    grid.renumber_with(Renumber::Auto, FaceOrder::OfFile);
    let interior = grid.interior_faces_first().unwrap() as u32;
    assert_eq!(interior, 109 * 100 + 110 * 99);
    assert_eq!(grid.file_index(EntityKind::Cell, 10_999), 10_999);
    let ascends = |from: u32, to: u32| {
        (from + 1..to).all(|face| grid.file_index(EntityKind::Face, face - 1) < grid.file_index(EntityKind::Face, face))
    };
    assert!(ascends(0, interior) && ascends(interior, grid.n_faces() as u32));
    // A cell has faces along either axis: by cells, they would stand beside each other.
    assert_eq!((grid.file_index(EntityKind::Face, 0), grid.file_index(EntityKind::Face, 1)), (1, 2));
}
