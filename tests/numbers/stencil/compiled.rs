//! Compiled equations: one simulator with a solve for every rule.

use std::fs;

use super::agree::{INPUTS, rules, words};
use crate::support::{Dimensions, How, assert_close, run_with, scratch};

/// Two iterations from the same guess: the iterates depend on the residuals and on all derivatives.
/// Both ways use direct solvers. Two iterations amplify rounding of 1e-16 by the condition numbers
/// of the matrices, below 1e5: hence the tolerance 1e-9. Values that overflow are compared as such.
#[test]
fn every_rule_gives_the_iterates_of_sparse_matrices() {
    let folder = scratch("stencil-compiled");
    let mut text = String::from(INPUTS);
    // A solve whose residual becomes infinite would end the run.
    let finite = rules().into_iter().filter(|(name, _)| !["powers", "functions", "choice nested"].contains(name));
    let mut tags = Vec::new();
    for (k, (name, residual)) in finite.enumerate() {
        text += &format!("r{k}(u) = {{\n {residual}\n}}\nu{k} = NewtonSolve(r{k}, g)\nOutput(\"u{k}\", u{k})\n");
        tags.push((format!("u{k}"), name));
    }
    let program = folder.join("rules.equelle");
    fs::write(&program, text).unwrap();
    let program = program.display().to_string();
    for layout in ["auto", "unstructured"] {
        let words = words(&folder, layout);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let expected = run_with(How::Interpreted0, Dimensions::Unchecked, &program, &words);
        let found = run_with(How::Compiled2, Dimensions::Unchecked, &program, &words);
        for (tag, name) in &tags {
            assert!(expected.last(tag).iter().all(|x| x.is_finite()), "{name}");
            assert_close(found.last(tag), expected.last(tag), 1e-9, &format!("{name}, {layout}"));
        }
    }
}
