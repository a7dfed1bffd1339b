//! Random programs run the same in every way.

use std::path::Path;

use equelle_front::backend::visit::{Node, visit_block, visit_stmt};
use equelle_front::check::{CheckOptions, check_text};
use equelle_front::ir::{CartesianForm, KStmt, Kernel};
use equelle_front::lower;
use equelle_front::passes::{OptLevel, Options, Why, optimise_by};
use equelle_front::report::{Part, Report};
use equelle_front::source::SourceMap;
use equelle_random::check;
use equelle_random::data::Fixtures;
use equelle_random::generate::{Purpose, program};
use equelle_random::rewrite::{Rewriting, rewritten};
use equelle_random::split::split;
use rayon::prelude::*;

/// Programs of a test run, and the first seed. `.ci/full` takes 20,000 from there on: `cargo xtask
/// random --programs N --seed N`.
const PROGRAMS: u64 = 200;
const SEED: u64 = 1;

/// Programs whose texts alone are looked at.
const TEXTS: u64 = 1000;

fn fixtures(folder: &str) -> Fixtures {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let triangles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
    Fixtures::write(&folder, &triangles).expect("the target folder can be written")
}

/// Programs that found something once: a Vector times a component of a normal in a Cartesian form;
/// a negative number times such a component that is 0; a kernel that read the extreme of what it
/// wrote; an extreme of nothing that other words moved out of a loop which does not run; equations
/// of a system in units of their own, of which the one with large numbers holds.
const FOUND: [u64; 5] = [117_455, 203_502, 413_526, 404_109, 45_006_881];

#[test]
fn every_way_gives_the_same() {
    let fixtures = fixtures("random-agree");
    let found: Vec<Result<usize, String>> =
        (SEED..SEED + PROGRAMS).into_par_iter().chain(FOUND).map(|seed| check(seed, &fixtures)).collect();
    let ended = found.iter().filter(|found| found.as_ref().is_ok_and(|&ended| ended > 0)).count();
    let failures: Vec<String> = found.into_iter().filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{} programs differ\n{}", failures.len(), failures[..failures.len().min(5)].join("\n"));
    // Programs that fail in the same way in every way: of nothing that fails nothing would be
    // shown.
    assert!(ended as u64 > PROGRAMS / 20, "only {ended} of {PROGRAMS} programs end with an error");
}

/// Every way to say a program otherwise is among those that the test above has run.
#[test]
fn programs_are_said_otherwise() {
    let fixtures = fixtures("random-agree-words");
    let mut times = [0; Rewriting::ALL.len()];
    let programs = TEXTS / 5;
    for seed in SEED..SEED + programs {
        let program = program(seed, Purpose::Run, &fixtures.ranges);
        let (other, done) = rewritten(&program);
        assert_eq!(done.is_empty(), program.text() == other.text(), "seed {seed}: {done:?}");
        assert_eq!(other.text(), rewritten(&program).0.text(), "seed {seed}");
        for (kind, times) in Rewriting::ALL.into_iter().zip(&mut times) {
            *times += done.iter().filter(|found| **found == kind).count();
        }
    }
    assert!(times.iter().all(|&times| times as u64 > programs / 4), "{times:?} of {:?}", Rewriting::ALL);
}

/// Some programs ask for the one cell of faces of which some have two: an error of the run.
#[test]
fn faces_with_two_cells_are_asked_for_one() {
    let fixtures = fixtures("random-agree-texts");
    let asks = |seed: &u64| {
        let text = program(*seed, Purpose::Run, &fixtures.ranges).text();
        let of_all_faces = text.lines().filter(|line| line.contains("InputDomainSubsetOf(\"sub_af\""));
        let mut names = of_all_faces.filter_map(|line| line.trim_start().split([' ', ':']).next());
        names.any(|name| text.contains(&format!("InnerCell({name})")))
    };
    let found = (SEED..SEED + TEXTS).filter(asks).count();
    assert!(found >= 5, "only {found} of {TEXTS} programs");
}

/// Many programs of the first test have functions that they import in its last comparison.
#[test]
fn programs_import_functions() {
    let fixtures = fixtures("random-agree-imports");
    let programs = TEXTS / 5;
    let split = (SEED..SEED + programs).filter_map(|seed| split(&program(seed, Purpose::Run, &fixtures.ranges)));
    let imported: usize = split.map(|split| split.functions.lines().filter(|line| line.ends_with(") = {")).count()).sum();
    assert!(imported as u64 > programs / 10, "{imported} functions of {programs} programs");
}

/// Programs have what has no form for Cartesian grids as it is written: sums over faces beside
/// reads by index, and sums in the branches of ternaries.
#[test]
fn programs_mix_forms() {
    let fixtures = fixtures("random-agree-forms");
    let (mut parted, mut branches) = (0, 0);
    let programs = TEXTS / 2;
    for seed in SEED..SEED + programs {
        let program = program(seed, Purpose::Run, &fixtures.ranges);
        let text = program.text();
        let checked = check_text(&text, &CheckOptions { nondimensional: !program.units });
        let typed = checked.program.unwrap_or_else(|| panic!("seed {seed}: {:?}", checked.diagnostics));
        let module = lower::lower(&typed, &SourceMap::new("random.equelle", text), "random");
        let (module, notes) = optimise_by(module, &Options { level: OptLevel::O2, ..Options::default() }, &mut |_, _| {});
        let report = Report::of(&module, &notes);
        let mut results = report.parts.iter().flat_map(Part::kernels).flat_map(|kernel| &kernel.results);
        parted += u64::from(results.any(|result| result.why == Some(Why::MixedForms)));
        branches += u64::from(module.kernels.iter().any(sums_in_a_branch));
    }
    assert!(parted > programs / 100, "{parted} of {programs} programs store something between two forms");
    assert!(branches > programs / 100, "{branches} of {programs} programs sum in a branch");
}

/// True if a kernel with a form for cells of a Cartesian grid sums over faces in a branch.
fn sums_in_a_branch(kernel: &Kernel) -> bool {
    let mut found = false;
    visit_block(&kernel.body, &mut |node| {
        if let Node::Stmt(choice @ KStmt::If { .. }) = node {
            visit_stmt(choice, &mut |inner| found |= matches!(inner, Node::Stmt(KStmt::ReduceFaces { .. })));
        }
    });
    found && matches!(kernel.cartesian, Some(CartesianForm::Full(_)))
}
