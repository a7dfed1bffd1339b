//! Programs in a binary, random ones or those of the project, run on two back-ends and compared:
//! for machines that have nothing but the binary and perhaps files of data.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use equelle_runtime::{Error, Program, Session};

use crate::data::{Fixture, Fixtures, grids};
use crate::generate::{self, Purpose};
use crate::outcome::{Outcome, Tolerance, errors_of, run_by, same};
use crate::tree;

/// Origin of a program, which decides on which data it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Origin {
    /// It is random, of this seed, and runs on the grids of [`data`](crate::data) that it is for.
    Random(u64),
    /// It is one of the project.
    Project {
        /// Its name.
        name: &'static str,
        /// The words of each run.
        runs: &'static [&'static [&'static str]],
        /// Tolerance of outputs.
        allowed: Tolerance,
    },
}

/// A program compiled in one way for two back-ends.
pub struct Entry<D> {
    /// Its origin.
    pub origin: Origin,
    /// How it was compiled, for messages.
    pub way: &'static str,
    /// Describes it for the runtime.
    pub program: fn() -> Program,
    /// Runs it on the back-end that is right.
    pub expected: fn(Session) -> Result<(), Error>,
    /// Runs it on the back-end that is tested, on a device that all runs share.
    pub found: fn(Session, &D) -> Result<(), Error>,
}

/// Tolerance of outputs on two back-ends: if equations are solved, that between the ways of one
/// back-end; else none.
pub fn allowed(program: &tree::Program) -> impl Fn(&str) -> Tolerance + use<> {
    errors_of(program)
}

/// Results of a differential test.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    runs: usize,
    agree: usize,
    bit_equal: usize,
    failures: Vec<String>,
}

/// Programs that differ whose text is shown.
const SHOWN: usize = 3;

/// Runs of a program, and how its outputs are compared.
struct Runs<'w> {
    /// For messages.
    name: String,
    /// Text to look at where it differs.
    text: String,
    on: Vec<Run<'w>>,
    allowed: Box<dyn Fn(&str) -> Tolerance>,
}

/// A run of a program.
struct Run<'w> {
    /// For messages.
    name: String,
    /// Words that depend on the inputs of the program.
    words: Words<'w>,
    /// True if it may end with an error, which must be the same one in both ways then.
    may_fail: bool,
}

type Words<'w> = Box<dyn Fn(&Program) -> Vec<String> + 'w>;

impl<'w> Runs<'w> {
    fn of(origin: Origin, fixtures: &'w Fixtures) -> Runs<'w> {
        match origin {
            Origin::Random(seed) => {
                let program = generate::program(seed, Purpose::Run, &fixtures.ranges);
                let text = program.text();
                let allowed = Box::new(allowed(&program));
                let words =
                    |fixture: &'w Fixture| -> Words<'w> { Box::new(|inputs| fixture.words_for(inputs).map(str::to_owned).collect()) };
                let may_fail = program.may_fail || matches!(program.grids, tree::Grids::Structured(_));
                let on = grids(&program, fixtures).map(|fixture| Run {
                    name: format!("the grid {}", fixture.name),
                    words: words(fixture),
                    may_fail: may_fail || fixture.without_geometry,
                });
                let on = on.collect();
                let check = if program.units { "" } else { "; without dimensions" };
                Runs { name: format!("seed {seed}"), on, allowed, text: format!("{check}\n---- \n{text}----") }
            }
            Origin::Project { name, runs, allowed } => {
                let words = |words: &'static [&str]| -> Words<'w> { Box::new(|_| words.iter().map(|&word| word.to_owned()).collect()) };
                let on = runs.iter().map(|run| Run { name: run.join(" "), words: words(run), may_fail: false }).collect();
                Runs { name: name.to_owned(), text: String::new(), on, allowed: Box::new(move |_| allowed) }
            }
        }
    }
}

/// Runs all programs on all that they are for; entries of a program stand behind one another.
fn score<D>(entries: &[&[Entry<D>]], device: &D, fixtures: &Fixtures) -> Score {
    let mut score = Score::default();
    for ways in entries {
        let Some(first) = ways.first() else { continue };
        let runs = Runs::of(first.origin, fixtures);
        let mut equal = true;
        let mut differences = Vec::new();
        for entry in *ways {
            for run in &runs.on {
                let program = Arc::new((entry.program)());
                let words = (run.words)(&program);
                let expected = run_by(&program, &words, entry.expected);
                let found = run_by(&program, &words, |session| (entry.found)(session, device));
                score.runs += 1;
                equal &= same(&expected, &found, &|_| Tolerance::BITS).is_ok();
                if let Err(difference) = compare(&expected, &found, run.may_fail, &runs.allowed) {
                    differences.push(format!("{}, {}, on {}: {difference}", runs.name, entry.way, run.name));
                }
            }
        }
        if differences.is_empty() {
            score.agree += 1;
            score.bit_equal += usize::from(equal);
        } else {
            score.failures.push(format!("{}{}", differences.join("\n"), runs.text));
        }
    }
    score
}

fn compare(expected: &Outcome, found: &Outcome, may_fail: bool, allowed: &dyn Fn(&str) -> Tolerance) -> Result<(), String> {
    // Most programs run to their ends here: one that does not shows nothing.
    if let Some(error) = expected.error.as_ref().filter(|_| !may_fail) {
        return Err(format!("the back-end that is compared with ends with {error}"));
    }
    same(expected, found, allowed)
}

/// The program of a binary. Arguments: a folder to write data into, the grid of triangles, and
/// optionally `K/N` for every N-th program from the K-th on.
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
    let fixtures = Fixtures::write(&PathBuf::from(folder), Path::new(&triangles)).map_err(|error| error.to_string())?;
    let device = device().map_err(|error| error.to_string())?;
    let programs: Vec<&[Entry<D>]> = entries.chunk_by(|a, b| a.origin == b.origin).skip(first).step_by(step).collect();
    Ok(score(&programs, &device, &fixtures))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use equelle_runtime::{Error, ErrorKind, Program};

    use super::{Entry, Origin, Score, compare, score};
    use crate::data::Fixtures;
    use crate::outcome::{Ended, Outcome, Tolerance, bits};

    fn entry(name: &'static str, way: &'static str, runs: &'static [&'static [&'static str]]) -> Entry<Option<&'static str>> {
        let origin = Origin::Project { name, runs, allowed: Tolerance::BITS };
        let found = |_, lost: &Option<&str>| lost.map_or(Ok(()), |what| Err(Error::new(ErrorKind::Backend, what.to_owned())));
        Entry { origin, way, program: || Program::named("nothing"), expected: |_| Ok(()), found }
    }

    /// Two ways of a program on two grids, and a program on what is no grid.
    #[test]
    fn programs_of_the_project() {
        let triangles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
        let folder = tempfile::tempdir().expect("a folder");
        let fixtures = Fixtures::write(folder.path(), &triangles).expect("a folder");
        let runs: &[&[&str]] = &[&["nx=2"], &["nx=3", "ny=2"]];
        let (good, bad) = ([entry("a", "-O2", runs), entry("a", "-O0", runs)], [entry("b", "-O2", &[&["nx=0"]])]);
        let found = score(&[&good, &bad], &None, &fixtures);
        assert_eq!((found.runs, found.agree, found.bit_equal), (5, 1, 1));
        assert!(found.failures[0].starts_with("b, -O2, on nx=0: the back-end that is compared with ends with "), "{:?}", found.failures);
        let Score { agree, failures, .. } = score(&[&good], &Some("lost"), &fixtures);
        assert_eq!((agree, failures.len(), failures[0].lines().count()), (0, 1, 4));
        assert!(failures[0].starts_with("a, -O2, on nx=2: ends with `Backend at line 0: lost`, not with no error\n"), "{failures:?}");
    }

    fn outcome(value: f64, error: Option<&str>) -> Outcome {
        Outcome {
            outputs: vec![("y".to_owned(), vec![value])],
            error: error.map(|message| Ended { message: message.to_owned(), ..Ended::default() }),
        }
    }

    #[test]
    fn what_differs_or_fails_does_not_agree() {
        let next = f64::from_bits(1.0f64.to_bits() + 1);
        assert_eq!(compare(&outcome(1.0, None), &outcome(1.0, None), false, &bits), Ok(()));
        assert!(compare(&outcome(1.0, None), &outcome(next, None), false, &bits).is_err());
        assert_eq!(compare(&outcome(1.0, None), &outcome(next, None), false, &|_| Tolerance::relative(1e-12)), Ok(()));
        assert!(compare(&outcome(1.0, None), &outcome(1.0, Some("lost")), false, &bits).is_err());
        // Both end with the same error: nothing was compared, unless the program may fail.
        assert!(compare(&outcome(1.0, Some("a")), &outcome(1.0, Some("a")), false, &bits).is_err());
        assert_eq!(compare(&outcome(1.0, Some("a")), &outcome(1.0, Some("a")), true, &bits), Ok(()));
        let at = |line| Outcome { error: Some(Ended { line, ..Ended::default() }), ..outcome(1.0, None) };
        assert!(compare(&at(3), &at(4), true, &bits).is_err());
        // The error is the same one, but an output before it is lost.
        assert!(compare(&at(3), &Outcome { outputs: Vec::new(), ..at(3) }, true, &bits).is_err());
    }
}
