//! A grid of each kind, and fields on it: for tests of files, and for readers of other programs
//! (`examples/vtk_files.rs`).

use std::path::Path;
use std::sync::Arc;

use equelle_runtime::EntityKind;
use equelle_runtime::grid::io::opm::read_text;
use equelle_runtime::grid::io::read_file;
use equelle_runtime::grid::{Cartesian, CellShape, Grid, GridBuilder, Renumber};
use equelle_runtime::output::{Field, FieldValues, Support};
use equelle_runtime::threads::Threads;

use crate::cells::{self, Mesh, Random};
use crate::{polyhedra, triangles};

/// A sheared and stretched copy, whose faces are as flat as before.
fn sheared(mut mesh: Mesh) -> Mesh {
    for [x, y, z] in &mut mesh.nodes {
        (*x, *y, *z) = (3.0 * *x + 0.25 * *y - 1.0, 2.0 * *y + 0.5 * *z, 1.5 * *z + 0.125 * *x);
    }
    mesh
}

fn sheared_grid(mesh: &Mesh) -> Grid {
    sheared(mesh.clone()).build(&Threads::one()).expect("good cells")
}

/// A triangle, a quadrangle and a polygon around a common node, some clockwise.
fn polygons() -> Grid {
    let nodes = vec![
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [2.0, 0.0, 0.0],
        [2.0, 1.0, 0.0],
        [1.0, 1.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.5, 2.0, 0.0],
        [1.5, 2.0, 0.0],
    ];
    let mut builder = GridBuilder::new(2, nodes).expect("good nodes");
    builder.add(CellShape::Quadrangle, &[0, 5, 4, 1]).expect("a square");
    builder.add(CellShape::Triangle, &[1, 2, 4]).expect("a triangle");
    builder.add(CellShape::Triangle, &[4, 2, 3]).expect("a triangle");
    builder.add_polygon(&[5, 4, 3, 7, 6]).expect("a pentagon");
    builder.build(&Threads::one()).expect("good cells")
}

/// A cube beside two halves of its height: the common side has two faces there, so that the cube
/// is no hexahedron.
fn hanging() -> Grid {
    let mut nodes = Vec::new();
    for (x, heights) in [(0.0, &[0.0, 1.0][..]), (1.0, &[0.0, 0.5, 1.0]), (2.0, &[0.0, 0.5, 1.0])] {
        nodes.extend(heights.iter().flat_map(|&z| [[x, 0.0, z], [x, 1.0, z]]));
    }
    let cube: [&[u32]; 7] = [&[0, 1, 5, 4], &[2, 8, 9, 3], &[0, 2, 3, 1], &[4, 5, 7, 6], &[6, 7, 9, 8], &[0, 4, 6, 8, 2], &[1, 3, 9, 7, 5]];
    let mut builder = GridBuilder::new(3, nodes).expect("good nodes");
    builder.add_polyhedron(cube).expect("a cube");
    builder.add(CellShape::Hexahedron, &[4, 10, 11, 5, 6, 12, 13, 7]).expect("the lower half");
    builder.add(CellShape::Hexahedron, &[6, 12, 13, 7, 8, 14, 15, 9]).expect("the upper half");
    builder.build(&Threads::one()).expect("good cells")
}

/// Names and grids: every kind that can be read or made.
pub fn grids() -> Vec<(&'static str, Grid)> {
    let cartesian = |shape: Cartesian| Grid::cartesian(shape).expect("a good shape");
    let text = |text: String| read_text(Path::new("made.grid"), text.as_bytes()).expect("a good grid");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids");
    let mut random = Random(26);
    let mut grids = vec![
        ("line", cartesian(Cartesian::line(5, 0.3))),
        ("plane", cartesian(Cartesian::plane([4, 3], [0.1, 0.7]))),
        ("block", cartesian(Cartesian::block([4, 2, 3], [0.3, 0.1, 1.7]))),
        ("graded-line", Grid::rectilinear(1, [&[1.0, 2.5, 0.25], &[], &[]]).expect("a grid")),
        ("graded-plane", Grid::rectilinear(2, [&[1.0, 2.5, 0.25], &[0.5, 0.1], &[]]).expect("a grid")),
        ("graded-block", Grid::rectilinear(3, [&[1.0, 2.5, 0.25], &[0.5, 0.1], &[3.0, 0.7]]).expect("a grid")),
        ("polygons", polygons()),
        ("hanging", hanging()),
        ("hexahedra", sheared_grid(&cells::hexahedra(2, 0.0, &mut random))),
        ("prisms", sheared_grid(&cells::prisms(2, 0.0, &mut random))),
        ("pyramids", sheared_grid(&cells::pyramids(2, 0.2, &mut random))),
        ("voronoi", sheared_grid(&cells::voronoi(20, &mut random))),
        ("triangles", text(triangles::triangles(4, 3, triangles::Order::Shuffled))),
        ("tetrahedra", text(polyhedra::tetrahedra([3, 2, 2]).text())),
        ("clusters", text(polyhedra::clusters([6, 5, 4], 60).text())),
        ("plate", read_file(&root.join("plate.msh")).expect("a mesh of Gmsh")),
    ];
    let mut renumbered = text(triangles::triangles(4, 3, triangles::Order::Shuffled));
    renumbered.renumber(Renumber::Yes);
    grids.push(("renumbered-triangles", renumbered));
    let mut renumbered = sheared_grid(&cells::prisms(3, 0.0, &mut random));
    renumbered.renumber(Renumber::Yes);
    grids.push(("renumbered-prisms", renumbered));
    grids
}

/// Fields of each type on each kind of entity, on all and on some.
pub fn fields(grid: &Grid) -> Vec<Field> {
    let mut random = Random(7);
    let special = [0.1, -0.0, f64::MIN_POSITIVE / 8.0, f64::MAX, 1e-300, std::f64::consts::PI];
    let mut number = |i: usize| special.get(i).copied().unwrap_or_else(|| (random.unit() - 0.5) * 1e6);
    let mut fields = Vec::new();
    for kind in [EntityKind::Cell, EntityKind::Face, EntityKind::Edge, EntityKind::Vertex] {
        // In 1D and 2D some kinds are others.
        if kind.on_grid_of(grid.dim()) != kind {
            continue;
        }
        let n = grid.n_entities(kind).expect("a grid with nodes");
        let all = Support { kind, n_entities: n, subset: None };
        let tag = |what: &str| format!("{} {what}", kind.noun());
        let mut add = |what: &str, support: Support, values: FieldValues, unit| {
            fields.push(Field { tag: tag(what), support, values, unit });
        };
        let column: Vec<f64> = (0..n).map(&mut number).collect();
        add("number", all.clone(), FieldValues::F64(vec![column.clone()]), Some("Bar".into()));
        add("single", all.clone(), FieldValues::F32(vec![column.iter().map(|&x| x.min(1e30) as f32).collect()]), None);
        let axes = (0..grid.dim()).map(|axis| column.iter().map(|x| x * (axis as f64 - 0.5)).collect()).collect();
        add("vector", all.clone(), FieldValues::F64(axes), None);
        add("bool", all.clone(), FieldValues::Bool(column.iter().map(|&x| u8::from(x > 0.0)).collect()), None);
        add("entity", all.clone(), FieldValues::Entity((0..n as i64).map(|i| i * 7 % 5 - 1).collect()), None);
        let some: Vec<u32> = (0..n as u32).filter(|i| i % 3 == 1).collect();
        let support = Support { subset: Some(Arc::new(some.clone())), ..all };
        add("some", support.clone(), FieldValues::F64(vec![some.iter().map(|&i| f64::from(i) / 3.0).collect()]), None);
        add("some bools", support, FieldValues::Bool(some.iter().map(|&i| u8::from(i % 2 == 0)).collect()), None);
    }
    fields
}
