//! Explicit heat conduction in a box (examples/heat_explicit_3d).

use std::fs;

use crate::support::{How, Outputs, assert_close, numbers, repository, run};

const PROGRAM: &str = "examples/heat_explicit_3d/heat_explicit_3d.equelle";
/// The same computation with declared functions, nested `On` and a subset restricted from all
/// boundary faces.
const DECLARED: &str = "tests/run/heat_declared.equelle";

/// The reference is given to 16 digits; after 150 damped steps rounding stays far below 1e-12.
const TOLERANCE: f64 = 1e-12;

fn case(how: How, program: &str, layout: &str) -> Outputs {
    let param = repository("examples/heat_explicit_3d/case.param");
    run(how, program, &[&param.to_string_lossy(), &format!("grid_layout={layout}")])
}

/// Compares with results of the original implementation: samples, minimum, maximum and mean, and
/// whole fields where they are available.
fn check(outputs: &Outputs, what: &str) {
    let fields = outputs.fields("expU");
    assert_eq!(fields.len(), 151, "{what}: one field a step, and the last one again");
    for steps in [1, 50, 100, 150] {
        let field = &fields[steps - 1];
        let text = fs::read_to_string(repository(&format!("examples/heat_explicit_3d/expected/u-step{steps:04}-samples.txt"))).unwrap();
        let mut found = Vec::new();
        let mut expected = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (key, value) = line.split_once(' ').unwrap();
            expected.push(value.parse().unwrap());
            found.push(match key {
                "min" => field.iter().copied().fold(f64::INFINITY, f64::min),
                "max" => field.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                "mean" => field.iter().sum::<f64>() / field.len() as f64,
                cell => field[cell.parse::<usize>().unwrap()],
            });
        }
        assert_eq!(expected.len(), 108, "3 numbers and 105 samples");
        assert_close(&found, &expected, TOLERANCE, &format!("{what}, step {steps}"));
        let whole = repository(&format!("../shared/reference/heat-explicit-3d/expected/u-step{steps:04}.txt"));
        if whole.is_file() {
            assert_close(field, &numbers(&whole), TOLERANCE, &format!("{what}, step {steps}, whole field"));
        }
    }
    let maxima = &outputs.scalars["maximum of u"];
    assert_eq!(maxima.len(), 150);
    assert_eq!(maxima[149], fields[149].iter().copied().fold(f64::NEG_INFINITY, f64::max));
}

/// All steps; that every way gives the same bits is shown on some of them, for all programs, in
/// `equelle-random/tests/random/all_programs.rs`.
#[test]
fn both_levels_give_the_reference() {
    for how in [How::Compiled0, How::Compiled2] {
        for layout in ["auto", "unstructured"] {
            check(&case(how, PROGRAM, layout), &format!("{how:?} {layout}"));
        }
    }
}

#[test]
fn declared_style_gives_the_same_numbers() {
    check(&case(How::Compiled2, DECLARED, "auto"), "declared");
}
