//! Facts of the kernels of a program.

use crate::entity::CanonicalSet;
use crate::grid::Grid;

/// Data of a kernel for run-time messages and `--profile`; constants in generated programs.
#[derive(Clone, Copy, Debug)]
pub struct KernelInfo<'a> {
    /// Name of the kernel.
    pub name: &'a str,
    /// Equelle lines it came from, innermost first.
    pub lines: &'a [u32],
    /// The set over which it runs; `None` for a set made at run time, and for one evaluation.
    pub set: Option<CanonicalSet>,
    /// Its least memory traffic.
    pub bytes: KernelBytes,
    /// True if its Cartesian form also takes grids with joined sides.
    pub takes_joined_sides: bool,
    /// Layers of a rank's halo in which its results are right, and may be read.
    pub halo_layers: u32,
}

impl KernelInfo<'_> {
    /// True if a grid gets its Cartesian form.
    pub(crate) fn is_cartesian_on(&self, grid: &Grid) -> bool {
        grid.cartesian_shape().is_some() || self.takes_joined_sides && grid.closed_shape().is_some()
    }

    /// Least memory traffic of a call over so many elements of a grid, in bytes.
    pub fn bytes_moved(&self, grid: &Grid, elements: usize) -> u64 {
        let by_dim = if self.is_cartesian_on(grid) { self.bytes.cartesian } else { self.bytes.general };
        let of_one = by_dim.get(grid.dim().wrapping_sub(1)).copied().unwrap_or(0);
        elements as u64 * u64::from(of_one)
    }
}

/// Bytes of a kernel for one element if each array goes through the cache once; by dimension of the
/// grid, from 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelBytes {
    /// On any grid.
    pub general: [u32; 3],
    /// On a uniform Cartesian grid.
    pub cartesian: [u32; 3],
}

impl KernelBytes {
    /// Bytes of a kernel without arrays.
    pub const NONE: KernelBytes = KernelBytes { general: [0; 3], cartesian: [0; 3] };
}
