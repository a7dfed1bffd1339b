//! Patterns of Jacobians: the entries that the statement of the problem makes, in every state.

use backend_serial::runtime::{ScalarCollection, SerialRuntime};
use equelle_runtime::grid::Cartesian;
use equelle_runtime::*;

use crate::common::{INTERIOR_FACES, cartesian, cells_of, pattern, triangles, unknown_on_cells};
use crate::residuals::{heat, upwind_transport};

/// Each cell with its neighbours, from the grid itself.
fn neighbours(rt: &mut SerialRuntime) -> Result<Vec<Vec<u32>>, Error> {
    let mut expected: Vec<Vec<u32>> = (0..rt.grid().n_cells() as u32).map(|cell| vec![cell]).collect();
    let [first, second] = cells_of(rt, INTERIOR_FACES)?;
    let pairs = (rt.entity_indices(&first)?, rt.entity_indices(&second)?);
    for (first, second) in pairs.0.into_iter().flatten().zip(pairs.1.into_iter().flatten()) {
        expected[first as usize].push(second);
        expected[second as usize].push(first);
    }
    expected.iter_mut().for_each(|row| row.sort_unstable());
    Ok(expected)
}

fn in_state(
    rt: &mut SerialRuntime,
    value: impl Fn(usize) -> f64,
    residual: fn(&mut SerialRuntime, &ScalarCollection) -> Result<ScalarCollection, Error>,
) -> Result<Vec<Vec<u32>>, Error> {
    let values: Vec<f64> = (0..rt.grid().n_cells()).map(value).collect();
    let u = unknown_on_cells(rt, &values)?;
    Ok(pattern(&residual(rt, &u)?))
}

#[test]
fn implicit_heat_in_two_dimensions_has_five_points() -> Result<(), Error> {
    let mut rt = cartesian(Cartesian::plane([3, 3], [0.5, 0.25]));
    let heat_pattern = in_state(&mut rt, |i| i as f64, heat)?;
    assert_eq!(heat_pattern[4], [1, 3, 4, 5, 7], "the middle cell");
    assert_eq!(heat_pattern[0], [0, 1, 3], "a corner");
    assert_eq!(heat_pattern, neighbours(&mut rt)?);
    Ok(())
}

#[test]
fn implicit_heat_in_three_dimensions_has_seven_points() -> Result<(), Error> {
    let mut rt = cartesian(Cartesian::block([3, 3, 3], [0.5, 0.25, 1.0]));
    let heat_pattern = in_state(&mut rt, |_| 0.0, heat)?;
    assert_eq!(heat_pattern[13], [4, 10, 12, 13, 14, 16, 22], "the middle cell, in a state where everything is zero");
    assert_eq!(heat_pattern, neighbours(&mut rt)?);
    Ok(())
}

#[test]
fn implicit_heat_on_triangles_has_four_points_at_most() -> Result<(), Error> {
    let mut rt = triangles();
    let heat_pattern = in_state(&mut rt, |i| i as f64, heat)?;
    assert_eq!(heat_pattern.iter().map(Vec::len).max(), Some(4));
    assert_eq!(heat_pattern, neighbours(&mut rt)?);
    Ok(())
}

#[test]
fn upwinding_by_values_has_one_pattern_in_all_states() -> Result<(), Error> {
    let mut rt = triangles();
    let states = [
        in_state(&mut rt, |i| i as f64, upwind_transport)?,
        in_state(&mut rt, |i| -(i as f64), upwind_transport)?,
        in_state(&mut rt, |_| 0.0, upwind_transport)?,
        in_state(&mut rt, |_| f64::NAN, upwind_transport)?,
    ];
    let expected = neighbours(&mut rt)?;
    for state in states {
        assert_eq!(state, expected);
    }
    Ok(())
}
