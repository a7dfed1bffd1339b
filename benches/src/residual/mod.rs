//! Residual and Jacobian of implicit heat conduction: the program of examples/heat_implicit_3d on a
//! cube of unit cells, without outputs in the loop. Temperatures are given on both ends of the
//! first axis.
//!
//! The tolerance of Newton's method is so large that the guess is accepted: a step is one
//! evaluation of the residual with its Jacobian, and the norm of the residual. What is evaluated is
//! checked by true steps on a small cube.

mod by_hand;

use std::fmt::Write as _;

use backend_serial::runtime::SerialRuntime;

use crate::generated::{Generated, Input, Layout};
use crate::harness::{Case, Problem, Suite};

use by_hand::{CARTESIAN_TRAFFIC, Style, UNSTRUCTURED_TRAFFIC};

/// Thermal conductivity.
const K: f64 = 0.3;
/// Time step; the heat capacity is 1.
const DT: f64 = 0.5;
/// Temperature at the start.
const START: f64 = 500.0;
/// Temperatures given at both ends of the first axis.
const ENDS: [f64; 2] = [100.0, 900.0];

const STRICT: Generated = Generated { program: implicit_heat::program, simulate: implicit_heat::simulate::<SerialRuntime> };

/// The same program with derivatives by products of sparse matrices.
const SPARSE: Generated = Generated { program: implicit_heat_sparse::program, simulate: implicit_heat_sparse::simulate::<SerialRuntime> };

/// A tolerance that any guess meets.
const ACCEPT: f64 = 1e300;

const CARTESIAN: &str = "Cartesian, by hand";
const MESH: &str = "unstructured, by hand";

pub const SUITE: Suite = Suite {
    name: "residual",
    dim: 3,
    cases: &[
        Case {
            name: CARTESIAN,
            yardstick: CARTESIAN,
            traffic: CARTESIAN_TRAFFIC,
            generated: false,
            run: |problem| by_hand::evaluations(Style::Cartesian, problem),
        },
        Case {
            name: "Cartesian, equellec",
            yardstick: CARTESIAN,
            traffic: CARTESIAN_TRAFFIC,
            generated: true,
            run: |problem| STRICT.run(Layout::Cartesian, problem),
        },
        Case {
            name: MESH,
            yardstick: MESH,
            traffic: UNSTRUCTURED_TRAFFIC,
            generated: false,
            run: |problem| by_hand::evaluations(Style::Mesh, problem),
        },
        Case {
            name: "unstructured, equellec",
            yardstick: MESH,
            traffic: UNSTRUCTURED_TRAFFIC,
            generated: true,
            run: |problem| STRICT.run(Layout::Unstructured, problem),
        },
        Case {
            name: "Cartesian, sparse-matrix derivatives",
            yardstick: CARTESIAN,
            traffic: CARTESIAN_TRAFFIC,
            generated: true,
            // A step takes as long as all steps of the others.
            run: |problem| SPARSE.run(Layout::Cartesian, &prepare(problem.n, 2, ACCEPT)),
        },
    ],
    prepare: |n, steps| prepare(n, steps, ACCEPT),
    // The guess stays as it is.
    tolerance: 0.0,
    check,
};

fn prepare(n: usize, steps: usize, tolerance: f64) -> Problem {
    let mut input = Input::new(3, n);
    let (mut faces, mut values) = (String::new(), String::new());
    for row in 0..n * n {
        let _ = writeln!(faces, "{} {}", row * (n + 1), row * (n + 1) + n);
        let _ = writeln!(values, "{} {}", ENDS[0], ENDS[1]);
    }
    input.file("dir_boundary", &faces);
    input.file("dir_val", &values);
    input.file("timesteps", &format!("{DT} ").repeat(steps));
    input.set("k", K);
    input.set("cv", 1);
    input.set("u_initial", START);
    input.set("abs_res_tol", tolerance);
    input.set("solver", "cg");
    input.set("solver_tol", 1e-13);
    Problem { n, steps, threads: 1, input }
}

/// True steps give the same fields, whoever evaluates.
///
/// # Panics
/// If they do not.
fn check() {
    let problem = prepare(12, 4, 1e-8);
    let expected = by_hand::steps(Style::Cartesian, &problem);
    let near = |name: &str, own: &[f64]| {
        let worst = own.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, |worst: f64, d| if d <= worst { worst } else { d });
        // The residual of each of 4 steps is at most 1e-8, and the inverse of the matrix has norm 1
        // at most.
        assert!(own.len() == expected.len() && worst <= 1e-7, "{name}: fields differ by {worst}");
    };
    assert!(expected.iter().any(|u| (u - START).abs() > 1.0), "nothing happened");
    near("unstructured, by hand", &by_hand::steps(Style::Mesh, &problem));
    near("Cartesian, equellec", &STRICT.run(Layout::Cartesian, &problem).values);
    near("unstructured, equellec", &STRICT.run(Layout::Unstructured, &problem).values);
}
