//! Random programs on ranks that are threads.

use std::path::Path;

use equelle::interpret::Kernels;
use equelle::rank_plan::{Occasion, PlannedKernels, RankPlan};
use equelle::ranks::{self, RankProgram, ThreadRanks};
use equelle_front::passes::OptLevel;
use equelle_front::passes::halo::HaloExchange;
use equelle_random::compare::compile;
use equelle_random::data::Fixtures;
use equelle_random::generate::{Purpose, program};
use equelle_random::on_ranks::{Chosen, RankCount, compare_on_ranks, compare_subject};
use equelle_random::project::subjects;
use equelle_runtime::ranks::Exchanged;
use equelle_runtime::session::Options;
use rayon::prelude::*;

/// Compares programs of these seeds on ranks with one process: the number of those with exchanges,
/// and of comparisons.
fn compared(seeds: std::ops::Range<u64>, chosen: Chosen) -> (usize, RankCount) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("on_ranks-{}-{chosen:?}", seeds.start));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let fixtures = Fixtures::write(&folder, &root.join("grids/triangles-6x5.grid")).expect("the data of programs");
    let counts: Vec<Option<RankCount>> = seeds
        .into_par_iter()
        .map(|seed| {
            let program = program(seed, Purpose::Run, &fixtures.ranges);
            let found = compare_on_ranks(&program, &fixtures, chosen);
            found.unwrap_or_else(|failure| panic!("seed {seed}: {}: {}\n{}", failure.kind, failure.text, program.text()))
        })
        .collect();
    let all = counts.iter().flatten().fold(RankCount::default(), |sum, count| RankCount {
        runs: sum.runs + count.runs,
        on_several: sum.on_several + count.on_several,
        ended: sum.ended + count.ended,
        programs: sum.programs + count.programs,
        is_local: false,
    });
    (counts.iter().flatten().filter(|count| !count.is_local).count(), all)
}

#[test]
fn random_programs_on_ranks_are_those_of_one_process() {
    let (_, count) = compared(8_300_000..8_300_200, Chosen::All);
    assert!(count.on_several >= 250 && count.ended >= 1, "{count:?}");
}

#[test]
fn random_programs_with_exchanges_are_those_of_one_process() {
    let (with_exchanges, count) = compared(8_310_000..8_311_500, Chosen::Exchanging);
    assert!(with_exchanges >= 60 && count.on_several >= 300, "{with_exchanges} with exchanges, {count:?}");
}

/// Three slabs of 8 x 2 cells: the two in the middle exchange a row of eight on each side.
#[test]
fn exchanges_are_as_many_as_the_report_says() {
    let text = "u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
        For i In Range(0, 5) {\n    u = u + 0.1 * Divergence(Gradient(u) Extend AllFaces())\n}\nOutput(\"u\", u)\n";
    let compiled = compile(text, false).unwrap_or_else(|failure| panic!("{}", failure.text));
    let words = ["grid_dim=2", "nx=8", "ny=6", "u_expression=x*y"].map(str::to_owned);
    for (module, kernels) in [(&compiled.plain, Kernels::Elements), (&compiled.passes.last().expect("passes").1, Kernels::Lanes)] {
        let program = RankProgram::new(module).expect("no solve");
        let times = |exchange: &HaloExchange| if exchange.rounds.is_some() { 5 } else { 1 };
        let expected: u64 = program.halo().exchanges.iter().map(times).sum();
        assert_eq!(expected, 5, "one in each round");
        let ranks = ThreadRanks { n_ranks: 3, partition: None, seed: None };
        let found = ranks::run(kernels, &compiled.runnable, &program, &words, Options::silent(), &ranks, &|session| {
            session.record_outputs();
        });
        let found = found.expect("a run");
        assert!(found.iter().all(|rank| rank.exchanges() == expected));
        let sum = |count: fn(Exchanged) -> u64| found.iter().map(|rank| count(rank.exchanged())).sum::<u64>();
        assert_eq!([sum(|sent| sent.messages), sum(|sent| sent.bytes)], [4 * expected, 4 * 8 * 8 * expected]);
    }
}

/// Messages and bytes of a plan that runs nothing are those of runs, on boxes, triangles and
/// meshes.
#[test]
fn exchanges_are_those_of_the_plan() {
    let text = "u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
        v : Mutable Collection Of Vector On AllCells() = Centroid(AllCells())\n\
        f : Mutable Collection Of Scalar On AllFaces() = |AllFaces()|\n\
        For i In Range(0, 3) {\n    f = f + 0.5 * ((Gradient(u) + 0.1) Extend AllFaces())\n    u = u + 0.1 * Divergence(f)\n\
            lower = v On FirstCell(InteriorFaces())\n    v = v + Divergence(lower[0] Extend AllFaces()) * Centroid(AllCells())\n}\n\
        Output(\"u\", u)\nOutput(\"v\", v)\n";
    let compiled = compile(text, false).unwrap_or_else(|failure| panic!("{}", failure.text));
    let grids = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids");
    let mesh = |name: &str| format!("grid_filename={}", grids.join(name).display());
    let grids = [
        vec!["grid_dim=2".to_owned(), "nx=9".to_owned(), "ny=7".to_owned()],
        vec!["grid_dim=3".to_owned(), "nx=5".to_owned(), "ny=4".to_owned(), "nz=6".to_owned()],
        vec![mesh("triangles-6x5.grid")],
        vec![mesh("plate.msh")],
    ];
    let mut sent_in_all = 0;
    for (module, kernels) in [(&compiled.plain, Kernels::Elements), (&compiled.passes.last().expect("passes").1, Kernels::Lanes)] {
        let program = RankProgram::new(module).expect("no solve");
        for grid in &grids {
            for n_ranks in [1, 2, 3, 5, 8] {
                let words = [&grid[..], &["u_expression=x*y".to_owned()]].concat();
                let plan =
                    RankPlan::new(&compiled.runnable, &program, &words, n_ranks, PlannedKernels::Interpreted(kernels)).expect("a plan");
                let ranks = ThreadRanks { n_ranks, partition: None, seed: None };
                let found = ranks::run(kernels, &compiled.runnable, &program, &words, Options::silent(), &ranks, &|session| {
                    session.record_outputs();
                });
                let found: Vec<Exchanged> = found.expect("a run").iter().map(|rank| rank.exchanged()).collect();
                let mut expected = vec![Exchanged::default(); n_ranks as usize];
                for round in plan.rounds() {
                    let times = if round.occasion == Occasion::Once { 1 } else { 3 };
                    for (sum, [messages, bytes]) in expected.iter_mut().zip(round.sent) {
                        *sum = Exchanged { messages: sum.messages + times * messages, bytes: sum.bytes + times * bytes };
                    }
                }
                assert_eq!(found, expected, "{grid:?} on {n_ranks} ranks");
                sent_in_all += found.iter().map(|rank| rank.bytes).sum::<u64>();
            }
        }
    }
    assert!(sent_in_all > 100_000, "{sent_in_all} bytes");
}

/// Every program of the project, on each of its grids.
#[test]
fn programs_of_the_project_on_ranks_are_those_of_one_process() {
    let subjects = subjects(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("on_ranks-project"));
    let ways = [(OptLevel::O2, Kernels::Lanes), (OptLevel::O0, Kernels::Elements)];
    let all: Vec<Result<u32, String>> = subjects
        .par_iter()
        .flat_map(|subject| ways.into_par_iter().map(move |(level, kernels)| compare_subject(subject, level, kernels)))
        .collect();
    let differences: Vec<&String> = all.iter().filter_map(|found| found.as_ref().err()).collect();
    assert!(differences.is_empty(), "{differences:#?}");
    let runs: u32 = all.iter().flatten().sum();
    assert!(runs >= 150, "only {runs} runs were compared");
}

#[test]
#[ignore = "2,000 programs and those with exchanges of 6,000, a quarter of an hour: `.ci/full`"]
fn many_random_programs_on_ranks_are_those_of_one_process() {
    println!("{:?}", compared(8_400_000..8_402_000, Chosen::All));
    let (with_exchanges, count) = compared(8_410_000..8_416_000, Chosen::Exchanging);
    println!("{with_exchanges} programs with exchanges, {count:?}");
    assert!(with_exchanges >= 400, "{with_exchanges} with exchanges, {count:?}");
}

/// Solutions are those of one process as far as solvers come, and errors have the same text.
#[test]
#[ignore = "500 programs, four minutes: `.ci/full`"]
fn many_implicit_programs_on_ranks_are_those_of_one_process() {
    let (_, count) = compared(8_500_000..8_501_700, Chosen::Implicit);
    println!("{count:?}");
    assert!(count.programs >= 500 && count.on_several >= 1_500, "{count:?}");
}
