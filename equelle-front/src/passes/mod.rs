//! Passes: IR to IR. One pass per file; [`PIPELINE_O2`] is the whole order.
//!
//! `-O0` runs none: one operation per Equelle operation. `-O2` inlines, simplifies, hoists and
//! fuses operations into kernels.

mod analysis;
pub mod audit;
mod carry;
mod combine;
mod dce;
mod differentiate;
mod fuse;
pub mod halo;
mod hoist;
mod in_place;
mod inline;
mod locals;
mod masks;
mod merge;
mod notes;
mod reciprocals;
mod rewrite;
mod schedule;
mod simplify;
mod steps;
mod storage;
mod value_numbering;

pub use differentiate::differentiate;
pub(crate) use locals::{adds, assigned, drop_unread};
pub use notes::{CallNotInlined, Need, NotDifferentiated, Notes, Why};
pub(crate) use rewrite::{NodeMut, rewrite_block, rewrite_expr, rewrite_statement};
pub use storage::StorageError;

use crate::cost::CostModel;
use crate::ir::{KERNEL_PREFIXES, Kernel, Module};
use rewrite::each_function;

/// Optimisation level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OptLevel {
    /// One run-time call per Equelle operation: readable, slow, the oracle.
    O0,
    /// Fused kernels.
    #[default]
    O2,
}

/// Source of the derivatives of residuals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Derivatives {
    /// Kernels that give a residual and its row of the Jacobian in one pass, where the compiler can
    /// differentiate a residual.
    #[default]
    Stencil,
    /// Collections that carry sparse matrices, operation by operation.
    SparseMatrices,
}

/// Options of the passes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Level of optimisation.
    pub level: OptLevel,
    /// Source of the derivatives of residuals.
    pub derivatives: Derivatives,
    /// Costs of operations where the program will run.
    pub costs: CostModel,
}

/// A named pass.
#[derive(Clone, Copy)]
pub struct Pass {
    /// Name for `--emit ir-after=NAME`.
    pub name: &'static str,
    run: fn(&mut Module, &CostModel, &mut Notes),
}

impl Pass {
    /// Runs this pass alone.
    pub fn run(&self, module: &mut Module) {
        (self.run)(module, &CostModel::default(), &mut Notes::default());
    }
}

/// The passes of `-O2` in order.
pub const PIPELINE_O2: &[Pass] = &[
    Pass { name: "inline", run: |m, _, notes| inline::run(m, notes) },
    Pass { name: "simplify", run: |m, _, _| each_function(m, simplify::run) },
    Pass { name: "hoist", run: |m, _, _| each_function(m, hoist::run) },
    Pass { name: "dce", run: |m, _, _| each_function(m, dce::run) },
    Pass { name: differentiate::NAME, run: differentiate::replace },
    Pass { name: "steps", run: |m, _, _| steps::run(m) },
    Pass { name: "carry", run: carry::run },
    Pass { name: "masks", run: |m, _, _| masks::run(m) },
    Pass { name: "fuse", run: fuse::run },
    Pass { name: "dce-after-fuse", run: |m, _, _| each_function(m, dce::run) },
    Pass { name: "merge", run: |m, model, _| merge::run(m, model.extremes) },
    Pass { name: "value-numbering", run: |m, _, _| value_numbering::run(m) },
    Pass { name: "reciprocals", run: |m, _, _| reciprocals::run(m) },
    Pass { name: "in-place", run: |m, _, _| in_place::run(m) },
];

/// Makes a module of any level ready for several ranks, after all other passes: calls are inlined,
/// so that validity is known where values are read, and exchanges are inserted ([`halo`]).
///
/// # Errors
/// The construct that cannot run on ranks; the module is then of no use.
pub fn for_ranks(module: &mut Module) -> Result<halo::HaloLayers, halo::HaloRefusal> {
    inline::run(module, &mut Notes::default());
    halo::run(module)
}

/// Runs the passes of a level.
#[must_use]
pub fn optimise(module: Module, level: OptLevel) -> Module {
    optimise_with(module, level, &mut |_, _| {})
}

/// Runs the passes of a level and shows the module after each pass.
#[must_use]
pub fn optimise_with(module: Module, level: OptLevel, observer: &mut dyn FnMut(&str, &Module)) -> Module {
    optimise_by(module, &Options { level, ..Options::default() }, observer).0
}

/// Runs the passes of a level with all choices, shows the module after each pass, and tells what
/// they decided.
#[must_use]
pub fn optimise_by(mut module: Module, options: &Options, observer: &mut dyn FnMut(&str, &Module)) -> (Module, Notes) {
    let mut notes = Notes::default();
    match options.level {
        OptLevel::O0 => {}
        OptLevel::O2 => {
            // Kernels of a module that was read from text may have any names.
            let given: Vec<String> = module.kernels.iter().map(|kernel| kernel.name.clone()).collect();
            for pass in PIPELINE_O2 {
                if pass.name == differentiate::NAME && options.derivatives == Derivatives::SparseMatrices {
                    continue;
                }
                (pass.run)(&mut module, &options.costs, &mut notes);
                observer(pass.name, &module);
            }
            let named =
                |kernel: &Kernel| given.contains(&kernel.name) || KERNEL_PREFIXES.iter().any(|prefix| kernel.name.starts_with(prefix));
            debug_assert!(module.kernels.iter().all(named), "kernels have the names that back-ends rely on");
        }
    }
    (module, notes)
}
