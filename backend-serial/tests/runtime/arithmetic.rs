//! Arithmetic on Scalars, collections and vectors.

use backend_serial::runtime::SerialRuntime;
use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, bits, line, plane};

#[test]
fn collections_are_combined_element_by_element() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let a = rt.scalar_collection(&cells, vec![6.0, -1.5, 0.25])?;
    let b = rt.scalar_collection(&cells, vec![2.0, 0.5, -4.0])?;
    let results = [rt.add(&a, &b)?, rt.sub(&a, &b)?, rt.mul(&a, &b)?, rt.div(&a, &b)?];
    let expected = [[8.0, -1.0, -3.75], [4.0, -2.0, 4.25], [12.0, -0.75, -1.0], [3.0, -3.0, -0.0625]];
    for (result, expected) in results.iter().zip(expected) {
        assert_eq!(rt.values(result)?, expected);
    }
    let (scaled, left) = (rt.mul(&a, &2.0)?, rt.mul(&2.0, &a)?);
    assert_eq!(rt.values(&scaled)?, [12.0, -3.0, 0.5]);
    assert_eq!(rt.values(&left)?, [12.0, -3.0, 0.5]);
    let quotient = rt.div(&3.0, &b)?;
    assert_eq!(rt.values(&quotient)?, [1.5, 6.0, -0.75]);
    Ok(())
}

#[test]
fn division_by_a_scalar_is_a_true_division() -> Result<(), Error> {
    // Multiplying by the rounded reciprocal would give 0.9999999999999999.
    assert_ne!(49.0 * (1.0 / 49.0), 1.0);
    let mut rt = line(1, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let a = rt.scalar_collection(&cells, vec![49.0])?;
    let result = rt.div(&a, &49.0)?;
    assert_eq!(rt.values(&result)?, [1.0]);
    let (v, w) = (rt.vector_collection(&cells, vec![vec![49.0]])?, rt.scalar_collection(&cells, vec![49.0])?);
    let (by_scalar, by_collection) = (rt.div(&v, &49.0)?, rt.div(&v, &w)?);
    assert_eq!(rt.vectors(&by_scalar)?, [[1.0]]);
    assert_eq!(rt.vectors(&by_collection)?, [[1.0]]);
    Ok(())
}

#[test]
fn unary_minus_flips_the_sign_of_zero_too() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let a = rt.scalar_collection(&cells, vec![0.0, -0.0, 2.0])?;
    let negated = rt.neg(&a)?;
    assert_eq!(bits(&rt.values(&negated)?), bits(&[-0.0, 0.0, -2.0]));
    let zero = rt.scalar(0.0);
    assert_eq!(rt.neg(&zero)?.to_bits(), (-0.0f64).to_bits());
    Ok(())
}

#[test]
fn magnitude_and_square_root() -> Result<(), Error> {
    let mut rt = line(4, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let a = rt.scalar_collection(&cells, vec![-2.25, -0.0, 2.25, f64::NAN])?;
    let magnitude = rt.abs(&a)?;
    let values = rt.values(&magnitude)?;
    assert_eq!(bits(&values[..3]), bits(&[2.25, 0.0, 2.25]));
    assert!(values[3].is_nan());
    let root = rt.sqrt(&a)?;
    let values = rt.values(&root)?;
    assert!(values[0].is_nan() && values[3].is_nan(), "outside its domain the root is NaN, silently");
    assert_eq!(values[2], 1.5);
    assert_eq!((rt.abs(&-3.0)?, rt.sqrt(&6.25)?), (3.0, 2.5));
    Ok(())
}

#[test]
fn division_by_zero_follows_ieee() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let a = rt.scalar_collection(&cells, vec![1.0, -1.0, 0.0])?;
    let result = rt.div(&a, &0.0)?;
    let values = rt.values(&result)?;
    assert_eq!(values[..2], [f64::INFINITY, f64::NEG_INFINITY]);
    assert!(values[2].is_nan());
    Ok(())
}

#[test]
fn scalars() -> Result<(), Error> {
    let mut rt = line(1, 1.0);
    let (a, b) = (rt.scalar(7.0), rt.scalar(2.0));
    assert_eq!([rt.add(&a, &b)?, rt.sub(&a, &b)?, rt.mul(&a, &b)?, rt.div(&a, &b)?], [9.0, 5.0, 14.0, 3.5]);
    Ok(())
}

fn two_vectors(rt: &mut SerialRuntime) -> Result<[<SerialRuntime as EquelleRuntime>::VectorCollection; 2], Error> {
    let cells = rt.domain(ALL_CELLS)?;
    let a = rt.vector_collection(&cells, vec![vec![3.0, -1.0], vec![4.0, 0.5]])?;
    let b = rt.vector_collection(&cells, vec![vec![1.0, 2.0], vec![-2.0, 8.0]])?;
    Ok([a, b])
}

#[test]
fn vectors_by_component() -> Result<(), Error> {
    let mut rt = plane([2, 1], [1.0, 1.0]);
    let cells = rt.domain(ALL_CELLS)?;
    let [a, b] = two_vectors(&mut rt)?;
    let s = rt.scalar_collection(&cells, vec![2.0, 4.0])?;
    let results = [rt.add(&a, &b)?, rt.sub(&a, &b)?, rt.neg(&a)?, rt.mul(&a, &s)?, rt.div(&a, &s)?, rt.mul(&a, &10.0)?, rt.div(&a, &2.0)?];
    let expected = [
        [[4.0, 1.0], [2.0, 8.5]],
        [[2.0, -3.0], [6.0, -7.5]],
        [[-3.0, 1.0], [-4.0, -0.5]],
        [[6.0, -4.0], [8.0, 2.0]],
        [[1.5, -0.25], [2.0, 0.125]],
        [[30.0, -10.0], [40.0, 5.0]],
        [[1.5, -0.5], [2.0, 0.25]],
    ];
    for (result, expected) in results.iter().zip(expected) {
        assert_eq!(rt.vectors(result)?, expected);
    }
    Ok(())
}

#[test]
fn length_scalar_product_and_component() -> Result<(), Error> {
    let mut rt = plane([2, 1], [1.0, 1.0]);
    let [a, b] = two_vectors(&mut rt)?;
    let (length, dot, y) = (rt.length(&a)?, rt.dot(&a, &b)?, rt.component(&a, 1)?);
    // |(3, 4)| = 5; |(-1, 1/2)| = sqrt(1.25).
    assert_eq!(rt.values(&length)?, [5.0, 1.25f64.sqrt()]);
    // 3*1 - 4*2 = -5; -1*2 + 0.5*8 = 2.
    assert_eq!(rt.values(&dot)?, [-5.0, 2.0]);
    assert_eq!(rt.values(&y)?, [4.0, 0.5]);
    Ok(())
}

#[test]
fn a_component_that_the_grid_lacks_is_refused_with_the_line() -> Result<(), Error> {
    let mut rt = plane([2, 1], [1.0, 1.0]);
    let [a, _] = two_vectors(&mut rt)?;
    rt.line(12);
    let error = rt.component(&a, 2).err();
    let error = error.ok_or_else(|| Error::new(ErrorKind::Data, "component 2 in 2D was accepted"))?;
    assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Data, &[12][..]));
    assert!(error.message.contains("[2]") && error.message.contains("dimension 2"), "{}", error.message);
    Ok(())
}
