//! From text to verified IR: the one place that names the stages in order.

use std::fs;
use std::path::Path;

use equelle_front::backend::Backend;
use equelle_front::check::{self, CheckOptions, Checked};
use equelle_front::cost::CostModel;
use equelle_front::diagnostic::Diagnostic;
use equelle_front::ir::{Module, Numbers};
use equelle_front::passes::{self, Derivatives, OptLevel};
use equelle_front::report::Report;
use equelle_front::source::SourceFile;
use equelle_front::syntax::ast;
use equelle_front::typed::TypedProgram;
use equelle_front::verify::{self, Verified};
use equelle_front::{lower, syntax};
use equelle_runtime::{Error, ErrorKind};

use crate::console::Console;
use crate::failure::Failure;
use crate::keys;
use crate::package::{self, Package, PackageOptions};

/// How a program is compiled.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Level of optimisation.
    pub level: OptLevel,
    /// Physical dimensions are not checked.
    pub nondimensional: bool,
    /// Derivatives of residuals, at the level that compiles them.
    pub derivatives: Derivatives,
    /// Precision and rounding.
    pub numbers: Numbers,
    /// What operations cost on the target.
    pub costs: CostModel,
}

impl Options {
    fn passes(&self) -> passes::Options {
        passes::Options { level: self.level, derivatives: self.derivatives, costs: self.costs }
    }
}

/// Reads the text of a program. Messages name the file as the user did.
///
/// # Errors
/// The file cannot be read, or is not UTF-8.
pub fn read(path: &Path) -> Result<SourceFile, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::io("read", path, &error))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        Failure::from(Error::new(ErrorKind::Data, format!("`{}` is not UTF-8 text: line {line}", path.display())))
    })?;
    Ok(SourceFile::new(path.to_string_lossy(), text))
}

/// The syntax tree. Diagnostics are shown.
///
/// # Errors
/// The text has syntax errors.
pub fn parse(source: &SourceFile, console: &Console) -> Result<ast::Program, Failure> {
    let parsed = syntax::parse(source.text());
    show(source, &parsed.diagnostics, console)?;
    Ok(parsed.program)
}

/// The typed tree. Syntax errors and those of the checker are shown together, by position.
///
/// # Errors
/// The program has errors.
pub fn check(source: &SourceFile, nondimensional: bool, console: &Console) -> Result<TypedProgram, Failure> {
    let checked = checked(source, nondimensional);
    show(source, &checked.diagnostics, console)?;
    checked.program.ok_or_else(|| Failure::Internal("the checker gave neither a program nor an error".into()))
}

/// What the checker says of a program, and what the keys of its inputs say.
pub fn checked(source: &SourceFile, nondimensional: bool) -> Checked {
    let mut checked = check::check_text(source.text(), &CheckOptions { nondimensional });
    if let Some(program) = checked.program.as_ref().filter(|_| !checked.diagnostics.iter().any(Diagnostic::is_error)) {
        let module = lower::lower(program, source, "program");
        checked.diagnostics.extend(keys::collisions(&module.interface.inputs));
        checked.diagnostics.sort_by_key(|d| (d.primary.span, d.code));
    }
    checked
}

/// The IR that back-ends and the interpreter get.
///
/// # Errors
/// The program has errors.
pub fn compile(source: &SourceFile, options: Options, console: &Console) -> Result<Verified, Failure> {
    compile_with_report(source, options, console).map(|(verified, _)| verified)
}

/// As [`compile`], with a report of what the compiler did.
///
/// # Errors
/// The program has errors.
pub fn compile_with_report(source: &SourceFile, options: Options, console: &Console) -> Result<(Verified, Report), Failure> {
    let module = lower(source, options, console)?;
    let (module, notes) = passes::optimise_by(module, &options.passes(), &mut |_, _| {});
    for solve in &notes.untreated {
        let line = source.line(solve.span.start);
        let message = format!(
            "note: {}:{line}: derivatives by products of sparse matrices, because of {} in the residual",
            source.name(),
            solve.construct
        );
        console.progress(&message);
    }
    let report = Report::of(&module, &notes);
    Ok((verified(module)?, report))
}

/// The IR after one pass.
///
/// # Errors
/// The program has errors, or there is no such pass at this level.
pub fn compile_until(source: &SourceFile, options: Options, pass: &str, console: &Console) -> Result<Verified, Failure> {
    let module = lower(source, options, console)?;
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
pub fn package(source: &SourceFile, verified: &Verified, backends: &[&dyn Backend], runtime_crates: &Path) -> Result<Package, Failure> {
    package::generate(verified, &PackageOptions { backends, runtime_crates }).map_err(|error| {
        let line = source.line(error.span.start);
        let place = format!("{}:{line}: {}", source.name(), source.line_text(line).trim());
        Error::new(ErrorKind::Backend, format!("{}\n --> {place}", error.message)).into()
    })
}

fn lower(source: &SourceFile, options: Options, console: &Console) -> Result<Module, Failure> {
    let program = check(source, options.nondimensional, console)?;
    // A generated program names its source without the folder that it happened to be in.
    let path = Path::new(source.name());
    let name = path.file_name().map_or_else(|| source.name().into(), |name| name.to_string_lossy());
    let stem = path.file_stem().map_or_else(|| "program".into(), |stem| stem.to_string_lossy());
    let mut module = lower::lower(&program, &SourceFile::new(name, source.text()), &stem);
    module.numbers = options.numbers;
    Ok(module)
}

fn verified(module: Module) -> Result<Verified, Failure> {
    verify::verify(module).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(|error| format!("\n  {error}")).collect();
        Failure::Internal(format!("the IR is not valid{}", lines.concat()))
    })
}

fn show(source: &SourceFile, diagnostics: &[Diagnostic], console: &Console) -> Result<(), Failure> {
    console.diagnostics(source, diagnostics);
    if diagnostics.iter().any(Diagnostic::is_error) { Err(Failure::Program) } else { Ok(()) }
}
