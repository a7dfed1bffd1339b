//! The Kuramoto-Sivashinsky equation on a periodic line (`tests/programs`).

use std::f64::consts::PI;

use crate::support::{Dimensions, EVERY_WAY, How, Outputs, assert_same_bits, run_with};

const PROGRAM: &str = "tests/programs/kuramoto_sivashinsky.equelle";
const WIDTH: f64 = 0.5;

/// From 2 cos(19 pi x / 128) on `n` cells, a multiple of 512: whole waves of length 256 / 19.
fn from_waves(how: How, n: usize, steps: usize, dt: f64, threads: &str) -> Outputs {
    let (cells, timesteps) = (format!("nx={n}"), format!("timesteps={steps}*{dt:?}"));
    let start = format!("u_initial_expression=2*Cos(19*{PI:?}*x/128)");
    run_with(how, Dimensions::Unchecked, PROGRAM, &["grid_dim=1", &cells, "dx=0.5", &start, &timesteps, threads])
}

/// The same steps by a plain loop.
fn plain(n: usize, steps: usize, dt: f64) -> Vec<f64> {
    let mut u: Vec<f64> = (0..n).map(|cell| 2.0 * (19.0 * PI * ((cell as f64 + 0.5) * WIDTH) / 128.0).cos()).collect();
    let rate = |u: &[f64], cell: usize| {
        let at = |by: usize| u[(cell + n + by - 2) % n];
        let steepening = (at(3) * at(3) - at(1) * at(1)) / (4.0 * WIDTH);
        let growth = (at(3) + at(1) - 2.0 * at(2)) / (WIDTH * WIDTH);
        let damping = (at(4) - 4.0 * at(3) + 6.0 * at(2) - 4.0 * at(1) + at(0)) / WIDTH.powi(4);
        -(steepening + growth + damping)
    };
    for _ in 0..steps {
        let half: Vec<f64> = (0..n).map(|cell| u[cell] + 0.5 * dt * rate(&u, cell)).collect();
        u = (0..n).map(|cell| u[cell] + dt * rate(&half, cell)).collect();
    }
    u
}

fn mean(u: &[f64]) -> f64 {
    u.iter().sum::<f64>() / u.len() as f64
}

/// The program does the operations of the loop. Their order in sums is the same, but the library's
/// cosine may be another one in the last place, which 50 steps double at most.
#[test]
fn steps_are_those_of_a_loop() {
    let (n, steps, dt) = (512, 50, 5e-3);
    let expected = plain(n, steps, dt);
    let found = from_waves(How::Interpreted2, n, steps, dt, "threads=1");
    for (cell, (a, b)) in found.last("u").iter().zip(&expected).enumerate() {
        assert!((a - b).abs() <= 1e-12, "cell {cell}: {a} instead of {b}");
    }
    for how in EVERY_WAY {
        for threads in ["threads=1", "threads=3"] {
            assert_same_bits(&from_waves(how, n, steps, dt, threads), &found, &format!("{how:?}, {threads}"));
        }
    }
}

/// The midpoint rule is of second order: half of the step leaves a quarter of the error, against 32
/// times as many steps as the first run. The errors themselves are those of an implementation apart
/// (2.76e-6, 6.86e-7, 1.69e-7 on 1024 points that lie on cell ends; its ratios are 4.02 and 4.05).
/// Fluxes of a periodic line cancel: the mean stays 0.
#[test]
fn half_of_a_step_leaves_a_quarter_of_the_error() {
    let n = 1024;
    let run = |steps: usize| from_waves(How::Compiled2, n, steps, 1.0 / steps as f64, "threads=1").last("u").to_vec();
    let fine = run(6400);
    assert!(mean(&fine).abs() <= 1e-12, "{:e}", mean(&fine));
    let errors = [200, 400, 800].map(|steps| {
        let squares: f64 = run(steps).iter().zip(&fine).map(|(a, b)| (a - b).powi(2)).sum();
        (squares / n as f64).sqrt()
    });
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((3.9..=4.3).contains(&ratio), "{errors:?}");
    }
    assert!((errors[0] / 2.76e-6 - 1.0).abs() <= 0.02, "{errors:?}");
}

/// The fourth difference bounds the step: the midpoint rule is stable for rates down to -2 / dt,
/// and the largest is 16 / h^4 - 4 / h^2 = 240, so dt = 0.008333.
#[test]
fn steps_are_stable_up_to_their_bound() {
    let largest = |dt: f64| {
        let steps = (20.0 / dt).round() as usize;
        plain(512, steps, dt).iter().fold(0.0_f64, |most, u| if u.is_finite() { most.max(u.abs()) } else { f64::INFINITY })
    };
    assert!(largest(0.008) <= 5.0, "{}", largest(0.008));
    assert!(largest(0.009) > 1e3);
    let found = from_waves(How::Compiled2, 512, 2500, 0.008, "threads=1");
    assert!(found.last("u").iter().all(|u| u.abs() <= 5.0));
}
