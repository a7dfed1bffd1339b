//! Linear systems: hand-computed answers, random systems of each solver's class, and every way to fail.

#![cfg(feature = "lu")]

mod common;
mod coupled;
mod csr;
mod failures;
mod null_space;
mod options;
mod solvers;
