//! See ARCHITECTURE.md.

#[cfg(not(any(feature = "codegen", feature = "runtime")))]
compile_error!("without the feature `codegen` or `runtime` there is nothing in this crate");

#[cfg(feature = "codegen")]
pub mod codegen;
#[cfg(feature = "runtime")]
pub mod runtime;
