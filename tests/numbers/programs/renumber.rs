//! A renumbered grid changes nothing that a program puts out. All programs of the project are run
//! so in `equelle-random/tests/random/all_programs.rs`; here cells and faces have no order at all.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::where_case::{temperature, where_words};
use crate::support::{EVERY_WAY, How, Outputs, assert_close, assert_same_bits, run, scratch};
use crate::triangles::{Order, triangles};

/// A program on an unstructured grid in the order of its file, and renumbered.
fn both(how: How, program: &str, words: &[&str]) -> [Outputs; 2] {
    ["renumber=no", "renumber=yes"].map(|renumber| {
        let mut words = words.to_vec();
        words.extend(["grid_layout=unstructured", renumber]);
        run(how, program, &words)
    })
}

/// Writes triangles without any order, and data for a program that conducts heat through them.
fn shuffled(folder: &Path) -> PathBuf {
    fs::write(folder.join("shuffled.grid"), triangles(20, 15, Order::Shuffled)).unwrap();
    // 600 triangles; the boundary faces are those of which the file says -1.
    let text = fs::read_to_string(folder.join("shuffled.grid")).unwrap();
    let pairs: Vec<&str> =
        text.lines().filter(|line| line.split(' ').count() == 2 && line.split(' ').all(|w| w.parse::<i64>().is_ok())).collect();
    // The last such lines, one a face, after pairs of nodes; both kinds hold whole numbers.
    let n_faces = (3 * 600 + 2 * (20 + 15)) / 2;
    let cells = &pairs[pairs.len() - n_faces..];
    let boundary: Vec<usize> = (0..n_faces).filter(|&face| cells[face].contains("-1")).collect();
    assert_eq!(boundary.len(), 2 * (20 + 15));
    let (mut fixed, mut values, mut initial) = (String::new(), String::new(), String::new());
    for (k, face) in boundary.iter().enumerate().filter(|(k, _)| k % 3 > 0) {
        let _ = writeln!(fixed, "{face}");
        let _ = writeln!(values, "{}", 300.0 + (k as f64).sin());
    }
    for cell in 0..600 {
        let _ = writeln!(initial, "{}", 310.0 + 10.0 * f64::from(cell).cos());
    }
    fs::write(folder.join("fixed.txt"), fixed).unwrap();
    fs::write(folder.join("values.txt"), values).unwrap();
    fs::write(folder.join("initial.txt"), initial).unwrap();
    fs::write(folder.join("timesteps.txt"), "1e-5 1e-5 2e-5 1e-5").unwrap();
    let param = folder.join("case.param");
    let text = "grid_filename = shuffled.grid\nu_initial_from_file = true\nu_initial_filename = initial.txt\ndirichlet_boundary_filename = fixed.txt\n\
                dirichlet_val_from_file = true\ndirichlet_val_filename = values.txt\ndir_boundary_filename = fixed.txt\ndir_val_from_file = true\n\
                dir_val_filename = values.txt\ntimesteps_filename = timesteps.txt\nk = 2\ncv = 3\n";
    fs::write(&param, text).unwrap();
    param
}

#[test]
fn triangles_without_any_order() {
    let folder = scratch("renumber-shuffled");
    let param = shuffled(&folder);
    let param = param.to_string_lossy();
    for how in EVERY_WAY {
        let [file, renumbered] = both(how, "examples/heat_explicit_2d/heat_explicit_2d.equelle", &[&param]);
        assert!(file.fields("expU")[0] != file.fields("expU")[3]);
        assert_same_bits(&renumbered, &file, &format!("{how:?}"));
    }
    // Steps of the same size by the implicit program: the identity and at most about 10 times it.
    let [file, renumbered] = both(How::Compiled2, "examples/heat_implicit_2d/heat_implicit_2d.equelle", &[&param, "solver=lu"]);
    for (a, b) in file.fields("u").iter().zip(renumbered.fields("u")) {
        assert_close(b, a, 1e-13, "implicit");
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// Domains by condition have the elements and the order of the file.
#[test]
fn domains_by_condition() {
    let folder = scratch("renumber-where");
    let words = where_words(&folder);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for how in EVERY_WAY {
        let [file, renumbered] = both(how, "tests/programs/where.equelle", &words);
        // q numbers the cells whose p is above 0.2, in the order of the file.
        let hot: Vec<f64> = (0..60).map(temperature).filter(|p| *p > 0.2).collect();
        let expected: Vec<f64> = hot.iter().zip(1..).map(|(p, q)| f64::from(q) + p).collect();
        assert_eq!(renumbered.fields("hot"), [expected], "{how:?}");
        assert_eq!(renumbered.fields("edge")[0].len(), 5, "{how:?}");
        assert_same_bits(&renumbered, &file, &format!("{how:?}"));
    }
    fs::remove_dir_all(&folder).unwrap();
}
