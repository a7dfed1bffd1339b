//! Tests without a GPU: texts of kernels, devices that refuse, the emulator, the table of solvers.

#[cfg(feature = "runtime")]
#[path = "../common/mod.rs"]
mod common;

mod checks;
mod devices;
mod emulator;
mod halves;
mod kernels_by_index;
mod solver_table;
