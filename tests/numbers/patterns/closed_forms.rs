//! Three short programs against closed forms.

use std::fs;

use super::grid_file::{input, write};
use crate::support::{How, run, scratch};

const INTERPRETED: [How; 2] = [How::Interpreted0, How::Interpreted2];

/// Centroids of n cells of a line of length 1.
fn centroids(n: usize) -> Vec<f64> {
    (0..n).map(|cell| (cell as f64 + 0.5) / n as f64).collect()
}

/// The last output of a program in one dimension.
fn line(how: How, name: &str, n: usize, initial: (&str, &[f64]), until: f64, steps: usize) -> Vec<f64> {
    let folder = scratch(&format!("{name}-{n}-{how:?}"));
    let mut words = vec!["grid_dim=1".to_owned(), format!("nx={n}"), format!("dx={}", 1.0 / n as f64)];
    words.extend(input(&folder, initial.0, initial.1));
    words.push(format!("timesteps_filename={}", write(&folder, "steps", &vec![until / steps as f64; steps])));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outputs = run(how, &format!("tests/patterns/{name}.equelle"), &words);
    fs::remove_dir_all(&folder).unwrap();
    outputs.last(&initial.0[..1]).to_vec()
}

/// A Gaussian moves with the speed and spreads with the diffusivity.
#[test]
fn advection_and_diffusion() {
    let exact = |n: usize, time: f64| -> Vec<f64> {
        let width = 0.01 + 4.0 * 0.002 * time;
        centroids(n).iter().map(|x| 0.1 / width.sqrt() * (-(x - 0.3 - time).powi(2) / width).exp()).collect()
    };
    for how in INTERPRETED {
        let error = |n: usize| -> f64 {
            let found = line(how, "advection_diffusion", n, ("u_initial", &exact(n, 0.0)), 0.4, n * 4 / 3);
            found.iter().zip(exact(n, 0.4)).map(|(u, exact)| (u - exact).abs()).sum::<f64>() / n as f64
        };
        let (coarse, fine) = (error(40), error(80));
        assert!(coarse < 0.015 && (coarse / fine).log2() > 1.8, "{how:?}: {coarse} {fine}");
    }
}

#[test]
fn poisson() {
    for how in INTERPRETED {
        let error = |n: usize| {
            let width = 1.0 / n as f64;
            let words = [format!("nx={n}"), format!("ny={n}"), format!("dx={width}"), format!("dy={width}")];
            run(how, "tests/patterns/poisson.equelle", &words.each_ref().map(String::as_str)).scalars["error"][0]
        };
        let (coarse, fine) = (error(8), error(16));
        assert!(coarse < 0.007 && (coarse / fine).log2() > 1.95, "{how:?}: {coarse} {fine}");
    }
}

/// All temperatures rise by 3 K/s as that on the left does, with the capacity 10 J/(m^3 K): the
/// flux is 30 (x - 1) times its sign, and the profile is the integral of flux over conductivity.
#[test]
fn heat_in_two_layers() {
    let profile = |x: f64| {
        let integral = |x: f64| 30.0 * (x * x / 2.0 - x);
        if x < 0.4 { integral(x) / 2.0 } else { integral(0.4) / 2.0 + (integral(x) - integral(0.4)) / 0.5 }
    };
    for how in INTERPRETED {
        let error = |n: usize| -> f64 {
            let initial: Vec<f64> = centroids(n).into_iter().map(profile).collect();
            let found = line(how, "heat_layers", n, ("t_initial", &initial), 2.0, 20);
            found.iter().zip(initial).fold(0.0, |error, (t, initial)| error.max((t - (6.0 + initial)).abs()))
        };
        let (coarse, fine) = (error(10), error(20));
        assert!(coarse < 0.06 && (coarse / fine).log2() > 1.85, "{how:?}: {coarse} {fine}");
    }
}
