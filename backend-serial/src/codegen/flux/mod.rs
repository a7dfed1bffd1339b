//! Values that belong to a face or to one of its cells, and functions that evaluate them.

pub(super) mod analysis;
pub(super) mod dag;
pub(super) mod function_writer;
