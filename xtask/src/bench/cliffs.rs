//! Small programs that differ in a line, each beside the sum of its parts.
//!
//! `benches/cliffs.equelle` has one loop for each. Comments name them: `#| flux` is a part, and
//! `#| index_flux: flux + index` is held to at most [`ALLOWED`] times its parts.

use super::loops::{folder, loops, measure, words};
use super::options::{Options, print_machine};
use crate::tools::{Failure, read, root};

/// A variation may take so many times as long as its parts together.
const ALLOWED: f64 = 1.5;

/// Cells along each axis, where none are given.
pub(super) const CELLS: usize = 500;

/// The programs.
pub(super) const PROGRAM: &str = "benches/cliffs.equelle";

/// Measures all of them for one thread and for two; fails if one is above its parts.
pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let variations = loops(PROGRAM, &read(&root().join(PROGRAM))?)?;
    print_machine();
    let cells = options.cells.first().copied().unwrap_or(CELLS);
    let mut above = Vec::new();
    for threads in [1, 2] {
        let mut words = words(2, cells, &folder())?;
        words.push(format!("threads={threads}"));
        let seconds = measure(options, options.repetitions, &root().join(PROGRAM), &words)?.loops;
        println!("\n{cells}^2 cells, threads={threads}, ns a cell and step\n\n| program | ns | parts | ratio |\n| --- | --- | --- | --- |");
        let scale = 1e9 / (cells * cells * options.steps) as f64;
        for variation in &variations {
            let of = |name: &str| {
                let known = variations.iter().find(|known| known.name == name);
                known.and_then(|known| seconds.get(&known.line)).map(|seconds| seconds * scale).ok_or(format!("`{name}` was not measured"))
            };
            let own = of(&variation.name)?;
            let parts = variation.parts.iter().map(|part| of(part)).sum::<Result<f64, Failure>>()?;
            if variation.parts.is_empty() {
                println!("| `{}` | {own:.2} | | |", variation.name);
                continue;
            }
            println!("| `{}` | {own:.2} | {parts:.2} | {:.2} |", variation.name, own / parts);
            if own > ALLOWED * parts {
                above.push(format!("{} ({threads}): {:.2}", variation.name, own / parts));
            }
        }
    }
    if above.is_empty() { Ok(()) } else { Err(format!("above {ALLOWED} times their parts: {}", above.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loop_of_the_programs_is_named() {
        for (program, least) in [(PROGRAM, 60), ("benches/cliffs_more.equelle", 30), ("benches/cliffs_cube.equelle", 20)] {
            let text = read(&root().join(program)).expect("the programs");
            let found = loops(program, &text).expect("known parts");
            assert_eq!(found.len(), text.lines().filter(|line| line.starts_with("For ")).count());
            assert!(found.len() >= least, "{program}: {}", found.len());
        }
    }

    #[test]
    fn parts_come_before_what_they_are_parts_of() {
        let error = loops("p", "#| flux\nFor n In r {\n}\n#| both: flux + index\nFor n In r {\n}\n").expect_err("no index");
        assert!(error.contains("p:4: `index` is no part"), "{error}");
    }
}
