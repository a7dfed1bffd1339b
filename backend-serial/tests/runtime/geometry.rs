//! Relations and geometry in one, two and three dimensions.

use backend_serial::runtime::SerialRuntime;
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, ALL_FACES, BOUNDARY_FACES, INTERIOR_FACES, block, failure, line, plane, runtime, session, unstructured};

const INTERIOR_CELLS: CanonicalSet = CanonicalSet { kind: EntityKind::Cell, extent: Extent::Interior };
const ALL_EDGES: CanonicalSet = CanonicalSet { kind: EntityKind::Edge, extent: Extent::All };
const ALL_VERTICES: CanonicalSet = CanonicalSet { kind: EntityKind::Vertex, extent: Extent::All };
const BOUNDARY_CELLS: CanonicalSet = CanonicalSet { kind: EntityKind::Cell, extent: Extent::Boundary };

fn elements(rt: &mut SerialRuntime, set: CanonicalSet) -> Result<Vec<u32>, Error> {
    let domain = rt.domain(set)?;
    rt.domain_elements(&domain)
}

/// First and second cells of all faces.
fn cells_of_faces(rt: &mut SerialRuntime) -> Result<[Vec<Option<u32>>; 2], Error> {
    let faces = rt.domain(ALL_FACES)?;
    let faces = rt.entities(&faces)?;
    let (first, second) = (rt.first_cell(&faces)?, rt.second_cell(&faces)?);
    Ok([rt.entity_indices(&first)?, rt.entity_indices(&second)?])
}

/// Measures, centroids of a canonical set.
fn measures_and_centroids(rt: &mut SerialRuntime, set: CanonicalSet) -> Result<(Vec<f64>, Vec<Vec<f64>>), Error> {
    let domain = rt.domain(set)?;
    let entities = rt.entities(&domain)?;
    let (measure, centroid) = (rt.measure(&entities)?, rt.centroid(&entities)?);
    Ok((rt.values(&measure)?, rt.vectors(&centroid)?))
}

fn normals(rt: &mut SerialRuntime) -> Result<Vec<Vec<f64>>, Error> {
    let faces = rt.domain(ALL_FACES)?;
    let faces = rt.entities(&faces)?;
    let normal = rt.normal(&faces)?;
    rt.vectors(&normal)
}

#[test]
fn one_dimension() -> Result<(), Error> {
    let mut rt = line(3, 0.5);
    assert_eq!(elements(&mut rt, ALL_FACES)?, [0, 1, 2, 3]);
    assert_eq!(elements(&mut rt, INTERIOR_FACES)?, [1, 2]);
    assert_eq!(elements(&mut rt, BOUNDARY_FACES)?, [0, 3]);
    assert_eq!(elements(&mut rt, BOUNDARY_CELLS)?, [0, 2]);
    assert_eq!(elements(&mut rt, INTERIOR_CELLS)?, [1]);
    assert_eq!(cells_of_faces(&mut rt)?, [[None, Some(0), Some(1), Some(2)], [Some(0), Some(1), Some(2), None]]);
    let (lengths, centroids) = measures_and_centroids(&mut rt, ALL_CELLS)?;
    assert_eq!(lengths, [0.5; 3]);
    assert_eq!(centroids, [[0.25, 0.75, 1.25]]);
    let (areas, centroids) = measures_and_centroids(&mut rt, ALL_FACES)?;
    assert_eq!(areas, [1.0; 4]);
    assert_eq!(centroids, [[0.0, 0.5, 1.0, 1.5]]);
    assert_eq!(normals(&mut rt)?, [[1.0; 4]]);
    Ok(())
}

#[test]
fn two_dimensions() -> Result<(), Error> {
    // 2 x 1 cells of 0.5 x 0.25: x-faces 0 1 2, then y-faces 3 4 (bottom) 5 6 (top).
    let mut rt = plane([2, 1], [0.5, 0.25]);
    assert_eq!(elements(&mut rt, INTERIOR_FACES)?, [1]);
    assert_eq!(
        cells_of_faces(&mut rt)?,
        [[None, Some(0), Some(1), None, None, Some(0), Some(1)], [Some(0), Some(1), None, Some(0), Some(1), None, None]]
    );
    let (areas, centroids) = measures_and_centroids(&mut rt, ALL_FACES)?;
    assert_eq!(areas, [0.25, 0.25, 0.25, 0.5, 0.5, 0.5, 0.5]);
    assert_eq!(centroids, [[0.0, 0.5, 1.0, 0.25, 0.75, 0.25, 0.75], [0.125, 0.125, 0.125, 0.0, 0.0, 0.25, 0.25]]);
    let (volumes, centroids) = measures_and_centroids(&mut rt, ALL_CELLS)?;
    assert_eq!(volumes, [0.125; 2]);
    assert_eq!(centroids, [[0.25, 0.75], [0.125, 0.125]]);
    // All along positive axes, on the low boundary too.
    assert_eq!(normals(&mut rt)?, [[1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]]);
    Ok(())
}

#[test]
fn three_dimensions() -> Result<(), Error> {
    // One cell of 0.5 x 2 x 4: faces x low, x high, y low, y high, z low, z high.
    let mut rt = block([1, 1, 1], [0.5, 2.0, 4.0]);
    let (volumes, centroids) = measures_and_centroids(&mut rt, ALL_CELLS)?;
    assert_eq!(volumes, [4.0]);
    assert_eq!(centroids, [[0.25], [1.0], [2.0]]);
    let (areas, centroids) = measures_and_centroids(&mut rt, ALL_FACES)?;
    assert_eq!(areas, [8.0, 8.0, 2.0, 2.0, 1.0, 1.0]);
    assert_eq!(centroids, [[0.0, 0.5, 0.25, 0.25, 0.25, 0.25], [1.0, 1.0, 0.0, 2.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0, 0.0, 4.0]]);
    assert_eq!(normals(&mut rt)?, [[1.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]]);
    assert_eq!(elements(&mut rt, INTERIOR_FACES)?, [0u32; 0]);
    Ok(())
}

#[test]
fn the_entities_of_a_domain_are_made_once() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let faces = rt.domain(INTERIOR_FACES)?;
    let first = rt.entities(&faces)?;
    let allocated = rt.buffer_counters().allocated;
    let again = rt.domain(INTERIOR_FACES)?;
    let second = rt.entities(&again)?;
    assert_eq!(rt.buffer_counters().allocated, allocated);
    assert_eq!(rt.entity_indices(&first)?, [Some(1), Some(2)]);
    assert_eq!(rt.entity_indices(&second)?, [Some(1), Some(2)]);
    Ok(())
}

#[test]
fn which_cells_are_empty() -> Result<(), Error> {
    let mut rt = line(2, 1.0);
    let faces = rt.domain(ALL_FACES)?;
    let faces = rt.entities(&faces)?;
    let second = rt.second_cell(&faces)?;
    let empty = rt.is_empty(&second)?;
    assert_eq!(rt.bools(&empty)?, [false, false, true]);
    Ok(())
}

#[test]
fn an_empty_entity_has_no_geometry_and_the_message_says_which() -> Result<(), Error> {
    let mut rt = line(2, 1.0);
    let faces = rt.domain(ALL_FACES)?;
    let faces = rt.entities(&faces)?;
    let second = rt.second_cell(&faces)?;
    rt.line(21);
    for (error, what) in [(failure(rt.measure(&second)), "measure"), (failure(rt.centroid(&second)), "centroid")] {
        assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Simulation, &[21][..]));
        assert!(error.message.contains(what) && error.message.contains("face 2"), "{}", error.message);
    }
    Ok(())
}

#[test]
fn faces_with_one_cell() -> Result<(), Error> {
    let mut rt = line(2, 1.0);
    let boundary = rt.domain(BOUNDARY_FACES)?;
    let boundary = rt.entities(&boundary)?;
    let same = rt.one_cell(&boundary)?;
    assert_eq!(rt.entity_indices(&same)?, [Some(0), Some(2)]);
    let faces = rt.domain(ALL_FACES)?;
    let faces = rt.entities(&faces)?;
    rt.line(7);
    let error = failure(rt.one_cell(&faces));
    assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Simulation, &[7][..]));
    assert!(error.message.ends_with("the one that belongs to face 1"), "{}", error.message);
    Ok(())
}

#[test]
fn only_faces_have_cells_and_normals() -> Result<(), Error> {
    let mut rt = line(2, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let cells = rt.entities(&cells)?;
    rt.line(5);
    for error in [failure(rt.first_cell(&cells)), failure(rt.second_cell(&cells)), failure(rt.normal(&cells))] {
        assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Backend, &[5][..]));
    }
    Ok(())
}

/// A block of 2 x 1 x 1 cells, treated as a Cartesian one and as any other: 12 vertices; edges 2 *
/// 2 * 2 along x, 3 * 2 along y and along z.
#[test]
fn edges_and_vertices() -> Result<(), Error> {
    let shape = Cartesian::block([2, 1, 1], [0.5, 2.0, 4.0]);
    for mut rt in [runtime(shape), unstructured(shape)] {
        let (lengths, centroids) = measures_and_centroids(&mut rt, ALL_EDGES)?;
        assert_eq!(lengths, [[0.5; 8].as_slice(), &[2.0; 6], &[4.0; 6]].concat());
        // Edge 7 is the last one along x, 8 the first along y, 19 the last along z.
        assert_eq!(
            [7, 8, 19].map(|edge| [0, 1, 2].map(|axis: usize| centroids[axis][edge])),
            [[0.75, 2.0, 4.0], [0.0, 1.0, 0.0], [1.0, 2.0, 2.0]]
        );
        let (ones, positions) = measures_and_centroids(&mut rt, ALL_VERTICES)?;
        assert_eq!(ones, [1.0; 12]);
        assert_eq!([1, 11].map(|vertex| [0, 1, 2].map(|axis: usize| positions[axis][vertex])), [[0.5, 0.0, 0.0], [1.0, 2.0, 4.0]]);
        // With one layer of cells everything is on the boundary.
        for (kind, n) in [(EntityKind::Edge, 20), (EntityKind::Vertex, 12)] {
            assert_eq!(elements(&mut rt, CanonicalSet { kind, extent: Extent::Interior })?, [0u32; 0]);
            assert_eq!(elements(&mut rt, CanonicalSet { kind, extent: Extent::Boundary })?.len(), n);
        }
    }
    Ok(())
}

#[test]
fn an_empty_edge_or_vertex_has_no_geometry() -> Result<(), Error> {
    let mut rt = plane([2, 2], [1.0, 1.0]);
    for (kind, all, what, first) in [(EntityKind::Edge, ALL_EDGES, "edge", "0"), (EntityKind::Vertex, ALL_VERTICES, "vertex", "0")] {
        let interior = rt.domain(CanonicalSet { kind, extent: Extent::Interior })?;
        let interior = rt.entities(&interior)?;
        let all = rt.domain(all)?;
        let padded = rt.extend(&interior, &all)?;
        rt.line(8);
        for error in [failure(rt.measure(&padded)), failure(rt.centroid(&padded))] {
            assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Simulation, &[8][..]));
            assert!(error.message.contains(&format!("an Empty {what} has no")) && error.message.ends_with(first), "{}", error.message);
        }
    }
    Ok(())
}

#[test]
fn a_grid_without_nodes_says_so() -> Result<(), Error> {
    let block = Grid::cartesian(Cartesian::block([1, 1, 1], [1.0; 3]))?;
    let grid = Grid::unstructured(3, block.topology().clone(), block.geometry().clone())?;
    let mut rt = SerialRuntime::new(session(grid));
    rt.line(5);
    for set in [ALL_EDGES, ALL_VERTICES] {
        let error = failure(rt.domain(set));
        assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Data, &[5][..]));
    }
    Ok(())
}
