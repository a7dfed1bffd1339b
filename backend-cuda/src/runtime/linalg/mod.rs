//! Linear algebra on the device: vectors, matrices and preconditioners for the solvers of
//! `equelle_runtime::linalg`. Depends on the [executor](crate::runtime::executor) alone.

mod connected_components;
pub(crate) mod csr;
mod direct;
#[cfg(test)]
mod direct_tests;
mod fused_blas1;
mod matrix_space;
mod mixed_precision;
mod null_space;
mod precond;
pub(crate) mod scalars;
mod schedule;
pub(crate) mod sell;
mod smoother;
pub(crate) mod space;
pub(crate) mod spgemm;
pub(crate) mod spmv_format;
mod system_space;
#[cfg(test)]
mod system_space_tests;
