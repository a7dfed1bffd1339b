//! Linear systems: sparse matrices, iterative solvers written once over small traits, direct LU, and one front door.
//!
//! Reading order: [`csr`] (matrices; `product` for products), [`block_matrix`] (those of several fields; [`rows`] for what both have in common), [`options`] (which method, when it stops), [`choose`] (which one where nothing is
//! asked for), [`mod@solve`] (the front door, [`solve()`]; `cache` for what it keeps), [`null_space`] (matrices that leave the level of the unknown open; `coupled`
//! for several fields), [`error`], [`space`], [`matrix_space`] and [`system_space`] (what a back-end provides), [`krylov`] (what the iterative methods have in common), [`cg`],
//! [`bicgstab`], [`gmres`], [`precond`] (preconditioners), [`schedule`] (orders for many rows at a time), [`host`] and [`host_matrix`] (vectors and matrices on the host; `mixed_precision` for multigrid there), [`traffic`] (bytes that an iteration moves), `dense` (small matrices), [`direct`] (direct solvers of back-ends); with the feature `lu`
//! `elimination` (what is around them), `device_lu` and `lu` (on the host).
//!
//! One meaning of tolerance: a system is solved when `|b - A x| <= tolerance |b|` in the 2-norm, evaluated from `x` itself after the method
//! says that it is done; or when it is below what the caller calls negligible. Nothing that fails this test is ever returned as a solution.

pub mod bicgstab;
pub mod block_matrix;
mod cache;
pub mod cg;
pub mod choose;
mod coupled;
pub mod csr;
mod dense;
#[cfg(feature = "lu")]
mod device_lu;
pub mod direct;
#[cfg(feature = "lu")]
mod elimination;
pub mod error;
pub mod gmres;
pub mod host;
pub mod host_matrix;
#[cfg(feature = "lu")]
mod interruptible;
pub mod krylov;
#[cfg(feature = "lu")]
mod lu;
pub mod matrix_space;
pub mod mixed_precision;
pub mod null_space;
pub mod options;
pub mod precond;
mod product;
pub mod rows;
pub mod schedule;
pub mod solve;
pub mod space;
pub mod system_space;
pub mod traffic;

pub use block_matrix::{BlockMatrix, BlockPattern};
pub use cache::LinearCache;
pub use csr::{Csr, CsrFault, Pattern, Symmetry};
pub use direct::{Definiteness, Direct, DirectFault, DirectMatrix, DirectSolver};
pub use error::{LinearError, LinearErrorKind};
pub use host_matrix::HostMatrix;
pub use matrix_space::MatrixSpace;
pub use options::{LinearOptions, Method, Preconditioning, refusal};
pub use rows::SparseRows;
pub use solve::{Solution, solve, solve_blocks, solve_in, solve_on_host};
pub use space::{LinearOperator, Preconditioner, VectorSpace};
pub use system_space::SystemSpace;
