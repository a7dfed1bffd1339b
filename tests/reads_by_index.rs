//! Reads by index: compiled programs give the bits of the interpreter, for every rule beyond the
//! grid, and are refused on grids that have no structure. What the rules mean is in
//! `tests/conformance/stencils.case`.

use std::process::Command;

#[path = "run/support.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod support;

use support::{Dimensions, EVERY_WAY, How, Outputs, built_with, run_with, stderr};

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
