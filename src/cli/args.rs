//! The arguments.

mod grid;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Command, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use equelle_front::backend::Backend;
use equelle_front::ir::{Numbers, Precision, Rounding, StorageRequests};
use equelle_front::passes::{Derivatives, OptLevel};
use equelle_plot::{Range, Slice, Steps, parse_size};

use crate::console::{ColorChoice, MessageFormat};
use equelle::pipeline::Options;
use equelle::processor::TargetCpu;
use equelle::registry::{self, BACKENDS, Registry};

pub use grid::{DeckArgs, GridArgs, GridUnit, GridVerb, MakeArgs, MakeKind, PartitionArgs};

/// The commands that a beginner needs.
pub const FIRST_COMMANDS: &str = "\
To begin with:
  equellec check heat.equelle                errors and warnings of a program
  equellec run heat.equelle heat.param k=2   run it on parameters; --template prints a file of them
  equellec plot DIR                          draw what a run wrote to DIR
  equellec explain Gradient                  explain a function, a message (E0302) or a parameter (nx)
";

/// Reads the name of a back-end on the command line.
fn backend_parser(backends: Registry) -> impl TypedValueParser<Value = &'static dyn Backend> {
    let names = backends.iter().map(|backend| PossibleValue::new(backend.name()).help(backend.description()));
    PossibleValuesParser::new(names).try_map(move |name| registry::find(backends, &name).ok_or("no such back-end"))
}

/// Headings of the help of `run`.
const RUN: &str = "Run";
const PARAMETERS: &str = "Parameters";

/// Compiles Equelle programs, and runs them.
#[derive(Debug, Parser)]
#[command(name = "equellec", version, disable_help_subcommand = true, subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
#[command(after_help = FIRST_COMMANDS)]
#[command(override_usage = "equellec [OPTIONS] FILE.equelle [--backend BACKEND[,BACKEND]] [-o DIR]\n       equellec [OPTIONS] VERB ...")]
pub struct Cli {
    /// How messages look.
    #[command(flatten)]
    pub messages: MessageArgs,
    /// The form without a verb.
    #[command(flatten)]
    pub plain: PlainArgs,
    /// The verb.
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// Options of every verb.
#[derive(Debug, Args)]
#[command(next_help_heading = "Messages")]
pub struct MessageArgs {
    /// How messages are written
    #[arg(long, global = true, value_enum, default_value_t = MessageFormat::Human, value_name = "FORMAT")]
    pub message_format: MessageFormat,
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub color: ColorChoice,
}

/// The form without a verb: writes a cargo package.
#[derive(Debug, Args)]
pub struct PlainArgs {
    /// The program to compile to a cargo package
    #[arg(value_name = "FILE.equelle")]
    pub file: Option<PathBuf>,
    /// How it is compiled.
    #[command(flatten)]
    pub program: ProgramArgs,
    /// Back-ends of the package
    #[arg(long = "backend", value_parser = backend_parser(BACKENDS), value_delimiter = ',', default_value = registry::default(BACKENDS).name(), value_name = "BACKEND")]
    pub backends: Vec<&'static dyn Backend>,
    /// Folder of the package [default: ./STEM-sim, after FILE]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Overwrite files of the package that have been changed
    #[arg(long)]
    pub force: bool,
    /// Copy the runtime and all that it needs into the package, which then builds anywhere without
    /// a network
    #[arg(long)]
    pub vendor: bool,
    /// Print a stage of compilation instead of writing a package
    #[arg(long, value_name = "WHAT", value_parser = Emit::parser(BACKENDS))]
    pub emit: Option<Emit>,
}

/// How a program is compiled.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Compilation")]
pub struct ProgramArgs {
    /// Level of optimisation: 0 is one call per operation, 2 fuses them into kernels
    #[arg(short = 'O', value_enum, default_value_t = Level::Two, value_name = "LEVEL")]
    pub level: Level,
    /// Do not check physical dimensions
    #[arg(long)]
    pub nondimensional: bool,
    /// Derivatives for Newton's method at level 2: compiled into the residual, or by products of
    /// sparse matrices
    #[arg(long, value_enum, default_value_t = Ad::Stencil, value_name = "HOW")]
    pub ad: Ad,
    /// Precision of collections; Scalars, sums and linear systems stay double
    #[arg(long, value_enum, default_value_t = Real::F64, value_name = "REAL")]
    pub precision: Real,
    /// Rounding: of every operation as written, or of shared reciprocals
    #[arg(long, value_enum, default_value_t = Fp::Strict, value_name = "MODE")]
    pub fp: Fp,
    /// Audit conserved quantities: their change, what passed the boundary, sources, and the rest
    #[arg(long)]
    pub audit: bool,
    /// Store these collections instead of computing them where they are read; `rates.divu` is that
    /// of a function. Results do not change
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub store: Vec<String>,
    /// Compute these collections where they are read instead of storing them
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub inline: Vec<String>,
    /// Print a report to standard error: kernels, their loads and stores, what was not fused and
    /// why
    #[arg(long)]
    pub report: bool,
}

impl ProgramArgs {
    /// Collections that the user wants stored or inlined.
    pub fn storage(&self) -> StorageRequests {
        StorageRequests { store: self.store.clone(), inline: self.inline.clone() }
    }

    /// The options again, for another `equellec`; not the report, which this one prints.
    pub fn words(&self) -> Vec<String> {
        fn value(option: &str, chosen: &impl ValueEnum) -> Option<String> {
            chosen.to_possible_value().map(|value| format!("--{option}={}", value.get_name()))
        }
        let ProgramArgs { level, nondimensional, ad, precision, fp, audit, store, inline, report: _ } = self;
        let level = level.to_possible_value().map(|level| format!("-O{}", level.get_name()));
        let chosen = [level, value("ad", ad), value("precision", precision), value("fp", fp)];
        let flags = [(*nondimensional, "--nondimensional"), (*audit, "--audit")];
        let names = |option: &'static str, names: &[String]| names.iter().map(move |name| format!("--{option}={name}")).collect::<Vec<_>>();
        let mut words: Vec<String> = chosen.into_iter().flatten().collect();
        words.extend(flags.into_iter().filter(|(given, _)| *given).map(|(_, flag)| flag.to_owned()));
        words.extend(names("store", store));
        words.extend(names("inline", inline));
        words
    }

    /// For the pipeline, of a program for some back-ends.
    pub fn options(&self, backends: &[&dyn Backend]) -> Options {
        let level = match self.level {
            Level::Zero => OptLevel::O0,
            Level::Two => OptLevel::O2,
        };
        let derivatives = match self.ad {
            Ad::Stencil => Derivatives::Stencil,
            Ad::Spgemm => Derivatives::SparseMatrices,
        };
        let precision = match self.precision {
            Real::F64 => Precision::Double,
            Real::F32 => Precision::Single,
        };
        let rounding = match self.fp {
            Fp::Strict => Rounding::Strict,
            Fp::Fast => Rounding::Fast,
        };
        let numbers = Numbers { precision, rounding };
        Options {
            level,
            nondimensional: self.nondimensional,
            derivatives,
            numbers,
            costs: registry::costs(backends),
            audit: self.audit,
            storage: self.storage(),
        }
    }
}

/// How a package is built.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Compilation")]
pub struct TargetArgs {
    /// Processor to build for: native (this one), generic (any), or a name of `rustc --print
    /// target-cpus`; results do not depend on it
    #[arg(long, default_value_t = TargetCpu::Native, value_name = "CPU")]
    pub target_cpu: TargetCpu,
}

/// Derivatives of residuals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Ad {
    /// Compiled into the residual, where that can be done
    Stencil,
    /// Products of sparse matrices, operation by operation
    Spgemm,
}

/// How kernels are interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InterpretedKernels {
    /// By vector operations over blocks of elements, on all threads; on a GPU as in built programs
    Lanes,
    /// Element by element: slow, and what other ways are compared with
    Elements,
}

impl InterpretedKernels {
    /// The word of the command line.
    pub fn word(self) -> &'static str {
        match self {
            InterpretedKernels::Lanes => "lanes",
            InterpretedKernels::Elements => "elements",
        }
    }
}

/// Precision of collections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Real {
    /// IEEE double
    F64,
    /// IEEE single
    F32,
}

/// Rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fp {
    /// Every operation as written
    Strict,
    /// Kernels may add products without rounding them, and multiply by reciprocals
    Fast,
}

/// Level of optimisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// One call per operation
    #[value(name = "0")]
    Zero,
    /// Kernels
    #[value(name = "2")]
    Two,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Compile a program if needed, and run it
    Run(RunArgs),
    /// Write the package of a program and build it
    Build(BuildArgs),
    /// Run a program in several ways on the same data, and print the differences of outputs
    Compare(CompareArgs),
    /// Run a program on every combination of values of parameters, and print a table of results
    Sweep(SweepArgs),
    /// Draw what a run wrote: maps, lines, slices, and single numbers over time
    Plot(PlotArgs),
    /// Report the errors and warnings of a program
    Check(CheckArgs),
    /// Print a stage of compilation
    Emit(EmitArgs),
    /// Format programs in place
    Fmt(FmtArgs),
    /// Explain a diagnostic code such as E0201, a built-in function such as Gradient, or a
    /// parameter of every program such as nx
    Explain(ExplainArgs),
    /// Describe, check, convert or make a grid file
    Grid(GridArgs),
    /// Check tool chain, cache and GPU
    Doctor {
        /// Build the runtime and compile its kernels ahead, so that first runs do not wait for them
        #[arg(long)]
        warm: bool,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page of equellec, or of one of its verbs
    Man {
        /// The verb, such as run
        verb: Option<String>,
    },
}

/// A program that is built, and how.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// The program; `-` reads standard input
    #[arg(value_name = "FILE.equelle")]
    pub file: PathBuf,
    /// How it is compiled.
    #[command(flatten)]
    pub program: ProgramArgs,
    /// How it is built.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Arguments of runs on several ranks.
#[derive(Debug, Args)]
pub struct RankArgs {
    /// Run on so many ranks that are threads; for tests
    #[arg(long, hide = true, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub ranks_threads: Option<u32>,
    /// Print what a run on ranks takes, and run nothing: cells, exchanges and memory of each rank
    #[arg(long, help_heading = RUN, requires = "ranks", conflicts_with_all = ["list_inputs", "template"])]
    pub dry_run: bool,
    /// Run on so many ranks: processes that the MPI of this machine starts and connects
    #[arg(long, help_heading = RUN, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub ranks: Option<u32>,
    /// This process is a rank, which another `equellec run --ranks` has started by a launcher, with
    /// this library of MPI
    #[arg(long, hide = true, value_name = "FILE", requires = "interpret")]
    pub as_rank: Option<PathBuf>,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The program to build.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Back-end to run on
    #[arg(long, help_heading = RUN, value_parser = backend_parser(BACKENDS), default_value = registry::default(BACKENDS).name(), value_name = "BACKEND")]
    pub backend: &'static dyn Backend,
    /// Interpret the program to the end; needs no Rust tool chain
    #[arg(long, help_heading = RUN, value_name = "KERNELS", num_args = 0..=1, require_equals = true, default_missing_value = "lanes")]
    pub interpret: Option<InterpretedKernels>,
    /// On several ranks.
    #[command(flatten)]
    pub on_ranks: RankArgs,
    /// Build the program before it runs
    #[arg(long, help_heading = RUN, conflicts_with = "interpret")]
    pub compiled: bool,
    /// No progress and no summary
    #[arg(short, long, help_heading = "Messages")]
    pub quiet: bool,
    /// Print times of phases, loops and kernels at the end
    #[arg(long, help_heading = "Messages")]
    pub profile: bool,
    /// Print a table of each solve of Newton's method
    #[arg(short, long, help_heading = "Messages")]
    pub verbose: bool,
    /// Go on from a checkpoint: from FILE, or from the last one in the output folder
    #[arg(long, help_heading = RUN, num_args = 0..=1, require_equals = true, default_missing_value = "latest", value_name = "FILE")]
    pub restart: Option<String>,
    /// Draw the outputs at the end, as `equellec plot` does [default file: PROGRAM.png in the
    /// output folder]; collections go to files of VTK if no output_format is given
    #[arg(long, help_heading = RUN, num_args = 0..=1, require_equals = true, value_name = "FILE", conflicts_with_all = ["list_inputs", "template"])]
    pub plot: Option<Option<PathBuf>>,
    /// Write a page of the run at its end, as `equellec plot --html` does; with a log of events
    #[arg(long, help_heading = RUN, value_name = "FILE", conflicts_with_all = ["list_inputs", "template"])]
    pub html: Option<PathBuf>,
    /// Draw this output in the terminal while the run goes on
    #[arg(long, help_heading = RUN, value_name = "TAG", conflicts_with_all = ["list_inputs", "template"])]
    pub watch: Option<String>,
    /// Run nothing; print the inputs of the program and all other parameters, with units, defaults
    /// and accepted forms
    #[arg(long, help_heading = PARAMETERS)]
    pub list_inputs: bool,
    /// Run nothing; print a parameter file with every key, to be filled in
    #[arg(long, help_heading = PARAMETERS, conflicts_with = "list_inputs")]
    pub template: bool,
    /// Parameter files and assignments `key=value`; later ones win, assignments over files. Keys of
    /// every program: those of the grid and of outputs, and `threads=N` (default: one for each
    /// processor; results do not depend on it)
    #[arg(value_name = "PARAMFILE|key=value")]
    pub parameters: Vec<String>,
}

/// Arguments of `build`.
#[derive(Debug, Args)]
pub struct BuildArgs {
    /// The program to build.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Back-ends of the package
    #[arg(long = "backend", value_parser = backend_parser(BACKENDS), value_delimiter = ',', default_value = registry::default(BACKENDS).name(), value_name = "BACKEND")]
    pub backends: Vec<&'static dyn Backend>,
    /// Folder of the package [default: ./STEM-sim, after FILE]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Overwrite files of the package that have been changed
    #[arg(long)]
    pub force: bool,
    /// Copy the runtime and all that it needs into the package, which then builds anywhere without
    /// a network
    #[arg(long)]
    pub vendor: bool,
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The program to build.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Back-ends to compare; the first one is the reference
    #[arg(long = "backend", value_parser = backend_parser(BACKENDS), value_delimiter = ',', default_value = registry::default(BACKENDS).name(), value_name = "BACKEND")]
    pub backends: Vec<&'static dyn Backend>,
    /// Levels of optimisation to compare, on every back-end [default: that of -O; 0,2 for a single
    /// back-end]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LEVEL")]
    pub levels: Vec<Level>,
    /// Numbers of ranks to compare; more than one are processes of the MPI of this machine
    /// [default: 1]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub ranks: Vec<u32>,
    /// Largest accepted difference, relative to the largest value of an output [default:
    /// 1e-12; 1e-6 for implicit programs; 5.4e-4 with --precision f32]
    #[arg(long, value_name = "NUMBER")]
    pub tolerance: Option<f64>,
    /// Parameter files and assignments `key=value`, as for `run`
    #[arg(value_name = "PARAMFILE|key=value")]
    pub parameters: Vec<String>,
}

/// Arguments of `sweep`.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// The program to build.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Back-end to run on
    #[arg(long, help_heading = RUN, value_parser = backend_parser(BACKENDS), default_value = registry::default(BACKENDS).name(), value_name = "BACKEND")]
    pub backend: &'static dyn Backend,
    /// Interpret the program to the end; needs no Rust tool chain
    #[arg(long, help_heading = RUN, value_name = "KERNELS", num_args = 0..=1, require_equals = true, default_missing_value = "lanes")]
    pub interpret: Option<InterpretedKernels>,
    /// Build the program first, even if all runs end sooner in the interpreter
    #[arg(long, help_heading = RUN, conflicts_with = "interpret")]
    pub compiled: bool,
    /// Runs at the same time [default: one for each processor; on a GPU one]
    #[arg(short, long, help_heading = RUN, value_name = "N")]
    pub jobs: Option<usize>,
    /// Folder of the runs, each with a folder of its own, and of the table sweep.csv [default:
    /// ./STEM-sweep, after FILE]
    #[arg(short, long, help_heading = RUN, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Parameter files and assignments, as for `run`. Values with commas between them are tried one
    /// by one, in every combination: k=0.1,0.2 nx=50,100. Keys that take lists stay whole;
    /// nx,ny=8,16 gives both the same
    #[arg(value_name = "PARAMFILE|key=value,...")]
    pub parameters: Vec<String>,
}

/// Arguments of `plot`.
#[derive(Debug, Args)]
pub struct PlotArgs {
    /// The folder of a run, or its PROGRAM.run.json; or the folder of a sweep, or its table
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The picture, .png, .svg or .gif [default: PROGRAM.png in DIR]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Tags of outputs; v_x is a component of the Vector v [default: all]
    #[arg(long = "tag", value_delimiter = ',', value_name = "TAG")]
    pub tags: Vec<String>,
    /// first, last, all, or numbers of steps [default: the last one; of lines some of all]
    #[arg(long, value_parser = Steps::parse, value_name = "STEPS")]
    pub step: Option<Steps>,
    /// Values at the ends of the colour bar, or of the axis [default: those of the data]
    #[arg(long, value_parser = Range::parse, allow_hyphen_values = true, value_name = "LOW:HIGH")]
    pub range: Option<Range>,
    /// Width and height in pixels
    #[arg(long, value_parser = parse_size, value_name = "WIDTHxHEIGHT")]
    pub size: Option<(usize, usize)>,
    /// Colours of maps
    #[arg(long, value_enum, default_value_t = Colours::Viridis, value_name = "NAME")]
    pub colours: Colours,
    /// Where a grid of three dimensions is cut [default: in the middle of z]
    #[arg(long, value_parser = Slice::parse, value_name = "AXIS=NUMBER")]
    pub slice: Option<Slice>,
    /// Number of iso-lines on maps
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=50), value_name = "N")]
    pub isolines: u8,
    /// One picture for each step, one after the other, as an animated PNG or GIF
    #[arg(long)]
    pub animate: bool,
    /// Norms of residuals over the iterations of Newton's method, instead of outputs
    #[arg(long, conflicts_with_all = ["tags", "step", "animate", "slice", "isolines", "html"])]
    pub convergence: bool,
    /// Parameter to the right, for a sweep [default: cells of the grid, or the first number]
    #[arg(long, value_name = "KEY", conflicts_with = "html")]
    pub against: Option<String>,
    /// Logarithmic axes for a sweep, with orders in the legend, whatever the parameter is
    #[arg(long, conflicts_with = "html")]
    pub log: bool,
    /// A page of the run in one file, instead of a picture: what ran, outputs with a slider over
    /// steps, iterations, times
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "animate"])]
    pub html: Option<PathBuf>,
}

/// Colours of maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Colours {
    /// From dark violet over green to yellow
    Viridis,
    /// From blue over grey, in the middle of the range, to red
    Diverging,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The programs; `-` reads standard input
    #[arg(value_name = "FILE.equelle", required = true)]
    pub files: Vec<PathBuf>,
    /// Do not check physical dimensions
    #[arg(long)]
    pub nondimensional: bool,
}

/// Arguments of `emit`.
#[derive(Debug, Args)]
pub struct EmitArgs {
    // Places are written down because `command` changes the first, which clap then puts last.
    /// The stage
    #[arg(index = 1, value_name = "WHAT", value_parser = Emit::parser(BACKENDS))]
    pub what: Emit,
    /// The program; `-` reads standard input
    #[arg(index = 2, value_name = "FILE.equelle")]
    pub file: PathBuf,
    /// How it is compiled.
    #[command(flatten)]
    pub program: ProgramArgs,
}

/// Arguments of `fmt`.
#[derive(Debug, Args)]
pub struct FmtArgs {
    /// The programs; `-` formats standard input to standard output
    #[arg(value_name = "FILE.equelle", required = true)]
    pub files: Vec<PathBuf>,
    /// Change nothing; fail if something would change
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The code or the name; without one, all of them are listed
    #[arg(value_name = "CODE|NAME")]
    pub code: Option<String>,
}

/// A stage of compilation.
#[derive(Clone, Debug)]
pub enum Emit {
    /// The syntax tree, printed as a program.
    Ast,
    /// The IR after all passes.
    Ir,
    /// The IR after one pass.
    IrAfter(String),
    /// The code that a back-end generates.
    Code(&'static dyn Backend),
    /// The list of inputs and outputs.
    Manifest,
    /// The report of the compiler on the program.
    Report,
}

impl Emit {
    /// Reads a stage; back-ends name theirs.
    pub fn parser(backends: Registry) -> impl Fn(&str) -> Result<Emit, String> + Clone + Send + Sync {
        move |text| match text {
            "ast" => Ok(Emit::Ast),
            "ir" => Ok(Emit::Ir),
            "manifest" => Ok(Emit::Manifest),
            "report" => Ok(Emit::Report),
            _ => match (text.strip_prefix("ir-after="), backends.iter().find(|backend| backend.listing().0 == text)) {
                (Some(pass), _) if !pass.is_empty() => Ok(Emit::IrAfter(pass.to_owned())),
                (None, Some(backend)) => Ok(Emit::Code(*backend)),
                (_, _) => Err(format!("expected one of {}", Emit::stages(backends))),
            },
        }
    }

    fn stages(backends: Registry) -> String {
        let code = backends.iter().map(|backend| backend.listing().0);
        ["ast", "ir", "ir-after=PASS"].into_iter().chain(code).chain(["manifest", "report"]).collect::<Vec<_>>().join(", ")
    }
}

/// The command line of a compiler with these back-ends.
pub fn command(backends: Registry) -> Command {
    let backend = |arg: Arg| arg.value_parser(backend_parser(backends)).default_value(registry::default(backends).name());
    let stage = |arg: Arg| {
        let help = format!("{} [{}]", arg.get_help().map(ToString::to_string).unwrap_or_default(), Emit::stages(backends));
        arg.value_parser(Emit::parser(backends)).help(help)
    };
    Cli::command()
        .mut_arg("backends", backend)
        .mut_arg("emit", stage)
        .mut_subcommand("run", |verb| verb.mut_arg("backend", backend))
        .mut_subcommand("build", |verb| verb.mut_arg("backends", backend))
        .mut_subcommand("sweep", |verb| verb.mut_arg("backend", backend))
        .mut_subcommand("compare", |verb| verb.mut_arg("backends", backend))
        .mut_subcommand("emit", |verb| verb.mut_arg("what", stage))
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches;

    use super::*;

    fn parse(words: &[&str]) -> Result<Cli, clap::Error> {
        let words = ["equellec"].iter().chain(words);
        Cli::from_arg_matches_mut(&mut command(BACKENDS).try_get_matches_from(words)?)
    }

    #[test]
    fn definition_is_consistent() {
        command(BACKENDS).debug_assert();
    }

    #[test]
    fn plain_form_and_verbs() {
        let plain = parse(&["heat.equelle", "--backend", "serial,cuda", "-o", "out", "-O0"]).expect("plain form");
        assert!(plain.verb.is_none());
        assert_eq!(plain.plain.backends, BACKENDS);
        assert_eq!(plain.plain.program.level, Level::Zero);
        let run = parse(&["--color", "never", "run", "heat.equelle", "a.param", "-O0", "k=-1", "--interpret"]);
        let Some(Verb::Run(run)) = run.expect("run").verb else { panic!("not run") };
        assert_eq!(run.parameters, ["a.param", "k=-1"]);
        assert!(run.interpret == Some(InterpretedKernels::Lanes) && run.source.program.level == Level::Zero);
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for words in [&["heat.equelle", "--backend", "mpi"][..], &["emit", "ir-after=", "heat.equelle"], &["run"], &["check"]] {
            assert_eq!(parse(words).expect_err("refused").exit_code(), 2, "{words:?}");
        }
    }
}
