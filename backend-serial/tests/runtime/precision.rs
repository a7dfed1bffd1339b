//! Collections in single precision: what is rounded, and what stays double.

use backend_serial::runtime::SerialRuntime;
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, session};

fn single_precision(n: usize, dx: f64) -> SerialRuntime<f32> {
    SerialRuntime::with_precision(session(Grid::cartesian(Cartesian::line(n, dx)).expect("a valid shape")))
}

#[test]
fn values_scalars_and_geometry_are_rounded_where_they_enter() -> Result<(), Error> {
    let mut rt = single_precision(3, 0.1);
    let cells = rt.domain(ALL_CELLS)?;
    let u = rt.scalar_collection(&cells, vec![0.1, 1.0 / 3.0, 1e-3])?;
    assert_eq!(rt.values(&u)?, [0.1f32, 1.0 / 3.0, 1e-3].map(f64::from));
    let scaled = rt.mul(&0.7, &u)?;
    assert_eq!(rt.values(&scaled)?, [0.7f32 * 0.1, 0.7f32 * (1.0 / 3.0), 0.7f32 * 1e-3].map(f64::from));
    let below = rt.compare(Comparison::Equal, &u, &0.1)?;
    assert_eq!(rt.bools(&below)?, [true, false, false], "0.1 is compared as the single that the collection holds");
    let cells = rt.entities(&cells)?;
    let volumes = rt.measure(&cells)?;
    assert_eq!(rt.values(&volumes)?[0], f64::from(0.1f32));
    Ok(())
}

#[test]
fn reductions_accumulate_in_double_precision() -> Result<(), Error> {
    // Singles from 2^24 on are 2 apart, so that a single would absorb every 1; in doubles the sum
    // is exact.
    let n = 3000;
    let mut rt = single_precision(n, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let mut values = vec![1.0; n];
    values[0] = f64::from(1u32 << 24);
    let u = rt.scalar_collection(&cells, values)?;
    assert_eq!(rt.reduce(Reduction::Sum, &u)?, f64::from((1u32 << 24) + 2999));
    assert_eq!(rt.reduce(Reduction::Max, &u)?, f64::from(1u32 << 24));
    Ok(())
}

/// `u * u = 2` in each cell, from 1. A correction is made in double precision and rounded, so that
/// the last iterate is the rounded root: its error is half the spacing of singles in [1, 2), 2^-24,
/// and what the quadratic convergence leaves, (u0 - root)^2 / 2, far below it. The residual there
/// is up to 2 sqrt(2) 2^-24 and its own rounding 2^-24, so that no smaller tolerance than 4 * 2^-24
/// per cell can be asked for. Without a tolerance the solve ends there as well, and from there
/// after one correction.
#[test]
fn newton_solves_in_double_precision_what_is_evaluated_in_single() -> Result<(), Error> {
    let n = 4;
    for words in [&["abs_res_tol=1e-6".to_string()][..], &[]] {
        let parameters = Parameters::from_words(words)?;
        let grid = Grid::cartesian(Cartesian::line(n, 1.0))?;
        let mut rt: SerialRuntime<f32> =
            SerialRuntime::with_precision(Session::on_grid(Program::named("test"), parameters, grid, session::Options::silent())?);
        let cells = rt.domain(ALL_CELLS)?;
        let mut u = rt.scalar_collection(&cells, vec![1.0; n])?;
        let mut evaluations = Vec::new();
        for _ in 0..2 {
            let mut count = 0;
            u = rt.newton_solve(&u, &mut |rt, u| {
                count += 1;
                let square = rt.mul(u, u)?;
                let two = rt.scalar(2.0);
                let two = rt.broadcast(&two, &rt.domain_of(u))?;
                rt.sub(&square, &two)
            })?;
            for u in rt.values(&u)? {
                assert!((u - 2f64.sqrt()).abs() <= 2f64.powi(-24) + 1e-12, "{u}");
            }
            evaluations.push(count);
        }
        assert_eq!(evaluations[1], if words.is_empty() { 2 } else { 1 }, "the guess is the solution");
        assert!(rt.jacobian(&u).is_none());
    }
    Ok(())
}

/// Singles are put out in the digits that tell them apart, Scalars made of them as the doubles that
/// they are.
#[test]
fn outputs_show_what_a_single_can_tell() -> Result<(), Error> {
    let mut text = String::new();
    number::write_shortest(&mut text, 0.1f32);
    text.push(' ');
    number::write_shortest(&mut text, 1.0f32 / 3.0);
    text.push(' ');
    number::write_shortest(&mut text, 1e-30f32);
    assert_eq!(text, "0.1 0.33333334 1e-30");
    let mut rt = single_precision(2, 1.0);
    let records = rt.session_mut().record_outputs();
    let cells = rt.domain(ALL_CELLS)?;
    let u = rt.scalar_collection(&cells, vec![0.1, 0.2])?;
    rt.output("u", &u)?;
    assert_eq!(records.take(), [output::Record::Collection { tag: "u".into(), values: vec![f64::from(0.1f32), f64::from(0.2f32)] }]);
    Ok(())
}
