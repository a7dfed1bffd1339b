//! Every program of the project by lanes, compared with the evaluator of elements to the bit: by
//! general bodies and by Cartesian forms, on one thread and on four.

use std::collections::BTreeMap;
use std::path::Path;

use equelle_front::ir::Numbers;
use equelle_front::passes::OptLevel;
use equelle_interp::Options;
use equelle_lanes::Lanes;
use equelle_random::compare::compare_lanes;
use equelle_random::project::{Subject, subjects};
use rayon::prelude::*;

/// What lanes left to the evaluator of elements, by program and kernel, and what differed.
fn compared(subject: &Subject) -> (BTreeMap<String, String>, Vec<String>) {
    let (mut fallen, mut differences) = (BTreeMap::new(), Vec::new());
    let module = subject.compile(OptLevel::O2, Numbers::default());
    for case in &subject.cases {
        for (number, layout) in case.layouts().iter().enumerate() {
            let cartesian = case.cartesian && number == 0;
            for (cartesian_forms, threads) in [(false, 1), (cartesian, 4)] {
                let mut lanes = Lanes::default();
                let options = Options { cartesian_forms, ..Options::default() };
                if let Err(difference) = compare_lanes(&module, subject.runnable, &case.words(layout), options, threads, &mut lanes) {
                    let way = if cartesian_forms { "Cartesian" } else { "general" };
                    differences.push(format!("{} {} {layout:?}, {way} on {threads}: {difference}", subject.name, case.name));
                }
                for (kernel, refusal) in lanes.fallen() {
                    fallen.insert(format!("{} {kernel}", subject.name), refusal.to_string());
                }
            }
        }
    }
    (fallen, differences)
}

/// What falls: a line that is new is a step back.
const FALLEN: &str = include_str!("lanes-fallen.txt");

#[test]
fn lanes_are_elements() {
    let subjects = subjects(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("lanes"));
    let all: Vec<_> = subjects.par_iter().map(compared).collect();
    let differences: Vec<String> = all.iter().flat_map(|(_, differences)| differences.clone()).collect();
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), differences.join("\n"));
    let fallen: BTreeMap<String, String> = all.into_iter().flat_map(|(fallen, _)| fallen).collect();
    let text: String = fallen.iter().map(|(kernel, why)| format!("{kernel}: {why}\n")).collect();
    assert_eq!(text, FALLEN, "kernels that fall to the evaluator of elements");
}
