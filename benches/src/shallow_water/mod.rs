//! Shallow water over a bowl whose corners are dry, in which a column of water collapses: the
//! program and the case of examples/shallow_water on any number of cells, without outputs in the
//! loop.

mod by_hand;
mod flux;
mod mesh;

use backend_serial::runtime::SerialRuntime;

use crate::generated::{Generated, Input, Layout};
use crate::harness::{Case, Problem, Run, Suite};

/// Acceleration by gravity.
const GRAVITY: f64 = 9.81;
/// Water that is not deeper does not move.
const DRY: f64 = 0.05;
/// Nothing passes a face where the signals to both sides differ by less.
const MIN_SPEED_DIFFERENCE: f64 = 0.05;
/// Time step; cells are unit squares.
const DT: f64 = 0.05;

const STRICT: Generated = Generated { program: shallow_water::program, simulate: shallow_water::simulate::<SerialRuntime> };
#[cfg(feature = "fast")]
const FAST: Generated = Generated { program: shallow_water_fast::program, simulate: shallow_water_fast::simulate::<SerialRuntime> };

const CARTESIAN: &str = "Cartesian, by hand";
const MESH: &str = "unstructured, by hand";

/// Bytes a cell of the generated program on a Cartesian grid, both stages: state read and written,
/// elevation of the bottom in the middle and on four sides, two slopes; the second stage reads the
/// old state too.
const TRAFFIC: usize = 2 * (3 + 3 + 1 + 4 + 2) * 8 + 3 * 8;
/// Besides, in each stage: offset of the faces of a cell (8), four faces (16), volume (8), and of
/// two faces a cell: two cells (16), position in InteriorFaces() (8), area (16) and normal (32).
const UNSTRUCTURED_TRAFFIC: usize = TRAFFIC + 2 * (8 + 16 + 8 + 16 + 8 + 16 + 32);

pub const SUITE: Suite = Suite {
    name: "shallow-water",
    dim: 2,
    cases: &[
        Case {
            name: CARTESIAN,
            yardstick: CARTESIAN,
            traffic: by_hand::TRAFFIC,
            generated: false,
            run: |problem| by_hand::run::<false>(problem),
        },
        Case {
            name: "Cartesian, by hand with the program's operations",
            yardstick: CARTESIAN,
            traffic: by_hand::TRAFFIC,
            generated: false,
            run: |problem| by_hand::run::<true>(problem),
        },
        Case {
            name: "Cartesian, equellec",
            yardstick: CARTESIAN,
            traffic: TRAFFIC,
            generated: true,
            run: |problem| STRICT.run(Layout::Cartesian, problem),
        },
        #[cfg(feature = "fast")]
        Case {
            name: "Cartesian, equellec --fp fast",
            yardstick: CARTESIAN,
            traffic: TRAFFIC,
            generated: true,
            run: |problem| FAST.run(Layout::Cartesian, problem),
        },
        Case { name: MESH, yardstick: MESH, traffic: mesh::TRAFFIC, generated: false, run: mesh::run::<false> },
        Case {
            name: "unstructured, by hand with the program's operations",
            yardstick: MESH,
            traffic: mesh::TRAFFIC,
            generated: false,
            run: mesh::run::<true>,
        },
        Case {
            name: "unstructured, equellec",
            yardstick: MESH,
            traffic: UNSTRUCTURED_TRAFFIC,
            generated: true,
            run: |problem| STRICT.run(Layout::Unstructured, problem),
        },
        #[cfg(feature = "fast")]
        Case {
            name: "unstructured, equellec --fp fast",
            yardstick: MESH,
            traffic: UNSTRUCTURED_TRAFFIC,
            generated: true,
            run: |problem| FAST.run(Layout::Unstructured, problem),
        },
    ],
    prepare,
    // A step does about 100 operations on a value, each with a relative error of at most 1.1e-16,
    // and the scheme does not enlarge errors that are there (its steps are below the limit of
    // stability): this is enough for 100 steps.
    tolerance: 1e-12,
    check: || {},
};

/// Elevation of the bottom in the middle of each side of a cell, and depth at the start.
struct Bowl {
    north: Vec<f64>,
    south: Vec<f64>,
    east: Vec<f64>,
    west: Vec<f64>,
    depth: Vec<f64>,
}

impl Bowl {
    /// A bowl of `n x n` cells that is dry where the bottom is higher than 1.
    fn new(n: usize) -> Bowl {
        let side = |dx: f64, dy: f64| -> Vec<f64> {
            let bottom = |x: f64, y: f64| 2.5 * ((x / n as f64 - 0.5).powi(2) + (y / n as f64 - 0.5).powi(2));
            (0..n * n).map(|cell| bottom((cell % n) as f64 + 0.5 + dx, (cell / n) as f64 + 0.5 + dy)).collect()
        };
        let mut bowl =
            Bowl { north: side(0.0, 0.5), south: side(0.0, -0.5), east: side(0.5, 0.0), west: side(-0.5, 0.0), depth: Vec::new() };
        let depth = (0..n * n).map(|cell| {
            let (x, y) = (((cell % n) as f64 + 0.5) / n as f64, ((cell / n) as f64 + 0.5) / n as f64);
            let surface = if (x - 0.4).powi(2) + (y - 0.5).powi(2) < 0.16_f64.powi(2) { 2.0 } else { 1.0 };
            (surface - bowl.bottom(cell)).max(0.0)
        });
        bowl.depth = depth.collect();
        bowl
    }

    fn bottom(&self, cell: usize) -> f64 {
        (self.north[cell] + self.south[cell] + self.east[cell] + self.west[cell]) / 4.0
    }
}

/// Data of the bottom for the loops by hand. All `[cells]`.
struct Bottom {
    /// Elevation in the middle.
    middle: Vec<f64>,
    /// The push along an axis is its first factor times the elevation of the surface over its
    /// second.
    push_x: Vec<f64>,
    mean_x: Vec<f64>,
    push_y: Vec<f64>,
    mean_y: Vec<f64>,
}

impl Bottom {
    fn of(bowl: &Bowl) -> Bottom {
        let pairs = |a: &[f64], b: &[f64], f: fn(f64, f64) -> f64| a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect::<Vec<f64>>();
        Bottom {
            middle: (0..bowl.depth.len()).map(|cell| bowl.bottom(cell)).collect(),
            push_x: pairs(&bowl.east, &bowl.west, |east, west| -GRAVITY * (east - west)),
            mean_x: pairs(&bowl.east, &bowl.west, |east, west| 0.5 * (east + west)),
            push_y: pairs(&bowl.north, &bowl.south, |north, south| -GRAVITY * (north - south)),
            mean_y: pairs(&bowl.north, &bowl.south, |north, south| 0.5 * (north + south)),
        }
    }
}

/// Elevation of the surface.
fn surface(bowl: &Bowl) -> Vec<f64> {
    (0..bowl.depth.len()).map(|cell| bowl.depth[cell] + bowl.bottom(cell)).collect()
}

/// True if anything moves, and the fields after the last step.
fn finished(step: f64, q: [Vec<f64>; 3]) -> Run {
    assert!(q[1].iter().any(|hu| *hu != 0.0), "nothing happened");
    Run { step, values: q.concat() }
}

fn prepare(n: usize, steps: usize) -> Problem {
    let mut input = Input::new(2, n);
    input.set("dx", 1);
    input.set("dy", 1);
    let bowl = Bowl::new(n);
    input.values("b_north", &bowl.north);
    input.values("b_south", &bowl.south);
    input.values("b_east", &bowl.east);
    input.values("b_west", &bowl.west);
    input.values("h_init", &bowl.depth);
    input.set("u_init", 0);
    input.set("v_init", 0);
    input.file("timesteps", &format!("{DT} ").repeat(steps));
    Problem { n, steps, threads: 1, input }
}
