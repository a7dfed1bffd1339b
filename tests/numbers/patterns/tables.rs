//! The page of the book with tables: its programs, against closed formulas.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::grid_file::{input, write};
use crate::support::{How, assert_close, repository, run, scratch};

const INTERPRETED: [How; 2] = [How::Interpreted0, How::Interpreted2];
const CELLS: usize = 16;

/// A program of the page, by its number.
fn program(number: usize) -> String {
    let page = fs::read_to_string(repository("docs/book/src/tables.md")).unwrap();
    page.split("```equelle\n").nth(number + 1).unwrap().split_once("```").unwrap().0.to_owned()
}

/// Corey's curves of exponent 2, in this many rows.
fn relperm(rows: usize) -> String {
    let mut text = "sw,krw,kro\n".to_owned();
    for row in 0..rows {
        let s = row as f64 / (rows - 1) as f64;
        writeln!(text, "{s:?},{:?},{:?}", s * s, (1.0 - s) * (1.0 - s)).unwrap();
    }
    text
}

/// Saturations after eight steps to time 0.25.
fn saturation(how: How, text: &str, folder: &Path, words: &[&str]) -> Vec<f64> {
    let path = folder.join("program.equelle");
    fs::write(&path, text).unwrap();
    let width = format!("dx={}", 1.0 / CELLS as f64);
    let mut all = vec!["grid_dim=1".to_owned(), format!("nx={CELLS}"), width, "abs_res_tol=1e-13".into(), "max_iter=50".into()];
    all.extend(input(folder, "s_initial", &[0.0; CELLS]));
    all.push(format!("timesteps_filename={}", write(folder, "steps", &[0.03125; 8])));
    all.extend(words.iter().map(ToString::to_string));
    let words: Vec<&str> = all.iter().map(String::as_str).collect();
    run(how, &path.to_string_lossy(), &words).last("s").to_vec()
}

/// A line between two rows at distance h is off by at most h^2/8 times the second derivative, 2.
/// The fraction of flow, whose derivatives by both permeabilities are at most 1 / 0.18 in size
/// since krw + kro / 2 is at least 1/3, is off by at most 5.6 * 1.5 * h^2/4. Eight steps of half a
/// cell, each with the difference of two fractions, add up to at most 8 times that in a cell.
/// Monotone cubics have the slopes of parabolas, so that they are exact here.
#[test]
fn buckley_and_leverett_with_a_table_and_with_a_formula() {
    let folder = scratch("tables");
    let table = program(0);
    let formula = table.replace("Interpolate(krw, s)", "s * s").replace("Interpolate(kro, s)", "(1 - s) * (1 - s)");
    let formula: String = formula.lines().filter(|line| !line.contains("InputTable")).map(|line| format!("{line}\n")).collect();
    assert!(table.lines().count() <= 29 && !formula.contains("Interpolate"));
    for how in INTERPRETED {
        let exact = saturation(how, &formula, &folder, &[]);
        assert!(exact[0] > 0.7 && exact[CELLS - 1] < 0.05 && exact.is_sorted_by(|a, b| a >= b), "{exact:?}");
        let error = |rows: usize, interpolation: &str| -> f64 {
            let file = folder.join("relperm.csv");
            fs::write(&file, relperm(rows)).unwrap();
            let words = [format!("relperm_filename={}", file.display()), format!("relperm_interpolation={interpolation}")];
            let found = saturation(how, &table, &folder, &words.each_ref().map(String::as_str));
            found.iter().zip(&exact).fold(0.0, |error, (a, b)| error.max((a - b).abs()))
        };
        let bound = |rows: usize| 8.0 * 5.6 * 1.5 / 4.0 / ((rows - 1) as f64).powi(2);
        let (coarse, fine) = (error(26, "linear"), error(101, "linear"));
        assert!(coarse <= bound(26) && fine <= bound(101), "{how:?}: {coarse:e} {fine:e}");
        // Four times the rows: a sixteenth of the error, but for where the cells lie between rows.
        assert!((coarse / fine).log2() > 2.5, "{how:?}: {coarse:e} {fine:e}");
        let monotone = error(101, "monotone");
        assert!(monotone < 1e-11, "{how:?}: {monotone:e}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// 150 bar is halfway between two rows.
#[test]
fn a_table_with_units() {
    let folder = scratch("tables-units");
    let (path, file) = (folder.join("program.equelle"), folder.join("pvt.csv"));
    let page = fs::read_to_string(repository("docs/book/src/tables.md")).unwrap();
    let rows = page.split("```\np [Bar]").nth(1).unwrap().split_once("```").unwrap().0;
    fs::write(&path, program(1)).unwrap();
    fs::write(&file, format!("p [Bar]{rows}")).unwrap();
    for how in INTERPRETED {
        let words = ["nx=1", "p=150", &format!("pvt_filename={}", file.display())];
        assert_close(run(how, &path.to_string_lossy(), &words).last("mu"), &[0.545], 1e-14, "mu");
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// The mean of four rows, as the page says.
#[test]
fn a_table_of_two_arguments() {
    let folder = scratch("tables-two");
    let (path, file) = (folder.join("program.equelle"), folder.join("pvt.csv"));
    let page = fs::read_to_string(repository("docs/book/src/tables.md")).unwrap();
    let rows = page.split("```\np [Bar], rs,").nth(1).unwrap().split_once("```").unwrap().0;
    fs::write(&path, program(2)).unwrap();
    fs::write(&file, format!("p [Bar], rs,{rows}")).unwrap();
    for how in [How::Interpreted0, How::Interpreted2, How::Compiled2] {
        let words = ["nx=1", "p=150", "rs=0.5", &format!("pvt_filename={}", file.display())];
        // Products with the factors of two units.
        assert_close(run(how, &path.to_string_lossy(), &words).last("mu"), &[1.2], 1e-14, "mu");
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// The program of the page, compiled for the processor: as interpreted to what Newton's method
/// leaves, 1e-13 times a condition below 10.
#[test]
fn compiled_as_interpreted() {
    let folder = scratch("tables-compiled");
    let file = folder.join("relperm.csv");
    fs::write(&file, relperm(11)).unwrap();
    let relperm = format!("relperm_filename={}", file.display());
    for interpolation in ["linear", "monotone"] {
        let words = [relperm.as_str(), &format!("relperm_interpolation={interpolation}")];
        let expected = saturation(How::Interpreted0, &program(0), &folder, &words);
        for how in [How::Interpreted2, How::Compiled0, How::Compiled2] {
            assert_close(&saturation(how, &program(0), &folder, &words), &expected, 1e-12, &format!("{how:?}, {interpolation}"));
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}
