//! Kernels that run over the leaves of reductions, in the order of the grid's file.

use equelle_front::ir::Kernel;
use equelle_front::types::Basic;

/// True if a kernel goes through the leaves of its reductions. Extremes of what it writes have no
/// order, so that any thread takes its own.
pub(super) fn goes_by_leaves(kernel: &Kernel) -> bool {
    let mut reductions = kernel.results.iter().filter_map(|r| Some((r.reduce?, r.ty.basic))).peekable();
    let on_the_way = kernel.results.iter().any(|r| r.reduce.is_none())
        && reductions.clone().all(|(reduction, basic)| reduction.is_extreme() && basic == Basic::Scalar);
    reductions.peek().is_some() && !on_the_way
}
