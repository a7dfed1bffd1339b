//! Tests of launch shapes: each shape reaches every element once, and a measured shape is found
//! again.

use std::rc::Rc;

use equelle_runtime::Program;
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::session::{Options, Session};

use super::*;
use crate::runtime::executor::arguments::Planes;
use crate::runtime::executor::shapes::Shapes;
use crate::runtime::kernels::FloatingPoint;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::test_support::runtimes;

/// Kernels that count their visits of each element.
const COUNTS: KernelModule = KernelModule::constant(
    "counts",
    r#"
extern "C" __global__ void EQ_LIGHT over_elements(const EqEntity size, double* __restrict__ count) {
  const EqEntity element = eq_index();
  if (element < size) count[element] += 1.0;
}
extern "C" __global__ void EQ_LIGHT over_cells(const EqCartesian g, double* __restrict__ count) {
  EqCell cell;
  if (eq_cell_here(g, cell)) count[cell.index] += 1.0;
}
extern "C" __global__ void EQ_HEAVY apart(const EqCartesian g, double* __restrict__ count) {
  if (eq_is_inside_block(g)) {
    EqInsideCell cell;
    for (unsigned int step = 0; step < g.cells_per_thread; ++step)
      if (eq_inside_cell_here(g, step, cell)) count[cell.index] += 1.0;
    return;
  }
  EqCell cell;
  if (eq_boundary_cell_here(g, cell)) count[cell.index] += 2.0;
}
template <int ROW>
EQ_FUNCTION void rows(const EqCartesian& g, double* __restrict__ count) {
  if (eq_is_inside_block(g)) {
    EqCell row;
    for (unsigned int step = 0; step < g.cells_per_thread; ++step) {
      if (!eq_inside_row_here<ROW>(g, step, row)) continue;
      double more[ROW];
      eq_load_row(more, count, row.index);
      for (int at = 0; at < ROW; ++at) more[at] += 1.0;
      eq_store_inside_row(g, count, row, more);
    }
  }
  EqCell cell;
  if (eq_boundary_cell_beside_rows(g, cell)) count[cell.index] += 2.0;
}
extern "C" __global__ void EQ_ROW_CELLS rows_x2(const EqCartesian g, double* count) { rows<2>(g, count); }
extern "C" __global__ void EQ_ROW_CELLS rows_x4(const EqCartesian g, double* count) { rows<4>(g, count); }
template <int ROW>
EQ_FUNCTION void all_rows(const EqCartesian& g, double* __restrict__ count) {
  EqCell row;
  if (!eq_row_here<ROW>(g, row)) return;
  double more[ROW];
  eq_load_row(more, count, row.index);
  for (int at = 0; at < ROW; ++at) more[at] += 1.0;
  eq_store_row(count, row.index, more);
}
extern "C" __global__ void EQ_ROW_CELLS all_rows_x2(const EqCartesian g, double* count) { all_rows<2>(g, count); }
extern "C" __global__ void EQ_ROW_CELLS all_rows_x4(const EqCartesian g, double* count) { all_rows<4>(g, count); }
template <int ROW>
EQ_FUNCTION void planes(const EqCartesian& g, double* __restrict__ count) {
  EqCell row;
  if (!eq_column_here<ROW>(g, row)) return;
  const unsigned int end = eq_end_of_planes(g, row);
  for (; row.ijk[2] < end; eq_next_plane(g, row)) {
    double more[ROW];
    eq_load_row(more, count, row.index);
    for (int at = 0; at < ROW; ++at) more[at] += 1.0;
    eq_store_row(count, row.index, more);
  }
}
extern "C" __global__ void EQ_PLANES planes_x2(const EqCartesian g, double* count) { planes<2>(g, count); }
extern "C" __global__ void EQ_PLANES planes_x4(const EqCartesian g, double* count) { planes<4>(g, count); }
extern "C" __global__ void EQ_LIGHT squares(const EqEntity size, const double* __restrict__ x, double* __restrict__ out) {
  const EqEntity element = eq_index();
  if (element < size) out[element] = x[element] * x[element];
}
"#,
    FloatingPoint::Strict,
);

/// The devices of this machine, with a runtime on a grid for each.
fn on_grid(grid: Cartesian, words: &[&str]) -> Vec<CudaRuntime> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let runtime = |rt: CudaRuntime| {
        let grid = Grid::cartesian(grid).expect("a grid");
        let parameters = Parameters::from_words(&words).expect("parameters");
        let session = Session::on_grid(Program::named("test"), parameters, grid, Options::silent()).expect("a session");
        CudaRuntime::on_device(session, Rc::clone(rt.executor.device())).expect("a runtime")
    };
    runtimes().into_iter().map(runtime).collect()
}

fn name_of(over: LaunchDomain) -> &'static str {
    match over {
        LaunchDomain::Elements(_) => "over_elements",
        LaunchDomain::Cells => "over_cells",
        LaunchDomain::InsideAndBoundary => "apart",
    }
}

#[test]
fn every_shape_reaches_every_cell_once() {
    // Rows shorter and longer than any block, one cell along an axis, and more rows than the
    // longest run of cells of a thread.
    let grids = [
        Cartesian::plane([300, 37], [1.0, 1.0]),
        Cartesian::plane([5, 70], [1.0, 1.0]),
        Cartesian::plane([1, 6], [1.0, 1.0]),
        Cartesian::block([70, 19, 11], [1.0; 3]),
        Cartesian::plane([4, 9], [1.0, 1.0]),
        Cartesian::plane([268, 41], [1.0, 1.0]),
        Cartesian::block([8, 7, 23], [1.0; 3]),
        Cartesian::block([4, 3, 67], [1.0; 3]),
        Cartesian::block([2, 3, 3], [1.0; 3]),
        Cartesian::block([2, 1, 9], [1.0; 3]),
    ];
    for grid in grids {
        for rt in on_grid(grid, &[]) {
            let n = grid.n_cells();
            let launches = [
                (LaunchDomain::Elements(n), Planes::One),
                (LaunchDomain::Cells, Planes::One),
                (LaunchDomain::Cells, Planes::Several),
                (LaunchDomain::InsideAndBoundary, Planes::One),
            ];
            for (over, planes) in launches {
                let called = rt.executor.call(&COUNTS, name_of(over)).expect("a kernel");
                let called = match (over, planes) {
                    (_, Planes::Several) => called.or_by_planes(&COUNTS, &[(2, "planes_x2"), (4, "planes_x4")]),
                    (LaunchDomain::Cells, _) => called.or_with_rows(&COUNTS, &[(2, "all_rows_x2"), (4, "all_rows_x4")]),
                    _ => called.or_with_rows(&COUNTS, &[(2, "rows_x2"), (4, "rows_x4")]),
                };
                let shapes = Shapes { executor: &rt.executor, over };
                let configs = shapes.all(&called).expect("a Cartesian grid");
                assert!(configs.contains(&shapes.usual(&called).expect("a Cartesian grid")));
                let widest = configs.iter().map(|config| config.row_cells).max();
                let multiple_of = [4, 2, 1].into_iter().find(|&width| grid.n[0] % width as usize == 0);
                assert_eq!(widest, if matches!(over, LaunchDomain::Elements(_)) { Some(1) } else { multiple_of });
                for config in configs {
                    let count = rt.executor.put(&vec![0.0; n]);
                    let call = called.clone();
                    let call = match over {
                        LaunchDomain::Elements(n) => call.arg(n as u32),
                        LaunchDomain::Cells | LaunchDomain::InsideAndBoundary => {
                            call.arg(rt.executor.cartesian_args().expect("a Cartesian grid"))
                        }
                    };
                    let launch = shapes.launch(call.arg(count.address()), config).expect("a Cartesian grid");
                    rt.executor.push(launch);
                    let found = rt.executor.bits(count.address(), n);
                    let shape = grid.n;
                    let expected = |cell: usize| {
                        let place = [cell % shape[0], cell / shape[0] % shape[1], cell / shape[0] / shape[1]];
                        let inside = (0..grid.dim).all(|axis| place[axis] > 0 && place[axis] + 1 < shape[axis]);
                        if over == LaunchDomain::InsideAndBoundary && !inside { 2.0f64 } else { 1.0 }
                    };
                    let expected: Vec<u64> = (0..n).map(|cell| expected(cell).to_bits()).collect();
                    assert!(found == expected, "{over:?} in {config:?} on {shape:?}, planes: {planes:?}");
                }
            }
        }
    }
}

/// Launches a kernel once; returns the key of its shape on disk, and its shape.
fn launched(rt: &mut CudaRuntime, module: &KernelModule, x: &[f64]) -> (u64, LaunchShape) {
    let over = LaunchDomain::Elements(x.len());
    let (from, to) = (rt.executor.put(x), rt.executor.put(&vec![0.0; x.len()]));
    let call = rt.executor.call(module, "squares").expect("a kernel");
    let function = call.function();
    rt.executor.launch_over(call.arg(x.len() as u32).arg(from.address()).arg(to.address()), x.len()).expect("a launch");
    let shape = rt.executor.with_last(|launch| Some(launch.shape)).expect("it waits");
    let found = rt.executor.bits(to.address(), x.len());
    assert!(x.iter().map(|x| (x * x).to_bits()).eq(found), "the squares");
    let kernel = rt.executor.kernel_key(function).unwrap_or_default();
    (key(kernel, over, [0; 3], rt.executor.device().properties()), shape)
}

#[test]
fn what_was_measured_is_found_again() {
    let x: Vec<f64> = (0..1000).map(f64::from).collect();
    let line = Cartesian::line(2, 1.0);
    // A unique text, so that the cache has no shape for it.
    let unique = format!("{}// {:?} {}\n", COUNTS.source, std::time::SystemTime::now(), std::process::id());
    let module = KernelModule { source: unique.into(), ..COUNTS };
    for device in 0..on_grid(line, &[]).len() {
        let runtime = |words: &[&str]| on_grid(line, words).swap_remove(device);
        let blocks = |shape: LaunchShape| (shape.grid[0], shape.block[0]);

        // No shape is known, and none is measured.
        let mut rt = runtime(&[]);
        let (place, shape) = launched(&mut rt, &module, &x);
        assert_eq!(blocks(shape), (8, 128));
        assert_eq!((kernel_cache::read(place, "shape"), rt.executor.tuning_notes()), (None, Vec::new()));

        // Measured at the second launch, and cached.
        let mut rt = runtime(&["tune=yes"]);
        launched(&mut rt, &module, &x);
        assert_eq!(kernel_cache::read(place, "shape"), None);
        let (same, _) = launched(&mut rt, &module, &x);
        assert_eq!(same, place);
        let kept = kernel_cache::read(place, "shape").expect("it was measured");
        let config = Shapes { executor: &rt.executor, over: LaunchDomain::Elements(1000) }
            .all(&rt.executor.call(&module, "squares").expect("a kernel"))
            .expect("elements")
            .into_iter()
            .find(|config| config.text().as_bytes() == kept);
        let config = config.expect("one of the shapes");
        let (_, shape) = launched(&mut runtime(&[]), &module, &x);
        assert_eq!(blocks(shape), (1000u32.div_ceil(config.block[0]), config.block[0]));

        // Another shape than the default, whichever is faster here.
        kernel_cache::write(place, "shape", b"256 1 1 1");
        let mut rt = runtime(&[]);
        assert_eq!(blocks(launched(&mut rt, &module, &x).1), (4, 256));
        assert!(rt.executor.tuning_notes()[0].starts_with("1 kernel is launched in shapes"));
        assert_eq!(blocks(launched(&mut runtime(&["tune=no"]), &module, &x).1), (8, 128));

        // Shapes that no measurement writes.
        for wrong in ["512 1 1 1", "0 1 1 1", "64 1 1", "", "usual"] {
            kernel_cache::write(place, "shape", wrong.as_bytes());
            assert_eq!(blocks(launched(&mut runtime(&[]), &module, &x).1), (8, 128), "{wrong:?}");
        }
        if let Some(folder) = kernel_cache::directory() {
            let _ = std::fs::remove_file(folder.join(format!("{place:016x}.shape")));
        }
    }
}

#[test]
fn one_of_three_words() {
    let of = |word: &str| Tune::from_parameters(&Parameters::from_words(&[format!("tune={word}")]).expect("a word"));
    assert_eq!(of("yes").ok(), Some(Tune::Yes));
    assert_eq!(of("no").ok(), Some(Tune::No));
    assert_eq!(of("auto").ok(), Some(Tune::Auto));
    let error = of("maybe").expect_err("no such word");
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Data, "parameter `tune` must be `auto`, `no` or `yes`, not `maybe`"));
}

/// Shares of planes are even, none is empty, and small grids have one plane a thread.
#[test]
fn planes_are_shared_evenly() {
    for (cells, row_cells, layers) in [(1 << 24, 2, 256), (1 << 24, 4, 256), (100 * 100 * 100, 4, 100), (60, 2, 5), (1, 1, 1)] {
        let planes = planes(cells, row_cells, layers);
        assert!((1..=16).contains(&planes), "{planes} of {layers}");
        assert!((layers.div_ceil(planes) - 1) * planes < layers, "{planes} of {layers}");
    }
    assert_eq!((planes(1 << 24, 2, 256), planes(1 << 24, 4, 256), planes(1 << 16, 2, 256)), (16, 16, 1));
    assert_eq!([1, 4, 16, 64].map(|most| even_planes(most, 33)), [1, 4, 11, 33]);
}
