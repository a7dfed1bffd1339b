//! VTK's file formats: [`reader`] and [`writer`], and what both know of them.
//!
//! `names` has tags, attributes and names of arrays, `number_type` the types of numbers,
//! `cell_types` the types of cells with the orders of their nodes.

mod cell_types;
mod names;
mod number_type;
pub mod reader;
pub mod writer;

pub use names::{Association, SET};
