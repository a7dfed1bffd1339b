//! The language as the front-end has it: parser, rules of the checker, passes.

#[path = "../common/mod.rs"]
mod common;

mod check_dimensions;
mod check_imports;
mod check_language;
mod check_newton;
mod check_pages;
mod check_programs;
mod check_rules;
mod check_units;
mod corners;
mod halo;
mod passes;
mod syntax;
