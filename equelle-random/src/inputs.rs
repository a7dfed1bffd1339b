//! Data for any program: every input gets something that fits the grid.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use equelle_runtime::{CanonicalSet, EntityKind, Extent, Grid, InputKind, Program, TableColumns};

/// Writes data for the inputs of a program that `given` does not name, and returns the words of a
/// command line that name it. Collections hold numbers from 1/2 to 3/2 without any order, domains
/// every third element of the set that they lie in, sequences three short steps, tables six rows;
/// scalars keep their defaults. A collection on a domain that the program computes gets one value
/// for all.
///
/// # Panics
/// If the folder cannot be written, or Vectors, truth values or a domain lie in a set that is
/// neither canonical nor an input.
pub fn invented(program: &Program, grid: &Grid, given: &[String], folder: &Path) -> Vec<String> {
    let mut domains: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    let mut words = Vec::new();
    for (number, input) in program.inputs.iter().enumerate() {
        let elements = match domains.get(&*input.domain) {
            Some(elements) => elements.clone(),
            None if input.domain.is_empty() => Vec::new(),
            None => match canonical(&input.domain) {
                Some(set) => grid.canonical_elements(set).expect("a set of this grid"),
                // Only the program knows the elements, such as those of `Where`: one value for all.
                None => {
                    assert!(input.kind == InputKind::Collection, "`{}` is neither canonical nor an input", input.domain);
                    if !given.iter().any(|word| word.split('=').next() == Some(&*input.name)) {
                        words.push(format!("{}={}", input.name, 0.5 + scattered(1, number)));
                    }
                    continue;
                }
            },
        };
        let values: Vec<String> = match &input.kind {
            InputKind::Scalar => continue,
            InputKind::Collection => (1..=elements.len()).map(|k| (0.5 + scattered(k, number)).to_string()).collect(),
            InputKind::Vectors => {
                let numbers = 1..=elements.len() * grid.dim();
                numbers.map(|k| (0.5 + scattered(k, number)).to_string()).collect()
            }
            InputKind::Bools => (1..=elements.len()).map(|k| (scattered(k, number) < 0.5).to_string()).collect(),
            InputKind::Domain => {
                let chosen: Vec<u32> = elements.into_iter().step_by(3).collect();
                let text = chosen.iter().map(u32::to_string).collect();
                domains.insert(&input.name, chosen);
                text
            }
            InputKind::Table(_) => rows(program, &input.name),
            InputKind::Sequence => ["0.0078125", "0.015625", "0.0078125"].map(str::to_owned).into(),
        };
        if given.iter().filter_map(|word| word.split_once('=')).any(|(key, _)| input.has_key(key)) {
            continue;
        }
        let path = folder.join(format!("{}.txt", input.name));
        fs::write(&path, values.join("\n")).expect("the target folder can be written");
        words.push(format!("{}_filename={}", input.name, path.display()));
        if input.kind.is_collection() {
            words.push(format!("{}_from_file=true", input.name));
        }
    }
    words
}

/// The columns that a program reads of a file, from 0 to 1 and beyond: argument and value alike
/// grow from row to row. Where a table has two arguments, each pair has a row.
fn rows(program: &Program, name: &str) -> Vec<String> {
    const AT: [f64; 6] = [0.0, 0.25, 0.5, 0.75, 1.0, 1.5];
    let mut columns: Vec<&str> = Vec::new();
    let mut seconds: Vec<&str> = Vec::new();
    for input in program.inputs.iter().filter(|input| &*input.name == name) {
        if let InputKind::Table(TableColumns { argument, second, value }) = &input.kind {
            let names = [Some(&*argument.name), second.as_ref().map(|second| &*second.name), Some(&*value.name)];
            columns.extend(names.into_iter().flatten().filter(|name| !columns.contains(name)).collect::<Vec<_>>());
            seconds.extend(second.as_ref().map(|second| &*second.name));
        }
    }
    let row = |at: f64, of_second: f64| {
        let number = |(column, name): (usize, &&str)| {
            let at = if seconds.contains(name) { of_second } else { at + 0.5 * of_second * f64::from(u8::from(column > 1)) };
            (at + 0.25 * at * at * column as f64).to_string()
        };
        columns.iter().enumerate().map(number).collect::<Vec<_>>().join(" ")
    };
    let of_second: &[f64] = if seconds.is_empty() { &[0.0] } else { &AT };
    // Columns that have numbers have no line of names.
    let names = columns.iter().any(|name| name.parse::<u32>().is_err()).then(|| columns.join(" "));
    names
        .into_iter()
        .chain(AT.iter().flat_map(|&at| of_second.iter().map(move |&second| (at, second))).map(|(at, second)| row(at, second)))
        .collect()
}

/// Between 0 and 1: fractional parts of multiples of the golden ratio, moved by the number of the
/// input.
fn scattered(k: usize, input: usize) -> f64 {
    (k as f64 * 0.618_033_988_749_895 + input as f64 * 0.414_213_562_373_095).fract()
}

/// The canonical set that Equelle text names, if it is one.
fn canonical(text: &str) -> Option<CanonicalSet> {
    let kinds = [EntityKind::Cell, EntityKind::Face, EntityKind::Edge, EntityKind::Vertex];
    let sets =
        kinds.into_iter().flat_map(|kind| [Extent::All, Extent::Interior, Extent::Boundary].map(|extent| CanonicalSet::new(kind, extent)));
    sets.into_iter().find(|set| set.name() == text)
}
