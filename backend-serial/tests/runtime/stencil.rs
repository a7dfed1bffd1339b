//! Rows of equations: closed form against what a kernel tells, memory, and what is refused.

use backend_serial::runtime::stencil::{Reach, RowEntries};
use backend_serial::runtime::{ScalarCollection, SerialRuntime};
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::*;

use crate::common::{ALL_CELLS, session};

const KERNEL: KernelInfo =
    KernelInfo { name: "residual", lines: &[], set: None, bytes: KernelBytes::NONE, takes_joined_sides: false, halo_layers: 0 };
const OTHER: KernelInfo =
    KernelInfo { name: "told", lines: &[], set: None, bytes: KernelBytes::NONE, takes_joined_sides: false, halo_layers: 0 };
const ALL: Reach = Reach { own: true, low: true, high: true };

fn runtime(shape: Cartesian) -> SerialRuntime {
    SerialRuntime::new(session(Grid::cartesian(shape).expect("a valid shape")))
}

/// Groups of unknowns on all cells.
fn unknowns(rt: &mut SerialRuntime, count: usize) -> Result<Vec<ScalarCollection>, Error> {
    let cells = rt.domain(ALL_CELLS)?;
    let n = rt.grid().n_cells();
    let zeros = rt.scalar_collection(&cells, vec![0.0; n])?;
    (0..count).map(|k| rt.unknown(&zeros, k * n, count * n)).collect()
}

/// The same rows as those told cell by cell from the numbering of the grid, for shapes with single
/// layers, of one unknown and of two that reach differently.
#[test]
fn closed_form_is_what_kernels_tell() -> Result<(), Error> {
    let shapes = [
        Cartesian::line(5, 0.5),
        Cartesian::line(1, 0.5),
        Cartesian::plane([4, 3], [0.5, 0.25]),
        Cartesian::plane([1, 3], [0.5, 0.25]),
        Cartesian::block([3, 4, 5], [0.5, 0.25, 2.0]),
        Cartesian::block([3, 1, 2], [0.5, 0.25, 2.0]),
    ];
    let reaches: [&[Reach]; 3] = [&[ALL], &[ALL, Reach { own: true, low: false, high: false }], &[Reach { high: false, ..ALL }, ALL]];
    for (shape, reach) in shapes.into_iter().flat_map(|shape| reaches.map(|reach| (shape, reach))) {
        let mut rt = runtime(shape);
        let u = unknowns(&mut rt, reach.len())?;
        let u: Vec<&ScalarCollection> = u.iter().collect();
        let domain = rt.domain(ALL_CELLS)?;
        let grid = rt.cartesian_grid().expect("a Cartesian grid");
        let closed = rt.cartesian_stencil(&KERNEL, &grid, &domain, &u, reach)?;
        let told = rt.stencil(&OTHER, &domain, &u, &[], |_, pattern| {
            for cell in 0..shape.n_cells() {
                for (k, reach) in reach.iter().enumerate() {
                    let [i, j, l] = shape.cell_ijk(cell);
                    if reach.own {
                        pattern.add(k, cell);
                    }
                    for (axis, at) in [i, j, l].into_iter().enumerate().take(shape.dim) {
                        if reach.low && at > 0 {
                            pattern.add(k, cell - shape.stride(axis));
                        }
                        if reach.high && at + 1 < shape.n[axis] {
                            pattern.add(k, cell + shape.stride(axis));
                        }
                    }
                }
                pattern.end_row();
            }
            Ok(())
        })?;
        assert_eq!(closed.row_ptr(), told.row_ptr(), "{shape:?} {reach:?}");
        assert_eq!(closed.columns(), told.columns(), "{shape:?} {reach:?}");
        assert!(!std::rc::Rc::ptr_eq(&closed, &told));
        let again = rt.cartesian_stencil(&KERNEL, &grid, &domain, &u, reach)?;
        assert!(std::rc::Rc::ptr_eq(&closed, &again), "built once");
    }
    Ok(())
}

/// Entries go by ascending column: beyond the low sides last axis first, the cell, beyond the high
/// sides.
#[test]
fn rows_are_written_by_ascending_column() {
    let grid = runtime(Cartesian::block([3, 4, 5], [1.0; 3])).cartesian_grid().expect("a Cartesian grid");
    let (low, high) = ([1.0, 2.0, 3.0], [5.0, 6.0, 7.0]);
    let mut inside = [0.0; 7];
    let mut row = RowEntries::new(&mut inside);
    row.low::<3>(low);
    row.own(4.0);
    row.high::<3>(high);
    assert_eq!(inside, [3.0, 2.0, 1.0, 4.0, 5.0, 6.0, 7.0]);
    let mut corner = [0.0; 4];
    let mut row = RowEntries::new(&mut corner);
    row.low_within::<3>([2, 0, 4], low);
    row.own(4.0);
    row.high_within::<3>(&grid, [2, 0, 4], high);
    assert_eq!(corner, [3.0, 1.0, 4.0, 6.0]);
}

/// Beside the matrix that they are shared with, rows in closed form need nothing, and others 2
/// bytes an addition: far below half a matrix. `[12 bytes an entry and 8 a row]`
#[test]
fn memory_beside_the_matrix() -> Result<(), Error> {
    let shape = Cartesian::block([32, 32, 32], [1.0; 3]);
    let mut rt = runtime(shape);
    let u = unknowns(&mut rt, 1)?;
    let domain = rt.domain(ALL_CELLS)?;
    let grid = rt.cartesian_grid().expect("a Cartesian grid");
    let closed = rt.cartesian_stencil(&KERNEL, &grid, &domain, &[&u[0]], &[ALL])?;
    // 7 a cell, less one for each of the 6 * 32^2 boundary faces.
    let (n, entries) = (32_usize.pow(3), 7 * 32_usize.pow(3) - 6 * 32_usize.pow(2));
    assert_eq!(closed.entries(), entries);
    let matrix = 12 * entries + 8 * (n + 1);
    assert_eq!(closed.bytes(), matrix - 8 * entries, "row pointers and columns, which the matrix shares");
    let told = rt.stencil(&OTHER, &domain, &[&u[0]], &[], |rt, pattern| {
        let grid = rt.shared_grid();
        let topology = grid.topology();
        for cell in 0..n as u32 {
            pattern.add(0, cell as usize);
            for &face in topology.faces_of(cell as usize) {
                for beyond in topology.face_cells[face as usize].into_iter().filter(|&c| c != equelle_runtime::grid::NONE && c != cell) {
                    pattern.add(0, beyond as usize);
                }
            }
            pattern.end_row();
        }
        Ok(())
    })?;
    let all = told.bytes() + 8 * told.entries();
    assert!(all * 2 <= 3 * matrix, "{all} bytes beside a matrix of {matrix}");
    Ok(())
}

fn refusal<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("not refused"),
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::Backend);
            error.message
        }
    }
}

#[test]
fn what_no_stencil_can_have_is_refused() -> Result<(), Error> {
    let mut rt = runtime(Cartesian::line(4, 1.0));
    let cells = rt.domain(ALL_CELLS)?;
    let grid = rt.cartesian_grid().expect("a Cartesian grid");
    let plain = rt.scalar_collection(&cells, vec![0.0; 4])?;
    let message = refusal(rt.cartesian_stencil(&KERNEL, &grid, &cells, &[&plain], &[ALL]));
    assert!(message.contains("an unknown without derivatives"), "{message}");
    let message = refusal(rt.stencil(&KERNEL, &cells, &[&plain], &[], |_, _| Ok(())));
    assert!(message.contains("an unknown without derivatives"), "{message}");

    let faces = rt.domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let of_faces = rt.scalar_collection(&faces, vec![0.0; 3])?;
    let of_faces = rt.unknown(&of_faces, 0, 3)?;
    let message = refusal(rt.cartesian_stencil(&KERNEL, &grid, &cells, &[&of_faces], &[ALL]));
    assert!(message.contains("not over the cells of the grid"), "{message}");

    let u = unknowns(&mut rt, 2)?;
    let message = refusal(rt.cartesian_stencil(&KERNEL, &grid, &faces, &[&u[0], &u[1]], &[ALL, ALL]));
    assert!(message.contains("not over the cells of the grid"), "{message}");
    let message = refusal(rt.cartesian_stencil(&KERNEL, &grid, &cells, &[&u[1], &u[0]], &[ALL, ALL]));
    assert!(message.contains("in another order"), "{message}");

    // Slots are numbered with 16 bits.
    let mut rt = runtime(Cartesian::line(70_000, 1.0));
    let u = unknowns(&mut rt, 1)?;
    let cells = rt.domain(ALL_CELLS)?;
    let long = |_: &mut SerialRuntime, pattern: &mut backend_serial::runtime::stencil::Pattern| {
        for row in 0..70_000 {
            (0..if row == 0 { 66_000 } else { 1 }).for_each(|column| pattern.add(0, column));
            pattern.end_row();
        }
        Ok(())
    };
    let message = refusal(rt.stencil(&KERNEL, &cells, &[&u[0]], &[], long));
    assert!(message.contains("rows that cannot be kept"), "{message}");
    Ok(())
}
