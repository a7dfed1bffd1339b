//! The examples: explicit ones have the bytes of one process.

use std::path::{Path, PathBuf};

use super::support::{Mpi, all, first, outputs, run, words};
use crate::support::{repository, scratch};

/// The explicit examples: the program and its parameters.
fn explicit() -> Vec<(PathBuf, PathBuf)> {
    let folders = std::fs::read_dir(repository("examples")).expect("examples").flatten().map(|entry| entry.path());
    let mut found = Vec::new();
    for folder in folders.filter(|path| path.is_dir()) {
        let files = std::fs::read_dir(&folder).expect("an example").flatten().map(|entry| entry.path());
        let program = files.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "equelle"));
        let program = program.unwrap_or_else(|| panic!("no program in {}", folder.display()));
        let text = std::fs::read_to_string(&program).expect("a program");
        if !text.contains("NewtonSolve") {
            found.push((program, folder.join("case.param")));
        }
    }
    found.sort();
    found
}

fn given(program: &Path, parameters: &Path, folder: &Path, more: &[String]) -> Vec<String> {
    let mut given = words(&["run", "--interpret", "-q"]);
    given.extend([program.display().to_string(), parameters.display().to_string()]);
    given.push(format!("output_dir={}", folder.display()));
    given.extend(more.iter().cloned());
    given
}

/// Compares files and printed lines of runs on ranks with those of one process.
fn compare(mpis: &[Mpi], ranks: &[u32]) {
    let folder = scratch("mpi_examples");
    let examples = explicit();
    assert!(examples.len() >= 8, "{examples:?}");
    let mut compared = 0;
    for (program, parameters) in &examples {
        let one = folder.join("one");
        let _ = std::fs::remove_dir_all(&one);
        let expected = run(crate::support::equellec().args(given(program, parameters, &one, &[])));
        assert_eq!(expected.code, Some(0), "{}: {}", program.display(), expected.stderr);
        let files = outputs(&one);
        for mpi in mpis {
            for n_ranks in ranks {
                let place = format!("{} on {n_ranks} ranks of {}", program.display(), mpi.name);
                let many = folder.join("many");
                let _ = std::fs::remove_dir_all(&many);
                let found = run(&mut mpi.equellec(&given(program, parameters, &many, &[format!("--ranks={n_ranks}")])));
                assert_eq!(found.code, Some(0), "{place}: {}", found.stderr);
                assert_eq!(found.stdout, expected.stdout, "{place}");
                let found = outputs(&many);
                assert_eq!(found.keys().collect::<Vec<_>>(), files.keys().collect::<Vec<_>>(), "{place}");
                let different: Vec<_> = files.iter().filter(|(file, bytes)| found[*file] != **bytes).map(|(file, _)| file).collect();
                assert!(different.is_empty(), "{place}: {different:?} differ");
                compared += files.len() + 1;
            }
        }
    }
    assert!(compared > examples.len() * mpis.len() * ranks.len(), "{compared} files compared");
}

#[test]
fn explicit_examples_have_the_bytes_of_one_process() {
    let Some(mpi) = first() else { return };
    compare(&[mpi], &[2]);
}

/// On every MPI that is here, oversubscribed.
#[test]
#[ignore = "ten minutes; .ci/full runs it"]
fn explicit_examples_on_every_mpi() {
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
