//! Every way to run a program, compared.
//!
//! The reference is the interpreter on the IR as it is lowered, where every Equelle operation is
//! one operation of the runtime. Against it run the IR after each pass, with kernels by their
//! general body and by their Cartesian form, on each grid as it is and, where it is Cartesian,
//! treated as an unstructured one. All give the same bits: every operation is done as written,
//! elementary functions have one text, and on spacings that are powers of two geometry is
//! exact. In Cartesian forms zeros may have the other sign: a component of a normal that is 0
//! annihilates its product, whatever the sign of the other factor. The exception are solutions of
//! equations whose derivatives are found in another way; what depends on them is compared to
//! [`crate::tree::Program::errors`], or to 1e-12 of the largest value where that is more.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use backend_serial::runtime::{CompiledReal, SerialRuntime};
use equelle::interpret;
use equelle_front::check::{CheckOptions, check_source};
use equelle_front::cost::CostModel;
use equelle_front::imports::{ImportReader, ImportedText};
use equelle_front::ir::{Module, Precision, Structure};
use equelle_front::lower;
use equelle_front::passes;
use equelle_front::source::{ImportError, SourceMap};
use equelle_front::verify::{Verified, verify};
use equelle_interp::provider::{ElementKernels, KernelProvider};
use equelle_interp::{Options, interpret_by};
use equelle_lanes::Lanes;
use equelle_runtime::Program as Runnable;

use crate::data::{Fixture, Fixtures, grids};
use crate::outcome::{Outcome, Tolerance, bits, errors_of, or_any_zero, run_by, same};
use crate::rewrite::rewritten;
use crate::row_units::in_other_units;
use crate::split::{FUNCTIONS, Split, split};
use crate::tree::Program;

/// A difference, or a program that should have been valid.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Kind of failure, the same for the same cause as far as can be told.
    pub kind: &'static str,
    /// For people.
    pub text: String,
}

impl Failure {
    pub(crate) fn new(kind: &'static str, text: impl Into<String>) -> Self {
        Failure { kind, text: text.into() }
    }
}

/// A program compiled as far as comparison goes.
pub struct Compiled {
    /// As lowered.
    pub plain: Verified,
    /// After each pass, by its name, with derivatives by kernels.
    pub passes: Vec<(String, Verified)>,
    /// After all passes, with derivatives by sparse matrices, if there are derivatives.
    pub matrices: Option<Verified>,
    /// Description of it for the runtime.
    pub runnable: Arc<Runnable>,
    /// Structure that it needs of its grid, if it reads neighbours by index.
    pub structure: Option<Structure>,
    /// True if it reads the geometry of faces between cells.
    pub reads_faces: bool,
    /// Solves that keep sparse matrices, by the construct that is in the way.
    pub untreated: Vec<&'static str>,
}

/// Extent of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Everything.
    Full,
    /// Passes between the first and the last on one grid alone.
    Sampled,
}

/// Checks that a program is valid, and runs the same in every way; returns how many of its grids it
/// ends with an error on.
///
/// # Errors
/// The failure that was found.
pub fn compare(program: &Program, text: &str, fixtures: &Fixtures, extent: Extent) -> Result<usize, Failure> {
    guarded(|| {
        let compiled = compile(text, program.units)?;
        run_all(program, &compiled, fixtures, extent)
    })
}

/// Checks that a program gives the same when it is said in other words
/// ([`crate::rewrite::rewritten`]), as it is lowered and after all passes. Where it ends with an
/// error nothing is compared: of two errors another may come first.
///
/// # Errors
/// The failure that was found.
pub fn compare_words(program: &Program, fixtures: &Fixtures) -> Result<(), Failure> {
    guarded(|| {
        let (other, done) = rewritten(program);
        let (text, other_text) = (program.text(), other.text());
        let failed = |f: Failure| Failure { kind: "other words", text: format!("{done:?}: {}: {}\n{other_text}", f.kind, f.text) };
        let (one, two) = (compile(&text, program.units)?, compile(&other_text, program.units).map_err(failed)?);
        let errors = errors_of(program);
        for fixture in grids(program, fixtures) {
            let expected = run(&one.plain, &one.runnable, fixture, Options::default());
            if expected.error.is_some() {
                continue;
            }
            let ways = [("as lowered", Some(&two.plain)), ("after all passes", two.passes.last().map(|(_, module)| module))];
            for (way, module) in ways.into_iter().filter_map(|(way, module)| Some((way, module?))) {
                let cartesian = !fixture.unstructured && way == "after all passes";
                for cartesian_forms in if cartesian { &[false, true][..] } else { &[false] } {
                    let options = Options { cartesian_forms: *cartesian_forms, ..Options::default() };
                    let found = run(module, &two.runnable, fixture, options);
                    let zeros = or_any_zero(&errors);
                    let allowed: &dyn Fn(&str) -> Tolerance = if *cartesian_forms { &zeros } else { &errors };
                    same(&expected, &found, allowed).map_err(|d| failed(difference(fixture, way, &d)))?;
                }
            }
        }
        Ok(())
    })
}

/// How many times as far apart solutions may be where no tolerance of residuals is given. Then a
/// solve ends where the next correction would change the eighth digit, not at round-off.
const WITHOUT_TOLERANCE: f64 = 1e4;

/// True if the program gives the same with the rows of its equations in other units
/// ([`in_other_units`]), as it is lowered and after all passes; false if it solves none. Where it
/// ends with an error nothing is compared.
///
/// # Errors
/// The first difference.
pub fn compare_row_units(program: &Program, fixtures: &Fixtures) -> Result<bool, Failure> {
    guarded(|| {
        let Some(other) = in_other_units(program) else { return Ok(false) };
        let (text, other_text) = (program.text(), other.text());
        let failed = |f: Failure| Failure { kind: "rows in other units", text: format!("{}: {}\n{other_text}", f.kind, f.text) };
        let (one, two) = (compile(&text, program.units)?, compile(&other_text, program.units).map_err(failed)?);
        let allowed = as_far_as_solvers(program);
        // A tolerance of residuals would have a unit.
        let run = |module, runnable: &Arc<Runnable>, fixture: &Fixture| {
            let words = fixture.words_for(runnable).filter(|word| !word.starts_with("abs_res_tol="));
            run_on(module, runnable, &words.map(str::to_owned).collect::<Vec<_>>(), Options::default())
        };
        for fixture in grids(program, fixtures) {
            let expected = run(&one.plain, &one.runnable, fixture);
            if expected.error.is_some() {
                continue;
            }
            let ways = [("as lowered", Some(&two.plain)), ("after all passes", two.passes.last().map(|(_, module)| module))];
            for (way, module) in ways.into_iter().filter_map(|(way, module)| Some((way, module?))) {
                let found = run(module, &two.runnable, fixture);
                same(&expected, &found, &allowed).map_err(|d| failed(difference(fixture, way, &d)))?;
            }
        }
        Ok(true)
    })
}

/// A file that is in memory.
struct InMemory<'a>(&'a str);

impl ImportReader for InMemory<'_> {
    fn read(&mut self, path: &str, _from: &str) -> Result<ImportedText, ImportError> {
        if path != FUNCTIONS {
            return Err(ImportError::Unreadable(format!("there is no `{path}`")));
        }
        Ok(ImportedText { name: path.to_owned(), key: path.to_owned(), text: self.0.to_owned() })
    }
}

/// Checks that a program gives the same when it imports its functions ([`crate::split::split`]), as
/// it is lowered and after all passes. If they end with an error, the outputs before it are
/// compared: the line of the error is another one. Returns false if there is nothing to import.
///
/// # Errors
/// The failure that was found.
pub fn compare_imports(program: &Program, fixtures: &Fixtures) -> Result<bool, Failure> {
    let Some(Split { program: text, functions }) = split(program) else { return Ok(false) };
    guarded(|| {
        let failed = |f: Failure| Failure { kind: "imports", text: format!("{}: {}\n{text}---- {FUNCTIONS}\n{functions}", f.kind, f.text) };
        let source = SourceMap::with_imports("random.equelle", text.as_str(), "random.equelle", &mut InMemory(&functions));
        let one = compile(&program.text(), program.units)?;
        let two = compile_source(&source, program.units, CostModel::default()).map_err(failed)?;
        let errors = errors_of(program);
        for fixture in grids(program, fixtures) {
            let expected = run(&one.plain, &one.runnable, fixture, Options::default());
            let ways = [("as lowered", Some(&two.plain)), ("after all passes", two.passes.last().map(|(_, module)| module))];
            for (way, module) in ways.into_iter().filter_map(|(way, module)| Some((way, module?))) {
                let mut found = run(module, &two.runnable, fixture, Options::default());
                if let (Some(expected), Some(found)) = (&expected.error, &mut found.error) {
                    found.line = expected.line;
                }
                same(&expected, &found, &errors).map_err(|d| failed(difference(fixture, way, &d)))?;
            }
        }
        Ok(true)
    })
}

/// A panic becomes a failure like any other.
pub(crate) fn guarded<T>(action: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(action)).unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().cloned().or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(Failure::new("panic", format!("panic: {}", text.unwrap_or_default())))
    })
}

/// Compiles a program; the IR is verified after each pass.
///
/// # Errors
/// The program is not valid, or a pass makes IR that is not.
pub fn compile(text: &str, units: bool) -> Result<Compiled, Failure> {
    compile_for(text, units, CostModel::default())
}

/// As [`compile`], for a back-end where operations cost this.
///
/// # Errors
/// As there.
pub fn compile_for(text: &str, units: bool, costs: CostModel) -> Result<Compiled, Failure> {
    compile_source(&SourceMap::new("random.equelle", text), units, costs)
}

fn compile_source(source: &SourceMap, units: bool, costs: CostModel) -> Result<Compiled, Failure> {
    let checked = check_source(source, &CheckOptions { nondimensional: !units });
    let errors: Vec<String> = checked
        .diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| format!("line {}: {} {}", source.line(d.primary.span.start), d.code.as_str(), d.message))
        .collect();
    let Some(typed) = checked.program.filter(|_| errors.is_empty()) else {
        return Err(Failure::new("not well-typed", errors.join("\n")));
    };
    let lowered = lower::lower(&typed, source, "random");
    let plain = verified(lowered.clone(), "lowering")?;
    let mut after = Vec::new();
    let mut failure = None;
    let (_, notes) =
        passes::optimise_by(lowered.clone(), &passes::Options { costs, ..passes::Options::default() }, &mut |name, module| match verified(
            module.clone(),
            name,
        ) {
            Ok(module) => after.push((name.to_owned(), module)),
            Err(error) => {
                failure.get_or_insert(error);
            }
        });
    let mut matrices = None;
    if source.text().contains("NewtonSolve") {
        let options = passes::Options { derivatives: passes::Derivatives::SparseMatrices, costs, ..passes::Options::default() };
        let module = passes::optimise_by(lowered, &options, &mut |name, module| {
            if let Err(error) = verified(module.clone(), name) {
                failure.get_or_insert(error);
            }
        });
        matrices = Some(module.0);
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    let matrices = matrices.map(|module| verified(module, "all passes")).transpose()?;
    let runnable = interpret::program(source, &plain);
    let untreated = notes.untreated.iter().map(|u| u.construct).collect();
    let structure = plain.module().structure;
    let reads_faces = plain.module().face_geometry.is_some();
    Ok(Compiled { plain, passes: after, matrices, runnable, structure, reads_faces, untreated })
}

/// A program with collections of single precision.
///
/// # Panics
/// If it is not valid so, which is a defect.
pub fn in_single_precision(program: &Verified) -> Verified {
    let mut module = program.module().clone();
    module.numbers.precision = Precision::Single;
    verify(module).unwrap_or_else(|errors| panic!("in single precision: {errors:?}"))
}

fn verified(module: Module, pass: &str) -> Result<Verified, Failure> {
    verify(module).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Failure::new("IR not valid", format!("after {pass}: {}", lines.join("; ")))
    })
}

/// Interprets a module on a grid.
pub fn run(module: &Verified, runnable: &Arc<Runnable>, fixture: &Fixture, options: Options) -> Outcome {
    let words: Vec<String> = fixture.words_for(runnable).map(str::to_owned).collect();
    run_on(module, runnable, &words, options)
}

/// Interprets a module with the words of a command line.
pub fn run_on(module: &Verified, runnable: &Arc<Runnable>, words: &[String], options: Options) -> Outcome {
    match module.module().numbers.precision {
        Precision::Double => interpreted::<f64>(module, runnable, words, options, &mut ElementKernels),
        Precision::Single => interpreted::<f32>(module, runnable, words, options, &mut ElementKernels),
    }
}

/// Interprets a module by lanes.
pub fn run_by_lanes(module: &Verified, runnable: &Arc<Runnable>, words: &[String], options: Options, lanes: &mut Lanes) -> Outcome {
    match module.module().numbers.precision {
        Precision::Double => interpreted::<f64>(module, runnable, words, options, lanes),
        Precision::Single => interpreted::<f32>(module, runnable, words, options, lanes),
    }
}

fn interpreted<R: CompiledReal>(
    module: &Verified,
    runnable: &Arc<Runnable>,
    words: &[String],
    options: Options,
    kernels: &mut dyn KernelProvider<SerialRuntime<R>>,
) -> Outcome {
    run_by(runnable, words, |session| interpret_by(module, &mut SerialRuntime::<R>::with_precision(session), options, kernels))
}

/// Compares lanes on several numbers of threads with the evaluator of elements: the same bits, and
/// the same error with the same words.
///
/// # Errors
/// The first difference.
pub fn compare_lanes(
    module: &Verified,
    runnable: &Arc<Runnable>,
    words: &[String],
    options: Options,
    threads: &[usize],
    lanes: &mut Lanes,
) -> Result<(), String> {
    let with = |threads: usize| [words, &[format!("threads={threads}")]].concat();
    let expected = run_on(module, runnable, &with(1), options);
    threads.iter().try_for_each(|&threads| {
        let found = run_by_lanes(module, runnable, &with(threads), options, lanes);
        same_words(&expected, &found).map_err(|difference| format!("on {threads} threads: {difference}"))
    })
}

/// The same bits, and the same words of an error.
pub(crate) fn same_words(expected: &Outcome, found: &Outcome) -> Result<(), String> {
    same_words_within(expected, found, Tolerance::BITS)
}

/// The same as far as a tolerance says, and the same words of an error.
pub(crate) fn same_words_within(expected: &Outcome, found: &Outcome, allowed: Tolerance) -> Result<(), String> {
    same(expected, found, &|_| allowed)?;
    let words = |outcome: &Outcome| outcome.error.as_ref().map(|error| error.message.clone());
    if words(expected) != words(found) {
        return Err(format!("ends with {:?}, not with {:?}", words(found), words(expected)));
    }
    Ok(())
}

/// The same to what linear solvers leave, and the same error; of errors of solves the words without
/// their numbers.
///
/// # Errors
/// The first difference.
pub fn same_to_solvers(program: &Program, expected: &Outcome, found: &Outcome) -> Result<(), String> {
    same_but_for_numbers_of_errors(expected, found, &or_any_zero(as_far_as_solvers(program)))
}

/// The same as far as tolerances say, and the same words of an error without its numbers: those of
/// residuals, or of the element that the order of elements makes the first that fails.
pub(crate) fn same_but_for_numbers_of_errors(
    expected: &Outcome,
    found: &Outcome,
    allowed: &dyn Fn(&str) -> Tolerance,
) -> Result<(), String> {
    same(expected, found, allowed)?;
    let words = |outcome: &Outcome| {
        let message = &outcome.error.as_ref()?.message;
        let first = message.lines().next().unwrap_or_default();
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
        Some(first.split_whitespace().filter(|word| !word.starts_with(is_number)).collect::<Vec<_>>().join(" "))
    };
    match (words(expected), words(found)) {
        (expected, found) if expected == found => Ok(()),
        (expected, found) => Err(format!("ends with {found:?}, not with {expected:?}")),
    }
}

/// Tolerances where linear systems are solved in another way.
fn as_far_as_solvers(program: &Program) -> impl Fn(&str) -> Tolerance + use<> {
    let errors = errors_of(program);
    move |tag| {
        let Tolerance { absolute, relative, any_zero } = errors(tag);
        Tolerance { absolute: WITHOUT_TOLERANCE * absolute, relative: WITHOUT_TOLERANCE * relative, any_zero }
    }
}

/// Compares lanes on two threads with what elements gave.
fn lanes_on(module: &Verified, runnable: &Arc<Runnable>, fixture: &Fixture, options: Options, expected: &Outcome) -> Result<(), Failure> {
    let words: Vec<String> = fixture.words_for(runnable).chain(["threads=2"]).map(str::to_owned).collect();
    let found = run_by_lanes(module, runnable, &words, options, &mut Lanes::default());
    let way = if options.cartesian_forms { "by lanes and Cartesian forms" } else { "by lanes" };
    same_words(expected, &found).map_err(|d| difference(fixture, way, &d))
}

/// One program in so many is also run in single precision.
const SINGLE_PRECISION: u64 = 8;

/// Compares lanes with elements in single precision.
fn single_precision(module: &Verified, runnable: &Arc<Runnable>, fixture: &Fixture, options: Options) -> Result<(), Failure> {
    let module = in_single_precision(module);
    let expected = run(&module, runnable, fixture, options);
    lanes_on(&module, runnable, fixture, options, &expected).map_err(|f| Failure { text: format!("in single precision, {}", f.text), ..f })
}

fn run_all(program: &Program, compiled: &Compiled, fixtures: &Fixtures, extent: Extent) -> Result<usize, Failure> {
    let mut ended = 0;
    let errors = errors_of(program);
    let suitable: Vec<&Fixture> = grids(program, fixtures).collect();
    let sampled = program.seed as usize % suitable.len().max(1);
    // A Cartesian grid stands after itself treated as unstructured, with which it is compared.
    let mut before: Option<Outcome> = None;
    for (number, fixture) in suitable.into_iter().enumerate() {
        let general = Options::default();
        let expected = run(&compiled.plain, &compiled.runnable, fixture, general);
        let refused = !fits(fixture, compiled);
        match &expected.error {
            Some(error) if refused && error.kind == "Data" => {}
            Some(error) if !refused && error.kind == "Simulation" && (program.may_fail || fixture.small) => ended += 1,
            Some(error) => return Err(Failure::new("error", format!("on the grid {}: {error}", fixture.name))),
            None if refused => return Err(Failure::new("error", format!("the grid {} is not refused", fixture.name))),
            None => {}
        }
        if let Some((tag, _)) = expected.outputs.iter().find(|(_, values)| values.iter().any(|v| !v.is_finite())) {
            return Err(Failure::new("not finite", format!("on the grid {}: `{tag}` is not finite", fixture.name)));
        }
        if let Some(twin) = before.take().filter(|_| !fixture.unstructured && compiled.structure.is_none()) {
            same(&twin, &expected, &bits).map_err(|d| difference(fixture, "as an unstructured grid", &d))?;
        }
        let last = compiled.passes.len().saturating_sub(1);
        let mut treated = false;
        for (i, (name, module)) in compiled.passes.iter().enumerate() {
            treated |= name == "differentiate" && compiled.matrices.is_some();
            if i < last && number != sampled && extent == Extent::Sampled {
                continue;
            }
            let allowed: &dyn Fn(&str) -> Tolerance = if treated { &errors } else { &bits };
            let found = run(module, &compiled.runnable, fixture, general);
            same(&expected, &found, allowed).map_err(|d| difference(fixture, &format!("after {name}"), &d))?;
            if i == last {
                lanes_on(module, &compiled.runnable, fixture, general, &found)?;
            }
            if i == last && number == sampled && program.seed.is_multiple_of(SINGLE_PRECISION) {
                let options = Options { cartesian_forms: !fixture.unstructured, ..general };
                single_precision(module, &compiled.runnable, fixture, options)?;
            }
            if i == last && !fixture.unstructured {
                let options = Options { cartesian_forms: true, ..general };
                let found = run(module, &compiled.runnable, fixture, options);
                let allowed = or_any_zero(allowed);
                same(&expected, &found, &allowed).map_err(|d| difference(fixture, "by Cartesian forms", &d))?;
                lanes_on(module, &compiled.runnable, fixture, options, &found)?;
            }
        }
        if let Some(module) = &compiled.matrices {
            let found = run(module, &compiled.runnable, fixture, general);
            same(&expected, &found, &bits).map_err(|d| difference(fixture, "after all passes, with sparse matrices", &d))?;
        }
        before = fixture.unstructured.then_some(expected);
    }
    Ok(ended)
}

/// True if a grid has what a program needs of it.
pub fn fits(fixture: &Fixture, compiled: &Compiled) -> bool {
    compiled.structure.as_ref().is_none_or(|structure| has_cells(fixture, structure)) && !(fixture.without_geometry && compiled.reads_faces)
}

fn has_cells(fixture: &Fixture, structure: &Structure) -> bool {
    fixture.cells.is_some_and(|cells| cells.iter().zip(structure.cells).all(|(&has, needs)| has >= needs as usize))
}

fn difference(fixture: &Fixture, way: &str, text: &str) -> Failure {
    Failure::new("different", format!("on the grid {}, {way}: {text}", fixture.name))
}
