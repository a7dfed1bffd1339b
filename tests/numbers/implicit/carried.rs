//! Residuals that assign variables of the program, and systems whose unknowns live on different
//! domains.

use std::fs;

use super::scalar::program;
use crate::support::{How, run, scratch};

/// `u * u = 9` from 2, in the iterates 2, 3.25, 3.009615..., ... : the residual is evaluated once
/// for the guess and once after each iteration, and each evaluation adds one. `seen` is the square
/// at the last evaluation.
const COUNTING: &str = "count : Mutable Scalar
count = 0
seen : Mutable Collection Of Scalar On AllCells()
seen = 0 Extend AllCells()
r(u) = {
    count = count + 1
    seen = u * u
    -> seen - (9 Extend AllCells())
}
u = NewtonSolve(r, 2 Extend AllCells())
Output(\"u\", u)
Output(\"square\", u * u)
Output(\"seen\", seen)
Output(\"count\", count Extend AllCells())
p(a, q) = {
    count = count + 10
    -> a - (1 Extend AllCells())
}
s(a, q) = {
    count = count * 2
    -> q - (3 Extend InteriorFaces()) + Gradient(a)
}
x = NewtonSolveSystem([p, s], [4 Extend AllCells(), 3 Extend InteriorFaces()])
Output(\"a\", x[0])
Output(\"q\", x[1])
Output(\"later\", count Extend AllCells())
";

#[test]
fn variables_go_from_one_evaluation_to_the_next() {
    let folder = scratch("carried");
    let path = program(&folder, COUNTING);
    for how in [How::Interpreted0, How::Interpreted2, How::Compiled0, How::Compiled2] {
        let outputs = run(how, &path.to_string_lossy(), &["grid_dim=2", "nx=2", "ny=1", "dx=1", "dy=1"]);
        // The same operations on the same values.
        assert_eq!(outputs.last("seen"), outputs.last("square"), "{how:?}");
        // Errors of the iterates from 2 on: 1, 0.25, 0.0096, 1.5e-5, 4e-11 (e^2 / (2 u) each), and
        // 6 times as large a residual in each of two cells; the fifth evaluation is the first below
        // 1e-6.
        assert_eq!(outputs.last("count"), [5.0, 5.0], "{how:?}");
        for u in outputs.last("u") {
            assert!((u - 3.0).abs() < 1e-9, "{how:?}: {u}");
        }
        // A linear system takes one iteration, so two evaluations of both residuals in their order:
        // ((5 + 10) * 2 + 10) * 2.
        assert_eq!(outputs.last("later"), [80.0, 80.0], "{how:?}");
        // Integers, and a matrix with entries 1 and -1 alone: no rounding.
        assert_eq!((outputs.last("a"), outputs.last("q")), (&[1.0, 1.0][..], &[3.0][..]), "{how:?}");
    }
    fs::remove_dir_all(&folder).unwrap();
}
