//! `--report`: what the compiler made of a program, for people ([`text()`]) and as JSON
//! ([`json()`]).

mod json;
mod kernel;
mod reasons;
mod summary;
mod text;
mod words;

pub use json::json;
pub use text::text;
pub use words::line_in;
