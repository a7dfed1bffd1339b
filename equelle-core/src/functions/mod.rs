//! The text of the elementary functions, and what Rust makes of it.

mod constants;
mod rust;
mod text;

pub(crate) use constants::{double_constants, single_constants, two_over_pi};
pub(crate) use rust::{double, single};
pub(crate) use text::elementary_functions;
