//! Direct solvers: [`solver`] is the trait for back-ends. With the feature `lu`: `elimination`
//! (common parts), `device_lu` (with the solver of a back-end), `lu` (on the host), `interruptible`
//! (work on its own thread).

#[cfg(feature = "lu")]
pub(super) mod device_lu;
#[cfg(feature = "lu")]
pub(super) mod elimination;
#[cfg(feature = "lu")]
mod interruptible;
#[cfg(feature = "lu")]
pub(super) mod lu;
pub mod solver;
