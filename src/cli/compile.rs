//! The form without a verb, and `equellec build`: packages in a folder of the user's.

use std::fs;
use std::path::{Path, PathBuf};

use equelle::cache::{self, Cache};
use equelle::compiled::Compiled;
use equelle::failure::Failure;
use equelle::package::vendor::{self, Dependencies};
use equelle::package::written::{self, Edits};
use equelle::pipeline;
use equelle_front::backend::Backend;
use equelle_runtime::temporary;

use super::args::{BuildArgs, ProgramArgs};
use crate::console::Console;

/// Where and how a package is written.
pub(super) struct Writing {
    /// The folder; by default one after the program.
    pub output: Option<PathBuf>,
    pub edits: Edits,
    pub dependencies: Dependencies,
}

impl Writing {
    /// Writes the package of a program; returns its folder.
    fn write(self, file: &Path, compiled: &Compiled) -> Result<PathBuf, Failure> {
        let folder = self.output.unwrap_or_else(|| PathBuf::from(format!("{}-sim", pipeline::stem(file))));
        let cache = Cache::open()?;
        let package = vendor::for_user(&compiled.package(&cache)?, self.dependencies, cache.crates(), cache::embedded_files())?;
        written::write(&package, cache::lock_file(), &folder, self.edits)?;
        if self.dependencies == Dependencies::Vendored {
            vendor::fetch(&folder)?;
        }
        Ok(folder)
    }
}

/// Writes the package of a program.
pub(super) fn write_package(
    file: &Path,
    program: &ProgramArgs,
    backends: &[&'static dyn Backend],
    writing: Writing,
    console: &Console,
) -> Result<(), Failure> {
    let folder = writing.write(file, &compile(file, program, backends, console)?)?;
    console.progress(&format!("Wrote the package `{}`; `cargo run --release` in it builds and runs it", folder.display()));
    Ok(())
}

/// Writes the package of a program, and its program into the package's folder.
pub(super) fn build(args: &BuildArgs, console: &Console) -> Result<(), Failure> {
    let compiled = compile(&args.source.file, &args.source.program, &args.backends, console)?;
    let edits = if args.force { Edits::Overwrite } else { Edits::Keep };
    let dependencies = if args.vendor { Dependencies::Vendored } else { Dependencies::InCache };
    let folder = Writing { output: args.output.clone(), edits, dependencies }.write(&args.source.file, &compiled)?;
    let built = compiled.cached(&args.source.target.target_cpu)?.program(console)?;
    let program = folder.join(format!("{}{}", compiled.package_name(), std::env::consts::EXE_SUFFIX));
    if !same_content(&built, &program) {
        // A program that is running cannot be overwritten, but its name can be given to another
        // file.
        let copy = || -> std::io::Result<()> {
            let temporary = temporary::builder().tempfile_in(&folder)?.into_temp_path();
            fs::copy(&built, &temporary)?;
            Ok(temporary.persist(&program)?)
        };
        copy().map_err(|error| Failure::io("write", &program, &error))?;
    }
    super::print(&format!("{}\n", program.display()))
}

/// Compiles a program for some back-ends; reports on it if asked to.
pub(super) fn compile(
    file: &Path,
    program: &ProgramArgs,
    backends: &[&'static dyn Backend],
    console: &Console,
) -> Result<Compiled, Failure> {
    let compiled = Compiled::new(pipeline::read(file)?, program.options(backends), backends, console)?;
    if program.report {
        console.report(&compiled.report()?, compiled.source());
    }
    Ok(compiled)
}

fn same_content(a: &Path, b: &Path) -> bool {
    matches!((fs::read(a), fs::read(b)), (Ok(a), Ok(b)) if a == b)
}
