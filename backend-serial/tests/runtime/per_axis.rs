//! Collections kept per axis, as the Cartesian forms of kernels make them.

use equelle_runtime::domain::Domain;
use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, ALL_FACES, INTERIOR_FACES, block, line, plane};

#[test]
fn faces_take_the_value_of_their_axis() -> Result<(), Error> {
    // 2 x 1 cells: x-faces 0 1 2, y-faces 3 4 5 6; only face 1 is interior.
    let mut rt = plane([2, 1], [1.0, 1.0]);
    let (faces, interior) = (rt.domain(ALL_FACES)?, rt.domain(INTERIOR_FACES)?);
    let values = [7.0, 8.0, f64::NAN];
    let on_faces = rt.per_axis_collection(&faces, values);
    assert_eq!(rt.values(&on_faces)?, [7.0, 7.0, 7.0, 8.0, 8.0, 8.0, 8.0]);
    let on_interior = rt.per_axis_collection(&interior, values);
    assert_eq!(rt.values(&on_interior)?, [7.0]);
    let some = Domain::subset("some", &faces, vec![2, 3, 6])?;
    let on_some = rt.per_axis_collection(&some, values);
    assert_eq!(rt.values(&on_some)?, [7.0, 8.0, 8.0]);
    Ok(())
}

#[test]
fn in_one_and_three_dimensions() -> Result<(), Error> {
    let mut rt = block([1, 1, 1], [1.0; 3]);
    let faces = rt.domain(ALL_FACES)?;
    let c = rt.per_axis_collection(&faces, [1.0, 2.0, 3.0]);
    assert_eq!(rt.values(&c)?, [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
    let mut rt = line(2, 1.0);
    let faces = rt.domain(ALL_FACES)?;
    let c = rt.per_axis_collection(&faces, [4.0, 0.0, 0.0]);
    assert_eq!(rt.values(&c)?, [4.0; 3]);
    Ok(())
}

#[test]
fn cells_take_the_one_value_and_operations_read_it() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let c = rt.per_axis_collection(&cells, [2.5, 0.0, 0.0]);
    assert_eq!(c.per_axis(), Some([2.5, 0.0, 0.0]));
    let u = rt.scalar_collection(&cells, vec![1.0, 2.0, 3.0])?;
    assert_eq!(u.per_axis(), None);
    let product = rt.mul(&c, &u)?;
    assert_eq!(rt.values(&product)?, [2.5, 5.0, 7.5]);
    assert_eq!(rt.reduce(Reduction::Sum, &c)?, 7.5);
    Ok(())
}
