//! Input and output of data: [`Source`] and [`Sink`]. Readers take bytes from the one and writers
//! give bytes to the other, so that neither knows the file system.
//!
//! Texts in parameters: [`token`] (what they are made of), [`mod@unit`], [`quantity`] (numbers with
//! units), [`sequence`], [`expression`]. Data files: [`csv`], [`table`], [`npy`],
//! [`vtk`].

pub mod csv;
pub mod expression;
pub mod npy;
pub mod npz;
pub mod quantity;
pub mod sequence;
mod sink;
mod source;
pub mod table;
pub mod token;
pub mod unit;
pub mod unit_spelling;
pub mod vtk;

pub use sink::{CompleteFile, Memory, Sink, SinkFile};
pub use source::{Bytes, Source};
