//! Functions of numbers that the language defines for every back-end: those of [`equelle_core`],
//! and functions that data give.

pub mod table;
pub mod table2;

pub use equelle_core::cuda::cuda_dispatch_text;
pub use equelle_core::math::*;
pub use table::{interpolate, slope};

/// CUDA C++ text of the functions and of tables, for the prelude of kernels. It needs
/// `EQ_FUNCTION`.
pub fn cuda_text() -> String {
    equelle_core::cuda::cuda_text() + table::CUDA_TEXT
}
