//! Flow in porous media: compressible gas, and pressure without anything that fixes its level.

use std::fs;

use crate::support::{How, assert_close, equellec, numbers, repository, run, scratch, stderr};

const GAS: &str = "examples/gas_1d/gas_1d.equelle";
const PRESSURE: &str = "tests/implicit/pressure_neumann.equelle";

/// Expected are results of the original implementation. There Newton
/// stops below 1e-6 kg/s, after one iteration, with a residual of 5e-11 kg/s, and so does a solve
/// by default; a different order of operations moves the pressure by roundings of 3e6: 1e-15
/// relative to it, times a few.
#[test]
fn gas_gives_the_numbers_of_the_original() {
    let param = repository("examples/gas_1d/case.param");
    for how in [How::Interpreted0, How::Interpreted2, How::Compiled2] {
        let outputs = run(how, GAS, &[&param.to_string_lossy()]);
        assert_eq!(outputs.fields("pressure").len(), 2, "{how:?}");
        for steps in [1, 2] {
            let expected = numbers(&repository(&format!("examples/gas_1d/expected/pressure-step{steps:04}.txt")));
            assert_close(&outputs.fields("pressure")[steps - 1], &expected, 2e-15, &format!("{how:?}, step {steps}"));
        }
    }
}

/// With a strong source the density on the faces matters: several iterations, each squaring the
/// residual.
#[test]
fn gas_converges_quadratically() {
    let folder = scratch("gas-quadratic");
    fs::write(folder.join("source.txt"), "2 0 -2\n").unwrap();
    fs::write(folder.join("steps.txt"), "1e5\n").unwrap();
    let output = equellec()
        .args(["run", "--interpret"])
        .arg(repository(GAS))
        .args(["nx=3", "ny=1", "dx=100", "dy=100", "source_from_file=true", "verbose=2", "abs_res_tol=1e-9"])
        .arg(format!("source_filename={}", folder.join("source.txt").display()))
        .arg(format!("timesteps_filename={}", folder.join("steps.txt").display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let norms = norms(&String::from_utf8_lossy(&output.stdout));
    assert!(norms.len() >= 5, "{norms:?}");
    // r_new <= C r_old^2 with one C for all iterations above rounding (a residual of terms of 2
    // kg/s is exact to about 1e-15).
    let rates: Vec<f64> = norms.windows(2).filter(|pair| pair[1] > 1e-12).map(|pair| pair[1] / (pair[0] * pair[0])).collect();
    let (least, most) = rates.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), &rate| (least.min(rate), most.max(rate)));
    assert!(rates.len() >= 3 && most < 20.0 * least, "{norms:?} {rates:?}");
    fs::remove_dir_all(&folder).unwrap();
}

/// Norms of the lines that `verbose=2` prints, in order.
fn norms(text: &str) -> Vec<f64> {
    let after = |line: &str| line.split("residual norm ").nth(1)?.split(',').next()?.parse().ok();
    text.lines().filter(|line| line.starts_with("Newton iteration")).filter_map(after).collect()
}

/// Words for the pressure part of the two-phase example: 4 x 3 cells of 10 m, a source in one
/// corner and a sink in the other.
fn pressure_words(folder: &std::path::Path, values: &str) -> Vec<String> {
    fs::write(folder.join("cells.txt"), "0 11\n").unwrap();
    fs::write(folder.join("values.txt"), values).unwrap();
    vec![
        "nx=4".into(),
        "ny=3".into(),
        "dx=10".into(),
        "dy=10".into(),
        "perm=1e-12".into(),
        format!("source_cells_filename={}", folder.join("cells.txt").display()),
        "source_values_from_file=true".into(),
        format!("source_values_filename={}", folder.join("values.txt").display()),
    ]
}

/// The listed differences have 9 digits: 1e-9 of the largest, and the
/// iterative solver's tolerance of 1e-8 beyond that; a tolerance of 1e-12 makes it small.
#[test]
fn pressure_differences_without_a_level() {
    let folder = scratch("pressure");
    let words = pressure_words(&folder, "1e-4 -1e-4\n");
    for (how, solver) in [
        (How::Interpreted0, "lu"),
        (How::Interpreted2, "lu"),
        (How::Interpreted2, "cg"),
        (How::Interpreted2, "bicgstab"),
        (How::Compiled2, "lu"),
        (How::Compiled2, "cg"),
    ] {
        let (solver, tolerance) = (format!("solver={solver}"), "solver_tol=1e-12");
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        words.extend([solver.as_str(), tolerance, "abs_res_tol=1e-14"]);
        let outputs = run(how, PRESSURE, &words);
        let p = outputs.last("pressure");
        let found = [p[0] - p[1], p[1] - p[2], p[10] - p[11]];
        assert_close(&found, &[268115.942, 173913.043, 268115.942], 4e-9, &format!("{how:?} {solver}"));
        // The mean is that of the guess, 0, up to roundings of pressures of 1e6.
        let mean = p.iter().sum::<f64>() / p.len() as f64;
        assert!(mean.abs() < 1e-3, "{how:?} {solver}: {mean:e}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn sources_that_do_not_sum_to_zero_are_refused_with_the_imbalance() {
    let folder = scratch("imbalance");
    let words = pressure_words(&folder, "1e-4 -0.5e-4\n");
    for solver in ["lu", "cg"] {
        let output = equellec()
            .args(["run", "--interpret"])
            .arg(repository(PRESSURE))
            .args(&words)
            .arg(format!("solver={solver}"))
            .output()
            .unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{solver}: {text}");
        assert!(output.stdout.is_empty(), "nothing was solved");
        // The residual is the outflow minus the sources, so its sum is minus that of the sources:
        // 5e-5 m^3/s.
        let imbalance =
            text.split("imbalance is ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap_or_else(|| panic!("{text}"));
        let imbalance: f64 = imbalance.trim_end_matches(['(', ',', ';']).parse().unwrap_or_else(|_| panic!("{text}"));
        assert!((imbalance + 5e-5).abs() < 1e-15, "{text}");
        assert!(text.contains("pressure_neumann.equelle:23: p = NewtonSolve"), "{text}");
    }
    fs::remove_dir_all(&folder).unwrap();
}
