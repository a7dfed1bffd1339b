//! The grid on the device.

pub mod arrays;
pub(crate) mod half_faces;
pub(crate) mod sets;
