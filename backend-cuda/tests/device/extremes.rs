//! Extremes that the threads of a kernel take on the way are those of reductions: on the emulator,
//! and on the GPU where there is one.
#![cfg(feature = "runtime")]

use std::rc::Rc;

use backend_cuda::runtime::{FloatingPoint, KernelModule};
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::{CanonicalSet, EntityKind, EquelleRuntime, Extent, HostAccess, Reduction, reduce};

const KERNELS: KernelModule = KernelModule::constant(
    "extremes",
    r#"
extern "C" __global__ void extremes(const EqEntity size, const double* __restrict__ values, double* largest, double* least) {
  const EqEntity k = eq_index();
  if (k >= size) return;
  eq_take_extreme<true>(largest, values[k]);
  eq_take_extreme<false>(least, values[k]);
}
"#,
    FloatingPoint::Strict,
);

/// Numbers between which bits and signs decide, at places that several warps share.
fn cases() -> Vec<Vec<f64>> {
    const COUNT: usize = 1000;
    let repeated = |few: &[f64]| -> Vec<f64> { (0..COUNT).map(|k| few[k * 7919 % few.len()]).collect() };
    let mut cases = vec![
        repeated(&[0.0, -0.0]),
        repeated(&[-0.0]),
        repeated(&[0.0]),
        repeated(&[-1.0, -2.0, -1.0000000000000002]),
        repeated(&[1e300, -1e-310, 5e-324, 0.0]),
        repeated(&[f64::NEG_INFINITY, 3.0, f64::INFINITY]),
        repeated(&[f64::MAX, f64::MIN]),
        // The upper halves of the bits are the same.
        repeated(&[f64::from_bits(0x3ff0_0000_ffff_ffff), f64::from_bits(0x3ff0_0000_0000_0001)]),
    ];
    for nan in [f64::NAN, -f64::NAN] {
        let mut with_nan = repeated(&[1.0, -1.0, f64::INFINITY]);
        with_nan[700] = nan;
        cases.push(with_nan);
    }
    cases
}

#[test]
fn extremes_are_those_of_reductions_whatever_the_order() {
    for device in crate::common::devices() {
        let cases = cases();
        let count = cases[0].len();
        let grid = Grid::cartesian(Cartesian::line(count, 1.0)).unwrap();
        let mut rt = crate::common::runtime(Rc::clone(&device), grid, &[]);
        let cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All)).unwrap();
        // One case after the other: a key begins anew.
        for values in cases {
            let collection = rt.scalar_collection(&cells, values.clone()).unwrap();
            let (largest, least) = (rt.extreme(0).unwrap(), rt.extreme(1).unwrap());
            let call = rt.call(&KERNELS, "extremes").unwrap().arg(count as u32).arg(collection.pointer());
            rt.launch_over(call.arg(largest.pointer()).arg(least.pointer()), count).unwrap();
            for (reduction, extreme) in [(Reduction::Max, largest), (Reduction::Min, least)] {
                let expected = reduce::reduce(reduction, &values).unwrap();
                let value = rt.extreme_value(reduction, extreme).unwrap();
                let found = rt.scalar_value(&value).unwrap();
                let same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
                assert!(same, "{reduction:?} of {:?}: {found:e}, not {expected:e}", &values[..4]);
            }
        }
    }
}
