//! Speed of a generated program against loops written by hand (benches/explicit_heat).

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::tools::{self, Failure, cargo, read, root};

/// Generates the program, makes a package of the comparison that uses it, builds both with the same flags, and runs; the report goes to standard output.
pub(crate) fn run(sizes: &[usize], steps: usize, repetitions: usize) -> Result<(), Failure> {
    if sizes.iter().any(|&n| n < 3) || steps < 2 || repetitions < 1 {
        return Err("at least 3 cells along each axis, 2 steps and 1 repetition are needed".to_owned());
    }
    let source = root().join("benches/explicit_heat");
    let folder = root().join("target/bench");
    let package = folder.join("heat-sim");
    let mut equellec = tools::equellec("release")?;
    tools::run(equellec.arg(source.join("heat.equelle")).arg("-o").arg(&package))?;
    let compare = folder.join("compare");
    write_package(&compare, &package, &source)?;
    let target = folder.join("target");
    let mut build = cargo();
    build.args(["build", "--release", "--quiet", "--manifest-path"]).arg(compare.join("Cargo.toml"));
    tools::run(build.arg("--target-dir").arg(&target))?;
    print_machine(sizes, steps, repetitions);
    let mut run = Command::new(target.join("release").join(format!("compare{}", std::env::consts::EXE_SUFFIX)));
    tools::run(run.arg("time").args([steps, repetitions].iter().chain(sizes).map(ToString::to_string)))
}

/// A package whose sources stay where they are. It and the generated one must mean the same runtime crates and flags: those that the generated one names.
fn write_package(compare: &Path, package: &Path, source: &Path) -> Result<(), Failure> {
    let manifest = read(&package.join("Cargo.toml"))?;
    let runtime = |line: &&str| line.starts_with("equelle-runtime") || line.starts_with("backend-serial");
    let dependencies: Vec<&str> = manifest.lines().filter(runtime).collect();
    let profile = manifest.find("[profile").map_or("[workspace]\n", |start| &manifest[start..]);
    let main = source.join("src/main.rs");
    let text = format!(
        "[package]\nname = \"compare\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
         [[bin]]\nname = \"compare\"\npath = {main:?}\n\n\
         [dependencies]\nheat = {{ path = \"../heat-sim\" }}\n{}\n\n{profile}",
        dependencies.join("\n"),
    );
    tools::write(&compare.join("Cargo.toml"), &text)?;
    // Cargo adds the generated package to the lock file, and takes the versions of everything else from it.
    let lock = compare.join("Cargo.lock");
    fs::copy(package.join("Cargo.lock"), &lock).map_err(|error| format!("cannot write `{}`: {error}", lock.display()))?;
    Ok(())
}

/// What a reader needs to know of the circumstances.
fn print_machine(sizes: &[usize], steps: usize, repetitions: usize) {
    let facts = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let fact =
        |name: &str| facts.lines().find(|line| line.starts_with(name)).and_then(|line| line.split_once(": ")).map(|(_, value)| value);
    let compiler = Command::new("rustc").arg("--version").output().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    let flags = std::env::var("RUSTFLAGS").map_or(String::new(), |flags| format!("RUSTFLAGS=\"{flags}\" "));
    println!(
        "- command: `{flags}cargo xtask bench --cells {} --steps {steps} --repetitions {repetitions}`\n- processor: {} (family {}, model {}, cache {}), one core\n- compiler: {}",
        sizes.join(","),
        fact("model name").unwrap_or("unknown"),
        fact("cpu family").unwrap_or("unknown"),
        fact("model\t").unwrap_or("unknown"),
        fact("cache size").unwrap_or("unknown"),
        compiler.unwrap_or_else(|_| "unknown".to_owned()),
    );
}
