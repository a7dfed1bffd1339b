//! Exchanges left out of programs on ranks: results change, because values that lie beyond what is
//! proved to be right are made wrong.

use std::ops::Range;
use std::path::{Path, PathBuf};

use equelle::interpret::Kernels;
use equelle_front::passes::OptLevel;
use equelle_random::data::Fixtures;
use equelle_random::generate::{Purpose, program};
use equelle_random::project::{Subject, subjects};
use equelle_random::rank_mutants::{Mutant, random_mutants, subject_mutants};
use rayon::prelude::*;

/// Lines of programs whose values no run needs of other ranks, though reads reach there:
/// `docs/internals/ranks.md` says why.
const EQUIVALENT: [(&str, &[u32]); 3] = [("advection_diffusion", &[15, 16, 17]), ("muscl", &[36, 44, 45]), ("reads_by_index", &[20])];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("rank_mutants-{name}"))
}

/// Mutants of programs of the project, one of so many.
fn project_mutants(every: usize) -> Vec<Mutant> {
    let subjects = subjects(&folder(&format!("project-{every}")));
    let ways = [(OptLevel::O2, Kernels::Lanes), (OptLevel::O0, Kernels::Elements)];
    let one = |(at, subject): (usize, &Subject)| -> Vec<Mutant> {
        let is_tried = |number: usize| (at + number).is_multiple_of(every);
        ways.iter().flat_map(|&(level, kernels)| subject_mutants(subject, level, kernels, is_tried)).collect()
    };
    subjects.par_iter().enumerate().flat_map(one).collect()
}

/// Mutants of random programs.
fn seed_mutants(seeds: Range<u64>) -> Vec<Mutant> {
    let triangles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
    let fixtures = Fixtures::write(&folder(&format!("random-{}", seeds.start)), &triangles).expect("the data of programs");
    let one = |seed: u64| -> Vec<Mutant> {
        let program = program(seed, Purpose::Run, &fixtures.ranges);
        random_mutants(&program, &fixtures).unwrap_or_else(|failure| panic!("seed {seed}: {}: {}", failure.kind, failure.text))
    };
    seeds.into_par_iter().flat_map(one).collect()
}

/// Numbers of mutants that change results, and of those that do not though a run may need them;
/// prints the latter, and those that no run needs.
fn noticed(mutants: &[Mutant]) -> [usize; 2] {
    let is_equivalent = |mutant: &&Mutant| {
        let is_of = |(program, lines): &(&str, &[u32])| mutant.program.starts_with(&format!("{program} ")) && lines.contains(&mutant.line);
        EQUIVALENT.iter().any(is_of)
    };
    let noticed = mutants.iter().filter(|mutant| mutant.is_noticed == Some(true)).count();
    let survivors = mutants.iter().filter(|mutant| mutant.is_noticed == Some(false));
    let (explained, others): (Vec<&Mutant>, Vec<&Mutant>) = survivors.partition(is_equivalent);
    let line = |mutant: &&Mutant| format!("{}, line {}: {}", mutant.program, mutant.line, mutant.text);
    let list = |mutants: &[&Mutant]| mutants.iter().map(line).collect::<Vec<_>>().join("\n  ");
    println!("{noticed} noticed; not needed:\n  {}\nsurvivors:\n  {}", list(&explained), list(&others));
    [noticed, others.len()]
}

fn assert_most_of_project(every: usize, least: usize) {
    let [noticed, survivors] = noticed(&project_mutants(every));
    assert!(noticed >= least, "only {noticed} were noticed");
    assert!(20 * noticed >= 19 * (noticed + survivors), "{noticed} noticed, {survivors} not");
}

#[test]
fn exchanges_that_are_left_out_change_results() {
    assert_most_of_project(6, 30);
}

#[test]
#[ignore = "every exchange of all programs: `.ci/full`"]
fn each_exchange_that_is_left_out_changes_results() {
    assert_most_of_project(1, 200);
}

/// Random programs use few of the numbers that they read: about half of their exchanges show.
#[test]
fn exchanges_that_are_left_out_of_random_programs_change_results() {
    let [noticed, _] = noticed(&seed_mutants(8_300_000..8_300_300));
    assert!(noticed >= 3, "only {noticed} were noticed");
}

#[test]
#[ignore = "2,000 programs: `.ci/full`"]
fn exchanges_that_are_left_out_of_many_random_programs_change_results() {
    let [noticed, survivors] = noticed(&seed_mutants(8_400_000..8_402_000));
    assert!(noticed >= 15 && survivors <= 2 * noticed, "{noticed} noticed, {survivors} not");
}
