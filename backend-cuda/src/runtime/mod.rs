//! The CUDA runtime: data lives on the device from input to output.
//!
//! Reading order: [`device`] (what is needed of a device; [`device::gpu`] and, for tests, [`device::emulator`] implement it), [`kernels`] (kernel texts), [`pool`]
//! (memory), [`queue`] (launches and graphs), [`args`] (arguments of kernels), [`program`] (the runtime itself), `support` (what generated kernels call), `tuning` (shapes of launches), `outputs`, `finite`,
//! `grid` (its arrays), `sets` (lists and ranks), `traits`, `host_access`; then [`rows`] (Jacobians), `newton`, `krylov` (vectors of
//! linear solvers), `passes` (what goes in one pass), `matrices`, `systems` (what solvers ask of matrices), `schedule`, `factors`, `elimination`, `fsai` and `direct` (LU on the device).
//!
//! # How a generated kernel is launched
//!
//! ```text
//! fn compute_u(&mut self, args: ComputeU<'_, Self>) -> Result<ScalarCollection, Error> {
//!     let domain = self.canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
//!     let u_new = self.new_collection(&domain)?;
//!     if self.uses_cartesian_forms() {
//!         let call = self
//!             .call(&KERNELS, "compute_u_cartesian")?
//!             .arg(self.cartesian_args()?)
//!             .arg(self.cartesian_ranks(args.dirichlet_boundary)?)
//!             .arg(self.dense(args.u)?.pointer())
//!             .arg(self.scalar_pointer(args.dt)?)
//!             .arg(args.minus_itrans.pointer())
//!             .arg(u_new.pointer());
//!         self.launch_over_cells(call)?;
//!     } else {
//!         let call = self.call(&KERNELS, "compute_u")?.arg(self.space(&domain)?).arg(self.grid_args(GridArrays { sides: true, ..GridArrays::default() })?) // ...
//!         self.launch_over(call, domain.len())?;
//!     }
//!     Ok(u_new)
//! }
//! ```
//!
//! Launches are queued; whatever needs a result on the host flushes the queue. See [`queue`] for graphs.

pub mod args;
pub mod device;
pub mod kernels;
pub mod pool;
pub mod program;
pub mod queue;

mod arithmetic;
mod bools;
mod cache;
mod coarsening;
mod collections;
mod conditions;
mod derivatives;
mod direct;
#[cfg(test)]
mod direct_tests;
mod discrete;
mod elimination;
mod factors;
mod finite;
mod forms;
mod fsai;
mod grid;
mod host_access;
mod jacobian;
mod krylov;
mod matrices;
mod newton;
mod on_extend;
mod operations;
mod outputs;
mod parts;
mod passes;
mod precision;
mod pressure;
mod projection;
pub mod rows;
mod schedule;
mod select;
mod sequences;
mod sets;
mod sides;
mod single;
mod smoothing;
mod steady;
mod support;
mod systems;
#[cfg(test)]
mod systems_tests;
#[cfg(test)]
mod test_support;
mod topology;
mod traits;
mod tuning;
mod vectors;

pub use collections::{
    Bool, BoolCollection, Collection, EntityCollection, Loop, Scalar, ScalarCollection, Sequence, Vector, VectorCollection,
};
pub use grid::GridArrays;
pub use jacobian::Jacobian;
pub use kernels::{FloatingPoint, KernelModule};
pub use precision::Precision;
pub use program::{CudaRuntime, open_device, report, run, run_on, run_with_precision};
pub use queue::Counters;
