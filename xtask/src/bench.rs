//! Speed of generated programs against loops written by hand (benches).

mod bounds;
mod cliffs;
mod explicit;
mod loops;
mod options;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use options::Options;
use options::{Case, Fp, print_machine};

use crate::tools::{self, Failure, cargo, read, root};

/// A program that is compared.
struct Program {
    /// Name of its library, and feature of the comparison.
    library: &'static str,
    /// Name of the program in the comparison.
    suite: &'static str,
    /// Cells along each axis for a comparison.
    sizes: &'static [usize],
    /// Cells along each axis of growing grids: 10^5 cells, each next grid twice as many, and at
    /// last 4x10^6 cells.
    growing: &'static [usize],
    /// True if --fp fast is compared too.
    fast: bool,
}

const HEAT: Program = Program { library: "heat", suite: "heat", sizes: &[100, 128], growing: &[47, 59, 74, 93, 118, 148, 159], fast: true };
const SHALLOW_WATER: Program = Program {
    library: "shallow_water",
    suite: "shallow-water",
    sizes: &[1024],
    growing: &[316, 447, 632, 894, 1265, 1789, 2000],
    fast: true,
};
const RESIDUAL: Program = Program { library: "implicit_heat", suite: "residual", sizes: &[100], growing: &[], fast: false };

impl Case {
    /// The programs, and what the comparison does with them.
    fn programs(self) -> (&'static str, &'static [&'static Program]) {
        match self {
            Case::Heat => ("time", &[&HEAT]),
            Case::ShallowWater => ("time", &[&SHALLOW_WATER]),
            Case::Residual => ("time", &[&RESIDUAL]),
            Case::Scaling => ("scaling", &[&HEAT, &SHALLOW_WATER]),
            Case::Threads => ("threads", &[&HEAT, &SHALLOW_WATER]),
            Case::Cliffs => ("cliffs", &[]),
            Case::Bounds => ("bounds", &[]),
        }
    }
}

/// Generates the programs, makes a package of the comparison that uses them, builds all with the
/// same flags, and runs; the report goes to standard output.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    if options.cells.iter().any(|&n| n < 3) || options.steps < 2 || options.repetitions < 1 {
        return Err("at least 3 cells along each axis, 2 steps and 1 repetition are needed".to_owned());
    }
    if options.cases.contains(&Case::Cliffs) {
        cliffs::run(options)?;
    }
    if options.cases.contains(&Case::Bounds) {
        bounds::run(options)?;
    }
    if options.cases.iter().all(|case| matches!(case, Case::Cliffs | Case::Bounds)) {
        return Ok(());
    }
    let folder = root().join("target/bench");
    let mut programs: Vec<&Program> = Vec::new();
    for program in options.cases.iter().flat_map(|case| case.programs().1) {
        if !programs.iter().any(|known| known.library == program.library) {
            programs.push(program);
        }
    }
    let mut packages = Vec::new();
    for program in programs {
        packages.push(generate(program, Way::Strict, &folder)?);
        if program.fast && options.fp == Fp::Both {
            packages.push(generate(program, Way::Fast, &folder)?);
        }
        if program.suite == "residual" {
            packages.push(generate(program, Way::SparseMatrices, &folder)?);
        }
    }
    let compare = folder.join("compare");
    write_package(&compare, &packages)?;
    let target = folder.join("target");
    let mut build = cargo();
    // In its folder, so that cargo finds the same configuration as for a generated package.
    build.current_dir(&compare).args(["build", "--release", "--quiet"]).arg("--target-dir").arg(&target);
    if options.target_cpu != "generic" {
        let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        build.env("RUSTFLAGS", format!("-Ctarget-cpu={} {flags}", options.target_cpu).trim());
    }
    tools::run(&mut build)?;
    print_machine();
    let json = options.json.as_ref().map_or(Ok(PathBuf::from("-")), |path| std::path::absolute(path).map_err(|error| error.to_string()))?;
    for case in &options.cases {
        let (what, programs) = case.programs();
        for program in programs {
            let sizes: &[usize] = match (options.cells.is_empty(), case) {
                (false, _) => &options.cells,
                (true, Case::Scaling) => program.growing,
                (true, Case::Heat | Case::ShallowWater | Case::Residual | Case::Threads | Case::Cliffs | Case::Bounds) => program.sizes,
            };
            let mut run = Command::new(target.join("release").join(format!("compare{}", std::env::consts::EXE_SUFFIX)));
            run.args([what, program.suite, &options.steps.to_string(), &options.repetitions.to_string()]).arg(&json);
            tools::run(run.args(sizes.iter().map(ToString::to_string)))?;
        }
    }
    Ok(())
}

/// A generated package: the feature of the comparison, the name it has there, its folder.
struct Package {
    feature: &'static str,
    name: String,
    folder: PathBuf,
}

/// Options with which equellec compiles a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The defaults.
    Strict,
    /// With --fp fast.
    Fast,
    /// With derivatives by products of sparse matrices.
    SparseMatrices,
}

impl Way {
    /// Suffix of the library's name, and the option of equellec.
    fn suffix_and_option(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Way::Strict => ("", &[]),
            Way::Fast => ("_fast", &["--fp", "fast"]),
            Way::SparseMatrices => ("_sparse", &["--ad=spgemm"]),
        }
    }
}

fn generate(program: &Program, way: Way, folder: &Path) -> Result<Package, Failure> {
    let (suffix, option) = way.suffix_and_option();
    let name = format!("{}{suffix}", program.library);
    let source = folder.join("programs").join(format!("{name}.equelle"));
    tools::write(&source, &text(program)?)?;
    let package = folder.join(format!("{name}-sim"));
    let mut equellec = tools::equellec("dev")?;
    tools::run(equellec.args(option).arg(&source).args(["--force", "-o"]).arg(&package))?;
    let feature = if program.suite == "residual" { "residual" } else { program.library };
    Ok(Package { feature, name, folder: package })
}

/// The text of a program: an example without outputs in its loop, so that the step alone is timed.
fn text(program: &Program) -> Result<String, Failure> {
    let example = |path: &str, outputs: &str| {
        let text = read(&root().join("examples").join(path))?;
        let silent: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("Output(")).collect();
        Ok(silent.join("\n") + "\n" + outputs)
    };
    match program.library {
        "heat" => read(&root().join("benches/heat.equelle")),
        "shallow_water" => {
            example("shallow_water/shallow_water.equelle", "Output(\"w\", q[0])\nOutput(\"hu\", q[1])\nOutput(\"hv\", q[2])\n")
        }
        _ => example("heat_implicit_3d/heat_implicit_3d.equelle", "Output(\"u\", u0)\n"),
    }
}

/// Writes a package whose sources stay where they are. It takes the runtime crates and flags of the
/// generated packages: all packages must use the same ones.
fn write_package(compare: &Path, packages: &[Package]) -> Result<(), Failure> {
    let manifests = packages.iter().map(|package| read(&package.folder.join("Cargo.toml"))).collect::<Result<Vec<_>, _>>()?;
    // The longest line enables the most features.
    let runtime = |name: &str| {
        let lines = manifests.iter().flat_map(|manifest| manifest.lines()).filter(|line| line.starts_with(name));
        lines.max_by_key(|line| line.len()).unwrap_or_default().to_owned()
    };
    let profile = manifests.first().map_or("", |manifest| manifest.find("[profile").map_or("[workspace]\n", |start| &manifest[start..]));
    let main = root().join("benches/src/main.rs");
    let mut features: Vec<&str> = packages.iter().map(|package| package.feature).collect();
    features.dedup();
    if packages.iter().any(|package| package.name.ends_with("_fast")) {
        features.push("fast");
    }
    let names: String = features.iter().map(|feature| format!("{feature:?}, ")).collect();
    let known = ["heat", "shallow_water", "residual", "fast"].map(|feature| format!("{feature} = []\n")).concat();
    let dependencies: String = packages
        .iter()
        .map(|package| format!("{} = {{ package = {:?}, path = {:?} }}\n", package.name, package.name.replace('_', "-"), package.folder))
        .collect();
    let text = format!(
        "[package]\nname = \"compare\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
         [[bin]]\nname = \"compare\"\npath = {main:?}\n\n\
         [features]\ndefault = [{names}]\n{known}\n\
         [dependencies]\n{dependencies}{}\n{}\n\n{profile}",
        runtime("equelle-runtime"),
        runtime("backend-serial"),
    );
    tools::write(&compare.join("Cargo.toml"), &text)?;
    // Cargo adds the generated packages to the lock file, and takes the versions of everything else
    // from it.
    if let Some(package) = packages.last() {
        let copy =
            |from: PathBuf, to: PathBuf| fs::copy(from, &to).map(drop).map_err(|error| format!("cannot write `{}`: {error}", to.display()));
        copy(package.folder.join("Cargo.lock"), compare.join("Cargo.lock"))?;
        let config = package.folder.join(".cargo/config.toml");
        if config.is_file() {
            tools::write(&compare.join(".cargo/config.toml"), &read(&config)?)?;
        }
    }
    Ok(())
}
