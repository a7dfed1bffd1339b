//! Jacobians worked out by hand, and the order of the remainder of Taylor's formula.

use std::collections::BTreeMap;
use std::fs;

use backend_serial::runtime::SerialRuntime;
use equelle::interpret;
use equelle_front::source::SourceMap;
use equelle_interp::{Evaluated, evaluate_equations};
use equelle_runtime::{Session, session};

use super::agree::treated;
use crate::support::scratch;

/// Residuals and rows of the first solve of a program at its guess.
fn evaluated(text: &str, words: &[&str]) -> Vec<Evaluated> {
    let source = SourceMap::new("p.equelle", text);
    let (verified, untreated) = treated(&source);
    assert_eq!(untreated, []);
    let mut words: Vec<String> = words.iter().map(ToString::to_string).collect();
    words.push("output_to_file=false".into());
    let session = Session::open_with(interpret::program(&source, &verified), &words, session::Options::silent()).unwrap();
    evaluate_equations(&verified, &mut SerialRuntime::new(session)).unwrap_or_else(|e| panic!("{e:?}"))
}

fn row(entries: &[(usize, f64)]) -> BTreeMap<usize, f64> {
    entries.iter().copied().collect()
}

/// u - u0 - dt k Laplace(u) on three unit cells in a line, dt k = 1/2: rows (3/2, -1/2), (-1/2, 2,
/// -1/2), (-1/2, 3/2).
#[test]
fn heat_in_one_dimension() {
    let text = "u0 = 1 Extend AllCells()
r(u) = {
    -> u - u0 - 0.5 * Divergence(Gradient(u))
}
u = NewtonSolve(r, u0)
Output(\"u\", u)
";
    let found = evaluated(text, &["grid_dim=1", "nx=3"]);
    assert_eq!(found[0].residual, [0.0; 3]);
    let expected = [row(&[(0, 1.5), (1, -0.5)]), row(&[(0, -0.5), (1, 2.0), (2, -0.5)]), row(&[(1, -0.5), (2, 1.5)])];
    assert_eq!(found[0].rows, expected);
}

/// Flow to the right through the face of cells 0 and 1, to the left through that of 1 and 2: the
/// flux is 2 u0^2 and -3 u2^2, at u = (1, 2, 4). What leaves cell 0 enters cell 1.
#[test]
fn transport_from_upstream_by_entity() {
    let folder = scratch("stencil-upwind");
    fs::write(folder.join("v.txt"), "2 -3").unwrap();
    fs::write(folder.join("g.txt"), "1 2 4").unwrap();
    let text = "v = InputCollectionOfScalar(\"v\", InteriorFaces())
g = InputCollectionOfScalar(\"g\", AllCells())
r(u) = {
    from = v >= (0 Extend InteriorFaces()) ? FirstCell(InteriorFaces()) : SecondCell(InteriorFaces())
    -> u + Divergence(v * ((u * u) On from))
}
u = NewtonSolve(r, g)
Output(\"u\", u)
";
    let (v, g) = (format!("v_filename={}", folder.join("v.txt").display()), format!("g_filename={}", folder.join("g.txt").display()));
    let words =
        ["grid_dim=1", "nx=3", "v_from_file=true", "g_from_file=true", &v, &g, "newton_failure=continue", "max_iter=1", "solver=lu"];
    let found = evaluated(text, &words);
    // 1 + 2, 2 - 2 - 48, 4 + 48.
    assert_eq!(found[0].residual, [3.0, -48.0, 52.0]);
    // The cell that is not chosen has an entry, too: the pattern does not depend on the state.
    let expected = [row(&[(0, 1.0 + 4.0), (1, 0.0)]), row(&[(0, -4.0), (1, 1.0), (2, -24.0)]), row(&[(1, 0.0), (2, 1.0 + 24.0)])];
    assert_eq!(found[0].rows, expected);
}

/// A cell plus the maximum of 4 and the squares of its neighbours, at u = (3, 1, 3, 2). Cell 1 has
/// equal neighbours: the derivative is that of the one beyond face 1. The maximum of cell 3 is 9.
/// Cells 0 and 2 keep the 4, although a neighbour of cell 2 also has the square 4.
#[test]
fn the_first_extreme_has_the_derivative() {
    let folder = scratch("stencil-extremes");
    fs::write(folder.join("g.txt"), "3 1 3 2").unwrap();
    let text = "g = InputCollectionOfScalar(\"g\", AllCells())
r(u) = {
    f = InteriorFaces()
    q = u * u
    -> u + FaceMax(q On SecondCell(f), q On FirstCell(f), 4)
}
u = NewtonSolve(r, g)
Output(\"u\", u)
";
    let filename = format!("g_filename={}", folder.join("g.txt").display());
    let words = ["grid_dim=1", "nx=4", "g_from_file=true", &filename, "newton_failure=continue", "max_iter=1", "solver=lu"];
    let found = evaluated(text, &words);
    assert_eq!(found[0].residual, [7.0, 10.0, 7.0, 11.0]);
    let expected = [
        row(&[(0, 1.0), (1, 0.0)]),
        row(&[(0, 6.0), (1, 1.0), (2, 0.0)]),
        row(&[(1, 0.0), (2, 1.0), (3, 0.0)]),
        row(&[(2, 6.0), (3, 1.0)]),
    ];
    assert_eq!(found[0].rows, expected);
}

/// Two unknowns, on the two cells and on the face between them, numbered 0, 1 and 2: x + div(y) and
/// y * x(first) - 3, at x = (2, 5), y = 7.
#[test]
fn unknowns_on_different_sets() {
    let text = "first(x, y) = {
    -> x + Divergence(y)
}
second(x, y) = {
    -> y * (x On FirstCell(InteriorFaces())) - (3 Extend InteriorFaces())
}
s = NewtonSolveSystem([first, second], [2 Extend AllCells(), 7 Extend InteriorFaces()])
Output(\"x\", s[0])
";
    let found = evaluated(text, &["grid_dim=1", "nx=2", "newton_failure=continue", "max_iter=1", "solver=lu"]);
    assert_eq!((found[0].residual.as_slice(), found[1].residual.as_slice()), ([9.0, -5.0].as_slice(), [11.0].as_slice()));
    assert_eq!(found[0].rows, [row(&[(0, 1.0), (2, 1.0)]), row(&[(1, 1.0), (2, -1.0)])]);
    assert_eq!(found[1].rows, [row(&[(0, 7.0), (2, 2.0)])]);
}

/// r(g + h d) - r(g) - h J d falls with the square of h where r is smooth. The residual is of
/// degree 3, sums in sums included.
#[test]
fn remainder_is_of_second_order() {
    let folder = scratch("stencil-taylor");
    let text = "g = InputCollectionOfScalar(\"g\", AllCells())
r(u) = {
    d = Divergence(Gradient(u) * Sqrt((u * u) On FirstCell(InteriorFaces())))
    -> u * u + d * u + 0.1 * Divergence(Gradient(d) * Gradient(u)) + Exp(0.1 * u)
}
u = NewtonSolve(r, g)
Output(\"u\", u)
";
    let at = |h: f64| {
        let file = folder.join(format!("g{h}.txt"));
        let values: Vec<String> =
            (0..12).map(|k| format!("{:?}", 1.0 + 0.3 * f64::from((k * 5) % 7) + h * f64::from((k * 3) % 5 - 2))).collect();
        fs::write(&file, values.join(" ")).unwrap();
        let filename = format!("g_filename={}", file.display());
        let words = ["grid_dim=2", "nx=4", "ny=3", "g_from_file=true", &filename, "newton_failure=continue", "max_iter=1", "solver=lu"];
        evaluated(text, &words).remove(0)
    };
    let base = at(0.0);
    let remainder = |h: f64| {
        let moved = at(h);
        let of_row = |k: usize| {
            let linear: f64 = base.rows[k].iter().map(|(&column, value)| value * h * f64::from((column as i32 * 3) % 5 - 2)).sum();
            (moved.residual[k] - base.residual[k] - linear).abs()
        };
        (0..12).map(of_row).fold(0.0, f64::max)
    };
    let (coarse, fine) = (remainder(1e-2), remainder(1e-3));
    // A hundredth, up to the terms of third order: a tenth of a tenth of the second ones at h =
    // 1e-2.
    let ratio = coarse / fine;
    assert!((80.0..125.0).contains(&ratio), "{coarse:e} {fine:e}");
}
