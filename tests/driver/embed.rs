//! Packages in somebody's hands: embedded in another crate, and standing alone.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/embed/decay.equelle");
const EXAMPLE: &str = include_str!("../embed/example.rs");
const OBSERVED: &str = include_str!("../embed/observed.rs");

fn equellec() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equellec"));
    if env::var_os("EQUELLE_CACHE_DIR").is_none() {
        command.env("EQUELLE_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("equelle-cache"));
    }
    command
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("embed-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

fn expect_success(command: &mut Command) -> Output {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}\n{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    output
}

fn cargo(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words).current_dir(folder).env("CARGO_NET_OFFLINE", "true");
    command
}

/// The package is in another crate, with the examples of the book as its programs. Of 1 to 4 a
/// quarter is left after two steps of 1 with k = 0.5, and a half of what is set after the first.
#[test]
fn a_simulator_runs_in_memory_inside_another_crate() {
    let folder = scratch("crate");
    expect_success(equellec().arg(PROGRAM).arg("-o").arg(folder.join("decay-sim")));
    // The dependencies of the package are those of its user.
    let manifest = fs::read_to_string(folder.join("decay-sim/Cargo.toml")).expect("a manifest");
    let dependencies: String = manifest.lines().filter(|line| line.contains("{ path = ")).map(|line| format!("{line}\n")).collect();
    let own = format!(
        "[package]\nname = \"mine\"\nedition = \"2024\"\n\n[dependencies]\ndecay = {{ path = \"decay-sim\" }}\n{dependencies}\n[workspace]\nexclude = [\"decay-sim\"]\n"
    );
    fs::create_dir_all(folder.join("src/bin")).expect("the folder can be written");
    fs::write(folder.join("Cargo.toml"), own).expect("the folder can be written");
    fs::write(folder.join("src/main.rs"), EXAMPLE).expect("the folder can be written");
    fs::write(folder.join("src/bin/observed.rs"), OBSERVED).expect("the folder can be written");
    fs::copy(folder.join("decay-sim/Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("embed-target");
    let printed = |name: &str| {
        let run = expect_success(cargo(&folder, &["run", "--quiet", "--offline", "--bin", name, "--target-dir"]).arg(&target));
        String::from_utf8_lossy(&run.stdout).into_owned()
    };
    assert_eq!(printed("mine"), "u: [0.25, 0.5, 0.75, 1.0]\n");
    assert_eq!(printed("observed"), "step 1: 5\nstep 2: 9.25\nu: [0.25, 4.0, 4.0, 1.0]\n");
    fs::remove_dir_all(&folder).expect("the folder can be removed");
}

#[test]
fn the_example_is_short() {
    let lines = EXAMPLE.lines().skip_while(|line| !line.starts_with("fn main")).count();
    assert!(lines <= 15, "{lines} lines");
}

/// A package whose cache is gone: `doctor` explains it, and the page of the package says the same.
#[test]
fn a_cache_that_is_gone_is_explained() {
    let (folder, cache) = (scratch("gone"), scratch("gone-cache"));
    let package = folder.join("decay-sim");
    expect_success(equellec().arg(PROGRAM).arg("-o").arg(&package).env("EQUELLE_CACHE_DIR", &cache));
    let doctor = || {
        let output = expect_success(equellec().arg("doctor").current_dir(&package));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(doctor().lines().any(|line| line.starts_with("package    ") && line.ends_with("is there")), "{}", doctor());
    fs::remove_dir_all(&cache).expect("the folder can be removed");
    let told = doctor();
    let line = told.lines().find(|line| line.starts_with("package    ")).unwrap_or_else(|| panic!("{told}"));
    assert!(line.contains("was moved or deleted") && line.contains("`equellec decay.equelle -o . --force`"), "{line}");
    let page = fs::read_to_string(package.join("README.md")).expect("a page");
    assert!(page.contains("moved or\ndeleted") && page.contains(&cache.display().to_string()), "{page}");
    fs::remove_dir_all(&folder).expect("the folder can be removed");
}

/// Builds without cache and network, in an empty home of cargo.
#[test]
#[ignore = "copies all crates of registries and builds them; `.ci/full` runs it"]
fn a_vendored_package_stands_alone() {
    let (folder, cache) = (scratch("vendored"), scratch("vendored-cache"));
    let package = folder.join("decay-sim");
    expect_success(equellec().arg(PROGRAM).arg("--vendor").arg("-o").arg(&package).env("EQUELLE_CACHE_DIR", &cache));
    fs::remove_dir_all(&cache).expect("the folder can be removed");
    let moved = folder.join("elsewhere");
    fs::rename(&package, &moved).expect("the folder can be renamed");
    let mut run = cargo(&moved, &["run", "--quiet", "--offline", "--", "--quiet", "u=4", "steps=2*1", "k=0.5", "output_to_file=false"]);
    let run = expect_success(run.env("CARGO_HOME", folder.join("home")));
    let printed = String::from_utf8_lossy(&run.stdout).into_owned();
    assert_eq!(printed.split_whitespace().collect::<Vec<_>>().join(" "), "u = 1 1 1 1 1 1");
    fs::remove_dir_all(&folder).expect("the folder can be removed");
}
