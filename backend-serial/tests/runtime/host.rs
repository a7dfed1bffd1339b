//! Values in and out of plain vectors.

use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, failure, line, plane};

#[test]
fn what_goes_in_comes_out() -> Result<(), Error> {
    let mut rt = plane([2, 1], [1.0, 1.0]);
    let cells = rt.domain(ALL_CELLS)?;
    let scalars = rt.scalar_collection(&cells, vec![1.0, -0.0])?;
    assert!(rt.values(&scalars)?[1].is_sign_negative());
    let vectors = rt.vector_collection(&cells, vec![vec![1.0, 2.0], vec![3.0, 4.0]])?;
    assert_eq!(rt.vectors(&vectors)?, [[1.0, 2.0], [3.0, 4.0]]);
    let bools = rt.bool_collection(&cells, vec![true, false])?;
    assert_eq!(rt.bools(&bools)?, [true, false]);
    let entities = rt.entity_collection(&cells, EntityKind::Cell, vec![None, Some(0)])?;
    assert_eq!(rt.entity_indices(&entities)?, [None, Some(0)]);
    assert_eq!(rt.domain_elements(&cells)?, [0, 1]);
    assert_eq!(HostAccess::grid(&rt).n_cells(), 2);
    Ok(())
}

#[test]
fn a_wrong_number_of_values_is_refused() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    rt.line(2);
    for error in [
        failure(rt.scalar_collection(&cells, vec![1.0; 2])),
        failure(rt.vector_collection(&cells, vec![vec![1.0; 4]])),
        failure(rt.bool_collection(&cells, vec![])),
        failure(rt.entity_collection(&cells, EntityKind::Cell, vec![None; 5])),
    ] {
        assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Data, &[2][..]));
        assert!(error.message.contains("3 elements"), "{}", error.message);
    }
    let error = failure(rt.vector_collection(&cells, vec![vec![0.0; 3]; 2]));
    assert!(error.message.contains("2 components") && error.message.contains("dimension 1"), "{}", error.message);
    Ok(())
}

#[test]
fn an_index_beyond_the_grid_is_an_error_where_it_is_used() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let u = rt.scalar_collection(&cells, vec![1.0, 2.0, 3.0])?;
    let target = rt.entity_collection(&cells, EntityKind::Cell, vec![Some(0), Some(99), Some(1)])?;
    let on = failure(rt.on(&u, &target));
    let measure = failure(rt.measure(&target));
    for error in [on, measure] {
        assert_eq!(error.kind, ErrorKind::Simulation);
        assert!(error.message.contains("cell 99"), "{}", error.message);
    }
    Ok(())
}
