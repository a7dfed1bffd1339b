//! Random programs in a binary, run on two back-ends and compared: for machines that have nothing but the binary.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use equelle_runtime::{Error, Program, Session};

use crate::data::{Worlds, grids};
use crate::generate::{self, Purpose};
use crate::outcome::{Outcome, Tolerance, errors_of, run_by, same};
use crate::tree;

/// A program compiled in one way for two back-ends.
pub struct Entry<D> {
    /// The random program.
    pub seed: u64,
    /// How it was compiled, for messages.
    pub way: &'static str,
    /// What the runtime knows of it.
    pub program: &'static Program,
    /// Runs it on the back-end that is right.
    pub expected: fn(Session) -> Result<(), Error>,
    /// Runs it on the back-end that is tested, on a device that all runs share.
    pub found: fn(Session, &D) -> Result<(), Error>,
}

/// Functions of mathematical libraries, which are not the same to the bit.
const TRANSCENDENTAL: [&str; 6] = ["Exp(", "Log(", "Sin(", "Cos(", "Tan(", "Pow("];

/// Whether a program asks a mathematical library for a function. `^` is one, but for those in units, which stand in brackets behind a number.
fn has_transcendentals(text: &str) -> bool {
    let mut rest = text;
    let mut numbers = String::with_capacity(text.len());
    while let Some((before, units)) = rest.split_once(" [") {
        numbers += before;
        rest = units;
        if before.ends_with(|c: char| c.is_ascii_digit()) {
            rest = units.split_once(']').map_or("", |(_, after)| after);
        }
    }
    numbers += rest;
    numbers.contains('^') || TRANSCENDENTAL.iter().any(|function| text.contains(function))
}

/// How far outputs on two back-ends may be off: where equations are solved, as between the ways of one back-end; where functions of a library are used, 1e-12 of the
/// largest value, to which they are accurate by far; else not at all.
pub fn allowed<'p>(program: &'p tree::Program, text: &str) -> impl Fn(&str) -> Tolerance + use<'p> {
    let errors = errors_of(program);
    let relative = if has_transcendentals(text) { 1e-12 } else { 0.0 };
    move |tag| {
        let error = errors(tag);
        Tolerance { relative: error.relative.max(relative), ..error }
    }
}

/// What a contest found.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    runs: usize,
    agree: usize,
    bit_equal: usize,
    failures: Vec<String>,
}

/// Programs that differ whose text is shown.
const SHOWN: usize = 3;

/// Runs all programs on all grids that they are for; entries of a program stand behind one another.
fn score<D>(entries: &[&[Entry<D>]], device: &D, worlds: &Worlds) -> Score {
    let mut score = Score::default();
    for ways in entries {
        let Some(first) = ways.first() else { continue };
        let program = generate::program(first.seed, Purpose::Run, &worlds.facts);
        let text = program.text();
        let allowed = allowed(&program, &text);
        let mut equal = true;
        let mut differences = Vec::new();
        for entry in *ways {
            for world in grids(&program, worlds) {
                let words: Vec<String> = world.words_for(entry.program).map(str::to_owned).collect();
                let expected = run_by(entry.program, &words, entry.expected);
                let found = run_by(entry.program, &words, |session| (entry.found)(session, device));
                score.runs += 1;
                equal &= same(&expected, &found, &|_| Tolerance::BITS).is_ok();
                if let Err(difference) = judge(&expected, &found, &allowed) {
                    differences.push(format!("seed {}, {}, on the grid {}: {difference}", entry.seed, entry.way, world.name));
                }
            }
        }
        if differences.is_empty() {
            score.agree += 1;
            score.bit_equal += usize::from(equal);
        } else {
            let check = if program.units { "" } else { "; without dimensions" };
            score.failures.push(format!("{}{check}\n---- \n{text}----", differences.join("\n")));
        }
    }
    score
}

fn judge(expected: &Outcome, found: &Outcome, allowed: &dyn Fn(&str) -> Tolerance) -> Result<(), String> {
    // Random programs run to their ends: one that does not shows nothing.
    if let Some(error) = &expected.error {
        return Err(format!("the back-end that is compared with ends with {error}"));
    }
    same(expected, found, allowed)
}

/// The program of a binary. Arguments: a folder to write data into, the grid of triangles, and optionally `K/N` for every N-th program from the K-th on.
pub fn main<D>(entries: &[Entry<D>], device: impl FnOnce() -> Result<D, Error>) -> ExitCode {
    match run(entries, device, std::env::args().skip(1)) {
        Ok(score) => {
            let Score { runs, agree, bit_equal, failures } = score;
            failures.iter().take(SHOWN).for_each(|failure| println!("{failure}"));
            println!("{agree} programs agree, {bit_equal} bit-equal ({runs} runs); {} differ", failures.len());
            if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn run<D>(
    entries: &[Entry<D>],
    device: impl FnOnce() -> Result<D, Error>,
    mut arguments: impl Iterator<Item = String>,
) -> Result<Score, String> {
    let usage = "arguments: a folder for data, the grid of triangles, and perhaps K/N";
    let (folder, triangles) = (arguments.next().ok_or(usage)?, arguments.next().ok_or(usage)?);
    let (first, step) = match arguments.next() {
        None => (0, 1),
        Some(share) => {
            let (k, n) = share.split_once('/').ok_or(usage)?;
            (k.parse::<usize>().map_err(|_| usage)?, n.parse::<usize>().map_err(|_| usage)?.max(1))
        }
    };
    let worlds = Worlds::write(&PathBuf::from(folder), Path::new(&triangles)).map_err(|error| error.to_string())?;
    let device = device().map_err(|error| error.to_string())?;
    let programs: Vec<&[Entry<D>]> = entries.chunk_by(|a, b| a.seed == b.seed).skip(first).step_by(step).collect();
    Ok(score(&programs, &device, &worlds))
}

#[cfg(test)]
mod tests {
    use super::{has_transcendentals, judge};
    use crate::outcome::{Outcome, Tolerance, bits};

    fn outcome(value: f64, error: Option<&str>) -> Outcome {
        Outcome { outputs: vec![("y".to_owned(), vec![value])], error: error.map(str::to_owned) }
    }

    #[test]
    fn powers_are_not_units() {
        assert!(!has_transcendentals("x = ((u * 1 [Meter^-1]) + 0.5 [Meter^-1])\ny = [(u * 2 [Meter^2]), u][1]\n"));
        assert!(has_transcendentals("x = ((u * 1 [Meter^-1])^(True ? 0.5 : 1.5))\n"));
        assert!(has_transcendentals("x = [(u^v), u][0]\n"));
        assert!(has_transcendentals("x = Exp(u)\n"));
    }

    #[test]
    fn what_differs_or_fails_does_not_agree() {
        let next = f64::from_bits(1.0f64.to_bits() + 1);
        assert_eq!(judge(&outcome(1.0, None), &outcome(1.0, None), &bits), Ok(()));
        assert!(judge(&outcome(1.0, None), &outcome(next, None), &bits).is_err());
        assert_eq!(judge(&outcome(1.0, None), &outcome(next, None), &|_| Tolerance::relative(1e-12)), Ok(()));
        assert!(judge(&outcome(1.0, None), &outcome(1.0, Some("lost")), &bits).is_err());
        // Both end with the same error: nothing was compared.
        assert!(judge(&outcome(1.0, Some("a")), &outcome(1.0, Some("a")), &bits).is_err());
    }
}
