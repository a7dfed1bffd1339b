//! Kernels of twophase_upwind.equelle. Names no target: every back-end implements [`Kernels`] for its runtime.

use equelle_runtime::{
    CanonicalSet, EntityKind, Extent, EquelleRuntime, Error, KernelBytes, KernelInfo,
};

/// Arguments of [`Kernels::compute_residual`].
pub struct ComputeResidual<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub s: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub s0: &'a R::ScalarCollection,
    /// Collection Of Scalar On InteriorFaces()
    pub flux: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub pore_volume: &'a R::ScalarCollection,
    /// Domain source_cells
    pub source_cells: &'a R::Domain,
    /// Collection Of Scalar On source_cells
    pub source_values: &'a R::ScalarCollection,
    /// Scalar
    pub watervisc: &'a R::Scalar,
    /// Scalar
    pub oilvisc: &'a R::Scalar,
    /// Scalar
    pub dt: &'a R::Scalar,
}

/// Facts of [`Kernels::compute_residual`].
pub const COMPUTE_RESIDUAL: KernelInfo = KernelInfo {
    name: "compute_residual",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [80, 108, 136],
        cartesian: [48, 56, 64],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// One method per kernel.
pub trait Kernels: EquelleRuntime {
    /// Evaluated once per element of AllCells().
    fn compute_residual(
        &mut self,
        args: ComputeResidual<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;
}
