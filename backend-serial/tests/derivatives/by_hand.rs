//! Exact Jacobians of small cases. Values are powers of two where a quotient or root is taken, so
//! every answer is exact.

use equelle_runtime::grid::Cartesian;
use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, ALL_FACES, BOUNDARY_CELLS, INTERIOR_FACES, cartesian, cells_of, line, rows, unknown_on_cells};

#[test]
fn an_unknown_is_its_own_derivative_at_its_columns() -> Result<(), Error> {
    let mut rt = line(2);
    let cells = rt.domain(ALL_CELLS)?;
    let values = rt.scalar_collection(&cells, vec![3.0, 5.0])?;
    assert!(rt.jacobian(&values).is_none());
    let u = rt.unknown(&values, 4, 7)?;
    let jacobian = rt.jacobian(&u).expect("an unknown has derivatives");
    assert_eq!((jacobian.n_rows(), jacobian.n_cols()), (2, 7));
    assert_eq!((jacobian.row_ptr(), jacobian.col_idx(), jacobian.values()), (&[0, 1, 2][..], &[4, 5][..], &[1.0, 1.0][..]));
    assert_eq!(rt.values(&u)?, [3.0, 5.0]);
    let stripped = rt.without_derivatives(&u);
    assert!(stripped.jacobian().is_none());
    assert_eq!(rt.values(&stripped)?, [3.0, 5.0]);
    Ok(())
}

#[test]
fn arithmetic_of_two_unknowns() -> Result<(), Error> {
    // p = (2, -8), s = (4, 16); columns 0 1 of p, 2 3 of s.
    let mut rt = line(2);
    let cells = rt.domain(ALL_CELLS)?;
    let p = rt.scalar_collection(&cells, vec![2.0, -8.0])?;
    let s = rt.scalar_collection(&cells, vec![4.0, 16.0])?;
    let (p, s) = (rt.unknown(&p, 0, 4)?, rt.unknown(&s, 2, 4)?);
    let results = [rt.add(&p, &s)?, rt.sub(&p, &s)?, rt.mul(&p, &s)?, rt.div(&p, &s)?];
    let expected = [
        [[(0, 1.0), (2, 1.0)], [(1, 1.0), (3, 1.0)]],
        [[(0, 1.0), (2, -1.0)], [(1, 1.0), (3, -1.0)]],
        [[(0, 4.0), (2, 2.0)], [(1, 16.0), (3, -8.0)]],
        // 1/s and -p/s^2: -2/16, 8/256.
        [[(0, 0.25), (2, -0.125)], [(1, 0.0625), (3, 0.03125)]],
    ];
    for (result, expected) in results.iter().zip(&expected) {
        assert_eq!(rows(result), expected);
    }
    Ok(())
}

#[test]
fn arithmetic_with_constants_and_scalars() -> Result<(), Error> {
    let mut rt = line(2);
    let u = unknown_on_cells(&mut rt, &[2.0, -4.0])?;
    let cells = rt.domain(ALL_CELLS)?;
    let c = rt.scalar_collection(&cells, vec![8.0, 0.5])?;
    let results = [
        (rt.add(&u, &c)?, [1.0, 1.0]),
        (rt.add(&c, &u)?, [1.0, 1.0]),
        (rt.sub(&u, &c)?, [1.0, 1.0]),
        (rt.sub(&c, &u)?, [-1.0, -1.0]),
        (rt.mul(&u, &c)?, [8.0, 0.5]),
        (rt.mul(&c, &u)?, [8.0, 0.5]),
        (rt.div(&u, &c)?, [0.125, 2.0]),
        // -c/u^2: -8/4, -0.5/16.
        (rt.div(&c, &u)?, [-2.0, -0.03125]),
        (rt.mul(&u, &3.0)?, [3.0, 3.0]),
        (rt.mul(&3.0, &u)?, [3.0, 3.0]),
        (rt.div(&u, &4.0)?, [0.25, 0.25]),
        (rt.div(&8.0, &u)?, [-2.0, -0.5]),
        (rt.neg(&u)?, [-1.0, -1.0]),
    ];
    for (number, (result, expected)) in results.iter().enumerate() {
        assert_eq!(rows(result), [[(0, expected[0])], [(1, expected[1])]], "result {number}");
    }
    Ok(())
}

#[test]
fn magnitude_and_square_root() -> Result<(), Error> {
    let mut rt = line(4);
    let u = unknown_on_cells(&mut rt, &[-2.0, 0.0, -0.0, 3.0])?;
    let magnitude = rt.abs(&u)?;
    assert_eq!(rows(&magnitude), [[(0, -1.0)], [(1, 1.0)], [(2, 1.0)], [(3, 1.0)]], "+1 at both zeros");
    let v = unknown_on_cells(&mut rt, &[4.0, 0.25, 16.0, 0.0])?;
    let root = rt.sqrt(&v)?;
    assert_eq!(rows(&root), [[(0, 0.25)], [(1, 1.0)], [(2, 0.125)], [(3, f64::INFINITY)]]);
    Ok(())
}

#[test]
fn two_cells() -> Result<(), Error> {
    let mut rt = line(2);
    let u = unknown_on_cells(&mut rt, &[3.0, 5.0])?;
    let gradient = rt.gradient(&u)?;
    assert_eq!(rows(&gradient), [[(0, -1.0), (1, 1.0)]]);
    // (u1 - u0)^2 leaves cell 0: derivative 2 (u1 - u0) = 4 by u1.
    let square = rt.mul(&gradient, &gradient)?;
    assert_eq!(rows(&square), [[(0, -4.0), (1, 4.0)]]);
    let divergence = rt.divergence(&square)?;
    assert_eq!(rows(&divergence), [[(0, -4.0), (1, 4.0)], [(0, 4.0), (1, -4.0)]]);
    assert_eq!(rt.values(&divergence)?, [4.0, -4.0]);
    Ok(())
}

/// Squares of 3, 1 and 2. Cell 0 sees that of cell 1, cell 1 those of cells 0 and 2, cell 2 that of
/// cell 1.
#[test]
fn reductions_over_faces() -> Result<(), Error> {
    let mut rt = line(3);
    let u = unknown_on_cells(&mut rt, &[3.0, 1.0, 2.0])?;
    let square = rt.mul(&u, &u)?;
    let interior = rt.domain(INTERIOR_FACES)?;
    let faces = rt.entities(&interior)?;
    let (first, second) = (rt.first_cell(&faces)?, rt.second_cell(&faces)?);
    let (of_first, of_second) = (rt.on(&square, &first)?, rt.on(&square, &second)?);
    let sum = rt.face_reduce(FaceReduction::Sum, &of_second, &of_first)?;
    assert_eq!(rt.values(&sum)?, [1.0, 13.0, 1.0]);
    assert_eq!(rows(&sum), [vec![(1, 2.0)], vec![(0, 6.0), (2, 4.0)], vec![(1, 2.0)]]);
    let largest = rt.face_reduce(FaceReduction::Max, &of_second, &of_first)?;
    assert_eq!(rt.values(&largest)?, [1.0, 9.0, 1.0]);
    assert_eq!(rows(&largest), [[(1, 2.0)], [(0, 6.0)], [(1, 2.0)]]);
    let smallest = rt.face_reduce(FaceReduction::Min, &of_second, &of_first)?;
    assert_eq!(rt.values(&smallest)?, [1.0, 4.0, 1.0]);
    assert_eq!(rows(&smallest), [[(1, 2.0)], [(2, 4.0)], [(1, 2.0)]]);
    // The first of equal ones wins: cell 1 meets face 1, where it is second, before face 2.
    let same = unknown_on_cells(&mut rt, &[5.0, 5.0, 5.0])?;
    let (of_first, of_second) = (rt.on(&same, &first)?, rt.on(&same, &second)?);
    let largest = rt.face_reduce(FaceReduction::Max, &of_second, &of_first)?;
    assert_eq!(rows(&largest), [[(1, 1.0)], [(0, 1.0)], [(1, 1.0)]]);
    // One side alone depends on the unknown.
    let constant = rt.scalar_collection(&interior, vec![0.0, 7.0])?;
    let mixed = rt.face_reduce(FaceReduction::Max, &constant, &of_first)?;
    assert_eq!(rt.values(&mixed)?, [0.0, 7.0, 5.0]);
    assert_eq!(rows(&mixed), [vec![], vec![], vec![(1, 1.0)]]);
    Ok(())
}

#[test]
fn poisson_in_three_cells() -> Result<(), Error> {
    let mut rt = line(3);
    let u = unknown_on_cells(&mut rt, &[1.0, 4.0, 9.0])?;
    let expected = vec![vec![(0, 1.0), (1, -1.0)], vec![(0, -1.0), (1, 2.0), (2, -1.0)], vec![(1, -1.0), (2, 1.0)]];
    let gradient = rt.gradient(&u)?;
    let flux = rt.neg(&gradient)?;
    let outflow = rt.divergence(&flux)?;
    assert_eq!(rows(&outflow), expected);
    // Extended to all faces, the boundary adds nothing.
    let faces = rt.domain(ALL_FACES)?;
    let flux = rt.extend(&flux, &faces)?;
    assert_eq!(rows(&flux), [vec![], vec![(0, 1.0), (1, -1.0)], vec![(1, 1.0), (2, -1.0)], vec![]]);
    let outflow = rt.divergence(&flux)?;
    assert_eq!(rows(&outflow), expected);
    Ok(())
}

#[test]
fn divergence_adds_in_ascending_face_index() -> Result<(), Error> {
    // One cell, faces left 0, right 1, bottom 2, top 3, all fluxes multiples of u: the sum of
    // derivatives is that of the values, -1e16 + 1e16 + 1 = 1, and in another order 0 or 2.
    let mut rt = cartesian(Cartesian::plane([1, 1], [1.0, 1.0]));
    let u = unknown_on_cells(&mut rt, &[1.0])?;
    let faces = rt.domain(ALL_FACES)?;
    let at_faces = rt.entity_collection(&faces, EntityKind::Cell, vec![Some(0); 4])?;
    let at_faces = rt.on(&u, &at_faces)?;
    let factors = rt.scalar_collection(&faces, vec![1e16, 1e16, -1.0, 0.0])?;
    let fluxes = rt.mul(&factors, &at_faces)?;
    let sum = rt.divergence(&fluxes)?;
    assert_eq!((rt.values(&sum)?, rows(&sum)), (vec![1.0], vec![vec![(0, 1.0)]]));
    Ok(())
}

#[test]
fn on_repeats_and_leaves_out_rows() -> Result<(), Error> {
    let mut rt = line(3);
    let u = unknown_on_cells(&mut rt, &[1.0, 2.0, 3.0])?;
    let square = rt.mul(&u, &u)?;
    let faces = rt.domain(ALL_FACES)?;
    let target = rt.entity_collection(&faces, EntityKind::Cell, vec![Some(2), Some(0), Some(2), Some(2)])?;
    let on = rt.on(&square, &target)?;
    assert_eq!(rows(&on), [[(2, 6.0)], [(0, 2.0)], [(2, 6.0)], [(2, 6.0)]]);
    Ok(())
}

#[test]
fn on_and_extend_between_subsets() -> Result<(), Error> {
    // Boundary cells of 4 are 0 and 3: data kept there has rows 0 and 1.
    let mut rt = line(4);
    let u = unknown_on_cells(&mut rt, &[1.0, 2.0, 3.0, 4.0])?;
    let (all, boundary) = (rt.domain(ALL_CELLS)?, rt.domain(BOUNDARY_CELLS)?);
    let at_boundary = rt.entities(&boundary)?;
    let restricted = rt.on(&u, &at_boundary)?;
    assert_eq!(rows(&restricted), [[(0, 1.0)], [(3, 1.0)]]);
    let doubled = rt.mul(&restricted, &2.0)?;
    let extended = rt.extend(&doubled, &all)?;
    assert_eq!(rows(&extended), [vec![(0, 2.0)], vec![], vec![], vec![(3, 2.0)]]);
    assert_eq!(rt.values(&extended)?, [2.0, 0.0, 0.0, 8.0]);
    // From the subset again, in another order and repeated.
    let interior = rt.domain(INTERIOR_FACES)?;
    let target = rt.entity_collection(&interior, EntityKind::Cell, vec![Some(3), Some(0), Some(3)])?;
    let again = rt.on(&doubled, &target)?;
    assert_eq!(rows(&again), [[(3, 2.0)], [(0, 2.0)], [(3, 2.0)]]);
    // To its own domain nothing changes.
    let same = rt.extend(&doubled, &boundary)?;
    assert_eq!(rows(&same), rows(&doubled));
    Ok(())
}

#[test]
fn upwinding_by_values_and_by_entities() -> Result<(), Error> {
    // Three cells, flow to the right through face 1 and to the left through face 2: upstream are
    // cells 0 and 2.
    let mut rt = line(3);
    let u = unknown_on_cells(&mut rt, &[1.0, 2.0, 3.0])?;
    let square = rt.mul(&u, &u)?;
    let interior = rt.domain(INTERIOR_FACES)?;
    let velocity = rt.scalar_collection(&interior, vec![1.0, -1.0])?;
    let rightwards = rt.compare(Comparison::Greater, &velocity, &0.0)?;
    let [first, second] = cells_of(&mut rt, INTERIOR_FACES)?;
    let (at_first, at_second) = (rt.on(&square, &first)?, rt.on(&square, &second)?);
    let by_values = rt.select(&rightwards, &at_first, &at_second)?;
    assert_eq!(rt.values(&by_values)?, [1.0, 9.0]);
    assert_eq!(rows(&by_values), [[(0, 2.0), (1, 0.0)], [(1, 0.0), (2, 6.0)]], "both branches are in the pattern");
    let upstream = rt.select(&rightwards, &first, &second)?;
    let by_entities = rt.on(&square, &upstream)?;
    assert_eq!(rt.values(&by_entities)?, [1.0, 9.0]);
    assert_eq!(rows(&by_entities), [[(0, 2.0)], [(2, 6.0)]], "only the entity chosen is");
    let flux = rt.mul(&velocity, &by_values)?;
    let outflow = rt.divergence(&flux)?;
    assert_eq!(rows(&outflow), [vec![(0, 2.0), (1, 0.0)], vec![(0, -2.0), (1, 0.0), (2, -6.0)], vec![(1, 0.0), (2, 6.0)]]);
    Ok(())
}

#[test]
fn coefficients_kept_per_axis() -> Result<(), Error> {
    // Interior faces of 2 x 2 cells: x-faces between 0|1 and 2|3, y-faces between 0|2 and 1|3.
    let mut rt = cartesian(Cartesian::plane([2, 2], [1.0, 1.0]));
    let u = unknown_on_cells(&mut rt, &[1.0, 2.0, 4.0, 8.0])?;
    let interior = rt.domain(INTERIOR_FACES)?;
    let coefficient = rt.per_axis_collection(&interior, [2.0, 3.0, f64::NAN]);
    let gradient = rt.gradient(&u)?;
    let flux = rt.mul(&coefficient, &gradient)?;
    assert_eq!(rows(&flux), [[(0, -2.0), (1, 2.0)], [(2, -2.0), (3, 2.0)], [(0, -3.0), (2, 3.0)], [(1, -3.0), (3, 3.0)]]);
    Ok(())
}

#[test]
fn an_unknown_kept_as_one_value_is_spread() -> Result<(), Error> {
    let mut rt = line(2);
    let cells = rt.domain(ALL_CELLS)?;
    let uniform = rt.per_axis_collection(&cells, [3.0, f64::NAN, f64::NAN]);
    let u = rt.unknown(&uniform, 0, 2)?;
    assert!(u.per_axis().is_none());
    assert_eq!((rt.values(&u)?, rows(&u)), (vec![3.0, 3.0], vec![vec![(0, 1.0)], vec![(1, 1.0)]]));
    Ok(())
}

#[test]
fn what_has_no_derivatives() -> Result<(), Error> {
    let mut rt = line(2);
    let u = unknown_on_cells(&mut rt, &[3.0, 5.0])?;
    let cells = rt.domain(ALL_CELLS)?;
    let largest = rt.reduce(Reduction::Max, &u)?;
    let broadcast = rt.broadcast(&largest, &cells)?;
    assert!(broadcast.jacobian().is_none(), "a reduction drops derivatives");
    let greater = rt.compare(Comparison::Greater, &u, &4.0)?;
    let (one, two) = (rt.broadcast(&1.0, &cells)?, rt.broadcast(&2.0, &cells)?);
    let chosen = rt.select(&greater, &one, &two)?;
    assert!(chosen.jacobian().is_none(), "a condition has none to pass on");
    let values = rt.values(&u)?;
    let back = rt.scalar_collection(&cells, values)?;
    assert!(back.jacobian().is_none());
    // u / max(u): only the numerator counts.
    let scaled = rt.div(&u, &largest)?;
    assert_eq!(rows(&scaled), [[(0, 0.2)], [(1, 0.2)]]);
    Ok(())
}
