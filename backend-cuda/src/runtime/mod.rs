//! The CUDA runtime: data lives on the device from input to output.
//!
//! Reading order: [`device`] (interface of a device, implemented by [`device::gpu`] and, for tests,
//! [`device::emulator`]), [`kernels`] (CUDA sources), [`executor`] (memory, launches and graphs on
//! a device), `linalg` (vectors, matrices and preconditioners, on the executor alone), `grid` (its
//! arrays and sets), `values` (collections, memory, conditions, outputs), [`runtime`] (the runtime
//! type), `kernel_arguments` (functions for generated host code), `traits` (the runtime interface),
//! `operations` (the operation level), `autodiff` (Jacobians and Newton's method).
//!
//! Generated host code calls `kernel_arguments`; docs/internals/cuda.md quotes one of its launches.
//! Launches are queued; a result on the host flushes the queue. See [`executor::queue`] for graphs.

pub mod device;
pub mod executor;
pub mod kernels;

mod autodiff;
pub(crate) mod grid;
mod kernel_arguments;
mod linalg;
mod operations;
mod outputs;
#[allow(clippy::module_inception)]
pub mod runtime;
#[cfg(test)]
mod test_support;
mod traits;
mod values;

pub use executor::precision::Precision;
pub use executor::queue::Counters;
pub use executor::reduce::{Extreme, Leaves};
pub use grid::arrays::GridArrays;
pub use kernels::{FloatingPoint, KernelModule, KernelText};
pub use linalg::csr::{CsrPattern, Jacobian};
pub use linalg::space::Space;
pub use runtime::{CudaRuntime, open_device, report, run, run_compiling, run_on, run_with_precision};
pub use values::collections::{
    Bool, BoolCollection, Collection, EntityCollection, Loop, Scalar, ScalarCollection, Sequence, Vector, VectorCollection,
};
