//! The branch that a ternary does not choose enters neither values nor derivatives, whatever
//! becomes of the result.

use backend_serial::runtime::{ScalarCollection, SerialRuntime};
use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, line, rows, unknown_on_cells};

/// `u > 0 ? a : b`
fn where_positive(
    rt: &mut SerialRuntime,
    u: &ScalarCollection,
    a: &ScalarCollection,
    b: &ScalarCollection,
) -> Result<ScalarCollection, Error> {
    let positive = rt.compare(Comparison::Greater, u, &0.0)?;
    rt.select(&positive, a, b)
}

#[test]
fn infinite_and_undefined_branches_stay_out() -> Result<(), Error> {
    // u > 0 ? 1/u : u and u > 0 ? Sqrt(u) : u at 4, 0, -1: 1/0 is infinite with derivative -inf,
    // Sqrt(-1) is NaN with derivative NaN.
    let mut rt = line(3);
    let u = unknown_on_cells(&mut rt, &[4.0, 0.0, -1.0])?;
    let reciprocal = rt.div(&1.0, &u)?;
    // The branch does hold what must stay out.
    assert_eq!(rows(&reciprocal)[1], [(1, f64::NEG_INFINITY)]);
    let result = where_positive(&mut rt, &u, &reciprocal, &u)?;
    assert_eq!(rt.values(&result)?, [0.25, 0.0, -1.0]);
    assert_eq!(rows(&result), [[(0, -0.0625)], [(1, 1.0)], [(2, 1.0)]]);
    let root = rt.sqrt(&u)?;
    assert!(rows(&root)[2][0].1.is_nan());
    let result = where_positive(&mut rt, &u, &root, &u)?;
    assert_eq!(rt.values(&result)?, [2.0, 0.0, -1.0]);
    assert_eq!(rows(&result), [[(0, 0.25)], [(1, 1.0)], [(2, 1.0)]]);
    // The same with the branches exchanged.
    let not_positive = rt.compare(Comparison::LessEqual, &u, &0.0)?;
    let result = rt.select(&not_positive, &u, &root)?;
    assert_eq!(rt.values(&result)?, [2.0, 0.0, -1.0]);
    assert_eq!(rows(&result), [[(0, 0.25)], [(1, 1.0)], [(2, 1.0)]]);
    Ok(())
}

#[test]
fn entries_of_the_other_branch_stay_zero_through_everything() -> Result<(), Error> {
    // u > 0 ? u : 0 at 4 and -1, then Sqrt, whose factor at 0 is infinite. A zero by value would
    // become NaN.
    let mut rt = line(2);
    let u = unknown_on_cells(&mut rt, &[4.0, -1.0])?;
    let cells = rt.domain(ALL_CELLS)?;
    let zero = rt.broadcast(&0.0, &cells)?;
    let clipped = where_positive(&mut rt, &u, &u, &zero)?;
    let root = rt.sqrt(&clipped)?;
    assert_eq!(rt.values(&root)?, [2.0, 0.0]);
    assert_eq!(rows(&root), [[(0, 0.25)], [(1, 0.0)]]);
    // Also after negation, sums, products, Gradient and Divergence on the way to the root.
    let negated = rt.neg(&clipped)?;
    let difference = rt.sub(&negated, &zero)?;
    let scaled = rt.mul(&difference, &-3.0)?;
    let halved = rt.div(&scaled, &0.75)?;
    let sum = rt.add(&halved, &clipped)?;
    let root = rt.sqrt(&sum)?;
    // Sqrt(5 u): 2.5 / Sqrt(20).
    let expected = 2.5 / 20f64.sqrt();
    let derivative = rows(&root)[0][0].1;
    // Two roundings, at most one unit in the last place each.
    assert!((derivative - expected).abs() <= 2.0 * f64::EPSILON * expected, "{derivative}");
    assert_eq!(rows(&root)[1], [(1, 0.0)]);
    let gradient = rt.gradient(&root)?;
    let divergence = rt.divergence(&gradient)?;
    let infinite = rt.broadcast(&f64::INFINITY, &cells)?;
    let product = rt.mul(&divergence, &infinite)?;
    assert_eq!(rows(&product), [[(0, f64::NEG_INFINITY), (1, 0.0)], [(0, f64::INFINITY), (1, 0.0)]]);
    Ok(())
}

#[test]
fn differences_keep_them_apart_on_both_sides() -> Result<(), Error> {
    // u > 0 ? u : 0 at -1, 4, -1: the face's first cell has the entry that is not there, then its
    // second.
    let mut rt = line(3);
    let u = unknown_on_cells(&mut rt, &[-1.0, 4.0, -1.0])?;
    let cells = rt.domain(ALL_CELLS)?;
    let zero = rt.broadcast(&0.0, &cells)?;
    let clipped = where_positive(&mut rt, &u, &u, &zero)?;
    let gradient = rt.gradient(&clipped)?;
    let infinite = rt.mul(&gradient, &f64::INFINITY)?;
    assert_eq!(rows(&infinite), [[(0, 0.0), (1, f64::INFINITY)], [(1, f64::NEG_INFINITY), (2, 0.0)]]);
    Ok(())
}

#[test]
fn a_derivative_that_is_zero_by_value_does_not_hide_an_undefined_one() -> Result<(), Error> {
    // Sqrt(u u) has a kink at 0: 0.5/0 times 2 u = 0 is undefined, also after a negation of the
    // zero.
    let mut rt = line(2);
    let u = unknown_on_cells(&mut rt, &[0.0, 4.0])?;
    let square = rt.mul(&u, &u)?;
    assert_eq!(rows(&square)[0], [(0, 0.0)]);
    for square in [square.clone(), rt.mul(&square, &-1.0)?] {
        let magnitude = rt.abs(&square)?;
        let root = rt.sqrt(&magnitude)?;
        assert!(rows(&root)[0][0].1.is_nan());
    }
    Ok(())
}

#[test]
fn a_chosen_nan_stays() -> Result<(), Error> {
    let mut rt = line(2);
    let u = unknown_on_cells(&mut rt, &[-4.0, 4.0])?;
    let root = rt.sqrt(&u)?;
    let negative = rt.compare(Comparison::Less, &u, &0.0)?;
    let result = rt.select(&negative, &root, &u)?;
    assert!(rt.values(&result)?[0].is_nan() && rows(&result)[0][0].1.is_nan());
    assert_eq!(rows(&result)[1], [(1, 1.0)]);
    // Outside its domain the magnitude has no derivative either.
    let magnitude = rt.abs(&root)?;
    assert!(rows(&magnitude)[0][0].1.is_nan());
    Ok(())
}

#[test]
fn one_branch_may_be_constant() -> Result<(), Error> {
    let mut rt = line(2);
    let u = unknown_on_cells(&mut rt, &[1.0, -1.0])?;
    let cells = rt.domain(ALL_CELLS)?;
    let c = rt.scalar_collection(&cells, vec![f64::NAN, 7.0])?;
    let (left, right) = (where_positive(&mut rt, &u, &u, &c)?, where_positive(&mut rt, &u, &c, &u)?);
    assert_eq!(rt.values(&left)?, [1.0, 7.0]);
    assert_eq!(rows(&left), [[(0, 1.0)], [(1, 0.0)]]);
    assert_eq!(rows(&right), [[(0, 0.0)], [(1, 1.0)]]);
    Ok(())
}
