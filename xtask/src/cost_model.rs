//! Costs of operations on a target, measured on this machine: the table that
//! `backend-*/src/codegen/costs.rs` holds.

use std::env;

use clap::ValueEnum;

use crate::tools::{self, Failure, cargo, root};

/// Processor that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// One core of this processor
    Serial,
    /// The GPU of this machine
    Cuda,
}

/// Runs the benchmark of a back-end, which prints its table.
pub fn run(target: Target) -> Result<(), Failure> {
    let package = match target {
        Target::Serial => "backend-serial",
        Target::Cuda => "backend-cuda",
    };
    let mut bench = cargo();
    bench.args(["bench", "--quiet", "--package", package, "--features", "runtime", "--bench", "costs"]);
    if target == Target::Serial {
        // As simulators are built. Other flags are another build of everything.
        let flags = env::var("RUSTFLAGS").unwrap_or_default();
        bench.env("RUSTFLAGS", format!("{flags} -C target-cpu=native")).arg("--target-dir").arg(root().join("target/cost-model"));
    }
    tools::run(&mut bench)
}
