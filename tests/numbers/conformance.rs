//! The language, rule by rule: small programs with the values or the diagnostics that the rule
//! gives. `conformance/README.md` describes the format.
//!
//! Every program goes through parser, checker and lowering, and is interpreted as lowered and after
//! the passes of `-O2`, there also on the grid as an unstructured one. `EQUELLE_CASE=text cargo
//! test --test numbers conformance::` runs the cases whose name contains the text.

mod format;

mod coverage;
mod execute;
mod grammar;
mod runner_tests;

use std::collections::BTreeMap;
use std::fs;

use format::Case;

/// All cases, in the order of the files and of the cases in them.
fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for path in format::case_files() {
        all.extend(format::read(&path).unwrap_or_else(|error| panic!("{error}")));
    }
    all
}

#[test]
fn every_case_holds() {
    let wanted = std::env::var("EQUELLE_CASE").unwrap_or_default();
    let mut failures = Vec::new();
    let mut run = 0;
    for case in cases().iter().filter(|case| case.name.contains(&wanted)) {
        run += 1;
        if let Err(difference) = execute::verdict(case) {
            failures.push(format!("---- {} ({}:{})\n{difference}", case.name, case.file, case.line));
        }
    }
    assert!(run > 0, "no case is named like `{wanted}`");
    assert!(failures.is_empty(), "{} of {run} cases fail\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn names_are_unique() {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for case in cases() {
        let place = format!("{}:{}", case.file, case.line);
        if let Some(first) = seen.insert(case.name.clone(), place.clone()) {
            panic!("two cases are named `{}`: {first} and {place}", case.name);
        }
    }
}

/// The language is large; a suite that shrinks has lost something.
#[test]
fn there_are_at_least_300_cases() {
    let working = cases().iter().filter(|case| case.pending.is_none()).count();
    assert!(working >= 300, "only {working} cases, pending ones apart");
}

#[test]
fn coverage_has_no_holes() {
    let problems = coverage::problems(&coverage::rows(), &cases());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// `docs/language` names each row below the rule that it shows.
#[test]
fn pages_of_the_language_name_every_row() {
    let folder = format::folder().join("../../docs/language");
    let entries = fs::read_dir(folder).expect("the pages of the language").map(|entry| entry.expect("an entry").path());
    let pages: Vec<String> = entries.map(|path| fs::read_to_string(path).expect("a page")).collect();
    let names: Vec<&str> = pages.iter().flat_map(|page| coverage::named_rows(page)).collect();
    let faults = coverage::faults_of_pages(&coverage::rows(), &names);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Each error says one concrete thing to do, but for these.
#[test]
fn errors_have_hints() {
    // E0005: what was expected is the advice.
    const MAY_LACK_ONE: [&str; 3] = ["E0005", "E0204", "E0217"];
    let silent: Vec<String> = cases()
        .iter()
        .flat_map(|case| execute::without_hint(case).into_iter().map(|code| format!("{code} in {}", case.name)))
        .filter(|error| !MAY_LACK_ONE.iter().any(|code| error.starts_with(code)))
        .collect();
    assert!(silent.is_empty(), "errors without a hint: {}", silent.join(", "));
}
