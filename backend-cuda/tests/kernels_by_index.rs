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
    assert_eq!((device.matches("_place(").count(), device.matches("__global__").count()), (6, 1), "{device}");
    assert!(!device.contains("eq_offset_cell") && device.contains("EQ_LIGHT"), "{device}");
    assert!(host.contains("launch_over_cells") && !host.contains("wide()"), "{host}");
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
        assert_eq!(device.matches("width_at").count(), 2, "{device}");
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
