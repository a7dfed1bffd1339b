//! From text to verified IR: the one place that names the stages in order.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use equelle_front::backend::{Backend, BackendError};
use equelle_front::check::{self, CheckOptions, Checked};
use equelle_front::cost::CostModel;
use equelle_front::diagnostic::Diagnostic;
use equelle_front::ir::{Module, Numbers, StorageRequests};
use equelle_front::passes::{self, Derivatives, OptLevel, StorageError};
use equelle_front::report::Report;
use equelle_front::source::SourceMap;
use equelle_front::syntax::ast;
use equelle_front::typed::TypedProgram;
use equelle_front::verify::{self, Verified};
use equelle_front::{lower, syntax};
use equelle_runtime::params::near_match;
use equelle_runtime::{Error, ErrorKind};

use crate::columns;
use crate::emitter::Emitter;
use crate::failure::Failure;
use crate::imports::{self, Files};
use crate::keys;
use crate::package::{self, Package, PackageOptions};

/// True if a path stands for standard input, whose imports are relative to the current folder.
pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of a program: that of its file without the ending, `program` for standard input.
pub fn stem(path: &Path) -> String {
    let named = path.file_stem().filter(|_| !is_standard_input(path));
    named.map_or_else(|| "program".into(), |stem| stem.to_string_lossy().into_owned())
}

/// Options with which a program is compiled.
#[derive(Clone, Debug)]
pub struct Options {
    /// Level of optimisation.
    pub level: OptLevel,
    /// Physical dimensions are not checked.
    pub nondimensional: bool,
    /// Derivatives of residuals, at the level that compiles them.
    pub derivatives: Derivatives,
    /// Precision and rounding.
    pub numbers: Numbers,
    /// Costs of operations on the target.
    pub costs: CostModel,
    /// True if balances of conserved quantities are put out.
    pub audit: bool,
    /// Collections that the user wants stored or inlined.
    pub storage: StorageRequests,
}

impl Default for Options {
    /// Kernels, with units checked, in strict doubles, for no target.
    fn default() -> Self {
        Options {
            level: OptLevel::O2,
            nondimensional: false,
            derivatives: Derivatives::Stencil,
            numbers: Numbers::default(),
            costs: CostModel::default(),
            audit: false,
            storage: StorageRequests::default(),
        }
    }
}

impl Options {
    fn passes(&self) -> passes::Options {
        passes::Options { level: self.level, derivatives: self.derivatives, costs: self.costs }
    }
}

/// Reads the text of a program, and those that it imports. Messages name the file as the user did.
///
/// # Errors
/// The program's own file cannot be read, or is not UTF-8. [`check()`] judges what it imports.
pub fn read(path: &Path) -> Result<SourceMap, Failure> {
    let text = read_text(path)?;
    let key = imports::key(path).unwrap_or_default();
    Ok(SourceMap::with_imports(name(path), text, &key, &mut Files))
}

/// As [`read`], without what the program imports.
///
/// # Errors
/// As [`read`].
pub fn read_alone(path: &Path) -> Result<SourceMap, Failure> {
    Ok(SourceMap::new(name(path), read_text(path)?))
}

/// The name of a program in messages.
fn name(path: &Path) -> String {
    if is_standard_input(path) { "<standard input>".into() } else { path.to_string_lossy().into_owned() }
}

fn read_text(path: &Path) -> Result<String, Failure> {
    let bytes = if is_standard_input(path) {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(path)
    };
    let bytes = bytes.map_err(|error| match near_program(path).filter(|_| error.kind() == io::ErrorKind::NotFound) {
        Some(near) => Failure::io("read", path, &error).hint(format!("did you mean `{}`?", near.display())),
        None => Failure::io("read", path, &error),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let line = imports::bad_line(&error);
        Error::new(ErrorKind::Data, format!("`{}` is not UTF-8 text: line {line}", path.display())).into()
    })
}

/// The program in the folder of a file that is not there whose name is like that of the file.
fn near_program(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let programs: Vec<String> = entries.filter(|name| name.ends_with(".equelle")).collect();
    let wanted = path.file_name()?.to_str()?;
    let with_ending = format!("{wanted}.equelle");
    let near = programs.iter().find(|name| **name == with_ending).map(String::as_str);
    let near = near.or_else(|| near_match(wanted, programs.iter().map(String::as_str)))?;
    Some(path.with_file_name(near))
}

/// The syntax tree. Diagnostics are shown.
///
/// # Errors
/// The text has syntax errors.
pub fn parse(source: &SourceMap, emitter: &dyn Emitter) -> Result<ast::Program, Failure> {
    let parsed = syntax::parse(source.text());
    show(source, &parsed.diagnostics, emitter)?;
    Ok(parsed.program)
}

/// The typed tree. Syntax errors and those of the checker are shown together, by position.
///
/// # Errors
/// The program has errors.
pub fn check(source: &SourceMap, nondimensional: bool, emitter: &dyn Emitter) -> Result<TypedProgram, Failure> {
    let checked = checked(source, nondimensional);
    show(source, &checked.diagnostics, emitter)?;
    checked.program.ok_or_else(|| Failure::Internal("the checker gave neither a program nor an error".into()))
}

/// Checks a program, and the names of its inputs and outputs.
pub fn checked(source: &SourceMap, nondimensional: bool) -> Checked {
    let mut checked = check::check_source(source, &CheckOptions { nondimensional });
    if let Some(program) = checked.program.as_ref().filter(|_| !checked.diagnostics.iter().any(Diagnostic::is_error)) {
        let module = lower::lower(program, source, "program");
        checked.diagnostics.extend(keys::collisions(&module.interface.inputs));
        checked.diagnostics.extend(columns::collisions(&module.interface));
        checked.diagnostics.sort_by_key(|d| (d.primary.span, d.code));
    }
    checked
}

/// The IR that back-ends and the interpreter get.
///
/// # Errors
/// The program has errors.
pub fn compile(source: &SourceMap, options: Options, emitter: &dyn Emitter) -> Result<Verified, Failure> {
    compile_with_report(source, options, emitter).map(|(verified, _)| verified)
}

/// As [`compile`], with a report of what the compiler did.
///
/// # Errors
/// The program has errors.
pub fn compile_with_report(source: &SourceMap, options: Options, emitter: &dyn Emitter) -> Result<(Verified, Report), Failure> {
    let module = lower(source, &options, emitter)?;
    let (module, notes) = passes::optimise_by(module, &options.passes(), &mut |_, _| {});
    for solve in &notes.untreated {
        let (file, line) = source.file_and_line(source.line(solve.span.start));
        let message = format!(
            "note: {}:{line}: derivatives by products of sparse matrices, because of {} in the residual",
            source.file(file).name(),
            solve.construct
        );
        emitter.note(&message);
    }
    let report = Report::of(&module, &notes);
    Ok((verified(module)?, report))
}

/// The IR after one pass.
///
/// # Errors
/// The program has errors, or there is no such pass at this level.
pub fn compile_until(source: &SourceMap, options: Options, pass: &str, emitter: &dyn Emitter) -> Result<Verified, Failure> {
    let module = lower(source, &options, emitter)?;
    let mut passes_run = Vec::new();
    let mut wanted = None;
    let _ = passes::optimise_by(module, &options.passes(), &mut |name, module| {
        passes_run.push(name.to_owned());
        if name == pass {
            wanted = Some(module.clone());
        }
    });
    match wanted {
        Some(module) => verified(module),
        None if passes_run.is_empty() => Err(Failure::usage(format!("there is no pass `{pass}`: this level has none"))),
        None => Err(Failure::usage(format!("there is no pass `{pass}`; there are {}", passes_run.join(", ")))),
    }
}

/// The cargo package of a program. `runtime_crates` is the folder that holds the runtime crates.
///
/// # Errors
/// A back-end cannot express the program.
pub fn package(source: &SourceMap, verified: &Verified, backends: &[&dyn Backend], runtime_crates: &Path) -> Result<Package, Failure> {
    package::generate(verified, &PackageOptions { backends, runtime_crates }).map_err(|error| backend_failure(source, &error))
}

/// Adds to a report which loops the back-ends chose.
///
/// # Errors
/// A back-end cannot express the program.
pub fn add_forms(report: &mut Report, source: &SourceMap, verified: &Verified, backends: &[&dyn Backend]) -> Result<(), Failure> {
    for backend in backends {
        report.add_forms(backend.name(), &backend.forms(verified).map_err(|error| backend_failure(source, &error))?);
    }
    Ok(())
}

/// A construct that a back-end cannot express, with its line.
fn backend_failure(source: &SourceMap, error: &BackendError) -> Failure {
    let line = source.line(error.span.start);
    let (file, own) = source.file_and_line(line);
    let place = format!("{}:{own}: {}", source.file(file).name(), source.line_text(line).trim());
    Error::new(ErrorKind::Backend, format!("{}\n --> {place}", error.message)).into()
}

fn lower(source: &SourceMap, options: &Options, emitter: &dyn Emitter) -> Result<Module, Failure> {
    let program = check(source, options.nondimensional, emitter)?;
    let stem = Path::new(source.name())
        .file_stem()
        .filter(|stem| !stem.to_string_lossy().starts_with('<'))
        .map_or_else(|| "program".into(), |stem| stem.to_string_lossy());
    let mut module = lower::lower(&program, &imports::without_folder(source), &stem);
    module.numbers = options.numbers;
    options.storage.note(&mut module).map_err(|error| match error {
        StorageError::Unknown { storage, name, nearest } => {
            let hint = nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
            Failure::usage(format!("--{}: the program computes no collection `{name}`{hint}", storage.word()))
        }
        StorageError::Both { name } => Failure::usage(format!("`{name}` is to be stored by --store, and not by --inline")),
    })?;
    if options.audit {
        let audited = passes::audit::run(&mut module);
        if audited.quantities.is_empty() {
            emitter.warning("nothing is audited: no loop updates a collection on all cells by a divergence over what does not change");
        }
        for other in audited.others {
            emitter.warning(&format!("`{other}` is not audited: what its divergence is divided by changes from round to round"));
        }
    }
    Ok(module)
}

fn verified(module: Module) -> Result<Verified, Failure> {
    verify::verify(module).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(|error| format!("\n  {error}")).collect();
        Failure::Internal(format!("the IR is not valid{}", lines.concat()))
    })
}

fn show(source: &SourceMap, diagnostics: &[Diagnostic], emitter: &dyn Emitter) -> Result<(), Failure> {
    emitter.diagnostics(source, diagnostics);
    if diagnostics.iter().any(Diagnostic::is_error) { Err(Failure::Program) } else { Ok(()) }
}
