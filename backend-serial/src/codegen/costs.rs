//! Costs of operations on a processor.

use equelle_front::cost::{CostModel, Extremes, Measured};

/// `benches/costs.rs` on one idle core of a Xeon with AVX2, 2026-11-25. An exponential is that of
/// docs/benchmarks/cpu.md: 0.6 to 1.2 ns. A look-up takes 2.1 times as long, a power 5.4 times
/// (`lookup`, `power` and `exponential` of docs/benchmarks/cliffs.md).
const MEASURED: Measured = Measured {
    product: 1.0,
    quotient: 14.9,
    root: 15.7,
    exponential: 24.0,
    power: 130.0,
    look_up: 50.0,
    load: 9.7,
    neighbour: 1.1,
    by_face: 10.5,
    store: 20.8,
};

/// Where a cache holds the arrays, a load costs what one of a neighbour does: no more arithmetic
/// than that is done again.
///
/// `stage`: a term of a face that is stored and read from two cells moves 24 bytes, beside the loop
/// over the faces itself. On unstructured grids, shallow water on 512^2 cells (about 1000 a face in
/// both branches of its choices) takes 0.60 times the time with stored terms; heat conduction (8 a
/// face) takes 1.08 times on 64^3 cells and about the same on 128^3.
///
/// `at_offsets`: to write a value and load it again. At 500^2 cells a step of heat, read at five
/// cells, takes 2.5 ns stored and 10.4 ns evaluated five times; a quotient so read 2.3 and 6.7 ns,
/// a product of three read at two cells 2.5 and 0.9 ns.
///
/// `extremes`: a CFL step of shallow water on 512^2 cells takes 1.24 times a given one where the
/// loop that writes the state takes them, 1.13 times with a pass of their own.
pub(super) const COSTS: CostModel = CostModel {
    at_offsets: (MEASURED.store + MEASURED.load) as u32,
    extremes: Extremes::Apart,
    ..CostModel::of(&MEASURED, MEASURED.neighbour as u32)
};
