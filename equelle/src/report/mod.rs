//! `--report`: what the compiler made of a program, for people ([`text()`]) and as JSON
//! ([`json()`]).

mod json;
mod reasons;
mod text;

pub use json::json;
pub(crate) use text::line_in;
pub use text::text;
