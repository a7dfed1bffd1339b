//! Rows of one equation in different units, from text to numbers: cells that a residual holds at a
//! value, and a penalty. Nothing depends on that unit, on the solver or on the preconditioner.

use crate::support::{Dimensions, How, run_with};

const SOLVERS: [&[&str]; 6] = [
    &[],
    &["solver=lu"],
    &["solver=bicgstab", "preconditioner=jacobi"],
    &["solver=gmres", "preconditioner=ilu0"],
    &["solver=bicgstab", "preconditioner=amg"],
    &["solver=gmres", "preconditioner=amg"],
];

fn run(how: How, program: &str, dimensions: Dimensions, words: &[&str]) -> crate::support::Outputs {
    run_with(how, dimensions, &format!("tests/implicit/{program}.equelle"), words)
}

/// The reference is SciPy's direct solver for equilibrated rows. A solver that looks at the two
/// large rows alone gives 156.892, or values outside 100 to 200.
#[test]
fn held_cells_in_any_unit() {
    for (unit, solvers) in [("unit=1", &SOLVERS[..]), ("unit=1e-20", &SOLVERS), ("unit=1e-9", &SOLVERS[..1]), ("unit=1e12", &SOLVERS[..1])]
    {
        for &solver in solvers {
            let words = [&["grid_dim=2", "nx=32", "ny=32", "dx=10", "dy=10", unit], solver].concat();
            let outputs = run(How::Interpreted2, "held_cells", Dimensions::Checked, &words);
            let p = outputs.last("p");
            // 1e-8 of 100 bar, times a condition of 1e2.
            assert!((p[48] - 155.778395).abs() < 1e-4, "{unit} {solver:?}: {}", p[48]);
            // 200 and 100 bar change places by a turn of the square.
            let turned = p.iter().rev().map(|p| 300.0 - p);
            assert!(p.iter().zip(turned).all(|(p, turned)| (p - turned).abs() < 2e-4), "{unit} {solver:?}");
        }
    }
    let words = ["grid_dim=2", "nx=32", "ny=32", "dx=10", "dy=10"];
    let p = run(How::Compiled2, "held_cells", Dimensions::Checked, &words).last("p")[48];
    assert!((p - 155.778395).abs() < 1e-4, "compiled: {p}");
}

/// With steps of 0.01 and 1 days the means are 198.0926 and 130.9308 bar, by the direct solver of
/// equilibrated rows; 198.051 and 130.172 where only the held cell is looked at.
#[test]
fn errors_do_not_add_up_in_a_loop() {
    for (steps, mean) in [("timesteps=10*0.01", 198.0925563), ("timesteps=10*1", 130.9307956)] {
        for unit in ["unit=1", "unit=1e-20", "unit=1e6"] {
            let words = ["grid_dim=2", "nx=40", "ny=40", "dx=10", "dy=10", steps, unit];
            let found = run(How::Interpreted2, "drawdown", Dimensions::Checked, &words).scalars["mean"][0];
            // Ten steps, each as above.
            assert!((found - mean).abs() < 1e-4, "{steps} {unit}: {found}");
        }
    }
}

/// A penalty of 1e4 leaves 1e-4 of the value in the disk; larger ones are no less accurate.
#[test]
fn a_penalty_of_any_size() {
    let solve = |large: &str, solver: &[&str]| {
        let words = [&["grid_dim=2", "nx=60", "ny=60", "lx=1", "ly=1", large], solver].concat();
        run(How::Interpreted2, "penalty", Dimensions::Unchecked, &words).last("u").to_vec()
    };
    let expected = solve("large=1e4", &["solver=lu"]);
    // The middle of the disk, and the corner farthest from it.
    assert!((expected[17 * 60 + 17] - 5.0).abs() < 1e-3 && expected[3599] < 0.01);
    for large in ["large=1e6", "large=1e10", "large=1e20", "large=1e30"] {
        for solver in [&[][..], &["solver=cg", "preconditioner=jacobi"], &["solver=gmres", "preconditioner=amg"], &["solver=lu"]] {
            let u = solve(large, solver);
            // Cells at the rim of the disk give off 3 faces times 5 over 1e4.
            let error = u.iter().zip(&expected).fold(0.0, |most: f64, (u, e)| most.max((u - e).abs()));
            assert!(error < 2e-3, "{large} {solver:?}: {error}");
        }
    }
}
