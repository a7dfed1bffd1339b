//! Cartesian grids: numbering, orientation, geometry, canonical sets.

use equelle_runtime::grid::{Cartesian, Grid, NONE};
use equelle_runtime::{EntityKind, ErrorKind};

use crate::common::*;

fn sample_shapes() -> Vec<Cartesian> {
    vec![
        Cartesian::line(1, 2.0),
        Cartesian::line(2, 0.1),
        Cartesian::line(7, 0.1),
        Cartesian::plane([1, 1], [1.0, 1.0]),
        Cartesian::plane([6, 1], [1.0, 1.0]),
        Cartesian::plane([1, 5], [0.3, 0.7]),
        Cartesian::plane([2, 2], [1.0, 1.0]),
        Cartesian::plane([4, 3], [0.5, 0.3]),
        Cartesian::block([1, 1, 1], [1.0, 1.0, 1.0]),
        Cartesian::block([4, 3, 1], [1.0, 1.0, 1.0]),
        Cartesian::block([3, 3, 3], [1.0, 2.0, 3.0]),
        Cartesian::block([5, 4, 3], [0.1, 0.2, 0.3]),
        Cartesian::block([2, 3, 4], [0.1, 0.2, 0.3]),
    ]
}

#[test]
fn a_small_grid_worked_out_by_hand() {
    let grid = four_by_three();
    assert_eq!((grid.dim(), grid.n_cells(), grid.n_faces()), (2, 12, 31));
    assert_eq!(grid.canonical_elements(INTERIOR_CELLS).unwrap(), [5, 6]);
    assert_eq!(grid.canonical_elements(BOUNDARY_CELLS).unwrap(), [0, 1, 2, 3, 4, 7, 8, 9, 10, 11]);
    let interior: Vec<u32> = [1, 2, 3, 6, 7, 8, 11, 12, 13].into_iter().chain(19..=26).collect();
    assert_eq!(grid.canonical_elements(INTERIOR_FACES).unwrap(), interior);

    // Widths are differences of rounded positions, so measures agree with 0.15, 0.3 and 0.5 to a
    // few units in the last place of the positions: 3 * 0.3 is off by 1e-16.
    let geometry = grid.geometry();
    assert!(geometry.cell_volumes.iter().all(|v| (v - 0.15).abs() < 1e-15));
    assert!(geometry.face_areas[..15].iter().all(|a| (a - 0.3).abs() < 1e-15));
    assert!(geometry.face_areas[15..].iter().all(|a| (a - 0.5).abs() < 1e-15));

    // All numbers here are small integers: exact.
    let a = [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 120.0, 140.0, 160.0, 180.0, 200.0, 220.0];
    let gradient = gradient(&grid, &a);
    assert_eq!(gradient, [5.0, 5.0, 5.0, 5.0, 95.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 110.0, 125.0, 140.0, 155.0, 80.0, 80.0]);
    assert_eq!(divergence(&grid, &gradient), [25.0, 20.0, 110.0, 120.0, 125.0, 225.0, -105.0, -65.0, -120.0, -155.0, -80.0, -100.0]);
}

#[test]
fn one_dimension_is_its_own() {
    let grid = Grid::cartesian(Cartesian::line(4, 0.25)).unwrap();
    assert_eq!((grid.dim(), grid.n_cells(), grid.n_faces()), (1, 4, 5));
    assert_eq!(grid.canonical_elements(BOUNDARY_CELLS).unwrap(), [0, 3]);
    assert_eq!(grid.canonical_elements(INTERIOR_FACES).unwrap(), [1, 2, 3]);
    assert_eq!(grid.topology().face_cells, [[NONE, 0], [0, 1], [1, 2], [2, 3], [3, NONE]]);
    assert_eq!(grid.topology().cell_faces, [0, 1, 1, 2, 2, 3, 3, 4]);
    let geometry = grid.geometry();
    assert_eq!(geometry.face_areas, [1.0; 5]);
    // Multiples of 1/4 are exact.
    assert_eq!(geometry.cell_volumes, [0.25; 4]);
    assert_eq!(geometry.cell_centroids[3], [0.875, 0.0, 0.0]);
    assert_eq!(geometry.face_centroids[4], [1.0, 0.0, 0.0]);
    assert_eq!(geometry.face_normals[0], [1.0, 0.0, 0.0]);
}

#[test]
fn two_dimensions_one_cell_high() {
    // The default grid: every cell touches the boundary.
    let grid = Grid::cartesian(Cartesian::plane([6, 1], [1.0, 1.0])).unwrap();
    assert_eq!(grid.n_faces(), 7 + 12);
    assert_eq!(grid.canonical_elements(INTERIOR_CELLS).unwrap(), [0u32; 0]);
    assert_eq!(grid.canonical_elements(INTERIOR_FACES).unwrap(), [1, 2, 3, 4, 5]);
}

#[test]
fn three_dimensions() {
    let (nx, ny, nz) = (3, 2, 2);
    let grid = Grid::cartesian(Cartesian::block([nx, ny, nz], [1.0, 2.0, 4.0])).unwrap();
    // 4*2*2 x-faces, 3*3*2 y-faces, 3*2*3 z-faces.
    assert_eq!((grid.n_cells(), grid.n_faces()), (12, 16 + 18 + 18));
    let (topology, geometry) = (grid.topology(), grid.geometry());
    // Cell (1,1,1) = 1 + 3*(1 + 2*1) = 10: x-faces 1 + 4*(1 + 2) = 13 and 14; y-faces 16 + 1 +
    // 3*(1 + 3*1) = 29 and 32; z-faces 34 + 1 + 3*(1 + 2*1) = 44 and 50.
    assert_eq!(topology.faces_of(10), [13, 14, 29, 32, 44, 50]);
    assert_eq!(topology.face_cells[13], [9, 10]);
    assert_eq!(topology.face_cells[29], [7, 10]);
    assert_eq!(topology.face_cells[32], [10, NONE]);
    assert_eq!(topology.face_cells[44], [4, 10]);
    assert_eq!(topology.face_cells[34], [NONE, 0]);
    assert_eq!(geometry.cell_volumes, [8.0; 12]);
    assert_eq!((geometry.face_areas[13], geometry.face_areas[29], geometry.face_areas[44]), (8.0, 4.0, 2.0));
    assert_eq!(geometry.cell_centroids[10], [1.5, 3.0, 6.0]);
    assert_eq!(geometry.face_centroids[29], [1.5, 2.0, 6.0]);
    // Along positive axes, into the domain on the low boundary.
    assert_eq!(
        (geometry.face_normals[0], geometry.face_normals[29], geometry.face_normals[34]),
        ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    );
}

#[test]
fn widths_are_differences_of_positions() {
    let grid = Grid::cartesian(Cartesian::line(3, 0.1)).unwrap();
    // 3 * 0.1 is 0.30000000000000004, so the last width is one rounding away from 0.1.
    assert_eq!(grid.geometry().cell_volumes, [0.1, 0.1, 3.0 * 0.1 - 2.0 * 0.1]);
    assert_ne!(grid.geometry().cell_volumes[2], 0.1);
}

#[test]
fn closed_form_agrees_with_the_arrays() {
    for shape in sample_shapes() {
        let grid = Grid::cartesian(shape).unwrap();
        let topology = grid.topology();
        assert_consistent(&grid);
        for face in 0..shape.n_faces() {
            assert_eq!(shape.face(shape.face_ijk(face)), face, "{shape:?}");
            assert_eq!(shape.face_cells(face), topology.face_cells[face], "{shape:?}, face {face}");
            assert_eq!(shape.is_boundary_face(face), topology.is_boundary_face(face));
        }
        for cell in 0..shape.n_cells() {
            assert_eq!(shape.cell(shape.cell_ijk(cell)), cell, "{shape:?}");
            assert_eq!(shape.is_boundary_cell(cell), topology.is_boundary_cell(cell));
            let faces: Vec<u32> = (0..shape.dim).flat_map(|a| [false, true].map(|high| shape.cell_face(cell, a, high) as u32)).collect();
            assert_eq!(faces, topology.faces_of(cell), "{shape:?}, cell {cell}");
        }
        for set in SETS {
            let elements = grid.canonical_elements(set).unwrap();
            assert_eq!(shape.set_len(set), elements.len(), "{shape:?} {set:?}");
            let n = grid.n_entities(set.kind).unwrap() as u32;
            for entity in 0..n + 2 {
                let rank = elements.binary_search(&entity).ok().map(|rank| rank as u32);
                assert_eq!(shape.set_rank(set, entity), rank, "{shape:?} {set:?} {entity}");
            }
            if set.kind == EntityKind::Face {
                let listed: Vec<u32> = (0..).map_while(|rank| shape.face_at(set.extent, rank)).collect();
                assert_eq!(listed, elements, "{shape:?} {set:?}");
            }
        }
    }
}

#[test]
fn cells_are_closed() {
    for shape in sample_shapes() {
        let grid = Grid::cartesian(shape).unwrap();
        // Opposite faces have areas computed from the same widths: the sum is exactly zero.
        assert_eq!(worst_closure(&grid), 0.0, "{shape:?}");
        // Divergence theorem for the position: volume = sum of position . outward area vector /
        // dim. Rounding: 6 terms, positions below 10 times a width, each with a relative error of
        // 1e-16.
        let (topology, geometry) = (grid.topology(), grid.geometry());
        for cell in 0..grid.n_cells() {
            let mut sum = 0.0;
            for &face in topology.faces_of(cell) {
                let face = face as usize;
                let sign = if topology.face_cells[face][0] == cell as u32 { 1.0 } else { -1.0 };
                let along: f64 = geometry.face_centroids[face].iter().zip(geometry.face_normals[face]).map(|(x, n)| x * n).sum();
                sum += sign * along * geometry.face_areas[face];
            }
            let volume = geometry.cell_volumes[cell];
            assert!((sum / shape.dim as f64 - volume).abs() < 1e-13 * volume, "{shape:?}, cell {cell}");
        }
    }
}

#[test]
fn treated_as_unstructured() {
    let grid = four_by_three();
    assert!(grid.cartesian_shape().is_some());
    let plain = four_by_three().as_unstructured();
    assert!(plain.cartesian_shape().is_none());
    assert_eq!(plain.topology(), grid.topology());
    assert_eq!(plain.geometry(), grid.geometry());
    for set in SETS {
        assert_eq!(plain.canonical_elements(set).unwrap(), grid.canonical_elements(set).unwrap());
    }
}

#[test]
fn shapes_that_no_grid_has() {
    let refused = |shape: Cartesian, what: &str| {
        let error = Grid::cartesian(shape).expect_err(what);
        assert_eq!(error.kind, ErrorKind::Data);
        assert!(error.message.contains(what), "{}", error.message);
    };
    refused(Cartesian { dim: 0, n: [1; 3], spacing: [1.0; 3], joined: [false; 3], place: None }, "not 0");
    refused(Cartesian { dim: 4, n: [1; 3], spacing: [1.0; 3], joined: [false; 3], place: None }, "not 4");
    refused(Cartesian { dim: 2, n: [4, 3, 2], spacing: [1.0; 3], joined: [false; 3], place: None }, "one layer of cells along z");
    refused(Cartesian::plane([4, 0], [1.0, 1.0]), "no cells along y");
    refused(Cartesian::plane([4, 3], [1.0, -1.0]), "along y must be positive");
    refused(Cartesian::plane([4, 3], [f64::NAN, 1.0]), "along x must be positive");
    refused(Cartesian::line(10, f64::MAX), "beyond the range");
    refused(Cartesian::line(u32::MAX as usize, 1.0), "too many cells");
    refused(Cartesian::line(u32::MAX as usize - 1, 1.0), "too many faces");
    refused(Cartesian::block([2000, 2000, 2000], [1.0; 3]), "too many cells");
    // 1300^3 = 2.2e9 cells fit, their 6.6e9 faces do not.
    refused(Cartesian::block([1300, 1300, 1300], [1.0; 3]), "too many faces");
    refused(Cartesian::block([usize::MAX; 3], [1.0; 3]), "too many cells");
    refused(Cartesian::block([usize::MAX, 1, 1], [1e-300, 1.0, 1.0]), "too many cells");
}
