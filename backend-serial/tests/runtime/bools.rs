//! Comparisons, logic and the ternary.

use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, line};

const ALL_COMPARISONS: [Comparison; 6] =
    [Comparison::Less, Comparison::Greater, Comparison::LessEqual, Comparison::GreaterEqual, Comparison::Equal, Comparison::NotEqual];

#[test]
fn comparisons_of_less_equal_greater_and_nan() -> Result<(), Error> {
    let mut rt = line(4, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let a = rt.scalar_collection(&cells, vec![1.0, 2.0, 3.0, f64::NAN])?;
    let b = rt.scalar_collection(&cells, vec![2.0, 2.0, 2.0, 2.0])?;
    let expected = [
        [true, false, false, false],
        [false, false, true, false],
        [true, true, false, false],
        [false, true, true, false],
        [false, true, false, false],
        [true, false, true, true],
    ];
    for (op, expected) in ALL_COMPARISONS.into_iter().zip(expected) {
        let (both, with_scalar) = (rt.compare(op, &a, &b)?, rt.compare(op, &a, &2.0)?);
        assert_eq!(rt.bools(&both)?, expected, "{op:?}");
        assert_eq!(rt.bools(&with_scalar)?, expected, "{op:?}");
    }
    // 2 op a: what held for a on the left holds mirrored.
    let mirrored = [
        [false, false, true, false],
        [true, false, false, false],
        [false, true, true, false],
        [true, true, false, false],
        [false, true, false, false],
        [true, false, true, true],
    ];
    for (op, expected) in ALL_COMPARISONS.into_iter().zip(mirrored) {
        let result = rt.compare(op, &2.0, &a)?;
        assert_eq!(rt.bools(&result)?, expected, "{op:?}");
    }
    Ok(())
}

#[test]
fn truth_tables() -> Result<(), Error> {
    let mut rt = line(4, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let a = rt.bool_collection(&cells, vec![false, false, true, true])?;
    let b = rt.bool_collection(&cells, vec![false, true, false, true])?;
    let (and, or, xor, not) = (rt.and(&a, &b)?, rt.or(&a, &b)?, rt.xor(&a, &b)?, rt.not(&a)?);
    assert_eq!(rt.bools(&and)?, [false, false, false, true]);
    assert_eq!(rt.bools(&or)?, [false, true, true, true]);
    assert_eq!(rt.bools(&xor)?, [false, true, true, false]);
    assert_eq!(rt.bools(&not)?, [true, true, false, false]);
    Ok(())
}

#[test]
fn the_branch_not_taken_never_shows_through() -> Result<(), Error> {
    // x > 0 ? 1/x : x. A blend t m + f (1 - m) would give NaN at 0, and at the NaN of the other
    // branch.
    let mut rt = line(3, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let x = rt.scalar_collection(&cells, vec![4.0, 0.0, -1.0])?;
    let positive = rt.compare(Comparison::Greater, &x, &0.0)?;
    let reciprocal = rt.div(&1.0, &x)?;
    let result = rt.select(&positive, &reciprocal, &x)?;
    assert_eq!(rt.values(&result)?, [0.25, 0.0, -1.0]);
    let root = rt.sqrt(&x)?;
    let result = rt.select(&positive, &root, &x)?;
    assert_eq!(rt.values(&result)?, [2.0, 0.0, -1.0]);
    Ok(())
}

#[test]
fn a_selected_nan_stays() -> Result<(), Error> {
    let mut rt = line(2, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let condition = rt.bool_collection(&cells, vec![true, false])?;
    let a = rt.scalar_collection(&cells, vec![f64::NAN, 1.0])?;
    let b = rt.scalar_collection(&cells, vec![2.0, f64::INFINITY])?;
    let result = rt.select(&condition, &a, &b)?;
    let values = rt.values(&result)?;
    assert!(values[0].is_nan());
    assert_eq!(values[1], f64::INFINITY);
    Ok(())
}

#[test]
fn entities_are_selected_per_element_and_empty_is_a_value() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let condition = rt.bool_collection(&cells, vec![true, false, true])?;
    let a = rt.entity_collection(&cells, EntityKind::Face, vec![Some(0), None, None])?;
    let b = rt.entity_collection(&cells, EntityKind::Face, vec![None, Some(2), Some(3)])?;
    let result = rt.select(&condition, &a, &b)?;
    assert_eq!(rt.entity_indices(&result)?, [Some(0), Some(2), None]);
    Ok(())
}
