//! Collections of single precision, against double precision.
//!
//! A single is within 2^-24 of what it stands for, relatively. Tolerances below count the roundings
//! that a run can add up, each of at most that size.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::How;
use crate::support::{Outputs, assert_close, equellec, read_outputs, repository, run, run_simulator, scratch, stderr};

/// Half the spacing of singles at 1.
const ROUNDING: f64 = 0.5 * f32::EPSILON as f64;

/// The simulator of a program with singles.
fn built_single(level: &str, program: &str, folder: &Path) -> PathBuf {
    let output = equellec()
        .args(["build", "--precision", "f32", level, "--force", "-o"])
        .arg(folder.join(level))
        .arg(repository(program))
        .output()
        .expect("equellec starts");
    assert!(output.status.success(), "{}", stderr(&output));
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}

fn outputs(program: &Path, folder: &Path, words: &[&str]) -> Outputs {
    let (outputs, said) = run_simulator(program, &folder.join("out"), words);
    assert!(said.contains(", f32"), "the summary names the precision: {said}");
    outputs
}

fn is_single(values: &[f64]) -> bool {
    values.iter().all(|&value| f64::from(value as f32) == value || (value as f32).to_string().parse() == Ok(value))
}

/// Compares the last of each field of a program at both levels with double precision.
fn compare(program: &str, words: &[&str], fields: &[&str], tolerance: f64, between_levels: f64) {
    let name = Path::new(program).file_stem().expect("a name").to_string_lossy();
    let folder = scratch(&format!("single-{name}"));
    let double = run(How::Compiled2, program, words);
    let [fused, plain] = ["-O2", "-O0"].map(|level| outputs(&built_single(level, program, &folder), &folder, words));
    for field in fields {
        assert!(is_single(fused.last(field)), "{field} is put out in the digits of singles");
        assert_close(fused.last(field), double.last(field), tolerance, &format!("{field}, single against double"));
        assert!(fused.last(field) != double.last(field), "{field} was computed in single precision");
        assert_close(fused.last(field), plain.last(field), between_levels, &format!("{field}, -O2 against -O0"));
    }
    fs::remove_dir_all(&folder).expect("a scratch folder can be removed");
}

/// A step of explicit heat takes means of temperatures with weights that are not negative, so
/// errors do not grow: a step adds at most the about 15 roundings of a cell (two for each of six
/// faces, and three), 150 steps 150 times that. Geometry is made of ones, so both levels do the
/// same operations.
#[test]
fn explicit_heat() {
    let param = repository("examples/heat_explicit_3d/case.param");
    let param = param.to_string_lossy();
    compare("examples/heat_explicit_3d/heat_explicit_3d.equelle", &[&param], &["expU"], 150.0 * 15.0 * ROUNDING, 0.0);
}

/// Waves move without growing, over smooth ground: 100 steps of two stages, each with fewer than 40
/// roundings on the way from the old state to the new one, which errors pass once. Both levels do
/// the same operations on a grid of ones.
#[test]
fn shallow_water() {
    let param = repository("examples/shallow_water/case.param");
    let param = param.to_string_lossy();
    compare("examples/shallow_water/shallow_water.equelle", &[&param], &["q1"], 100.0 * 2.0 * 40.0 * ROUNDING, 0.0);
}

/// Two steps to a residual of 1e-3, from which the solution is as far as the residual over the
/// least eigenvalue of the matrix, 1 + dt * (least eigenvalue of the Laplacian) >= 1: 1e-3 each, in
/// temperatures up to 1000; and the roundings of the residual, 20 of them, of 1000 each.
#[test]
fn implicit_heat() {
    let param = repository("examples/heat_implicit_2d/case.param");
    let param = param.to_string_lossy();
    let tolerance = 2.0 * (1e-6 + 20.0 * ROUNDING);
    compare("examples/heat_implicit_2d/heat_implicit_2d.equelle", &[&param, "abs_res_tol=1e-3"], &["u"], tolerance, tolerance);
}

/// The flux out of a cell goes into its neighbour, so each step changes the sum by roundings alone:
/// 30 steps, 15 roundings a cell, of values up to 400.
#[test]
fn heat_is_conserved() {
    let folder = scratch("single-conservation");
    fs::write(folder.join("none.txt"), "").expect("a scratch folder can be written");
    fs::write(folder.join("steps.txt"), "0.4\n".repeat(30)).expect("a scratch folder can be written");
    let start: Vec<f64> = (1..=140).map(|i| 300.0 + 100.0 * (f64::from(i) * 0.618_033_988_749_895).fract()).collect();
    let text: String = start.iter().map(|value| format!("{value}\n")).collect();
    fs::write(folder.join("start.txt"), text).expect("a scratch folder can be written");
    let file = |key: &str, name: &str| format!("{key}={}", folder.join(name).display());
    let words = [
        "grid_dim=3".to_string(),
        "nx=7".into(),
        "ny=5".into(),
        "nz=4".into(),
        "dx=0.9".into(),
        "dy=1.1".into(),
        "dz=1.3".into(),
        "u_initial_from_file=true".into(),
        file("u_initial_filename", "start.txt"),
        file("dirichlet_boundary_filename", "none.txt"),
        "dirichlet_val_from_file=true".into(),
        file("dirichlet_val_filename", "none.txt"),
        file("timesteps_filename", "steps.txt"),
    ];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let program = built_single("-O2", "examples/heat_explicit_3d/heat_explicit_3d.equelle", &folder);
    for layout in ["grid_layout=auto", "grid_layout=unstructured"] {
        let outputs = outputs(&program, &folder, &[&words[..], &[layout]].concat());
        let (before, after): (f64, f64) = (start.iter().sum(), outputs.last("expU").iter().sum());
        assert!((after - before).abs() <= 30.0 * 15.0 * ROUNDING * before, "{layout}: {before} became {after}");
        let range = |u: &[f64]| u.iter().fold(f64::MIN, |a, &b| a.max(b)) - u.iter().fold(f64::MAX, |a, &b| a.min(b));
        assert!(range(outputs.last("expU")) < 0.7 * range(&start), "{layout}: heat does spread");
    }
    fs::remove_dir_all(&folder).expect("a scratch folder can be removed");
}

/// Newton's method cannot get below the roundings of the residual: it says so.
#[test]
fn a_tolerance_beyond_single_precision_is_an_error_that_says_so() {
    let folder = scratch("single-tolerance");
    let program = built_single("-O2", "examples/heat_implicit_2d/heat_implicit_2d.equelle", &folder);
    let output = Command::new(program)
        .arg(repository("examples/heat_implicit_2d/case.param"))
        .args(["abs_res_tol=1e-12", "output_to_file=false"])
        .output()
        .expect("a program that was built starts");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("single precision") && stderr(&output).contains("abs_res_tol"), "{}", stderr(&output));
    fs::remove_dir_all(&folder).expect("a scratch folder can be removed");
}

/// Interpreted, a program gives what the built one does; what rounds otherwise is refused.
#[test]
fn interpreted_programs_have_single_precision() {
    let heat = repository("examples/heat_explicit_3d/heat_explicit_3d.equelle");
    let folder = scratch("single-interpreted");
    let case = repository("examples/heat_explicit_3d/case.param");
    let case = case.to_string_lossy();
    let built = outputs(&built_single("-O2", "examples/heat_explicit_3d/heat_explicit_3d.equelle", &folder), &folder, &[&case]);
    for (way, name) in [("--interpret", "lanes"), ("--interpret=elements", "elements")] {
        let dir = folder.join(name);
        let command = ["run", way, "--precision", "f32"];
        let mut run = equellec();
        let run = run.args(command).arg(&heat).args([&*case, "output_to_file=true"]).arg(format!("output_dir={}", dir.display()));
        let output = run.env("CARGO", "/nothing").output().expect("equellec starts");
        assert!(output.status.success() && stderr(&output).contains(", f32"), "{}", stderr(&output));
        assert_eq!(read_outputs(&output, &dir).collections, built.collections, "{way}");
    }
    let output =
        equellec().args(["run", "--interpret", "--precision", "f32", "--fp", "fast"]).arg(&heat).output().expect("equellec starts");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("--interpret rounds every operation"), "{}", stderr(&output));
    let manifest = equellec().args(["emit", "manifest", "--precision", "f32"]).arg(&heat).output().expect("equellec starts");
    assert!(String::from_utf8_lossy(&manifest.stdout).contains("\"precision\": \"f32\""));
    fs::remove_dir_all(&folder).expect("a scratch folder can be removed");
}
