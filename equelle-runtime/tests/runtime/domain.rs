//! Domains: elements, ranks, subsets.

use equelle_runtime::grid::io::opm;
use equelle_runtime::grid::{Cartesian, Grid, NONE, Renumber};
use equelle_runtime::{Domain, ErrorKind};

use crate::common::*;

#[test]
fn canonical_sets_on_every_layout() {
    let triangles = || {
        let text = crate::triangles::triangles(3, 2, crate::triangles::Order::Shuffled);
        opm::read_text("triangles".as_ref(), text.as_bytes()).unwrap()
    };
    let renumbered = |mut grid: Grid| {
        grid.renumber(Renumber::Yes);
        grid
    };
    let block = || Grid::cartesian(Cartesian::block([4, 3, 5], [1.0; 3])).unwrap();
    for grid in [
        four_by_three().shared(),
        four_by_three().as_unstructured().shared(),
        renumbered(four_by_three().as_unstructured()).shared(),
        triangles().shared(),
        renumbered(triangles()).shared(),
        block().shared(),
        block().as_unstructured().shared(),
        renumbered(block().as_unstructured()).shared(),
    ] {
        for set in SETS {
            let domain = Domain::canonical(&grid, set).unwrap();
            let elements = grid.canonical_elements(set).unwrap();
            assert_eq!(domain.len(), elements.len());
            assert_eq!(domain.name(), set.name());
            assert_eq!(domain.canonical_set(), Some(set));
            assert_eq!(domain.is_all(), set == set.all());
            for entity in 0..grid.n_entities(set.kind).unwrap() as u32 + 2 {
                assert_eq!(domain.rank(entity), elements.binary_search(&entity).ok().map(|r| r as u32), "{set:?} {entity}");
            }
            assert_eq!(domain.rank(NONE), None);
            assert_eq!(domain.elements(), elements);
            assert!((0..elements.len()).all(|position| domain.element(position) == elements[position]));
            if let Some(offset) = domain.offset() {
                assert!(elements.iter().copied().eq(offset..offset + domain.len() as u32), "{set:?}");
            }
        }
    }
}

#[test]
fn interior_and_boundary_share_out_all() {
    let grid = four_by_three().shared();
    let (interior, boundary) = (Domain::canonical(&grid, INTERIOR_FACES).unwrap(), Domain::canonical(&grid, BOUNDARY_FACES).unwrap());
    let mut together = [interior.elements(), boundary.elements()].concat();
    together.sort_unstable();
    assert_eq!(together, Domain::canonical(&grid, ALL_FACES).unwrap().elements());
}

#[test]
fn a_subset_and_its_rank_map() {
    let grid = four_by_three().shared();
    let boundary = Domain::canonical(&grid, BOUNDARY_FACES).unwrap();
    // Boundary faces: 0 4 5 9 10 14 (x), 15 16 17 18 27 28 29 30 (y).
    let west = Domain::subset("west", &boundary, vec![0, 5, 10]).unwrap();
    assert_eq!((west.name(), west.len(), west.canonical_set(), west.superset()), ("west", 3, None, BOUNDARY_FACES));
    assert_eq!([0, 5, 10, 4, 1, 31].map(|face| west.rank(face)), [Some(0), Some(1), Some(2), None, None, None]);
    // The map is over the boundary, not over all 31 faces.
    let none = NONE;
    assert_eq!(west.rank_map().unwrap(), [0, none, 1, none, 2, none, none, none, none, none, none, none, none, none]);
    assert!(west.base().is_some_and(|base| base.same_elements(&boundary)));

    let corner = Domain::subset("corner", &west, vec![10]).unwrap();
    assert!(corner.parent().is_some_and(|parent| parent.name() == "west"));
    assert_eq!(corner.base().map(|base| base.name()), Some("BoundaryFaces()"));
    assert_eq!((corner.rank(10), corner.rank(0)), (Some(0), None));

    assert!(west.same_elements(&Domain::subset("other", &boundary, vec![0, 5, 10]).unwrap()));
    assert!(!west.same_elements(&corner));
    let empty = Domain::subset("empty", &boundary, Vec::new()).unwrap();
    assert!(empty.is_empty() && empty.rank(0).is_none());
}

#[test]
fn lists_that_are_no_subset() {
    let grid = four_by_three().shared();
    let boundary = Domain::canonical(&grid, BOUNDARY_FACES).unwrap();
    let refused = |elements: Vec<u32>, what: &str| {
        let error = Domain::subset("west", &boundary, elements).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Data);
        assert_eq!(error.message, format!("domain `west`: {what}"));
    };
    refused(vec![0, 1], "element 1 (1): face 1 is not in BoundaryFaces()");
    refused(vec![5, 0], "element 1 (0): not sorted: 0 comes after 5");
    refused(vec![0, 5, 5], "element 2 (5): face 5 occurs twice");
    refused(vec![99], "element 0 (99): face 99 is not in BoundaryFaces()");
}
