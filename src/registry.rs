//! The back-ends. Adding one means adding a variant here and the crate it names.

use clap::ValueEnum;
use equelle_front::backend::Backend;
use equelle_front::cost::CostModel;

/// A back-end that programs can be compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum)]
pub enum BackendName {
    /// Plain loops on the processor
    Serial,
    /// NVIDIA GPUs
    Cuda,
}

impl BackendName {
    /// All of them.
    pub const ALL: [BackendName; 2] = [BackendName::Serial, BackendName::Cuda];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            BackendName::Serial => "serial",
            BackendName::Cuda => "cuda",
        }
    }

    /// The crate that generated programs depend on.
    pub fn runtime_crate(self) -> &'static str {
        match self {
            BackendName::Serial => "backend-serial",
            BackendName::Cuda => "backend-cuda",
        }
    }

    /// Its code generation.
    pub fn code_generator(self) -> &'static dyn Backend {
        match self {
            BackendName::Serial => &backend_serial::codegen::Serial,
            BackendName::Cuda => &backend_cuda::codegen::Cuda,
        }
    }
}

/// The costs that a program for some back-ends is optimised for: those of the first, which is the one that it runs on unless told otherwise. They share one module.
pub fn costs(backends: &[BackendName]) -> CostModel {
    backends.first().map(|backend| backend.code_generator().costs()).unwrap_or_default()
}

/// Code generation of some back-ends.
pub fn code_generators(backends: &[BackendName]) -> Vec<&'static dyn Backend> {
    backends.iter().map(|backend| backend.code_generator()).collect()
}
