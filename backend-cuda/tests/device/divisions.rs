//! Divisions without branches have the bits of others, wherever they do not say that an operand is
//! rare: on the emulator, and on the GPU where there is one.
#![cfg(feature = "runtime")]

use std::rc::Rc;

use backend_cuda::runtime::{FloatingPoint, KernelModule};
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::{CanonicalSet, EntityKind, EquelleRuntime, Extent, HostAccess};

const KERNELS: KernelModule = KernelModule::constant(
    "divisions",
    r#"
// Operands from bits, mostly near 1, also zeros and all others. 1 where quotients differ, 2 where
// an operand is rare.
template <class T>
EQ_FUNCTION double verdict(T a, T b) {
  bool rare = false;
  const T quotient = eq_divide_by(a, b, eq_inverse(b, rare), rare), expected = a / b;
  if (rare) return 2.0;
  return quotient == expected && copysign(T(1), quotient) == copysign(T(1), expected) ? 0.0 : 1.0;
}
EQ_FUNCTION unsigned long long mixed(unsigned long long x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
template <class T, class U>
EQ_FUNCTION T number(U bits) {
  union { U bits; T number; } both;
  both.bits = bits;
  return both.number;
}
extern "C" __global__ void doubles(const EqEntity size, double* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= size) return;
  typedef unsigned long long U;
  U a = mixed(2 * U(k) + 1), b = mixed(2 * U(k) + 2);
  if (k % 8 < 5) a = (a & 0x803fffffffffffffull) | 0x3fc0000000000000ull, b = (b & 0x803fffffffffffffull) | 0x3fc0000000000000ull;
  if (k % 8 == 1) a &= 0x8000000000000000ull;
  if (k % 8 == 2) b |= 0xfffffffull;
  if (k % 8 == 5) a &= 0x800fffffffffffffull;
  out[k] = verdict(number<double>(a), number<double>(b));
}
extern "C" __global__ void singles(const EqEntity size, double* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= size) return;
  typedef unsigned int U;
  U a = U(mixed(2ull * k + 1)), b = U(mixed(2ull * k + 2));
  if (k % 8 < 5) a = (a & 0x81ffffffu) | 0x3e000000u, b = (b & 0x81ffffffu) | 0x3e000000u;
  if (k % 8 == 1) a &= 0x80000000u;
  if (k % 8 == 2) b |= 0xffffu;
  if (k % 8 == 5) a &= 0x807fffffu;
  out[k] = verdict(number<float>(a), number<float>(b));
}
"#,
    FloatingPoint::Strict,
);

#[test]
fn quotients_have_the_bits_of_divisions() {
    const COUNT: usize = 1 << 20;
    for device in crate::common::devices() {
        let grid = Grid::cartesian(Cartesian::line(COUNT, 1.0)).unwrap();
        let mut rt = crate::common::runtime(Rc::clone(&device), grid, &[]);
        let cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All)).unwrap();
        for kernel in ["doubles", "singles"] {
            let out = rt.new_collection(&cells).unwrap();
            let call = rt.call(&KERNELS, kernel).unwrap().arg(COUNT as u32).arg(out.pointer());
            rt.launch_over(call, COUNT).unwrap();
            let verdicts = rt.values(&out).unwrap();
            let of = |verdict: f64| verdicts.iter().filter(|v| **v == verdict).count();
            assert_eq!(of(1.0), 0, "{kernel}");
            // Three of eight have any bits, one of them too small a dividend.
            assert!((COUNT / 8..COUNT * 3 / 8).contains(&of(2.0)), "{kernel}: {} are rare", of(2.0));
        }
    }
}
