//! Places along an axis that go around once at most are those that go around any number of times:
//! on the emulator, and on the GPU where there is one.
#![cfg(feature = "runtime")]

use std::rc::Rc;

use backend_cuda::runtime::{FloatingPoint, KernelModule};
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::{CanonicalSet, EntityKind, EquelleRuntime, Extent, HostAccess};

const KERNELS: KernelModule = KernelModule::constant(
    "places",
    r#"
// An axis of 1 to 8 cells, each offset of as many at most, each place, and the maps of both sides.
// 1 where the two differ, 2 where there is no such place.
extern "C" __global__ void places(const EqEntity size, double* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= size) return;
  const int n = 1 + k % 8, by = int(k / 8 % 17) - 8, at = k / 136 % 8, low = k / 1088 % 4, high = k / 4352 % 4;
  const bool exists = at < n && by >= -n && by <= n && by != 0;
  out[k] = !exists ? 2.0 : eq_near_place(at, by, n, low, high) != eq_place(at, by, n, low, high);
}
"#,
    FloatingPoint::Strict,
);

#[test]
fn near_places_are_places() {
    const COUNT: usize = 8 * 17 * 8 * 4 * 4;
    for device in crate::common::devices() {
        let grid = Grid::cartesian(Cartesian::line(COUNT, 1.0)).unwrap();
        let mut rt = crate::common::runtime(Rc::clone(&device), grid, &[]);
        let cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All)).unwrap();
        let out = rt.new_collection(&cells).unwrap();
        let call = rt.call(&KERNELS, "places").unwrap().arg(COUNT as u32).arg(out.pointer());
        rt.launch_over(call, COUNT).unwrap();
        let verdicts = rt.values(&out).unwrap();
        let of = |verdict: f64| verdicts.iter().filter(|v| **v == verdict).count();
        // Twice `n` offsets from each of `n` places, with 16 pairs of maps.
        let exist = 16 * (1..=8).map(|n| 2 * n * n).sum::<usize>();
        assert_eq!((of(1.0), of(0.0)), (0, exist));
    }
}
