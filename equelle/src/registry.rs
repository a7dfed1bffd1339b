//! The back-ends. A new one is its crate and a line here.

use equelle_front::backend::Backend;
use equelle_front::cost::CostModel;

/// Back-ends; the first one is the default.
pub type Registry = &'static [&'static dyn Backend];

/// Those of the compiler.
pub const BACKENDS: Registry = &[
    &backend_serial::codegen::Serial,
    &backend_cuda::codegen::Cuda, // new ones follow
];

/// The back-end of a name.
pub fn find(backends: Registry, name: &str) -> Option<&'static dyn Backend> {
    backends.iter().copied().find(|backend| backend.name() == name)
}

/// The back-end that is used unless another one is named.
///
/// # Panics
/// If the registry is empty.
pub fn default(backends: Registry) -> &'static dyn Backend {
    backends[0]
}

/// The costs that a program for some back-ends is optimised for: those of the first, on which it
/// runs by default. They share one module.
pub fn costs(backends: &[&dyn Backend]) -> CostModel {
    backends.first().map(|backend| backend.costs()).unwrap_or_default()
}
