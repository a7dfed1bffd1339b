//! The runner notices what is wrong.

use super::coverage;
use super::execute::verdict;
use super::format::{Case, parse};

fn case(text: &str) -> Case {
    parse("test", text).unwrap().remove(0)
}

fn difference(text: &str) -> String {
    verdict(&case(text)).expect_err("the case must not hold")
}

#[test]
fn right_cases_hold() {
    verdict(&case("=== a\ncovers: x\n\nb = 1\nOutput(\"b\", b)\n---\nb = 1\n")).unwrap();
    verdict(&case("=== a\ncovers: x\n\nOutput(\"b\", b)\n            ^ E0101 no variable `b` => assign it\n")).unwrap();
    verdict(&case("=== a\ncovers: x\ntext: Output(\"b\", b)\n\n---\nat 1:13 E0101 no variable `b`\n")).unwrap();
}

#[test]
fn a_wrong_value_is_noticed() {
    let text = difference("=== a\ncovers: x\n\nOutput(\"b\", 1)\n---\nb = 2\n");
    assert!(text.contains("expected b = 2.0") && text.contains("found    b = 1.0"), "{text}");
}

#[test]
fn signs_of_zero_are_told_apart() {
    difference("=== a\ncovers: x\n\nOutput(\"b\", 0)\n---\nb = -0.0\n");
}

#[test]
fn missing_and_additional_outputs_are_noticed() {
    difference("=== a\ncovers: x\n\nOutput(\"b\", 1)\n---\nb = 1\nb = 1\n");
    difference("=== a\ncovers: x\n\nOutput(\"b\", 1)\nOutput(\"b\", 1)\n---\nb = 1\n");
    difference("=== a\ncovers: x\n\nOutput(\"b\", 1 Extend AllCells())\n---\nb = 1\n");
}

#[test]
fn places_and_texts_of_diagnostics_are_compared() {
    for marks in [
        "            ^ E0102 no variable",
        "            ^ E0101 no function",
        "           ^ E0101 no variable",
        "            ^^ E0101 no variable",
    ] {
        difference(&format!("=== a\ncovers: x\n\nOutput(\"b\", b)\n{marks}\n"));
    }
    difference("=== a\ncovers: x\n\nOutput(\"b\", b)\n            ^ E0101 no variable => remove it\n");
    difference("=== a\ncovers: x\n\nOutput(\"b\", b)\n            ^ E0101 no variable\n---\nalso 1:1 here\n");
    verdict(&case("=== a\ncovers: x\n\nOutput(\"b\", b)\n            ^ E0101 no .. `b`\n")).unwrap();
    difference("=== a\ncovers: x\n\nOutput(\"b\", b)\n            ^ E0101 `b` .. no\n");
    difference("=== a\ncovers: x\n\nb = 1\n^ E0101 no variable\nOutput(\"b\", b)\n");
}

#[test]
fn calls_that_led_there_are_compared_in_order() {
    let program = "=== a\ncovers: x\n\nf(x) = {\n    -> -x\n        ^ E0201 takes numbers\n}\ng(x) = {\n    -> f(x)\n}\nOutput(\"b\", g(True))\n---\n";
    verdict(&case(&format!("{program}via 5:8 call of `f`\nvia 7:13 call of `g`\n"))).unwrap();
    difference(&format!("{program}via 7:13 call of `g`\nvia 5:8 call of `f`\n"));
    difference(&format!("{program}via 5:8 call of `f`\n"));
}

#[test]
fn warnings_must_be_expected() {
    let text = difference("=== a\ncovers: x\n\nc = 1\nOutput(\"b\", 1)\n---\nb = 1\n");
    assert!(text.contains("W0101"), "{text}");
}

#[test]
fn a_pending_case_must_not_hold() {
    let text = difference("=== a\ncovers: x\npending: not there\n\nOutput(\"b\", 1)\n---\nb = 1\n");
    assert!(text.contains("remove the mark"), "{text}");
    verdict(&case("=== a\ncovers: x\npending: not there\n\nOutput(\"b\", 1)\n---\nb = 2\n")).unwrap();
}

#[test]
fn failures_of_a_run_are_compared() {
    let program = "=== a\ncovers: x\n\na = InputSequenceOfScalar(\"a\")\nFor t In a {\n  Output(\"t\", t)\n}\n---\n";
    verdict(&case(&format!("{program}fails Data 1 a_filename\n"))).unwrap();
    verdict(&case(&format!("{program}fails Data 1 a_filename => a_filename\n"))).unwrap();
    difference(&format!("{program}fails Data 1 a_filename => a tablecloth\n"));
    difference(&format!("{program}fails Data 2 a_filename\n"));
    difference(&format!("{program}fails Io 1 a_filename\n"));
    difference(&format!("{program}t = 1\n"));
}

#[test]
fn cases_without_expectation_or_row_are_refused() {
    parse("test", "=== a\ncovers: x\n\na = 1\n").unwrap_err();
    parse("test", "=== a\n\na = 1\n---\na = 1\n").unwrap_err();
    parse("test", "=== a\ncovers: x\ntolerance: 1e-3\n\na = 1\n---\na = 1\n").unwrap_err();
}

#[test]
fn holes_in_the_coverage_are_noticed() {
    let rows = coverage::parse("x + accepted\ny +- both\n").unwrap();
    let cases = parse("test", "=== a\ncovers: x y z\n\nOutput(\"b\", 1)\n---\nb = 1\n").unwrap();
    let problems = coverage::problems(&rows, &cases);
    assert_eq!(problems, ["case `a` covers `z`, which is not a row", "row `y` has no case that is rejected"]);
}

#[test]
fn rows_that_pages_miss_are_noticed() {
    let page = "# Page\n\nA rule.\n\nRows: `x.*`,\n`y`. Elsewhere: `other`\n\n`w` is no row of this\n\nRows: `z`\n";
    assert_eq!(coverage::named_rows(page), ["x.*", "y", "z"]);
    let rows = coverage::parse("x.one + a\nx.two + b\ny + c\nlast + d\n").unwrap();
    assert_eq!(coverage::faults_of_pages(&rows, &coverage::named_rows(page)), ["no row `z`", "no page names `last`"]);
}
