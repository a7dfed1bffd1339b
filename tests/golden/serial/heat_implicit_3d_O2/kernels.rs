//! Kernels of heat_implicit_3d.equelle. Names no target: every back-end implements [`Kernels`] for its runtime.

use equelle_runtime::{AccessMode, EquelleRuntime, Error, KernelInfo};

/// Arguments of [`Kernels::compute_itrans`].
pub struct ComputeItrans<'a, R: EquelleRuntime> {
    /// Scalar
    pub k: &'a R::Scalar,
}

/// Facts of [`Kernels::compute_itrans`].
pub const COMPUTE_ITRANS: KernelInfo = KernelInfo {
    name: "compute_itrans",
    lines: &[15],
    arguments: &[("k", AccessMode::Read), ("itrans", AccessMode::Write)],
};

/// Facts of [`Kernels::compute_volume`].
pub const COMPUTE_VOLUME: KernelInfo = KernelInfo {
    name: "compute_volume",
    lines: &[33],
    arguments: &[("volume", AccessMode::Write)],
};

/// Arguments of [`Kernels::compute_max_u_initial`].
pub struct ComputeMaxUInitial<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub u_initial: &'a R::ScalarCollection,
}

/// Facts of [`Kernels::compute_max_u_initial`].
pub const COMPUTE_MAX_U_INITIAL: KernelInfo = KernelInfo {
    name: "compute_max_u_initial",
    lines: &[38],
    arguments: &[("u_initial", AccessMode::Read), ("max_u_initial", AccessMode::Write)],
};

/// Arguments of [`Kernels::compute_max_u0`].
pub struct ComputeMaxU0<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub u0: &'a R::ScalarCollection,
}

/// Facts of [`Kernels::compute_max_u0`].
pub const COMPUTE_MAX_U0: KernelInfo = KernelInfo {
    name: "compute_max_u0",
    lines: &[47],
    arguments: &[("u0", AccessMode::Read), ("max_u0", AccessMode::Write)],
};

/// Arguments of [`Kernels::compute_inside_and_2_more`].
pub struct ComputeInsideAnd2More<'a, R: EquelleRuntime> {
    /// Domain dir_boundary
    pub dir_boundary: &'a R::Domain,
    /// Scalar
    pub k: &'a R::Scalar,
}

/// Facts of [`Kernels::compute_inside_and_2_more`].
pub const COMPUTE_INSIDE_AND_2_MORE: KernelInfo = KernelInfo {
    name: "compute_inside_and_2_more",
    lines: &[20, 21, 4, 18, 19],
    arguments: &[
        ("dir_boundary", AccessMode::Read),
        ("k", AccessMode::Read),
        ("inside", AccessMode::Write),
        ("direction", AccessMode::Write),
        ("btrans", AccessMode::Write),
    ],
};

/// One method per kernel.
pub trait Kernels: EquelleRuntime {
    /// heat_implicit_3d.equelle:15: `itrans = k * |interior| / |Centroid(first) - Centroid(second)|`
    ///
    /// Evaluated once per element of InteriorFaces().
    fn compute_itrans(
        &mut self,
        args: ComputeItrans<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// heat_implicit_3d.equelle:33: `volume = |AllCells()|`
    ///
    /// Evaluated once per element of AllCells().
    fn compute_volume(&mut self) -> Result<Self::ScalarCollection, Error>;

    /// heat_implicit_3d.equelle:38: `Output("maximum of u", MaxReduce(u0))`
    ///
    /// Evaluated once per element of AllCells().
    fn compute_max_u_initial(
        &mut self,
        args: ComputeMaxUInitial<'_, Self>,
    ) -> Result<Self::Scalar, Error>;

    /// heat_implicit_3d.equelle:47: `Output("maximum of u", MaxReduce(u0))`
    ///
    /// Evaluated once per element of AllCells().
    fn compute_max_u0(
        &mut self,
        args: ComputeMaxU0<'_, Self>,
    ) -> Result<Self::Scalar, Error>;

    /// heat_implicit_3d.equelle:19: `inside = outside_first ? SecondCell(dir_boundary) : FirstCell(dir_boundary)`
    ///
    /// heat_implicit_3d.equelle:18: `outside_first = IsEmpty(FirstCell(dir_boundary))`
    ///
    /// heat_implicit_3d.equelle:4: `k = InputScalarWithDefault("k", 2.85) * 1 [Watt / (Meter * Kelvin)]           # conductivity; granite`
    ///
    /// heat_implicit_3d.equelle:21: `btrans = k * |dir_boundary| / |Centroid(dir_boundary) - Centroid(inside)|`
    ///
    /// heat_implicit_3d.equelle:20: `direction = outside_first ? (-1 Extend dir_boundary) : (1 Extend dir_boundary)`
    ///
    /// Evaluated once per element of dir_boundary.
    fn compute_inside_and_2_more(
        &mut self,
        args: ComputeInsideAnd2More<'_, Self>,
    ) -> Result<
        (Self::EntityCollection, Self::ScalarCollection, Self::ScalarCollection),
        Error,
    >;
}
