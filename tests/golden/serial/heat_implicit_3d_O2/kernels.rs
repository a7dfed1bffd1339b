//! Kernels of heat_implicit_3d.equelle. Names no target: every back-end implements [`Kernels`] for its runtime.

use equelle_runtime::{
    CanonicalSet, EntityKind, Extent, EquelleRuntime, Error, KernelBytes, KernelInfo,
};

/// Arguments of [`Kernels::residual_u`].
pub struct ResidualU<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub u: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub u0: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub dt_cv_volume: &'a R::ScalarCollection,
    /// Collection Of Scalar On InteriorFaces()
    pub minus_itrans: &'a R::ScalarCollection,
    /// Domain dir_boundary
    pub dir_boundary: &'a R::Domain,
    /// Collection Of Scalar On dir_boundary
    pub btrans_direction: &'a R::ScalarCollection,
    /// Collection Of Scalar On dir_boundary
    pub dir_val: &'a R::ScalarCollection,
}

/// Facts of [`Kernels::residual_u`].
pub const RESIDUAL_U: KernelInfo = KernelInfo {
    name: "residual_u",
    lines: &[42, 24, 28, 29, 18, 41],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [110, 162, 214],
        cartesian: [48, 64, 80],
    },
    takes_joined_sides: false,
    halo_layers: 1,
};

/// Arguments of [`Kernels::compute_max_u_initial`].
pub struct ComputeMaxUInitial<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub u_initial: &'a R::ScalarCollection,
}

/// Facts of [`Kernels::compute_max_u_initial`].
pub const COMPUTE_MAX_U_INITIAL: KernelInfo = KernelInfo {
    name: "compute_max_u_initial",
    lines: &[37],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [8, 8, 8],
        cartesian: [8, 8, 8],
    },
    takes_joined_sides: false,
    halo_layers: 1,
};

/// Arguments of [`Kernels::compute_minus_itrans`].
pub struct ComputeMinusItrans<'a, R: EquelleRuntime> {
    /// Scalar
    pub k: &'a R::Scalar,
}

/// Facts of [`Kernels::compute_minus_itrans`].
pub const COMPUTE_MINUS_ITRANS: KernelInfo = KernelInfo {
    name: "compute_minus_itrans",
    lines: &[24, 15],
    set: Some(CanonicalSet::new(EntityKind::Face, Extent::Interior)),
    bytes: KernelBytes {
        general: [48, 36, 32],
        cartesian: [0, 0, 0],
    },
    takes_joined_sides: true,
    halo_layers: 0,
};

/// Arguments of [`Kernels::compute_btrans_direction`].
pub struct ComputeBtransDirection<'a, R: EquelleRuntime> {
    /// Domain dir_boundary
    pub dir_boundary: &'a R::Domain,
    /// Scalar
    pub k: &'a R::Scalar,
}

/// Facts of [`Kernels::compute_btrans_direction`].
pub const COMPUTE_BTRANS_DIRECTION: KernelInfo = KernelInfo {
    name: "compute_btrans_direction",
    lines: &[20, 29, 18, 19, 4],
    set: None,
    bytes: KernelBytes {
        general: [96, 96, 96],
        cartesian: [96, 96, 96],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// Arguments of [`Kernels::compute_dt_cv_volume`].
pub struct ComputeDtCvVolume<'a, R: EquelleRuntime> {
    /// Scalar
    pub dt: &'a R::Scalar,
    /// Scalar
    pub cv: &'a R::Scalar,
}

/// Facts of [`Kernels::compute_dt_cv_volume`].
pub const COMPUTE_DT_CV_VOLUME: KernelInfo = KernelInfo {
    name: "compute_dt_cv_volume",
    lines: &[32, 42],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [16, 16, 16],
        cartesian: [0, 0, 0],
    },
    takes_joined_sides: true,
    halo_layers: 1,
};

/// Arguments of [`Kernels::compute_max_u0`].
pub struct ComputeMaxU0<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub u0: &'a R::ScalarCollection,
}

/// Facts of [`Kernels::compute_max_u0`].
pub const COMPUTE_MAX_U0: KernelInfo = KernelInfo {
    name: "compute_max_u0",
    lines: &[46],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [8, 8, 8],
        cartesian: [8, 8, 8],
    },
    takes_joined_sides: false,
    halo_layers: 1,
};

/// One method per kernel.
pub trait Kernels: EquelleRuntime {
    /// heat_implicit_3d.equelle:41: `fluxes = (interior_flux(u) Extend AllFaces()) + (boundary_flux(u) Extend AllFaces())`
    ///
    /// heat_implicit_3d.equelle:18: `inside = InnerCell(dir_boundary)`
    ///
    /// heat_implicit_3d.equelle:29: `-> btrans * direction * (u_inside - dir_val)`
    ///
    /// heat_implicit_3d.equelle:28: `u_inside = u On inside`
    ///
    /// heat_implicit_3d.equelle:24: `-> -itrans * Gradient(u)`
    ///
    /// heat_implicit_3d.equelle:42: `-> u - u0 + (dt / (cv * volume)) * Divergence(fluxes)`
    ///
    /// Evaluated once per element of AllCells().
    fn residual_u(
        &mut self,
        args: ResidualU<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// heat_implicit_3d.equelle:37: `Output("maximum of u", MaxReduce(u0))`
    ///
    /// Evaluated once per element of AllCells().
    fn compute_max_u_initial(
        &mut self,
        args: ComputeMaxUInitial<'_, Self>,
    ) -> Result<Self::Scalar, Error>;

    /// heat_implicit_3d.equelle:15: `itrans = k * |interior| / |Centroid(first) - Centroid(second)|`
    ///
    /// heat_implicit_3d.equelle:24: `-> -itrans * Gradient(u)`
    ///
    /// Evaluated once per element of InteriorFaces().
    fn compute_minus_itrans(
        &mut self,
        args: ComputeMinusItrans<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// heat_implicit_3d.equelle:4: `k = InputScalarWithDefault("k", 2.85) * 1 [Watt / (Meter * Kelvin)]           # conductivity; granite`
    ///
    /// heat_implicit_3d.equelle:19: `direction = OutwardSign(dir_boundary)`
    ///
    /// heat_implicit_3d.equelle:18: `inside = InnerCell(dir_boundary)`
    ///
    /// heat_implicit_3d.equelle:29: `-> btrans * direction * (u_inside - dir_val)`
    ///
    /// heat_implicit_3d.equelle:20: `btrans = k * |dir_boundary| / |Centroid(dir_boundary) - Centroid(inside)|`
    ///
    /// Evaluated once per element of dir_boundary.
    fn compute_btrans_direction(
        &mut self,
        args: ComputeBtransDirection<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// heat_implicit_3d.equelle:42: `-> u - u0 + (dt / (cv * volume)) * Divergence(fluxes)`
    ///
    /// heat_implicit_3d.equelle:32: `volume = |AllCells()|`
    ///
    /// Evaluated once per element of AllCells().
    fn compute_dt_cv_volume(
        &mut self,
        args: ComputeDtCvVolume<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// heat_implicit_3d.equelle:46: `Output("maximum of u", MaxReduce(u0))`
    ///
    /// Evaluated once per element of AllCells().
    fn compute_max_u0(
        &mut self,
        args: ComputeMaxU0<'_, Self>,
    ) -> Result<Self::Scalar, Error>;
}
