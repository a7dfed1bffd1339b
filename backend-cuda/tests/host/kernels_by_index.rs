//! Text of kernels that read by index.
#![cfg(feature = "codegen")]

use backend_cuda::codegen::Cuda;
use equelle_front::backend::Backend;
use equelle_front::ir::text::parse;
use equelle_front::verify::verify;

/// A kernel that adds differences at these many offsets along each axis, divided by a width.
fn kernel(reach: i8, precision: &str) -> (String, String) {
    kernel_of(reach, precision, |sum| format!("    yield {sum}\n"))
}

/// As [`kernel`], with what is done with the sum.
fn kernel_of(reach: i8, precision: &str, end: impl Fn(&str) -> String) -> (String, String) {
    let (mut reads, mut terms) = (String::new(), Vec::new());
    for axis in 0..3 {
        for by in 1..=reach {
            for other in [0, 1] {
                let at = |by: i8| {
                    let mut offset = [0; 3];
                    offset[axis] = by;
                    offset[(axis + 1) % 3] = by * other;
                    format!("offset(here, {}, {}, {}, wrap, wrap, mirror, mirror, clamp, clamp)", offset[0], offset[1], offset[2])
                };
                let n = terms.len();
                reads += &format!("    a{n}: Scalar = u[{}]\n    b{n}: Scalar = u[{}]\n", at(by), at(-by));
                terms.push(format!("((a{n} - b{n}) / w)"));
            }
        }
    }
    let end = end(&terms.into_iter().reduce(|a, b| format!("({a} + {b})")).unwrap_or_default());
    let text = format!(
        "module m{precision}\nkernel compute_v over AllCells() {{\n  param u: Scalar On AllCells()\n  param width: Scalar\n  \
         result v: Scalar On AllCells()\n  body {{\n    w: Scalar = (60.0 * width)\n{reads}{end}  }}\n}}\nmain {{\n}}\n"
    );
    let module =
        verify(parse(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"))).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let mut files = Cuda.files(&module).expect("kernels with storage").into_iter();
    let (device, host) = (files.next().expect("kernels"), files.next().expect("a host side"));
    (device.1, host.1)
}

/// Places along the axes are worked out once, however many reads there are, and there is no
/// function for grids that such a program does not run on.
#[test]
fn rules_beyond_the_grid_are_resolved_once_for_each_place() {
    let (device, host) = kernel(1, "");
    let (one, rows) = device.split_once("template <int ROW>").expect("a body for several cells of a row");
    for body in [one, rows] {
        assert_eq!((body.matches("_place(").count(), body.matches("__global__").count()), (6, 1), "{device}");
    }
    // Values in the row of a cell, or in another row at its place, are loaded together.
    assert_eq!((rows.matches("eq_load_row(").count(), rows.matches("eq_store_row(").count()), (6, 1), "{device}");
    assert!(host.contains("or_with_rows"), "{host}");
    assert!(!device.contains("eq_offset_cell") && device.contains("EQ_LIGHT"), "{device}");
    assert!(host.contains("launch_over_cells") && !host.contains("wide()"), "{host}");
}

/// Threads go from plane to plane where all that they load for one fits into registers.
#[test]
fn columns_are_kept_where_there_are_registers() {
    for (fields, fits) in [(1, true), (2, false)] {
        let at = |field: usize, y: i8, z: i8| format!("u{field}[offset(here, 0, {y}, {z}, never, never, clamp, clamp, clamp, clamp)]");
        let mut terms = Vec::new();
        for field in 0..fields {
            terms.push(format!("u{field}[here]"));
            terms.extend([-2, -1, 1, 2].map(|z| at(field, 0, z)));
            terms.extend([-4, -3, -2, -1, 1, 2, 3, 4].map(|y| at(field, y, 0)));
        }
        let params: String = (0..fields).map(|field| format!("  param u{field}: Scalar On AllCells()\n")).collect();
        let sum = terms.into_iter().reduce(|a, b| format!("({a} + {b})")).unwrap_or_default();
        let text = format!(
            "module m\nkernel compute_v over AllCells() {{\n{params}  result v: Scalar On AllCells()\n  body {{\n    yield {sum}\n  }}\n}}\n\
             main {{\n}}\n"
        );
        let module = verify(parse(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"))).unwrap_or_else(|error| panic!("{error:?}"));
        let files = Cuda.files(&module).expect("kernels with storage");
        let found = (files[0].1.contains("EQ_PLANES"), files[1].1.contains("or_by_planes"), files[0].1.contains("EQ_LIGHT"));
        assert_eq!(found, (fits, fits, true), "{}", files[0].1);
    }
}

/// Divisions without branches, and all of it once more for rare numbers.
#[test]
fn bodies_with_many_reads_are_wide() {
    let (device, host) = kernel(6, "");
    assert_eq!((device.matches("eq_divide_by(").count(), device.matches("eq_divide(").count()), (36, 36), "{device}");
    assert_eq!((device.matches("eq_inverse(").count(), device.matches("if (rare) {").count()), (1, 1), "{device}");
    assert!(device.contains("EQ_WIDE") && host.contains("let call = call.wide();"), "{device}\n{host}");
    // Differences of the first half are added before the second one is read.
    let usual = device.split("if (rare) {").next().expect("a body");
    let (first, last) = (usual.find("eq_divide_by(").expect("a quotient"), usual.rfind("u[").expect("a read"));
    assert!(first < last, "{device}");
}

/// Doubles are read where Scalars enter, and nowhere else.
#[test]
fn kernels_of_singles_compute_in_singles() {
    for reach in [1, 6] {
        let (device, _) = kernel(reach, " f32");
        for line in device.lines().filter(|line| line.contains("double")) {
            assert!(line.contains("const double* __restrict__ width_at"), "{line}");
        }
        let one = device.split("template <int ROW>").next().expect("a body");
        assert_eq!(one.matches("width_at").count(), 2, "{device}");
        assert!(device.contains("const float width = float(*width_at);") && device.contains("60.0f * width"), "{device}");
    }
}

/// A result that a choice assigns is stored after it, in the usual body and in the rare one.
#[test]
fn results_of_choices_are_stored() {
    let (device, _) = kernel_of(6, "", |sum| {
        format!(
            "    s: Scalar = {sum}\n    r: Scalar = if (s > 0.0) {{\n      t: Scalar = (s * s)\n      yield (t + t)\n    }} else {{\n      \
             yield s\n    }}\n    yield r\n"
        )
    });
    assert!(device.contains("EQ_WIDE"), "{device}");
    assert_eq!(device.matches("v_out[cell.index] = ").count(), 2, "{device}");
}

/// The rows of cells inside the grid are written by column, without a search; those near a side are
/// added to where the maps lead.
#[test]
fn rows_of_equations_are_written_by_column_inside_the_grid() {
    let at = |by: i8| format!("u[offset(here, {by}, 0, 0, wrap, wrap, never, never, never, never)]");
    let text = format!(
        "module m\nkernel residual over AllCells() {{\n  param u: Scalar On AllCells()\n  param c: Scalar\n  result r: Scalar On AllCells()\n  \
         body {{\n    yield (u[here] - (c * ({low} + {high})))\n  }}\n  jacobian by 1 {{\n    add u[here] = 1.0\n    d: Scalar = neg(c)\n    \
         add {high} = d\n    add {low} = d\n    yield (u[here] - (c * ({low} + {high})))\n  }}\n}}\nmain {{\n}}\n",
        low = at(-2),
        high = at(1)
    );
    let module =
        verify(parse(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"))).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let mut files = Cuda.files(&module).expect("kernels with storage").into_iter();
    let (device, host) = (files.next().expect("kernels").1, files.next().expect("a host side").1);
    assert!(device.contains("if (eq_is_far(g, cell, 2, 1, 0, 0, 0, 0)) {"), "{device}");
    // By ascending column, whatever the order of the additions.
    assert!(device.contains("entries[0] = by_u_m2_0_0;\n      entries[1] = by_u_0_0_0;\n      entries[2] = by_u_1_0_0;\n"), "{device}");
    assert!(device.contains("at_xm2 = cell.ijk[0] - 2;"), "{device}");
    assert_eq!(device.matches("eq_add(row, ").count(), 3, "{device}");
    assert!(host.contains("residual_cartesian_pattern"), "{host}");
}
