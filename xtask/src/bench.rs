//! Speed of a generated program against loops written by hand (benches/explicit_heat).

use std::fs;

use crate::tools::{self, Failure, cargo, read, root};

/// Generates the program, puts the comparison beside it, builds both with the same flags, and runs.
pub(crate) fn run(cells: usize, steps: usize) -> Result<(), Failure> {
    let source = root().join("benches/explicit_heat");
    let folder = root().join("target/bench");
    let package = folder.join("heat-sim");
    let mut equellec = tools::equellec("release")?;
    tools::run(equellec.arg(source.join("heat.equelle")).arg("-o").arg(&package))?;

    // Both packages must mean the same runtime crates: those that the generated one names.
    let manifest = read(&package.join("Cargo.toml"))?;
    let dependencies: Vec<&str> =
        manifest.lines().filter(|line| line.starts_with("equelle-runtime") || line.starts_with("backend-serial")).collect();
    let profile = manifest.find("[profile").map_or("", |start| &manifest[start..]);
    let compare = folder.join("compare");
    let text = format!(
        "[package]\nname = \"compare\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
         [dependencies]\nheat = {{ path = \"../heat-sim\" }}\n{}\n\n{profile}",
        dependencies.join("\n"),
    );
    tools::write(&compare.join("Cargo.toml"), &text)?;
    tools::write(&compare.join("src/main.rs"), &read(&source.join("compare.rs"))?)?;
    let lock = compare.join("Cargo.lock");
    if !lock.exists() {
        fs::copy(package.join("Cargo.lock"), &lock).map_err(|error| format!("cannot write `{}`: {error}", lock.display()))?;
    }
    let mut command = cargo();
    command.args(["run", "--release", "--quiet", "--manifest-path"]).arg(compare.join("Cargo.toml"));
    tools::run(command.arg("--target-dir").arg(folder.join("target")).arg("--").args([cells.to_string(), steps.to_string()]))
}
