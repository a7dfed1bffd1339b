//! Programs whose loops compute their steps, against solutions in closed form.

use crate::support::{How, assert_close, repository, run};

/// Ways that the compiled program at `-O2` is compared with.
const WAYS: [How; 2] = [How::Interpreted0, How::Interpreted2];

fn example(how: How, name: &str, words: &[&str]) -> crate::support::Outputs {
    let param = repository(&format!("examples/{name}/case.param"));
    let param = param.to_string_lossy();
    let words: Vec<&str> = [&*param].into_iter().chain(words.iter().copied()).collect();
    run(how, &format!("examples/{name}/{name}.equelle"), &words)
}

/// The largest error of `examples/fisher` after 4 s.
fn error_of_wave(u: &[f64]) -> f64 {
    let wave = |cell: usize| {
        let x = (cell as f64 + 0.5) * 0.1 - 15.0 - 20.0 / 6_f64.sqrt();
        (1.0 + (x / 6_f64.sqrt()).exp()).powi(-2)
    };
    u.iter().enumerate().map(|(cell, u)| (u - wave(cell)).abs()).fold(0.0, f64::max)
}

/// Backward Euler is of first order in the step, which follows the change of a step.
#[test]
fn a_wave_of_fishers_equation() {
    let of_change = |how, change: &str| example(how, "fisher", &[change]);
    let first = of_change(How::Compiled2, "change_of_a_step=0.02");
    let errors: Vec<f64> = ["change_of_a_step=0.04", "change_of_a_step=0.01"]
        .iter()
        .map(|change| error_of_wave(of_change(How::Compiled2, change).last("u")))
        .chain([error_of_wave(first.last("u"))])
        .collect();
    let &[coarse, fine, middle] = errors.as_slice() else { panic!("three errors") };
    // Halved steps halve the error, but for terms of second order: a twentieth of it.
    for ratio in [coarse / middle, middle / fine] {
        assert!((1.95..2.1).contains(&ratio), "{errors:?}");
    }
    // At a fixed place u changes by about 0.02 a step, and the error of a step is half of its
    // second-order term: the wave lags by less than the change of two steps.
    assert!(middle < 0.04, "{middle}");
    let times = &first.scalars["t"];
    assert_eq!(times.last(), Some(&4.0), "the last step is cut to the end");
    for how in WAYS {
        let found = of_change(how, "change_of_a_step=0.02");
        // All take the same steps; residuals end below the tolerance of Newton's method.
        assert_eq!(found.scalars["t"].len(), times.len(), "{how:?}");
        assert_close(found.last("u"), first.last("u"), 1e-10, &format!("{how:?}"));
    }
}

/// Ritter's solution (1892) of the dam break on a dry bed: the mean error falls with the cells, and
/// no water is lost.
#[test]
fn a_dam_break_on_a_dry_bed() {
    let g = 9.80665;
    let c = (g * 10.0_f64).sqrt();
    let ritter = |x: f64| match (x - 500.0) / 20.0 {
        s if s <= -c => 10.0,
        s if s >= 2.0 * c => 0.0,
        s => (2.0 * c - s).powi(2) / (9.0 * g),
    };
    let error = |h: &[f64]| {
        let dx = 1000.0 / h.len() as f64;
        h.iter().enumerate().map(|(cell, h)| (h - ritter((cell as f64 + 0.5) * dx)).abs()).sum::<f64>() / h.len() as f64
    };
    let outputs: Vec<_> = [["nx=100", "dx=10"], ["nx=200", "dx=5"], ["nx=400", "dx=2.5"]]
        .into_iter()
        .map(|[nx, dx]| example(How::Compiled2, "dam_break", &[nx, dx, "output_every=1"]))
        .collect();
    let errors: Vec<f64> = outputs.iter().map(|outputs| error(outputs.last("h"))).collect();
    // Less than first order, because of the thin tip; known of such schemes: 0.6 to 0.8.
    assert!(errors[2] < 0.05 && errors.windows(2).all(|pair| pair[1] < pair[0] / 2_f64.powf(0.55)), "{errors:?}");
    for outputs in &outputs {
        // 50,000 cubic metres; sums and divisions round each cell a few times a step.
        assert_close(&outputs.scalars["water"], &[50_000.0], 1e-12, "water");
        assert!(outputs.last("h").iter().all(|h| *h >= 0.0), "the depth is never negative");
    }
    for how in WAYS {
        let found = example(how, "dam_break", &["nx=100", "dx=10", "output_every=1"]);
        assert_close(found.last("h"), outputs[0].last("h"), 1e-12, &format!("{how:?}"));
    }
}
