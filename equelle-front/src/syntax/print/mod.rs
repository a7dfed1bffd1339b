//! Tree to text: the formatter.
//!
//! One statement per line, blocks indented by four blanks, one blank line kept where there were
//! some, comments kept. [`format()`] keeps number literals as written, [`print()`] writes them
//! anew. A line over [`WIDTH`] columns is broken with `...` at its outermost operators and commas.

mod layout;
mod line;

pub use layout::{format, print};

/// Columns that a line should not exceed.
const WIDTH: usize = 100;

/// Columns per level of a block, and for a continued line.
const INDENT: usize = 4;
