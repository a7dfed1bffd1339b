//! Every program of the project by lanes, those of `tests/wording` too, compared with the evaluator
//! of elements to the bit: by general bodies and by Cartesian forms, on one thread and on four, in
//! both precisions.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use equelle_front::ir::{Numbers, Precision, Rounding};
use equelle_front::passes::OptLevel;
use equelle_front::verify::Verified;
use equelle_interp::Options;
use equelle_lanes::Lanes;
use equelle_random::compare::{compare_lanes, compile, in_single_precision, run_by_lanes};
use equelle_random::project::{Subject, subjects, wording_subjects};
use equelle_runtime::Program;
use rayon::prelude::*;

/// Kernels left to the evaluator of elements, by program, the differences, and the number of
/// kernels that were compiled.
fn compared(subject: &Subject, precision: Precision) -> (BTreeMap<String, String>, Vec<String>, usize) {
    let (mut fallen, mut differences, mut compiled) = (BTreeMap::new(), Vec::new(), 0);
    let module = subject.compile(OptLevel::O2, Numbers { precision, rounding: Rounding::Strict });
    // The evaluator of elements takes most of the time: in single precision it runs once.
    let is_single = precision == Precision::Single;
    let cases = if is_single { &subject.cases[..1] } else { &subject.cases };
    for case in cases {
        let layouts = case.layouts();
        for (number, layout) in layouts.iter().enumerate().take(if is_single { 1 } else { layouts.len() }) {
            let cartesian = case.cartesian && number == 0;
            let general: (bool, &[usize]) = (false, if number % 2 == 0 { &[1] } else { &[4] });
            let ways: &[(bool, &[usize])] = match (cartesian, is_single) {
                (_, true) => &[(cartesian, &[1, 4])],
                (true, false) => &[general, (true, &[4])],
                (false, false) => &[general],
            };
            for &(cartesian_forms, threads) in ways {
                let mut lanes = Lanes::default();
                let options = Options { cartesian_forms, ..Options::default() };
                if let Err(difference) = compare_lanes(&module, &subject.runnable, &case.words(layout), options, threads, &mut lanes) {
                    let way = if cartesian_forms { "Cartesian" } else { "general" };
                    let program = format!("{} {} in {}", subject.name, case.name, precision.name());
                    differences.push(format!("{program}, {layout:?}, {way}: {difference}"));
                }
                compiled += lanes.compiled_kernels();
                for (kernel, refusal) in lanes.fallen() {
                    fallen.insert(format!("{} {kernel}", subject.name), refusal.to_string());
                }
            }
        }
    }
    (fallen, differences, compiled)
}

#[test]
fn lanes_are_elements() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lanes");
    let mut subjects = subjects(&folder);
    subjects.extend(wording_subjects(&folder));
    let both = |subject| [Precision::Double, Precision::Single].into_par_iter().map(move |precision| compared(subject, precision));
    let all: Vec<_> = subjects.par_iter().flat_map(both).collect();
    let differences: Vec<String> = all.iter().flat_map(|(_, differences, _)| differences.clone()).collect();
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), differences.join("\n"));
    let compiled: usize = all.iter().map(|(_, _, compiled)| compiled).sum();
    assert!(compiled > 1000, "only {compiled} kernels ran by lanes");
    // Kernels of the project that fall to the evaluator of elements: they may only become fewer.
    let fallen: BTreeMap<String, String> = all.into_iter().flat_map(|(fallen, _, _)| fallen).collect();
    let known = [("inside residual_u", "derivatives of a sum over faces inside another one")];
    assert_eq!(fallen, known.map(|(kernel, refusal)| (kernel.to_owned(), refusal.to_owned())).into());
}

/// Enough cells for several threads: sums whose bits show their order, rows longer and shorter than
/// a block.
#[test]
fn any_number_of_threads_gives_the_same() {
    let text = "u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
        For i In Range(0, 3) {\n    flux = -0.25 * Gradient(u) Extend AllFaces()\n    \
        u = u - 0.125 * Divergence(flux) + (u > 1 ? Exp(-u) : Sqrt(u + 8))\n    \
        Output(\"sum\", SumReduce(u))\n    Output(\"least\", MinReduce(u * u))\n}\nOutput(\"u\", u)\n";
    let compiled = compile(text, false).unwrap_or_else(|failure| panic!("{}", failure.text));
    let module = &compiled.passes.last().expect("passes").1;
    same_on_any_number(module, &compiled.runnable);
    same_on_any_number(&in_single_precision(module), &compiled.runnable);
}

fn same_on_any_number(module: &Verified, runnable: &Arc<Program>) {
    for grid in [["grid_dim=2", "nx=100", "ny=90"], ["grid_dim=2", "nx=700", "ny=13"], ["grid_dim=1", "nx=9000", "renumber=no"]] {
        for (cartesian_forms, layout) in [(true, &[][..]), (false, &[]), (false, &["grid_layout=unstructured"])] {
            let given = [&grid[..], layout, &["dx=0.5", "dy=0.25", "u_expression=Sin(x)+3*Cos(y*x)"]].concat();
            let words: Vec<String> = given.into_iter().map(str::to_owned).collect();
            let options = Options { cartesian_forms, ..Options::default() };
            let mut lanes = Lanes::default();
            let same = compare_lanes(module, runnable, &words, options, &[1, 2, 3, 8], &mut lanes);
            same.unwrap_or_else(|difference| panic!("{words:?} {difference}"));
            assert!(lanes.fallen().is_empty(), "{:?}", lanes.fallen());
        }
    }
}

/// Every range of faces has one without a second cell; the first of them is the error.
#[test]
fn the_first_element_that_fails_is_the_error() {
    let text = "u = InputCollectionOfScalar(\"u\", AllCells())\nbehind = SecondCell(AllFaces())\nOutput(\"u\", 2 * (u On behind))\n";
    let compiled = compile(text, false).unwrap_or_else(|failure| panic!("{}", failure.text));
    let module = &compiled.passes.last().expect("passes").1;
    let words = ["grid_dim=2", "nx=300", "ny=90", "u_expression=x"].map(str::to_owned);
    for threads in [1, 2, 8] {
        let mut lanes = Lanes::default();
        let same = compare_lanes(module, &compiled.runnable, &words, Options::default(), &[threads], &mut lanes);
        same.unwrap_or_else(|difference| panic!("on {threads}: {difference}"));
        let ended = run_by_lanes(module, &compiled.runnable, &words, Options::default(), &mut lanes).error.expect("an error");
        assert!(ended.message.contains("face 300"), "{ended}");
    }
}
