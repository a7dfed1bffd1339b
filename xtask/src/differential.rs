//! Programs on both back-ends in one executable: random ones, and those of the project.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::{env, thread};

use equelle_random::binary::{self, Profile, TestProgram};
use equelle_random::data::Fixtures;
use equelle_random::generate::{Purpose, program};
use equelle_random::project::subjects;

use crate::tools::{Failure, root};

/// Folder of the last differential test: packages with a module for each program and way of
/// compiling it, and data.
pub fn folder() -> PathBuf {
    root().join("target/differential")
}

/// The first `n` seeds of random programs, and the first with each construct in its text.
pub fn first_seeds(n: u64, constructs: &[&str]) -> Result<BTreeSet<u64>, Failure> {
    let fixtures = fixtures()?;
    let text = |seed: u64| program(seed, Purpose::Run, &fixtures.ranges).text();
    let with = |construct: &&str| (1..).find(|&seed| text(seed).contains(*construct));
    Ok((1..=n).chain(constructs.iter().filter_map(with)).collect())
}

fn fixtures() -> Result<Fixtures, Failure> {
    let data = folder().join("data");
    Fixtures::write(&data, &triangles()).map_err(|error| format!("`{}`: {error}", data.display()))
}

fn triangles() -> PathBuf {
    root().join("grids/triangles-6x5.grid")
}

/// Compiles random programs, and with `with_project` those of the project, for both back-ends; runs
/// them on all cores and compares outputs. `device` is a value of `EQUELLE_CUDA_DEVICE`, which
/// decides without it.
pub fn run(seeds: impl Iterator<Item = u64>, with_project: bool, device: Option<&str>) -> Result<(), Failure> {
    let folder = folder();
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let (fixtures, triangles) = (fixtures()?, triangles());
    let of_project = if with_project { subjects(&folder.join("project")) } else { Vec::new() };
    let programs =
        TestProgram::random(seeds, &fixtures).chain(of_project.iter().map(|subject| TestProgram::from_subject(subject, str::to_owned)));
    let built = binary::differential("differential", programs, &folder, &target, Profile::Test);
    let shares = thread::available_parallelism().map_or(1, usize::from);
    let start = |share: usize| -> Result<Child, Failure> {
        let mut command = Command::new(&built);
        // Data of a folder of its own: each share writes them.
        command.arg(folder.join(format!("data-{share}"))).arg(&triangles).arg(format!("{share}/{shares}"));
        let started = command.envs(device.map(|device| ("EQUELLE_CUDA_DEVICE", device))).spawn();
        started.map_err(|error| format!("`{}` cannot be run: {error}", built.display()))
    };
    let running: Vec<Child> = (0..shares).map(start).collect::<Result<_, _>>()?;
    let mut failed = Vec::new();
    for (share, mut child) in running.into_iter().enumerate() {
        let status = child.wait().map_err(|error| format!("`{}`: {error}", built.display()))?;
        // A share that a signal ended has said nothing itself.
        if !status.success() {
            failed.push(format!("share {share}/{shares} of `{}` ended with {status}", built.display()));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}
