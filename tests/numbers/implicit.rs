//! Implicit programs: Newton's method and linear solvers from Equelle text to checked numbers, and
//! how they fail.

mod acceptance;
mod carried;
mod failures;
mod flow;
mod heat;
mod inside;
mod rescue;
mod rescue_loops;
mod row_scales;
mod scalar;
mod search;
mod sides;
mod units;
