//! Rules that carry data, read at edges and corners: at places beyond a side of a later axis.

use super::program;
use crate::support::{Dimensions, EVERY_WAY, How, Outputs, assert_same_bits, run_with};

/// x y with its own values on all four sides, in cells one wide.
const PRODUCT: &str = "i = StencilI()
j = StencilJ()
c = Centroid(AllCells())
x = c[0]
y = c[1]
u = x * y
h = Halo(u, AtFace(Low(i), 0 * y), AtFace(High(i), 4 * y), AtFace(Low(j), 0 * x), AtFace(High(j), 3 * x))
Output(\"diagonal\", h(i+1, j+1) - (x + 1) * (y + 1))
Output(\"straight\", h(i+1) - (x + 1) * y)
Output(\"mixed\", (h(i+1, j+1) - h(i-1, j+1) - h(i+1, j-1) + h(i-1, j-1)) / 4)
";

/// The ghost value twice that of the side minus that of the cell is exact for what is linear along
/// the axis, and all numbers here have few binary digits.
#[test]
fn a_product_is_exact_up_to_the_corners() {
    for how in EVERY_WAY {
        let found = program(how, "product", PRODUCT, &["grid_dim=2", "nx=4", "ny=3"]);
        assert_eq!(found.last("diagonal"), [0.0; 12], "{how:?}");
        assert_eq!(found.last("straight"), [0.0; 12], "{how:?}");
        assert_eq!(found.last("mixed"), [1.0; 12], "{how:?}");
    }
}

const PROGRAM: &str = "tests/programs/corners_by_index.equelle";
const WIDTHS: [f64; 3] = [0.5, 0.25, 1.0];

fn outputs(how: How, cells: [usize; 3]) -> Outputs {
    let sizes =
        ["x", "y", "z"].iter().zip(cells).zip(WIDTHS).flat_map(|((axis, n), width)| [format!("n{axis}={n}"), format!("d{axis}={width}")]);
    let words: Vec<String> = ["grid_dim=3".to_owned(), "u_expression=x*x+3*y*z".to_owned()].into_iter().chain(sizes).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    run_with(how, Dimensions::Unchecked, PROGRAM, &words)
}

/// (x y + t) z - y is linear along each axis, so that `AtFace` and `Slope` with exact data continue
/// it, along all twelve edges and at all eight corners. Widths are powers of two.
#[test]
fn edges_and_corners_of_a_block() {
    for cells in [[4, 3, 2], [2, 2, 2]] {
        let found = outputs(How::Interpreted0, cells);
        let count = cells.iter().product::<usize>();
        let exact = |cell: usize, t: f64, by: [i32; 3]| {
            let index = [cell % cells[0], cell / cells[0] % cells[1], cell / (cells[0] * cells[1])];
            let [x, y, z] = std::array::from_fn(|axis| (index[axis] as f64 + 0.5 + f64::from(by[axis])) * WIDTHS[axis]);
            (x * y + t) * z - y
        };
        for (round, (at, edges)) in found.fields("exact").iter().zip(found.fields("edges")).enumerate() {
            let t = round as f64 + 1.0;
            for cell in 0..count {
                let read = |by| exact(cell, t, by);
                let expected = read([-2, 1, -1]) + 10.0 * read([2, -2, 0]) + 100.0 * read([0, -1, 2]) + 1000.0 * read([1, 1, 1]);
                assert_eq!(at[cell], expected, "{cells:?}, cell {cell} at {t}");
                let expected = read([1, 1, 0]) + 10.0 * read([-1, 0, 1]) + 100.0 * read([0, 2, -2]);
                assert_eq!(edges[cell], expected, "{cells:?}, cell {cell} at {t}");
            }
        }
    }
}

/// Data with rules of their own, in the first of eight cells whose values are 1 to 8.
#[test]
fn data_with_rules_of_their_own() {
    let text = "i = StencilI()
j = StencilJ()
k = StencilK()
u = InputCollectionOfScalar(\"u\", AllCells())
periodic = Halo(u, AtFace(i, Halo(u, Periodic(j), Copy(k))), Mirror(j, k))
Output(\"edge\", periodic(i-1, j-1))
Output(\"corner\", periodic(i-1, j-1, k-1))
nested = Halo(u, Value(i, Halo(u, AtFace(j, Halo(3 * u, Negate(k))), Copy(k))), Mirror(j, k))
Output(\"nested\", nested(i-1, j-1, k-1))
places = Halo(u, Value(i, 10 * IndexOf(j) + 100 * IndexOf(k) + (Even(j, k) ? 1 : 0)), Mirror(j, k))
Output(\"places\", places(i-1, j-1, k-1))
Output(\"place\", places(i-1, j-2, k))
distance = Halo(u, Value(i, |Centroid(AllCells())|), Mirror(j, k))
Output(\"distance\", distance(i-1, j-1))
";
    let words = ["grid_dim=3", "nx=2", "ny=2", "nz=2", "u_expression=1+(x-0.5)+2*(y-0.5)+4*(z-0.5)"];
    for how in EVERY_WAY {
        let found = program(how, "own-rules", text, &words);
        // The data are periodic along J, 3 there; the values themselves mirrored.
        assert_eq!(found.last("edge")[0], 2.0 * 3.0 - 1.0, "{how:?}");
        assert_eq!(found.last("corner")[0], 2.0 * 3.0 - 1.0, "{how:?}");
        // The data of the data are -3 beyond K, their values 1 there.
        assert_eq!(found.last("nested")[0], 2.0 * -3.0 - 1.0, "{how:?}");
        // Indices -1, the sum even; then -2 and 0.
        assert_eq!(found.last("places")[0], -110.0 + 1.0, "{how:?}");
        assert_eq!(found.last("place")[0], -20.0 + 1.0, "{how:?}");
        // At 1/2, -1/2, 1/2.
        assert_eq!(found.last("distance")[0], 0.75_f64.sqrt(), "{how:?}");
    }
}

#[test]
fn every_way_gives_the_same_bits_at_corners() {
    for cells in [[5, 3, 4], [2, 2, 2]] {
        let expected = outputs(How::Interpreted0, cells);
        assert_eq!(expected.collections.len(), 7);
        for how in EVERY_WAY {
            assert_same_bits(&outputs(how, cells), &expected, &format!("{how:?}, {cells:?}"));
        }
    }
}

/// Diffusion with the tensor 2, 3/4; 3/4, 1 between exact values of e^x sin y on all four sides.
#[test]
fn diffusion_with_a_full_tensor_is_of_second_order() {
    let errors = |n: usize| {
        let text = "Import \"equelle:derivatives\" (mixed_2, second_2)
i = StencilI()
j = StencilJ()
x = Centroid(AllCells())[0]
y = Centroid(AllCells())[1]
exact(x, y) = { -> Exp(x) * Sin(y) }
source = 2 * exact(x, y) + 1.5 * Exp(x) * Cos(y) - exact(x, y)
residual(u) = {
    h = Halo(u, AtFace(Low(i), exact(0, y)), AtFace(High(i), exact(1, y)), AtFace(Low(j), exact(x, 0)), AtFace(High(j), exact(x, 1)))
    -> source - 2 * second_2(h, i) - 1.5 * mixed_2(h, i, j) - second_2(h, j)
}
e = NewtonSolve(residual, 0 Extend AllCells()) - exact(x, y)
Output(\"largest\", MaxReduce(|e|))
Output(\"mean_square\", SumReduce(e * e) / (Extent(i) * Extent(j)))
";
        let n = n.to_string();
        let words = ["grid_dim=2", &format!("nx={n}"), &format!("ny={n}"), "lx=1", "ly=1"];
        let found = program(How::Interpreted2, &format!("tensor-{n}"), text, &words);
        (found.scalars["largest"][0], found.scalars["mean_square"][0].sqrt())
    };
    let (coarse, fine) = (errors(16), errors(32));
    // The largest error stands next to a side, where that of a ghost value counts too: 3 % are
    // digits that are left out here.
    assert!((coarse.0 / 8.8e-4 - 1.0).abs() < 0.03 && (fine.0 / 2.4e-4 - 1.0).abs() < 0.03, "{coarse:?} {fine:?}");
    let order = (coarse.1 / fine.1).log2();
    assert!(order >= 1.95, "{order}, {coarse:?} {fine:?}");
}
