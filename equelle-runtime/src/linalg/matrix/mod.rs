//! Matrices on the host: [`csr`] (`product` multiplies them), [`block_matrix`] (those of several fields),
//! [`sparse_rows`] (what both have in common), [`schedule`] (orders for many rows at a time), `dense` (small ones),
//! [`scaling`] (by powers of two).

pub mod block_matrix;
pub mod csr;
pub(in crate::linalg) mod dense;
mod product;
pub mod scaling;
pub mod schedule;
pub mod sparse_rows;
