//! Fluxes through faces and differences by index in one program, `examples/tracer_whirl`.

use std::f64::consts::PI;

use super::{example, same_in_every_way};
use crate::support::How;

/// Where the tracer at a place of the box was at the start: each circle turns by its own speed.
fn origin(n: usize, cell: usize, time: f64) -> [f64; 2] {
    let place = [cell % n, cell / n].map(|index| (index as f64 + 0.5) / n as f64 - 0.5);
    let square = place[0].powi(2) + place[1].powi(2);
    let (sine, cosine) = (-2.0 * PI * (1.0 - square / 0.25).max(0.0).powi(3) * time).sin_cos();
    [0.5 + place[0] * cosine - place[1] * sine, 0.5 + place[0] * sine + place[1] * cosine]
}

/// Half a second on n x n cells.
fn whirl(how: How, n: usize, words: &[&str]) -> crate::support::Outputs {
    let grid = [format!("nx={n}"), format!("ny={n}"), format!("timesteps={}*{:?}", 2 * n, 0.25 / n as f64)];
    let words: Vec<&str> = grid.iter().map(String::as_str).chain(words.iter().copied()).collect();
    example(how, "tracer_whirl", &words)
}

/// The mean error of a blob relative to the mean of the blob.
fn error_of_blob(n: usize) -> f64 {
    let blob = "u_initial_expression=Exp(-((x - 0.5) * (x - 0.5) + (y - 0.75) * (y - 0.75)) / 0.0128)";
    let outputs = whirl(How::Compiled2, n, &[blob]);
    let exact = |cell: usize| {
        let [x, y] = origin(n, cell, 0.5);
        (-((x - 0.5).powi(2) + (y - 0.75).powi(2)) / 0.0128).exp()
    };
    let (mut wrong, mut all, mut sum) = (0.0, 0.0, 0.0);
    for (cell, u) in outputs.last("u").iter().enumerate() {
        wrong += (u - exact(cell)).abs();
        all += exact(cell);
        sum += u;
    }
    // Fluxes cancel in the sum, and so do reflected differences.
    let tracer = outputs.scalars["tracer"][0];
    assert!((tracer - 2.0 * PI * 0.0064).abs() < 1e-3 && (tracer * (n * n) as f64 - sum).abs() <= 1e-12 * sum, "{tracer}");
    wrong / all
}

/// Centred fluxes are of second order, the filter of third: from 64 to 128 cells the mean error
/// falls by 2^1.95.
#[test]
fn a_blob_converges_with_second_order() {
    let errors = [64, 128].map(error_of_blob);
    assert!((errors[0] - 0.0981).abs() < 1e-4 && (errors[1] - 0.0253).abs() < 1e-4, "{errors:?}");
    let order = (errors[0] / errors[1]).log2();
    assert!(order >= 1.9, "{order}");
}

/// The flow has no divergence, and both parts give the same sum of the tracer at all times.
#[test]
fn nothing_is_made_or_lost() {
    let even = whirl(How::Interpreted2, 16, &["u_initial_expression=0.7"]);
    // Sums of four fluxes of up to 0.1 in 96 stages round 1e-17 each, over the volume 1/256.
    assert!(even.last("u").iter().all(|u| (u - 0.7).abs() <= 1e-13), "a constant stays");
    let half = whirl(How::Interpreted2, 16, &[]);
    assert!((half.scalars["tracer"][0] - 0.5).abs() <= 1e-12, "{:?}", half.scalars["tracer"]);
}

/// Differences between neighbours, summed: waves of the width of a cell add to it.
fn variation(n: usize, u: &[f64]) -> f64 {
    let along = |by: usize, inside: &dyn Fn(usize) -> bool| -> f64 {
        (0..n * n).filter(|&cell| inside(cell)).map(|cell| (u[cell] - u[cell + by]).abs()).sum()
    };
    (along(1, &|cell| cell % n + 1 < n) + along(n, &|cell| cell + n < n * n)) / n as f64
}

/// The numbers of the README: a step, without the filter and with it.
#[test]
fn the_filter_takes_waves_of_the_grid() {
    let n = 64;
    let results = ["filter=0", "filter=0.01"].map(|filter| {
        let u = whirl(How::Compiled2, n, &[filter]).last("u").to_vec();
        let exact = |cell: usize| if origin(n, cell, 0.5)[0] < 0.5 { 1.0 } else { 0.0 };
        let error = u.iter().enumerate().map(|(cell, u)| (u - exact(cell)).abs()).sum::<f64>() / (n * n) as f64;
        [variation(n, &u), error]
    });
    for (found, expected) in results.as_flattened().iter().zip([7.448, 0.0572, 3.293, 0.0330]) {
        assert!((found / expected - 1.0).abs() < 5e-3, "{found} instead of {expected}");
    }
}

#[test]
fn the_whirl_in_every_way() {
    same_in_every_way("tracer_whirl", &["nx=16", "ny=8", "timesteps=6*0.015625"]);
}
