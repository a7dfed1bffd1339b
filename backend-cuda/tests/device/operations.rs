//! The operation level by values worked out by hand, on every device that there is. What the
//! language says of each operation is tested by `tests/conformance`, which runs here too.
#![cfg(feature = "runtime")]

use std::rc::Rc;

use crate::common::{devices, runtime, runtime_in};
use backend_cuda::runtime::Precision;
use backend_cuda::runtime::device::emulator::Emulator;
use backend_cuda::runtime::device::sparse::{Allocate, SparseMatrix, SparseProducts};
use backend_cuda::runtime::device::{Device, DevicePtr};
use backend_cuda::runtime::{Collection, CudaRuntime};
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::operations::*;
use equelle_runtime::{
    BinaryMath, CanonicalSet, DerivativeAccess, Elementary, EntityKind, EquelleRuntime, Error, ErrorKind, Extent, FaceReduction,
    HostAccess, Implicit, Output, Reduction,
};

const ALL_CELLS: CanonicalSet = CanonicalSet::new(EntityKind::Cell, Extent::All);

fn line(device: &Rc<dyn Device>, n: usize, words: &[&str]) -> CudaRuntime {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    runtime(Rc::clone(device), Grid::cartesian(Cartesian::line(n, 1.0)).unwrap(), &words)
}

/// Worked out by hand: 4 x 3 cells with the values c.
#[test]
fn gradient_and_divergence_worked_out_by_hand() {
    for device in devices() {
        let mut rt = runtime(device, Grid::cartesian(Cartesian::plane([4, 3], [0.5, 0.3])).unwrap(), &[]);
        let cells = rt.domain(ALL_CELLS).unwrap();
        let a = [0, 5, 10, 15, 20, 25, 120, 140, 160, 180, 200, 220].map(f64::from);
        let a = rt.scalar_collection(&cells, a.to_vec()).unwrap();
        let gradient = rt.gradient(&a).unwrap();
        let expected = [5, 5, 5, 5, 95, 20, 20, 20, 20, 20, 20, 110, 125, 140, 155, 80, 80].map(f64::from);
        assert_eq!(rt.values(&gradient).unwrap(), expected);
        let divergence = rt.divergence(&gradient).unwrap();
        let expected = [25, 20, 110, 120, 125, 225, -105, -65, -120, -155, -80, -100].map(f64::from);
        assert_eq!(rt.values(&divergence).unwrap(), expected);
    }
}

/// A collection is overwritten in place if nothing else has a handle on it; otherwise a copy is
/// made.
#[test]
fn a_collection_is_given_away_or_copied() {
    for device in devices() {
        let mut rt = line(&device, 3, &[]);
        let cells = rt.domain(ALL_CELLS).unwrap();
        let a = rt.scalar_collection(&cells, vec![1.0, 2.0, 4.0]).unwrap();
        let (address, other) = (a.pointer(), a.clone());
        let copy = rt.in_place(a).unwrap();
        assert_ne!(copy.pointer(), address);
        assert_eq!(rt.values(&copy).unwrap(), [1.0, 2.0, 4.0]);
        let same = rt.in_place(other).unwrap();
        assert_eq!(same.pointer(), address);
        assert_eq!(rt.values(&same).unwrap(), [1.0, 2.0, 4.0]);
    }
}

/// Squares of 3, 1 and 2. Cell 0 sees that of cell 1, cell 1 those of cells 0 and 2, cell 2 that of
/// cell 1. Of equal ones the first counts: cell 1 meets cell 0 before cell 2.
#[test]
fn reductions_over_faces() {
    for device in devices() {
        let mut rt = line(&device, 3, &[]);
        let interior = rt.domain(CanonicalSet::new(EntityKind::Face, Extent::Interior)).unwrap();
        let faces = rt.entities(&interior).unwrap();
        let (first, second) = (rt.first_cell(&faces).unwrap(), rt.second_cell(&faces).unwrap());
        for (guess, reduction, expected, rows) in [
            ([3.0, 1.0, 2.0], FaceReduction::Sum, [1.0, 13.0, 1.0], [vec![(1, 2.0)], vec![(0, 6.0), (2, 4.0)], vec![(1, 2.0)]]),
            ([3.0, 1.0, 2.0], FaceReduction::Max, [1.0, 9.0, 1.0], [vec![(1, 2.0)], vec![(0, 6.0)], vec![(1, 2.0)]]),
            ([3.0, 1.0, 2.0], FaceReduction::Min, [1.0, 4.0, 1.0], [vec![(1, 2.0)], vec![(2, 4.0)], vec![(1, 2.0)]]),
            ([5.0, 5.0, 5.0], FaceReduction::Max, [25.0; 3], [vec![(1, 10.0)], vec![(0, 10.0)], vec![(1, 10.0)]]),
            ([5.0, 5.0, 5.0], FaceReduction::Min, [25.0; 3], [vec![(1, 10.0)], vec![(0, 10.0)], vec![(1, 10.0)]]),
        ] {
            let reduced = |rt: &mut CudaRuntime, u: &Collection| {
                let square = rt.mul(u, u)?;
                let (of_first, of_second) = (rt.on(&square, &first)?, rt.on(&square, &second)?);
                rt.face_reduce(reduction, &of_second, &of_first)
            };
            let cells = rt.domain(ALL_CELLS).unwrap();
            let constant = rt.scalar_collection(&cells, guess.to_vec()).unwrap();
            let values = reduced(&mut rt, &constant).unwrap();
            let values = rt.values(&values).unwrap();
            let found = rows_of(&mut rt, &guess, reduced);
            assert_eq!(values, expected, "{reduction:?}");
            assert_eq!(found, rows, "{reduction:?}");
        }
    }
}

/// Evaluates a residual once and gives the rows of its Jacobian; its value is 0 so that no system
/// is solved.
fn rows_of(
    rt: &mut CudaRuntime,
    guess: &[f64],
    residual: impl Fn(&mut CudaRuntime, &Collection) -> Result<Collection, Error>,
) -> Vec<Vec<(usize, f64)>> {
    let cells = rt.domain(ALL_CELLS).unwrap();
    let guess = rt.scalar_collection(&cells, guess.to_vec()).unwrap();
    let mut rows = Vec::new();
    rt.newton_solve(&guess, &mut |rt, u| {
        let r = residual(rt, u)?;
        rows = rt.derivatives(&r)?;
        // Minus itself: nothing is left of the value, and the derivatives are not asked for.
        let zero = rt.sub(&r, &r)?;
        Ok(zero)
    })
    .unwrap();
    rows
}

/// More rows than two levels of running sums hold, 256 x 256.
#[test]
fn rows_begin_where_the_rows_before_end() {
    for device in devices() {
        let n = 70_000;
        let mut rt = line(&device, n, &[]);
        let guess: Vec<f64> = (0..n).map(|k| k as f64).collect();
        let rows = rows_of(&mut rt, &guess, |rt, u| {
            let gradient = rt.gradient(u)?;
            let divergence = rt.divergence(&gradient)?;
            rt.mul(&divergence, u)
        });
        assert_eq!(rows.len(), n);
        // r_k = (u_(k+1) - 2 u_k + u_(k-1)) u_k, where the sum in brackets is 0 for u_k = k; at the
        // ends one term of the sum is missing.
        assert_eq!(rows[0], [(0, 1.0), (1, 0.0)]);
        for k in [1, 255, 256, 257, 65_535, 65_536, 65_537, n - 2] {
            let u = k as f64;
            assert_eq!(rows[k], [(k - 1, u), (k, -2.0 * u), (k + 1, u)], "row {k}");
        }
        let last = (n - 1) as f64;
        assert_eq!(rows[n - 1], [(n - 2, last), (n - 1, -last - 1.0)]);
    }
}

/// u / sqrt(u^2 + 1) = 0 from 2: the next iterate of u is -u^3, so that Newton's method goes away;
/// shorter steps lead to the root.
#[test]
fn line_search_finds_what_whole_steps_miss() {
    for device in devices() {
        for precision in [Precision::Double, Precision::Single] {
            let solve = |words: &[&str]| {
                let words: Vec<String> = words.iter().map(ToString::to_string).collect();
                let mut rt = runtime_in(precision, Rc::clone(&device), Grid::cartesian(Cartesian::line(2, 1.0)).unwrap(), &words);
                let cells = rt.domain(ALL_CELLS).unwrap();
                let guess = rt.scalar_collection(&cells, vec![2.0, -2.0]).unwrap();
                let solution = rt.newton_solve(&guess, &mut |rt, u| {
                    let one = rt.scalar(1.0);
                    let (square, one) = (rt.mul(u, u)?, rt.broadcast(&one, &rt.domain_of(u))?);
                    let sum = rt.add(&square, &one)?;
                    let root = rt.sqrt(&sum)?;
                    rt.div(u, &root)
                })?;
                rt.values(&solution)
            };
            let missed = solve(&[]).unwrap_err();
            assert_eq!(missed.kind, ErrorKind::Simulation, "{precision:?}: {}", missed.message);
            // The residual is below 1e-6, and there it is u itself up to its third power.
            let u = solve(&["newton_line_search=true"]).unwrap();
            assert!(u.iter().all(|u| u.abs() <= 1e-6), "{precision:?}: {u:?}");
        }
    }
}

/// Data at both ends of a line of five: cell 2 is the first one that looks for another, cell 3.
#[test]
fn an_on_that_finds_no_data_names_the_entity() {
    for device in devices() {
        let mut rt = line(&device, 5, &[]);
        let (all, boundary) = (rt.domain(ALL_CELLS).unwrap(), rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::Boundary)).unwrap());
        let data = rt.scalar_collection(&boundary, vec![1.0, 2.0]).unwrap();
        let target = rt.entity_collection(&all, EntityKind::Cell, vec![Some(0), Some(4), Some(3), Some(1), Some(4)]).unwrap();
        let gathered = rt.on(&data, &target).unwrap();
        let error = rt.output("gathered", &gathered).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Simulation);
        assert_eq!(error.message, "`On` needs data at cell 3, which the data's domain does not hold (target of cell 2)");
    }
}

/// The factor 0.5 / Sqrt(0) is infinite where the constant branch is chosen: its rows are not
/// there.
#[test]
fn a_face_with_two_cells_is_named() {
    for device in devices() {
        let faces_of = |extent, line_number| {
            let mut rt = line(&device, 3, &[]);
            rt.line(line_number);
            let faces = rt.domain(CanonicalSet::new(EntityKind::Face, extent)).unwrap();
            let faces = rt.entities(&faces).unwrap();
            let same = rt.one_cell(&faces).unwrap();
            (rt.entity_indices(&same).unwrap(), rt.finish())
        };
        let (boundary, end) = faces_of(Extent::Boundary, 3);
        assert_eq!((boundary, end), (vec![Some(0), Some(3)], Ok(())));
        let (_, end) = faces_of(Extent::All, 4);
        let error = end.unwrap_err();
        assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Simulation, &[4][..]), "{error}");
        assert!(error.message.ends_with("the one that belongs to face 1"), "{error}");
    }
}

#[test]
fn branches_that_are_not_chosen_have_no_entries() {
    for device in devices() {
        let mut rt = line(&device, 3, &[]);
        let rows = rows_of(&mut rt, &[4.0, -1.0, 16.0], |rt, u| {
            let zero = rt.scalar(0.0);
            let positive = rt.compare(equelle_runtime::Comparison::Greater, u, &zero)?;
            let nothing = rt.broadcast(&zero, &rt.domain_of(u))?;
            let chosen = rt.select(&positive, u, &nothing)?;
            rt.sqrt(&chosen)
        });
        assert_eq!(rows, [vec![(0, 0.25)], vec![], vec![(2, 0.125)]]);
    }
}

/// The same bits as in Rust, in both precisions: special values, and numbers of every size.
#[test]
fn every_function_has_the_bits_of_the_serial_one() {
    let mut numbers =
        vec![0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, f64::INFINITY, -f64::INFINITY, f64::NAN, f64::MAX, 5e-324, 1e-310, 709.0, -745.0];
    let mut state = 1u64;
    for k in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let fraction = (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        // A third near 1, a third moderate, the others of any size.
        numbers.push([2.0 * fraction, 200.0 * fraction, f64::from_bits(state)][k % 3]);
    }
    let others: Vec<f64> = numbers.iter().rev().copied().collect();
    for device in devices() {
        for precision in [Precision::Double, Precision::Single] {
            let grid = Grid::cartesian(Cartesian::line(numbers.len(), 1.0)).unwrap();
            let mut rt = runtime_in(precision, Rc::clone(&device), grid, &[]);
            let cells = rt.domain(ALL_CELLS).unwrap();
            let [a, b] = [&numbers, &others].map(|values| rt.scalar_collection(&cells, values.clone()).unwrap());
            let single = precision == Precision::Single;
            let check = |name: &str, found: &[f64], expected: &dyn Fn(f64, f64) -> f64| {
                for ((&a, &b), &found) in numbers.iter().zip(&others).zip(found) {
                    let expected = expected(a, b);
                    assert!(
                        found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan()),
                        "{name}({a:e}, {b:e}): {found:e}, not {expected:e}"
                    );
                }
            };
            for function in Elementary::ALL {
                let found = rt.elementary(function, &a).unwrap();
                let found = rt.values(&found).unwrap();
                check(function.name(), &found, &|a, _| if single { f64::from(function.of(a as f32)) } else { function.of(a) });
            }
            for function in [BinaryMath::Pow, BinaryMath::ATan2] {
                let found = rt.math(function, &a, &b).unwrap();
                let found = rt.values(&found).unwrap();
                check(&format!("{function:?}"), &found, &|a, b| {
                    if single { f64::from(function.of(a as f32, b as f32)) } else { function.of(a, b) }
                });
            }
        }
    }
}

/// Derivatives of every function at three points: of elementary ones those of the table, which
/// Taylor tests check on the processor, of others by the formulas of a textbook. Two units in the
/// last place of the functions, some roundings beside: 1e-14 of the derivative.
#[test]
fn every_function_has_its_derivative() {
    type Derivative = fn(f64) -> f64;
    let at = [0.5, 1.25, 3.0];
    let fixed = 1.25;
    // By the first number, then by the second. The first one is chosen of equal ones.
    let of_two: [(BinaryMath, Derivative, Derivative); 4] = [
        (BinaryMath::Min, |u| f64::from(u <= 1.25), |u| f64::from(u < 1.25)),
        (BinaryMath::Max, |u| f64::from(u >= 1.25), |u| f64::from(u > 1.25)),
        (BinaryMath::Pow, |u| 1.25 * u.powf(0.25), |u| 1.25f64.powf(u) * 1.25f64.ln()),
        (BinaryMath::ATan2, |u| 1.25 / (u * u + 1.5625), |u| -1.25 / (u * u + 1.5625)),
    ];
    for device in devices() {
        let mut rt = line(&device, 3, &[]);
        let mut compare =
            |what: &str, expected: &dyn Fn(f64) -> f64, f: &dyn Fn(&mut CudaRuntime, &Collection) -> Result<Collection, Error>| {
                let rows = rows_of(&mut rt, &at, f);
                for (cell, (row, u)) in rows.iter().zip(at).enumerate() {
                    let found = row.iter().find(|(column, _)| *column == cell).map_or(0.0, |(_, derivative)| *derivative);
                    assert!((found - expected(u)).abs() <= 1e-14 * expected(u).abs(), "{what} at {u}: {found}, not {}", expected(u));
                }
            };
        for function in Elementary::ALL {
            let scale = function.argument().scale(3.0);
            let expected = |u: f64| scale * function.derivative(scale * u, function.of(scale * u)).factor();
            compare(&format!("{function:?}"), &expected, &|rt, u| {
                let scale = rt.scalar(scale);
                let scaled = rt.mul(u, &scale)?;
                rt.elementary(function, &scaled)
            });
        }
        for (function, first, second) in of_two {
            compare(&format!("{function:?} by the first"), &first, &|rt, u| {
                let fixed = rt.scalar(fixed);
                rt.math(function, u, &fixed)
            });
            compare(&format!("{function:?} by the second"), &second, &|rt, u| {
                let fixed = rt.scalar(fixed);
                rt.math(function, &fixed, u)
            });
        }
    }
}

/// u + u - u / 2 on interior cells, extended to all: rows of cells without data are empty.
#[test]
fn rows_are_restricted_extended_and_united() {
    for device in devices() {
        let mut rt = line(&device, 4, &[]);
        let rows = rows_of(&mut rt, &[1.0, 2.0, 3.0, 4.0], |rt, u| {
            let interior = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::Interior))?;
            let entities = rt.entities(&interior)?;
            let inside = rt.on(u, &entities)?;
            let two = rt.scalar(2.0);
            let half = rt.div(&inside, &two)?;
            let both = rt.add(&inside, &inside)?;
            let rest = rt.sub(&both, &half)?;
            rt.extend(&rest, &u.domain().clone())
        });
        assert_eq!(rows, [vec![], vec![(1, 1.5)], vec![(2, 1.5)], vec![]]);
    }
}

#[test]
fn a_residual_that_is_the_unknown_is_solved_in_one_step() {
    for device in devices() {
        let mut rt = line(&device, 3, &[]);
        let cells = rt.domain(ALL_CELLS).unwrap();
        let guess = rt.scalar_collection(&cells, vec![1.0, 2.0, 3.0]).unwrap();
        let solution = rt.newton_solve(&guess, &mut |_, u| Ok(u.clone())).unwrap();
        assert_eq!(rt.values(&solution).unwrap(), [0.0; 3]);
    }
}

#[test]
fn a_residual_without_the_unknown_is_an_error() {
    for device in devices() {
        let mut rt = line(&device, 3, &[]);
        let cells = rt.domain(ALL_CELLS).unwrap();
        let guess = rt.scalar_collection(&cells, vec![1.0, 2.0, 3.0]).unwrap();
        let error = rt.newton_solve(&guess, &mut |rt, u| Ok(rt.without_derivatives(u))).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Simulation);
        assert!(error.message.contains("does not depend on the unknown"), "{}", error.message);
    }
}

/// Rounds of five operations that are one graph: with these there are 64 launches or more.
const ROUNDS: u64 = 13;

/// `u = u - Divergence(Gradient(u)) * dt` step by step, in whole numbers below 64 * 5^20, which
/// doubles hold: `dt` is 1 for 20 steps, then 0.
#[test]
fn a_steady_step_of_operations_copies_nothing_allocates_nothing_and_waits_for_nothing() {
    for device in devices() {
        let path = std::env::temp_dir().join(format!("equelle-operations-{}.txt", std::process::id()));
        std::fs::write(&path, "1 ".repeat(20) + &"0 ".repeat(100)).unwrap();
        let mut rt = line(&device, 64, &[&format!("steps_filename={}", path.display())]);
        let cells = rt.domain(ALL_CELLS).unwrap();
        let steps = rt.input_sequence("steps").unwrap();
        let mut u = rt.scalar_collection(&cells, (0..64).map(f64::from).collect()).unwrap();
        let factor = rt.scalar(-1.0);
        let mut state = rt.begin_loop(&steps).unwrap();
        let mut before = None;
        let mut round = 0;
        while let Some(dt) = rt.next(&mut state).unwrap() {
            if round == 5 * ROUNDS {
                before = Some(rt.counters());
            }
            if round == 9 * ROUNDS {
                let (after, before) = (rt.counters(), before.unwrap());
                assert_eq!(after.graphs, before.graphs + 4);
                // The next elements of the sequence, and five operations a round.
                assert_eq!(after.kernels, before.kernels + 4 * (1 + 5 * ROUNDS));
                assert_eq!(
                    (before.uploads, before.downloads, before.allocations, before.synchronisations),
                    (after.uploads, after.downloads, after.allocations, after.synchronisations)
                );
            }
            let gradient = rt.gradient(&u).unwrap();
            let divergence = rt.divergence(&gradient).unwrap();
            let change = rt.mul(&divergence, &dt).unwrap();
            let change = rt.mul(&factor, &change).unwrap();
            u = rt.add(&u, &change).unwrap();
            round += 1;
        }
        let _ = std::fs::remove_file(&path);
        // Outflow of one cell is inflow of another.
        let sum = rt.reduce(Reduction::Sum, &u).unwrap();
        assert_eq!(rt.scalar_value(&sum).unwrap(), (0..64).map(f64::from).sum::<f64>());
    }
}

/// (1 2; 0 3) (0 4; 5 0) = (10 4; 15 0), of which the last entry is not there.
#[test]
fn products_of_sparse_matrices() {
    fn stored(device: &Emulator, bytes: Vec<u8>) -> DevicePtr {
        let at = device.allocate(bytes.len() as u64).unwrap().unwrap();
        // SAFETY: the memory was allocated with this length.
        unsafe { device.upload(at, &bytes).unwrap() };
        at
    }
    fn integers(device: &Emulator, values: &[i32]) -> DevicePtr {
        stored(device, values.iter().flat_map(|v| v.to_le_bytes()).collect())
    }
    fn doubles(device: &Emulator, values: &[f64]) -> DevicePtr {
        stored(device, values.iter().flat_map(|v| v.to_le_bytes()).collect())
    }
    let device = Emulator::new();
    let matrix = |row_ptr: &[i32], col_idx: &[i32], values: &[f64]| SparseMatrix {
        rows: 2,
        columns: 2,
        entries: values.len(),
        row_ptr: integers(&device, row_ptr),
        col_idx: integers(&device, col_idx),
        values: doubles(&device, values),
        precision: Precision::Double,
    };
    let (a, b) = (matrix(&[0, 2, 3], &[0, 1, 1], &[1.0, 2.0, 3.0]), matrix(&[0, 1, 2], &[1, 0], &[4.0, 5.0]));
    let allocate: &mut Allocate<'_> = &mut |bytes| Ok(device.allocate(bytes)?.expect("there is room"));
    // SAFETY: both matrices were made above as they say.
    let product = unsafe { device.product(&a, &b, allocate) }.unwrap();
    let read = |at: DevicePtr, bytes: usize| {
        let mut data = vec![0; bytes];
        // SAFETY: the product says that there are so many.
        unsafe { device.download(at, &mut data).unwrap() };
        data
    };
    assert_eq!((product.rows, product.columns, product.entries), (2, 2, 3));
    let ends = read(product.row_ptr, 12);
    assert_eq!(ends.as_chunks::<4>().0.iter().map(|&c| i32::from_le_bytes(c)).collect::<Vec<_>>(), [0, 2, 3]);
    let columns = read(product.col_idx, 12);
    assert_eq!(columns.as_chunks::<4>().0.iter().map(|&c| i32::from_le_bytes(c)).collect::<Vec<_>>(), [0, 1, 0]);
    let values = read(product.values, 24);
    assert_eq!(values.as_chunks::<8>().0.iter().map(|&c| f64::from_le_bytes(c)).collect::<Vec<_>>(), [10.0, 4.0, 15.0]);
}
