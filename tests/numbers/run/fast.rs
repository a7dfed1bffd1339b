//! `--fp fast` against strict arithmetic.

use std::fs;
use std::path::PathBuf;

use crate::support::{How, assert_close, equellec, repository, run, run_simulator, scratch, stderr};

/// Each operation that is contracted or divided by a reciprocal is off by at most 1.5 roundings
/// more than the strict one, of 2^-53 each. Neither scheme lets errors grow: explicit heat takes
/// means, waves move over smooth ground. So roundings add up: at most 20 operations a cell and
/// stage with heat, 100 with shallow water.
#[test]
fn results_stay_within_the_roundings_left_out() {
    const ROUNDING: f64 = 0.5 * f64::EPSILON;
    for (name, field, operations) in [("heat_explicit_3d", "expU", 150.0 * 20.0), ("shallow_water", "q1", 200.0 * 100.0)] {
        let (program, param) = (format!("examples/{name}/{name}.equelle"), repository(&format!("examples/{name}/case.param")));
        let param = param.to_string_lossy();
        // Widths without a finite binary form, so that quotients are not exact.
        let words: &[&str] = &[&param, "dx=0.7"];
        let strict = run(How::Compiled2, &program, words);
        let folder = scratch(&format!("fast-{name}"));
        let built =
            equellec().args(["build", "--fp", "fast", "--force", "-o"]).arg(folder.join("package")).arg(repository(&program)).output();
        let built = built.expect("equellec starts");
        assert!(built.status.success(), "{}", stderr(&built));
        let manifest = fs::read_to_string(folder.join("package/manifest.json")).expect("a manifest");
        assert!(manifest.contains("\"floating_point\": \"fast\""), "{manifest}");
        let kernels = fs::read_to_string(folder.join("package/src/kernels_serial.rs")).expect("kernels");
        assert!(kernels.contains("mul_add("), "products are added without being rounded");
        let simulator = PathBuf::from(String::from_utf8_lossy(&built.stdout).trim());
        let (fast, said) = run_simulator(&simulator, &folder.join("out"), words);
        assert!(said.contains(", fp fast"), "the summary names the mode: {said}");
        // The sign and the size: 1.5 roundings an operation.
        assert_close(fast.last(field), strict.last(field), 1.5 * operations * ROUNDING, name);
        fs::remove_dir_all(&folder).expect("a scratch folder can be removed");
    }
}
