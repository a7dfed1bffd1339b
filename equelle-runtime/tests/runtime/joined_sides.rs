//! Grids with joined sides, against what is told by hand and against grids that are larger.

use equelle_runtime::grid::{Cartesian, Grid, JoinedSides, NONE, Named, NamedArray, NamedSet, Renumber};
use equelle_runtime::session::grid_from_parameters;
use equelle_runtime::{CanonicalSet, Domain, EntityKind, Extent, Parameters};

use crate::triangles::{Order, triangles};

fn periodic(words: &[&str]) -> Grid {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    grid_from_parameters(&Parameters::from_words(&words).unwrap()).unwrap()
}

fn refused(words: &[&str]) -> (String, String) {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    let error = grid_from_parameters(&Parameters::from_words(&words).unwrap()).unwrap_err();
    (error.message, error.hint.unwrap_or_default())
}

/// From the first cell of a face to the second one, seen through the face.
fn across(grid: &Grid, face: usize) -> [f64; 3] {
    let (geometry, [first, second]) = (grid.geometry(), grid.topology().face_cells[face]);
    let gap = geometry.face_gap(face);
    std::array::from_fn(|axis| geometry.cell_centroids[second as usize][axis] + gap[axis] - geometry.cell_centroids[first as usize][axis])
}

/// On a torus each cell has a neighbour on each side, a cell's width away along the normal.
#[test]
fn a_torus_has_no_boundary() {
    let cases: [(&[&str], usize, [f64; 3]); 3] = [
        (&["grid_dim=1", "nx=5", "dx=0.5", "grid_periodic=x-:x+"], 1, [0.5, 0.0, 0.0]),
        (&["nx=3", "ny=4", "dx=0.5", "dy=0.25", "grid_periodic=x-:x+, y+:y-"], 2, [0.5, 0.25, 0.0]),
        (&["grid_dim=3", "nx=2", "ny=3", "nz=4", "grid_periodic=x-:x+,y-:y+,z-:z+"], 3, [1.0; 3]),
    ];
    for (words, dim, widths) in cases {
        let grid = periodic(words);
        assert_eq!((grid.dim(), grid.n_faces()), (dim, dim * grid.n_cells()), "{words:?}");
        assert!(grid.cartesian_shape().is_none());
        for face in 0..grid.n_faces() {
            assert!(!grid.topology().face_cells[face].contains(&NONE), "{words:?} face {face}");
            let normal = grid.geometry().face_normals[face];
            let expected: [f64; 3] = std::array::from_fn(|axis| normal[axis] * widths[axis]);
            assert_eq!(across(&grid, face), expected, "{words:?} face {face}");
        }
        for cell in 0..grid.n_cells() {
            assert_eq!(grid.topology().faces_of(cell).len(), 2 * dim);
            // In the order of a Cartesian grid: low and high side of each axis.
            for (at, &face) in grid.topology().faces_of(cell).iter().enumerate() {
                assert_eq!(grid.geometry().face_normals[face as usize][at / 2], 1.0, "{words:?} cell {cell}");
                assert_eq!(grid.topology().face_cells[face as usize][1 - at % 2], cell as u32);
            }
        }
    }
}

/// Cells have the corners that they had, faces those of their first cell.
#[test]
fn cells_keep_their_corners() {
    for words in [
        &["grid_dim=1", "nx=3", "grid_periodic=x-:x+"][..],
        &["nx=3", "ny=2", "dx=0.5, 1, 2", "grid_periodic=y-:y+"],
        &["grid_dim=3", "nx=2", "ny=2", "nz=2", "grid_periodic=z-:z+"],
    ] {
        let joined = periodic(words);
        let open = periodic(&words[..words.len() - 1]);
        assert_eq!(joined.corner_positions().unwrap(), open.corner_positions().unwrap());
        let (a, b) = (joined.corners(EntityKind::Cell).unwrap().unwrap(), open.corners(EntityKind::Cell).unwrap().unwrap());
        let sorted = |corners: &[u32]| {
            let mut corners = corners.to_vec();
            corners.sort_unstable();
            corners
        };
        for cell in 0..open.n_cells() {
            assert_eq!((a.shapes()[cell], sorted(a.of(cell))), (b.shapes()[cell], sorted(b.of(cell))), "{words:?} {cell}");
        }
        assert_eq!(joined.geometry().cell_volumes, open.geometry().cell_volumes);
        assert!(joined.n_faces() < open.n_faces());
    }
}

/// Two cells of one width between the sides have two faces in common.
#[test]
fn two_cells_across_meet_twice() {
    let grid = periodic(&["nx=2", "ny=1", "grid_periodic=x-:x+"]);
    assert_eq!(grid.topology().face_cells.iter().filter(|cells| !cells.contains(&NONE)).count(), 2);
    let (message, hint) = refused(&["nx=1", "ny=3", "grid_periodic=x-:x+"]);
    assert_eq!(
        message,
        "parameter `grid_periodic` (command line): sides cannot be joined: cell 0 has a face on `x-` and its partner on `x+`"
    );
    assert!(hint.contains("two cells or more"), "{hint}");
}

#[test]
fn sides_that_do_not_meet_are_refused() {
    let of = |sides: &str| refused(&["nx=3", "ny=3", &format!("grid_periodic={sides}")]);
    assert!(
        of("x-:y+").0.ends_with("face 0 of `x-` at (0, 0.5) meets no face of `y+`: face 22 is nearest, 1.000e0 m off"),
        "{:?}",
        of("x-:y+")
    );
    assert!(of("x-:x-").0.contains("does not face"), "{:?}", of("x-:x-"));
    assert!(of("x-:x+,x+:x-").0.contains("is on two sides that are joined"));
    assert_eq!(of("west:x+").0, "parameter `grid_periodic` (command line): sides cannot be joined: there is no side `west`");
    assert_eq!(of("west:x+").1, "the sides are x-, x+, y-, y+");
    assert_eq!(of("x-").0, "parameter `grid_periodic` (command line): sides cannot be joined: expected two sides with a colon, found `x-`");
    assert!(refused(&["grid_dim=1", "grid_periodic=y-:y+"]).0.contains("there is no side `y-`"));
}

/// Sides of a mesh by named sets: graded alike, differently, with another number of faces, and with
/// a face inside.
#[test]
fn sides_of_meshes_are_matched_by_place() {
    let mesh = |widths: [&[f64]; 2]| {
        let grid = Grid::rectilinear(2, [widths[0], widths[1], &[]]).unwrap().as_unstructured();
        grid.with_named(Named::default()).unwrap()
    };
    let named = |grid: Grid, sets: &[(&str, Vec<u32>)]| {
        let mut named = Named::default();
        for (name, members) in sets {
            named.add_set(NamedSet { name: (*name).into(), kind: EntityKind::Face, members: members.clone() }).unwrap();
        }
        named
            .add_array(NamedArray { name: "n".into(), kind: EntityKind::Face, values: (0..grid.n_faces()).map(|n| n as f64).collect() })
            .unwrap();
        grid.with_named(named).unwrap()
    };
    // Four faces along x in each of two rows: 0..4, 4..8; then along y.
    let widths: [&[f64]; 2] = [&[1.0, 1.0, 1.0], &[0.25, 0.75]];
    let grid = named(mesh(widths), &[("west", vec![0, 4]), ("east", vec![3, 7]), ("all", vec![0, 1, 7])]);
    let joined = grid.clone().with_periodic_sides("west:east").unwrap();
    assert_eq!(joined.notes(), ["`west` and `east` are joined, 2 faces"]);
    assert_eq!(joined.n_faces(), grid.n_faces() - 2);
    // Faces 0 and 4 are gone: 3 and 7 become 2 and 5.
    let members = |name: &str| joined.named().set(EntityKind::Face, name).unwrap().members.clone();
    assert_eq!((members("west"), members("east"), members("all")), (vec![2, 5], vec![2, 5], vec![0, 2, 5]));
    assert_eq!(joined.named().array(EntityKind::Face, "n").unwrap().values[..6], [1.0, 2.0, 3.0, 5.0, 6.0, 7.0]);
    let message = |grid: Grid, sides: &str| grid.with_periodic_sides(sides).unwrap_err().message;
    let grid = named(mesh(widths), &[("west", vec![0, 4]), ("east", vec![3]), ("inner", vec![1, 5])]);
    assert_eq!(message(grid.clone(), "west:east"), "sides cannot be joined: `west` has 2 faces and `east` has 1");
    assert_eq!(message(grid, "west:inner"), "sides cannot be joined: face 1 of `inner` is no boundary face");
    // A mesh whose sides differ: cut from rows of other heights.
    let (low, high) = (JoinedSides { names: ["a".into(), "b".into()], faces: [vec![0, 4], vec![8, 9]] }, widths);
    let error = mesh(high).with_joined_sides(&[low]).unwrap_err();
    assert!(error.message.contains("meets no face of `b`"), "{}", error.message);
}

/// Periodic triangles in a random order: each joined face is the one that a larger mesh has inside.
#[test]
fn joined_triangles_are_renumbered_as_others() {
    let text = triangles(4, 3, Order::Shuffled);
    let open = equelle_runtime::grid::io::opm::read_text("t".as_ref(), text.as_bytes()).unwrap();
    let mut grid = open.clone().with_periodic_sides("x-:x+").unwrap();
    assert_eq!(grid.n_faces(), open.n_faces() - 3);
    let sum = |grid: &Grid| {
        let mut lengths: Vec<f64> = (0..grid.n_faces())
            .filter(|&face| !grid.topology().face_cells[face].contains(&NONE))
            .map(|face| across(grid, face).iter().map(|x| x * x).sum::<f64>().sqrt())
            .collect();
        lengths.sort_by(f64::total_cmp);
        lengths
    };
    let before = sum(&grid);
    assert!(before.last().unwrap() < &1.5, "a face leads across the grid: {before:?}");
    grid.renumber(Renumber::Yes);
    assert!(grid.is_renumbered());
    assert_eq!(sum(&grid), before);
    assert_eq!(Grid::cartesian(Cartesian::line(3, 1.0)).unwrap().with_periodic_sides("none").unwrap().n_faces(), 4);
}

/// The closed numbering of a Cartesian grid with joined sides is that of its arrays.
#[test]
fn closed_forms_agree_with_the_arrays() {
    let shapes = [
        (Cartesian::line(5, 0.5), &["x-:x+"][..]),
        (Cartesian::plane([4, 3], [0.5, 0.3]), &["x-:x+", "y+:y-", "y-:y+,x+:x-"][..]),
        (Cartesian::plane([2, 2], [0.5, 0.3]), &["x-:x+,y-:y+"]),
        (Cartesian::block([3, 4, 5], [0.5, 0.25, 2.0]), &["x-:x+", "y-:y+", "z-:z+", "x-:x+,z-:z+", "x-:x+,y-:y+,z-:z+"]),
    ];
    for (shape, sides) in shapes {
        for &text in sides {
            let grid = Grid::cartesian(shape).unwrap().with_periodic_sides(text).unwrap();
            assert_eq!(grid.cartesian_shape(), None);
            let closed = *grid.closed_shape().expect("whole sides are joined");
            assert_eq!((0..3).map(|axis| closed.joined[axis]).collect::<Vec<_>>(), ["x", "y", "z"].map(|axis| text.contains(axis)));
            let topology = grid.topology();
            assert_eq!((closed.n_cells(), closed.n_faces()), (grid.n_cells(), grid.n_faces()), "{text}");
            for face in 0..grid.n_faces() {
                assert_eq!(closed.face_cells(face), topology.face_cells[face], "{text}, face {face}");
                assert_eq!(closed.is_boundary_face(face), topology.is_boundary_face(face));
            }
            for cell in 0..grid.n_cells() {
                let faces: Vec<u32> =
                    (0..shape.dim).flat_map(|axis| [false, true].map(|high| closed.cell_face(cell, axis, high) as u32)).collect();
                assert_eq!(faces, topology.faces_of(cell), "{text}, cell {cell}");
                for (axis, high) in (0..shape.dim).flat_map(|axis| [(axis, false), (axis, true)]) {
                    let face = closed.cell_face(cell, axis, high);
                    let at = closed.cell_ijk(cell);
                    assert_eq!(closed.is_boundary_side(axis, at[axis], high), topology.is_boundary_face(face));
                    let beside = closed.layer_beside(axis, at[axis], if high { 1 } else { -1 });
                    let mut next = at;
                    let beside = beside.map(|layer| {
                        next[axis] = layer;
                        closed.cell(next) as u32
                    });
                    // The face is the high side of its first cell.
                    let across = topology.face_cells[face][usize::from(high)];
                    assert_eq!(beside, Some(across).filter(|&across| across != NONE), "{text}, cell {cell}");
                }
            }
            for extent in [Extent::All, Extent::Interior, Extent::Boundary] {
                for kind in [EntityKind::Cell, EntityKind::Face] {
                    let set = CanonicalSet::new(kind, extent);
                    let domain = Domain::canonical(&grid.clone().shared(), set).unwrap();
                    assert_eq!(closed.set_len(set), domain.len(), "{text} {set:?}");
                    for (rank, &element) in domain.elements().iter().enumerate() {
                        assert_eq!(closed.set_rank(set, element), Some(rank as u32), "{text} {set:?}");
                        if kind == EntityKind::Face {
                            assert_eq!(closed.face_at(extent, rank as u32), Some(element));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_part_of_a_side_has_no_closed_form() {
    let grid = Grid::cartesian(Cartesian::plane([2, 2], [1.0, 1.0])).unwrap();
    let face = |cell: usize, high: bool| Cartesian::plane([2, 2], [1.0, 1.0]).cell_face(cell, 0, high) as u32;
    let sides = JoinedSides { names: ["a".into(), "b".into()], faces: [vec![face(0, false)], vec![face(1, true)]] };
    let joined = grid.clone().with_joined_sides(&[sides]).unwrap();
    assert!(joined.has_joined_sides() && joined.closed_shape().is_none());
    let mut renumbered = grid.clone().with_periodic_sides("x-:x+").unwrap();
    renumbered.renumber(Renumber::Auto);
    assert!(renumbered.closed_shape().is_some());
    renumbered.renumber(Renumber::Yes);
    assert!(renumbered.closed_shape().is_none());
    assert!(grid.with_periodic_sides("x-:x+").unwrap().as_unstructured().closed_shape().is_none());
}
