//! Running a case and comparing.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

use backend_cuda::runtime::device::Device;
use backend_cuda::runtime::device::emulator::Emulator;
use backend_cuda::runtime::device::gpu::GpuDevice;
use backend_cuda::runtime::{Precision, run_on};
use equelle::interpret;
use equelle_front::check::{CheckOptions, check_text};
use equelle_front::diagnostic::{Diagnostic, Label};
use equelle_front::lower;
use equelle_front::passes::{self, OptLevel};
use equelle_front::source::SourceMap;
use equelle_front::syntax::parse;
use equelle_front::typed::TypedProgram;
use equelle_front::verify::{self, Verified};
use equelle_runtime::output::Record;
use equelle_runtime::session::Options;
use equelle_runtime::{Error, ErrorKind, Session};

use super::format::{Case, ExpectedDiagnostic, Output, Value};

/// True if a case holds, or, if it is pending, does not.
///
/// # Errors
/// The difference, for people.
pub fn verdict(case: &Case) -> Result<(), String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| run(case))).unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str).or_else(|| cause.downcast_ref::<&str>().copied());
        Err(format!("panic: {}", text.unwrap_or("without a text")))
    });
    match (&case.pending, outcome) {
        (None, outcome) => outcome,
        (Some(_), Err(_)) => Ok(()),
        (Some(reason), Ok(())) => Err(format!("the case is pending ({reason}), but it holds: remove the mark")),
    }
}

fn run(case: &Case) -> Result<(), String> {
    let source = SourceMap::new("case.equelle", case.program.as_str());
    let (program, diagnostics) = front(case);
    compare_diagnostics(&source, &case.diagnostics, &diagnostics)?;
    let expects_run = !case.outputs.is_empty() || case.failure.is_some();
    let Some(program) = program else {
        return if expects_run { Err("the program is expected to run, but has errors".into()) } else { Ok(()) };
    };
    if case.diagnostics.iter().any(|d| d.code.starts_with('E')) {
        return Err("a program with errors has a typed tree".into());
    }
    // A Cartesian grid treated as unstructured runs the general bodies of kernels.
    for (level, layout) in [(OptLevel::O0, "auto"), (OptLevel::O2, "auto"), (OptLevel::O2, "unstructured")] {
        let module = passes::optimise(lower::lower(&program, &source, "case"), level);
        let verified = verify::verify(module).map_err(|errors| {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            format!("the IR at {level:?} is not valid: {}", lines.join("; "))
        })?;
        let (outputs, error) = execute(case, &source, &verified, layout, interpret::run_session);
        // Reads by index are refused on other grids than Cartesian ones.
        let reads_by_index = verified.module().structure.is_some();
        if reads_by_index && layout == "unstructured" {
            if error.as_ref().is_none_or(|error| error.kind != ErrorKind::Data) {
                return Err(format!("at {level:?}: reads by index must be refused on an unstructured grid, not {error:?}"));
            }
            continue;
        }
        compare_outputs(case, &outputs, error.as_ref())
            .map_err(|difference| format!("at {level:?}, grid layout {layout}: {difference}"))?;
        if level == OptLevel::O0 && device().is_some() {
            let (outputs, error) = execute(case, &source, &verified, layout, on_cuda);
            compare_outputs(case, &outputs, error.as_ref()).map_err(|difference| format!("on CUDA at {level:?}: {difference}"))?;
        }
    }
    Ok(())
}

/// Interprets a program over the CUDA runtime: every operation is a launch of a kernel of the
/// runtime.
fn on_cuda(verified: &Verified, session: Session) -> Result<(), Error> {
    let device = device().ok_or_else(|| Error::new(ErrorKind::Backend, "no device"))?;
    run_on(session, device, Precision::Double, |runtime| equelle_interp::interpret(verified, runtime))
}

/// The device of all cases: the GPU where `EQUELLE_CUDA_DEVICE=gpu`, else the host; `None` without
/// a C++ compiler, which that needs and a machine with only Rust may not have.
fn device() -> Option<Rc<dyn Device>> {
    fn open() -> Option<Rc<dyn Device>> {
        if env::var("EQUELLE_CUDA_DEVICE").is_ok_and(|device| device == "gpu") {
            return Some(Rc::new(GpuDevice::open().expect("there is a GPU")));
        }
        let compiler = Command::new("c++").arg("--version").output().is_ok_and(|output| output.status.success());
        compiler.then(|| Rc::new(Emulator::new()) as Rc<dyn Device>)
    }
    thread_local! {
        static DEVICE: Option<Rc<dyn Device>> = open();
    }
    DEVICE.with(Clone::clone)
}

/// Codes of the errors of a program that come without a hint.
pub fn without_hint(case: &Case) -> Vec<&'static str> {
    front(case).1.iter().filter(|d| d.is_error() && d.hint.is_none()).map(|d| d.code.as_str()).collect()
}

/// Syntax errors end the compilation before the checker is asked, as in the compiler.
fn front(case: &Case) -> (Option<TypedProgram>, Vec<Diagnostic>) {
    let parsed = parse(&case.program);
    if parsed.diagnostics.iter().any(Diagnostic::is_error) {
        return (None, parsed.diagnostics);
    }
    let checked = check_text(&case.program, &CheckOptions { nondimensional: case.nondimensional });
    (checked.program, checked.diagnostics)
}

/// Runs a program to its end.
type Run = fn(&Verified, Session) -> Result<(), Error>;

fn execute(case: &Case, source: &SourceMap, verified: &Verified, layout: &str, run: Run) -> (Vec<Output>, Option<Error>) {
    let folder = scratch();
    let mut words = case.parameters.clone();
    words.push("output_to_file=false".into());
    words.push(format!("grid_layout={layout}"));
    for (name, text) in &case.inputs {
        let extension = if text.contains(',') { "csv" } else { "txt" };
        let file = folder.join(format!("{name}.{extension}"));
        fs::write(&file, text).expect("the scratch folder can be written");
        words.push(format!("{name}_from_file=true"));
        words.push(format!("{name}_filename={}", file.display()));
    }
    let program = interpret::program(source, verified);
    let mut outputs = Vec::new();
    let result = Session::open_with(program, &words, Options::silent()).and_then(|mut session| {
        let records = session.record_outputs();
        let result = run(verified, session);
        outputs = records.take().into_iter().map(output).collect();
        result
    });
    fs::remove_dir_all(&folder).expect("the scratch folder can be removed");
    (outputs, result.err())
}

fn output(record: Record) -> Output {
    match record {
        Record::Scalar { tag, value } => Output { tag, value: Value::Scalar(value) },
        Record::Bool { tag, value } => Output { tag, value: Value::Bool(value) },
        Record::Text { tag, value } => Output { tag, value: Value::Text(value) },
        Record::Vector { tag, components } => Output { tag, value: Value::Vector(components) },
        Record::Vectors { tag, values } => Output { tag, value: Value::Vectors(values) },
        Record::Collection { tag, values } => Output { tag, value: Value::Collection(values) },
    }
}

fn scratch() -> PathBuf {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("conformance-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

fn compare_diagnostics(source: &SourceMap, expected: &[ExpectedDiagnostic], found: &[Diagnostic]) -> Result<(), String> {
    let matches = expected.len() == found.len() && expected.iter().zip(found).all(|(expected, found)| fits(source, expected, found));
    if matches {
        return Ok(());
    }
    let mut text = String::from("the diagnostics differ\n");
    for d in expected {
        let width = d.width.map_or_else(String::new, |width| format!("+{width}"));
        let hint = d.hint.as_ref().map_or_else(String::new, |hint| format!(" => {hint}"));
        let _ = writeln!(text, "  expected {} {}:{}{width} {}{hint}", d.code, d.line, d.column, d.message);
        for (line, column, label) in &d.also {
            let _ = writeln!(text, "           also {line}:{column} {label}");
        }
        for (line, column, label) in &d.via {
            let _ = writeln!(text, "           via {line}:{column} {label}");
        }
    }
    for d in found {
        let (line, column) = source.line_column(d.primary.span.start);
        let hint = d.hint.as_ref().map_or_else(String::new, |hint| format!(" => {hint}"));
        let _ = writeln!(text, "  found    {} {line}:{column}+{} {}{hint}", d.code.as_str(), width(source, d), d.message);
        for label in &d.secondary {
            let (line, column) = source.line_column(label.span.start);
            let _ = writeln!(text, "           also {line}:{column} {}", label.text);
        }
        for label in &d.trail {
            let (line, column) = source.line_column(label.span.start);
            let _ = writeln!(text, "           via {line}:{column} {}", label.text);
        }
    }
    Err(text)
}

/// Characters marked by a diagnostic.
fn width(source: &SourceMap, diagnostic: &Diagnostic) -> usize {
    source.text_of(diagnostic.primary.span).map_or(0, |text| text.chars().count())
}

fn fits(source: &SourceMap, expected: &ExpectedDiagnostic, found: &Diagnostic) -> bool {
    let stands = |label: &Label, (line, column, text): &(u32, u32, String)| {
        source.line_column(label.span.start) == (*line, *column) && label.text.contains(text.as_str())
    };
    let labelled = |place| found.secondary.iter().any(|label| stands(label, place));
    let led = expected.via.len() == found.trail.len() && found.trail.iter().zip(&expected.via).all(|(label, place)| stands(label, place));
    expected.code == found.code.as_str()
        && source.line_column(found.primary.span.start) == (expected.line, expected.column)
        && expected.width.is_none_or(|expected| expected == width(source, found))
        && contains(&found.message, &expected.message)
        && expected.hint.as_ref().is_none_or(|hint| found.hint.as_ref().is_some_and(|found| found.contains(hint)))
        && expected.also.iter().all(labelled)
        && (expected.via.is_empty() || led)
}

/// True if a text contains the parts between the ` .. `, in this order.
fn contains(text: &str, parts: &str) -> bool {
    let mut rest = Some(text);
    for part in parts.split(" .. ") {
        rest = rest.and_then(|rest| rest.split_once(part)).map(|(_, after)| after);
    }
    rest.is_some()
}

fn compare_outputs(case: &Case, found: &[Output], error: Option<&Error>) -> Result<(), String> {
    let failed = match (&case.failure, error) {
        (None, None) => false,
        (Some(expected), Some(found)) => {
            expected.kind != format!("{:?}", found.kind)
                || found.lines.first().copied().unwrap_or(0) != expected.line
                || !found.message.contains(&expected.message)
                || expected.hint.as_ref().is_some_and(|hint| !found.hint.as_ref().is_some_and(|found| found.contains(hint)))
        }
        (None, Some(_)) | (Some(_), None) => true,
    };
    let same = case.outputs.len() == found.len()
        && case.outputs.iter().zip(found).all(|(a, b)| a.tag == b.tag && equal(&a.value, &b.value, case.tolerance));
    if same && !failed {
        return Ok(());
    }
    let mut text = String::from("the results differ\n");
    for output in &case.outputs {
        let _ = writeln!(text, "  expected {} = {}", output.tag, output.value);
    }
    if let Some(failure) = &case.failure {
        let _ = writeln!(
            text,
            "  expected fails {} {} {} => {}",
            failure.kind,
            failure.line,
            failure.message,
            failure.hint.as_deref().unwrap_or("")
        );
    }
    for output in found {
        let _ = writeln!(text, "  found    {} = {}", output.tag, output.value);
    }
    if let Some(error) = error {
        let _ = writeln!(
            text,
            "  found    fails {:?} {:?} {} => {}",
            error.kind,
            error.lines,
            error.message,
            error.hint.as_deref().unwrap_or("")
        );
    }
    Err(text)
}

fn equal(expected: &Value, found: &Value, tolerance: f64) -> bool {
    match (expected, found) {
        (Value::Scalar(a), Value::Scalar(b)) => all_close(&[*a], &[*b], tolerance),
        (Value::Vector(a), Value::Vector(b)) | (Value::Collection(a), Value::Collection(b)) => all_close(a, b, tolerance),
        (Value::Vectors(a), Value::Vectors(b)) => {
            a.iter().map(Vec::len).eq(b.iter().map(Vec::len)) && all_close(&a.concat(), &b.concat(), tolerance)
        }
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Text(a), Value::Text(b)) => a == b,
        (
            Value::Scalar(_) | Value::Bool(_) | Value::Text(_) | Value::Vector(_) | Value::Vectors(_) | Value::Collection(_),
            Value::Scalar(_) | Value::Bool(_) | Value::Text(_) | Value::Vector(_) | Value::Vectors(_) | Value::Collection(_),
        ) => false,
    }
}

/// True if each value is close to the expected one, measured by the largest of those.
fn all_close(expected: &[f64], found: &[f64], tolerance: f64) -> bool {
    let scale = expected.iter().fold(0.0_f64, |scale, value| scale.max(value.abs()));
    expected.len() == found.len() && expected.iter().zip(found).all(|(a, b)| close(*a, *b, tolerance * scale))
}

/// Equal bits, both not a number (its sign and payload mean nothing), or within the margin if there
/// is one.
fn close(expected: f64, found: f64, margin: f64) -> bool {
    expected.to_bits() == found.to_bits() || (expected.is_nan() && found.is_nan()) || (margin > 0.0 && (expected - found).abs() <= margin)
}
