//! The unit of a residual: without a tolerance it changes nothing, and results are nearer to the
//! solution than those of a tolerance of 1e-6 in any unit.

use std::fs;

use super::scalar::{interpret, program};
use crate::support::{equellec, numbers, repository, scratch, stderr};

/// An implicit example.
struct Example {
    name: &'static str,
    /// True if it declares no dimensions.
    nondimensional: bool,
    /// Beginning of the lines whose value is the residual, or a factor of it.
    residuals: &'static str,
    /// A tolerance at which the residual falls no more, in its unit.
    stagnates: &'static str,
    /// How far the results with `abs_res_tol=1e-6`, which had been the default, are from those at
    /// most: by tag, over the largest value. Measured at that commit, and rounded down.
    before: &'static [(&'static str, f64)],
}

const EXAMPLES: [Example; 7] = [
    Example { name: "heat_implicit_2d", nondimensional: false, residuals: "        -> ", stagnates: "0", before: &[("u", 1.5e-16)] },
    Example { name: "heat_implicit_triangles", nondimensional: false, residuals: "        -> ", stagnates: "0", before: &[("u", 1.3e-16)] },
    Example { name: "gas_1d", nondimensional: false, residuals: "        -> ", stagnates: "0", before: &[("pressure", 2.2e-13)] },
    Example {
        name: "two_phase",
        nondimensional: false,
        residuals: "        -> ",
        stagnates: "1e-17",
        before: &[("pressure", 0.079), ("saturation", 0.17)],
    },
    Example {
        name: "two_phase_gravity",
        nondimensional: true,
        residuals: "        -> ",
        stagnates: "1e-17",
        before: &[("pressure", 2.9e-3), ("saturation", 3.5e-5)],
    },
    Example {
        name: "two_phase_implicit",
        nondimensional: true,
        residuals: "        -> ",
        stagnates: "1e-17",
        before: &[("pressure", 3.3e-8), ("saturation", 6.5e-8)],
    },
    // In both of its equations the residual has rounding above 1e-16, which no solution fits.
    Example { name: "two_phase_conservation", nondimensional: true, residuals: "    -> s - s_old", stagnates: "1e-15", before: &[] },
];

/// Tags and texts of the files that a run writes, and its lines about solves without the times.
fn run(example: &Example, text: &str, words: &[&str]) -> (Vec<(String, String)>, Vec<String>) {
    let folder = scratch("units");
    let path = folder.join("example.equelle");
    fs::write(&path, text).unwrap();
    // The tolerance and the limit of the case belong to its reference.
    let case = repository(&format!("examples/{}/case.param", example.name));
    let given: String = fs::read_to_string(&case).unwrap();
    let given: Vec<String> = given
        .lines()
        .filter_map(|line| line.split('#').next().unwrap().split_once('='))
        .map(|(key, value)| (key.trim(), value.trim()))
        .filter(|(key, _)| !["abs_res_tol", "max_iter", "output_dir", "verbose"].contains(key))
        .map(|(key, value)| match key.ends_with("_filename") {
            true => format!("{key}={}", case.parent().unwrap().join(value).display()),
            false => format!("{key}={value}"),
        })
        .collect();
    let output = equellec()
        .args(["run", "--interpret"])
        .args(example.nondimensional.then_some("--nondimensional"))
        .arg(&path)
        .args(given)
        .args(["max_iter=20", &format!("output_dir={}", folder.display())])
        .args(words)
        .output()
        .unwrap();
    let told = stderr(&output);
    assert!(output.status.success(), "{}: {told}", example.name);
    let mut files: Vec<(String, String)> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "output"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), fs::read_to_string(path).unwrap()))
        .collect();
    files.sort();
    let solves = told.lines().filter(|line| line.starts_with("Newton's method at line"));
    let solves = solves.map(|line| line.split(';').next().unwrap().to_owned()).collect();
    fs::remove_dir_all(&folder).unwrap();
    (files, solves)
}

fn text(example: &Example) -> String {
    fs::read_to_string(repository(&format!("examples/{0}/{0}.equelle", example.name))).unwrap()
}

/// The program with every residual times a number.
fn scaled(example: &Example, factor: f64) -> String {
    let mut count = 0;
    let line = |line: &str| match line.strip_prefix(example.residuals) {
        Some(rest) => {
            count += 1;
            let arrow = example.residuals.find("-> ").unwrap() + 3;
            format!("{}{factor:?} * ({}{rest})\n", &example.residuals[..arrow], &example.residuals[arrow..])
        }
        None => format!("{line}\n"),
    };
    let text = text(example).lines().map(line).collect();
    assert!(count > 0, "{} has no such line", example.name);
    text
}

/// Bits of all outputs and the iterations, linear ones included, for all equations times 2^-40 to
/// 2^40. Odd powers have no root that is a power of two.
#[test]
fn examples_have_no_unit() {
    for example in &EXAMPLES {
        let expected = run(example, &scaled(example, 1.0), &[]);
        assert!(!expected.0.is_empty() && !expected.1.is_empty(), "{}", example.name);
        for power in [-40, -23, -1, 1, 16, 40] {
            let found = run(example, &scaled(example, 2.0_f64.powi(power)), &[]);
            assert_eq!(found.1, expected.1, "{}: 2^{power}", example.name);
            assert!(found.0 == expected.0, "{}: 2^{power}", example.name);
        }
    }
}

/// Results by default are at least as near to those of solves that go on until the residual falls
/// no more as results of the former default were.
#[test]
fn defaults_are_near_the_solution() {
    for example in &EXAMPLES {
        let solved = |words: &[&str]| run(example, &text(example), words).0;
        let stagnates = format!("abs_res_tol={}", example.stagnates);
        let best = solved(&[&stagnates, "newton_failure=continue"]);
        let distances = |found: &[(String, String)], wanted: &str| -> f64 {
            let parsed = |text: &str| -> Vec<f64> { text.split_whitespace().map(|number| number.parse().unwrap()).collect() };
            // Outputs of a residual come as often as it is evaluated.
            let of_tag = |name: &str| name.rsplit_once('-').is_some_and(|(tag, _)| tag == wanted);
            let [found, best] = [found, &best].map(|files| files.iter().filter(|(name, _)| of_tag(name)).collect::<Vec<_>>());
            assert_eq!(found.len(), best.len(), "{}: {wanted}", example.name);
            found.into_iter().zip(best).fold(0.0, |most, ((name, a), (same, b))| {
                assert_eq!(name, same);
                let (a, b) = (parsed(a), parsed(b));
                let size = b.iter().fold(0.0_f64, |size, b| size.max(b.abs()));
                let apart = a.iter().zip(&b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
                most.max(if apart == 0.0 { 0.0 } else { apart / size })
            })
        };
        let by_default = solved(&[]);
        let by_tolerance = solved(&["abs_res_tol=1e-6"]);
        for &(tag, before) in example.before {
            let now = distances(&by_tolerance, tag);
            assert!(now >= before, "{}: {tag} at {now:e} with the former default, {before:e} is recorded", example.name);
        }
        for tag in ["u", "pressure", "saturation"] {
            let (now, before) = (distances(&by_default, tag), distances(&by_tolerance, tag));
            assert!(now <= before, "{}: {tag} at {now:e}, {before:e} before", example.name);
        }
    }
}

/// A source and a sink in the corners of 4 x 3 cells, a thousandth of those in the reference: its
/// pressure differences are a thousandth.
#[test]
fn wells_of_a_tenth_of_a_cubic_centimetre_a_second() {
    let folder = scratch("small-wells");
    fs::write(folder.join("cells.txt"), "0 11\n").unwrap();
    fs::write(folder.join("values.txt"), "1e-7 -1e-7\n").unwrap();
    let run = |more: &[&str]| {
        let output = equellec()
            .args(["run", "--interpret"])
            .arg(repository("tests/implicit/pressure_neumann.equelle"))
            .args(["nx=4", "ny=3", "dx=10", "dy=10", "perm=1e-12", "source_values_from_file=true", "output_to_file=true"])
            .arg(format!("source_cells_filename={}", folder.join("cells.txt").display()))
            .arg(format!("source_values_filename={}", folder.join("values.txt").display()))
            .arg(format!("output_dir={}", folder.display()))
            .args(more)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        (numbers(&folder.join("pressure-00000.output")), stderr(&output))
    };
    let (p, told) = run(&[]);
    // Nine digits are listed.
    assert!((p[0] - p[1] - 268.115942).abs() < 1e-6, "{p:?}");
    assert!(told.contains("1 solve, 1 iteration, 0 linear"), "{told}");
    // The tolerance that had been the default takes the guess, which is told.
    let (p, told) = run(&["abs_res_tol=1e-6"]);
    assert!(p.iter().all(|p| *p == 0.0), "{p:?}");
    assert!(told.contains("1 solve (1 of them took the guess as it is, without an iteration), 0 iterations"), "{told}");
    fs::remove_dir_all(&folder).unwrap();
}

/// A loop whose state has become steady: one correction a step.
#[test]
fn steady_steps_cost_one_correction() {
    let folder = scratch("steady-steps");
    let text = "u : Mutable Collection Of Scalar On AllCells()
u = 1 Extend AllCells()
For dt In InputSequenceOfScalar(\"steps\") {
    residual(v) = {
        -> v * v - (2 Extend AllCells())
    }
    u = NewtonSolve(residual, u)
}
Output(\"u\", MaxReduce(u))
";
    fs::write(folder.join("steps.txt"), "1 1 1 1 1 1\n").unwrap();
    let output = interpret(&program(&folder, text), &["nx=3", &format!("steps_filename={}", folder.join("steps.txt").display())]);
    let told = stderr(&output);
    assert!(output.status.success(), "{told}");
    // 1, 1.5, 1.4167, 1.4142157, and 1.4142135623747 with a residual of 5e-12; the square of no
    // double is 2, so that there is one correction a step.
    let line = told.lines().find(|line| line.starts_with("Newton's method")).unwrap_or_else(|| panic!("{told}"));
    assert!(line.contains("6 solves, 9 iterations"), "{line}");
    fs::remove_dir_all(&folder).unwrap();
}

/// The derivative of y * y - 1 is zero at 0, whichever solver finds it: no sources are out of
/// balance.
#[test]
fn a_derivative_that_is_zero() {
    let folder = scratch("zero-derivative");
    let text = "one = 1 Extend AllCells()\nresidual(y) = {\n    -> y * y - one\n}\nOutput(\"y\", NewtonSolve(residual, 0 * one))\n";
    let path = program(&folder, text);
    for solver in ["auto", "lu", "cg", "gmres"] {
        let output = interpret(&path, &["nx=3", &format!("solver={solver}")]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{told}");
        assert!(
            told.contains("the derivatives by 3 unknowns are zero, so no correction changes the residual of up to 1e0 there"),
            "{told}"
        );
        assert!(told.contains("cell 0 at (0.5, 0.5): -1") && told.contains("unknowns: y from 0 to 0"), "{told}");
        assert!(!told.contains("imbalance") && !told.contains("sources") && !told.contains("solver_tol"), "{told}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// u = 3 with u at most 2 in 100 cells: all of them stand at the bound.
#[test]
fn unknowns_at_their_bounds_are_counted() {
    let folder = scratch("at-bounds");
    let text = "residual(s) = {\n    -> s - (3 Extend AllCells())\n}\nOutput(\"s\", NewtonSolve(residual, 1 Extend AllCells()))\n";
    let output = interpret(&program(&folder, text), &["nx=100", "ny=1", "unknown_max_s=2"]);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("did not converge in 10 iterations: the norm of the residual is 1e1, at the guess it was 2e1"), "{told}");
    assert!(told.contains("\n100 of 100 unknowns stand at a bound\n"), "{told}");
    fs::remove_dir_all(&folder).unwrap();
}

/// The logarithm of s is -4 at 0.018; the correction from 0.5 goes below 0, where there is none.
#[test]
fn bounds_are_suggested_where_an_unknown_left_its_range() {
    let folder = scratch("left-range");
    let text = "residual(s) = {\n    -> Log(s) + (4 Extend AllCells())\n}\nOutput(\"s\", NewtonSolve(residual, 0.5 Extend AllCells()))\n";
    let output = interpret(&program(&folder, text), &["nx=3"]);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{told}");
    // 0.5 - 0.5 (log 0.5 + 4) = -1.15
    assert!(
        told.contains("the residual is not finite after iteration 1") && told.contains("unknowns: s from -1.15343 to -1.15343"),
        "{told}"
    );
    assert!(
        told.contains("hint: `s` has gone below 0 since the guess: if such values are meaningless, give bounds: `unknown_min_s=0`"),
        "{told}"
    );
    fs::remove_dir_all(&folder).unwrap();
}
