//! Where data comes from and goes to: [`Source`] and sinks. Readers take bytes from the one and
//! writers give bytes to the other, so that neither knows the file system.

mod source;

pub use source::{Bytes, Source};
