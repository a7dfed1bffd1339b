//! Input and output of data: [`DataSource`] and [`Sink`]. Readers take bytes from the one and
//! writers give bytes to the other, so that neither knows the file system.
//!
//! Texts in parameters: [`token`] (what they are made of), [`mod@unit`], [`quantity`] (numbers with
//! units), [`sequence`], [`expression`]. Data files: [`csv`], [`table`], [`npy`]; those of VTK have
//! a module of their own.

pub mod csv;
mod data_source;
pub mod expression;
pub mod npy;
pub mod npz;
pub mod quantity;
pub mod sequence;
mod sink;
pub mod table;
pub mod token;
pub mod unit;
pub mod unit_spelling;

pub use data_source::{Bytes, DataSource};
pub use sink::{CompleteFile, Memory, Sink, SinkFile};
