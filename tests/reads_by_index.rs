//! Reads by index: compiled programs give the bits of the interpreter, for every rule beyond the
//! grid, and are refused on grids that have no structure. What the rules mean is in
//! `tests/conformance/stencils.case`.

use std::fs;
use std::process::Command;

#[path = "run/support.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod support;

use support::{Dimensions, EVERY_WAY, How, Outputs, built_with, repository, run, run_with, scratch, stderr};

const PROGRAM: &str = "tests/programs/reads_by_index.equelle";

fn outputs(how: How, threads: &str) -> Outputs {
    let words = ["grid_dim=2", "nx=5", "ny=4", "dx=0.5", "dy=0.25", "u_expression=x*x+3*y", threads];
    run_with(how, Dimensions::Unchecked, PROGRAM, &words)
}

#[test]
fn every_way_gives_the_same_bits() {
    let expected = outputs(How::Interpreted0, "threads=1");
    assert_eq!(expected.collections.len(), 12);
    // Cells are numbered along I first; 5 of them there, 0.25 wide along J.
    assert_eq!(expected.last("index")[..6], [500.25, 501.25, 502.25, 503.25, 504.25, 510.25]);
    for how in EVERY_WAY {
        for threads in ["threads=1", "threads=2"] {
            assert_eq!(outputs(how, threads), expected, "{how:?}, {threads}");
        }
    }
}

#[test]
fn grids_without_structure_are_refused() {
    let simulator = built_with("-O2", Dimensions::Unchecked, PROGRAM);
    for (words, said) in [
        (["grid_dim=2", "nx=5", "ny=4", "grid_layout=unstructured"], "need a uniform Cartesian grid"),
        (["grid_dim=2", "nx=1", "ny=4", "grid_layout=auto"], "needs 3 cells along I, and the grid has 1"),
    ] {
        let output = Command::new(&simulator).args(words).arg("u_expression=x").output().expect("a simulator that was built starts");
        assert_eq!(output.status.code(), Some(4), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("reads_by_index.equelle:5"), "{words:?}: {}", stderr(&output));
    }
}

/// The program of the book's page on stencils. Cosines between mirrored ends are eigenvectors of
/// symmetric stencils: each step multiplies them by `1 + dt k l / h^2`, with `l` from the
/// coefficients. Ten steps of some ten operations round less than 1e-13.
#[test]
fn the_page_conducts_heat() {
    let page = fs::read_to_string(repository("docs/book/src/stencils.md")).expect("the page");
    let program = page.split("```equelle\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a program");
    let file = scratch("stencils-page").join("page.equelle");
    fs::write(&file, program).expect("a scratch folder can be written");
    let (n, steps, dt) = (32, 10, 1e-4);
    let words = ["grid_dim=1", "nx=32", "lx=1", "u_initial_expression=1+Cos(2*3.141592653589793*x)", "timesteps=10*1e-4"];
    let outputs = run(How::Interpreted2, &file.display().to_string(), &words);
    let (h, angle) = (1.0 / f64::from(n), 2.0 * std::f64::consts::PI / f64::from(n));
    let even = 4.0 * (3.0 * angle).cos() - 54.0 * (2.0 * angle).cos() + 540.0 * angle.cos() - 490.0;
    let factor = (1.0 + dt * even / (180.0 * h * h)).powi(steps);
    assert_eq!(outputs.fields("u").len(), steps as usize);
    for (cell, value) in outputs.last("u").iter().enumerate() {
        let exact = 1.0 + factor * (2.0 * std::f64::consts::PI * (cell as f64 + 0.5) * h).cos();
        assert!((value - exact).abs() <= 1e-13, "cell {cell}: {value} instead of {exact}");
    }
}
