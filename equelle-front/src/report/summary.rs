//! Sums of the kernels of a part.

use std::collections::BTreeSet;

use super::{Cartesian, Item, KernelItem, Part, Report, Traffic};

/// Kernels of a part, and their work for each cell of a large grid.
#[derive(Clone, Debug, PartialEq)]
pub struct PartTotals {
    /// Number of kernels.
    pub kernels: usize,
    /// Number of operations outside kernels, which are not in the sums.
    pub operations: usize,
    /// On any grid. `[dimensions]`
    pub general: Vec<PerCell>,
    /// On uniform Cartesian grids. `[dimensions]`
    pub cartesian: Vec<PerCell>,
    /// Sets that only few elements are in, whose kernels are not in the sums.
    pub left_out: BTreeSet<String>,
}

/// Work for one cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PerCell {
    /// Arithmetic operations, comparisons and choices.
    pub flops: f64,
    /// Bytes read and written, if each kernel moves each array once.
    pub bytes: f64,
}

impl Report {
    /// Sums of a part of this report.
    pub fn totals(&self, part: &Part) -> PartTotals {
        let dimensions = 0..self.dimensions.len();
        let sum = |work: &dyn Fn(&KernelItem, usize) -> PerCell| {
            let add = |a: PerCell, b: PerCell| PerCell { flops: a.flops + b.flops, bytes: a.bytes + b.bytes };
            dimensions.clone().map(|dim| part.kernels().map(|kernel| work(kernel, dim)).fold(PerCell::default(), add)).collect()
        };
        let is_small = |kernel: &&KernelItem| !kernel.over.is_empty() && kernel.per_cell.iter().all(|&count| count == 0.0);
        PartTotals {
            kernels: part.kernels().count(),
            operations: part.items.iter().filter(|item| matches!(item, Item::Operation { .. })).count(),
            general: sum(&|kernel, dim| work_per_cell(kernel, dim, &kernel.general)),
            cartesian: sum(&|kernel, dim| match &kernel.cartesian {
                Cartesian::General => work_per_cell(kernel, dim, &kernel.general),
                Cartesian::PerAxis => PerCell::default(),
                Cartesian::Full(traffic) => work_per_cell(kernel, dim, traffic),
            }),
            left_out: part.kernels().filter(is_small).map(|kernel| kernel.over.clone()).collect(),
        }
    }
}

/// Work of a kernel for each cell, at a place in the list of dimensions.
fn work_per_cell(kernel: &KernelItem, dim: usize, traffic: &[Traffic]) -> PerCell {
    let (elements, Traffic { flops, bytes, .. }) = (kernel.per_cell[dim], traffic[dim]);
    PerCell { flops: elements * flops as f64, bytes: elements * bytes }
}
