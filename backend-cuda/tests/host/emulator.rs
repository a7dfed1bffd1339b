//! The runtime on the emulator: kernels of a test program in CUDA C++, launched as generated code
//! launches them.
#![cfg(feature = "runtime")]

use std::rc::Rc;

use backend_cuda::runtime::device::CompileOptions;
use backend_cuda::runtime::device::emulator::Emulator;
use backend_cuda::runtime::{CudaRuntime, FloatingPoint, GridArrays, KernelModule, Precision, Scalar};
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::params::Parameters;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::simulator::Program;
use equelle_runtime::{
    CanonicalSet, EntityKind, EquelleRuntime, ErrorKind, Extent, HostAccess, KernelBytes, KernelInfo, Reduction, reduce,
};

const KERNELS: KernelModule = KernelModule::constant(
    "test",
    r#"
extern "C" __global__ void scale(const EqSpace space, const double* __restrict__ factor, const double* __restrict__ u, double* __restrict__ out) {
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  out[element] = *factor * u[element];
}
extern "C" __global__ void check_even(const EqSpace space, const EqChecks checks) {
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  if (eq_entity(space, element) % 2 != 0) eq_fail(checks, 0, element);
}
extern "C" __global__ void leaves(const EqSpace space, const double* __restrict__ u, double* __restrict__ out) {
  const EqLeaf leaf = eq_leaf_here(space.size);
  double partial = 0.0;
  for (EqEntity element = leaf.begin; element < leaf.end; element += EQ_CHAINS) partial = eq_sum(partial, u[element]);
  partial = eq_chains<0>(partial, leaf.chains, EqSum());
  if (eq_tells_leaf()) out[blockIdx.x] = partial;
}
extern "C" __global__ void side_sums(const EqGrid grid, const double* __restrict__ by_side, double* __restrict__ out) {
  const EqEntity cell = eq_index();
  if (cell >= grid.n_cells) return;
  const EqSides sides = eq_sides(grid, cell);
  double sum = 0.0;
  for (EqOffset at = sides.begin; at < sides.end; at += EQ_SLICE) sum += by_side[at];
  out[cell] = sum;
}
"#,
    FloatingPoint::Strict,
);

static CHECK: KernelInfo =
    KernelInfo { name: "check_even", lines: &[7], set: None, bytes: KernelBytes::NONE, takes_joined_sides: false, halo_layers: 0 };

const ALL_CELLS: CanonicalSet = CanonicalSet::new(EntityKind::Cell, Extent::All);

fn runtime(words: &[&str]) -> CudaRuntime {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    let session = Session::from_parameters(Program::named("test"), Parameters::from_words(&words).unwrap(), Options::silent()).unwrap();
    CudaRuntime::on_device(session, Rc::new(Emulator::new())).unwrap()
}

/// Numbers whose sum depends on the order.
fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| ((i * 7919 % 10_007) as f64).sqrt() * if i % 3 == 0 { -1e3 } else { 1e-3 }).collect()
}

/// Numbers of leaves around those of a thread, of a warp, of a block, and of two launches.
#[test]
fn reductions_have_the_documented_order() {
    let leaves = [2, 3, 15, 16, 17, 31, 33, 255, 257, 511, 513, 4095, 4096, 4097];
    let sizes = leaves.map(|leaves| leaves * reduce::LEAF - 5);
    for device in crate::common::devices() {
        for n in [1, 1023, 1024, 1025, 300_000].into_iter().chain(sizes) {
            let mut rt = crate::common::runtime(Rc::clone(&device), Grid::cartesian(Cartesian::line(n, 1.0)).unwrap(), &[]);
            let cells = rt.domain(ALL_CELLS).unwrap();
            let values = numbers(n);
            let u = rt.scalar_collection(&cells, values.clone()).unwrap();
            let leaves = rt.leaves(Reduction::Sum, &cells).unwrap();
            let space = rt.space(&cells).unwrap();
            let call = rt.call(&KERNELS, "leaves").unwrap().arg(space).arg(u.pointer()).arg(leaves.pointer());
            rt.launch_over_leaves(call, leaves.len()).unwrap();
            let sum = rt.combine(leaves).unwrap();
            // Bit for bit: the order is the same.
            assert_eq!(rt.scalar_value(&sum).unwrap().to_bits(), reduce::reduce(Reduction::Sum, &values).unwrap().to_bits(), "{n} values");
        }
    }
}

/// Two by two cells: inner faces are 0|1, 2|3, 0|2, 1|3. Each cell has two of them, and zeros on
/// its other sides. The copy is made once.
#[test]
fn values_of_inner_faces_come_to_both_their_cells() {
    if !crate::common::host_compiler() {
        return;
    }
    let mut rt = runtime(&["nx=2", "ny=2", "grid_dim=2", "grid_layout=unstructured", "renumber=no"]);
    let faces = rt.domain(CanonicalSet::new(EntityKind::Face, Extent::Interior)).unwrap();
    let values = rt.scalar_collection(&faces, vec![1.0, 10.0, 100.0, 1000.0]).unwrap();
    let cells = rt.domain(ALL_CELLS).unwrap();
    let out = rt.new_collection(&cells).unwrap();
    let grid = rt.grid_args(GridArrays { sides: true, ..GridArrays::default() }).unwrap();
    let by_side = rt.by_side(&values).unwrap();
    assert_eq!(rt.by_side(&values).unwrap(), by_side);
    let call = rt.call(&KERNELS, "side_sums").unwrap().arg(grid).arg(by_side).arg(out.pointer());
    rt.launch_over(call, 4).unwrap();
    assert_eq!(rt.values(&out).unwrap(), [101.0, 1001.0, 110.0, 1010.0]);
}

#[test]
fn a_steady_step_copies_nothing_allocates_nothing_and_waits_for_nothing() {
    if !crate::common::host_compiler() {
        return;
    }
    let path = std::env::temp_dir().join(format!("equelle-steps-{}.txt", std::process::id()));
    std::fs::write(&path, "2 0.5 ".repeat(100)).unwrap();
    let mut rt = runtime(&["nx=5", "grid_dim=1", &format!("steps_filename={}", path.display())]);
    let cells = rt.domain(ALL_CELLS).unwrap();
    let steps = rt.input_sequence("steps").unwrap();
    let mut u = rt.scalar_collection(&cells, vec![1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    let mut state = rt.begin_loop(&steps).unwrap();
    let mut first = None;
    let mut round = 0;
    while let Some(dt) = rt.next(&mut state).unwrap() {
        let out = rt.new_collection(&cells).unwrap();
        let space = rt.space(&cells).unwrap();
        let factor = rt.scalar_pointer(&dt).unwrap();
        let call = rt.call(&KERNELS, "scale").unwrap().arg(space).arg(factor).arg(u.pointer()).arg(out.pointer());
        rt.launch_over(call, 5).unwrap();
        u = out;
        if round == 0 {
            first = Some(dt.clone());
        }
        if round == 111 {
            // Sixteen rounds go together, and by now as a graph.
            let before = rt.counters();
            round += 1;
            let _ = rt.next(&mut state).unwrap();
            let after = rt.counters();
            assert_eq!(after.graphs, before.graphs + 1);
            assert_eq!(
                (before.uploads, before.downloads, before.allocations, before.synchronisations),
                (after.uploads, after.downloads, after.allocations, after.synchronisations)
            );
        }
        round += 1;
    }
    let _ = std::fs::remove_file(&path);
    // 199 of the 200 factors were applied: 2 was read and dropped after round 111, so the product
    // of the others is 0.5.
    assert_eq!(rt.values(&u).unwrap(), [0.5, 1.0, 1.5, 2.0, 2.5]);
    // A number kept from the first round still has its value.
    assert_eq!(rt.scalar_value(&first.unwrap()).unwrap(), 2.0);
}

#[test]
fn a_failed_condition_names_the_smallest_element_and_the_lines() {
    if !crate::common::host_compiler() {
        return;
    }
    let mut rt = runtime(&["nx=600", "grid_dim=1"]);
    let cells = rt.domain(ALL_CELLS).unwrap();
    let checks = rt.checks(&CHECK, &cells).unwrap();
    let space = rt.space(&cells).unwrap();
    let call = rt.call(&KERNELS, "check_even").unwrap().arg(space).arg(checks);
    rt.launch_over(call, cells.len()).unwrap();
    let error = rt.finish().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Simulation);
    assert!(error.message.ends_with("belongs to cell 1"), "{}", error.message);
    assert_eq!(error.lines, [7]);
}

#[test]
fn too_little_memory_is_an_error_with_sizes() {
    // The emulator has 4 GiB.
    let mut rt = runtime(&["nx=600000000", "grid_dim=1"]);
    let cells = rt.domain(ALL_CELLS).unwrap();
    let error = rt.new_collection(&cells).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Backend);
    assert!(error.message.contains("not enough memory") && error.message.contains("4.80 GB"), "{}", error.message);
}

#[test]
fn scalars_known_to_the_host_are_uploaded_once() {
    let mut rt = runtime(&["nx=1", "grid_dim=1"]);
    let (a, b) = (rt.scalar(2.5), rt.scalar(2.5));
    assert!(matches!(a, Scalar::Host(_)));
    assert_eq!(rt.scalar_pointer(&a).unwrap(), rt.scalar_pointer(&b).unwrap());
    assert_eq!(rt.counters().uploads, 1);
}

/// Wherever kernels are compiled.
#[test]
fn kernels_that_do_not_compile_are_named_with_their_lines() {
    for device in crate::common::devices() {
        let options = CompileOptions::new(2, Precision::Double);
        crate::common::names_the_broken_kernel(&device.load(&crate::common::BROKEN, options).expect_err("a name that is not declared"));
    }
}
