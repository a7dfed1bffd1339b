//! Costs of operations on a GPU.

use equelle_front::cost::{CostModel, Measured};

/// The kernels of `benches/costs.cu`, compiled by nvcc, on an H100 80GB HBM3, 2026-11-25.
const MEASURED: Measured = Measured {
    product: 1.0,
    quotient: 15.2,
    root: 16.0,
    exponential: 21.9,
    power: 92.0,
    look_up: 50.0,
    load: 51.9,
    neighbour: 1.1,
    by_face: 51.7,
    store: 53.5,
};

/// `power`: 4.2 times an exponential, as `power_on_faces` and `exponential_on_faces` of
/// docs/benchmarks/cliffs.md on an H200. `look_up`: that of a processor.
///
/// Arithmetic of half a load hides behind it: kernels wait for memory. No terms of faces are
/// stored, so that `stage` is not read.
pub(super) const COSTS: CostModel = CostModel::of(&MEASURED, (MEASURED.load / 2.0) as u32);
