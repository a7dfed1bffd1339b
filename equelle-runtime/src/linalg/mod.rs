//! Linear systems: sparse matrices, Krylov methods written once over small traits, direct LU, and a
//! driver.
//!
//! Reading order: [`matrix`] (sparse matrices), [`space`] (the operations of a back-end, and the
//! host as one), [`krylov`] (iterative methods), [`null_space`] (matrices that are singular up to a
//! constant), [`precond`] (preconditioners), [`direct`] (direct solvers), [`driver`] (choice of
//! method, and the entry point [`solve()`]).
//!
//! [`driver::system`] says when a system is solved. That is evaluated from `x` itself after the
//! method has proposed to stop; a residual below the caller's `negligible` also passes. No `x` that
//! fails this test is returned as a solution.

pub mod direct;
pub mod driver;
pub mod krylov;
pub mod matrix;
pub mod null_space;
pub mod precond;
pub mod ranks;
pub mod space;

pub use direct::solver::{Definiteness, Direct, DirectError, DirectMatrix, DirectSolver};
pub use driver::cache::LinearCache;
pub use driver::error::{LinearError, LinearErrorKind};
pub use driver::options::{LinearOptions, Method, Preconditioning, refusal};
pub use driver::solution::Solution;
pub use driver::solve::{solve, solve_blocks, solve_in, solve_on_host};
pub use driver::system::Rows;
pub use matrix::block_matrix::{BlockMatrix, BlockPattern};
pub use matrix::csr::{Csr, CsrError, Pattern, Symmetry};
pub use matrix::sparse_rows::SparseRows;
pub use ranks::{HaloColumns, RankMatrix, RankSpace, solve_on_ranks};
pub use space::host_matrix::HostMatrix;
pub use space::matrix_space::{MatrixSpace, MultigridSpace};
pub use space::system_space::SystemSpace;
pub use space::vector_space::{LinearOperator, Preconditioner, VectorSpace};
