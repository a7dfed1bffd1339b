//! The examples: explicit ones have the bytes of one process, implicit ones its numbers as far as
//! solvers come.

use std::path::{Path, PathBuf};

use super::support::{Mpi, all, first, outputs, run, words};
use crate::support::{repository, scratch};

/// An example.
struct Example {
    program: PathBuf,
    parameters: PathBuf,
    /// True if it solves equations.
    is_implicit: bool,
}

fn examples() -> Vec<Example> {
    let folders = std::fs::read_dir(repository("examples")).expect("examples").flatten().map(|entry| entry.path());
    let mut found = Vec::new();
    for folder in folders.filter(|path| path.is_dir()) {
        let files = std::fs::read_dir(&folder).expect("an example").flatten().map(|entry| entry.path());
        let program = files.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "equelle"));
        let program = program.unwrap_or_else(|| panic!("no program in {}", folder.display()));
        let is_implicit = std::fs::read_to_string(&program).expect("a program").contains("NewtonSolve");
        found.push(Example { program, parameters: folder.join("case.param"), is_implicit });
    }
    found.sort_by(|a, b| a.program.cmp(&b.program));
    found
}

fn given(example: &Example, folder: &Path, more: &[String]) -> Vec<String> {
    let mut given = words(&["run", "--interpret"]);
    given.extend([example.program.display().to_string(), example.parameters.display().to_string()]);
    given.push(format!("output_dir={}", folder.display()));
    given.extend(more.iter().cloned());
    given
}

/// Part of the largest value by which results of solves may differ.
const SOLVED: f64 = 1e-6;

/// The first number that differs by more than solvers leave, or a word that differs.
fn differing_number(expected: &str, found: &str) -> Option<String> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (expected, found) = (words(expected), words(found));
    let number = |word: &String| word.parse::<f64>().ok();
    let largest = expected.iter().filter_map(number).fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let agree = |a: &String, b: &String| match (number(a), number(b)) {
        (Some(a), Some(b)) => (a - b).abs() <= SOLVED * largest,
        _ => a == b,
    };
    if expected.len() != found.len() {
        return Some(format!("{} words, not {}", found.len(), expected.len()));
    }
    expected.iter().zip(&found).find(|(a, b)| !agree(a, b)).map(|(a, b)| format!("{b}, not {a}"))
}

/// Solves and iterations of Newton's method of a run, of all lines.
fn solves(stderr: &str) -> [u64; 2] {
    let lines = stderr.lines().filter(|line| line.starts_with("Newton's method at line"));
    lines.fold([0, 0], |[solves, iterations], line| {
        let before = |word: &str| line.split([' ', ',']).zip(line.split([' ', ',']).skip(1)).find(|(_, next)| *next == word);
        let number = |word: &str| before(word).and_then(|(number, _)| number.parse::<u64>().ok()).expect("a number");
        [solves + number("solves"), iterations + number("iterations")]
    })
}

/// Compares files and printed lines of runs on ranks with those of one process.
fn compare(mpis: &[Mpi], ranks: &[u32]) {
    let folder = scratch("mpi_examples");
    let examples = examples();
    assert!(examples.len() >= 19, "{} examples", examples.len());
    let mut compared = [0, 0];
    for example in &examples {
        let program = example.program.display();
        let one = folder.join("one");
        let _ = std::fs::remove_dir_all(&one);
        let expected = run(crate::support::equellec().args(given(example, &one, &[])));
        assert_eq!(expected.code, Some(0), "{program}: {}", expected.stderr);
        let files = outputs(&one);
        for mpi in mpis {
            for n_ranks in ranks {
                let place = format!("{program} on {n_ranks} ranks of {}", mpi.name);
                let many = folder.join("many");
                let _ = std::fs::remove_dir_all(&many);
                let found = run(&mut mpi.equellec(&given(example, &many, &[format!("--ranks={n_ranks}")])));
                if found.code == Some(4) && example.is_implicit && found.stderr.contains("cannot be cut into boxes") {
                    continue;
                }
                assert_eq!(found.code, Some(0), "{place}: {}", found.stderr);
                let made = outputs(&many);
                assert_eq!(made.keys().collect::<Vec<_>>(), files.keys().collect::<Vec<_>>(), "{place}");
                compared[usize::from(example.is_implicit)] += files.len() + 1;
                if !example.is_implicit {
                    assert_eq!(found.stdout, expected.stdout, "{place}");
                    let different: Vec<_> = files.iter().filter(|(file, bytes)| made[*file] != **bytes).map(|(file, _)| file).collect();
                    assert!(different.is_empty(), "{place}: {different:?} differ");
                    continue;
                }
                assert_eq!(differing_number(&expected.stdout, &found.stdout), None, "{place}");
                for (file, bytes) in &files {
                    let [expected, found] = [bytes, &made[file]].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
                    assert_eq!(differing_number(&expected, &found), None, "{place}: {file:?}");
                }
                let [[solves, iterations], [other_solves, other]] = [&expected, &found].map(|run| solves(&run.stderr));
                assert!(solves > 0 && solves == other_solves, "{place}: {other_solves} solves, not {solves}");
                assert!(iterations.abs_diff(other) <= solves, "{place}: {other} iterations, not {iterations}, of {solves} solves");
            }
        }
    }
    assert!(compared.iter().all(|compared| *compared > 8 * mpis.len() * ranks.len()), "{compared:?} files compared");
}

#[test]
fn examples_have_the_results_of_one_process() {
    let Some(mpi) = first() else { return };
    compare(&[mpi], &[2]);
}

/// On every MPI that is here, oversubscribed.
#[test]
#[ignore = "half an hour; .ci/full runs it"]
fn examples_on_every_mpi() {
    let mpis = all();
    assert!(!mpis.is_empty(), "no MPI is installed");
    eprintln!("{}", mpis.iter().map(|mpi| mpi.name.clone()).collect::<Vec<_>>().join(", "));
    compare(&mpis, &[1, 2, 3, 4, 7]);
}

/// A built program that a launcher starts by itself, as users do on clusters.
#[test]
fn built_programs_notice_a_launcher() {
    let Some(mpi) = first() else { return };
    let folder = scratch("mpi_built");
    let example = repository("examples/dam_break");
    let package = folder.join("dam");
    let program = example.join("dam_break.equelle");
    let build = words(&["build", &program.display().to_string(), "-o", &package.display().to_string()]);
    let built = run(crate::support::equellec().args(build));
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    let simulator = package.join("dam-break");
    let simulator = if simulator.is_file() { simulator } else { PathBuf::from(built.stdout.trim()) };
    assert!(simulator.is_file(), "{}", built.stdout);
    let start =
        |folder: &Path| format!("{} {} -q output_dir={}", simulator.display(), example.join("case.param").display(), folder.display());
    let (one, two) = (folder.join("one"), folder.join("two"));
    let expected = run(std::process::Command::new("sh").args(["-c", &start(&one)]));
    let found = run(&mut mpi.shell(2, &format!("exec {}", start(&two))));
    assert_eq!((found.code, &found.stdout), (Some(0), &expected.stdout), "{}", found.stderr);
    assert_eq!(outputs(&two), outputs(&one));
    assert!(outputs(&one).len() + expected.stdout.lines().count() > 1);
    // `--help` is that of one process.
    let help = run(&mut mpi.shell(2, &format!("exec {} --help", simulator.display())));
    assert_eq!(help.stdout.matches("Usage:").count(), 1, "{}", help.stdout);
    // The summary tells what the ranks have done, once.
    let told = run(&mut mpi.shell(3, &format!("exec {} --profile", start(&folder.join("three")).replace(" -q ", " "))));
    let lines: Vec<&str> = told.stderr.lines().filter(|line| line.starts_with("3 ranks (")).collect();
    assert!(matches!(lines[..], [line] if line.contains("67 cells a rank") && line.contains("at most 2 neighbours")), "{}", told.stderr);
    assert_eq!(told.stderr.lines().filter(|line| line.starts_with("rank ")).count(), 1, "{}", told.stderr);
    // `compare` has rows of ranks.
    let mut compare =
        words(&["compare", &program.display().to_string(), &example.join("case.param").display().to_string(), "--ranks", "1,2,3"]);
    compare.push("output_every=1000".to_owned());
    let compared = run(&mut mpi.equellec(&compare));
    assert_eq!(compared.code, Some(0), "{}", compared.stderr);
    for n_ranks in [2, 3] {
        let title = format!("serial -O2 on {n_ranks} ranks against serial -O2");
        assert!(compared.stdout.lines().any(|line| line == title), "{}", compared.stdout);
    }
    assert!(!compared.stdout.contains("beyond") && compared.stdout.contains("same bits"), "{}", compared.stdout);
    // Nothing of MPI is linked.
    let linked = run(std::process::Command::new("ldd").arg(&simulator));
    assert!(!linked.stdout.contains("libmpi"), "{}", linked.stdout);
}
