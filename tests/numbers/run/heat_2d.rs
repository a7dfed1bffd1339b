//! Explicit heat conduction in a plate (examples/heat_explicit_2d).

use std::fs;

use crate::support::{EVERY_WAY, assert_close, numbers, repository, run, scratch};

const PROGRAM: &str = "examples/heat_explicit_2d/heat_explicit_2d.equelle";

/// The expected fields come from a plain loop (`cargo xtask example-data`); rounding of 100 damped
/// steps stays far below 1e-12.
#[test]
fn example_gives_the_numbers_of_a_plain_loop() {
    let param = repository("examples/heat_explicit_2d/case.param");
    for how in EVERY_WAY {
        let outputs = run(how, PROGRAM, &[&param.to_string_lossy()]);
        let fields = outputs.fields("expU");
        assert_eq!(fields.len(), 101);
        for steps in [1, 10, 100] {
            let expected = numbers(&repository(&format!("examples/heat_explicit_2d/expected/u-step{steps:04}.txt")));
            assert_close(&fields[steps - 1], &expected, 1e-12, &format!("{how:?}, step {steps}"));
        }
        assert_eq!(fields[100], fields[99], "the last field is put out twice");
    }
}

/// Two steps on 4 x 3 cells that can be followed by hand, in SI units with k = 0.3 and cv = 1. The
/// original implementation gives the same.
#[test]
fn two_steps_by_hand() {
    let folder = scratch("heat-2d-by-hand");
    for (name, text) in [("faces", "0 4\n"), ("values", "1000 0\n"), ("steps", "0.5 0.5\n")] {
        fs::write(folder.join(name), text).unwrap();
    }
    let file = |key: &str, name: &str| format!("{key}_filename={}", folder.join(name).display());
    let words = [
        "nx=4".to_owned(),
        "ny=3".into(),
        "k=0.3".into(),
        "cv=1".into(),
        "u_initial=500".into(),
        file("dirichlet_boundary", "faces"),
        "dirichlet_val_from_file=true".into(),
        file("dirichlet_val", "values"),
        file("timesteps", "steps"),
    ];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let first = [650.0, 500.0, 500.0, 350.0, 500.0, 500.0, 500.0, 500.0, 500.0, 500.0, 500.0, 500.0];
    let second = [710.0, 522.5, 477.5, 290.0, 522.5, 500.0, 500.0, 477.5, 500.0, 500.0, 500.0, 500.0];
    for how in EVERY_WAY {
        let outputs = run(how, PROGRAM, &words);
        let fields = outputs.fields("expU");
        assert_eq!(fields.len(), 3, "{how:?}");
        // 0.3 is not a binary fraction: a few roundings.
        assert_close(&fields[0], &first, 1e-15, &format!("{how:?}, step 1"));
        assert_close(&fields[1], &second, 1e-15, &format!("{how:?}, step 2"));
        assert_close(&fields[2], &second, 1e-15, &format!("{how:?}, the last field again"));
        assert_close(&outputs.scalars["maximum of u"], &[650.0, 710.0], 1e-15, &format!("{how:?}, maxima"));
    }
    fs::remove_dir_all(&folder).unwrap();
}
