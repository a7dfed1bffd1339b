//! Random programs on ranks that are threads.

use std::path::Path;

use equelle_random::data::Fixtures;
use equelle_random::generate::{Purpose, program};
use equelle_random::on_ranks::{RankCount, compare_on_ranks};
use rayon::prelude::*;

/// Programs of these seeds that run on ranks, and their comparisons.
fn compared(seeds: std::ops::Range<u64>) -> (usize, RankCount) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("on_ranks-{}", seeds.start));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let fixtures = Fixtures::write(&folder, &root.join("grids/triangles-6x5.grid")).expect("the data of programs");
    let counts: Vec<Option<RankCount>> = seeds
        .into_par_iter()
        .map(|seed| {
            let program = program(seed, Purpose::Run, &fixtures.ranges);
            let found = compare_on_ranks(&program, &fixtures);
            found.unwrap_or_else(|failure| panic!("seed {seed}: {}: {}\n{}", failure.kind, failure.text, program.text()))
        })
        .collect();
    let all = counts.iter().flatten().fold(RankCount::default(), |sum, count| RankCount {
        runs: sum.runs + count.runs,
        on_several: sum.on_several + count.on_several,
        ended: sum.ended + count.ended,
        is_local: false,
    });
    (counts.iter().flatten().filter(|count| !count.is_local).count(), all)
}

#[test]
fn random_programs_on_ranks_are_those_of_one_process() {
    let (with_exchanges, count) = compared(8_300_000..8_300_600);
    assert!(with_exchanges >= 15 && count.on_several >= 800 && count.ended >= 1, "{with_exchanges} with exchanges, {count:?}");
}

#[test]
#[ignore = "2,000 programs, half an hour: `.ci/full`"]
fn many_random_programs_on_ranks_are_those_of_one_process() {
    let (with_exchanges, count) = compared(8_400_000..8_402_000);
    println!("{with_exchanges} programs with exchanges, {count:?}");
    assert!(with_exchanges >= 300, "{with_exchanges} with exchanges, {count:?}");
}
