//! The form without a verb, and `equellec build`: packages in a folder of the user's.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use equelle_front::backend::{Availability, Backend};
use equelle_front::passes::Notes;
use equelle_front::report::Report;
use equelle_front::source::SourceMap;
use equelle_front::verify::Verified;

use super::args::{BuildArgs, ProgramArgs};
use crate::cache::{self, Cache};
use crate::cargo;
use crate::console::Console;
use crate::failure::Failure;
use crate::interpret;
use crate::package::Package;
use crate::package::vendor::{self, Dependencies};
use crate::package::written::{self, Edits};
use crate::pipeline;
use crate::processor::{Flags, TargetCpu};
use crate::report;
use equelle_runtime::hash::StableHash;
use equelle_runtime::{Error, ErrorKind, Program, temporary};

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
        let package = vendor::for_user(&compiled.package, self.dependencies, compiled.cache.crates(), cache::embedded_files())?;
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
    backends: Vec<&'static dyn Backend>,
    writing: Writing,
    console: &Console,
) -> Result<(), Failure> {
    let folder = writing.write(file, &Compiled::new(file, program, backends, console)?)?;
    console.progress(&format!("Wrote the package `{}`; `cargo run --release` in it builds and runs it", folder.display()));
    Ok(())
}

/// Writes the package of a program, and its program into the package's folder.
pub(super) fn build(args: &BuildArgs, console: &Console) -> Result<(), Failure> {
    let compiled = Compiled::new(&args.source.file, &args.source.program, args.backends.clone(), console)?;
    let edits = if args.force { Edits::Overwrite } else { Edits::Keep };
    let dependencies = if args.vendor { Dependencies::Vendored } else { Dependencies::InCache };
    let folder = Writing { output: args.output.clone(), edits, dependencies }.write(&args.source.file, &compiled)?;
    let built = compiled.build(&args.source.target.target_cpu, console)?;
    let program = folder.join(format!("{}{}", compiled.package.name, std::env::consts::EXE_SUFFIX));
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

/// The IR of a program for some back-ends; reports on it if asked to.
pub(super) fn compile(
    source: &SourceMap,
    program: &ProgramArgs,
    backends: &[&dyn Backend],
    console: &Console,
) -> Result<Verified, Failure> {
    let (verified, mut report) = pipeline::compile_with_report(source, program.options(backends), console)?;
    if program.report {
        pipeline::add_forms(&mut report, source, &verified, backends)?;
        console.report(&report, source);
    }
    Ok(verified)
}

/// A program and its package as text.
pub(super) struct Compiled {
    cache: Cache,
    backends: Vec<&'static dyn Backend>,
    package: Package,
    source: SourceMap,
    verified: Verified,
    program: Arc<Program>,
}

/// What has been built for a program that has not been built itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BuildState {
    /// The runtime, with which it is built in seconds.
    Prepared,
    /// Nothing.
    Nothing,
}

impl Compiled {
    /// Compiles a program for some back-ends.
    pub(super) fn new(
        file: &Path,
        program: &ProgramArgs,
        mut backends: Vec<&'static dyn Backend>,
        console: &Console,
    ) -> Result<Self, Failure> {
        let mut seen = Vec::new();
        backends.retain(|backend| {
            !seen.contains(backend) && {
                seen.push(*backend);
                true
            }
        });
        let source = pipeline::read(file)?;
        let verified = compile(&source, program, &backends, console)?;
        let cache = Cache::open()?;
        let package = pipeline::package(&source, &verified, &backends, cache.crates())?;
        let program = interpret::program(&source, &verified);
        Ok(Compiled { cache, backends, package, source, verified, program })
    }

    /// What the runtime knows of the program.
    pub(super) fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Names the kernels whose cells are not taken row by row on Cartesian grids, and why.
    pub(super) fn note_slower_kernels(&self, console: &Console) -> Result<(), Failure> {
        let mut report = Report::of(self.verified.module(), &Notes::default());
        pipeline::add_forms(&mut report, &self.source, &self.verified, &self.backends)?;
        for (kernel, backend, form, refusal) in report.slower_kernels() {
            let line = kernel.lines.first().map_or_else(String::new, |&line| format!("{}: ", report::line_in(&self.source, line)));
            console.progress(&format!(
                "note: {line}{}, {backend}, Cartesian grids: {} loop, because rows cannot have {refusal}",
                kernel.name,
                form.name()
            ));
        }
        Ok(())
    }

    /// The text.
    pub(super) fn source(&self) -> &SourceMap {
        &self.source
    }

    /// The IR.
    pub(super) fn verified(&self) -> &Verified {
        &self.verified
    }

    /// Whether the program solves nonlinear systems.
    pub(super) fn is_implicit(&self) -> bool {
        self.package.implicit
    }

    /// The package in the cache.
    ///
    /// The copy is named by the hash of its content and of the compiler's flags, because cargo
    /// places the programs of all packages in one folder.
    pub(super) fn cached(&self, cpu: &TargetCpu) -> Result<CachedPackage<'_>, Failure> {
        let flags = Flags::new(cpu);
        let hash =
            self.package.files.iter().fold(flags.hash(StableHash::default()), |hash, (name, text)| hash.text(name).text(text)).digits();
        let name = format!("{}-{hash}", self.package.name);
        let mut files: Vec<(&str, &str)> = self.package.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let manifest = self.package.files.iter().find(|(name, _)| name == "Cargo.toml").map_or("", |(_, text)| text.as_str());
        let renamed = renamed(manifest, &name)?;
        files.retain(|(name, _)| *name != "Cargo.toml");
        files.push(("Cargo.toml", &renamed));
        files.push(("Cargo.lock", cache::lock_file()));
        let folder = self.cache.program(&name, &files)?;
        let runtime: Vec<&str> = self.backends.iter().map(|backend| backend.name()).collect();
        // With the direct solver the runtime is another one.
        let runtime = runtime.into_iter().chain(self.is_implicit().then_some("solvers")).collect::<Vec<_>>().join("+");
        Ok(CachedPackage { cache: &self.cache, folder, runtime, flags })
    }

    /// Builds the package in the cache unless that has been done; returns the program.
    pub(super) fn build(&self, cpu: &TargetCpu, console: &Console) -> Result<PathBuf, Failure> {
        let package = self.cached(cpu)?;
        package.built().map_or_else(|| package.build(Some(console)).run(), Ok)
    }
}

/// A package in the cache.
pub(super) struct CachedPackage<'a> {
    cache: &'a Cache,
    folder: PathBuf,
    /// Names the runtime crates.
    runtime: String,
    flags: Flags,
}

impl CachedPackage<'_> {
    /// Its program, if it has been built.
    pub(super) fn built(&self) -> Option<PathBuf> {
        cargo::built(&self.folder)
    }

    /// How much has been built for it.
    pub(super) fn state(&self) -> BuildState {
        if cargo::is_prepared(self.cache, &self.runtime, &self.flags) { BuildState::Prepared } else { BuildState::Nothing }
    }

    /// Its build, with progress on a console, if there is one.
    pub(super) fn build<'a>(&'a self, console: Option<&'a Console>) -> cargo::Build<'a> {
        cargo::Build { cache: self.cache, folder: &self.folder, runtime: &self.runtime, flags: &self.flags, console }
    }
}

/// Whether programs for a back-end can run on this machine.
///
/// # Errors
/// `Backend` if not, with what was looked for.
pub(super) fn check_machine(backend: &dyn Backend) -> Result<(), Failure> {
    let Availability { runs, found } = backend.availability();
    if runs {
        return Ok(());
    }
    let name = backend.name();
    let message = format!("programs for {name} cannot run on this machine: {}", found.first().map_or("", String::as_str));
    let hint = format!("`equellec build --backend {name}` builds the program for another machine; `equellec doctor` says what is here");
    Err(Error::new(ErrorKind::Backend, message).hint(hint).into())
}

/// A package's manifest with another package name.
fn renamed(manifest: &str, name: &str) -> Result<String, Failure> {
    let mut document: toml_edit::DocumentMut =
        manifest.parse().map_err(|error| Failure::Internal(format!("the generated Cargo.toml cannot be read: {error}")))?;
    document["package"]["name"] = toml_edit::value(name);
    Ok(document.to_string())
}

fn same_content(a: &Path, b: &Path) -> bool {
    matches!((fs::read(a), fs::read(b)), (Ok(a), Ok(b)) if a == b)
}
