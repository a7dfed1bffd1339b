//! Kernels of every_type.equelle. Names no target: every back-end implements [`Kernels`] for its runtime.

use equelle_runtime::{
    CanonicalSet, EntityKind, Extent, EquelleRuntime, Error, KernelBytes, KernelInfo,
};

/// Arguments of [`Kernels::direction`].
pub struct Direction<'a, R: EquelleRuntime> {
    /// Scalar
    pub k: &'a R::Scalar,
}

/// Facts of [`Kernels::direction`].
pub const DIRECTION: KernelInfo = KernelInfo {
    name: "direction",
    lines: &[],
    set: None,
    bytes: KernelBytes {
        general: [0, 0, 0],
        cartesian: [0, 0, 0],
    },
    takes_joined_sides: false,
    halo_layers: 1,
};

/// Facts of [`Kernels::inside`].
pub const INSIDE: KernelInfo = KernelInfo {
    name: "inside",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Face, Extent::All)),
    bytes: KernelBytes {
        general: [12, 12, 12],
        cartesian: [12, 12, 12],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// Arguments of [`Kernels::lively`].
pub struct Lively<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub u: &'a R::ScalarCollection,
    /// Bool
    pub big: &'a R::Bool,
}

/// Facts of [`Kernels::lively`].
pub const LIVELY: KernelInfo = KernelInfo {
    name: "lively",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [12, 12, 12],
        cartesian: [12, 12, 12],
    },
    takes_joined_sides: false,
    halo_layers: 1,
};

/// Arguments of [`Kernels::fields`].
pub struct Fields<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub u: &'a R::ScalarCollection,
    /// Vector
    pub along: &'a R::Vector,
    /// Bool
    pub big: &'a R::Bool,
    /// Scalar
    pub growth: &'a R::Scalar,
}

/// Facts of [`Kernels::fields`].
pub const FIELDS: KernelInfo = KernelInfo {
    name: "fields",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [0, 121, 0],
        cartesian: [0, 33, 0],
    },
    takes_joined_sides: true,
    halo_layers: 0,
};

/// Arguments of [`Kernels::smoothed`].
pub struct Smoothed<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub u: &'a R::ScalarCollection,
    /// Vector
    pub along: &'a R::Vector,
    /// Bool
    pub big: &'a R::Bool,
}

/// Facts of [`Kernels::smoothed`].
pub const SMOOTHED: KernelInfo = KernelInfo {
    name: "smoothed",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [0, 104, 144],
        cartesian: [0, 16, 16],
    },
    takes_joined_sides: true,
    halo_layers: 0,
};

/// Arguments of [`Kernels::fluxes`].
pub struct Fluxes<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub u: &'a R::ScalarCollection,
}

/// Facts of [`Kernels::fluxes`].
pub const FLUXES: KernelInfo = KernelInfo {
    name: "fluxes",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [0, 128, 168],
        cartesian: [0, 16, 16],
    },
    takes_joined_sides: true,
    halo_layers: 0,
};

/// Arguments of [`Kernels::extremes`].
pub struct Extremes<'a, R: EquelleRuntime> {
    /// Collection Of Vector On AllCells()
    pub v: &'a R::VectorCollection,
    /// Collection Of Bool On AllCells()
    pub b: &'a R::BoolCollection,
}

/// Facts of [`Kernels::extremes`].
pub const EXTREMES: KernelInfo = KernelInfo {
    name: "extremes",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [17, 33, 49],
        cartesian: [17, 33, 49],
    },
    takes_joined_sides: false,
    halo_layers: 1,
};

/// Arguments of [`Kernels::nothing`].
pub struct Nothing<'a, R: EquelleRuntime> {
    /// Domain nowhere
    pub nowhere: &'a R::Domain,
}

/// Facts of [`Kernels::nothing`].
pub const NOTHING: KernelInfo = KernelInfo {
    name: "nothing",
    lines: &[],
    set: None,
    bytes: KernelBytes {
        general: [24, 24, 24],
        cartesian: [24, 24, 24],
    },
    takes_joined_sides: false,
    halo_layers: 1,
};

/// Arguments of [`Kernels::lookup`].
pub struct Lookup<'a, R: EquelleRuntime> {
    /// Collection Of Cell On AllFaces()
    pub cell: &'a R::EntityCollection,
    /// Collection Of Cell On AllCells()
    pub self_2: &'a R::EntityCollection,
    /// Collection Of Vector On AllCells()
    pub v: &'a R::VectorCollection,
    /// Domain wells
    pub wells: &'a R::Domain,
    /// Collection Of Vector On wells
    pub rate: &'a R::VectorCollection,
}

/// Facts of [`Kernels::lookup`].
pub const LOOKUP: KernelInfo = KernelInfo {
    name: "lookup",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Face, Extent::All)),
    bytes: KernelBytes {
        general: [49, 61, 76],
        cartesian: [49, 61, 76],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// Arguments of [`Kernels::rates`].
pub struct Rates<'a, R: EquelleRuntime> {
    /// Domain wells
    pub wells: &'a R::Domain,
    /// Collection Of Vector On AllCells()
    pub v: &'a R::VectorCollection,
}

/// Facts of [`Kernels::rates`].
pub const RATES: KernelInfo = KernelInfo {
    name: "rates",
    lines: &[],
    set: None,
    bytes: KernelBytes {
        general: [16, 32, 48],
        cartesian: [16, 32, 48],
    },
    takes_joined_sides: false,
    halo_layers: 1,
};

/// Arguments of [`Kernels::witness`].
pub struct Witness<'a, R: EquelleRuntime> {
    /// Vector
    pub total: &'a R::Vector,
    /// Vector
    pub most: &'a R::Vector,
    /// Vector
    pub least: &'a R::Vector,
    /// Vector
    pub none: &'a R::Vector,
    /// Bool
    pub some: &'a R::Bool,
    /// Bool
    pub every: &'a R::Bool,
    /// Bool
    pub never: &'a R::Bool,
    /// Bool
    pub always: &'a R::Bool,
    /// Scalar
    pub product: &'a R::Scalar,
    /// Scalar
    pub number: &'a R::Scalar,
}

/// Facts of [`Kernels::witness`].
pub const WITNESS: KernelInfo = KernelInfo {
    name: "witness",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [9, 17, 25],
        cartesian: [9, 17, 25],
    },
    takes_joined_sides: false,
    halo_layers: 1,
};

/// One method per kernel.
pub trait Kernels: EquelleRuntime {
    /// Evaluated once.
    fn direction(
        &mut self,
        args: Direction<'_, Self>,
    ) -> Result<(Self::Vector, Self::Bool, Self::Scalar), Error>;

    /// Evaluated once per element of AllFaces().
    fn inside(&mut self) -> Result<Self::EntityCollection, Error>;

    /// Evaluated once per element of AllCells().
    fn lively(
        &mut self,
        args: Lively<'_, Self>,
    ) -> Result<Self::EntityCollection, Error>;

    /// Evaluated once per element of AllCells().
    fn fields(
        &mut self,
        args: Fields<'_, Self>,
    ) -> Result<
        (Self::VectorCollection, Self::ScalarCollection, Self::BoolCollection),
        Error,
    >;

    /// Evaluated once per element of AllCells().
    fn smoothed(
        &mut self,
        args: Smoothed<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// Evaluated once per element of AllCells().
    fn fluxes(
        &mut self,
        args: Fluxes<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// Evaluated once per element of AllCells().
    fn extremes(
        &mut self,
        args: Extremes<'_, Self>,
    ) -> Result<
        (
            Self::Vector,
            Self::Vector,
            Self::Vector,
            Self::Bool,
            Self::Bool,
            Self::Scalar,
            Self::VectorCollection,
        ),
        Error,
    >;

    /// Evaluated once per element of nowhere.
    fn nothing(
        &mut self,
        args: Nothing<'_, Self>,
    ) -> Result<(Self::Vector, Self::Bool, Self::Bool, Self::Scalar), Error>;

    /// Evaluated once per element of AllFaces().
    fn lookup(
        &mut self,
        args: Lookup<'_, Self>,
    ) -> Result<
        (
            Self::VectorCollection,
            Self::EntityCollection,
            Self::VectorCollection,
            Self::BoolCollection,
        ),
        Error,
    >;

    /// Evaluated once per element of wells.
    fn rates(&mut self, args: Rates<'_, Self>) -> Result<Self::VectorCollection, Error>;

    /// Evaluated once per element of AllCells().
    fn witness(
        &mut self,
        args: Witness<'_, Self>,
    ) -> Result<(Self::VectorCollection, Self::BoolCollection), Error>;
}
