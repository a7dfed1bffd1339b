//! The prelude of every kernel source.

/// Helpers of all kernels; each part comes after those that it needs.
pub const PRELUDE: &str = concat!(
    include_str!("prelude/types.cuh"),
    include_str!("prelude/bits.cuh"),
    include_str!("prelude/arguments.cuh"),
    include_str!("prelude/ranks.cuh"),
    include_str!("prelude/vectors.cuh"),
    include_str!("prelude/divisions.cuh"),
    include_str!("prelude/half_faces.cuh"),
    include_str!("prelude/cartesian.cuh"),
    include_str!("prelude/rows.cuh"),
    include_str!("prelude/offsets.cuh"),
    include_str!("prelude/planes.cuh"),
    include_str!("prelude/geometry.cuh"),
    include_str!("prelude/jacobian.cuh"),
    include_str!("prelude/reductions.cuh"),
);
