//! Every program of the project, examples and those of the tests, run in every way: interpreted
//! before and after the passes, compiled at both levels, on several threads and ranks, on its grid
//! and on the same grid as an unstructured one with cells and faces in another order. All are
//! compiled to one binary.

use std::path::Path;

use equelle_front::ir::{Numbers, Precision, Rounding};
use equelle_front::passes::OptLevel;
use equelle_front::verify::Verified;
use equelle_interp::Options;
use equelle_lanes::Lanes;
use equelle_random::binary::{Binary, Module, Plan};
use equelle_random::compare::run_by_lanes;
use equelle_random::on_ranks::SOLVED as SOLVED_ON_RANKS;
use equelle_random::outcome::{Outcome, Tolerance, same};
use equelle_random::project::{Case, SinglePrecision, Subject, subjects};
use equelle_random::rank_cut::RankCut;
use rayon::prelude::*;

const DOUBLE: Numbers = Numbers { precision: Precision::Double, rounding: Rounding::Strict };
const SINGLE: Numbers = Numbers { precision: Precision::Single, rounding: Rounding::Strict };
const FAST: Numbers = Numbers { precision: Precision::Double, rounding: Rounding::Fast };

/// How programs are compiled: level, numbers, and what the module is called after.
const BUILDS: [(OptLevel, Numbers, &str); 5] = [
    (OptLevel::O0, DOUBLE, "plain"),
    (OptLevel::O2, DOUBLE, "fused"),
    (OptLevel::O0, SINGLE, "single_plain"),
    (OptLevel::O2, SINGLE, "single_fused"),
    (OptLevel::O2, FAST, "fast"),
];

/// Builds of every program; examples have the others too.
const EVERYWHERE: usize = 2;

/// Half the spacing of singles at 1.
const ROUNDING: f64 = 0.5 * f32::EPSILON as f64;

/// Operations that a value of an explicit scheme goes through in a step: two stages of shallow
/// water have the most, fewer than 100 each. The schemes do not let errors grow, so that roundings
/// add up at most.
const OPERATIONS: f64 = 200.0;

/// Sum of elementary roundings between levels, or layouts, whose geometry is not the same numbers:
/// the project's promise, relative to the largest value of an output.
const GEOMETRY: Tolerance = Tolerance::relative(1e-12);

/// A program as it is compiled.
struct Compiled<'s> {
    subject: &'s Subject,
    /// In the order of [`BUILDS`].
    builds: Vec<Verified>,
    /// Number of the first among the modules of the binary.
    first: usize,
}

impl Compiled<'_> {
    fn plan(&self, build: usize, ranks: Option<RankCut>, words: Vec<String>) -> Plan {
        Plan { module: self.first + build, ranks, words }
    }
}

/// A comparison of several ways to run a program on a case.
type Compare = fn(&Compiled<'_>, &Case, &Binary, &mut Differences);

/// Differences, for people.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn compare(&mut self, what: &str, expected: &Outcome, found: &Outcome, allowed: Tolerance) {
        if let Err(difference) = same(expected, found, &|_| allowed) {
            self.0.push(format!("{what}: {difference}"));
        }
    }
}

#[test]
fn every_program_runs_the_same_in_every_way() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("every-program");
    let subjects = subjects(&folder.join("data"));
    assert!(subjects.len() >= 32, "only {} programs are found", subjects.len());
    let mut first = 0;
    let mut all = Vec::new();
    for subject in &subjects {
        let number = if subject.example { BUILDS.len() } else { EVERYWHERE };
        let builds = BUILDS[..number].iter().map(|&(level, numbers, _)| subject.compile(level, numbers)).collect();
        all.push(Compiled { subject, builds, first });
        first += number;
    }
    let modules = all.iter().flat_map(|compiled| {
        let name = |build: usize| format!("{}_{}", compiled.subject.name, BUILDS[build].2);
        compiled.builds.iter().enumerate().map(move |(build, verified)| Module { name: name(build), verified })
    });
    let binary = Binary::build("every-program", &modules.collect::<Vec<_>>(), &folder.join("package"));
    let mut runs: Vec<(&Compiled<'_>, &Case, Compare)> = Vec::new();
    for compiled in &all {
        for case in &compiled.subject.cases {
            runs.push((compiled, case, five_ways));
            runs.extend(compiled.subject.example.then_some((compiled, case, other_numbers as Compare)));
        }
    }
    let run = |&(compiled, case, compare): &(&Compiled<'_>, &Case, Compare)| {
        let mut differences = Differences::default();
        compare(compiled, case, &binary, &mut differences);
        differences.0
    };
    let differences: Vec<String> = runs.par_iter().with_max_len(1).flat_map_iter(run).collect();
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), differences.join("\n"));
}

/// Runs a build on several threads; what one gave. Others must give the same bits.
fn on_threads(
    compiled: &Compiled<'_>,
    build: usize,
    case: &Case,
    layout: &[&str],
    threads: &[&str],
    binary: &Binary,
    differences: &mut Differences,
) -> Outcome {
    let words = |threads: &str| case.words(&[layout, &[&*format!("threads={threads}")]].concat());
    let plans: Vec<Plan> = threads.iter().map(|threads| compiled.plan(build, None, words(threads))).collect();
    let mut found = binary.run(&plans).into_iter().flatten();
    let first = found.next().expect("a run on some threads");
    for (found, threads) in found.zip(&threads[1..]) {
        let what = format!("{} {} {layout:?}, {} on {threads} threads", compiled.subject.name, case.name, BUILDS[build].2);
        differences.compare(&what, &first, &found, Tolerance::BITS);
    }
    first
}

/// Runs a fused build on ranks, which must give the bits of one process, or solutions as near as
/// solvers come; none where there are none.
fn on_ranks(compiled: &Compiled<'_>, case: &Case, layout: &[&str], one: &Outcome, binary: &Binary, differences: &mut Differences) {
    let ranks = [2, 3, 7].map(|n_ranks| RankCut { n_ranks, scattered: false });
    let plans: Vec<Plan> = ranks.iter().map(|&cut| compiled.plan(1, Some(cut), case.words(layout))).collect();
    for (found, RankCut { n_ranks, .. }) in binary.run(&plans).iter().zip(ranks) {
        let Some(found) = found else { continue };
        let what = format!("{} {} {layout:?}, on {n_ranks} ranks", compiled.subject.name, case.name);
        let is_explicit = compiled.subject.runnable.solves.is_empty();
        let allowed = if is_explicit { Tolerance::BITS } else { Tolerance::relative(SOLVED_ON_RANKS) };
        differences.compare(&what, one, found, allowed);
    }
}

/// Interprets a build by lanes, which give the bits of the evaluator of elements: `lanes.rs`.
fn interpreted(compiled: &Compiled<'_>, build: usize, case: &Case, layout: &[&str], cartesian_forms: bool) -> Outcome {
    let options = Options { cartesian_forms, ..Options::default() };
    let words = case.words(&[layout, &["threads=1"]].concat());
    run_by_lanes(&compiled.builds[build], &compiled.subject.runnable, &words, options, &mut Lanes::default())
}

fn five_ways(compiled: &Compiled<'_>, case: &Case, binary: &Binary, differences: &mut Differences) {
    let subject = compiled.subject;
    // Solutions have the solver's tolerance, unless everything about the solution is the same.
    let or_solved = |explicit: Tolerance| subject.solved.unwrap_or(explicit);
    let mut first: Option<Outcome> = None;
    for (number, layout) in case.layouts().iter().copied().enumerate() {
        let what = format!("{} {} {layout:?}", subject.name, case.name);
        let interpret = |build: usize, cartesian_forms: bool| interpreted(compiled, build, case, layout, cartesian_forms);
        let specialised = case.cartesian && number == 0;
        let before = interpret(0, false);
        if let Some(error) = &before.error {
            differences.0.push(format!("{what}: {error}"));
        }
        if before.outputs.iter().any(|(_, values)| values.iter().any(|value| !value.is_finite())) {
            differences.0.push(format!("{what}: an output is not finite"));
        }
        let after = interpret(1, specialised);
        let plain = on_threads(compiled, 0, case, layout, &["4"], binary, differences);
        let fused = on_threads(compiled, 1, case, layout, &["1", "4"], binary, differences);
        on_ranks(compiled, case, layout, &fused, binary, differences);
        differences.compare(&format!("{what}, -O0 compiled"), &before, &plain, Tolerance::BITS);
        // The interpreter adds the terms of a derivative in another order.
        differences.compare(&format!("{what}, -O2 compiled"), &after, &fused, or_solved(Tolerance::BITS));
        let same_geometry = case.exact || !specialised;
        let allowed = or_solved(if same_geometry { Tolerance::BITS } else { GEOMETRY });
        differences.compare(&format!("{what}, passes"), &before, &after, allowed);
        differences.compare(&format!("{what}, levels"), &plain, &fused, allowed);
        if let Some(first) = &first {
            let allowed = or_solved(if case.exact { Tolerance::BITS } else { GEOMETRY });
            differences.compare(&format!("{what}, layouts"), first, &before, allowed);
        }
        first.get_or_insert(before);
    }
}

fn other_numbers(compiled: &Compiled<'_>, case: &Case, binary: &Binary, differences: &mut Differences) {
    let subject = compiled.subject;
    let operations = OPERATIONS * subject.steps as f64;
    for (number, layout) in case.layouts().iter().copied().enumerate() {
        let what = format!("{} {} {layout:?}", subject.name, case.name);
        let mut run = |build: usize, case: &Case, threads: &[&str]| on_threads(compiled, build, case, layout, threads, binary, differences);
        let (double, fast) = (run(1, case, &["1"]), run(4, case, &["2", "4"]));
        // A contracted operation, or a product with a reciprocal, is off by at most 1.5 roundings
        // more than the strict one.
        let allowed = subject.solved.unwrap_or(Tolerance::relative(1.5 * operations * 0.5 * f64::EPSILON));
        differences.compare(&format!("{what}, fast"), &double, &fast, allowed);
        let (words, allowed) = match subject.single {
            SinglePrecision::Explicit | SinglePrecision::ExplicitWithScalars => (&[][..], Tolerance::relative(operations * ROUNDING)),
            SinglePrecision::Solved { words, allowed } => {
                (words, Tolerance { relative: allowed.relative.max(OPERATIONS * ROUNDING), ..allowed })
            }
            SinglePrecision::No => continue,
        };
        let case = case.with(words);
        let mut run = |build: usize, threads: &[&str]| on_threads(compiled, build, &case, layout, threads, binary, differences);
        let (plain, single) = (run(2, &["4"]), run(3, &["1", "4"]));
        let interpret = |build: usize, cartesian_forms: bool| interpreted(compiled, build, &case, layout, cartesian_forms);
        differences.compare(&format!("{what}, -O0 in single precision"), &interpret(2, false), &plain, Tolerance::BITS);
        let interpreted = interpret(3, case.cartesian && number == 0);
        // The interpreter adds the terms of a derivative in another order.
        let by_derivatives = if subject.solved.is_none() { Tolerance::BITS } else { allowed };
        differences.compare(&format!("{what}, -O2 in single precision"), &interpreted, &single, by_derivatives);
        differences.compare(&format!("{what}, single precision"), &double, &single, allowed);
        let has_scalars = matches!(subject.single, SinglePrecision::ExplicitWithScalars);
        let between_levels = if subject.solved.is_none() && case.exact && !has_scalars { Tolerance::BITS } else { allowed };
        differences.compare(&format!("{what}, levels in single precision"), &plain, &single, between_levels);
        if double.outputs == single.outputs {
            differences.0.push(format!("{what}: single precision gives what double precision gives"));
        }
    }
}
