//! Kernels of heat_explicit_2d.equelle. Names no target: every back-end implements [`Kernels`] for its runtime.

use equelle_runtime::{
    CanonicalSet, EntityKind, Extent, EquelleRuntime, Error, KernelBytes, KernelInfo,
};

/// Arguments of [`Kernels::compute_minus_k`].
pub struct ComputeMinusK<'a, R: EquelleRuntime> {
    /// Scalar
    pub k: &'a R::Scalar,
}

/// Facts of [`Kernels::compute_minus_k`].
pub const COMPUTE_MINUS_K: KernelInfo = KernelInfo {
    name: "compute_minus_k",
    lines: &[15, 14],
    set: Some(CanonicalSet::new(EntityKind::Face, Extent::Interior)),
    bytes: KernelBytes {
        general: [48, 36, 32],
        cartesian: [0, 0, 0],
    },
    takes_joined_sides: true,
    halo_layers: 0,
};

/// Arguments of [`Kernels::compute_k_direction`].
pub struct ComputeKDirection<'a, R: EquelleRuntime> {
    /// Domain dirichlet_boundary
    pub dirichlet_boundary: &'a R::Domain,
    /// Scalar
    pub k: &'a R::Scalar,
}

/// Facts of [`Kernels::compute_k_direction`].
pub const COMPUTE_K_DIRECTION: KernelInfo = KernelInfo {
    name: "compute_k_direction",
    lines: &[25, 23, 21, 22, 4],
    set: None,
    bytes: KernelBytes {
        general: [96, 96, 96],
        cartesian: [96, 96, 96],
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
    /// Scalar
    pub cv: &'a R::Scalar,
    /// Collection Of Scalar On InteriorFaces()
    pub minus_k: &'a R::ScalarCollection,
    /// Domain dirichlet_boundary
    pub dirichlet_boundary: &'a R::Domain,
    /// Collection Of Scalar On dirichlet_boundary
    pub k_direction: &'a R::ScalarCollection,
    /// Collection Of Scalar On dirichlet_boundary
    pub dirichlet_val: &'a R::ScalarCollection,
}

/// Facts of [`Kernels::compute_u`].
pub const COMPUTE_U: KernelInfo = KernelInfo {
    name: "compute_u",
    lines: &[15, 24, 33, 21, 25, 32],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [60, 88, 116],
        cartesian: [16, 16, 16],
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
    lines: &[35],
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
    /// heat_explicit_2d.equelle:14: `distance = |Centroid(SecondCell(faces)) - Centroid(FirstCell(faces))|`
    ///
    /// heat_explicit_2d.equelle:15: `-> -(k * |faces| / distance) * Gradient(u)`
    ///
    /// Evaluated once per element of InteriorFaces().
    fn compute_minus_k(
        &mut self,
        args: ComputeMinusK<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// heat_explicit_2d.equelle:4: `k = InputScalarWithDefault("k", 401) * 1 [Watt/(Meter*Kelvin)]  # thermal conductivity of copper`
    ///
    /// heat_explicit_2d.equelle:22: `direction = OutwardSign(faces)`
    ///
    /// heat_explicit_2d.equelle:21: `inside = InnerCell(faces)`
    ///
    /// heat_explicit_2d.equelle:23: `distance = |Centroid(faces) - Centroid(inside)|`
    ///
    /// heat_explicit_2d.equelle:25: `-> (k * |faces| / distance) * direction * (u_inside - dirichlet_val)`
    ///
    /// Evaluated once per element of dirichlet_boundary.
    fn compute_k_direction(
        &mut self,
        args: ComputeKDirection<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// heat_explicit_2d.equelle:32: `fluxes = (interior_flux(u) Extend AllFaces()) + (boundary_flux(u) Extend AllFaces())`
    ///
    /// heat_explicit_2d.equelle:25: `-> (k * |faces| / distance) * direction * (u_inside - dirichlet_val)`
    ///
    /// heat_explicit_2d.equelle:21: `inside = InnerCell(faces)`
    ///
    /// heat_explicit_2d.equelle:33: `u = u - (dt / (cv * |AllCells()|)) * Divergence(fluxes)`
    ///
    /// heat_explicit_2d.equelle:24: `u_inside = u On inside`
    ///
    /// heat_explicit_2d.equelle:15: `-> -(k * |faces| / distance) * Gradient(u)`
    ///
    /// Evaluated once per element of AllCells().
    fn compute_u(
        &mut self,
        args: ComputeU<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// heat_explicit_2d.equelle:35: `Output("maximum of u", MaxReduce(u))`
    ///
    /// Evaluated once per element of AllCells().
    fn compute_max_u(
        &mut self,
        args: ComputeMaxU<'_, Self>,
    ) -> Result<Self::Scalar, Error>;
}
