//! Matrices on the host: [`csr`] (with `product`), [`block_matrix`] (several fields), `dia` (by
//! diagonals), `mirror` (places of mirrored entries), [`sparse_rows`] (their common trait),
//! [`rim`] (entries in columns of other ranks), [`schedule`] (parallel orders of rows), `dense`
//! (small matrices), [`scaling`] (by powers of two).

pub mod block_matrix;
pub mod csr;
pub(in crate::linalg) mod dense;
pub(in crate::linalg) mod dia;
pub(in crate::linalg) mod mirror;
mod product;
pub mod rim;
pub mod scaling;
pub mod schedule;
pub mod sparse_rows;
