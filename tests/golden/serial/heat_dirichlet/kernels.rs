//! Kernels of heat_dirichlet.equelle. Names no target: every back-end implements [`Kernels`] for its runtime.

use equelle_runtime::{
    CanonicalSet, EntityKind, Extent, EquelleRuntime, Error, KernelBytes, KernelInfo,
};

/// Arguments of [`Kernels::compute_itrans`].
pub struct ComputeItrans<'a, R: EquelleRuntime> {
    /// Scalar
    pub k: &'a R::Scalar,
}

/// Facts of [`Kernels::compute_itrans`].
pub const COMPUTE_ITRANS: KernelInfo = KernelInfo {
    name: "compute_itrans",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Face, Extent::Interior)),
    bytes: KernelBytes {
        general: [48, 36, 32],
        cartesian: [0, 0, 0],
    },
    takes_joined_sides: true,
    halo_layers: 0,
};

/// Arguments of [`Kernels::compute_btrans`].
pub struct ComputeBtrans<'a, R: EquelleRuntime> {
    /// Scalar
    pub k: &'a R::Scalar,
    /// Domain dirichlet_boundary
    pub dirichlet_boundary: &'a R::Domain,
}

/// Facts of [`Kernels::compute_btrans`].
pub const COMPUTE_BTRANS: KernelInfo = KernelInfo {
    name: "compute_btrans",
    lines: &[],
    set: None,
    bytes: KernelBytes {
        general: [72, 72, 72],
        cartesian: [72, 72, 72],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// Arguments of [`Kernels::compute_u`].
pub struct ComputeU<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub u: &'a R::ScalarCollection,
    /// Collection Of Scalar On InteriorFaces()
    pub itrans: &'a R::ScalarCollection,
    /// Collection Of Scalar On dirichlet_boundary
    pub btrans: &'a R::ScalarCollection,
    /// Collection Of Scalar On dirichlet_boundary
    pub dirichlet_val: &'a R::ScalarCollection,
    /// Domain dirichlet_boundary
    pub dirichlet_boundary: &'a R::Domain,
    /// Scalar
    pub dt: &'a R::Scalar,
}

/// Facts of [`Kernels::compute_u`].
pub const COMPUTE_U: KernelInfo = KernelInfo {
    name: "compute_u",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [60, 88, 116],
        cartesian: [16, 16, 16],
    },
    takes_joined_sides: true,
    halo_layers: 0,
};

/// One method per kernel.
pub trait Kernels: EquelleRuntime {
    /// Evaluated once per element of InteriorFaces().
    fn compute_itrans(
        &mut self,
        args: ComputeItrans<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// Evaluated once per element of dirichlet_boundary.
    fn compute_btrans(
        &mut self,
        args: ComputeBtrans<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// Evaluated once per element of AllCells().
    fn compute_u(
        &mut self,
        args: ComputeU<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;
}
