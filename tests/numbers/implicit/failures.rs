//! Solves that fail: exit codes, reports, and files written before.

use std::fs;
use std::process::Command;

use equelle_runtime::number::general;

use super::scalar::{SQUARE_ROOT, interpret, program};
use crate::support::{built, repository, scratch, stderr};

/// u^2 = -1 has no real root: Newton wanders. The report has a history of 3 iterations and the
/// worst cells; what was put out before stays.
#[test]
fn no_convergence_is_an_error_with_a_report() {
    let folder = scratch("no-convergence");
    let path = program(&folder, SQUARE_ROOT);
    let output_dir = format!("output_dir={}", folder.display());
    let words = ["nx=3", "ny=1", "dx=2", "a=-1", "guess=2", "max_iter=3", "output_to_file=true", &output_dir];
    let output = interpret(&path, &words);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    // The residual is the same in the three cells: 5 sqrt(3) at 2; du = 5/4, u = 3/4, r = 25/16;
    // du = 25/24, u = -7/24, r = (25/24)^2; and so on.
    let (mut u, mut r) = (2.0_f64, 5.0_f64);
    let mut lines = vec![format!("{:.6e}", r * 3.0_f64.sqrt())];
    for _ in 0..3 {
        let du = r / (2.0 * u);
        (u, r) = (u - du, du * du);
        lines.push(format!("{:.6e}", r * 3.0_f64.sqrt()));
    }
    let mut rest = text.as_str();
    let unknowns = format!("\nunknowns: u from {0} to {0}\n", general(u));
    let lines = lines.iter().map(String::as_str).chain([unknowns.as_str()]);
    for line in ["did not converge in 3 iterations", "iteration  residual norm"].into_iter().chain(lines) {
        rest = rest.split_once(line).unwrap_or_else(|| panic!("no `{line}` in its place in: {text}")).1;
    }
    for (cell, x) in [(0, 1), (1, 3), (2, 5)] {
        assert!(rest.contains(&format!("cell {cell} at ({x}, 0.5): {r:.6e}")), "{rest}");
    }
    assert!(rest.contains("program.equelle:7: u = NewtonSolve(residual, guess Extend AllCells())"), "{rest}");
    assert_eq!(fs::read_to_string(folder.join("before-00000.output")).unwrap(), "2\n2\n2\n");
    assert!(!folder.join("u-00000.output").exists());

    for (value, told) in [("warn", true), ("continue", false)] {
        let setting = format!("newton_failure={value}");
        let output = interpret(&path, &[&words[..], &[&setting, "verbose=1"]].concat());
        let text = stderr(&output);
        assert!(output.status.success(), "{value}: {text}");
        assert_eq!(text.contains("warning: line 7: Newton's method did not converge in 3 iterations"), told, "{text}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("Newton solver failed to converge in 3 iterations"));
        let found: f64 = fs::read_to_string(folder.join("u-00000.output")).unwrap().lines().next().unwrap().parse().unwrap();
        assert!((found - u).abs() <= 1e-12 * u.abs(), "the last iterate: {found}, not {u}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// The same from a compiled program: the first step of the plate cannot be solved without an
/// iteration; the initial field has been written.
#[test]
fn compiled_program_fails_with_the_same_report() {
    let folder = scratch("no-convergence-compiled");
    let output = Command::new(built("-O2", "examples/heat_implicit_3d/heat_implicit_3d.equelle"))
        .arg(repository("examples/heat_implicit_2d/case.param"))
        .args(["max_iter=0", "output_to_file=true"])
        .arg(format!("output_dir={}", folder.display()))
        .output()
        .unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("error: Newton's method did not converge in 0 iterations: the norm of the residual is 1.85"), "{text}");
    // Temperatures of 1000 and 0 are given beside cells of 500: the largest entries are there, of
    // equal magnitude.
    assert!(text.contains("  cell 0 at (5, 5): -1.313364e3\n  cell 3 at (35, 5): 1.313364e3\n"), "{text}");
    assert!(text.contains("heat_implicit_3d.equelle:44: u0 = NewtonSolve(residual, u0)"), "{text}");
    assert!(text.contains("hint: "), "{text}");
    let initial = fs::read_to_string(folder.join("u-00000.output")).unwrap();
    assert!(initial.lines().count() == 12 && initial.lines().all(|line| line == "500"), "{initial}");
    assert!(!folder.join("u-00001.output").exists());
    fs::remove_dir_all(&folder).unwrap();
}

/// The square root of a negative guess: never taken for convergence, whatever `newton_failure`
/// says.
#[test]
fn residual_that_is_not_finite_is_an_error() {
    let folder = scratch("not-finite");
    let text = "x = InputCollectionOfScalar(\"x\", AllCells())
residual(u) = {
    -> Sqrt(u) - x
}
u = NewtonSolve(residual, x)
Output(\"u\", u)
";
    let path = program(&folder, text);
    fs::write(folder.join("x.txt"), "4 1 -2\n").unwrap();
    let file = format!("x_filename={}", folder.join("x.txt").display());
    for failure in ["error", "warn", "continue"] {
        let output = interpret(&path, &["nx=3", "x_from_file=true", &file, &format!("newton_failure={failure}")]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains("error: the residual is not finite at the guess"), "{text}");
        assert!(text.contains("\nunknowns: u from -2 to 4\nlargest entries of the residual:\n  cell 2 at (2.5, 0.5): NaN"), "{text}");
        assert!(text.contains("program.equelle:5: u = NewtonSolve(residual, x)"), "{text}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn residual_without_the_unknown_is_an_error() {
    let folder = scratch("independent");
    for (equation, unknown) in [("x - (2 Extend AllCells())", "x"), ("x - (MaxReduce(u) Extend AllCells())", "u")] {
        let text = format!(
            "x = 1 Extend AllCells()\nresidual(u) = {{\n    -> {equation}\n}}\nv = NewtonSolve(residual, x)\nOutput(\"{unknown}\", v)\n"
        );
        let output = interpret(&program(&folder, &text), &[]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "found before the run: {text}");
        assert!(text.contains("error[E0509]"), "{text}");
        assert!(text.contains("program.equelle:5:17"), "{text}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// u^2 = 4 from 3 with u at least 2.1: the first correction leads to 13/6, the second stops at the
/// bound.
#[test]
fn bounds_and_tolerances_of_single_unknowns() {
    let folder = scratch("bounds");
    let path = program(&folder, SQUARE_ROOT);
    let output_dir = format!("output_dir={}", folder.display());
    let words = ["nx=2", "ny=1", "a=4", "guess=3", "output_to_file=true", &output_dir];
    let run = |more: &[&str]| {
        let output = interpret(&path, &[&words[..], more].concat());
        let value = fs::read_to_string(folder.join("u-00000.output")).unwrap_or_default();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output), value)
    };
    let (code, text, value) = run(&["unknown_min_1=2.1", "newton_failure=continue", "verbose=2"]);
    assert_eq!((code, value.as_str()), (Some(0), "2.1\n2.1\n"), "{text}");
    assert!(text.contains("2 values stopped at a bound"), "{text}");
    // r = 5, then (5/6)^2 = 0.694, in each of two cells: sqrt 2 times that is 0.98. The update was
    // 5/6 of 13/6.
    for criterion in ["abs_res_tol_1=1", "rel_res_tol=0.14", "update_tol=0.4"] {
        let (code, text, value) = run(&[criterion]);
        assert_eq!(code, Some(0), "{criterion}: {text}");
        let value: f64 = value.lines().next().unwrap().parse().unwrap();
        assert!((value - 13.0 / 6.0).abs() < 1e-12, "{criterion}: {value}");
    }
    let (code, by_name, value) = run(&["unknown_min_u=2.1", "newton_failure=continue", "verbose=2"]);
    assert_eq!((code, value.as_str()), (Some(0), "2.1\n2.1\n"), "{by_name}");
    let (code, text, _) = run(&["unknown_max_v=1"]);
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains("an unknown `v`, and the program has none") && text.contains("its unknowns are `u`"), "{text}");
    let (code, text, _) = run(&["unknown_max_2=1"]);
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains("is for number 2 of 1"), "{text}");
    fs::remove_dir_all(&folder).unwrap();
}

/// u^2 = 2 from 0: the derivative is zero, so the matrix is singular.
#[test]
fn failure_of_the_linear_solver_is_told_with_the_history() {
    let folder = scratch("singular");
    let path = program(&folder, SQUARE_ROOT);
    for solver in ["lu", "bicgstab", "cg", "gmres"] {
        let output = interpret(&path, &["nx=2", "ny=1", "guess=0", &format!("solver={solver}")]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{solver}: {text}");
        assert!(text.contains("\n        0     2.828427e0\n"), "{solver}: {text}");
        assert!(text.contains("program.equelle:7: u = NewtonSolve"), "{solver}: {text}");
        assert!(text.contains("hint: "), "{solver}: {text}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let folder = scratch("newton-parameters");
    let path = program(&folder, SQUARE_ROOT);
    for (word, told) in [
        ("newton_failure=maybe", "`newton_failure` must be `error`, `warn` or `continue`, not `maybe`"),
        ("abs_res_tol=-1", "`abs_res_tol` must not be negative"),
        ("max_iter=-3", "max_iter"),
        ("verbose=much", "verbose"),
        ("solver=umf", "solver"),
    ] {
        let output = interpret(&path, &["nx=1", word]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(4), "{word}: {text}");
        assert!(text.contains(told), "{word}: {text}");
    }
    fs::remove_dir_all(&folder).unwrap();
}
