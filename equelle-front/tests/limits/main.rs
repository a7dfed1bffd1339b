//! Bounds of the front-end in depth, length and time; random texts and trees. The nearest test
//! after an edit, `cargo test -p equelle-front --lib --test language`, leaves it out.

#[path = "../common/mod.rs"]
mod common;

mod check_limits;
mod fuzz_smoke;
mod nested_choices;
mod syntax_limits;
mod syntax_round_trip;
