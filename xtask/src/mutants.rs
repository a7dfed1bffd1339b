//! `cargo xtask mutants`: cargo-mutants on the code whose mistakes are the hardest to see.

use std::process::Command;

use crate::tools::{self, Failure, root};

/// The files that are mutated, by the package whose tests they run.
const FILES: [(&str, &[&str]); 4] = [
    (
        "equelle-front",
        &[
            "equelle-front/src/check/arithmetic.rs",
            "equelle-front/src/check/operation.rs",
            "equelle-front/src/check/power.rs",
            "equelle-front/src/units.rs",
            "equelle-front/src/passes/fuse/**",
            "equelle-front/src/passes/merge.rs",
            "equelle-front/src/passes/hoist.rs",
            "equelle-front/src/passes/differentiate/**",
        ],
    ),
    (
        "equelle-runtime",
        &[
            "equelle-runtime/src/newton/**",
            "equelle-runtime/src/linalg/precond/**",
            "equelle-runtime/src/output/**",
            "equelle-runtime/src/vtk/writer/**",
            "equelle-runtime/src/session/steady_state.rs",
        ],
    ),
    ("backend-serial", &["backend-serial/src/codegen/**"]),
    ("backend-cuda", &["backend-cuda/src/codegen/**"]),
];

/// Options of `mutants`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// The package: equelle-front, equelle-runtime, backend-serial or backend-cuda
    #[arg(long, default_value = "equelle-front")]
    package: String,
    /// One of several equal parts: 1/8, 2/8, ...
    #[arg(long)]
    shard: Option<String>,
    /// Print the mutants and run none
    #[arg(long)]
    list: bool,
}

/// Mutates the files of a package, and runs its tests on each mutant. The report is in
/// `target/mutants.out`; survivors are in `missed.txt` there.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let known = FILES.iter().find(|(package, _)| *package == options.package);
    let (package, files) = known.ok_or_else(|| {
        let names: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        format!("`{}` is not mutated; there are {}", options.package, names.join(", "))
    })?;
    let mut command = Command::new("cargo");
    command.current_dir(root()).args(["mutants", "--package", package, "--output", "target"]);
    command.args(files.iter().flat_map(|file| ["--file", file]));
    if let Some(shard) = &options.shard {
        command.args(["--shard", shard]);
    }
    if options.list {
        command.arg("--list");
    }
    let hint = "`cargo install cargo-mutants --locked` installs what is run; survivors are in target/mutants.out/missed.txt";
    tools::run(&mut command).map_err(|error| format!("{error}; {hint}"))
}
