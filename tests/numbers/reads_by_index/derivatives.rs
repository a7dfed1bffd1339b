//! `equelle:derivatives`: weights as fractions, exactness on polynomials, symbols on plane waves,
//! observed orders, and vector calculus.

use std::f64::consts::PI;
use std::fmt::Write as _;

use equelle_front::check::{CheckOptions, check_text};
use equelle_front::lower::lower;
use equelle_front::source::SourceMap;

use super::program;
use crate::support::{How, Outputs};

/// Weights of an order: of first derivatives by distance from 1; of second ones from 0; of mixed
/// ones by distance from 1. As numerator and denominator.
struct Weights {
    order: usize,
    first: &'static [(i32, i32)],
    second: &'static [(i32, i32)],
    mixed: &'static [(i32, i32)],
}

/// From the conditions that differences are exact on polynomials of the degrees tested below.
const WEIGHTS: [Weights; 4] = [
    Weights { order: 2, first: &[(1, 2)], second: &[(-2, 1), (1, 1)], mixed: &[(1, 4)] },
    Weights { order: 4, first: &[(2, 3), (-1, 12)], second: &[(-5, 2), (4, 3), (-1, 12)], mixed: &[(1, 3), (-1, 48)] },
    Weights {
        order: 6,
        first: &[(3, 4), (-3, 20), (1, 60)],
        second: &[(-49, 18), (3, 2), (-3, 20), (1, 90)],
        mixed: &[(3, 8), (-3, 80), (1, 360)],
    },
    Weights {
        order: 8,
        first: &[(4, 5), (-1, 5), (4, 105), (-1, 280)],
        second: &[(-205, 72), (8, 5), (-1, 5), (8, 315), (-1, 560)],
        mixed: &[(2, 5), (-1, 20), (2, 315), (-1, 2240)],
    },
];

const IMPORT: &str = "Import \"equelle:derivatives\" (first_2, first_4, first_6, first_8, second_2, second_4, second_6, second_8, mixed_2, mixed_4, mixed_6, mixed_8)\ni = StencilI()\nj = StencilJ()\n";

/// Cells of a side, and the one in the middle.
const N: usize = 17;
const MIDDLE: usize = 8;

/// On a plane of unit cells.
fn plane(name: &str, text: &str) -> Outputs {
    program(How::Interpreted2, name, text, &["grid_dim=2", "nx=17", "ny=17"])
}

/// A single 1 amid zeros shows each weight, rounded once: numerators are whole numbers.
#[test]
fn weights_are_the_fractions() {
    let mut text = String::from(IMPORT);
    text += "spike = (|IndexOf(i) - 8| < 0.5 ? 1 : 0) * (|IndexOf(j) - 8| < 0.5 ? 1 : 0)\nu = Halo(spike, Periodic(i, j))\n";
    for Weights { order, .. } in WEIGHTS {
        for (name, call) in [("first", "u, i"), ("second", "u, j"), ("mixed", "u, i, j")] {
            let _ = writeln!(text, "Output(\"{name}_{order}\", {name}_{order}({call}))");
        }
    }
    let found = plane("weights", &text);
    let at = |tag: String, x: i32, y: i32| {
        let cell = |offset: i32| (MIDDLE as i32 + offset) as usize;
        found.last(&tag)[cell(x) + N * cell(y)]
    };
    for Weights { order, first, second, mixed } in WEIGHTS {
        let fraction = |weights: &[(i32, i32)], place: Option<usize>| {
            place.and_then(|place| weights.get(place)).map_or(0.0, |&(above, below)| f64::from(above) / f64::from(below))
        };
        for x in -8..=8_i32 {
            for y in -8..=8_i32 {
                let distance = x.unsigned_abs() as usize;
                // The cell at x sees the spike at -x.
                let expected = if y == 0 { -f64::from(x.signum()) * fraction(first, distance.checked_sub(1)) } else { 0.0 };
                assert_eq!(at(format!("first_{order}"), x, y), expected, "first, order {order}, {x} {y}");
                let expected = if y == 0 { fraction(second, Some(distance)) } else { 0.0 };
                assert_eq!(at(format!("second_{order}"), y, x), expected, "second, order {order}, {x} {y}");
                let diagonal = x.abs() == y.abs();
                let expected = if diagonal { f64::from((x * y).signum()) * fraction(mixed, distance.checked_sub(1)) } else { 0.0 };
                assert_eq!(at(format!("mixed_{order}"), x, y), expected, "mixed, order {order}, {x} {y}");
            }
        }
    }
}

/// Differences of order l are exact up to degree l, second and mixed ones up to l + 1, and for no
/// more. Sums of whole numbers below 2^53 are exact, and so are their quotients here.
#[test]
fn polynomials_up_to_the_order_are_exact() {
    let mut text = String::from(IMPORT);
    text += "one = 1 Extend AllCells()\nx = IndexOf(i) - 8\ny = IndexOf(j) - 8\nbeyond(f) = { -> Halo(f, Copy(i, j)) }\n";
    let power = |name: &str, degree: usize| if degree == 0 { "one".to_owned() } else { format!("{name}^{degree}") };
    for Weights { order, .. } in WEIGHTS {
        for degree in 0..=order + 2 {
            let monomial = power("x", degree);
            let _ = writeln!(text, "Output(\"first_{order}_{degree}\", first_{order}(beyond({monomial}), i))");
            let _ = writeln!(text, "Output(\"second_{order}_{degree}\", second_{order}(beyond({monomial}), i))");
            for other in 0..=order + 2 - degree {
                let monomial = format!("{monomial} * {}", power("y", other));
                let _ = writeln!(text, "Output(\"mixed_{order}_{degree}_{other}\", mixed_{order}(beyond({monomial}), i, j))");
            }
        }
    }
    let found = plane("polynomials", &text);
    // Places whose reads stay in the grid.
    let inside = -4..=4_i32;
    let derivative = |x: i32, degree: usize, times: usize| -> f64 {
        let factor: usize = (0..times).map(|k| degree.saturating_sub(k)).product();
        factor as f64 * if factor == 0 { 0.0 } else { f64::from(x).powi((degree - times) as i32) }
    };
    let at = |tag: &str, x: i32, y: i32| found.last(tag)[(MIDDLE as i32 + x) as usize + N * (MIDDLE as i32 + y) as usize];
    for Weights { order, .. } in WEIGHTS {
        for degree in 0..=order + 2 {
            let is_exact = |name: &str, times: usize| {
                let tag = format!("{name}_{order}_{degree}");
                inside.clone().all(|x| at(&tag, x, 0) == derivative(x, degree, times))
            };
            assert_eq!(is_exact("first", 1), degree <= order, "first, order {order}, degree {degree}");
            assert_eq!(is_exact("second", 2), degree <= order + 1, "second, order {order}, degree {degree}");
            for other in 0..=order + 2 - degree {
                let tag = format!("mixed_{order}_{degree}_{other}");
                let is_exact =
                    inside.clone().all(|x| inside.clone().all(|y| at(&tag, x, y) == derivative(x, degree, 1) * derivative(y, other, 1)));
                // Even powers are even functions, of which both sides are 0 at any degree.
                let is_odd = degree % 2 == 1 && other % 2 == 1;
                let expected = degree + other <= order + 1 || !is_odd;
                assert_eq!(is_exact, expected, "mixed, order {order}, degrees {degree} and {other}");
            }
        }
    }
}

/// Ratios of derivatives of plane waves to the exact ones, less 1, on n x n cells of a square of 2
/// pi.
fn symbol_errors(n: usize, k: usize) -> Outputs {
    let mut text = String::from(IMPORT);
    let _ = writeln!(text, "x = Centroid(AllCells())[0]\ny = Centroid(AllCells())[1]\nk = {k}");
    text += "u = Halo(Sin(k * x), Periodic(i, j))\nv = Halo(Sin(k * (x + y)), Periodic(i, j))\n";
    // Ratios of sums of squares, which no zero of a wave disturbs.
    text += "ratio(found, exact) = { -> SumReduce(found * exact) / SumReduce(exact * exact) - 1 }\n";
    for Weights { order, .. } in WEIGHTS {
        let _ = writeln!(text, "Output(\"first_{order}\", ratio(first_{order}(u, i), k * Cos(k * x)))");
        let _ = writeln!(text, "Output(\"second_{order}\", ratio(second_{order}(u, i), -k * k * Sin(k * x)))");
        let _ = writeln!(text, "Output(\"mixed_{order}\", ratio(mixed_{order}(v, i, j), -k * k * Sin(k * (x + y))))");
        let _ = writeln!(text, "Output(\"composed_{order}\", ratio(first_{order}(first_{order}(v, i), j), -k * k * Sin(k * (x + y))))");
    }
    let words = [format!("nx={n}"), format!("ny={n}"), format!("lx={:?}", 2.0 * PI), format!("ly={:?}", 2.0 * PI)];
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["grid_dim=2"]).collect();
    program(How::Interpreted2, &format!("symbols-{n}-{k}"), &text, &words)
}

const KINDS: [&str; 4] = ["first", "second", "mixed", "composed"];

/// Errors of symbols at order 6 with 4 waves on 64 cells, from sums of sines and cosines in closed
/// form.
#[test]
fn symbols_of_order_6() {
    let (coarse, fine) = (symbol_errors(64, 4), symbol_errors(128, 4));
    for (kind, expected) in KINDS.into_iter().zip([-2.542e-5, -6.394e-6, -3.808e-4, -5.084e-5]) {
        let tag = format!("{kind}_6");
        let (coarse, fine) = (coarse.scalars[&tag][0], fine.scalars[&tag][0]);
        // The digits of the table.
        assert!((coarse / expected - 1.0).abs() < 2e-4, "{kind}: {coarse:e}");
        let order = (coarse / fine).log2();
        assert!(order >= 5.85, "{kind}: {order}");
    }
}

/// How far a program reads is inferred: half the order along each axis, or both halves of a product
/// of two differences.
#[test]
fn reach_is_inferred() {
    let cells = |call: &str| {
        let text = format!("{IMPORT}u = Halo(InputCollectionOfScalar(\"u\", AllCells()), Periodic(i, j))\nOutput(\"d\", {call})\n");
        let checked = check_text(&text, &CheckOptions { nondimensional: true }).program.expect("a program");
        lower(&checked, &SourceMap::new("p.equelle", text.as_str()), "p").structure.expect("reads by index").cells
    };
    for Weights { order, .. } in WEIGHTS {
        let reach = order as u32 / 2;
        assert_eq!(cells(&format!("first_{order}(u, i)")), [reach, 0, 0]);
        assert_eq!(cells(&format!("second_{order}(u, j)")), [0, reach, 0]);
        assert_eq!(cells(&format!("mixed_{order}(u, i, j)")), [reach, reach, 0]);
        assert_eq!(cells(&format!("first_{order}(first_{order}(u, i), j)")), [reach, reach, 0]);
    }
}

/// Two waves: the next term of the error takes at most 0.04 from the order, and rounding, some
/// 1e-16 / h^2 of second derivatives, is a hundredth of the smallest error.
#[test]
fn observed_orders() {
    let (coarse, fine) = (symbol_errors(64, 2), symbol_errors(128, 2));
    for Weights { order, .. } in WEIGHTS {
        for kind in KINDS {
            let tag = format!("{kind}_{order}");
            let observed = (coarse.scalars[&tag][0] / fine.scalars[&tag][0]).log2();
            assert!((observed - order as f64).abs() <= 0.1, "{tag}: {observed}");
        }
    }
}

/// Fields f, v and a are sums of waves with one period in a box of 2 pi.
const VECTORS: &str = "Import \"equelle:derivatives\" (gradient_6, divergence_6, curl_6, laplacian_6, hessian_6, gradient_of_divergence_6, strain_6)
i = StencilI()
j = StencilJ()
k = StencilK()
x = Centroid(AllCells())[0]
y = Centroid(AllCells())[1]
z = Centroid(AllCells())[2]
p(u) = { -> Halo(u, Periodic(i, j, k)) }
error(found, exact) = { -> MaxReduce(|found - exact|) }
a = x + y + z
b = x - y + z + 0.3
c = x + y - z + 0.6
f = p(Sin(a))
v = [p(Sin(a)), p(Sin(b)), p(Sin(c))]
g = gradient_6(f)
Output(\"gradient\", error(g[0], Cos(a)) + error(g[1], Cos(a)) + error(g[2], Cos(a)))
Output(\"divergence\", error(divergence_6(v), Cos(a) - Cos(b) - Cos(c)))
w = curl_6(v)
Output(\"curl\", error(w[0], Cos(c) - Cos(b)) + error(w[1], Cos(a) - Cos(c)) + error(w[2], Cos(b) - Cos(a)))
Output(\"laplacian\", error(laplacian_6(f), -3 * Sin(a)))
h = hessian_6(p(Sin(b)))
s = Sin(b)
Output(\"hessian\", error(h[0], -s) + error(h[1], s) + error(h[2], -s) + error(h[3], -s) + error(h[4], s) + error(h[5], -s))
d = gradient_of_divergence_6(v)
dx = -Sin(a) + Sin(b) + Sin(c)
dy = -Sin(a) - Sin(b) + Sin(c)
dz = -Sin(a) + Sin(b) - Sin(c)
Output(\"gradient_of_divergence\", error(d[0], dx) + error(d[1], dy) + error(d[2], dz))
t = strain_6(v)
third = (Cos(a) - Cos(b) - Cos(c)) / 3
diagonal = error(t[0], Cos(a) - third) + error(t[3], -Cos(b) - third) + error(t[5], -Cos(c) - third)
Output(\"strain\", diagonal + error(t[1], 0.5 * (Cos(a) + Cos(b))) + error(t[2], 0.5 * (Cos(a) + Cos(c))) + error(t[4], 0.5 * (Cos(b) + Cos(c))))
Output(\"trace\", MaxReduce(|t[0] + t[3] + t[5]|) / MaxReduce(|t[0]| + |t[3]| + |t[5]|))
Output(\"div_curl\", MaxReduce(|divergence_6(w)|) / MaxReduce(|w[0]|))
cg = curl_6(g)
Output(\"curl_gradient\", MaxReduce(|cg[0]| + |cg[1]| + |cg[2]|) / MaxReduce(|g[0]|))
";

fn vectors(how: How, n: usize) -> Outputs {
    let mut words = vec!["grid_dim=3".to_owned()];
    for axis in ["x", "y", "z"] {
        words.extend([format!("n{axis}={n}"), format!("l{axis}={:?}", 2.0 * PI)]);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    program(how, &format!("vectors-{n}"), VECTORS, &words)
}

#[test]
fn vector_calculus_is_of_order_6() {
    let (coarse, fine) = (vectors(How::Interpreted2, 16), vectors(How::Compiled2, 32));
    for tag in ["gradient", "divergence", "curl", "laplacian", "hessian", "gradient_of_divergence", "strain"] {
        let order = (coarse.scalars[tag][0] / fine.scalars[tag][0]).log2();
        // One wave on 16 cells: 5.87, 5.90 and 5.59 are those of the symbols from 32 to 64 at 4.
        assert!((5.5..6.1).contains(&order), "{tag}: {order}");
    }
    for outputs in [&coarse, &fine] {
        // Rounding of differences: 1e-16 times weights, over the square of the width.
        assert!(outputs.scalars["div_curl"][0] <= 1e-11 && outputs.scalars["curl_gradient"][0] <= 1e-11, "{:?}", outputs.scalars);
        // Four units in the last place of the terms.
        assert!(outputs.scalars["trace"][0] <= 4.0 * f64::EPSILON, "{:?}", outputs.scalars["trace"]);
    }
    // The interpreter has the bits of the compiled program.
    assert_eq!(vectors(How::Compiled2, 16), coarse);
}
