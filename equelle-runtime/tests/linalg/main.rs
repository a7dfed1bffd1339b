//! Linear systems: hand-computed answers, random systems of each solver's class, and every way to
//! fail.

#![cfg(feature = "lu")]

mod blocks;
mod choose;
mod common;
mod counted_traffic;
mod coupled;
mod csr;
mod failures;
mod grids;
mod mixed_precision;
mod null_space;
mod on_ranks;
mod options;
mod preconditioners;
mod random_systems;
mod rounded;
mod row_scales;
mod solvers;
mod threads;
mod traffic;
mod units;
