//! Facts of kernels, which built programs have as constants.

use equelle_front::backend::KernelNames;
use equelle_front::ir::{Kernel, Module};
use equelle_front::report::KernelBytes;
use equelle_interp::value::canonical_set;
use equelle_runtime::{AccessMode, KernelBytes as Bytes, KernelInfo};

/// Those of all kernels of a module.
pub fn of_module(module: &Module) -> Vec<&'static KernelInfo> {
    module.kernels.iter().zip(KernelNames::of_module(module)).map(|(kernel, names)| info(module, kernel, &names)).collect()
}

fn info(module: &Module, kernel: &Kernel, names: &KernelNames) -> &'static KernelInfo {
    let argument = |name: &String, access| (super::constant(name), access);
    let reads = names.params.iter().map(|name| argument(name, AccessMode::Read));
    let writes = names.results.iter().map(|name| argument(name, AccessMode::Write));
    let KernelBytes { general, cartesian } = KernelBytes::of(module, kernel);
    let set = kernel.space_set().and_then(|set| module.sets.get(set).canonical);
    Box::leak(Box::new(KernelInfo {
        name: super::constant(&kernel.name),
        lines: Box::leak(module.lines_of(kernel).into_boxed_slice()),
        arguments: Box::leak(reads.chain(writes).collect::<Vec<_>>().into_boxed_slice()),
        set: set.map(canonical_set),
        bytes: Bytes { general, cartesian: cartesian.unwrap_or(general) },
    }))
}
