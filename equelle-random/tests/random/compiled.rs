//! Random programs compiled, many to one binary: bit for bit what the interpreter gives, for any
//! number of threads and of ranks.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use equelle_front::verify::Verified;
use equelle_interp::Options;
use equelle_random::binary::{Binary, Module, Plan};
use equelle_random::compare::{compile, in_single_precision, run, same_to_solvers};
use equelle_random::data::{Fixture, Fixtures, grids};
use equelle_random::generate::{Purpose, program};
use equelle_random::outcome::{Outcome, bits, errors_of, or_any_zero, same};
use equelle_random::rank_cut::RankCut;

/// Seeds of programs of every test run.
const SEEDS: Range<u64> = 500_000..500_020;

/// More of them, for `.ci/full`.
const MORE_SEEDS: Range<u64> = 500_020..500_060;

/// One of so many programs is compiled in single precision too, if it has no equations: the last.
const IN_SINGLE_PRECISION: usize = 5;

/// A program at one level.
struct Level {
    name: String,
    verified: Verified,
    runnable: Arc<equelle_runtime::Program>,
}

#[test]
fn compiled_programs_give_what_the_interpreter_gives() {
    let on_ranks = compare("random-programs", SEEDS);
    assert!(on_ranks >= 40, "only {on_ranks} runs on ranks were compared");
}

#[test]
#[ignore = "rustc takes minutes; .ci/full runs it"]
fn more_compiled_programs_give_what_the_interpreter_gives() {
    let on_ranks = compare("more-random-programs", MORE_SEEDS);
    assert!(on_ranks >= 80, "only {on_ranks} runs on ranks were compared");
}

/// Compiles the programs of some seeds to one binary of a name; fails unless each gives the bits of
/// the interpreter. The number of runs on ranks.
fn compare(name: &str, seeds: Range<u64>) -> usize {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let triangles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
    let fixtures = Fixtures::write(&folder.join("data"), &triangles).expect("the target folder can be written");
    let mut levels = Vec::new();
    let mut sources = Vec::new();
    for seed in seeds {
        let random = program(seed, Purpose::Run, &fixtures.ranges);
        let text = random.text();
        let compiled = compile(&text, random.units).unwrap_or_else(|f| panic!("seed {seed}: {}\n{text}", f.text));
        let (runnable, last) = (compiled.runnable, compiled.passes.into_iter().next_back().expect("there are passes").1);
        for (level, verified) in [(0, compiled.plain), (2, last)] {
            levels.push(Level { name: format!("p{seed}_{level}"), verified, runnable: Arc::clone(&runnable) });
        }
        sources.push(random);
    }
    let n_levels = levels.len();
    // The interpreter adds the terms of a derivative in another order.
    let explicit = (0..sources.len()).rev().filter(|&number| !sources[number].text().contains("NewtonSolve"));
    let in_single: Vec<usize> = explicit.take(sources.len() / IN_SINGLE_PRECISION).map(|number| 2 * number + 1).collect();
    for &level in &in_single {
        let Level { name, verified, runnable } = &levels[level];
        let single = Level { name: format!("{name}_single"), verified: in_single_precision(verified), runnable: Arc::clone(runnable) };
        levels.push(single);
    }
    let source_of = |module: usize| in_single.get(module.wrapping_sub(n_levels)).copied().unwrap_or(module) / 2;
    let modules: Vec<Module> = levels.iter().map(|l| Module { name: l.name.clone(), verified: &l.verified }).collect();
    let binary = Binary::build(name, &modules, &folder.join("package"));
    let mut plans = Vec::new();
    let mut wanted: Vec<(usize, &Fixture, &str)> = Vec::new();
    for (module, level) in levels.iter().enumerate() {
        for (number, fixture) in grids(&sources[source_of(module)], &fixtures).enumerate() {
            // Numbers of ranks from 1 to 7, another one on each grid.
            let n_ranks = 1 + ((module + number) % 7) as u32;
            let boxes = Some(RankCut { n_ranks, scattered: false });
            let scattered = fixture.cells.is_none().then_some(Some(RankCut { n_ranks, scattered: true }));
            let ranks = [boxes].into_iter().chain(scattered).map(|cut| ("1", cut));
            let runs = [("1", None), ("2", None), ("4", None)].into_iter().chain(ranks);
            for (threads, ranks) in runs {
                let mut words: Vec<String> = fixture.words_for(&level.runnable).map(str::to_owned).collect();
                words.push(format!("threads={threads}"));
                plans.push(Plan { module, ranks, words });
                wanted.push((module, fixture, threads));
            }
        }
    }
    let found = binary.run(&plans);
    let mut expected: BTreeMap<(usize, &str), Outcome> = BTreeMap::new();
    let mut failures = Vec::new();
    let mut on_ranks = 0;
    for (((module, fixture, threads), plan), found) in wanted.into_iter().zip(&plans).zip(&found) {
        let (level, Some(found)) = (&levels[module], found) else { continue };
        on_ranks += usize::from(plan.ranks.is_some());
        let options = Options { cartesian_forms: !fixture.unstructured, ..Options::default() };
        let outcome = expected.entry((module, fixture.name)).or_insert_with(|| run(&level.verified, &level.runnable, fixture, options));
        let compared = match plan.ranks.is_some() && !level.runnable.solves.is_empty() {
            true => same_to_solvers(&sources[source_of(plan.module)], outcome, found),
            false => same(outcome, found, &bits),
        };
        if let Err(difference) = compared {
            let ranks = plan.ranks.map_or_else(String::new, |ranks| format!(" and {ranks:?}"));
            failures.push(format!("{} on the grid {} with {threads} threads{ranks}: {difference}", level.name, fixture.name));
        }
    }
    assert!(failures.is_empty(), "{} of {} runs differ\n{}", failures.len(), plans.len(), failures[..failures.len().min(20)].join("\n"));
    // The levels agree as well, but for what depends on solutions of equations.
    for (number, random) in sources.iter().enumerate() {
        // On Cartesian grids only one of them has Cartesian forms.
        let errors = or_any_zero(errors_of(random));
        for fixture in grids(random, &fixtures) {
            let of = |level: usize| &expected[&(2 * number + level, fixture.name)];
            same(of(0), of(1), &errors).unwrap_or_else(|d| panic!("seed {} on the grid {}: {d}", random.seed, fixture.name));
        }
    }
    on_ranks
}
