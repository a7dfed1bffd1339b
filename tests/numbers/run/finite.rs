//! Runs that blow up: the error, what was written before, and that every way of running a program
//! agrees on both.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{EVERY_WAY, How, built, equellec, repository, run, scratch, stderr};

const PUT_OUT: &str = "tests/run/blow_up.equelle";
const UNSEEN: &str = "tests/run/unseen.equelle";
const CELLS: usize = 20;

/// Heat in the first of 20 cells, and steps of these lengths.
fn words(folder: &Path, steps: &[f64]) -> Vec<String> {
    let write = |name: &str, numbers: &[f64]| {
        let path = folder.join(name);
        fs::write(&path, numbers.iter().map(|x| format!("{x:e}\n")).collect::<String>()).unwrap();
        path.display().to_string()
    };
    let mut u = [0.0; CELLS];
    u[0] = 1.0;
    let (u, steps) = (write("u.txt", &u), write("steps.txt", steps));
    let grid = [format!("nx={CELLS}"), "grid_dim=1".to_owned(), "u_initial_from_file=true".to_owned()];
    [grid.to_vec(), vec![format!("u_initial_filename={u}"), format!("timesteps_filename={steps}")]].concat()
}

/// A run as a process, with outputs to a folder of its own.
fn attempt(how: How, program: &str, words: &[String], folder: &Path) -> Output {
    let interpreted = |level: &str| {
        let mut command = equellec();
        command.args(["run", "--interpret", level]).arg(repository(program)).arg("--");
        command
    };
    let mut command = match how {
        How::Interpreted0 => interpreted("-O0"),
        How::Interpreted2 => interpreted("-O2"),
        How::Compiled0 => std::process::Command::new(built("-O0", program)),
        How::Compiled2 => std::process::Command::new(built("-O2", program)),
    };
    command.args(words).arg("output_to_file=true").arg(format!("output_dir={}", folder.display()));
    command.output().expect("a simulator that was built starts")
}

/// The first line of the error, without what a terminal adds.
fn error(output: &Output) -> String {
    let text = stderr(output);
    text.lines().find(|line| line.contains("not finite")).unwrap_or_else(|| panic!("{text}")).to_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    // The record of a run tells of files; it is none of its outputs.
    names.retain(|name| name.ends_with(".output") || name.ends_with(".part"));
    names.sort();
    names
}

/// Steps of 1e30 multiply the first cell by 1e30, once more by a number of less than six digits
/// (Catalan's, after k steps 4^k at most): 1e300 after ten steps, and in step 11 too large. The
/// Laplacian of a peak is negative, so that odd steps make it negative.
#[test]
fn an_output_that_is_not_finite_ends_the_run() {
    let folder = scratch("finite-output");
    let words = words(&folder, &[1e30; 30]);
    let mut all = Vec::new();
    for how in EVERY_WAY {
        let place = folder.join(format!("{how:?}"));
        let output = attempt(how, PUT_OUT, &words, &place);
        assert_eq!(output.status.code(), Some(3), "{how:?}: {}", stderr(&output));
        let text = error(&output);
        let expected = "output `u` is not finite in step 11 of 30: cell 0 at (0.5) is -inf; step 11 is the first where it is not";
        assert!(text.contains(expected), "{how:?}: {text}");
        assert!(stderr(&output).contains("blow_up.equelle:10"), "{how:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("nonfinite=allow"), "{how:?}: {}", stderr(&output));
        assert!(!stderr(&output).contains("done in"), "{how:?}: {}", stderr(&output));
        // Ten steps are complete, and nothing of the eleventh is there.
        let expected: Vec<String> = (0..10).map(|k| format!("u-{k:05}.output")).collect();
        assert_eq!(names(&place), expected, "{how:?}");
        let files: Vec<String> = expected.iter().map(|name| fs::read_to_string(place.join(name)).unwrap()).collect();
        assert!(files.iter().all(|file| file.lines().count() == CELLS), "{how:?}");
        let printed = String::from_utf8(output.stdout.clone()).unwrap();
        assert_eq!(printed.lines().count(), 10, "{how:?}: {printed}");
        all.push((files, printed));
        goes_on(how, &folder, &place, &stderr(&output));
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "what was written differs");
}

/// The state after step 1 is the last one that has not grown by more than a blow-up does; it is
/// written, and shorter steps go on from there to their end.
fn goes_on(how: How, folder: &Path, place: &Path, said: &str) {
    assert!(said.contains("has the state after step 1, before numbers ran away"), "{how:?}: {said}");
    let checkpoint = place.join("failure/blow_up.checkpoint-00001.npz");
    let restart = format!("restart={}", checkpoint.display());
    assert!(checkpoint.is_file() && said.contains(&restart) && said.contains("restart_anyway=yes"), "{how:?}: {said}");
    let mut shorter = words(folder, &[1e30, 0.1, 0.1]);
    shorter.extend([restart, "restart_anyway=yes".to_owned()]);
    let output = attempt(how, PUT_OUT, &shorter, place);
    assert_eq!(output.status.code(), Some(0), "{how:?}: {}", stderr(&output));
    let expected: Vec<String> = (0..3).map(|k| format!("u-{k:05}.output")).collect();
    assert_eq!(names(place), expected, "{how:?}");
    words(folder, &[1e30; 30]);
}

/// Nothing is put out while it happens: the state at the end says so; of a long run, that after
/// 1024 steps, and each time that their number has doubled.
#[test]
fn state_that_is_not_finite_ends_the_run() {
    let folder = scratch("finite-state");
    let late = [&[0.25; 2000][..], &[1e30; 100][..]].concat();
    let cases: [(&[f64], &str, &str); 3] = [
        (&[1e30; 30], "`u` is not finite at the end of the run: cell 0 at (0.5) is NaN", "end = 0\n"),
        (&[1e30; 2100], "`u` is not finite after step 1024 of 2100: cell 0 at (0.5) is NaN", ""),
        (&late, "`u` is not finite after step 2048 of 2100: cell 0 at (0.5) is NaN; it was finite after step 1024", ""),
    ];
    for (number, (steps, expected, printed)) in cases.into_iter().enumerate() {
        let place: PathBuf = folder.join(number.to_string());
        fs::create_dir_all(&place).unwrap();
        let words = words(&place, steps);
        for how in EVERY_WAY {
            let place = place.join(format!("{how:?}"));
            let output = attempt(how, UNSEEN, &words, &place);
            assert_eq!(output.status.code(), Some(3), "{how:?}: {}", stderr(&output));
            assert!(error(&output).ends_with(expected), "{how:?}: {}", error(&output));
            // The assignment in the loop.
            assert!(stderr(&output).contains("unseen.equelle:10"), "{how:?}: {}", stderr(&output));
            assert_eq!(names(&place), ["start-00000.output"], "{how:?}");
            assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{how:?}");
        }
    }
}

/// Who wants such numbers gets them.
#[test]
fn numbers_that_are_not_finite_may_be_allowed() {
    let folder = scratch("finite-allowed");
    let words = [words(&folder, &[1e30; 30]), vec!["nonfinite=allow".to_owned()]].concat();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for how in EVERY_WAY {
        let outputs = run(how, PUT_OUT, &words);
        assert_eq!(outputs.fields("u").len(), 30, "{how:?}");
        assert_eq!(outputs.fields("u")[10][0], f64::NEG_INFINITY, "{how:?}");
        assert!(outputs.last("u")[0].is_nan(), "{how:?}");
    }
}
