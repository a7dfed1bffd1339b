//! Compiled programs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use equelle::compiled::Compiled;
use equelle::emitter::Collector;
use equelle::failure::Failure;
use equelle::imports::{self, Files};
use equelle::interpret::{self, Kernels};
use equelle::pipeline::{self, Options};
use equelle::processor::TargetCpu;
use equelle::registry;
use equelle::{inputs, package};
use equelle_front::backend::Backend;
use equelle_front::ir::{Numbers, Precision, Rounding};
use equelle_front::source::SourceMap;
use equelle_runtime::session::{grid_for_program, is_known, nearest};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arguments::{self, Argument};
use crate::errors;
use crate::grid::PyGrid;

/// A program that has been compiled for a back-end.
#[pyclass(frozen, name = "Program")]
pub struct PyProgram {
    pub compiled: Arc<Compiled>,
    numbers: Numbers,
    backend: &'static dyn Backend,
    warnings: String,
}

/// Version of the package.
#[pyfunction]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The command `equellec` with these arguments, of which the first is its name; `this` are the
/// words that start it again. Returns the exit code.
#[pyfunction]
pub fn command(py: Python<'_>, this: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| equellec::cli::run_with(registry::BACKENDS, &this, arguments))
}

/// Compiles the text of a program, or the file at `path`.
#[pyfunction]
#[pyo3(signature = (text, path, *, backend, nondimensional, audit, fast, single))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn compile(
    py: Python<'_>,
    text: Option<String>,
    path: Option<PathBuf>,
    backend: &str,
    nondimensional: bool,
    audit: bool,
    fast: bool,
    single: bool,
) -> PyResult<PyProgram> {
    let Some(backend) = registry::find(registry::BACKENDS, backend) else {
        let known: Vec<&str> = registry::BACKENDS.iter().map(|backend| backend.name()).collect();
        return Err(PyValueError::new_err(format!("there is no back-end {backend:?}; there are {}", known.join(", "))));
    };
    let numbers = Numbers {
        precision: if single { Precision::Single } else { Precision::Double },
        rounding: if fast { Rounding::Fast } else { Rounding::Strict },
    };
    let source = source(text, path.as_deref()).map_err(|failure| errors::from_failure(&failure))?;
    let options = Options { nondimensional, numbers, costs: registry::costs(&[backend]), audit, ..Options::default() };
    let collector = Collector::default();
    let shown = source.clone();
    let compiled = py.detach(|| Compiled::new(source, options, &[backend], &collector));
    let messages = collector.into_messages();
    match compiled {
        Ok(compiled) => {
            let format = equelle_front::diagnostic::render::Format::Human { color: false };
            let mut warnings = equelle_front::diagnostic::render::render(&messages.diagnostics, &shown, format);
            messages.warnings.iter().for_each(|warning| warnings.push_str(&format!("warning: {warning}\n")));
            Ok(PyProgram { compiled: Arc::new(compiled), numbers, backend, warnings })
        }
        Err(Failure::Program) => Err(errors::compile_error(py, &shown, &messages.diagnostics)),
        Err(failure) => Err(errors::from_failure(&failure)),
    }
}

/// The text with what it imports: beside the file, or from the current folder.
fn source(text: Option<String>, path: Option<&Path>) -> Result<SourceMap, Failure> {
    match (text, path) {
        (None, Some(path)) => pipeline::read(path),
        (text, path) => {
            let name = path.map_or_else(|| "program.equelle".to_owned(), |path| path.to_string_lossy().into_owned());
            let key = imports::key(Path::new(&name)).unwrap_or_default();
            Ok(SourceMap::with_imports(name, text.unwrap_or_default(), &key, &mut Files))
        }
    }
}

impl PyProgram {
    /// Kernels for a run in this process; an exception if none give the program's numbers.
    pub fn kernels(&self) -> PyResult<Kernels> {
        interpret::fast_kernels(self.backend, self.numbers).map_err(|failure| errors::from_failure(&failure))
    }
}

#[pymethods]
impl PyProgram {
    /// Name of the program.
    #[getter]
    fn name(&self) -> String {
        self.compiled.program().name.to_string()
    }

    /// Text of the program.
    #[getter]
    fn text(&self) -> String {
        self.compiled.source().text().to_owned()
    }

    /// Inputs and outputs, as JSON.
    #[getter]
    fn manifest(&self) -> String {
        package::manifest(self.compiled.verified())
    }

    /// Inputs with the ways to give them, and all parameters, as JSON.
    #[getter]
    fn parameters(&self) -> String {
        inputs::json(self.compiled.program()).to_string()
    }

    /// Warnings of the compiler, as on a terminal; empty without any.
    #[getter]
    fn warnings(&self) -> &str {
        &self.warnings
    }

    /// The path of the program that cargo builds, unless that has been done, for this processor.
    fn build(&self, py: Python<'_>) -> PyResult<PathBuf> {
        let build = || self.compiled.cached(&TargetCpu::Native)?.program(&Collector::default());
        py.detach(build).map_err(|failure| errors::from_failure(&failure))
    }

    /// The grid of a run with these parameters.
    fn grid(&self, py: Python<'_>, given: Vec<(String, Argument<'_>)>) -> PyResult<PyGrid> {
        let parameters = arguments::parameters(py, &given)?;
        let grid = py.detach(|| grid_for_program(self.compiled.program(), &parameters)).map_err(|error| errors::from_error(&error))?;
        Ok(PyGrid { grid })
    }

    /// True if runs read a parameter; else false, and the most similar one.
    fn knows(&self, key: &str) -> (bool, Option<String>) {
        let program = self.compiled.program();
        match is_known(program, key) || program.inputs.iter().any(|input| *input.name == *key) {
            true => (true, None),
            false => (false, nearest(program, key)),
        }
    }
}
