//! Options of benchmarks, and the machine that they run on.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Case {
    /// Explicit heat conduction on a cube
    Heat,
    /// Shallow water on a square
    ShallowWater,
    /// Residual and Jacobian of implicit heat conduction on a cube
    Residual,
    /// Time per cell of explicit heat and shallow water from 10^5 to 4x10^6 cells
    Scaling,
    /// One thread against two: explicit heat and shallow water
    Threads,
    /// Small programs that differ in a line, each beside the sum of its parts
    Cliffs,
    /// Small programs and random ones, each beside a bound from its report
    Bounds,
}

/// How operations are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Fp {
    /// Only as written
    Strict,
    /// As written, and with --fp fast beside it
    Both,
}

/// The comparisons to run, and how often.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The comparisons
    #[arg(value_enum, default_values_t = [Case::Heat, Case::ShallowWater, Case::Residual])]
    pub cases: Vec<Case>,
    /// Cells along each axis, one table for each number [default: 100,128 for heat, 1024 for
    /// shallow water, 100 for residual]
    #[arg(long, value_delimiter = ',')]
    pub cells: Vec<usize>,
    /// Time steps of a run
    #[arg(long, default_value_t = 51)]
    pub steps: usize,
    /// How often all take their turn
    #[arg(long, default_value_t = 7)]
    pub repetitions: usize,
    /// Random programs of bounds
    #[arg(long, default_value_t = 100)]
    pub programs: usize,
    /// The first seed of them
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How operations are compiled
    #[arg(long, value_enum, default_value_t = Fp::Strict)]
    pub fp: Fp,
    /// The processor to compile for; as for equellec
    #[arg(long, default_value = "native")]
    pub target_cpu: String,
    /// Append the results to a file, one JSON object a line
    #[arg(long)]
    pub json: Option<PathBuf>,
}

/// Prints command, processor and compiler.
pub(super) fn print_machine() {
    let file = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let fact = |name: &str| file.lines().find(|line| line.starts_with(name)).and_then(|line| line.split_once(": ")).map(|(_, value)| value);
    let compiler = Command::new("rustc").arg("--version").output().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let flags = std::env::var("RUSTFLAGS").map_or(String::new(), |flags| format!("RUSTFLAGS=\"{flags}\" "));
    let words: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "- command: `{flags}cargo xtask {}`\n- processor: {} (family {}, model {}, cache {})\n- compiler: {}",
        words.join(" "),
        fact("model name").unwrap_or("unknown"),
        fact("cpu family").unwrap_or("unknown"),
        fact("model\t").unwrap_or("unknown"),
        fact("cache size").unwrap_or("unknown"),
        compiler.unwrap_or_else(|_| "unknown".to_owned()),
    );
}
