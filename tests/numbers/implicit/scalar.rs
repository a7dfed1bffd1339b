//! Nonlinear residuals without neighbours, where every iterate is known.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{How, equellec, run, scratch, stderr};

/// Writes a program where only this test knows it.
pub fn program(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("program.equelle");
    fs::write(&path, text).unwrap();
    path
}

/// Interprets a program as a user does.
pub fn interpret(program: &Path, words: &[&str]) -> Output {
    equellec().args(["run", "--interpret", "--nondimensional"]).arg(program).args(words).output().unwrap()
}

pub const SQUARE_ROOT: &str = "a = InputScalarWithDefault(\"a\", 2)
guess = InputScalarWithDefault(\"guess\", 3)
residual(u) = {
    -> u * u - (a Extend AllCells())
}
Output(\"before\", guess Extend AllCells())
u = NewtonSolve(residual, guess Extend AllCells())
Output(\"u\", u)
";

/// Newton for u^2 = 2 on one cell: u - r/(2u), so that the residual is (r/(2u))^2 after each step:
/// quadratic convergence, iterate by iterate.
#[test]
fn square_root_converges_quadratically() {
    let folder = scratch("square-root");
    let output = interpret(&program(&folder, SQUARE_ROOT), &["nx=1", "abs_res_tol=1e-12", "verbose=2"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", stderr(&output));
    let norms: Vec<f64> = text
        .lines()
        .filter(|line| line.starts_with("Newton iteration "))
        .map(|line| line.split("residual norm ").nth(1).and_then(|rest| rest.split(',').next()).unwrap().parse().unwrap())
        .collect();
    let mut u = 3.0_f64;
    let mut expected = vec![u * u - 2.0];
    while expected[expected.len() - 1] > 1e-12 {
        let du = (u * u - 2.0) / (2.0 * u);
        u -= du;
        expected.push(du * du);
    }
    assert_eq!(norms.len(), expected.len(), "{text}");
    assert_eq!(norms.len(), 6, "7, 1.36, 0.16, 3.5e-3, 1.9e-6, and 9e-13: five iterations from 3");
    for (found, expected) in norms.iter().zip(&expected) {
        // The residual is the difference of numbers near 2: absolute error of a few 1e-16.
        assert!((found - expected).abs() <= 1e-15 + 1e-12 * expected, "{norms:?} {expected:?}");
    }
    assert!(text.contains("Newton solver converged in 5 iterations"), "{text}");
    assert!(text.contains("Newton solver took "), "{text}");
    fs::remove_dir_all(&folder).unwrap();
}

/// A guess that is good enough is the result, bit for bit: no iteration, one evaluation.
#[test]
fn converged_guess_is_returned() {
    let folder = scratch("converged-guess");
    let path = program(&folder, SQUARE_ROOT);
    let guess = "1.4142135";
    let output =
        interpret(&path, &["nx=1", &format!("guess={guess}"), "abs_res_tol=1e-6", "verbose=1", "output_to_file=true", &dir(&folder)]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Newton solver converged in 0 iterations"));
    assert_eq!(fs::read_to_string(folder.join("u-00000.output")).unwrap().trim(), guess);
    fs::remove_dir_all(&folder).unwrap();
}

fn dir(folder: &Path) -> String {
    format!("output_dir={}", folder.display())
}

/// Outputs in a residual come once per evaluation, 1 + iterations times, at every level. The
/// residual calls a function and reads a mutable.
#[test]
fn effects_fire_once_per_evaluation() {
    let folder = scratch("residual-effects");
    let text = "shift : Mutable Scalar
shift = 1
square(x) = {
    Output(\"square of\", x)
    -> x * x
}
residual(u) = {
    r = square(u) - (shift Extend AllCells())
    Output(\"largest\", MaxReduce(r))
    -> r
}
u0 = 3 Extend AllCells()
shift = 4
u = NewtonSolve(residual, u0)
Output(\"u\", u)
";
    let path = program(&folder, text);
    let path = path.to_string_lossy();
    // u^2 = 4 from 3: 13/6, 2.00641, 2.0000103, 2.00000000003.
    let mut first = None;
    for how in [How::Interpreted0, How::Interpreted2, How::Compiled2] {
        let outputs = run(how, &path, &["nx=2", "ny=1"]);
        assert_eq!(outputs.fields("square of").len(), 5, "{how:?}");
        assert_eq!(outputs.scalars["largest"].len(), 5, "{how:?}");
        assert_eq!(outputs.scalars["largest"][0], 5.0, "{how:?}: the mutable has its value at the time of the call");
        assert!((outputs.last("u")[1] - 2.0).abs() < 1e-9, "{how:?}");
        match &first {
            None => first = Some(outputs),
            Some(first) => crate::support::assert_same_bits(&outputs, first, &format!("{how:?}")),
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// Two equations with two unknowns: x + y = 3, x y = 2 with x > y, on each cell.
#[test]
fn system_of_two_equations() {
    let folder = scratch("system");
    let text = "sum(x, y) = {
    -> x + y - (3 Extend AllCells())
}
product(x, y) = {
    -> x * y - (2 Extend AllCells())
}
one = 1 Extend AllCells()
u = NewtonSolveSystem([sum, product], [5 * one, one / 2])
Output(\"x\", u[0])
Output(\"y\", u[1])
";
    let path = program(&folder, text);
    for how in [How::Interpreted0, How::Interpreted2, How::Compiled2] {
        let outputs = run(how, &path.to_string_lossy(), &["nx=3", "ny=1", "abs_res_tol=1e-12"]);
        for (tag, value) in [("x", 2.0), ("y", 1.0)] {
            for found in outputs.last(tag) {
                // The Jacobian at the solution has the inverse [2 -1; -1 1]: errors are at most 3
                // times the residual.
                assert!((found - value).abs() <= 3e-12, "{how:?}: {tag} = {found}");
            }
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}
