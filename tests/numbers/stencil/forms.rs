//! The two bodies of an equation, and the derivatives of every implicit example: near its guess,
//! where nothing happens to be equal or zero.

use std::fs;
use std::path::PathBuf;

use backend_serial::runtime::SerialRuntime;
use equelle::interpret;
use equelle_front::source::SourceMap;
use equelle_interp::{Evaluated, Options, evaluate_equations_at};
use equelle_runtime::{Session, session};

use super::agree::{INPUTS, rules, treated, words};
use crate::support::{repository, scratch};

/// Pseudo-random, in -1 .. 1, the same in every run.
fn random(unknown: usize, position: usize, salt: u64) -> f64 {
    let mut x =
        (unknown as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (position as u64 + 7).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (salt << 32);
    for _ in 0..3 {
        x ^= x >> 31;
        x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    }
    (x >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// A place to differentiate at: 10 percent around the guess.
fn near(unknown: usize, position: usize, value: f64) -> f64 {
    let size = if value == 0.0 { 1.0 } else { value.abs() };
    value + 0.1 * size * random(unknown, position, 1).abs()
}

/// A change of it, as large as the values are.
fn change(unknown: usize, position: usize, value: f64) -> f64 {
    let size = if value == 0.0 { 1.0 } else { value.abs() };
    size * random(unknown, position, 2)
}

fn evaluated(text: &str, words: &[String], cartesian_forms: bool, h: f64) -> Vec<Evaluated> {
    let source = SourceMap::new("p.equelle", text);
    let (verified, untreated) = treated(&source);
    assert_eq!(untreated, []);
    let words: Vec<String> = words.iter().cloned().chain(["output_to_file=false".to_owned()]).collect();
    let session =
        Session::open_with(interpret::program(&source, &verified), &words, session::Options::silent()).unwrap_or_else(|e| panic!("{e:?}"));
    let options = Options { cartesian_forms, ..Options::default() };
    let moved = |unknown, position, value| near(unknown, position, value) + h * change(unknown, position, value);
    evaluate_equations_at(&verified, &mut SerialRuntime::new(session), options, &moved).unwrap_or_else(|e| panic!("{e:?}"))
}

/// Name, text and words of every example with a Newton solve. Widths of cells are powers of two, so
/// that closed forms and arrays of geometry are the same numbers.
fn examples() -> Vec<(String, String, Vec<String>)> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(repository("examples")).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    let example = |folder: PathBuf| {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(folder.join(format!("{name}.equelle"))).unwrap();
        let mut words = vec![folder.join("case.param").display().to_string()];
        if !name.contains("triangles") {
            words.extend(["dx=8".to_owned(), "dy=4".to_owned(), "dz=2".to_owned()]);
        }
        text.contains("NewtonSolve").then_some((name, text, words))
    };
    let examples: Vec<_> = folders.into_iter().filter_map(example).collect();
    assert!(examples.len() >= 8, "only {}", examples.len());
    examples
}

/// True if a program has equations with a body for Cartesian grids, and ones without.
fn bodies(text: &str) -> (bool, bool) {
    let (verified, _) = treated(&SourceMap::new("p.equelle", text));
    let forms: Vec<bool> = verified.module().kernels.iter().filter_map(|k| k.jacobian.as_ref()).map(|j| j.cartesian.is_some()).collect();
    (forms.contains(&true), forms.contains(&false))
}

/// Every equation of an example runs on Cartesian grids without a map of slots.
#[test]
fn every_example_has_a_body_for_cartesian_grids() {
    for (name, text, _) in examples() {
        assert_eq!(bodies(&text), (true, false), "{name}");
    }
}

/// Differences that rounding leaves between sums of the same terms. A value of the cell itself is
/// shared by its sides in the Cartesian body, so that its derivative is a sum of at most six terms
/// before it is multiplied; each entry is a sum of at most 13 terms of at most 8 operations: (13 +
/// 6 + 8) half units in the last place of terms that are at most twice the largest entry.
const ROUNDING: f64 = 27.0 * f64::EPSILON;

/// The bodies add the same terms: to the bit in the same order where values of the cell are loads
/// alone, else up to the order of terms.
#[test]
fn both_bodies_give_the_same() {
    let mut compared = 0;
    let mut same = |name: &str, text: &str, words: &[String], tolerance: f64| {
        let (general, cartesian) = (evaluated(text, words, false, 0.0), evaluated(text, words, true, 0.0));
        assert_eq!(general.len(), cartesian.len());
        for (a, b) in general.iter().zip(&cartesian) {
            let residuals = |e: &Evaluated| e.residual.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(residuals(a), residuals(b), "{name}: residuals");
            for (number, (a, b)) in a.rows.iter().zip(&b.rows).enumerate() {
                assert!(a.keys().eq(b.keys()), "{name}: columns of row {number}");
                let largest = a.values().fold(0.0_f64, |m, x| m.max(x.abs()));
                for (a, b) in a.values().zip(b.values()) {
                    let close = a.to_bits() == b.to_bits() || (a - b).abs() <= tolerance * largest;
                    assert!(close, "{name}, row {number}: {a:e} and {b:e}, largest {largest:e}");
                }
            }
        }
        compared += 1;
    };
    for (name, text, words) in examples().iter().filter(|(name, ..)| !name.contains("triangles")) {
        same(name, text, words, if name.starts_with("heat") { 0.0 } else { ROUNDING });
    }
    let folder = scratch("stencil-forms");
    let words = words(&folder, "auto");
    for (name, residual) in rules() {
        let text = format!("{INPUTS}r(u) = {{\n {residual}\n}}\nu = NewtonSolve(r, g)\nOutput(\"u\", u)\n");
        // Sums at the cells around do not have one.
        if bodies(&text).0 {
            same(name, &text, &words, ROUNDING);
        }
    }
    assert!(compared >= 16, "only {compared}");
}

/// `r(g + h d) - r(g) - h J d` falls with the square of h, on triangles and on Cartesian grids of
/// one, two and three dimensions, by both bodies: a hundredth of it is left at a tenth of h, or
/// nothing but rounding where a residual is linear. Rounding is 1e-16 of the terms of a row, at
/// most some twenty.
#[test]
fn remainders_of_every_example_are_of_second_order() {
    for (name, text, words) in examples() {
        for cartesian in [false, true] {
            let base = evaluated(&text, &words, cartesian, 0.0);
            let changes = changes(&text, &words, &base);
            let remainder = |h: f64| {
                let moved = evaluated(&text, &words, cartesian, h);
                let mut worst: f64 = 0.0;
                let mut noise: f64 = 0.0;
                for (a, b) in moved.iter().zip(&base) {
                    for (k, row) in b.rows.iter().enumerate() {
                        let linear: f64 = row.iter().map(|(&c, value)| value * h * changes[c].1).sum();
                        let terms: f64 = row.iter().map(|(&c, value)| (value * changes[c].0).abs()).sum::<f64>() + b.residual[k].abs();
                        worst = worst.max((a.residual[k] - b.residual[k] - linear).abs());
                        noise = noise.max(1e-14 * terms);
                    }
                }
                (worst, noise)
            };
            let ((coarse, _), (fine, noise)) = (remainder(1e-4), remainder(1e-5));
            let second_order = (80.0..125.0).contains(&(coarse / fine));
            assert!(second_order || fine <= noise, "{name}, Cartesian {cartesian}: {coarse:e} {fine:e}, rounding {noise:e}");
        }
    }
}

/// Value at the base point and change of every unknown of the solve, in the order of the columns.
fn changes(text: &str, words: &[String], base: &[Evaluated]) -> Vec<(f64, f64)> {
    let source = SourceMap::new("p.equelle", text);
    let (verified, _) = treated(&source);
    let words: Vec<String> = words.iter().cloned().chain(["output_to_file=false".to_owned()]).collect();
    let session = Session::open_with(interpret::program(&source, &verified), &words, session::Options::silent()).unwrap();
    let found = std::cell::RefCell::new(base.iter().map(|e| vec![(0.0, 0.0); e.residual.len()]).collect::<Vec<_>>());
    let note = |unknown: usize, position: usize, value: f64| {
        found.borrow_mut()[unknown][position] = (near(unknown, position, value), change(unknown, position, value));
        near(unknown, position, value)
    };
    evaluate_equations_at(&verified, &mut SerialRuntime::new(session), Options::default(), &note).unwrap();
    found.into_inner().concat()
}
