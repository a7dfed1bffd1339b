//! Edges and vertices: numbering, geometry, the boundary, on Cartesian grids and on grids of nodes.

use std::fmt::Write as _;

use equelle_runtime::grid::io::opm;
use equelle_runtime::grid::{Cartesian, CartesianEdge, CartesianFace, Geometry, Grid, Nodes, Topology};
use equelle_runtime::{Domain, EntityKind, ErrorKind, Extent};

use crate::common::*;

/// V, E, F, C.
fn counts(grid: &Grid) -> [usize; 4] {
    [EntityKind::Vertex, EntityKind::Edge, EntityKind::Face, EntityKind::Cell].map(|kind| grid.n_entities(kind).unwrap())
}

/// V - E + F - C, 1 for a grid without holes of 3 dimensions.
fn euler(grid: &Grid) -> i64 {
    let [v, e, f, c] = counts(grid).map(|n| n as i64);
    v - e + f - c
}

fn elements(grid: &Grid, set: equelle_runtime::CanonicalSet) -> Vec<u32> {
    grid.canonical_elements(set).unwrap()
}

#[test]
fn a_plane_of_two_by_three() {
    let grid = Grid::cartesian(Cartesian::plane([2, 3], [0.5, 0.25])).unwrap();
    // V - E + C = 1 in the plane, where edges and faces are the same.
    assert_eq!(counts(&grid), [12, 17, 17, 6]);
    for extent in [Extent::All, Extent::Interior, Extent::Boundary] {
        let [edges, faces] =
            [EntityKind::Edge, EntityKind::Face].map(|kind| elements(&grid, equelle_runtime::CanonicalSet { kind, extent }));
        assert_eq!(edges, faces);
    }
    assert_eq!(elements(&grid, INTERIOR_EDGES), [1, 4, 7, 11, 12, 13, 14]);
    assert_eq!(grid.edge_lengths(), grid.geometry().face_areas);
    assert_eq!(grid.edge_lengths(), [[0.25; 9].as_slice(), &[0.5; 8]].concat());
    assert_eq!(grid.edge_centroids(), grid.geometry().face_centroids);
    // 3 vertices to a row; (1,1) and (1,2) are inside.
    assert_eq!(elements(&grid, INTERIOR_VERTICES), [4, 7]);
    assert_eq!(elements(&grid, BOUNDARY_VERTICES), [0, 1, 2, 3, 5, 6, 8, 9, 10, 11]);
    assert_eq!(grid.vertex_positions()[7], [0.5, 0.5, 0.0]);
    assert_eq!(grid.vertex_positions()[11], [1.0, 0.75, 0.0]);
    assert_eq!(grid.measures(EntityKind::Vertex)[..], [1.0; 12]);
}

#[test]
fn a_block_of_two_by_two_by_two() {
    let grid = Grid::cartesian(Cartesian::block([2, 2, 2], [0.5, 2.0, 4.0])).unwrap();
    // 3^3 vertices, 3 * 2 * 3 * 3 edges, 3 * 3 * 2 * 2 faces.
    assert_eq!(counts(&grid), [27, 54, 36, 8]);
    assert_eq!(euler(&grid), 1);
    // The two pieces of the line through the middle, each way: x edges (i,1,1) = i + 2 (1 + 3), y
    // edges 18 + 1 + 3 (j + 2), z edges 36 + 1 + 3 (1 + 3 k).
    assert_eq!(elements(&grid, INTERIOR_EDGES), [8, 9, 25, 28, 40, 49]);
    assert_eq!(elements(&grid, BOUNDARY_EDGES).len(), 48);
    assert_eq!(elements(&grid, INTERIOR_VERTICES), [13]);
    assert_eq!(grid.edge_lengths(), [[0.5; 18], [2.0; 18], [4.0; 18]].concat());
    // x edge 9 = (1,1,1), y edge 28 = (1,1,1), z edge 40 = (1,1,0).
    assert_eq!([9, 28, 40].map(|edge| grid.edge_centroids()[edge]), [[0.75, 2.0, 4.0], [0.5, 3.0, 4.0], [0.5, 2.0, 2.0]]);
    assert_eq!([0, 1, 3, 9, 13, 26].map(|vertex| grid.vertex_positions()[vertex]), {
        [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 4.0], [0.5, 2.0, 4.0], [1.0, 4.0, 8.0]]
    });
}

#[test]
fn on_a_line_edges_are_cells_and_vertices_are_faces() {
    let grid = Grid::cartesian(Cartesian::line(4, 0.25)).unwrap();
    assert_eq!(counts(&grid), [5, 4, 5, 4]);
    assert_eq!(grid.edge_lengths(), [0.25; 4]);
    assert_eq!(grid.edge_centroids()[3], [0.875, 0.0, 0.0]);
    assert_eq!((elements(&grid, INTERIOR_EDGES), elements(&grid, BOUNDARY_EDGES)), (vec![1, 2], vec![0, 3]));
    assert_eq!((elements(&grid, INTERIOR_VERTICES), elements(&grid, BOUNDARY_VERTICES)), (vec![1, 2, 3], vec![0, 4]));
    assert_eq!(grid.vertex_positions()[4], [1.0, 0.0, 0.0]);
    assert_eq!(grid.measures(EntityKind::Vertex)[..], [1.0; 5]);
}

#[test]
fn numbering_goes_both_ways_and_the_euler_characteristic_is_one() {
    for n in [[1, 1, 1], [4, 3, 1], [1, 5, 2], [3, 3, 3], [5, 4, 3]] {
        let shape = Cartesian::block(n, [0.1, 0.2, 0.3]);
        let grid = Grid::cartesian(shape).unwrap();
        assert_eq!(euler(&grid), 1, "{shape:?}");
        let edges: Vec<CartesianEdge> = (0..shape.n_edges()).map(|edge| shape.edge_ijk(edge)).collect();
        assert!(edges.iter().enumerate().all(|(index, &edge)| shape.edge(edge) == index), "{shape:?}");
        // Direction by direction, then z slowest, x fastest.
        assert!(edges.is_sorted_by_key(|edge| (edge.axis, edge.ijk[2], edge.ijk[1], edge.ijk[0])), "{shape:?}");
        assert!((0..shape.n_vertices()).all(|vertex| shape.vertex(shape.vertex_ijk(vertex)) == vertex), "{shape:?}");
    }
    // A plane: V - E + C = 1.
    for n in [[1, 1], [6, 1], [4, 3]] {
        let [v, e, _, c] = counts(&Grid::cartesian(Cartesian::plane(n, [1.0, 1.0])).unwrap());
        assert_eq!(v + c, e + 1, "{n:?}");
    }
}

/// The nodes of a Cartesian block, as a grid file has them.
fn nodes_of(shape: &Cartesian) -> Nodes {
    let positions = (0..shape.n_vertices()).map(|v| std::array::from_fn(|a| shape.vertex_ijk(v)[a] as f64 * shape.spacing[a])).collect();
    let mut nodes = Nodes { positions, face_node_pos: vec![0], face_nodes: Vec::new(), ..Nodes::default() };
    for face in 0..shape.n_faces() {
        let CartesianFace { axis, ijk } = shape.face_ijk(face);
        let across = [(axis + 1) % 3, (axis + 2) % 3];
        for step in [[0, 0], [1, 0], [1, 1], [0, 1]] {
            let mut corner = ijk;
            (0..2).for_each(|i| corner[across[i]] += step[i]);
            nodes.face_nodes.push(shape.vertex(corner) as u32);
        }
        nodes.face_node_pos.push(nodes.face_nodes.len());
    }
    nodes
}

/// Edges by their places: midpoint, length and whether on the boundary. Quarters, so that places
/// are whole numbers.
fn edges_by_place(grid: &Grid) -> Vec<([i64; 3], i64, bool)> {
    let boundary = elements(grid, BOUNDARY_EDGES);
    let quarters = |x: f64| (4.0 * x) as i64;
    let mut edges: Vec<_> = (0..grid.n_entities(EntityKind::Edge).unwrap())
        .map(|edge| {
            let on_boundary = boundary.binary_search(&(edge as u32)).is_ok();
            (grid.edge_centroids()[edge].map(quarters), quarters(grid.edge_lengths()[edge]), on_boundary)
        })
        .collect();
    edges.sort_unstable();
    edges
}

/// The same block as shape, as hidden shape, and as arrays with nodes, where edges are found from
/// the faces. Widths are powers of two: exact.
#[test]
fn a_cartesian_block_and_its_unstructured_forms_have_the_same_edges() {
    let shape = Cartesian::block([3, 2, 4], [0.5, 2.0, 1.0]);
    let grid = Grid::cartesian(shape).unwrap();
    let hidden = Grid::cartesian(shape).unwrap().as_unstructured();
    let (topology, geometry) = (grid.topology().clone(), grid.geometry().clone());
    let nodes = Grid::unstructured(3, topology, geometry).unwrap().with_nodes(nodes_of(&shape)).unwrap();
    assert_eq!(counts(&grid), counts(&nodes));
    for set in SETS.into_iter().filter(|set| set.kind == EntityKind::Vertex) {
        assert_eq!(elements(&grid, set), elements(&nodes, set));
    }
    assert_eq!(grid.vertex_positions(), nodes.vertex_positions());
    assert_eq!(edges_by_place(&grid), edges_by_place(&nodes));
    assert_eq!((hidden.edge_lengths(), hidden.edge_centroids()), (grid.edge_lengths(), grid.edge_centroids()));
    // Sets are found without arrays or with: same elements, same ranks.
    let (grid, hidden) = (grid.shared(), hidden.shared());
    for set in SETS {
        let (a, b) = (Domain::canonical(&grid, set).unwrap(), Domain::canonical(&hidden, set).unwrap());
        assert_eq!(a.elements(), b.elements());
        assert!((0..60).all(|entity| a.rank(entity) == b.rank(entity)));
    }
}

/// An octahedron of four tetrahedra around the axis from node 5 to node 4, in OPM's text format.
///
/// Nodes 0 to 3 are (1,0,0), (0,1,0), (-1,0,0), (0,-1,0), 4 and 5 are (0,0,1) and (0,0,-1).
/// Tetrahedron k has nodes k, k + 1, 4, 5; faces k (upper) and 4 + k (lower) are outside, face 8 +
/// k = (k, 4, 5) is between tetrahedra k - 1 and k.
fn octahedron() -> String {
    let nodes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0f64]];
    let next = |k: usize| (k + 1) % 4;
    let mut faces: Vec<([usize; 3], [i64; 2])> = Vec::new();
    faces.extend((0..4).map(|k| ([k, next(k), 4], [k as i64, -1])));
    faces.extend((0..4).map(|k| ([next(k), k, 5], [k as i64, -1])));
    faces.extend((0..4).map(|k| ([k, 5, 4], [(k as i64 + 3) % 4, k as i64])));
    let minus = |a: [f64; 3], b: [f64; 3]| -> [f64; 3] { std::array::from_fn(|i| a[i] - b[i]) };
    let mean = |of: &[usize]| -> [f64; 3] { std::array::from_fn(|i| of.iter().map(|&n| nodes[n][i]).sum::<f64>() / of.len() as f64) };
    let vector = |[a, b, c]: [usize; 3]| -> [f64; 3] {
        let (u, v) = (minus(nodes[b], nodes[a]), minus(nodes[c], nodes[a]));
        std::array::from_fn(|i| 0.5 * (u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3]))
    };
    let mut text = "3 4 12 6 36 16\n0 0\n0 0 0\n".to_string();
    let mut put = |values: &[f64]| values.iter().for_each(|value| write!(text, " {value}").unwrap());
    nodes.iter().for_each(|node| put(node));
    put(&(0..=12).map(|face| 3.0 * f64::from(face)).collect::<Vec<f64>>());
    faces.iter().for_each(|(corners, _)| put(&corners.map(|node| node as f64)));
    faces.iter().for_each(|(_, cells)| put(&cells.map(|cell| cell as f64)));
    faces.iter().for_each(|(corners, _)| put(&[vector(*corners).iter().map(|x| x * x).sum::<f64>().sqrt()]));
    faces.iter().for_each(|(corners, _)| put(&mean(corners)));
    faces.iter().for_each(|(corners, _)| put(&vector(*corners)));
    put(&[0.0, 4.0, 8.0, 12.0, 16.0]);
    (0..4).for_each(|k| put(&[k, 4 + k, 8 + k, 8 + next(k)].map(|face| face as f64)));
    put(&[1.0 / 3.0; 4]);
    (0..4).for_each(|k| put(&mean(&[k, next(k), 4, 5])));
    text
}

#[test]
fn tetrahedra_around_an_axis() {
    let grid = opm::read_text("octahedron".as_ref(), octahedron().as_bytes()).unwrap();
    assert_consistent(&grid);
    // 12 edges of the octahedron and the axis.
    assert_eq!(counts(&grid), [6, 13, 12, 4]);
    assert_eq!(euler(&grid), 1);
    // In the order of (smaller, larger) node: 01 03 04 05 12 14 15 23 24 25 34 35 45. Only the
    // axis, the last one, is inside; all vertices are outside.
    assert_eq!(elements(&grid, INTERIOR_EDGES), [12]);
    assert_eq!(elements(&grid, BOUNDARY_EDGES), (0..12).collect::<Vec<u32>>());
    assert_eq!((elements(&grid, INTERIOR_VERTICES), elements(&grid, BOUNDARY_VERTICES)), (vec![], vec![0, 1, 2, 3, 4, 5]));
    assert_eq!(grid.edge_lengths(), [[2f64.sqrt(); 12].as_slice(), &[2.0]].concat());
    assert_eq!([0, 1, 2, 7, 11, 12].map(|edge| grid.edge_centroids()[edge]), {
        [[0.5, 0.5, 0.0], [0.5, -0.5, 0.0], [0.5, 0.0, 0.5], [-0.5, -0.5, 0.0], [0.0, -0.5, -0.5], [0.0, 0.0, 0.0]]
    });
    assert_eq!(grid.vertex_positions()[5], [0.0, 0.0, -1.0]);
}

#[test]
fn triangles_have_the_edges_of_their_faces() {
    let grid = opm::read_text("triangles".as_ref(), crate::triangles::triangles(6, 5, crate::triangles::Order::Rows).as_bytes()).unwrap();
    // 7 * 6 nodes, 2 (6 + 5) of them and as many faces on the boundary; V - E + C = 1.
    assert_eq!(counts(&grid), [42, 101, 101, 60]);
    assert_eq!(elements(&grid, BOUNDARY_EDGES), elements(&grid, BOUNDARY_FACES));
    let boundary = elements(&grid, BOUNDARY_VERTICES);
    assert_eq!(boundary.len(), 22);
    // The square's own: a node is on the boundary where x or y is 0 or 1, which the generator does
    // not move.
    let on_square = |p: &[f64; 3]| p[..2].iter().any(|&x| x == 0.0 || x == 1.0);
    let expected: Vec<u32> = (0..42).filter(|&v| on_square(&grid.vertex_positions()[v as usize])).collect();
    assert_eq!(boundary, expected);
}

#[test]
fn what_has_no_nodes_has_no_edges() {
    let grid = Grid::cartesian(Cartesian::block([1, 1, 1], [1.0; 3])).unwrap();
    let arrays = || Grid::unstructured(3, grid.topology().clone(), grid.geometry().clone()).unwrap();
    for set in SETS.into_iter().filter(|set| matches!(set.kind, EntityKind::Edge | EntityKind::Vertex)) {
        let error = Domain::canonical(&arrays().shared(), set).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Data);
        assert!(error.message.contains("made without nodes"), "{}", error.message);
    }
    assert!(arrays().edge_lengths().is_empty() && arrays().vertex_positions().is_empty());
    // In 2D only vertices need them.
    let plane = Grid::unstructured(2, Topology { cell_face_pos: vec![0], ..Topology::default() }, Geometry::default()).unwrap();
    assert_eq!(plane.n_entities(EntityKind::Edge).unwrap(), 0);
    assert!(plane.n_entities(EntityKind::Vertex).is_err());
}

#[test]
fn nodes_that_do_not_fit() {
    let shape = Cartesian::block([1, 1, 1], [1.0; 3]);
    let grid = Grid::cartesian(shape).unwrap();
    let refused = |change: fn(&mut Nodes), what: &str| {
        let mut nodes = nodes_of(&shape);
        change(&mut nodes);
        let arrays = Grid::unstructured(3, grid.topology().clone(), grid.geometry().clone()).unwrap();
        let error = arrays.with_nodes(nodes).expect_err(what);
        assert!(error.kind == ErrorKind::Data && error.message.contains(what), "{}", error.message);
    };
    refused(|nodes| nodes.face_node_pos.truncate(5), "one entry more than there are faces");
    refused(|nodes| nodes.face_node_pos[6] = 23, "does not partition");
    refused(|nodes| nodes.face_node_pos[1] = 25, "does not partition");
    refused(|nodes| nodes.face_nodes[3] = 8, "a node is out of range");
}

/// A node that stands twice in a row around a face, as where a face has collapsed, makes no edge of
/// length 0.
#[test]
fn a_repeated_node_makes_no_edge() {
    let shape = Cartesian::block([1, 1, 1], [1.0; 3]);
    let grid = Grid::cartesian(shape).unwrap();
    let mut nodes = nodes_of(&shape);
    let doubled = nodes.face_nodes[23];
    nodes.face_nodes.push(doubled);
    *nodes.face_node_pos.last_mut().unwrap() = 25;
    let grid = Grid::unstructured(3, grid.topology().clone(), grid.geometry().clone()).unwrap().with_nodes(nodes).unwrap();
    assert_eq!(grid.edge_lengths(), [1.0; 12]);
}

#[test]
fn too_many_edges_for_an_index() {
    // 1.2e9 cells in rods of one by one: 5 n + 1 faces would not fit either, so a sheet: 3 n faces
    // and 8 n edges, about.
    let grid = Grid::cartesian(Cartesian::block([30_000, 30_000, 1], [1.0; 3])).unwrap();
    let error = grid.n_entities(EntityKind::Edge).unwrap_err();
    assert!(error.message.contains("too many edges"), "{}", error.message);
    // 30 001^2 * 2 vertices.
    assert_eq!(grid.n_entities(EntityKind::Vertex).unwrap(), 1_800_120_002);
}
