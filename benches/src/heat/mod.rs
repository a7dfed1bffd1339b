//! Explicit heat conduction: a cube of unit cells, temperatures given on both ends of the first
//! axis, no heat through the other sides. The program is benches/heat.equelle.

mod by_hand;

use std::fmt::Write as _;

use backend_serial::runtime::SerialRuntime;

use crate::generated::{Generated, Input, Layout};
use crate::harness::{Case, Problem, Suite};

use by_hand::{CARTESIAN_TRAFFIC, Style, UNSTRUCTURED_TRAFFIC};

/// Thermal diffusivity.
const K: f64 = 0.3;
/// Time step.
const DT: f64 = 0.5;
/// Temperature at the start.
const START: f64 = 500.0;
/// Temperature given at x = 0.
const LOW: f64 = 100.0;
/// Temperature given at x = n.
const HIGH: f64 = 900.0;

/// Bytes a cell of generated programs besides the loop by hand: of 3 faces a cell the position in
/// InteriorFaces(), by which transmissibilities are found; offsets have 8 bytes instead of 4.
const MORE: usize = 3 * 4 + 4;

const STRICT: Generated = Generated { program: heat::program, simulate: heat::simulate::<SerialRuntime> };
#[cfg(feature = "fast")]
const FAST: Generated = Generated { program: heat_fast::program, simulate: heat_fast::simulate::<SerialRuntime> };

const CARTESIAN: &str = "Cartesian, by hand";
const MESH: &str = "unstructured, by hand";

pub const SUITE: Suite = Suite {
    name: "heat",
    dim: 3,
    cases: &[
        Case {
            name: CARTESIAN,
            yardstick: CARTESIAN,
            traffic: CARTESIAN_TRAFFIC,
            generated: false,
            run: |problem| by_hand::run(Style::Stencil, problem),
        },
        Case {
            name: "Cartesian, by hand with the program's operations",
            yardstick: CARTESIAN,
            traffic: CARTESIAN_TRAFFIC,
            generated: false,
            run: |problem| by_hand::run(Style::Fluxes, problem),
        },
        Case {
            name: "Cartesian, equellec",
            yardstick: CARTESIAN,
            traffic: CARTESIAN_TRAFFIC,
            generated: true,
            run: |problem| STRICT.run(Layout::Cartesian, problem),
        },
        #[cfg(feature = "fast")]
        Case {
            name: "Cartesian, equellec --fp fast",
            yardstick: CARTESIAN,
            traffic: CARTESIAN_TRAFFIC,
            generated: true,
            run: |problem| FAST.run(Layout::Cartesian, problem),
        },
        Case {
            name: MESH,
            yardstick: MESH,
            traffic: UNSTRUCTURED_TRAFFIC,
            generated: false,
            run: |problem| by_hand::run(Style::Mesh, problem),
        },
        Case {
            name: "unstructured, equellec",
            yardstick: MESH,
            traffic: UNSTRUCTURED_TRAFFIC + MORE,
            generated: true,
            run: |problem| STRICT.run(Layout::Unstructured, problem),
        },
        #[cfg(feature = "fast")]
        Case {
            name: "unstructured, equellec --fp fast",
            yardstick: MESH,
            traffic: UNSTRUCTURED_TRAFFIC + MORE,
            generated: true,
            run: |problem| FAST.run(Layout::Unstructured, problem),
        },
    ],
    prepare,
    // All add the same terms, in another order and with factors drawn out of the sum. A step does
    // about 10 operations on a value, each with a relative error of at most 1.1e-16, and does not
    // enlarge errors that are there: this is enough for 900 steps.
    tolerance: 1e-12,
    check: || {},
};

fn prepare(n: usize, steps: usize) -> Problem {
    let mut input = Input::new(3, n);
    let (mut faces, mut values) = (String::new(), String::new());
    for row in 0..n * n {
        let _ = writeln!(faces, "{} {}", row * (n + 1), row * (n + 1) + n);
        let _ = writeln!(values, "{LOW} {HIGH}");
    }
    input.file("dirichlet_boundary", &faces);
    input.file("dirichlet_val", &values);
    input.file("timesteps", &format!("{DT} ").repeat(steps));
    input.set("k", K);
    input.set("u_initial", START);
    Problem { n, steps, threads: 1, input }
}
