//! The CUDA runtime: data lives on the device from input to output.
//!
//! Reading order: [`device`] (what is needed of a device; [`device::gpu`] and, for tests, [`device::emulator`]
//! implement it), [`kernels`] (their texts), [`executor`] (memory, launches and graphs on a device), `linalg`
//! (vectors, matrices and preconditioners, on the executor alone), `grid` (its arrays and sets), `values`
//! (collections, memory, conditions, outputs), [`runtime`] (the runtime itself, of these parts), `kernel_arguments`
//! (what generated host code calls), `traits` (the contract), `operations` (the operation level), `autodiff`
//! (Jacobians and Newton's method).
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
//! Launches are queued; whatever needs a result on the host flushes the queue. See [`executor::queue`] for graphs.

pub mod device;
pub mod executor;
pub mod kernels;

mod autodiff;
pub(crate) mod grid;
mod kernel_arguments;
mod linalg;
mod operations;
#[allow(clippy::module_inception)]
pub mod runtime;
#[cfg(test)]
mod test_support;
mod traits;
mod values;

pub use executor::precision::Precision;
pub use executor::queue::Counters;
pub use grid::arrays::GridArrays;
pub use kernels::{FloatingPoint, KernelModule};
pub use linalg::csr::Jacobian;
pub use linalg::space::Space;
pub use runtime::{CudaRuntime, open_device, report, run, run_on, run_with_precision};
pub use values::collections::{
    Bool, BoolCollection, Collection, EntityCollection, Loop, Scalar, ScalarCollection, Sequence, Vector, VectorCollection,
};
