//! Developer commands: `cargo xtask <command>`.

mod bench;
mod bless;
mod blocks;
mod circles;
mod columns;
mod compile_kernels;
mod converge;
mod cost_model;
mod crossover;
mod cuda_host_tests;
mod differential;
mod dist;
mod editors;
mod example_data;
mod gpu_bundle;
mod implicit_data;
mod implicit_step;
mod links;
mod mutants;
mod openings;
mod pages;
mod pictures;
mod random;
mod shallow_water_data;
mod text_search;
mod tools;
mod words;

use std::process::ExitCode;

use clap::Parser;
use cuda_host_tests::Packages;

/// Developer commands of this workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
enum Command {
    /// Rewrite the expected texts of the tests after a review of what changed
    Bless {
        /// Write nothing; fail if something would change
        #[arg(long)]
        check: bool,
    },
    /// Print modules that import each other, and types with more than 60 methods or 15 fields (an
    /// `impl` of a trait counts for no type, the trait counts its own methods); fail where there
    /// are too many
    Circles {
        /// Only circles with a file in this folder, with the imports that make them
        folder: Option<String>,
    },
    /// Print names that docs/conventions.md replaces, and comments that do not begin with their
    /// subject; fail if there is a name or if these are many
    Words,
    /// Find code generators that search text that they have written; fail if one does
    TextSearch,
    /// Print comments and prose of more than 100 columns; fail if there is one
    Columns,
    /// Write the grammar and the mode of the editors, and the reference of the book, from the
    /// tables of the compiler
    Editors {
        /// Write nothing; fail if something would change
        #[arg(long)]
        check: bool,
    },
    /// Write the input data of the examples, and the expected results that are computed here
    ExampleData {
        /// Write nothing; fail if something would change
        #[arg(long)]
        check: bool,
    },
    /// Draw the pictures of the examples, which their READMEs and the book show
    Pictures {
        /// Write nothing; fail if pixels would change
        #[arg(long)]
        check: bool,
    },
    /// Find links, images, files and names of pages that do not exist; fail if there is one
    Pages,
    /// Compile all CUDA code with NVRTC, and run CUDA programs on the host; needs no GPU
    CudaHostTests {
        /// Build the packages of all examples instead of four; compile for eight targets each
        #[arg(long)]
        all: bool,
    },
    /// Compile the `.cu` files below a folder with NVRTC, which must be on the loader's path
    CompileKernels {
        /// The folder
        folder: std::path::PathBuf,
        /// Targets to compile for
        #[arg(long, value_enum, default_value_t = compile_kernels::Targets::All)]
        targets: compile_kernels::Targets,
        /// Print registers and spills of each kernel
        #[arg(long)]
        resources: bool,
    },
    /// Run random programs in every way and compare; what differs is made small and shown
    Random {
        /// How many
        #[arg(long, default_value_t = 2000)]
        programs: u64,
        /// The first seed; those after it follow
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Compile them for both back-ends and compare those instead; with the environment variable
        /// EQUELLE_CUDA_DEVICE=host without a GPU
        #[arg(long)]
        cuda: bool,
    },
    /// Make an archive of the compiler with manual pages, completions and editors, and try it in an
    /// empty folder
    Dist,
    /// Run cargo-mutants on dimension checks, passes, Newton's method, multigrid and outputs
    Mutants(mutants::Options),
    /// Collect programs, data and scripts to run on a machine with a GPU, in `.gpu/`
    GpuBundle {
        /// Only programs whose names contain this, or one of several such parts, separated by
        /// commas
        #[arg(long, default_value = "")]
        only: String,
    },
    /// Measure what operations cost on a target; prints the table of its `codegen/costs.rs`
    CostModel {
        /// The target
        #[arg(long, value_enum)]
        target: cost_model::Target,
    },
    /// Compare the speed of generated programs with hand-written loops
    Bench(bench::Options),
    /// Run implicit programs with default parameters on grids of all kinds; print iterations and
    /// times
    Converge(converge::Options),
    /// Find the number of cells from which the GPU is faster than the processor, with a GPU bundle
    Crossover(crossover::Options),
    /// A whole implicit time step against sparse-matrix derivatives and BiCGStab with Jacobi, with
    /// the time of each part
    ImplicitStep(implicit_step::Options),
    /// Iterations and times of multigrid on the Laplacian of cubes; `benches/peers/solvers.py` does
    /// the same with PyAMG
    Solvers {
        /// Cells along an edge, separated by commas; 192 needs 4 GB
        #[arg(long, default_value = "32,64,96,128,192")]
        cells: String,
    },
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Bless { check } => bless::bless(check),
        Command::Words => words::run().and_then(|()| openings::check()),
        Command::TextSearch => text_search::run(),
        Command::Columns => columns::run(),
        Command::Circles { folder } => circles::run(folder.as_deref()),
        Command::Editors { check } => editors::write(check),
        Command::ExampleData { check } => example_data::write(check),
        Command::Pictures { check } => pictures::draw(check),
        Command::Pages => pages::run(),
        Command::CudaHostTests { all } => cuda_host_tests::run(if all { Packages::All } else { Packages::Some }),
        Command::CompileKernels { folder, targets, resources } => compile_kernels::run(&folder, targets, resources),
        Command::Dist => dist::make(),
        Command::Mutants(options) => mutants::run(&options),
        Command::GpuBundle { only } => gpu_bundle::collect(&only),
        Command::Random { programs, seed, cuda: false } => random::run(programs, seed),
        Command::Random { programs, seed, cuda: true } => {
            differential::run(seed..=seed.saturating_add(programs).saturating_sub(1), false, None)
        }
        Command::CostModel { target } => cost_model::run(target),
        Command::Bench(options) => bench::run(&options),
        Command::ImplicitStep(options) => implicit_step::run(&options),
        Command::Converge(options) => converge::run(&options),
        Command::Crossover(options) => crossover::run(&options),
        Command::Solvers { cells } => {
            tools::run(tools::cargo().args(["run", "--quiet", "--release", "-p", "equelle-runtime", "--example", "solvers", "--", &cells]))
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
