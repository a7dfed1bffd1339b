//! `On`, `Extend` and what they refuse.

use equelle_runtime::domain::Domain;
use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, ALL_FACES, BOUNDARY_FACES, INTERIOR_FACES, failure, line, plane};

#[test]
fn on_gathers_and_may_repeat() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let (cells, interior) = (rt.domain(ALL_CELLS)?, rt.domain(INTERIOR_FACES)?);
    let u = rt.scalar_collection(&cells, vec![10.0, 20.0, 30.0])?;
    let faces = rt.entities(&interior)?;
    let (first, second) = (rt.first_cell(&faces)?, rt.second_cell(&faces)?);
    let (u1, u2) = (rt.on(&u, &first)?, rt.on(&u, &second)?);
    assert_eq!(rt.values(&u1)?, [10.0, 20.0]);
    assert_eq!(rt.values(&u2)?, [20.0, 30.0]);
    let target = rt.entity_collection(&interior, EntityKind::Cell, vec![Some(2), Some(2)])?;
    let repeated = rt.on(&u, &target)?;
    assert_eq!(rt.values(&repeated)?, [30.0, 30.0]);
    Ok(())
}

#[test]
fn on_counts_positions_in_the_domain_of_the_data() -> Result<(), Error> {
    // Data on faces {1, 3} of 5; face 3 is its second element.
    let mut rt = line(4, 1.0);
    let faces = rt.domain(ALL_FACES)?;
    let some = Domain::subset("some", &faces, vec![1, 3])?;
    let data = rt.scalar_collection(&some, vec![7.0, 8.0])?;
    let one = Domain::subset("one", &some, vec![3])?;
    let target = rt.entities(&one)?;
    let result = rt.on(&data, &target)?;
    assert_eq!(rt.values(&result)?, [8.0]);
    assert_eq!(result.domain().elements(), [3]);
    Ok(())
}

#[test]
fn on_vectors_truth_values_and_entities() -> Result<(), Error> {
    let mut rt = plane([2, 1], [1.0, 1.0]);
    let (cells, interior) = (rt.domain(ALL_CELLS)?, rt.domain(INTERIOR_FACES)?);
    let target = rt.entities(&interior)?;
    let target = rt.second_cell(&target)?;
    let vectors = rt.vector_collection(&cells, vec![vec![1.0, 2.0], vec![3.0, 4.0]])?;
    let vectors = rt.on(&vectors, &target)?;
    assert_eq!(rt.vectors(&vectors)?, [[2.0], [4.0]]);
    let bools = rt.bool_collection(&cells, vec![false, true])?;
    let bools = rt.on(&bools, &target)?;
    assert_eq!(rt.bools(&bools)?, [true]);
    // Empty data is a value; only an Empty target is an error.
    let entities = rt.entity_collection(&cells, EntityKind::Face, vec![Some(0), None])?;
    let entities = rt.on(&entities, &target)?;
    assert_eq!(rt.entity_indices(&entities)?, [None]);
    Ok(())
}

#[test]
fn on_an_empty_element_names_the_first_one_and_the_line() -> Result<(), Error> {
    let mut rt = plane([2, 1], [1.0, 1.0]);
    let (cells, boundary) = (rt.domain(ALL_CELLS)?, rt.domain(BOUNDARY_FACES)?);
    let faces = rt.entities(&boundary)?;
    let target = rt.second_cell(&faces)?;
    let u = rt.scalar_collection(&cells, vec![1.0, 2.0])?;
    let v = rt.vector_collection(&cells, vec![vec![1.0, 2.0], vec![3.0, 4.0]])?;
    let b = rt.bool_collection(&cells, vec![true, false])?;
    let e = rt.entities(&cells)?;
    rt.line(33);
    for error in [failure(rt.on(&u, &target)), failure(rt.on(&v, &target)), failure(rt.on(&b, &target)), failure(rt.on(&e, &target))] {
        assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Simulation, &[33][..]));
        // Boundary faces 0 2 3 4 5 6; the right end, face 2, is the first without a second cell.
        assert!(error.message.ends_with("face 2") && error.message.contains("Empty"), "{}", error.message);
        assert!(error.hint.is_some());
    }
    Ok(())
}

#[test]
fn on_outside_the_domain_of_the_data_is_an_error() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let (faces, interior) = (rt.domain(ALL_FACES)?, rt.domain(INTERIOR_FACES)?);
    let data = rt.scalar_collection(&interior, vec![1.0, 2.0])?;
    let target = rt.entities(&faces)?;
    rt.line(4);
    let error = failure(rt.on(&data, &target));
    assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Simulation, &[4][..]));
    assert!(error.message.contains("face 0"), "{}", error.message);
    Ok(())
}

#[test]
fn extend_pads_with_zero_false_and_empty() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let (faces, interior) = (rt.domain(ALL_FACES)?, rt.domain(INTERIOR_FACES)?);
    let scalars = rt.scalar_collection(&interior, vec![1.0, 2.0])?;
    let scalars = rt.extend(&scalars, &faces)?;
    assert_eq!(rt.values(&scalars)?, [0.0, 1.0, 2.0, 0.0]);
    let vectors = rt.vector_collection(&interior, vec![vec![1.0, 2.0]])?;
    let vectors = rt.extend(&vectors, &faces)?;
    assert_eq!(rt.vectors(&vectors)?, [[0.0, 1.0, 2.0, 0.0]]);
    let bools = rt.bool_collection(&interior, vec![true, true])?;
    let bools = rt.extend(&bools, &faces)?;
    assert_eq!(rt.bools(&bools)?, [false, true, true, false]);
    let entities = rt.entities(&interior)?;
    let entities = rt.extend(&entities, &faces)?;
    assert_eq!(rt.entity_indices(&entities)?, [None, Some(1), Some(2), None]);
    Ok(())
}

#[test]
fn extend_places_a_subset_in_a_subset() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let boundary = rt.domain(BOUNDARY_FACES)?;
    let right = Domain::subset("right", &boundary, vec![3])?;
    let data = rt.scalar_collection(&right, vec![9.0])?;
    let result = rt.extend(&data, &boundary)?;
    assert_eq!(rt.values(&result)?, [0.0, 9.0]);
    // A buffer that held other values before is padded all the same.
    drop(result);
    let result = rt.extend(&data, &boundary)?;
    assert_eq!(rt.values(&result)?, [0.0, 9.0]);
    Ok(())
}

#[test]
fn extend_to_the_same_set_is_the_identity() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let faces = rt.domain(ALL_FACES)?;
    let data = rt.scalar_collection(&faces, vec![1.0, f64::NAN, -0.0, 4.0])?;
    let allocated = rt.buffer_counters();
    let same = rt.extend(&data, &faces)?;
    assert_eq!(rt.buffer_counters(), allocated, "the values are shared");
    let values = rt.values(&same)?;
    assert!(values[1].is_nan() && values[2].is_sign_negative());
    Ok(())
}

#[test]
fn extend_beyond_the_larger_domain_is_an_error() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let (boundary, interior) = (rt.domain(BOUNDARY_FACES)?, rt.domain(INTERIOR_FACES)?);
    let data = rt.scalar_collection(&interior, vec![1.0, 2.0])?;
    rt.line(6);
    let error = failure(rt.extend(&data, &boundary));
    assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Simulation, &[6][..]));
    assert!(error.message.contains("face 1"), "{}", error.message);
    Ok(())
}

#[test]
fn spread_is_one_value_everywhere() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let five = rt.broadcast(&5.0, &cells)?;
    assert_eq!(rt.values(&five)?, [5.0; 3]);
    Ok(())
}
