//! Random programs, as many as wanted.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use equelle_random::binary::{self, Contestant, Profile};
use equelle_random::data::Worlds;
use equelle_random::failing;
use equelle_random::generate::{Purpose, program};

use crate::tools::{self, Failure, root};

/// What a program may have, and the text that shows it.
const KINDS: [(&str, &[&str]); 9] = [
    ("one equation solved", &["NewtonSolve("]),
    ("systems of equations solved", &["NewtonSolveSystem("]),
    ("loops", &["For "]),
    ("mutable variables", &["Mutable"]),
    ("functions", &[") = {"]),
    ("domains read from files", &["InputDomainSubsetOf("]),
    ("Divergence or Gradient", &["Divergence(", "Gradient("]),
    ("edges or vertices", &["Edges()", "Vertices()"]),
    ("reductions", &["Reduce("]),
];

/// Runs the programs of `programs` seeds from `seed` on.
pub fn run(programs: u64, seed: u64) -> Result<(), Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = root.join(format!("target/random-{}", std::process::id()));
    let worlds = Worlds::write(&folder, &root.join("grids/triangles-6x5.grid")).map_err(|e| format!("{}: {e}", folder.display()))?;
    let begin = Instant::now();
    let mut failures = 0_usize;
    let mut kinds = [0_u64; KINDS.len()];
    for (done, seed) in (1..).zip(seed..seed.saturating_add(programs)) {
        if let Some(failure) = failing(seed, &worlds) {
            failures += 1;
            println!("{failure}");
        }
        let text = program(seed, Purpose::Run, &worlds.facts).text();
        for (count, (_, shown)) in kinds.iter_mut().zip(KINDS) {
            *count += u64::from(shown.iter().any(|shown| text.contains(shown)));
        }
        if done % 1000 == 0 {
            eprintln!("{done} programs, {failures} failures, {:.0} s", begin.elapsed().as_secs_f64());
        }
    }
    for (count, (kind, _)) in kinds.iter().zip(KINDS) {
        println!("{count:8} with {kind}");
    }
    std::fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    if failures == 0 { Ok(()) } else { Err(format!("{failures} of {programs} programs fail")) }
}

/// Compiles the programs of some seeds for both back-ends, to one binary, and runs that: on a device by the name that `EQUELLE_CUDA_DEVICE` takes, or what that says.
pub fn on_cuda(seeds: impl Iterator<Item = u64>, device: Option<&str>) -> Result<(), Failure> {
    let folder = root().join("target/random-cuda");
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let (data, triangles) = (folder.join("data"), root().join("grids/triangles-6x5.grid"));
    let worlds = Worlds::write(&data, &triangles).map_err(|error| format!("`{}`: {error}", data.display()))?;
    let built = binary::contest("random_programs", Contestant::random(seeds, &worlds), &folder, &target, Profile::Test);
    let mut command = Command::new(built);
    command.arg(data).arg(triangles);
    tools::run(command.envs(device.map(|device| ("EQUELLE_CUDA_DEVICE", device))))
}
