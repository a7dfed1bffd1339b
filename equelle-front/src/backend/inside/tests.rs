use super::*;
use crate::ir::text::{parse, print};
use crate::ir::{KExpr, Module};

/// A module with one kernel over all cells, of `u` on cells and `t` per axis of interior faces.
fn module(body: &str) -> Module {
    let text = format!(
        "module m\nkernel k over AllCells() {{\n  param u: Scalar On AllCells()\n  param t: Scalar On InteriorFaces() per_axis\n  result r: Scalar On AllCells()\n{body}}}\nmain {{\n}}\n"
    );
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The statements of the form of a kernel in so many dimensions, as text, without indentation.
fn inside_text(module: &Module, dim: usize) -> Vec<String> {
    let forms = InsideForms::of(&module.kernels[0], &module.sets).expect("a form for cells inside");
    let inside = &forms.all()[if forms.all().len() == 1 { 0 } else { dim - 1 }];
    let mut module = module.clone();
    let kernel = &mut module.kernels[0];
    kernel.locals.clone_from(&inside.locals);
    kernel.body = inside.body.clone();
    kernel.jacobian = None;
    let text = print(&module);
    let (_, body) = text.split_once("  body {\n").expect("a body");
    body.lines().take_while(|line| *line != "  }").map(|line| line.trim().to_owned()).collect()
}

fn inside(module: &Module, dim: usize) -> Inside {
    InsideForms::of(&module.kernels[0], &module.sets).expect("a form for cells inside").all()[dim - 1].clone()
}

const FLUX: &str = "  body {
    outflow: Scalar = sum faces f: Face of here interior {
      yield (t[f] * (u[second(f)] - u[first(f)]))
    }
    yield outflow
  }
";

#[test]
fn a_sum_is_two_terms_for_each_axis_in_ascending_order_of_faces() {
    let module = module(FLUX);
    let text = inside_text(&module, 1).join("\n");
    // From +0, minus the low face, plus the high one.
    let expected = "outflow: Scalar = ((0.0 - (t[face_x] * (u[here] - u[offset(here, -1, 0, 0, never, never, never, never, never, never)]))) + \
                    (t[face_x] * (u[offset(here, 1, 0, 0, never, never, never, never, never, never)] - u[here])))\nyield outflow";
    assert_eq!(text, expected);
    let in_two = inside_text(&module, 2).join("\n");
    let places = ["-1, 0, 0", "1, 0, 0", "0, -1, 0", "0, 1, 0"].map(|by| in_two.find(by).unwrap_or_else(|| panic!("{by}: {in_two}")));
    assert!(places.is_sorted(), "{in_two}");
}

#[test]
fn cells_inside_are_those_whose_faces_have_two_cells() {
    let module = module(FLUX);
    assert_eq!(inside(&module, 1).reach, [[1, 1], [0, 0], [0, 0]]);
    assert_eq!(inside(&module, 3).reach, [[1, 1]; 3]);
    assert_eq!(inside(&module, 2).faces.values().map(|face| face.axis).collect::<Vec<_>>(), [0, 1]);
    // A sum of a cell two steps away reaches three.
    let nested = FLUX.replace("of here interior", "of offset(here, 2, 0, 0, never, never, never, never, never, never) interior");
    assert_eq!(inside(&super::tests::module(&nested), 2).reach, [[0, 3], [1, 1], [0, 0]]);
}

#[test]
fn faces_on_the_boundary_add_nothing_and_no_cell_inside_is_at_it() {
    let module = module(
        "  body {
    loss: Scalar = sum faces f: Face of here boundary {
      yield measure(f)
    }
    rest: Scalar = if member(here, BoundaryCells()) {
      yield u[here]
    } else {
      yield 2.0
    }
    yield (loss + rest)
  }
",
    );
    assert_eq!(inside_text(&module, 3), ["yield (0.0 + 2.0)"]);
    assert_eq!(inside(&module, 3).reach, [[1, 1]; 3]);
}

#[test]
fn vectors_are_their_components() {
    let module = module(
        "  body {
    area: Vector = sum faces f: Face of here interior {
      yield ((u[second(f)] * measure(f)) * normal(f))
    }
    yield (component(area, 1) / length((centroid(here) - centroid(offset(here, 0, 1, 0, never, never, never, never, never, never)))))
  }
",
    );
    let text = inside_text(&module, 3).join("\n");
    // Faces across the other axes have no component along this one; the cells are a width apart.
    assert!(!text.contains("face_x") && !text.contains("face_z"), "{text}");
    let width = "component(displacement(second(face_y), first(face_y)), 1)";
    assert!(text.contains(&format!("sqrt(((-1.0 * {width}) * (-1.0 * {width})))")), "{text}");
}

#[test]
fn additions_have_the_signs_of_their_sums_and_share_columns() {
    let module = module(
        "  body {
    yield u[here]
  }
  jacobian by 1 {
    outflow: Scalar = sum faces f: Face of here interior {
      add u[second(f)] = t[f]
      add u[first(f)] = neg(t[f])
      yield (t[f] * (u[second(f)] - u[first(f)]))
    }
    yield outflow
  }
",
    );
    let two = inside(&module, 2);
    let columns: Vec<Offset> = two.columns.iter().map(|column| column.by).collect();
    // In ascending order of cells.
    assert_eq!(columns, [[0, -1, 0], [-1, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]]);
    let added: Vec<(Offset, bool)> = two
        .body
        .statements
        .iter()
        .filter_map(|statement| match statement {
            KStmt::Add { at, value, .. } => Some((offset(at), matches!(value, KExpr::Unary(UnaryOp::Neg, _)))),
            _ => None,
        })
        .collect();
    // The low face is subtracted: its second cell is here.
    assert_eq!(added[..4], [([0; 3], true), ([-1, 0, 0], false), ([1, 0, 0], false), ([0; 3], true)]);
}

#[test]
fn neighbours_share_the_sums_of_cells() {
    let flux = |of: &str, name: &str| {
        format!(
            "      {name}: Scalar = sum faces {name}_f: Face of {of}(f) interior {{
        yield u[second({name}_f)]
      }}
"
        )
    };
    let (first, second) = (flux("first", "a"), flux("second", "b"));
    let module = module(&format!(
        "  body {{
    outflow: Scalar = sum faces f: Face of here interior {{
{first}{second}      yield (a * b)
    }}
    yield outflow
  }}
"
    ));
    // One of the two cells of each face is here: five cells have a sum, beside the outer one.
    let sums = inside_text(&module, 2).iter().filter(|line| line.contains(": Scalar = ")).count();
    assert_eq!(sums, 5 + 1, "{:#?}", inside_text(&module, 2));
}

#[test]
fn what_is_not_known_inside_has_no_form() {
    let of = |body: &str| {
        let module = module(body);
        InsideForms::of(&module.kernels[0], &module.sets).is_some()
    };
    assert!(of(FLUX));
    // No face inside is on the boundary, and a set made at run time does not tell where its
    // elements are.
    for elsewhere in ["BoundaryFaces()", "some"] {
        let text = print(&module(FLUX)).replace("t: Scalar On InteriorFaces() per_axis", &format!("t: Scalar On {elsewhere}"));
        let text = text.replace("kernel k", "set some in InteriorFaces()\nkernel k");
        let Ok(module) = parse(&text) else { panic!("{text}") };
        assert!(InsideForms::of(&module.kernels[0], &module.sets).is_none());
    }
}

/// One load for each component, as many as the grid has dimensions.
#[test]
fn stored_vectors_are_loaded_by_component() {
    let text = "module m\nkernel k over AllCells() {\n  param v: Vector On AllCells()\n  param w: Vector On AllCells()\n  result r: Scalar On AllCells()\n  body {\n    yield dot(v[here], w[here])\n  }\n}\nmain {\n}\n";
    let module = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let product = |axis: usize| format!("(component(v[here], {axis}) * component(w[here], {axis}))");
    assert_eq!(inside_text(&module, 1), [format!("yield {}", product(0))]);
    assert_eq!(inside_text(&module, 2), [format!("yield ({} + {})", product(0), product(1))]);
    assert_eq!(inside(&module, 3).reach, [[0, 0]; 3]);
}

#[test]
fn numbers_stored_on_faces_are_read_by_the_first_cell_of_the_face() {
    let module = parse(&print(&module(FLUX)).replace(" per_axis", "")).expect("a module");
    let mut firsts: Vec<_> = inside(&module, 2).faces.values().map(|face| (face.axis, face.first)).collect();
    firsts.sort();
    let expected = [(0, Some([-1, 0, 0])), (0, Some([0, 0, 0])), (1, Some([0, -1, 0])), (1, Some([0, 0, 0]))];
    assert_eq!(firsts, expected);
}
