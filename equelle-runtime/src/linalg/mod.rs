//! Linear systems: sparse matrices, iterative solvers written once over small traits, direct LU, and one front door.
//!
//! Reading order: [`csr`] (matrices), [`options`] (which method, when it stops), [`mod@solve`] (the front door, [`solve()`]), [`null_space`]
//! (matrices that leave the level of the unknown open; `coupled` for several fields), [`error`], [`space`] (what a back-end provides), [`krylov`] (what the iterative
//! methods have in common), [`cg`], [`bicgstab`], [`gmres`], [`host`] (vectors on the host), `lu` (with the feature of that name).
//!
//! One meaning of tolerance: a system is solved when `|b - A x| <= tolerance |b|` in the 2-norm, evaluated from `x` itself after the method
//! says that it is done; or when it is below what the caller calls negligible. Nothing that fails this test is ever returned as a solution.

pub mod bicgstab;
pub mod cg;
mod coupled;
pub mod csr;
pub mod error;
pub mod gmres;
pub mod host;
pub mod krylov;
#[cfg(feature = "lu")]
mod lu;
pub mod null_space;
pub mod options;
pub mod solve;
pub mod space;

pub use csr::{Csr, CsrFault, Symmetry};
pub use error::{LinearError, LinearErrorKind};
pub use options::{LinearOptions, Method, Preconditioning};
pub use solve::{LinearCache, Solution, solve, solve_blocks};
pub use space::{LinearOperator, Preconditioner, VectorSpace};
