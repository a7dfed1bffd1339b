//! Programs that fail, for people.

use std::fmt::Write as _;

use crate::compare::{Extent, Failure, compare, compare_imports, compare_row_units, compare_words};
use crate::data::Fixtures;
use crate::generate::{self, Purpose};
use crate::shrink::shrink;
use crate::tree::Program;

/// Compares the program of a seed, what it says in other words, in two texts, and with rows of
/// equations in other units; how many of its grids it ends with an error on, the same in every way.
///
/// # Errors
/// It differs: the program as small as it can be made, for people.
pub fn check(seed: u64, fixtures: &Fixtures) -> Result<usize, String> {
    let program = generate::program(seed, Purpose::Run, &fixtures.ranges);
    let ended = compare(&program, &program.text(), fixtures, Extent::Sampled)
        .map_err(|failure| explain(&program, &failure, |candidate| compare(candidate, &candidate.text(), fixtures, Extent::Full).err()))?;
    compare_words(&program, fixtures)
        .map_err(|failure| explain(&program, &failure, |candidate| compare_words(candidate, fixtures).err()))?;
    compare_imports(&program, fixtures)
        .map_err(|failure| explain(&program, &failure, |candidate| compare_imports(candidate, fixtures).err()))?;
    compare_row_units(&program, fixtures)
        .map_err(|failure| explain(&program, &failure, |candidate| compare_row_units(candidate, fixtures).err()))?;
    Ok(ended)
}

/// A failure with its program made small.
pub fn explain(program: &Program, failure: &Failure, failure_of: impl Fn(&Program) -> Option<Failure>) -> String {
    let small = shrink(program, 3000, |candidate| failure_of(candidate).is_some_and(|found| found.kind == failure.kind));
    let mut text = String::new();
    let _ = writeln!(text, "seed {}: {}: {}", program.seed, failure.kind, failure.text);
    if let Some(found) = failure_of(&small) {
        let _ = writeln!(text, "made small: {}", found.text);
    }
    let check = if program.units { "" } else { ", without dimensions" };
    let _ = writeln!(text, "---- for {:?} grids{check}\n{}----", program.grids, small.text());
    text
}
