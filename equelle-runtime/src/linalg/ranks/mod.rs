//! Linear systems whose rows are spread over the ranks of a run ([`crate::ranks`]).
//!
//! A rank has the rows of its own unknowns ([`RankMatrix`]): their entries in own columns, as the
//! space of its back-end stores them, and those in the columns of others, its halo
//! ([`HaloColumns`]). [`RankSpace`] is a space over that space, so that Krylov methods and driver
//! are those of one process. All numbers on which something is decided are gathered, hence the same
//! on all ranks.
//!
//! `matrix_space` (products), `system_space` (the driver), `inspection`, `mirrored` and
//! `null_space` (what a matrix is like), `gathered` (LU) and `gathered_levels`, `multigrid`,
//! `mixed_precision`, `product` and `two_stages` (preconditioners over ranks).

mod columns;
mod gathered;
mod gathered_levels;
mod inspection;
mod joined;
mod matrix;
mod matrix_space;
mod mirrored;
mod mixed_precision;
mod multigrid;
mod null_space;
mod numbering;
mod product;
mod solve;
mod space;
mod system_space;
#[cfg(test)]
mod tests;
mod two_stages;

pub use columns::HaloColumns;
pub use gathered::MAX_GATHERED_UNKNOWNS;
pub use matrix::RankMatrix;
pub use null_space::RankNullVectors;
pub use solve::solve_on_ranks;
pub use space::RankSpace;
