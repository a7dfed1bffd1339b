//! Equations whose rows are no plain sums over the sides of a cell: inside a Cartesian grid their
//! sums are written out, by value.

use crate::support::{Dimensions, How, run_with};

const PROGRAM: &str = "tests/implicit/inside.equelle";

#[test]
fn one_correction_solves_linear_problems_with_sums_of_other_cells() {
    let folder = crate::support::scratch("inside");
    // Most cells of the first grid of each dimension are inside, none of the others.
    let grids = [
        ("grid_dim=1 nx=9", 9),
        ("grid_dim=2 nx=7 ny=6", 42),
        ("grid_dim=3 nx=6 ny=5 nz=7", 210),
        ("grid_dim=1 nx=2", 2),
        ("grid_dim=2 nx=5 ny=1", 5),
        ("grid_dim=3 nx=3 ny=2 nz=1", 6),
    ];
    for (grid, cells) in grids {
        let guess = folder.join("u0.txt");
        let values: Vec<String> = (0..cells).map(|i| format!("{}", (i * 7) % 11)).collect();
        std::fs::write(&guess, values.join("\n")).expect("the scratch folder can be written");
        let file = format!("u0_filename={}", guess.display());
        let solve = |how, more: &[&str]| {
            let mut words: Vec<&str> = grid.split(' ').collect();
            // 1e-9 is far above rounding in sums of ten terms of magnitude 1 to 100, and far below
            // what a wrong row leaves.
            words.extend(["dx=0.8", "dy=1.1", "dz=0.9", "u0_from_file=true", &file, "solver=lu", "max_iter=1", "abs_res_tol=1e-9"]);
            words.extend(more);
            run_with(how, Dimensions::Unchecked, PROGRAM, &words)
        };
        let expected = solve(How::Interpreted0, &[]);
        for (how, threads) in [(How::Interpreted2, "threads=1"), (How::Compiled2, "threads=1"), (How::Compiled2, "threads=3")] {
            let found = solve(how, &[threads]);
            for tag in ["g", "m", "c", "p", "q"] {
                for (cell, (a, b)) in expected.last(tag).iter().zip(found.last(tag)).enumerate() {
                    // Two direct solves of one well-conditioned system, with values up to 20.
                    assert!((a - b).abs() <= 1e-11, "{grid}, {how:?}, {threads}: {b} instead of {a} in cell {cell} of {tag}");
                }
            }
        }
    }
}
