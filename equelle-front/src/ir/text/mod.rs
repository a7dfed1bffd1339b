//! Text form of the IR: what `--emit ir` prints and pass tests read. The grammar is in
//! `docs/ir.md`.
//!
//! Printing and parsing are inverse up to numbering: values, mutables and locals are numbered in
//! the order of the text, and what no statement mentions is not written. Printing what was parsed
//! from printed text gives that text again, byte for byte. The text of the Equelle program is not
//! part of it, only its name; set [`crate::ir::Module::source`] to have lines in messages.

mod lex;
mod names;
mod parse;
mod parse_expr;
mod parse_kernel;
mod parse_op;
mod parser;
mod print;
mod print_kernel;

pub use parse::{parse, parse_with_locations};
pub use parser::Locations;
pub use print::print;

/// Error in the text of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// One sentence.
    pub message: String,
}

impl std::fmt::Display for TextError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for TextError {}
