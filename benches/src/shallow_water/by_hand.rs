//! The loops that an expert would write for a Cartesian grid, in safe Rust. Row by row, values that
//! faces need of a cell are computed once for a cell, and the flux through a face once for a face.
//! Both wait in buffers of a row's length, which stay in the second-level cache. Compilers
//! vectorise every loop: slices of one length, no branches.

use std::hint::black_box;

use super::flux::{central_upwind, wet};
use super::{Bottom, Bowl, DRY, DT, finished, surface};
use crate::harness::{Problem, Run};
use crate::measure::now;

/// Bytes a cell, both stages: state read and written, five fields of the bottom; the second stage
/// reads the old state too.
pub const TRAFFIC: usize = 2 * (3 + 3 + 5) * 8 + 3 * 8;

/// Runs all steps.
pub fn run<const PROGRAM: bool>(problem: &Problem) -> Run {
    let n = problem.n;
    let bowl = Bowl::new(n);
    let bottom = Bottom::of(&bowl);
    let zeros = || vec![0.0; n * n];
    let mut q = [surface(&bowl), zeros(), zeros()];
    let (mut ahead, mut new) = ([zeros(), zeros(), zeros()], [zeros(), zeros(), zeros()]);
    let mut rows = Rows::new(n);
    let mut once = || {
        let dt = black_box(DT);
        stage::<PROGRAM, false>(dt, n, &bottom, &q, &q, &mut ahead, &mut rows);
        stage::<PROGRAM, true>(dt, n, &bottom, &ahead, &q, &mut new, &mut rows);
        std::mem::swap(&mut q, &mut new);
    };
    once();
    let start = now();
    (1..problem.steps).for_each(|_| once());
    let step = (now() - start) / (problem.steps - 1) as f64;
    finished(step, q)
}

type State = [Vec<f64>; 3];

/// [`super::flux::Wet`] of a row of cells.
#[derive(Clone)]
struct Row {
    mx: Vec<f64>,
    my: Vec<f64>,
    u: Vec<f64>,
    v: Vec<f64>,
    wave: Vec<f64>,
    pressure: Vec<f64>,
}

struct Rows {
    here: Row,
    above: Row,
    /// Fluxes through the sides of the row that x crosses. `[n + 1]`
    x: State,
    /// Fluxes through the sides below, then those above. `[n]`
    y: State,
}

impl Rows {
    fn new(n: usize) -> Rows {
        let row = || vec![0.0; n];
        let cells = Row { mx: row(), my: row(), u: row(), v: row(), wave: row(), pressure: row() };
        Rows { here: cells.clone(), above: cells, x: std::array::from_fn(|_| vec![0.0; n + 1]), y: std::array::from_fn(|_| vec![0.0; n]) }
    }
}

/// One Euler step from `q`; in the `LAST` stage the mean of it and the old state.
fn stage<const PROGRAM: bool, const LAST: bool>(
    dt: f64,
    n: usize,
    bottom: &Bottom,
    q: &State,
    old: &State,
    new: &mut State,
    rows: &mut Rows,
) {
    let Rows { here, above, x, y } = rows;
    let row_of = |j: usize| j * n..(j + 1) * n;
    let fill = |row: &mut Row, j: usize| {
        let at = row_of(j);
        cells::<PROGRAM>(
            &q[0][at.clone()],
            &q[1][at.clone()],
            &q[2][at.clone()],
            &bottom.middle[at],
            &mut row.mx,
            &mut row.my,
            &mut row.u,
            &mut row.v,
            &mut row.wave,
            &mut row.pressure,
        );
    };
    fill(here, 0);
    y[0].fill(0.0);
    y[1].fill(0.0);
    y[2].copy_from_slice(&here.pressure);
    for j in 0..n {
        let at = row_of(j);
        let state: [&[f64]; 3] = std::array::from_fn(|i| &q[i][at.clone()]);
        let [x0, x1, x2] = x;
        x_faces::<PROGRAM>(state, here, &mut x0[1..n], &mut x1[1..n], &mut x2[1..n]);
        (x1[0], x1[n]) = (here.pressure[0], here.pressure[n - 1]);
        let [y0, y1, y2] = y;
        let [new0, new1, new2] = new.each_mut().map(|field| &mut field[at.clone()]);
        let sources = Sources {
            dt,
            state,
            old: std::array::from_fn(|i| &old[i][at.clone()]),
            low: [&x0[..n], &x1[..n], &x2[..n]],
            high: [&x0[1..], &x1[1..], &x2[1..]],
            middle: &bottom.middle[at.clone()],
            push_x: &bottom.push_x[at.clone()],
            mean_x: &bottom.mean_x[at.clone()],
            push_y: &bottom.push_y[at.clone()],
            mean_y: &bottom.mean_y[at.clone()],
        };
        if j + 1 < n {
            fill(above, j + 1);
            let beyond = row_of(j + 1);
            let there: [&[f64]; 3] = std::array::from_fn(|i| &q[i][beyond.clone()]);
            update::<PROGRAM, LAST, false>(&sources, here, there, above, y0, y1, y2, new0, new1, new2);
        } else {
            update::<PROGRAM, LAST, true>(&sources, here, state, here, y0, y1, y2, new0, new1, new2);
        }
        std::mem::swap(here, above);
    }
}

#[allow(clippy::too_many_arguments)]
#[inline(never)]
fn cells<const PROGRAM: bool>(
    w: &[f64],
    hu: &[f64],
    hv: &[f64],
    bottom: &[f64],
    mx: &mut [f64],
    my: &mut [f64],
    u: &mut [f64],
    v: &mut [f64],
    wave: &mut [f64],
    pressure: &mut [f64],
) {
    let n = mx.len();
    let (w, hu, hv, bottom) = (&w[..n], &hu[..n], &hv[..n], &bottom[..n]);
    let (my, u, v, wave, pressure) = (&mut my[..n], &mut u[..n], &mut v[..n], &mut wave[..n], &mut pressure[..n]);
    for i in 0..n {
        let cell = wet::<PROGRAM>(w[i], hu[i], hv[i], bottom[i]);
        (mx[i], my[i], u[i], v[i], wave[i], pressure[i]) = (cell.mx, cell.my, cell.u, cell.v, cell.wave, cell.pressure);
    }
}

/// Fluxes between neighbours in a row.
#[inline(never)]
fn x_faces<const PROGRAM: bool>(q: [&[f64]; 3], row: &Row, x0: &mut [f64], x1: &mut [f64], x2: &mut [f64]) {
    let n = x0.len();
    let (x1, x2) = (&mut x1[..n], &mut x2[..n]);
    let [w, hu, hv] = q.map(|field| (&field[..n], &field[1..][..n]));
    let mx = (&row.mx[..n], &row.mx[1..][..n]);
    let u = (&row.u[..n], &row.u[1..][..n]);
    let wave = (&row.wave[..n], &row.wave[1..][..n]);
    let pressure = (&row.pressure[..n], &row.pressure[1..][..n]);
    for i in 0..n {
        let q = [[w.0[i], hu.0[i], hv.0[i]], [w.1[i], hu.1[i], hv.1[i]]];
        let f =
            [[mx.0[i], hu.0[i] * u.0[i] + pressure.0[i], hv.0[i] * u.0[i]], [mx.1[i], hu.1[i] * u.1[i] + pressure.1[i], hv.1[i] * u.1[i]]];
        [x0[i], x1[i], x2[i]] = central_upwind::<PROGRAM>(q, f, [u.0[i], u.1[i]], [wave.0[i], wave.1[i]]);
    }
}

/// Inputs of a row besides the fluxes along y.
struct Sources<'a> {
    dt: f64,
    state: [&'a [f64]; 3],
    old: [&'a [f64]; 3],
    /// Fluxes through the sides that x crosses.
    low: [&'a [f64]; 3],
    high: [&'a [f64]; 3],
    middle: &'a [f64],
    push_x: &'a [f64],
    mean_x: &'a [f64],
    push_y: &'a [f64],
    mean_y: &'a [f64],
}

/// Slices of length `n`, which the compiler then knows.
#[inline(always)]
fn cut(fields: [&[f64]; 3], n: usize) -> (&[f64], &[f64], &[f64]) {
    let [a, b, c] = fields;
    (&a[..n], &b[..n], &c[..n])
}

/// The new value of a quantity in a cell, from its fluxes and its push.
#[inline(always)]
fn advance<const LAST: bool>(dt: f64, q: f64, old: f64, push: f64, x: [f64; 2], y: [f64; 2]) -> f64 {
    let out = x[1] - x[0] + y[1] - y[0];
    let euler = q + dt * (push - out);
    if LAST { 0.5 * old + 0.5 * euler } else { euler }
}

/// Fluxes between a row and the row above, or the wall after the last row, and the new state of the
/// row.
#[allow(clippy::too_many_arguments)]
#[inline(never)]
fn update<const PROGRAM: bool, const LAST: bool, const LAST_ROW: bool>(
    sources: &Sources,
    here: &Row,
    there: [&[f64]; 3],
    above: &Row,
    y0: &mut [f64],
    y1: &mut [f64],
    y2: &mut [f64],
    new0: &mut [f64],
    new1: &mut [f64],
    new2: &mut [f64],
) {
    let n = y0.len();
    let (y1, y2, new0, new1, new2) = (&mut y1[..n], &mut y2[..n], &mut new0[..n], &mut new1[..n], &mut new2[..n]);
    let dt = sources.dt;
    let (w, hu, hv) = cut(sources.state, n);
    let (there0, there1, there2) = cut(there, n);
    let (old0, old1, old2) = cut(sources.old, n);
    let (low0, low1, low2) = cut(sources.low, n);
    let (high0, high1, high2) = cut(sources.high, n);
    let (middle, push_x, mean_x) = cut([sources.middle, sources.push_x, sources.mean_x], n);
    let (push_y, mean_y) = (&sources.push_y[..n], &sources.mean_y[..n]);
    let my = (&here.my[..n], &above.my[..n]);
    let v = (&here.v[..n], &above.v[..n]);
    let wave = (&here.wave[..n], &above.wave[..n]);
    let pressure = (&here.pressure[..n], &above.pressure[..n]);
    for i in 0..n {
        let q = [[w[i], hu[i], hv[i]], [there0[i], there1[i], there2[i]]];
        let f =
            [[my.0[i], q[0][1] * v.0[i], q[0][2] * v.0[i] + pressure.0[i]], [my.1[i], q[1][1] * v.1[i], q[1][2] * v.1[i] + pressure.1[i]]];
        let y =
            if LAST_ROW { [0.0, 0.0, pressure.0[i]] } else { central_upwind::<PROGRAM>(q, f, [v.0[i], v.1[i]], [wave.0[i], wave.1[i]]) };
        let wet = w[i] - middle[i] > DRY;
        let (push1, push2) = (push_x[i] * (w[i] - mean_x[i]), push_y[i] * (w[i] - mean_y[i]));
        let (push1, push2) = if wet { (push1, push2) } else { (0.0, 0.0) };
        new0[i] = advance::<LAST>(dt, w[i], old0[i], 0.0, [low0[i], high0[i]], [y0[i], y[0]]);
        new1[i] = advance::<LAST>(dt, hu[i], old1[i], push1, [low1[i], high1[i]], [y1[i], y[1]]);
        new2[i] = advance::<LAST>(dt, hv[i], old2[i], push2, [low2[i], high2[i]], [y2[i], y[2]]);
        (y0[i], y1[i], y2[i]) = (y[0], y[1], y[2]);
    }
}
