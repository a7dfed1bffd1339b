//! Accuracy of rules beyond the grid: manufactured solutions for each, and their observed orders.

use std::fmt::Write as _;

use super::program;
use crate::support::How;

const PI: &str = "3.141592653589793";

/// Conduction of heat between 0 and 1: a name, the rules, a solution that keeps to them, and the
/// source that holds it.
const SOLUTIONS: [(&str, &str, &str, &str); 9] = [
    ("periodic", "Periodic(i)", "Sin(2*pi*x)", "4*pi^2*Sin(2*pi*x)"),
    ("mirror", "Mirror(i)", "Cos(pi*x)", "pi^2*Cos(pi*x)"),
    // Symmetric about the centres of the last cells.
    ("mirror_at", "MirrorAt(i)", "Cos(pi*(x-h/2)/(1-h))", "(pi/(1-h))^2*Cos(pi*(x-h/2)/(1-h))"),
    ("negate", "Negate(i)", "Sin(pi*x)", "pi^2*Sin(pi*x)"),
    ("at_face", "AtFace(Low(i), 1), AtFace(High(i), e)", "Exp(x)", "-Exp(x)"),
    ("value", "Value(Low(i), Exp(-h/2)), Value(High(i), Exp(1+h/2))", "Exp(x)", "-Exp(x)"),
    ("copy", "Copy(Low(i)), AtFace(High(i), 1)", "1+Cos(pi/2*x)", "(pi/2)^2*Cos(pi/2*x)"),
    ("slope_low", "Slope(Low(i), 1), AtFace(High(i), e)", "Exp(x)", "-Exp(x)"),
    ("slope_high", "AtFace(Low(i), 1), Slope(High(i), e)", "Exp(x)", "-Exp(x)"),
];

/// Errors at time 0.25, by name; the slowest wave has decayed to a tenth of what it was.
fn errors(n: u32) -> Vec<f64> {
    let mut text = format!("i = StencilI()\npi = {PI}\ne = 2.718281828459045\nh = Width(i)\nx = Centroid(AllCells())[0]\n");
    text += "timesteps = InputSequenceOfScalar(\"timesteps\")\n";
    for (name, _, exact, _) in SOLUTIONS {
        let _ = writeln!(text, "{name} : Mutable Collection Of Scalar On AllCells()\n{name} = {exact}");
    }
    text += "For dt In timesteps {\n";
    for (name, rules, _, source) in SOLUTIONS {
        let _ = writeln!(text, "    {name}_h = Halo({name}, {rules})");
        let _ = writeln!(text, "    {name} = {name} + dt * (({name}_h(i+1) + {name}_h(i-1) - 2 * {name}) / h^2 + {source})");
    }
    text += "}\n";
    for (name, _, exact, _) in SOLUTIONS {
        let _ = writeln!(text, "Output(\"{name}\", MaxReduce(|{name} - ({exact})|))");
    }
    // A quarter of the square of the width.
    let steps = format!("timesteps={}*{:?}", n * n, 0.25 / f64::from(n * n));
    let found = program(How::Interpreted2, &format!("rules-{n}"), &text, &["grid_dim=1", &format!("nx={n}"), "lx=1", &steps]);
    SOLUTIONS.iter().map(|(name, ..)| found.scalars[*name][0]).collect()
}

/// Between 16 and 32 cells the order is that of the limit but for terms of third or fourth order: a
/// twentieth.
#[test]
fn every_rule_is_of_second_order() {
    let (coarse, fine) = (errors(16), errors(32));
    for (((name, ..), coarse), fine) in SOLUTIONS.iter().zip(coarse).zip(fine) {
        let order = (coarse / fine).log2();
        assert!(order >= 1.95, "{name}: {order}, {coarse:e} {fine:e}");
    }
}

/// A polynomial through the cells next to the side makes central differences one-sided there: of
/// degree l, first ones keep the order l; of degree l + 1, second ones.
#[test]
fn polynomials_keep_the_order() {
    let run = |n: usize| {
        let mut text = String::from(
            "Import \"equelle:derivatives\" (first_2, first_4, first_6, first_8, second_2, second_4, second_6)\ni = StencilI()\n",
        );
        text += "a = 6 * Centroid(AllCells())[0] + 0.3\nu = Sin(a)\n";
        for order in [2, 4, 6, 8] {
            let _ =
                writeln!(text, "Output(\"first_{order}\", MaxReduce(|first_{order}(Halo(u, Polynomial(i, {order})), i) - 6 * Cos(a)|))");
        }
        for order in [2, 4, 6] {
            let degree = order + 1;
            let _ = writeln!(
                text,
                "Output(\"second_{order}\", MaxReduce(|second_{order}(Halo(u, Polynomial(i, {degree})), i) + 36 * Sin(a)|))"
            );
        }
        program(How::Interpreted2, &format!("polynomials-{n}"), &text, &["grid_dim=1", &format!("nx={n}"), "lx=1"])
    };
    let (coarse, fine) = (run(32), run(64));
    for (tag, values) in &coarse.scalars {
        let design: f64 = tag.rsplit('_').next().and_then(|order| order.parse().ok()).expect("an order");
        let order = (values[0] / fine.scalars[tag][0]).log2();
        // The next term of one-sided differences changes the order by a twentieth of it.
        assert!(order >= 0.95 * design, "{tag}: {order}, {:e}", values[0]);
    }
}

/// Rules of two axes at corners: a mixed difference of second order up to the corner cells.
#[test]
fn corners_are_of_second_order() {
    let run = |n: usize| {
        let text = format!(
            "Import \"equelle:derivatives\" (mixed_2)\ni = StencilI()\nj = StencilJ()\npi = {PI}\nx = Centroid(AllCells())[0]\ny = Centroid(AllCells())[1]\n\
             u = Halo(Cos(pi*x) * Sin(pi*y), Mirror(i), Negate(j))\n\
             v = Halo(Exp(x) * Cos(pi*y), Polynomial(i, 3), Mirror(j))\n\
             Output(\"reflected\", MaxReduce(|mixed_2(u, i, j) + pi^2 * Sin(pi*x) * Cos(pi*y)|))\n\
             Output(\"one_sided\", MaxReduce(|mixed_2(v, i, j) + pi * Exp(x) * Sin(pi*y)|))\n"
        );
        let n = n.to_string();
        program(How::Interpreted2, &format!("corners-{n}"), &text, &["grid_dim=2", &format!("nx={n}"), &format!("ny={n}"), "lx=1", "ly=1"])
    };
    let (coarse, fine) = (run(16), run(32));
    for tag in ["reflected", "one_sided"] {
        let order = (coarse.scalars[tag][0] / fine.scalars[tag][0]).log2();
        assert!(order >= 1.95, "{tag}: {order}");
    }
}
