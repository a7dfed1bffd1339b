//! Small programs: mutables, scopes, vectors, operators, arithmetic, and a sketch with arrays.

use std::fs;

use crate::support::{How, Outputs, assert_close, run, scratch};

const INTERPRETED: [How; 2] = [How::Interpreted0, How::Interpreted2];

fn program(name: &str) -> String {
    format!("tests/programs/{name}.equelle")
}

/// Outputs of a program, interpreted at both levels.
fn outputs(name: &str, words: &[&str]) -> Vec<(How, Outputs)> {
    INTERPRETED.map(|how| (how, run(how, &program(name), words))).into()
}

#[test]
fn functions_read_mutables_at_the_call() {
    for name in ["mutable_context", "mutable_context_template"] {
        for (how, outputs) in outputs(name, &[]) {
            assert_eq!(outputs.scalars["f before"], [16.0], "{name} {how:?}");
            assert_eq!(outputs.scalars["f after"], [6.0], "{name} {how:?}");
        }
    }
}

#[test]
fn functions_in_nested_scopes() {
    let folder = scratch("scopes");
    fs::write(folder.join("seq.txt"), "1 2\n").unwrap();
    fs::write(folder.join("seq2.txt"), "10 20\n").unwrap();
    let words = ["seq", "seq2"].map(|key| format!("{key}_filename={}", folder.join(format!("{key}.txt")).display()));
    for name in ["scopes", "scopes_template"] {
        for (how, outputs) in outputs(name, &[&words[0], &words[1]]) {
            // 6 + (15 + 6 e2) + (8 + e1)
            assert_eq!(outputs.scalars["q"], [90.0, 150.0, 91.0, 151.0], "{name} {how:?}");
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// 3 x 2 cells: 8 faces that x crosses, then 9 that y crosses.
#[test]
fn products_with_normals() {
    let by_axis = |x: f64, y: f64| [vec![x; 8], vec![y; 9]].concat();
    for (how, outputs) in outputs("normals", &["nx=3", "ny=2"]) {
        for (tag, expected) in [
            ("squared normals", by_axis(1.0, 1.0)),
            ("first component", by_axis(1.0, 0.0)),
            ("their sum", by_axis(2.0, 1.0)),
            ("second element of array", by_axis(2.0, 1.0)),
            ("second element of a different, inline array", by_axis(3.0, 1.0)),
            ("second element of the same, inline array, direct access", by_axis(3.0, 1.0)),
            ("should be zero", by_axis(0.0, 0.0)),
            ("should be all 1.5", by_axis(1.5, 1.5)),
        ] {
            assert_eq!(outputs.fields(tag), [expected], "{how:?}, {tag}");
        }
        assert_eq!(outputs.collections.len(), 8, "{how:?}");
    }
}

/// 3 x 3 unit cells: centroids at 0.5, 1.5, 2.5; only the cell in the middle has no face on the
/// boundary.
#[test]
fn operators_and_strings() {
    for name in ["operators", "operators_declared"] {
        for (how, outputs) in outputs(name, &["nx=3", "ny=3"]) {
            assert_eq!(outputs.last("hmmm"), [1.0, 2.0, 3.0, 2.0, 3.0, 4.0, 3.0, 4.0, 5.0], "{name} {how:?}");
            assert_eq!(outputs.last("only inside"), [0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0], "{name} {how:?}");
            assert_eq!(outputs.last("inside twice"), [0.0, 0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0, 0.0], "{name} {how:?}");
            assert_eq!(outputs.scalars["a \"quoted\" tag\nwith a second line\n"], [2.0], "{name} {how:?}");
        }
    }
    for (how, outputs) in outputs("operators", &["nx=3", "ny=3"]) {
        assert_eq!(outputs.last("x")[..3], [0.5, 1.5, 2.5], "{how:?}");
    }
}

/// Six cells with a = 0..5, b = 5..0 and d = 2: small binary fractions, so exact.
#[test]
fn calculator() {
    let folder = scratch("calculator");
    fs::write(folder.join("a.txt"), "0 1 2 3 4 5\n").unwrap();
    fs::write(folder.join("b.txt"), "5 4 3 2 1 0\n").unwrap();
    let a = format!("a_filename={}", folder.join("a.txt").display());
    let b = format!("b_filename={}", folder.join("b.txt").display());
    for (how, outputs) in outputs("calculator", &["nx=6", "ny=1", "d=2", "a_from_file=true", "b_from_file=true", &a, &b]) {
        for cell in 0..6 {
            let (a, b, d) = (cell as f64, 5.0 - cell as f64, 2.0);
            let c = a - b;
            let e = d - c;
            let f = e / d;
            let found = ["c", "e", "f", "g", "h"].map(|tag| outputs.last(tag)[cell]);
            assert_eq!(found, [c, e, f, f + b, (f + b) * d], "{how:?}, cell {cell}");
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// Arrays of 2, 3 and 4 collections. What goes in comes out; the rest by hand for h = 2, hu = 3,
/// hv = 1 with g = 9.81.
#[test]
fn shallow_water_sketch() {
    for (how, outputs) in outputs("shallow_water_sketch", &["nx=2", "ny=2", "h0=2", "hu0=3", "hv0=1"]) {
        for (tag, value) in [("q0", 2.0), ("q1", 3.0), ("q2", 1.0), ("y flux of x momentum", 1.5)] {
            assert_eq!(outputs.fields(tag), [vec![value; 4]], "{how:?}, {tag}");
        }
        // 3 * 1.5 + 9.81 * 2: one rounding each.
        assert_close(outputs.last("x flux of x momentum"), &[24.12; 4], 1e-15, &format!("{how:?}"));
        // 0.9 / (1.5 + sqrt(19.62))
        assert_close(&outputs.scalars["time step"], &[0.9 / (1.5 + 19.62_f64.sqrt())], 1e-15, &format!("{how:?}"));
        // Twice four interior faces.
        assert_eq!(outputs.scalars["placeholder"], [8.0], "{how:?}");
    }
}
