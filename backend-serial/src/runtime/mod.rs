//! The serial runtime: plain loops over plain arrays, shared among the threads of the session; the
//! reference for every other back-end.
//!
//! Reading order: [`collections`] (values), [`pool`] (their memory), [`allocation`], [`kernel`] and
//! [`entities`] (functions for kernels), then the operation level, one topic per file: `topology`,
//! `arithmetic`, `vectors`, `bools`, `select`, `gather_scatter`, `discrete`, `sequences`; then
//! `forward` and `jacobian`, its derivatives inside a Newton solve, which is in `newton` (only with
//! the feature `solvers`); [`stencil`] and `equation`, the rows of kernels of equations;
//! [`stencil_rows`], [`row_offsets`] and [`lanes`], the rows of kernels that read by index.
//! `runtime` (the runtime type and the trait for all programs), `outputs`, `operations`,
//! `collection_operations` and `host_access` contain the trait implementations, which add the
//! Equelle line to every error.
//!
//! **Errors.** Data that only the run knows (an Empty element, an empty collection to reduce,
//! unreadable input) gives an [`Error`](equelle_runtime::Error) with the Equelle line. Facts that
//! the compiler has proved (operands of one call are on the same domain) are debug assertions; if
//! one is violated in a release build, the result is wrong or the program stops with an index out
//! of bounds, never worse.

// Newton's method alone takes collections apart.
#![cfg_attr(not(feature = "solvers"), allow(dead_code))]

pub mod allocation;
mod arithmetic;
mod bools;
mod cartesian_grid;
mod checkpoint;
mod collection_operations;
pub mod collections;
mod compiled;
mod discrete;
pub mod entities;
mod equation;
mod forward;
mod gather_scatter;
mod host_access;
mod idle_copies;
mod implicit;
mod jacobian;
pub mod kernel;
pub mod lanes;
#[cfg(feature = "solvers")]
mod newton;
#[cfg(feature = "solvers")]
mod newton_evaluation;
#[cfg(feature = "solvers")]
mod newton_on_ranks;
#[cfg(feature = "solvers")]
mod newton_state;
mod operations;
mod outputs;
pub mod pool;
#[cfg(feature = "solvers")]
mod rank_systems;
mod ranks;
mod row_copies;
pub mod row_offsets;
#[expect(clippy::module_inception, reason = "what the folder is about")]
mod runtime;
mod select;
mod sequences;
pub mod stencil;
pub mod stencil_rows;
mod structured;
pub mod sweep;
mod tabulated;
mod tabulated_unknowns;
mod topology;
mod vectors;
#[cfg(not(feature = "solvers"))]
mod without_newton;

pub use collections::{BoolCollection, EntityCollection, ScalarCollection, Storage, VectorCollection};
pub use compiled::CompiledReal;
pub use jacobian::Jacobian;
pub use pool::{Buffer, PoolCounters, Values};
pub use runtime::{Loop, SerialRuntime, run, run_with_precision};
