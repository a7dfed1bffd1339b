//! Costs of operations on one core of this processor: `cargo xtask cost-model --target serial`
//! prints the table of `backend-serial/src/codegen/costs.rs`, relative to an addition.

use std::hint::black_box;
use std::time::Instant;

use equelle_runtime::math;
use equelle_runtime::math::table::{Interpolation, Outside, Table};

/// Cells along an edge of the cube whose elements are read.
const EDGE: usize = 192;
const CELLS: usize = EDGE * EDGE * EDGE;
/// Elements of a part, which the first cache holds.
const PART: usize = 1024;
/// How often one measurement goes through it: a fraction of a millisecond, so that some of the
/// measurements are not disturbed.
const PARTS: usize = 50;
/// Operations on a number that is loaded and stored once.
const OPERATIONS: usize = 16;
/// Measurements, of which the fastest counts; and of those that take long.
const TURNS: usize = 1000;
const LONG_TURNS: usize = 15;

/// The fewest seconds that something takes.
fn fastest(turns: usize, mut run: impl FnMut()) -> f64 {
    let turn = |run: &mut dyn FnMut()| {
        let since = Instant::now();
        run();
        since.elapsed().as_secs_f64()
    };
    (0..turns).map(|_| turn(&mut run)).fold(f64::INFINITY, f64::min)
}

/// Seconds of an operation, for each element of a vectorised loop.
fn operation(f: impl Fn(f64, f64) -> f64) -> f64 {
    let mut x = vec![1.5_f64; PART];
    let c = black_box(1.5_f64);
    let seconds = fastest(TURNS, || {
        for _ in 0..PARTS {
            x.iter_mut().for_each(|x| *x = f(*x, c));
            black_box(&mut x);
        }
    });
    seconds / (PARTS * PART) as f64
}

/// Seconds of an operation, of several on a number.
fn in_chain(f: impl Fn(f64, f64) -> f64 + Copy) -> f64 {
    operation(|x, c| (0..OPERATIONS).fold(x, |x, _| f(x, c))) / OPERATIONS as f64
}

/// The face at each side of each cell, faces numbered axis by axis: `[CELLS][6]`.
fn faces() -> Vec<[u32; 6]> {
    let (n, m) = (EDGE, EDGE + 1);
    let of_axis = n * n * m;
    let of_cell = |cell: usize| {
        let (i, j, k) = (cell % n, cell / n % n, cell / n / n);
        let low = [i + m * (j + n * k), of_axis + i + n * (j + m * k), 2 * of_axis + i + n * (j + n * k)];
        [low[0], low[0] + 1, low[1], low[1] + n, low[2], low[2] + n * n].map(|face| face as u32)
    };
    (0..CELLS).map(of_cell).collect()
}

fn main() {
    let addition = in_chain(|x, c| x + c);

    let arrays = vec![vec![1.5_f64; CELLS]; 4];
    let mut out = vec![0.0_f64; CELLS];
    let store = fastest(LONG_TURNS, || black_box(&mut out).fill(black_box(1.0)));
    let copy = fastest(LONG_TURNS, || black_box(&mut out).copy_from_slice(&arrays[0]));
    let four = fastest(LONG_TURNS, || {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| &arrays[i][..CELLS]);
        for (i, out) in black_box(&mut out).iter_mut().enumerate() {
            *out = (a[i] + b[i]) + (c[i] + d[i]);
        }
    });
    let inside = EDGE * EDGE..CELLS - EDGE * EDGE;
    let neighbours = fastest(LONG_TURNS, || {
        let a = &arrays[0];
        let n = inside.len();
        let sides = [1, EDGE, EDGE * EDGE].map(|by| [&a[inside.start - by..][..n], &a[inside.start + by..][..n]]);
        let own = &a[inside.clone()];
        for (i, out) in black_box(&mut out)[inside.clone()].iter_mut().enumerate() {
            *out = sides.iter().fold(own[i], |sum, [low, high]| sum + low[i] + high[i]);
        }
    });
    let faces = faces();
    let on_faces = vec![1.5_f64; 3 * EDGE * EDGE * (EDGE + 1)];
    let by_face = fastest(LONG_TURNS, || {
        for (out, faces) in black_box(&mut out).iter_mut().zip(&faces) {
            *out = faces.iter().map(|&face| on_faces[face as usize]).sum();
        }
    });
    let cells = CELLS as f64;
    let columns: Vec<f64> = (0..61).map(|row| f64::from(row) * 0.05 - 1.0).collect();
    let table = Table::new(&columns, &columns, Interpolation::Linear, Outside::Constant).expect("rows that ascend");
    let rows = [
        ("addition", addition),
        ("product", in_chain(|x, c| x * c)),
        ("quotient", in_chain(|x, c| c / x)),
        ("root", in_chain(|x, _| x.sqrt())),
        ("exponential", operation(|x, c| math::exp(c - x))),
        ("power", operation(|x, c| math::pow(x, c - 1.0))),
        ("look_up", operation(|x, c| math::interpolate(table.numbers(), c - x))),
        ("load", (four - copy) / 3.0 / cells),
        ("neighbour", (neighbours / inside.len() as f64 - copy / cells) / 6.0),
        ("by_face", (by_face - store) / 6.0 / cells),
        ("store", store / cells),
    ];
    for (name, seconds) in rows {
        println!("{name:<12} {:8.4} ns {:8.1}", seconds * 1e9, seconds / addition);
    }
}
