//! Programs that fail, for people.

use std::fmt::Write as _;

use crate::compare::{Extent, Failure, compare};
use crate::data::Worlds;
use crate::generate::{self, Purpose};
use crate::shrink::shrink;
use crate::tree::Program;

/// Compares the program of a seed; how many of its grids it ends with an error on, the same in every way.
///
/// # Errors
/// It differs: the program as small as it can be made, for people.
pub fn check(seed: u64, worlds: &Worlds) -> Result<usize, String> {
    let program = generate::program(seed, Purpose::Run, &worlds.facts);
    compare(&program, &program.text(), worlds, Extent::Sampled)
        .map_err(|failure| explain(&program, &failure, |candidate| compare(candidate, &candidate.text(), worlds, Extent::Full).err()))
}

/// A failure with its program made small.
pub fn explain(program: &Program, failure: &Failure, judge: impl Fn(&Program) -> Option<Failure>) -> String {
    let small = shrink(program, 3000, |candidate| judge(candidate).is_some_and(|found| found.kind == failure.kind));
    let mut text = String::new();
    let _ = writeln!(text, "seed {}: {}: {}", program.seed, failure.kind, failure.text);
    if let Some(found) = judge(&small) {
        let _ = writeln!(text, "made small: {}", found.text);
    }
    let check = if program.units { "" } else { ", without dimensions" };
    let _ = writeln!(text, "---- for {:?} grids{check}\n{}----", program.grids, small.text());
    text
}
