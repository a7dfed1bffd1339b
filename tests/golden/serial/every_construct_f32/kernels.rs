//! Kernels of every_construct.equelle. Names no target: every back-end implements [`Kernels`] for its runtime.

use equelle_runtime::{
    CanonicalSet, EntityKind, Extent, EquelleRuntime, Error, KernelBytes, KernelInfo,
};

/// Arguments of [`Kernels::geometry`].
pub struct Geometry<'a, R: EquelleRuntime> {
    /// Scalar
    pub k: &'a R::Scalar,
}

/// Facts of [`Kernels::geometry`].
pub const GEOMETRY: KernelInfo = KernelInfo {
    name: "geometry",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [0, 45, 49],
        cartesian: [0, 45, 49],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// Arguments of [`Kernels::transmissibility`].
pub struct Transmissibility<'a, R: EquelleRuntime> {
    /// Scalar
    pub k: &'a R::Scalar,
}

/// Facts of [`Kernels::transmissibility`].
pub const TRANSMISSIBILITY: KernelInfo = KernelInfo {
    name: "transmissibility",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Face, Extent::Interior)),
    bytes: KernelBytes {
        general: [44, 32, 28],
        cartesian: [0, 0, 0],
    },
    takes_joined_sides: true,
    halo_layers: 0,
};

/// Arguments of [`Kernels::weight`].
pub struct Weight<'a, R: EquelleRuntime> {
    /// Scalar
    pub k: &'a R::Scalar,
}

/// Facts of [`Kernels::weight`].
pub const WEIGHT: KernelInfo = KernelInfo {
    name: "weight",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [12, 12, 12],
        cartesian: [0, 0, 0],
    },
    takes_joined_sides: true,
    halo_layers: 0,
};

/// Arguments of [`Kernels::transport`].
pub struct Transport<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub u: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllFaces()
    pub row: &'a R::ScalarCollection,
    /// Collection Of Scalar On InteriorFaces()
    pub t: &'a R::ScalarCollection,
    /// Collection Of Vector On AllCells()
    pub centre: &'a R::VectorCollection,
    /// Collection Of Bool On AllCells()
    pub far: &'a R::BoolCollection,
    /// Domain wells
    pub wells: &'a R::Domain,
    /// Collection Of Scalar On wells
    pub rate: &'a R::ScalarCollection,
    /// Scalar
    pub grid: &'a R::Scalar,
}

/// Facts of [`Kernels::transport`].
pub const TRANSPORT: KernelInfo = KernelInfo {
    name: "transport",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [66, 106, 146],
        cartesian: [22, 30, 38],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// Arguments of [`Kernels::diffuse`].
pub struct Diffuse<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub u: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllFaces()
    pub len: &'a R::ScalarCollection,
    /// Collection Of Scalar On InteriorFaces()
    pub g: &'a R::ScalarCollection,
    /// Collection Of Scalar On InteriorFaces()
    pub t: &'a R::ScalarCollection,
    /// Collection Of Scalar On AllCells()
    pub w: &'a R::ScalarCollection,
    /// Collection Of Bool On AllCells()
    pub far: &'a R::BoolCollection,
    /// Scalar
    pub dt: &'a R::Scalar,
}

/// Facts of [`Kernels::diffuse`].
pub const DIFFUSE: KernelInfo = KernelInfo {
    name: "diffuse",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Cell, Extent::All)),
    bytes: KernelBytes {
        general: [110, 166, 222],
        cartesian: [18, 26, 34],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// Arguments of [`Kernels::jump`].
pub struct Jump<'a, R: EquelleRuntime> {
    /// Collection Of Scalar On AllCells()
    pub u: &'a R::ScalarCollection,
    /// Collection Of Cell On InteriorFaces()
    pub cells: &'a R::EntityCollection,
}

/// Facts of [`Kernels::jump`].
pub const JUMP: KernelInfo = KernelInfo {
    name: "jump",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Face, Extent::Interior)),
    bytes: KernelBytes {
        general: [36, 30, 28],
        cartesian: [36, 30, 28],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// Arguments of [`Kernels::inside`].
pub struct Inside<'a, R: EquelleRuntime> {
    /// Domain inlet
    pub inlet: &'a R::Domain,
    /// Collection Of Scalar On AllCells()
    pub u: &'a R::ScalarCollection,
}

/// Facts of [`Kernels::inside`].
pub const INSIDE: KernelInfo = KernelInfo {
    name: "inside",
    lines: &[],
    set: None,
    bytes: KernelBytes {
        general: [16, 16, 16],
        cartesian: [16, 16, 16],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// Arguments of [`Kernels::outside`].
pub struct Outside<'a, R: EquelleRuntime> {
    /// Domain inlet
    pub inlet: &'a R::Domain,
}

/// Facts of [`Kernels::outside`].
pub const OUTSIDE: KernelInfo = KernelInfo {
    name: "outside",
    lines: &[],
    set: None,
    bytes: KernelBytes {
        general: [0, 0, 0],
        cartesian: [0, 0, 0],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// Arguments of [`Kernels::extremes`].
pub struct Extremes<'a, R: EquelleRuntime> {
    /// Domain wells
    pub wells: &'a R::Domain,
    /// Collection Of Scalar On wells
    pub rate: &'a R::ScalarCollection,
}

/// Facts of [`Kernels::extremes`].
pub const EXTREMES: KernelInfo = KernelInfo {
    name: "extremes",
    lines: &[],
    set: None,
    bytes: KernelBytes {
        general: [4, 4, 4],
        cartesian: [4, 4, 4],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// Arguments of [`Kernels::ratio`].
pub struct Ratio<'a, R: EquelleRuntime> {
    /// Scalar
    pub a: &'a R::Scalar,
    /// Scalar
    pub b: &'a R::Scalar,
}

/// Facts of [`Kernels::ratio`].
pub const RATIO: KernelInfo = KernelInfo {
    name: "ratio",
    lines: &[],
    set: None,
    bytes: KernelBytes {
        general: [0, 0, 0],
        cartesian: [0, 0, 0],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// Facts of [`Kernels::sizes`].
pub const SIZES: KernelInfo = KernelInfo {
    name: "sizes",
    lines: &[],
    set: Some(CanonicalSet::new(EntityKind::Face, Extent::All)),
    bytes: KernelBytes {
        general: [12, 12, 12],
        cartesian: [12, 12, 12],
    },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// One method per kernel.
pub trait Kernels: EquelleRuntime {
    /// Evaluated once per element of AllCells().
    fn geometry(
        &mut self,
        args: Geometry<'_, Self>,
    ) -> Result<
        (Self::VectorCollection, Self::BoolCollection, Self::ScalarCollection),
        Error,
    >;

    /// Evaluated once per element of InteriorFaces().
    fn transmissibility(
        &mut self,
        args: Transmissibility<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// Evaluated once per element of AllCells().
    fn weight(
        &mut self,
        args: Weight<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// Evaluated once per element of AllCells().
    fn transport(
        &mut self,
        args: Transport<'_, Self>,
    ) -> Result<
        (Self::ScalarCollection, Self::BoolCollection, Self::Scalar, Self::Scalar),
        Error,
    >;

    /// Evaluated once per element of AllCells().
    fn diffuse(
        &mut self,
        args: Diffuse<'_, Self>,
    ) -> Result<(Self::ScalarCollection, Self::BoolCollection), Error>;

    /// Evaluated once per element of InteriorFaces().
    fn jump(&mut self, args: Jump<'_, Self>) -> Result<Self::ScalarCollection, Error>;

    /// Evaluated once per element of inlet.
    fn inside(
        &mut self,
        args: Inside<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error>;

    /// Evaluated once per element of inlet.
    fn outside(&mut self, args: Outside<'_, Self>) -> Result<(), Error>;

    /// Evaluated once per element of wells.
    fn extremes(
        &mut self,
        args: Extremes<'_, Self>,
    ) -> Result<(Self::Scalar, Self::Scalar), Error>;

    /// Evaluated once.
    fn ratio(&mut self, args: Ratio<'_, Self>) -> Result<Self::Scalar, Error>;

    /// Evaluated once per element of AllFaces().
    fn sizes(&mut self) -> Result<Self::ScalarCollection, Error>;
}
