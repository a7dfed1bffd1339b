//! Output of `--report`: recorded for examples and for a program that shows the reasons; numbers of
//! kernels, loads and bytes that are derived by hand.
//!
//! `EQUELLE_BLESS=1 cargo test --test texts report::` rewrites the records; review the difference
//! like code.

mod summary;

use std::path::{Path, PathBuf};
use std::{env, fs};

use equelle::report;
use equelle_front::check::{CheckOptions, check_text};
use equelle_front::lower;
use equelle_front::memory::Needs;
use equelle_front::passes::{CallNotInlined, Need, OptLevel, Options, Why, optimise_by};
use equelle_front::report::{Cartesian, Item, KernelItem, Part, Report, SlowOperations, Traffic, When};
use equelle_front::source::SourceMap;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn report_at(name: &str, text: &str, level: OptLevel) -> (Report, SourceMap) {
    let checked = check_text(text, &CheckOptions { nondimensional: true });
    let program = checked.program.unwrap_or_else(|| panic!("{name}: {:?}", checked.diagnostics.first()));
    let source = SourceMap::new(format!("{name}.equelle"), text);
    let module = lower::lower(&program, &source, name);
    let (module, notes) = optimise_by(module, &Options { level, ..Options::default() }, &mut |_, _| {});
    let mut report = Report::of(&module, &notes);
    report.add_memory(&module, &Needs::of(&module));
    report.add_ranks(&module);
    (report, source)
}

fn report_of(name: &str, text: &str) -> Report {
    report_at(name, text, OptLevel::O2).0
}

fn example(name: &str) -> String {
    let path = root().join(format!("examples/{name}/{name}.equelle"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn example_report(name: &str) -> Report {
    report_of(name, &example(name))
}

/// Kernels of the parts that run once in each round of the outermost loop: what stands in it and,
/// of loops in it, one round.
fn kernels_per_step(report: &Report) -> usize {
    report.steps().map(|part| part.kernels().count()).sum()
}

fn largest_evaluation(report: &Report) -> usize {
    report.evaluations().map(|part| part.kernels().count()).max().expect("a solve")
}

#[test]
fn reports_are_as_recorded() {
    let bless = env::var_os("EQUELLE_BLESS").is_some_and(|v| v == "1");
    let mut programs: Vec<(String, String)> =
        ["heat_explicit_3d", "shallow_water", "two_phase"].into_iter().map(|name| (name.to_owned(), example(name))).collect();
    let reasons = fs::read_to_string(root().join("tests/report/reasons.equelle")).expect("the program of reasons");
    programs.push(("reasons".to_owned(), reasons));
    let mut wrong = Vec::new();
    for (name, text) in programs {
        let (found, source) = report_at(&name, &text, OptLevel::O2);
        let json = format!("{:#}\n", report::json(&found));
        for (seen, ending) in [(report::text(&found, &source), "txt"), (json, "json")] {
            let record: PathBuf = root().join(format!("tests/report/{name}.{ending}"));
            if bless {
                fs::write(&record, seen).unwrap_or_else(|error| panic!("{}: {error}", record.display()));
            } else if fs::read_to_string(&record).ok().as_deref() != Some(&seen) {
                wrong.push(format!("---- {name}.{ending}\n{seen}"));
            }
        }
    }
    assert!(wrong.is_empty(), "EQUELLE_BLESS=1 records what is seen\n{}", wrong.join("\n"));
}

/// Bounds on kernels: the design of 2014 launched 35 kernels a step of heat conduction and 1000 a
/// step of shallow water.
#[test]
fn kernels_of_a_step() {
    for name in ["heat_explicit_2d", "heat_explicit_3d"] {
        assert!(kernels_per_step(&example_report(name)) <= 2, "{name}");
    }
    // A step is a pair of Runge-Kutta stages.
    assert!(kernels_per_step(&example_report("shallow_water")) <= 6);
    for name in ["two_phase", "two_phase_implicit", "two_phase_gravity"] {
        let report = example_report(name);
        assert!(largest_evaluation(&report) <= 12, "{name}");
        let untreated = |item: &Item| matches!(item, Item::Solve { by_kernels: false, .. });
        assert!(!report.parts.iter().any(|part| part.items.iter().any(untreated)), "{name}: every residual is kernels");
    }
}

fn only_kernel(text: &str) -> KernelItem {
    let report = report_of("program", text);
    let kernels: Vec<&KernelItem> = report.parts.iter().flat_map(Part::kernels).collect();
    let [kernel] = kernels[..] else { panic!("one kernel: {kernels:?}") };
    kernel.clone()
}

/// Explicit heat on cells of 2 dim faces, 1 + 2 dim loads of the field. By hand, any grid in 3
/// dimensions, per cell: the field 8, volumes 8, transmissibilities of 3 faces 24, where faces
/// begin 8, 6 faces of 4, 3 faces with two cells 24, positions of 3 faces among the interior ones
/// 12, the result 8: 116 bytes. Cartesian: the field and the result.
#[test]
fn traffic_of_heat_conduction() {
    let report = example_report("heat_explicit_3d");
    let step: Vec<&KernelItem> = report.steps().flat_map(Part::kernels).collect();
    assert_eq!(report.dimensions, [2, 3]);
    let u = step[0];
    assert_eq!(u.name, "compute_u");
    // Flops: per face the difference, the product and the sum; then a quotient, a product and a
    // difference.
    let slow = SlowOperations { quotients: 1, ..SlowOperations::default() };
    let general =
        Traffic { own: 2, neighbours: 6, faces: 6, elsewhere: 0, indices: 2 + 6 * 4, stores: 1, bytes: 116.0, flops: 6 * 3 + 3, slow };
    assert_eq!(u.general[1], general);
    let cartesian = Traffic { own: 1, neighbours: 6, faces: 0, elsewhere: 0, indices: 0, stores: 1, bytes: 16.0, flops: 21, slow };
    let Cartesian::Full(traffic) = &u.cartesian else { panic!("{:?}", u.cartesian) };
    assert_eq!(traffic[1], cartesian);
    assert_eq!(traffic[0], Traffic { neighbours: 4, flops: 15, ..cartesian });
}

/// The residual of a Laplacian in 2 dimensions: the row of a cell has it and its four neighbours;
/// the kernel writes these and the residual.
#[test]
fn derivatives_are_stores() {
    let text = "\
u = InputCollectionOfScalar(\"u\", AllCells())
r(x) = {
    -> x - u - Divergence(Gradient(x))
}
Output(\"x\", NewtonSolve(r, u))
";
    let report = report_of("program", text);
    let evaluation: Vec<&KernelItem> = report.evaluations().flat_map(Part::kernels).collect();
    assert_eq!(evaluation.len(), 1);
    assert_eq!(evaluation[0].general[0].stores, 1 + 5);
    assert_eq!(evaluation[0].general[1].stores, 1 + 7);
}

#[test]
fn small_kernels_by_hand() {
    let product = only_kernel(
        "u = InputCollectionOfScalar(\"u\", AllCells())\nv = InputCollectionOfScalar(\"v\", AllCells())\nOutput(\"w\", u * v)\n",
    );
    let expected = Traffic { own: 2, stores: 1, bytes: 24.0, flops: 1, ..Traffic::default() };
    assert_eq!(product.general, [expected; 2]);
    assert_eq!(product.lines, [3]);
    // A face reads both its cells, found by two indices; each cell is read by the dim faces that
    // are its share.
    let faces = only_kernel("u = InputCollectionOfScalar(\"u\", AllCells())\nOutput(\"g\", Gradient(u))\n");
    // Per face: 1/2 cell of 8 bytes, two indices, the index of the face among interior faces, the
    // result.
    assert_eq!(faces.general[0], Traffic { neighbours: 2, indices: 2, stores: 1, bytes: 4.0 + 8.0 + 8.0, flops: 1, ..Traffic::default() });
    assert_eq!(faces.cartesian, Cartesian::General);
    // The longer branch counts, the loads of both.
    let choice = only_kernel("u = InputCollectionOfScalar(\"u\", AllCells())\nOutput(\"w\", u > 0 ? u * u * u : Sqrt(u))\n");
    let slow = SlowOperations { quotients: 1, ..SlowOperations::default() };
    assert_eq!(choice.general[0], Traffic { own: 1, stores: 1, bytes: 16.0, flops: 4, slow, ..Traffic::default() });
    // One function for each face, and the look-up once.
    let functions = only_kernel(
        "u = InputCollectionOfScalar(\"u\", AllCells())\nk = InputTable(\"k\", \"x\", \"y\")\n\
         Output(\"w\", Interpolate(k, u) + u^1.5 * Divergence(Exp(u On FirstCell(InteriorFaces()))))\n",
    );
    let of_faces = |faces| SlowOperations { quotients: 0, functions: faces, powers: 1, look_ups: 1 };
    assert_eq!(functions.general.iter().map(|traffic| traffic.slow).collect::<Vec<_>>(), [of_faces(4), of_faces(6)]);
}

/// However it is written: the kernel that writes the state takes its extreme, and one computes the
/// step, the time and the condition.
#[test]
fn a_step_by_the_cfl_number_is_two_kernels() {
    let text = |words: &str| fs::read_to_string(root().join(format!("tests/wording/cfl_{words}.equelle"))).expect("a program");
    let quotient = text("quotient");
    let two_extremes = quotient.replace("MinReduce(|AllCells()| / (Abs(u) + 1))", "MinReduce(|AllCells()|) / MaxReduce(Abs(u) + 1)");
    assert_ne!(two_extremes, quotient);
    let programs = [("at end", text("at_end")), ("function", text("function")), ("quotient", quotient), ("two extremes", two_extremes)];
    for (words, text) in programs {
        let report = report_of("program", &text);
        let kernels: Vec<&KernelItem> = report.steps().flat_map(Part::kernels).collect();
        let mut reductions: Vec<Vec<bool>> = kernels.iter().map(|kernel| reduction_flags(kernel)).collect();
        reductions.sort();
        let singles = reductions.iter().find(|results| *results != &[false, true]).map_or(0, Vec::len);
        assert_eq!(kernels.len(), 2, "{words}: {reductions:?}");
        assert!(reductions.contains(&vec![false, true]), "{words}: {reductions:?}");
        // The step is not computed where it is the one that the round before has computed.
        assert!(singles >= 2, "{words}: {reductions:?}");
    }
}

/// An extreme is known when all elements are done: what reads it is another kernel, whether the
/// extreme is taken by the kernel before or by one of its own.
#[test]
fn what_reads_an_extreme_is_another_kernel() {
    let text = "s = InputCollectionOfScalar(\"s\", AllCells())\nb = 0.5 * s\nm = MaxReduce(3 * b)\n\
                w = s / m\nOutput(\"b\", b)\nOutput(\"w\", w)\n";
    let report = report_of("program", text);
    let kernels: Vec<Vec<bool>> = report.parts.iter().flat_map(Part::kernels).map(reduction_flags).collect();
    assert_eq!(kernels, [vec![false, true], vec![false]]);
}

/// True for each result of a kernel that is a reduction.
fn reduction_flags(kernel: &KernelItem) -> Vec<bool> {
    kernel.results.iter().map(|result| result.why == Some(Why::Reduction)).collect()
}

fn reasons(report: &Report) -> Vec<(String, Option<Why>)> {
    let kernels = report.parts.iter().flat_map(Part::kernels);
    kernels.flat_map(|kernel| kernel.results.iter().map(|result| (result.name.clone(), result.why.clone()))).collect()
}

#[test]
fn formulas_too_tall_are_stored() {
    let terms: Vec<String> = (0..300).map(|i| format!("u * {i}")).collect();
    let text = format!("u = InputCollectionOfScalar(\"u\", AllCells())\nOutput(\"sum\", SumReduce({}))\n", terms.join(" + "));
    let found = reasons(&report_of("program", &text));
    // The lower 250 levels are a value of their own, the rest is part of the reduction.
    assert!(matches!(&found[..], [(_, Some(Why::Tall { limit: 250 })), (_, Some(Why::Reduction))]), "{found:?}");
}

#[test]
fn sums_are_stored_beside_reads_by_index() {
    let text = "i = StencilI()
u = InputCollectionOfScalar(\"u\", AllCells())
h = Halo(u, Mirror(i))
outflow = Divergence(Exp(Gradient(u)))
Output(\"v\", u - outflow + h(i+1))
";
    let found = reasons(&report_of("program", text));
    assert!(matches!(&found[..], [(_, Some(Why::MixedForms)), (_, Some(Why::Needed(_)))]), "{found:?}");
}

/// A function of this many statements.
fn long_function(name: &str, statements: usize) -> String {
    let lines: String =
        (0..statements).map(|i| format!("    x{i} = {} * {i}.5\n", if i == 0 { "x".into() } else { format!("x{}", i - 1) })).collect();
    format!("{name}(x) = {{\n{lines}    -> x{}\n}}\n", statements - 1)
}

#[test]
fn large_functions_stay_calls() {
    // Each line is two operations; nine copies have more than 10,000.
    let function = long_function("f", 600);
    let calls: String = (2..10).map(|i| format!("Output(\"b\", f(u * {i}))\n")).collect();
    let text = format!("{function}u = InputCollectionOfScalar(\"u\", AllCells())\nOutput(\"a\", f(u))\n{calls}");
    let report = report_of("program", &text);
    let calls: Vec<Option<CallNotInlined>> =
        report.parts[0].items.iter().filter_map(|item| if let Item::Call { why, .. } = item { Some(*why) } else { None }).collect();
    let large = |call: &Option<CallNotInlined>| matches!(call, Some(CallNotInlined::Large { limit: 1111, statements: 1112.. }));
    assert!(calls.len() == 9 && calls.iter().all(large), "{calls:?}");
    let part = report
        .parts
        .iter()
        .find(|part| matches!(&part.when, When::Call { function, .. } if function.starts_with('f')))
        .expect("the function");
    assert_eq!(part.kernels().count(), 1, "{part:?}");
    let needs = |need| Some(Why::Needed([need].into()));
    assert_eq!(part.kernels().next().expect("one").results[0].why, needs(Need::Result));
    assert!(reasons(&report).iter().any(|(_, why)| *why == needs(Need::Call)), "the argument u * 2: {:?}", reasons(&report));
}

/// Each stage is one kernel with 288 reads at offsets (6 of each first or second derivative along
/// an axis, 12 of each mixed one), those at the cell and the old values.
#[test]
fn stages_of_the_mhd_example_are_one_kernel_each() {
    let (report, _) = report_at("mhd", &example("mhd"), OptLevel::O2);
    let step = report.steps().next().expect("a loop");
    let counts: Vec<_> = step.kernels().map(|k| (k.general[0].own, k.general[0].neighbours, k.general[0].stores)).collect();
    assert_eq!(counts, [(8, 288, 8), (16, 288, 8), (16, 288, 8)]);
}

#[test]
fn the_budget_of_inlining_is_told() {
    let function = long_function("f", 450);
    let calls: String = (0..60).map(|i| format!("Output(\"a\", f(u * {i}))\n")).collect();
    let report = report_of("program", &format!("{function}u = InputCollectionOfScalar(\"u\", AllCells())\n{calls}"));
    let kept = |item: &&Item| matches!(item, Item::Call { why: Some(CallNotInlined::Budget { budget: 50_000 }), .. });
    let kept = report.parts[0].items.iter().filter(kept).count();
    assert!(kept > 0 && kept < 60, "{kept}");
}

#[test]
fn level_zero_has_operations_alone() {
    let (report, source) = report_at("heat_explicit_3d", &example("heat_explicit_3d"), OptLevel::O0);
    assert_eq!(report.parts.iter().flat_map(Part::kernels).count(), 0);
    let step = report.steps().next().expect("a loop");
    assert!(step.items.iter().any(|item| matches!(item, Item::Operation { operation: "Divergence", why: None, .. })), "{step:?}");
    assert!(report::text(&report, &source).contains("Each time step, line 36: For dt In timesteps {\n"));
}

/// Magnetohydrodynamics: 43 cells for velocities and potentials, which have derivatives along the
/// axes and in two planes, 19 for the two scalars, all within 3: 296 values. Of the stage before
/// only the cell itself, whose memory the results take.
#[test]
fn points_of_magnetohydrodynamics() {
    let report = example_report("mhd");
    let kernels: Vec<&KernelItem> = report.steps().flat_map(Part::kernels).collect();
    assert_eq!(kernels.len(), 3);
    for (number, kernel) in kernels.into_iter().enumerate() {
        let points = kernel.points.as_ref().expect("reads by index");
        assert_eq!(points.count, 55);
        let mut counts: Vec<usize> = points.params.iter().map(|param| param.count).collect();
        counts.sort_unstable();
        let around = [19, 19, 43, 43, 43, 43, 43, 43];
        let expected: Vec<usize> = if number == 0 { around.to_vec() } else { [[1; 8], around].concat() };
        assert_eq!(counts, expected, "{}", kernel.name);
        for param in &points.params {
            assert_eq!(param.reach, if param.count == 1 { [[0, 0]; 3] } else { [[3, 3]; 3] }, "{}", param.name);
        }
        let traffic = kernel.general.last().expect("three dimensions");
        let old = if number == 0 { 0 } else { 8 };
        assert_eq!((traffic.own + traffic.neighbours, traffic.stores), (296 + old, 8));
        assert_eq!(traffic.bytes, 8.0 * (8 + old + 8) as f64);
        let in_place = kernel.results.iter().filter(|result| result.in_place.is_some()).count();
        assert_eq!(in_place as u64, old);
    }
}
