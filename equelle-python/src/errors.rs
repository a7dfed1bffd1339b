//! Exceptions.

use std::time::Instant;

use equelle::failure::Failure;
use equelle_front::diagnostic::Diagnostic;
use equelle_front::diagnostic::render::{self, Format};
use equelle_front::source::SourceMap;
use equelle_runtime::report::MessageFormat;
use equelle_runtime::simulator::last_words;
use equelle_runtime::{Error, ErrorKind, Source};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;

create_exception!(equelle, EquelleError, PyException, "Anything that goes wrong in a compilation or a run.");
create_exception!(equelle, CompileError, EquelleError, "A program has errors; `diagnostics` has them.");
create_exception!(equelle, RunError, EquelleError, "A run failed; `kind`, `lines` and `hint` say more.");

/// The exception of a program with errors: its text is that of a terminal.
pub fn compile_error(py: Python<'_>, source: &SourceMap, diagnostics: &[Diagnostic]) -> PyErr {
    let text = render::render(diagnostics, source, Format::Human { color: false });
    let error = CompileError::new_err(text.trim_end().to_owned());
    let json = render::render(diagnostics, source, Format::Json);
    // An attribute that cannot be set leaves the text.
    let _ = py.import("json").and_then(|module| {
        let parsed: PyResult<Vec<_>> = json.lines().map(|line| module.call_method1("loads", (line,))).collect();
        error.value(py).setattr("diagnostics", parsed?)
    });
    error
}

/// The exception of something that failed before a run.
pub fn from_failure(failure: &Failure) -> PyErr {
    match failure {
        Failure::Error(error) => EquelleError::new_err(with_hint(error)),
        Failure::Internal(message) => EquelleError::new_err(format!("internal error: {message}")),
        Failure::Program | Failure::Exit(_) => EquelleError::new_err("the program has errors"),
    }
}

/// The exception of a run that ended with an error; its text has the lines of the program.
pub fn run_error(py: Python<'_>, source: &Source, error: &Error) -> PyErr {
    if let ErrorKind::Interrupted(_) = error.kind {
        return PyKeyboardInterrupt::new_err(error.message.clone());
    }
    let text = last_words(source, &Err(error.clone()), MessageFormat::Human, Instant::now());
    let exception = RunError::new_err(text.trim().trim_start_matches("error: ").to_owned());
    let value = exception.value(py);
    let kind = match error.kind {
        ErrorKind::Usage => "usage",
        ErrorKind::Simulation => "simulation",
        ErrorKind::Data => "data",
        ErrorKind::Io => "io",
        ErrorKind::Backend => "backend",
        ErrorKind::Interrupted(_) => "interrupted",
        ErrorKind::HandedOver => "handed over",
    };
    // As above.
    let _ = value.setattr("kind", kind);
    let _ = value.setattr("message", &error.message);
    let _ = value.setattr("lines", error.lines.clone());
    let _ = value.setattr("hint", error.hint.clone());
    exception
}

/// The exception of something outside of runs.
pub fn from_error(error: &Error) -> PyErr {
    EquelleError::new_err(with_hint(error))
}

fn with_hint(error: &Error) -> String {
    match &error.hint {
        Some(hint) => format!("{}\n  hint: {hint}", error.message),
        None => error.message.clone(),
    }
}
