//! Input data of the shallow-water example, and what it must give: a dam breaks in a bowl with dry
//! corners. Plain loops over rows and columns.

use std::path::Path;

use crate::tools::lines;

const N: usize = 50;
const GRAVITY: f64 = 9.81;
const DRY: f64 = 0.05;
const MIN_SPEED_DIFFERENCE: f64 = 0.05;
const DT: f64 = 0.05;
const STEPS: usize = 100;

/// Elevation, and discharges along x and y.
type State = Vec<[f64; 3]>;

/// A bowl of unit cells, elevations in the middle of the sides.
struct Bowl {
    north: Vec<f64>,
    south: Vec<f64>,
    east: Vec<f64>,
    west: Vec<f64>,
    depth: Vec<f64>,
}

/// Rounds to four digits, so that files are short and do not depend on the last bits.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn bottom(x: f64, y: f64) -> f64 {
    rounded(((x - 25.0).powi(2) + (y - 25.0).powi(2)) / 1000.0)
}

fn bowl() -> Bowl {
    let side = |dx: f64, dy: f64| -> Vec<f64> {
        (0..N * N).map(|cell| bottom((cell % N) as f64 + 0.5 + dx, (cell / N) as f64 + 0.5 + dy)).collect()
    };
    let [north, south, east, west] = [side(0.0, 0.5), side(0.0, -0.5), side(0.5, 0.0), side(-0.5, 0.0)];
    let depth = (0..N * N).map(|cell| {
        let (x, y) = ((cell % N) as f64 + 0.5, (cell / N) as f64 + 0.5);
        let surface = if (x - 20.0).powi(2) + (y - 25.0).powi(2) < 64.0 { 2.0 } else { 1.0 };
        rounded((surface - (north[cell] + south[cell] + east[cell] + west[cell]) / 4.0).max(0.0))
    });
    let depth = depth.collect();
    Bowl { north, south, east, west, depth }
}

/// Data files as path below `examples/` and text.
pub(crate) fn files() -> Vec<(String, String)> {
    let bowl = bowl();
    let mut files = Vec::new();
    let mut put = |name: &str, values: &[f64]| files.push((format!("shallow_water/{name}.txt"), lines(values.iter())));
    put("b_north", &bowl.north);
    put("b_south", &bowl.south);
    put("b_east", &bowl.east);
    put("b_west", &bowl.west);
    put("h_init", &bowl.depth);
    put("timesteps", &[DT; STEPS]);
    let mut state: State = (0..N * N).map(|cell| [bowl.depth[cell] + bowl.mean(cell), 0.0, 0.0]).collect();
    for step in 1..=STEPS {
        let ahead = bowl.euler(&bowl.euler(&state));
        for (old, new) in state.iter_mut().zip(&ahead) {
            for (old, new) in old.iter_mut().zip(new) {
                *old = 0.5 * (*old + new);
            }
        }
        if [10, 100].contains(&step) {
            for (number, name) in ["w", "hu", "hv"].into_iter().enumerate() {
                let values: Vec<f64> = state.iter().map(|q| q[number]).collect();
                let name = Path::new("expected").join(format!("{name}-step{step:04}"));
                put(&name.to_string_lossy(), &values);
            }
        }
    }
    files
}

impl Bowl {
    fn mean(&self, cell: usize) -> f64 {
        (self.north[cell] + self.south[cell] + self.east[cell] + self.west[cell]) / 4.0
    }

    fn euler(&self, state: &State) -> State {
        let depth: Vec<f64> = state.iter().enumerate().map(|(cell, q)| q[0] - self.mean(cell)).collect();
        let mut next = state.clone();
        for (cell, (q, next)) in state.iter().zip(&mut next).enumerate() {
            if depth[cell] > DRY {
                next[1] -= DT * GRAVITY * (self.east[cell] - self.west[cell]) * (q[0] - (self.east[cell] + self.west[cell]) / 2.0);
                next[2] -= DT * GRAVITY * (self.north[cell] - self.south[cell]) * (q[0] - (self.north[cell] + self.south[cell]) / 2.0);
            }
        }
        for axis in 0..2 {
            let stride = if axis == 0 { 1 } else { N };
            for cell in 0..N * N {
                let along = cell / stride % N;
                if along == 0 {
                    // The wall on the low side pushes in the direction of the axis, that on the
                    // high side against it.
                    next[cell][1 + axis] += DT * pressure(depth[cell]);
                }
                if along == N - 1 {
                    next[cell][1 + axis] -= DT * pressure(depth[cell]);
                    continue;
                }
                let other = cell + stride;
                let flux = central_upwind(axis, [&state[cell], &state[other]], [depth[cell], depth[other]]);
                for (number, flux) in flux.into_iter().enumerate() {
                    next[cell][number] -= DT * flux;
                    next[other][number] += DT * flux;
                }
            }
        }
        next
    }
}

fn pressure(h: f64) -> f64 {
    if h > DRY { GRAVITY * h * h / 2.0 } else { 0.0 }
}

/// Flux along an axis between two cells.
fn central_upwind(axis: usize, q: [&[f64; 3]; 2], h: [f64; 2]) -> [f64; 3] {
    let (mut low, mut high) = (0.0_f64, 0.0_f64);
    let mut fluxes = [[0.0; 3]; 2];
    for side in 0..2 {
        if h[side] <= DRY {
            continue;
        }
        let speed = q[side][1 + axis] / h[side];
        let wave = (GRAVITY * h[side]).sqrt();
        (low, high) = (low.min(speed - wave), high.max(speed + wave));
        fluxes[side] = [q[side][1 + axis], q[side][1] * speed, q[side][2] * speed];
        fluxes[side][1 + axis] += pressure(h[side]);
    }
    let speed_difference = high - low;
    if speed_difference * speed_difference <= MIN_SPEED_DIFFERENCE * MIN_SPEED_DIFFERENCE {
        return [0.0; 3];
    }
    std::array::from_fn(|i| (high * fluxes[0][i] - low * fluxes[1][i] + high * low * (q[1][i] - q[0][i])) / speed_difference)
}
