//! The wheel of the Python package, its source distribution, and checksums.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{self, Failure, root};

/// The oldest Linux on which the wheel runs: that of glibc 2.28.
const COMPATIBILITY: &str = "manylinux_2_28";

/// Builds the wheel by maturin with Zig's linker, and a source distribution; tries the wheel in a
/// virtual environment where there is no Rust. Says so and does nothing without Python.
pub(super) fn make(dist: &Path) -> Result<(), Failure> {
    let python = "python3";
    let has_python = Command::new(python).args(["-c", "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"]).output();
    if !has_python.is_ok_and(|output| output.status.success()) {
        eprintln!("xtask: no wheel: there is no Python from 3.11 on with venv and pip");
        return Ok(());
    }
    let tools_folder = environment(python, &dist.join("python-tools"), &["maturin>=1.8,<2", "ziglang", "auditwheel"])?;
    let package = root().join("equelle-python");
    let maturin = |words: &[&str]| {
        let mut command = Command::new(tools_folder.join("maturin"));
        // Zig and auditwheel are found beside it.
        let path = std::env::var("PATH").unwrap_or_default();
        command.current_dir(&package).env("PATH", format!("{}:{path}", tools_folder.display()));
        tools::run(command.args(words).arg("--out").arg(dist))
    };
    maturin(&["sdist"])?;
    maturin(&["build", "--release", "--strip", "--locked", "--zig", "--compatibility", COMPATIBILITY, "--auditwheel", "check"])?;
    let wheel = newest(dist, ".whl")?;
    try_out(python, &wheel, &dist.join("python-check"), &package)?;
    checksums(dist)?;
    eprintln!("xtask: wrote {}", wheel.display());
    Ok(())
}

/// A virtual environment with packages; returns the folder of its programs.
fn environment(python: &str, folder: &Path, packages: &[&str]) -> Result<PathBuf, Failure> {
    tools::run(Command::new(python).args(["-m", "venv"]).arg(folder))?;
    let programs = folder.join("bin");
    tools::run(Command::new(programs.join("python")).args(["-m", "pip", "install", "--quiet"]).args(packages))?;
    Ok(programs)
}

/// Installs the wheel, and runs its tests without cargo.
fn try_out(python: &str, wheel: &Path, folder: &Path, package: &Path) -> Result<(), Failure> {
    tools::empty_folder(folder)?;
    let wheel = wheel.to_string_lossy();
    let programs = environment(python, folder, &[&wheel, "pytest"])?;
    let mut tests = Command::new(programs.join("python"));
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(package.join("tests"));
    tests.env("PATH", &programs).env("EQUELLE_CACHE_DIR", folder.join("cache")).env_remove("PYTHONPATH").current_dir(folder);
    tools::run(&mut tests)?;
    let mut command = Command::new(programs.join("equellec"));
    tools::run(command.arg("--version").env("PATH", &programs))
}

/// The file of an ending that was written last.
fn newest(folder: &Path, ending: &str) -> Result<PathBuf, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| format!("cannot list `{}`: {error}", folder.display()))?;
    let files = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.to_string_lossy().ends_with(ending));
    files
        .max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok())
        .ok_or_else(|| format!("there is no {ending} in `{}`", folder.display()))
}

/// Writes `SHA256SUMS` of all files in a folder.
fn checksums(folder: &Path) -> Result<(), Failure> {
    let entries = fs::read_dir(folder).map_err(|error| format!("cannot list `{}`: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok())
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "SHA256SUMS")
        .collect();
    names.sort();
    let output = Command::new("sha256sum").current_dir(folder).args(&names).output();
    let output = output.map_err(|error| format!("sha256sum cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    tools::write(&folder.join("SHA256SUMS"), &String::from_utf8_lossy(&output.stdout))
}
