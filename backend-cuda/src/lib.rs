//! The CUDA back-end, in two halves with a feature each: `codegen` (kernel IR to CUDA C++, linked
//! into the compiler) and `runtime` (linked into generated programs).

#[cfg(not(any(feature = "codegen", feature = "runtime")))]
compile_error!("without the feature `codegen` or `runtime` there is nothing in this crate");

#[cfg(feature = "codegen")]
pub mod codegen;
pub mod libraries;
#[cfg(feature = "runtime")]
pub mod runtime;
