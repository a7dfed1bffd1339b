//! Facts of kernels, which built programs have as constants.

use equelle_front::ir::{Kernel, Module};
use equelle_front::report::KernelBytes;
use equelle_interp::value::canonical_set;
use equelle_runtime::{CanonicalSet, KernelBytes as Bytes, KernelInfo};

/// Facts of a kernel, with their texts.
#[derive(Debug)]
pub struct KernelFacts {
    name: String,
    lines: Vec<u32>,
    set: Option<CanonicalSet>,
    bytes: Bytes,
    takes_joined_sides: bool,
}

impl KernelFacts {
    /// Those of a kernel of a module.
    pub fn new(module: &Module, kernel: &Kernel) -> KernelFacts {
        let KernelBytes { general, cartesian } = KernelBytes::of(module, kernel);
        let set = kernel.space_set().and_then(|set| module.sets.get(set).canonical);
        KernelFacts {
            name: kernel.name.clone(),
            lines: module.lines_of(kernel),
            set: set.map(canonical_set),
            bytes: Bytes { general, cartesian: cartesian.unwrap_or(general) },
            takes_joined_sides: kernel.takes_joined_sides(&module.sets),
        }
    }

    /// The facts as the runtime takes them.
    pub fn info(&self) -> KernelInfo<'_> {
        let KernelFacts { name, lines, set, bytes, takes_joined_sides } = self;
        // Interpreted kernels compute all that they are given.
        let halo_layers = u32::MAX;
        KernelInfo { name, lines, set: *set, bytes: *bytes, takes_joined_sides: *takes_joined_sides, halo_layers }
    }
}
