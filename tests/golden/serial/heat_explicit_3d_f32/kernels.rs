//! Kernels of heat_explicit_3d.equelle. Names no target: every back-end implements [`Kernels`] for its runtime.

use equelle_runtime::{
    CanonicalSet, EntityKind, Extent, EquelleRuntime, Error, KernelBytes, KernelInfo,
};

/// Arguments of [`Kernels::compute_minus_itrans`].
pub struct ComputeMinusItrans<'a, R: EquelleRuntime> {
    /// Scalar
    pub k: &'a R::Scalar,
}

/// Facts of [`Kernels::compute_minus_itrans`].
pub const COMPUTE_MINUS_ITRANS: KernelInfo = KernelInfo {
    name: "compute_minus_itrans",
    lines: &[23, 14],
    set: Some(CanonicalSet::new(EntityKind::Face, Extent::Interior)),
    bytes: KernelBytes {
        general: [44, 32, 28],
        cartesian: [0, 0, 0],
    },
    takes_joined_sides: true,
    halo_layers: 0,
};

/// Arguments of [`Kernels::compute_btrans_direction`].
pub struct ComputeBtransDirection<'a, R: EquelleRuntime> {
    /// Domain dirichlet_boundary
    pub dirichlet_boundary: &'a R::Domain,
    /// Scalar
    pub k: &'a R::Scalar,
}

/// Facts of [`Kernels::compute_btrans_direction`].
pub const COMPUTE_BTRANS_DIRECTION: KernelInfo = KernelInfo {
    name: "compute_btrans_direction",
    lines: &[19, 28, 4, 17, 18],
    set: None,
    bytes: KernelBytes {
        general: [92, 92, 92],
        cartesian: [92, 92, 92],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// Arguments of [`Kernels::compute_u`].
pub struct ComputeU<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub u: &'a R::ScalarCollection,
    /// Scalar
    pub dt: &'a R::Scalar,
    /// Collection Of Scalar On InteriorFaces()
    pub minus_itrans: &'a R::ScalarCollection,
    /// Domain dirichlet_boundary
    pub dirichlet_boundary: &'a R::Domain,
    /// Collection Of Scalar On dirichlet_boundary
    pub btrans_direction: &'a R::ScalarCollection,
    /// Collection Of Scalar On dirichlet_boundary
    pub dirichlet_val: &'a R::ScalarCollection,
}

/// Facts of [`Kernels::compute_u`].
pub const COMPUTE_U: KernelInfo = KernelInfo {
    name: "compute_u",
    lines: &[23, 27, 31, 38, 28, 17, 37],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [48, 72, 96],
        cartesian: [8, 8, 8],
    },
    takes_joined_sides: true,
    halo_layers: 0,
};

/// Arguments of [`Kernels::compute_max_u`].
pub struct ComputeMaxU<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub u: &'a R::ScalarCollection,
}

/// Facts of [`Kernels::compute_max_u`].
pub const COMPUTE_MAX_U: KernelInfo = KernelInfo {
    name: "compute_max_u",
    lines: &[40],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [4, 4, 4],
        cartesian: [4, 4, 4],
    },
    takes_joined_sides: false,
    halo_layers: 1,
};

/// One method per kernel.
pub trait Kernels: EquelleRuntime {
    /// heat_explicit_3d.equelle:14: `itrans = k * |interior| / |Centroid(first) - Centroid(second)|`
    ///
    /// heat_explicit_3d.equelle:23: `-> -itrans * Gradient(u)`
    ///
    /// Evaluated once per element of InteriorFaces().
    fn compute_minus_itrans(
        &mut self,
        args: ComputeMinusItrans<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// heat_explicit_3d.equelle:18: `direction = OutwardSign(dirichlet_boundary)`
    ///
    /// heat_explicit_3d.equelle:17: `inside = InnerCell(dirichlet_boundary)`
    ///
    /// heat_explicit_3d.equelle:4: `k = InputScalarWithDefault("k", 0.3) * 1 [Meter^2/Second]  # thermal diffusivity`
    ///
    /// heat_explicit_3d.equelle:28: `-> btrans * direction * (u_inside - dirichlet_val)`
    ///
    /// heat_explicit_3d.equelle:19: `btrans = k * |dirichlet_boundary| / |Centroid(dirichlet_boundary) - Centroid(inside)|`
    ///
    /// Evaluated once per element of dirichlet_boundary.
    fn compute_btrans_direction(
        &mut self,
        args: ComputeBtransDirection<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// heat_explicit_3d.equelle:37: `fluxes = (interior_flux(u) Extend AllFaces()) + (boundary_flux(u) Extend AllFaces())`
    ///
    /// heat_explicit_3d.equelle:17: `inside = InnerCell(dirichlet_boundary)`
    ///
    /// heat_explicit_3d.equelle:28: `-> btrans * direction * (u_inside - dirichlet_val)`
    ///
    /// heat_explicit_3d.equelle:38: `u = u - (dt / volume) * Divergence(fluxes)`
    ///
    /// heat_explicit_3d.equelle:31: `volume = |AllCells()|`
    ///
    /// heat_explicit_3d.equelle:27: `u_inside = u On inside`
    ///
    /// heat_explicit_3d.equelle:23: `-> -itrans * Gradient(u)`
    ///
    /// Evaluated once per element of AllCells().
    fn compute_u(
        &mut self,
        args: ComputeU<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// heat_explicit_3d.equelle:40: `Output("maximum of u", MaxReduce(u))`
    ///
    /// Evaluated once per element of AllCells().
    fn compute_max_u(
        &mut self,
        args: ComputeMaxU<'_, Self>,
    ) -> Result<Self::Scalar, Error>;
}
