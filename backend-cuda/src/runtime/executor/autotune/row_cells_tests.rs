//! Tests of generated kernels with several cells of a row a thread: in every shape they have the
//! bits of one cell a thread.

use std::rc::Rc;

use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::params::Parameters;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::{CanonicalSet, EntityKind, Extent, Program};

use super::{LaunchConfig, LaunchDomain};
use crate::runtime::executor::arguments::{Call, RowNames};
use crate::runtime::executor::precision::Precision;
use crate::runtime::executor::shapes::Shapes;
use crate::runtime::kernels::{FloatingPoint, KernelModule};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::test_support::{numbers, runtimes};

const DOUBLE: KernelModule =
    KernelModule::constant("heat", include_str!("../../../../../tests/golden/cuda/heat_explicit_3d_O2/kernels.cu"), FloatingPoint::Strict);
const SINGLE: KernelModule = KernelModule::constant(
    "heat of singles",
    include_str!("../../../../../tests/golden/cuda/heat_explicit_3d_f32/kernels.cu"),
    FloatingPoint::Strict,
);

const BY_INDEX: KernelModule = KernelModule::constant(
    "diffusion by index",
    include_str!("../../../../../tests/golden/cuda/diffusion_by_index/kernels.cu"),
    FloatingPoint::Strict,
);
const BY_INDEX_SINGLE: KernelModule = KernelModule::constant(
    "diffusion by index of singles",
    include_str!("../../../../../tests/golden/cuda/diffusion_by_index_f32/kernels.cu"),
    FloatingPoint::Strict,
);

/// Numbers of cells of a row a thread, with the bits of the results.
pub(super) type Results = Vec<(u32, Vec<u64>)>;

/// The results of a launch in every shape, as bits, with the shape's number of cells of a row a
/// thread.
pub(super) fn in_every_shape(rt: &mut CudaRuntime, call: &Call, over: LaunchDomain) -> Results {
    let cells = rt.session.grid().n_cells();
    let executor = Rc::clone(&rt.executor);
    let shapes = Shapes { executor: &executor, over };
    let configs = shapes.all(call).expect("shapes");
    let run = |config: LaunchConfig| {
        let out = rt.executor.upload_reals("test data", &numbers(5, cells)).expect("memory");
        let launch = shapes.launch(call.clone().arg(out.address()), config).expect("a launch");
        rt.executor.push(launch);
        let bits = match rt.executor.precision() {
            Precision::Double => rt.executor.download::<u64>(out.address(), cells).expect("results"),
            Precision::Single => {
                let singles = rt.executor.download::<u32>(out.address(), cells).expect("results");
                singles.into_iter().map(u64::from).collect()
            }
        };
        (config.row_cells, bits)
    };
    configs.into_iter().map(run).collect()
}

/// A step of diffusion, whose kernel reads by index two cells away.
fn steps_by_index(rt: &mut CudaRuntime, precision: Precision) -> Results {
    diffusion(rt, precision, numbers(1, rt.session.grid().n_cells()), [0.5, 0.25, 2.0])
}

/// The same of a field with numbers near the smallest ones, and 0, some cells apart; divided by
/// squares of widths that are usual, or beyond what divisions without branches are for.
fn steps_with_rare_numbers(rt: &mut CudaRuntime, precision: Precision) -> Results {
    let (small, widths) = match precision {
        Precision::Double => (1e-306, [0.5, 1e-155, 1e140]),
        Precision::Single => (1e-38, [0.5, 1e-20, 1e15]),
    };
    let mut values = numbers(1, rt.session.grid().n_cells());
    for (cell, value) in values.iter_mut().enumerate().filter(|(cell, _)| cell % 31 < 11) {
        *value *= if cell % 31 == 5 { 0.0 } else { small };
    }
    let mut results = Results::new();
    for width in widths {
        for axis in 0..3 {
            let mut widths = [0.5, 0.25, 2.0];
            widths[axis] = width;
            results = join(results, diffusion(rt, precision, values.clone(), widths));
        }
    }
    results
}

/// Results of one more launch in the same shapes.
fn join(before: Results, more: Results) -> Results {
    if before.is_empty() {
        return more;
    }
    before.into_iter().zip(more).map(|((row_cells, bits), (_, more))| (row_cells, [bits, more].concat())).collect()
}

fn diffusion(rt: &mut CudaRuntime, precision: Precision, u: Vec<f64>, widths: [f64; 3]) -> Results {
    let cells = rt.session.grid().n_cells();
    let reals = |values: &[f64]| rt.executor.upload_reals("test data", values).expect("memory");
    let (u, rate) = (reals(&u), reals(&numbers(2, cells)));
    let dt = rt.executor.constant(0.1).expect("memory");
    let [width, width_2, width_3] = widths.map(|number| rt.executor.constant(number).expect("memory"));
    let (module, rows): (KernelModule, RowNames) = match precision {
        Precision::Double => (BY_INDEX, (&[(2, "compute_u_cartesian_rows_x2")]).into()),
        Precision::Single => (BY_INDEX_SINGLE, (&[(2, "compute_u_cartesian_rows_x2"), (4, "compute_u_cartesian_rows_x4")]).into()),
    };
    let shape = rt.cartesian_args().expect("a Cartesian grid");
    let call = rt.executor.call(&module, "compute_u_cartesian").expect("a kernel").or_by_planes(&module, rows);
    let call = call.arg(shape).arg(u.address()).arg(dt).arg(rate.address()).arg(width).arg(width_2).arg(width_3);
    in_every_shape(rt, &call, LaunchDomain::Cells)
}

/// The results of a step of heat in every shape of its launch, as bits, with the shape's number of
/// cells of a row a thread. The whole boundary has a given temperature.
fn steps(rt: &mut CudaRuntime, precision: Precision) -> Results {
    let grid = rt.session.grid().closed_shape().expect("a Cartesian grid");
    let (cells, over) = (grid.n_cells(), LaunchDomain::InsideAndBoundary);
    let boundary = rt.canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Boundary)).expect("a set");
    let ranks = rt.cartesian_ranks(&boundary).expect("ranks");
    let shape = rt.cartesian_args().expect("a Cartesian grid");
    let reals = |rt: &CudaRuntime, seed, n| rt.executor.upload_reals("test data", &numbers(seed, n)).expect("memory");
    let (u, trans) = (reals(rt, 1, cells), reals(rt, 2, 3));
    let (at_boundary, given) = (reals(rt, 3, boundary.len()), reals(rt, 4, boundary.len()));
    let dt = rt.executor.constant(0.1).expect("memory");
    let (module, rows): (KernelModule, RowNames) = match precision {
        Precision::Double => (DOUBLE, (&[(2, "compute_u_cartesian_rows_x2")]).into()),
        Precision::Single => (SINGLE, (&[(2, "compute_u_cartesian_rows_x2"), (4, "compute_u_cartesian_rows_x4")]).into()),
    };
    let call = rt.executor.call(&module, "compute_u_cartesian").expect("a kernel").or_with_rows(&module, rows);
    let call = call.arg(shape).arg(ranks).arg(u.address()).arg(dt).arg(trans.address()).arg(at_boundary.address()).arg(given.address());
    in_every_shape(rt, &call, over)
}

#[test]
fn rows_have_the_bits_of_single_cells() {
    // Lengths that are multiples of 4, of 2 alone, and odd; planes; and grids without interior.
    let sizes: [&[usize]; 12] = [
        &[1, 1, 1],
        &[3, 5, 7],
        &[4, 3, 3],
        &[2, 3, 4],
        &[12, 9, 7],
        &[6, 4, 5],
        &[255, 3, 3],
        &[257, 4],
        &[256, 5],
        &[4, 1, 9],
        &[8, 2],
        &[70, 6, 3],
    ];
    for n in sizes {
        have_the_bits_of_single_cells(n, "none", steps);
    }
}

/// Sides along some axes are joined, so that there still are faces with a given temperature.
#[test]
fn rows_between_joined_sides_have_the_bits_of_single_cells() {
    for sides in ["x-:x+", "y-:y+"] {
        for n in [&[12, 9, 7][..], &[2, 3, 4], &[8, 2], &[256, 5]] {
            have_the_bits_of_single_cells(n, sides, steps);
        }
    }
    have_the_bits_of_single_cells(&[12, 9, 7], "x-:x+,y-:y+", steps);
}

/// On grids as small as two cells along an axis, so that rows are at their ends on both sides.
#[test]
fn rows_that_are_read_by_index_have_the_bits_of_single_cells() {
    let sizes: [&[usize]; 7] = [&[2, 2, 2], &[4, 3, 2], &[6, 4, 5], &[8, 2, 3], &[12, 9, 7], &[70, 6, 3], &[257, 2, 2]];
    for n in sizes {
        have_the_bits_of_single_cells(n, "none", steps_by_index);
    }
}

#[test]
fn rare_divisions_have_the_bits_of_single_cells() {
    for n in [[4, 3, 2], [12, 9, 7], [8, 5, 33]] {
        have_the_bits_of_single_cells(&n, "none", steps_with_rare_numbers);
    }
}

/// All shapes give the same bits, those of the widest rows too.
fn have_the_bits_of_single_cells(n: &[usize], joined: &str, steps: fn(&mut CudaRuntime, Precision) -> Results) {
    for precision in [Precision::Double, Precision::Single] {
        for device in runtimes().iter().map(|rt| Rc::clone(rt.executor.device())) {
            let grid = match *n {
                [nx, ny] => Cartesian::plane([nx, ny], [0.5, 0.25]),
                _ => Cartesian::block([n[0], n[1], n[2]], [0.5, 0.25, 2.0]),
            };
            let grid = Grid::cartesian(grid).expect("a grid");
            let grid = if joined == "none" { grid } else { grid.with_periodic_sides(joined).expect("sides that meet") };
            let session = Session::on_grid(Program::named("test"), Parameters::default(), grid, Options::silent()).expect("a session");
            let mut rt = CudaRuntime::with_precision(session, device, precision).expect("a runtime");
            let results = steps(&mut rt, precision);
            let widest = results.iter().map(|(row_cells, _)| *row_cells).max();
            let expected = match precision {
                Precision::Double => [2, 1].into_iter().find(|&width| n[0].is_multiple_of(width)),
                Precision::Single => [4, 2, 1].into_iter().find(|&width| n[0].is_multiple_of(width)),
            };
            assert_eq!(widest, expected.map(|width| width as u32));
            for (row_cells, result) in &results {
                assert!(
                    *result == results[0].1,
                    "{row_cells} cells of a row a thread on {n:?}, joined {joined}, in {precision:?} precision"
                );
            }
        }
    }
}
