//! Numbers of the summary against the kernels below it, both read from the text as people do.

use std::collections::BTreeMap;

use equelle::report;
use equelle_front::passes::OptLevel;

use super::{example, report_at};

/// Operations and bytes for a cell, on any grid and on a Cartesian one; by axes of the grid.
type Rows = BTreeMap<u32, [f64; 4]>;

/// A part of a program.
#[derive(Debug, Default)]
struct Part {
    kernels: usize,
    rows: Rows,
    /// Half a byte is lost for each element of a kernel in its table.
    tolerance: f64,
}

fn text_of(name: &str) -> String {
    let (found, source) = report_at(name, &example(name), OptLevel::O2);
    report::text(&found, &source)
}

/// Rows of the table on top, with the number of kernels.
fn parts_of_summary(text: &str) -> Vec<Part> {
    let table = text.lines().skip_while(|line| !line.starts_with("  For each cell")).skip(2);
    let mut parts: Vec<Part> = Vec::new();
    for line in table.take_while(|line| line.starts_with("    ")) {
        let (label, numbers) = line.split_at(44);
        let (dim, numbers) = numbers.split_once('D').expect("the axes");
        let mut numbers: Vec<f64> = numbers.split_whitespace().map(|number| number.parse().expect("a number")).collect();
        if !label.trim().is_empty() {
            parts.push(Part { kernels: numbers.remove(0) as usize, ..Part::default() });
        }
        let part = parts.last_mut().expect("a row with a name");
        part.rows.insert(dim.parse().expect("2 or 3"), numbers.try_into().expect("four numbers"));
    }
    parts
}

/// Elements of a set for each cell of a large grid.
fn elements(set: &str, dim: u32) -> f64 {
    match set {
        "AllCells()" => 1.0,
        "InteriorFaces()" | "AllFaces()" => f64::from(dim),
        _ => 0.0,
    }
}

/// Sums of the tables of kernels, part by part.
fn parts_below(text: &str, axes: &[u32]) -> Vec<Part> {
    let body = text.find("\nA kernel is").expect("the explanation");
    let parts = text[body..].split("\n\n").skip(1).map(|text| part_below(text, axes));
    parts.filter(|part| part.kernels > 0).collect()
}

fn part_below(text: &str, axes: &[u32]) -> Part {
    let mut part = Part { rows: axes.iter().map(|&dim| (dim, [0.0; 4])).collect(), ..Part::default() };
    let is_entry = |line: &&str| line.get(..3).is_some_and(|number| number.trim().parse::<usize>().is_ok()) && line.get(3..4) == Some(".");
    let lines: Vec<&str> = text.lines().collect();
    for entry in lines.chunk_by(|_, line| !is_entry(line)).filter(|entry| is_entry(&entry[0])) {
        part.kernels += 1;
        let joined = entry.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        let Some((_, set)) = joined.split_once("` over ") else { continue };
        let set = set.split(" (").next().expect("the name of the set");
        let mut of_kernel: Rows = Rows::new();
        for line in entry.iter().map(|line| line.trim()) {
            let (columns, rest) = match (line.strip_prefix("any grid"), line.strip_prefix("Cartesian")) {
                (Some(rest), _) => ([0, 2], rest),
                (None, Some(rest)) => ([1, 3], rest),
                (None, None) => continue,
            };
            for &dim in axes {
                let row = of_kernel.entry(dim).or_default();
                let numbers = match rest.trim_start().split_once("D ") {
                    Some((of, numbers)) if of == dim.to_string() => numbers,
                    Some((of, _)) if of.len() == 1 => continue,
                    Some(_) | None => rest,
                };
                let numbers: Vec<f64> = numbers.split_whitespace().filter_map(|number| number.parse().ok()).collect();
                match (&numbers[..], rest.trim()) {
                    (&[_, _, _, _, _, _, bytes, flops], _) => [row[columns[0]], row[columns[1]]] = [flops, bytes],
                    (_, "as on any grid") => [row[1], row[3]] = [row[0], row[2]],
                    (_, "one value per axis, nothing per element") => {}
                    (_, other) => panic!("{other}"),
                }
            }
        }
        for (dim, row) in of_kernel {
            let sums = part.rows.get_mut(&dim).expect("axes of the program");
            sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += elements(set, dim) * number);
            part.tolerance += 0.5 * elements(set, dim);
        }
    }
    part
}

#[test]
fn the_summary_adds_up_the_kernels_below_it() {
    let programs = ["heat_explicit_3d", "heat_implicit_3d", "mhd", "shallow_water", "tracer_whirl", "two_phase"];
    for name in programs {
        let text = text_of(name);
        let summary = parts_of_summary(&text);
        let axes: Vec<u32> = summary[0].rows.keys().copied().collect();
        let below = parts_below(&text, &axes);
        assert_eq!(summary.len(), below.len(), "{name}: parts\n{text}");
        for (above, below) in summary.iter().zip(&below) {
            assert_eq!(above.kernels, below.kernels, "{name}: kernels\n{text}");
            for (dim, row) in &above.rows {
                for (number, sum) in row.iter().zip(&below.rows[dim]) {
                    // Each of both is rounded to a whole number once more.
                    assert!((number - sum).abs() <= below.tolerance + 0.5, "{name}, {dim}D: {number}, not {sum}\n{text}");
                }
            }
        }
        let total: usize = summary.iter().map(|part| part.kernels).sum();
        assert!(text.contains(&format!("\nSummary\n  {total} kernels: ")), "{name}: {total}\n{text}");
    }
}

/// By hand: a cell of a cube takes 21 operations for its new temperature
/// (`traffic_of_heat_conduction`) and none for its part of the maximum, which reads 8 bytes more.
/// The old and the new temperature live at the same time, 16 bytes, and on other grids the
/// transmissibilities of two or three faces.
#[test]
fn the_summary_of_heat_conduction() {
    let text = text_of("heat_explicit_3d");
    let step = &parts_of_summary(&text)[1];
    assert_eq!(step.rows[&3], [21.0, 21.0, 116.0 + 8.0, 16.0 + 8.0], "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("at most 32 (2D), 40 (3D) bytes a cell at one time on any grid, and 16 on a Cartesian"), "{text}");
    assert!(text.contains("  Linear systems: none\n"), "{text}");
}

/// A row of the implicit step has the cell and those beyond its 4 or 6 faces.
#[test]
fn the_summary_has_the_rows_of_linear_systems() {
    let text = text_of("heat_implicit_3d");
    assert!(text.contains("1 unknown: `u` over AllCells(); about 5 (2D), 7 (3D) entries in a row of the matrix\n"), "{text}");
}

/// The text of a line stands beside its number, and a value without a name is its formula.
#[test]
fn lines_are_quoted_and_names_are_the_users() {
    let text = text_of("heat_explicit_3d");
    for expected in [
        "  1. `u` over AllCells() (compute_u)\n       line 38: u = u - (dt / volume) * Divergence(fluxes)\n",
        "  1. `-itrans` over InteriorFaces() (compute_minus_itrans)\n",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    let mhd = text_of("mhd");
    assert!(mhd.contains(" `q1[0]` to `q1[7]` over AllCells() ("), "{mhd}");
    assert!(mhd.lines().all(|line| line.chars().count() <= 100), "{mhd}");
}
