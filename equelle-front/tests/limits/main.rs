//! Bounds of the front-end: what takes long, and random texts. The nearest test after an edit,
//! `cargo test -p equelle-front --lib --test language`, leaves it out.

mod check_limits;
mod fuzz_smoke;
