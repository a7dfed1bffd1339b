//! Kernels of swe_stage.equelle. Names no target: every back-end implements [`Kernels`] for its runtime.

use equelle_runtime::{
    CanonicalSet, EntityKind, Extent, EquelleRuntime, Error, KernelBytes, KernelInfo,
};

/// Arguments of [`Kernels::stage`].
pub struct Stage<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub w: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub hu: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub hv: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub b: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub b_north: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub b_south: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub b_east: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub b_west: &'a R::ScalarCollection,
    /// Scalar
    pub dx: &'a R::Scalar,
    /// Scalar
    pub dy: &'a R::Scalar,
    /// Scalar
    pub dt: &'a R::Scalar,
}

/// Facts of [`Kernels::stage`].
pub const STAGE: KernelInfo = KernelInfo {
    name: "stage",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [0, 200, 248],
        cartesian: [0, 88, 88],
    },
    takes_joined_sides: true,
    halo_layers: 0,
};

/// Arguments of [`Kernels::mean`].
pub struct Mean<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub old: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub ahead: &'a R::ScalarCollection,
}

/// Facts of [`Kernels::mean`].
pub const MEAN: KernelInfo = KernelInfo {
    name: "mean",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [24, 24, 24],
        cartesian: [24, 24, 24],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// Arguments of [`Kernels::bottom`].
pub struct Bottom<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub north: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub south: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub east: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub west: &'a R::ScalarCollection,
}

/// Facts of [`Kernels::bottom`].
pub const BOTTOM: KernelInfo = KernelInfo {
    name: "bottom",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [40, 40, 40],
        cartesian: [40, 40, 40],
    },
    takes_joined_sides: false,
    halo_layers: 1,
};

/// One method per kernel.
pub trait Kernels: EquelleRuntime {
    /// Evaluated once per element of AllCells().
    fn stage(
        &mut self,
        args: Stage<'_, Self>,
    ) -> Result<
        (Self::ScalarCollection, Self::ScalarCollection, Self::ScalarCollection),
        Error,
    >;

    /// Evaluated once per element of AllCells().
    fn mean(&mut self, args: Mean<'_, Self>) -> Result<Self::ScalarCollection, Error>;

    /// Evaluated once per element of AllCells().
    fn bottom(
        &mut self,
        args: Bottom<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;
}
