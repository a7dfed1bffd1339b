//! Each side of a cell in the rows of generated kernels, by value.
//!
//! A wrong sign of one derivative leaves the residual right, so that Newton's method may still
//! arrive. One correction of a linear problem is the solution only where the whole matrix is right.

use crate::support::{Dimensions, How, run_with};

const PROGRAM: &str = "tests/implicit/six_sides.equelle";

#[test]
fn one_correction_solves_a_linear_problem_without_two_like_sides() {
    let folder = crate::support::scratch("six-sides");
    for (dims, cells) in [("nx=3 ny=4 nz=5", 60), ("nx=1 ny=2 nz=3", 6)] {
        let guess = folder.join("u0.txt");
        let values: Vec<String> = (0..cells).map(|i| format!("{}", (i * 7) % 11)).collect();
        std::fs::write(&guess, values.join("\n")).expect("the scratch folder can be written");
        let file = format!("u0_filename={}", guess.display());
        let solve = |how, layout: &str| {
            let layout = format!("grid_layout={layout}");
            let mut words: Vec<&str> = dims.split(' ').collect();
            // 1e-9 is far above rounding in sums of ten terms of magnitude 1 to 100, and far below
            // what a wrong row leaves.
            words.extend(["grid_dim=3", "u0_from_file=true", &file, &layout, "solver=lu", "max_iter=1", "abs_res_tol=1e-9"]);
            run_with(how, Dimensions::Unchecked, PROGRAM, &words).last("u").to_vec()
        };
        let expected = solve(How::Interpreted0, "unstructured");
        for layout in ["auto", "unstructured"] {
            let found = solve(How::Compiled2, layout);
            for (cell, (a, b)) in expected.iter().zip(&found).enumerate() {
                // Two direct solves of one well-conditioned system, whose solution is at most 10.
                assert!((a - b).abs() <= 1e-11, "{dims}, {layout}: {b} instead of {a} in cell {cell}");
            }
        }
    }
}
