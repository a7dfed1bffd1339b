//! Reads by index: compiled programs give the bits of the interpreter, for every rule beyond the
//! grid, and are refused on grids that have no structure. What the rules mean is in
//! `tests/conformance/stencils.case`.

use std::fs;
use std::process::Command;

#[path = "run/support.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod support;

use support::{Dimensions, EVERY_WAY, How, Outputs, built_with, run_with, scratch, stderr};

const PROGRAM: &str = "\
i = StencilI()
j = StencilJ()
u = InputCollectionOfScalar(\"u\", AllCells())
at(h) = { -> h(i-2, j+1) + 10 * h(i+2, j-2) }
Output(\"periodic\", at(Halo(u, Periodic(i, j))))
Output(\"mirror\", at(Halo(u, Mirror(i, j))))
Output(\"mirror_at\", at(Halo(u, MirrorAt(i), Mirror(j))))
Output(\"negate\", at(Halo(u, Negate(i), Copy(j))))
Output(\"value\", at(Halo(u, Value(i, 9), Periodic(j))))
Output(\"at_face\", at(Halo(u, AtFace(i, 3), Mirror(j))))
Output(\"slope\", at(Halo(u, Slope(i, 1), Slope(j, 0.5))))
Output(\"line\", at(Halo(u, Polynomial(i, 2), Polynomial(j, 1))))
p = Halo(u, Periodic(i, j))
d = p(i+1) - p(i-1)
Output(\"twice\", d(j+1) * d(i-1))
Output(\"even\", Even(i, j) ? u : -u)
Output(\"index\", IndexOf(i) + 10 * IndexOf(j) + 100 * Extent(i) + Width(j))
v : Mutable Collection Of Scalar On AllCells()
v = u
For n In Range(0, 3) {
    w = Halo(v, Periodic(i), Mirror(j))
    v = v + 0.25 * (w(i+1) + w(i-1) + w(j+1) + w(j-1) - 4 * w)
}
Output(\"v\", v)
";

fn program(test: &str) -> String {
    let file = scratch(&format!("reads-by-index-{test}")).join("reads.equelle");
    fs::write(&file, PROGRAM).expect("a scratch folder can be written");
    file.display().to_string()
}

fn outputs(how: How, program: &str, threads: &str) -> Outputs {
    let words = ["grid_dim=2", "nx=5", "ny=4", "dx=0.5", "dy=0.25", "u_expression=x*x+3*y", threads];
    run_with(how, Dimensions::Unchecked, program, &words)
}

#[test]
fn every_way_gives_the_same_bits() {
    let program = program("ways");
    let expected = outputs(How::Interpreted0, &program, "threads=1");
    assert_eq!(expected.collections.len(), 12);
    // Cells are numbered along I first; 5 of them there, 0.25 wide along J.
    assert_eq!(expected.last("index")[..6], [500.25, 501.25, 502.25, 503.25, 504.25, 510.25]);
    for how in EVERY_WAY {
        for threads in ["threads=1", "threads=2"] {
            assert_eq!(outputs(how, &program, threads), expected, "{how:?}, {threads}");
        }
    }
}

#[test]
fn grids_without_structure_are_refused() {
    let simulator = built_with("-O2", Dimensions::Unchecked, &program("grids"));
    for (words, said) in [
        (["grid_dim=2", "nx=5", "ny=4", "grid_layout=unstructured"], "need a uniform Cartesian grid"),
        (["grid_dim=2", "nx=1", "ny=4", "grid_layout=auto"], "needs 3 cells along I, and the grid has 1"),
    ] {
        let output = Command::new(&simulator).args(words).arg("u_expression=x").output().expect("a simulator that was built starts");
        assert_eq!(output.status.code(), Some(4), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("reads.equelle:4"), "{words:?}: {}", stderr(&output));
    }
}
