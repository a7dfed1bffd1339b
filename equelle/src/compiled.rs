//! Compiled programs, and their packages in the cache.

use std::path::PathBuf;
use std::sync::Arc;

use equelle_front::backend::Backend;
use equelle_front::memory::Needs;
use equelle_front::report::Report;
use equelle_front::source::SourceMap;
use equelle_front::verify::Verified;
use equelle_runtime::Program;
use equelle_runtime::hash::StableHash;

use crate::cache::{self, Cache};
use crate::cargo;
use crate::emitter::Emitter;
use crate::failure::Failure;
use crate::interpret;
use crate::package::{self, Package};
use crate::pipeline::{self, Options};
use crate::processor::{Flags, TargetCpu};
use crate::report;

/// A program as verified IR, for some back-ends.
pub struct Compiled {
    backends: Vec<&'static dyn Backend>,
    source: SourceMap,
    verified: Verified,
    report: Report,
    program: Arc<Program>,
}

impl Compiled {
    /// Compiles a text for some back-ends.
    ///
    /// # Errors
    /// The program has errors, which the emitter has.
    pub fn new(source: SourceMap, options: Options, backends: &[&'static dyn Backend], emitter: &dyn Emitter) -> Result<Self, Failure> {
        let mut distinct: Vec<&'static dyn Backend> = Vec::new();
        for backend in backends {
            if !distinct.contains(backend) {
                distinct.push(*backend);
            }
        }
        let (verified, report) = pipeline::compile_with_report(&source, options, emitter)?;
        let program = interpret::program(&source, &verified);
        Ok(Compiled { backends: distinct, source, verified, report, program })
    }

    /// Inputs, outputs and solves of the program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The text.
    pub fn source(&self) -> &SourceMap {
        &self.source
    }

    /// The IR.
    pub fn verified(&self) -> &Verified {
        &self.verified
    }

    /// True if the program solves nonlinear systems.
    pub fn is_implicit(&self) -> bool {
        self.verified.module().interface.implicit
    }

    /// The report of the compilation, with memory and ranks of the program and the loops that
    /// back-ends chose.
    ///
    /// # Errors
    /// A back-end cannot express the program.
    pub fn report(&self) -> Result<Report, Failure> {
        let mut report = self.report.clone();
        let module = self.verified.module();
        report.add_memory(module, &Needs::on_back_ends(module, &self.backends()));
        report.add_ranks(module);
        pipeline::add_forms(&mut report, &self.source, &self.verified, &self.backends())?;
        Ok(report)
    }

    /// Names the kernels whose cells are not taken row by row on Cartesian grids, and why.
    ///
    /// # Errors
    /// A back-end cannot express the program.
    pub fn note_slower_kernels(&self, emitter: &dyn Emitter) -> Result<(), Failure> {
        for (kernel, backend, form, refusal) in self.report()?.slower_kernels() {
            let line = kernel.lines.first().map_or_else(String::new, |&line| format!("{}: ", report::line_in(&self.source, line)));
            emitter.note(&format!(
                "note: {line}{}, {backend}, Cartesian grids: {} loop, because rows cannot have {refusal}",
                kernel.name,
                form.name()
            ));
        }
        Ok(())
    }

    /// Name of the package, and of the program that cargo builds.
    pub fn package_name(&self) -> String {
        package::name(&self.verified, &self.backends())
    }

    fn backends(&self) -> Vec<&dyn Backend> {
        self.backends.iter().map(|&backend| backend as &dyn Backend).collect()
    }

    /// The package as text, which uses the runtime crates of a cache.
    ///
    /// # Errors
    /// A back-end cannot express the program.
    pub fn package(&self, cache: &Cache) -> Result<Package, Failure> {
        pipeline::package(&self.source, &self.verified, &self.backends(), cache.crates())
    }

    /// The package in the cache.
    ///
    /// The copy is named by the hash of its content and of the compiler's flags, because cargo
    /// places the programs of all packages in one folder.
    ///
    /// # Errors
    /// A back-end cannot express the program; the cache cannot be written.
    pub fn cached(&self, cpu: &TargetCpu) -> Result<CachedPackage, Failure> {
        let cache = Cache::open()?;
        let package = self.package(&cache)?;
        let flags = Flags::new(cpu);
        let hash = package.files.iter().fold(flags.hash(StableHash::default()), |hash, (name, text)| hash.text(name).text(text)).digits();
        let name = format!("{}-{hash}", package.name);
        let mut files: Vec<(&str, &str)> = package.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let manifest = package.files.iter().find(|(name, _)| name == "Cargo.toml").map_or("", |(_, text)| text.as_str());
        let renamed = renamed(manifest, &name)?;
        files.retain(|(name, _)| *name != "Cargo.toml");
        files.push(("Cargo.toml", &renamed));
        files.push(("Cargo.lock", cache::lock_file()));
        let folder = cache.program(&name, &files)?;
        let runtime: Vec<&str> = self.backends.iter().map(|backend| backend.name()).collect();
        // With the direct solver the runtime is another one.
        let runtime = runtime.into_iter().chain(package.implicit.then_some("solvers")).collect::<Vec<_>>().join("+");
        Ok(CachedPackage { cache, folder, runtime, flags })
    }
}

/// State of the build of a program that has not been built itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildState {
    /// The runtime, with which it is built in seconds.
    Prepared,
    /// Nothing.
    Nothing,
}

/// A package in the cache.
pub struct CachedPackage {
    cache: Cache,
    folder: PathBuf,
    /// Names the runtime crates.
    runtime: String,
    flags: Flags,
}

impl CachedPackage {
    /// Its program, if it has been built.
    pub fn built(&self) -> Option<PathBuf> {
        cargo::built(&self.folder)
    }

    /// State of its build.
    pub fn state(&self) -> BuildState {
        if cargo::is_prepared(&self.cache, &self.runtime, &self.flags) { BuildState::Prepared } else { BuildState::Nothing }
    }

    /// Its build, which tells its progress to an emitter, if there is one.
    pub fn build<'a>(&'a self, emitter: Option<&'a dyn Emitter>) -> cargo::Build<'a> {
        cargo::Build { cache: &self.cache, folder: &self.folder, runtime: &self.runtime, flags: &self.flags, emitter }
    }

    /// Its program, built unless that has been done.
    ///
    /// # Errors
    /// Cargo is missing or fails.
    pub fn program(&self, emitter: &dyn Emitter) -> Result<PathBuf, Failure> {
        self.built().map_or_else(|| self.build(Some(emitter)).run(), Ok)
    }
}

/// A package's manifest with another package name.
fn renamed(manifest: &str, name: &str) -> Result<String, Failure> {
    let mut document: toml_edit::DocumentMut =
        manifest.parse().map_err(|error| Failure::Internal(format!("the generated Cargo.toml cannot be read: {error}")))?;
    document["package"]["name"] = toml_edit::value(name);
    Ok(document.to_string())
}
