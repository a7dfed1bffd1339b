//! Gradient and Divergence.

use equelle_runtime::domain::Domain;
use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, ALL_FACES, INTERIOR_FACES, bits, line, plane};

#[test]
fn a_small_grid_worked_out_by_hand() -> Result<(), Error> {
    // 4 x 3 cells; whole numbers below 2^53, so every answer is exact.
    let mut rt = plane([4, 3], [0.5, 0.3]);
    let cells = rt.domain(ALL_CELLS)?;
    let c = rt.scalar_collection(&cells, (0..12).map(|i| 10.0 * f64::from(i)).collect())?;
    let large = rt.compare(Comparison::Greater, &c, &50.0)?;
    let (double, half) = (rt.mul(&c, &2.0)?, rt.div(&c, &2.0)?);
    let a = rt.select(&large, &double, &half)?;
    assert_eq!(rt.values(&a)?, [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 120.0, 140.0, 160.0, 180.0, 200.0, 220.0]);
    let gradient = rt.gradient(&a)?;
    let expected = [5.0, 5.0, 5.0, 5.0, 95.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 110.0, 125.0, 140.0, 155.0, 80.0, 80.0];
    assert_eq!(rt.values(&gradient)?, expected);
    let divergence = rt.divergence(&gradient)?;
    let expected = [25.0, 20.0, 110.0, 120.0, 125.0, 225.0, -105.0, -65.0, -120.0, -155.0, -80.0, -100.0];
    assert_eq!(rt.values(&divergence)?, expected);
    // The same fluxes extended to all faces sum to the same.
    let all = rt.domain(ALL_FACES)?;
    let fluxes = rt.extend(&gradient, &all)?;
    let divergence = rt.divergence(&fluxes)?;
    assert_eq!(rt.values(&divergence)?, expected);
    Ok(())
}

#[test]
fn volumes_and_areas_of_the_worked_example() -> Result<(), Error> {
    let mut rt = plane([4, 3], [0.5, 0.3]);
    let (cells, faces) = (rt.domain(ALL_CELLS)?, rt.domain(ALL_FACES)?);
    let (cells, faces) = (rt.entities(&cells)?, rt.entities(&faces)?);
    let (volumes, areas) = (rt.measure(&cells)?, rt.measure(&faces)?);
    // Widths are differences of node positions (at most 0.9), each exact to half a unit in the last
    // place: 2^-53, twice.
    let tolerance = 2.0 * f64::EPSILON;
    for volume in rt.values(&volumes)? {
        assert!((volume - 0.15).abs() <= tolerance, "{volume}");
    }
    for (face, area) in rt.values(&areas)?.into_iter().enumerate() {
        let expected = if face < 15 { 0.3 } else { 0.5 };
        assert!((area - expected).abs() <= tolerance, "face {face}: {area}");
    }
    Ok(())
}

#[test]
fn faces_are_added_in_ascending_index() -> Result<(), Error> {
    // One cell; faces left 0, right 1, bottom 2, top 3. The fluxes leave through high sides:
    // -1e16 + 1e16 + 1 = 1. In the order left, bottom, right, top the 1 would be absorbed and the
    // sum be 0.
    let mut rt = plane([1, 1], [1.0, 1.0]);
    let faces = rt.domain(ALL_FACES)?;
    let fluxes = rt.scalar_collection(&faces, vec![1e16, 1e16, -1.0, 0.0])?;
    let sum = rt.divergence(&fluxes)?;
    assert_eq!(rt.values(&sum)?, [1.0]);
    Ok(())
}

#[test]
fn sums_start_at_positive_zero() -> Result<(), Error> {
    let mut rt = line(2, 1.0);
    let faces = rt.domain(ALL_FACES)?;
    let fluxes = rt.scalar_collection(&faces, vec![0.0, -0.0, -0.0])?;
    let sum = rt.divergence(&fluxes)?;
    assert_eq!(bits(&rt.values(&sum)?), bits(&[0.0, 0.0]));
    // Without interior faces nothing is added at all.
    let mut rt = line(1, 1.0);
    let interior = rt.domain(INTERIOR_FACES)?;
    let nothing = rt.scalar_collection(&interior, vec![])?;
    let sum = rt.divergence(&nothing)?;
    assert_eq!(bits(&rt.values(&sum)?), bits(&[0.0]));
    Ok(())
}

#[test]
fn the_domain_decides_not_the_length() -> Result<(), Error> {
    // Two cells: one interior face, 1. A flux of 5 on the subset {0} has the same length as one on
    // InteriorFaces().
    let mut rt = line(2, 1.0);
    let (all, interior) = (rt.domain(ALL_FACES)?, rt.domain(INTERIOR_FACES)?);
    let inflow = Domain::subset("inflow", &all, vec![0])?;
    let on_boundary = rt.scalar_collection(&inflow, vec![5.0])?;
    let on_interior = rt.scalar_collection(&interior, vec![5.0])?;
    let (boundary_sum, interior_sum) = (rt.divergence(&on_boundary)?, rt.divergence(&on_interior)?);
    // Cell 0 is the second cell of face 0, so that a positive flux enters it.
    assert_eq!(rt.values(&boundary_sum)?, [-5.0, 0.0]);
    assert_eq!(rt.values(&interior_sum)?, [5.0, -5.0]);
    Ok(())
}
