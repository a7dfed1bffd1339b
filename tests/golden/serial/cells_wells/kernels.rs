//! Kernels of cells_wells.equelle. Names no target: every back-end implements [`Kernels`] for its runtime.

use equelle_runtime::{
    CanonicalSet, EntityKind, Extent, EquelleRuntime, Error, KernelBytes, KernelInfo,
};

/// Arguments of [`Kernels::residual_of_cells`].
pub struct ResidualOfCells<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub p: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub p0: &'a R::ScalarCollection,
    /// Collection Of Scalar On wells
    pub bhp: &'a R::ScalarCollection,
    /// Collection Of Scalar On wells
    pub index: &'a R::ScalarCollection,
    /// Domain wells
    pub wells: &'a R::Domain,
    /// Collection Of Scalar On InteriorFaces()
    pub itrans: &'a R::ScalarCollection,
    /// Scalar
    pub compressibility: &'a R::Scalar,
    /// Scalar
    pub dt: &'a R::Scalar,
}

/// Facts of [`Kernels::residual_of_cells`].
pub const RESIDUAL_OF_CELLS: KernelInfo = KernelInfo {
    name: "residual_of_cells",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [88, 116, 144],
        cartesian: [40, 40, 40],
    },
    takes_joined_sides: true,
    halo_layers: 0,
};

/// Arguments of [`Kernels::residual_of_wells`].
pub struct ResidualOfWells<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub p: &'a R::ScalarCollection,
    /// Collection Of Scalar On wells
    pub bhp: &'a R::ScalarCollection,
    /// Collection Of Scalar On wells
    pub index: &'a R::ScalarCollection,
    /// Collection Of Scalar On wells
    pub rate: &'a R::ScalarCollection,
    /// Domain wells
    pub wells: &'a R::Domain,
}

/// Facts of [`Kernels::residual_of_wells`].
pub const RESIDUAL_OF_WELLS: KernelInfo = KernelInfo {
    name: "residual_of_wells",
    lines: &[],
    set: None,
    bytes: KernelBytes {
        general: [40, 40, 40],
        cartesian: [40, 40, 40],
    },
    takes_joined_sides: false,
    halo_layers: 1,
};

/// Arguments of [`Kernels::compute_itrans`].
pub struct ComputeItrans<'a, R: EquelleRuntime> {
    /// Scalar
    pub mobility: &'a R::Scalar,
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

/// One method per kernel.
pub trait Kernels: EquelleRuntime {
    /// Evaluated once per element of AllCells().
    fn residual_of_cells(
        &mut self,
        args: ResidualOfCells<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// Evaluated once per element of wells.
    fn residual_of_wells(
        &mut self,
        args: ResidualOfWells<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// Evaluated once per element of InteriorFaces().
    fn compute_itrans(
        &mut self,
        args: ComputeItrans<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;
}
