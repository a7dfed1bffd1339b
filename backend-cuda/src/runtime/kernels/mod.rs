//! Kernels: CUDA C++ sources, and the modules compiled from them.
//!
//! [`PRELUDE`] precedes every module: types and arguments of kernels, then functions for the
//! entities of a grid, half-faces, rows of Jacobians and reductions. A `.cuh` file is part of
//! several modules.

mod module;
mod prelude;

pub use module::{
    COLLECTIONS_MODULE, CompileOptions, DERIVATIVES_MODULE, FACTORISATION_MODULE, FloatingPoint, KernelModule, KernelText, MATRICES_MODULE,
    MIXED_PRECISION_MODULE, MULTIGRID_MODULE, OPERATIONS_MODULE, OWN_MODULES, PRODUCT_SUMS_MODULE, PRODUCTS_MODULE, RUNTIME_MODULE,
    SUBSTITUTION_MODULE, VECTORS_MODULE, before_kernels, solver_module,
};
pub use prelude::PRELUDE;
