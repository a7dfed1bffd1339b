//! Residuals that read by index: columns of rows are those of offsets, also several cells away, and
//! of the cells that rules beyond the grid name.

use std::collections::BTreeMap;
use std::fs;

use backend_serial::runtime::SerialRuntime;
use equelle::interpret;
use equelle_front::source::SourceMap;
use equelle_interp::{Derivatives, Evaluated, Options, evaluate_equations_at};
use equelle_runtime::{Session, session};

use super::agree::{Failure, agree, treated};
use crate::support::{Dimensions, EVERY_WAY, How, run_with, scratch};

/// A second derivative of order 6 along an axis.
const SECOND: &str = "second(f, a) = {
    even = 2 * (f(a+3) + f(a-3)) - 27 * (f(a+2) + f(a-2)) + 270 * (f(a+1) + f(a-1))
    -> (even - 490 * f) / (180 * Width(a)^2)
}
";

/// One implicit step of diffusion, with these rules beyond the grid.
fn diffusion(rules: &str) -> String {
    format!(
        "i = StencilI()\nj = StencilJ()\ng = InputCollectionOfScalar(\"g\", AllCells())\n{SECOND}r(u) = {{
    p = Halo(u, {rules})
    -> u - g - 0.01 * (second(p, i) + second(p, j))
}}
u = NewtonSolve(r, g)
Output(\"u\", u)
"
    )
}

const G: &str = "g_expression=2+Sin(3*x)*y+x*y*y";

fn evaluated(text: &str, words: &[&str], derivatives: Derivatives, h: f64) -> Evaluated {
    let source = SourceMap::new("p.equelle", text);
    let (verified, untreated) = treated(&source);
    assert_eq!(untreated, [], "{text}");
    let mut words: Vec<String> = words.iter().map(ToString::to_string).collect();
    words.push("output_to_file=false".into());
    let session =
        Session::open_with(interpret::program(&source, &verified), &words, session::Options::silent()).unwrap_or_else(|e| panic!("{e:?}"));
    let options = Options { derivatives, ..Options::default() };
    let moved = |_, position, value| value + h * direction(position);
    let found = evaluate_equations_at(&verified, &mut SerialRuntime::new(session), options, &moved);
    let mut found = found.unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(found.len(), 1);
    found.remove(0)
}

/// A vector without symmetries.
fn direction(position: usize) -> f64 {
    (1.7 * position as f64 + 0.3).sin()
}

fn largest<'a>(values: impl IntoIterator<Item = &'a f64>) -> f64 {
    values.into_iter().fold(0.0, |most, x| f64::max(most, x.abs()))
}

/// The cell in the place of one of `n` along a periodic axis.
fn wrapped(at: usize, by: i64, n: usize) -> usize {
    (at as i64 + by).rem_euclid(n as i64) as usize
}

/// Grids with 6 = 2 * 3 cells along an axis, where both ends of the stencil are one column, and
/// with as many as the reach.
const GRIDS: [[usize; 2]; 3] = [[6, 8], [9, 6], [3, 7]];

fn words(n: &[String; 2]) -> [&str; 6] {
    ["grid_dim=2", &n[0], &n[1], "dx=0.5", "dy=0.25", G]
}

fn sizes([nx, ny]: [usize; 2]) -> [String; 2] {
    [format!("nx={nx}"), format!("ny={ny}")]
}

/// Rows of periodic diffusion are known: 1 + 490 k on the diagonal and -270 k, 27 k, -2 k beside
/// it, with k = dt / (180 h^2), for each axis. Each is a product of four rounded numbers, and a
/// column of a short axis the sum of a few.
#[test]
fn rows_of_diffusion_are_the_coefficients() {
    for n in GRIDS {
        let sizes = sizes(n);
        let found = evaluated(&diffusion("Periodic(i, j)"), &words(&sizes), Derivatives::Kernels, 0.0);
        assert_eq!(found.rows.len(), n[0] * n[1]);
        for (cell, row) in found.rows.iter().enumerate() {
            let at = [cell % n[0], cell / n[0]];
            let mut expected = BTreeMap::from([(cell, 1.0)]);
            for (axis, h) in [0.5_f64, 0.25].into_iter().enumerate() {
                for (by, c) in [(-3, 2.0), (-2, -27.0), (-1, 270.0), (0, -490.0), (1, 270.0), (2, -27.0), (3, 2.0)] {
                    let mut to = at;
                    to[axis] = wrapped(at[axis], by, n[axis]);
                    *expected.entry(to[0] + n[0] * to[1]).or_default() -= 0.01 * c / (180.0 * h * h);
                }
            }
            assert!(row.keys().eq(expected.keys()), "cell {cell} of {n:?}: {row:?}");
            let most = largest(row.values());
            for ((column, a), b) in row.iter().zip(expected.values()) {
                assert!((a - b).abs() <= 1e-14 * most, "cell {cell} of {n:?}, column {column}: {a:e} instead of {b:e}");
            }
        }
    }
}

/// In strict mode entries that mirror one another are made of the same products.
#[test]
fn periodic_rows_are_symmetric_to_the_bit() {
    for n in GRIDS {
        let sizes = sizes(n);
        let rows = evaluated(&diffusion("Periodic(i, j)"), &words(&sizes), Derivatives::Kernels, 0.0).rows;
        for (row, entries) in rows.iter().enumerate() {
            for (&column, value) in entries {
                assert_eq!(value.to_bits(), rows[column][&row].to_bits(), "{row}, {column} of {n:?}");
            }
        }
    }
}

/// Rules whose cells meet inside short axes, that negate, and that add; a nonlinear coefficient.
const OTHERS: [&str; 4] = [
    "Mirror(i), Negate(j)",
    "MirrorAt(i), Periodic(j)",
    "Copy(Low(i)), Value(High(i), 0.5), AtFace(j, g)",
    "Polynomial(i, 2), Slope(Low(j), 0.25), Mirror(High(j))",
];

fn nonlinear(rules: &str) -> String {
    diffusion(rules).replace("0.01 * (", "0.01 * p(i+2, j-1) * (u * u(i, j) + 1) * (")
}

/// Both ways to derivatives add the same products: some ten for an entry.
#[test]
fn rows_are_those_of_sparse_matrices() {
    for n in GRIDS {
        let sizes = sizes(n);
        for rules in ["Periodic(i, j)"].iter().chain(&OTHERS) {
            for text in [diffusion(rules), nonlinear(rules)] {
                let [by_kernel, by_operations] =
                    [Derivatives::Kernels, Derivatives::Operations].map(|way| evaluated(&text, &words(&sizes), way, 0.0));
                let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&by_kernel.residual), bits(&by_operations.residual), "{text}");
                for (cell, (a, b)) in by_kernel.rows.iter().zip(&by_operations.rows).enumerate() {
                    let most = largest(a.values());
                    for column in a.keys().chain(b.keys()) {
                        let [a, b] = [a, b].map(|row| row.get(column).copied().unwrap_or_default());
                        assert!((a - b).abs() <= 1e-13 * most, "cell {cell} of {n:?}, column {column}: {a:e} and {b:e}\n{text}");
                    }
                }
            }
        }
    }
}

/// Central differences along a direction: an error of h^2 with h = 1e-5, and rounding of 1e-16 / h.
#[test]
fn rows_are_finite_differences() {
    let h = 1e-5;
    for n in GRIDS {
        let sizes = sizes(n);
        for rules in ["Periodic(i, j)"].iter().chain(&OTHERS) {
            let text = nonlinear(rules);
            let [low, here, high] = [-h, 0.0, h].map(|h| evaluated(&text, &words(&sizes), Derivatives::Kernels, h));
            let most = largest(here.rows.iter().flat_map(BTreeMap::values));
            for (cell, row) in here.rows.iter().enumerate() {
                let along: f64 = row.iter().map(|(&column, value)| value * direction(column)).sum();
                let difference = (high.residual[cell] - low.residual[cell]) / (2.0 * h);
                assert!((along - difference).abs() <= 1e-7 * most, "cell {cell} of {n:?}: {along:e} and {difference:e}\n{text}");
            }
        }
    }
}

/// Both ways at every iterate, and the solution of a linear equation in one correction.
#[test]
fn a_linear_step_takes_one_correction() {
    let folder = scratch("stencil-by-index");
    let file = folder.join("diffusion.equelle");
    fs::write(&file, diffusion("Periodic(i, j)")).expect("a scratch folder can be written");
    let sizes = sizes([9, 6]);
    let mut all = words(&sizes).to_vec();
    let owned: Vec<String> = all.iter().map(ToString::to_string).collect();
    assert_eq!(agree(&diffusion("Periodic(i, j)"), &owned, Failure::MustNot).len(), 1);
    all.extend(["solver=lu", "max_iter=1"]);
    let program = file.display().to_string();
    let expected = run_with(How::Interpreted2, Dimensions::Unchecked, &program, &all);
    let most = largest(expected.last("u"));
    for how in EVERY_WAY {
        let found = run_with(how, Dimensions::Unchecked, &program, &all);
        for (a, b) in found.last("u").iter().zip(expected.last("u")) {
            // The matrix has a condition below 100: see `rows_are_those_of_sparse_matrices`.
            assert!((a - b).abs() <= 1e-12 * most, "{how:?}: {a:e} and {b:e}");
        }
    }
}

/// Solutions have the same bits wherever ranges of threads begin, on grids with and without cells
/// inside; those of the interpreter are as near as Newton's method leaves them.
#[test]
fn solutions_have_the_same_bits_for_any_number_of_threads() {
    let program = "tests/programs/implicit_by_index.equelle";
    for [nx, ny] in [["nx=12", "ny=9"], ["nx=6", "ny=5"], ["nx=300", "ny=7"]] {
        let words = ["grid_dim=2", nx, ny, "dx=0.5", "dy=0.25", "u_expression=Sin(x)+y", "threads=1"];
        let interpreted = run_with(How::Interpreted2, Dimensions::Unchecked, program, &words);
        let expected = run_with(How::Compiled2, Dimensions::Unchecked, program, &words);
        for threads in ["threads=2", "threads=3"] {
            let words = [&words[..6], &[threads]].concat();
            let found = run_with(How::Compiled2, Dimensions::Unchecked, program, &words);
            crate::support::assert_same_bits(&found, &expected, &format!("{nx}, {ny}, {threads}"));
        }
        let most = largest(expected.last("u"));
        for (a, b) in interpreted.last("u").iter().zip(expected.last("u")) {
            // The residual falls to its roundings; the matrix has a condition below 100.
            assert!((a - b).abs() <= 1e-12 * most, "{nx}, {ny}: {a:e} and {b:e}");
        }
    }
}
