//! See ARCHITECTURE.md.

#[cfg(feature = "codegen")]
pub mod codegen;
#[cfg(feature = "runtime")]
pub mod runtime;
