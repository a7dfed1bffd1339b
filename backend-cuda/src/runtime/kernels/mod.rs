//! Kernels: CUDA C++ sources, and the modules compiled from them.
//!
//! [`PRELUDE`] precedes every module: types and arguments of kernels, then functions for the
//! entities of a grid, half-faces, rows of Jacobians and reductions. A `.cuh` file is part of
//! several modules.

mod module;
mod prelude;

pub use module::{
    COLLECTIONS_MODULE, CompileOptions, DERIVATIVES_MODULE, FACTORISATION_MODULE, FloatingPoint, KernelModule, MIXED_PRECISION_MODULE,
    OPERATIONS_MODULE, OWN_MODULES, RUNTIME_MODULE, SOLVERS_MODULE, SUBSTITUTION_MODULE, before_kernels,
};
pub use prelude::PRELUDE;
