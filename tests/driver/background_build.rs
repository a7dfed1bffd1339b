//! A program that has not been built runs at once; where a build pays it is made beside the run,
//! which goes on with the built program, to the same bits.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::{self, available_parallelism};
use std::time::Duration;

const PROGRAM: &str = "# dimensions: ignore\n\
    u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
    peak : Mutable Scalar = 0\n\
    Output(\"begin\", MaxReduce(u))\n\
    For dt In InputSequenceOfScalar(\"steps\") {\n    u = u + dt * Divergence(Gradient(u))\n\
    \x20   peak = peak + SumReduce(u) / 1000000\n    Output(\"u\", u)\n    Output(\"peak\", peak)\n}\n\
    Output(\"largest\", MaxReduce(u))\n";

const IMPLICIT: &str = "# dimensions: ignore\n\
    u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
    For dt In InputSequenceOfScalar(\"steps\") {\n\
    \x20   residual(v) = {\n        -> v - u - dt * Divergence(Gradient(v)) + dt * v * v\n    }\n    u = NewtonSolve(residual, u)\n}\n\
    Output(\"largest\", MaxReduce(u))\n";

/// A script in place of cargo.
fn script(path: &Path, text: &str) -> PathBuf {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_owned()
}

fn equellec(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equellec"));
    command.args(words).current_dir(folder);
    command
}

/// Waits for a file that a build writes beside a run.
fn wait_for(file: &Path, run: &mut Child) {
    while !file.exists() {
        assert!(run.try_wait().unwrap().is_none(), "the run ends before a build begins");
        thread::sleep(Duration::from_millis(50));
    }
}

fn interrupt(mut run: Child) {
    Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130));
}

fn succeeded(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    output
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Removes the note that a program of this name has been built; returns the program.
fn forget_build(cache: &Path, name: &str) -> PathBuf {
    let versions = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path().join("programs"));
    let packages = versions.filter(|path| path.is_dir()).flat_map(|path| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
    let is_of_name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(&format!("{name}-"));
    let stamps: Vec<PathBuf> = packages.filter(is_of_name).map(|path| path.join("built")).filter(|path| path.exists()).collect();
    let newest = stamps.iter().max_by_key(|path| path.metadata().unwrap().modified().unwrap()).expect("it has been built");
    let program = PathBuf::from(fs::read_to_string(newest).unwrap());
    stamps.iter().for_each(|path| fs::remove_file(path).unwrap());
    program
}

/// Output files by name, without the record of the run.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = entries.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path));
    named
        .filter(|(name, _)| !name.starts_with('.') && !name.ends_with(".run.json"))
        .map(|(name, path)| (name, fs::read(path).unwrap()))
        .collect()
}

/// The end of a run and its files, as its record has them.
fn recorded(folder: &Path) -> (String, BTreeSet<String>) {
    let record: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("handed_over.run.json")).unwrap()).unwrap();
    let files = record["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap().to_owned());
    (record["state"].as_str().unwrap().to_owned(), files.collect())
}

#[test]
fn a_build_ends_with_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // Tells its number, and goes on for longer than the run.
    let cargo = script(&path("cargo"), &format!("echo $$ >> '{}'\nexec sleep 60", path("begun").display()));
    fs::write(path("heat.equelle"), PROGRAM).unwrap();
    let run = |n: usize, steps: usize| {
        let words = ["grid_dim=2", "u=2", &format!("nx={n}"), &format!("ny={n}"), &format!("steps={steps}*0.125")];
        let mut command = equellec(folder.path(), &["run", "--quiet", "heat.equelle"]);
        command.args(words).args(["output_to_file=true", "output_dir=out", "output_every=100000"]);
        let output = succeeded(command.env("CARGO", &cargo).env("EQUELLE_CACHE_DIR", path("cache")));
        assert!(String::from_utf8_lossy(&output.stdout).contains("largest = 2"), "{output:?}");
        assert!(output.stderr.is_empty(), "{}", stderr(&output));
    };
    run(3, 1);
    assert!(!path("begun").exists(), "a run that is over at once needs no build");
    // On a single core nothing is built beside a run.
    if available_parallelism().is_ok_and(|cores| cores.get() == 1) {
        return;
    }
    let words = ["run", "heat.equelle", "grid_dim=2", "u=2", "nx=200", "ny=200", "steps=1000000*0.125", "output_dir=long"];
    let mut long = equellec(folder.path(), &words);
    let mut long = long.env("CARGO", &cargo).env("EQUELLE_CACHE_DIR", path("cache")).stdout(Stdio::null()).spawn().unwrap();
    wait_for(&path("begun"), &mut long);
    interrupt(long);
    let number = fs::read_to_string(path("begun")).unwrap();
    let is_there = Command::new("kill").args(["-0", number.trim()]).output().unwrap().status.success();
    assert!(!is_there, "the build goes on");
}

#[test]
fn a_run_goes_on_with_the_built_program() {
    if available_parallelism().is_ok_and(|cores| cores.get() == 1) {
        return;
    }
    let cache = equelle_runtime::cache::folder().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("handed_over.equelle"), PROGRAM).unwrap();
    let words = |dir: &str| -> Vec<String> {
        let all = "grid_dim=2 nx=150 ny=150 u_expression=1+Sin(x/20)*Cos(y/30) steps=40000*0.125 output_every=5000 output_to_file=true";
        all.split(' ').map(str::to_owned).chain(["output_format=vtu,csv,npy".to_owned(), format!("output_dir={dir}")]).collect()
    };
    let expected = succeeded(equellec(folder.path(), &["run", "--compiled", "handed_over.equelle"]).args(words("expected")));
    let program = forget_build(&cache, "handed-over");
    // Says at once that the program is built.
    let message = format!(r#"{{"reason":"compiler-artifact","target":{{"name":"x"}},"executable":"{}"}}"#, program.display());
    let cargo = script(&path("cargo"), &format!("echo '{message}'"));
    let run = || succeeded(equellec(folder.path(), &["run", "handed_over.equelle"]).args(words("found")).env("CARGO", &cargo));
    let found = run();
    let said = stderr(&found);
    assert!(said.contains("Running without a build") && said.contains("as a built program"), "{said}");
    assert_eq!(String::from_utf8_lossy(&found.stdout), String::from_utf8_lossy(&expected.stdout));
    assert_eq!(recorded(&path("expected")), recorded(&path("found")));
    let (expected, found) = (files(&path("expected")), files(&path("found")));
    assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    for (name, bytes) in &expected {
        assert!(bytes == &found[name], "{name} differs");
    }
    // The next run has the program from its beginning.
    let said = stderr(&run());
    assert!(!said.contains("Running without a build") && !said.contains("as a built program"), "{said}");
    forget_build(&cache, "handed-over");
    // Where its state cannot be written, a run goes on as it is.
    let temporary = path("temporary");
    fs::create_dir(&temporary).unwrap();
    let cargo = script(&path("cargo"), &format!("rm -r '{}'\necho '{message}'", temporary.display()));
    let mut command = equellec(folder.path(), &["run", "handed_over.equelle"]);
    let said = stderr(&succeeded(command.args(words("kept")).env("CARGO", &cargo).env("TMPDIR", &temporary)));
    assert!(said.contains("cannot go on with the built program") && !said.contains("as a built program"), "{said}");
    assert_eq!(expected.keys().collect::<Vec<_>>(), files(&path("kept")).keys().collect::<Vec<_>>());
    for (name, bytes) in &files(&path("kept")) {
        assert!(bytes == &expected[name], "{name} differs");
    }
    forget_build(&cache, "handed-over");
}

#[test]
fn a_run_with_linear_systems_stays_as_it_is() {
    if available_parallelism().is_ok_and(|cores| cores.get() == 1) {
        return;
    }
    let cache = equelle_runtime::cache::folder().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("implicit_at_once.equelle"), IMPLICIT).unwrap();
    let mut words = vec!["grid_dim=2", "nx=60", "ny=60", "u_expression=1+Sin(x/20)", "steps=2*0.5", "output_to_file=false"];
    let file = "implicit_at_once.equelle";
    succeeded(equellec(folder.path(), &["run", "--compiled", file]).args(&words));
    let program = forget_build(&cache, "implicit-at-once");
    let message = format!(r#"{{"reason":"compiler-artifact","target":{{"name":"x"}},"executable":"{}"}}"#, program.display());
    let cargo = script(&path("cargo"), &format!("echo '{message}'\ntouch '{}'", path("built").display()));
    words[4] = "steps=1000000*0.001";
    let mut long = equellec(folder.path(), &["run", file]).args(&words).env("CARGO", &cargo).spawn().unwrap();
    wait_for(&path("built"), &mut long);
    thread::sleep(Duration::from_secs(1));
    assert!(long.try_wait().unwrap().is_none());
    interrupt(long);
    words[4] = "steps=2*0.5";
    let said = stderr(&succeeded(equellec(folder.path(), &["run", file]).args(&words).env("CARGO", "no-such-cargo")));
    assert!(!said.contains("Running without a build"), "{said}");
    forget_build(&cache, "implicit-at-once");
}
