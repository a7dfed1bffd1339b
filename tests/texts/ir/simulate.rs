//! Interpretation of IR text on small grids.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use backend_serial::runtime::SerialRuntime;
use equelle_front::ir::text;
use equelle_front::verify::{Verified, verify};
use equelle_interp::{Options, interpret_with};
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::output::Record;
use equelle_runtime::params::Parameters;
use equelle_runtime::session::{self, Session};
use equelle_runtime::simulator::Program;
use equelle_runtime::{EquelleRuntime, Error};

/// Input data of a run.
#[derive(Default)]
pub struct Inputs {
    parameters: Parameters,
}

impl Inputs {
    pub fn scalar(mut self, name: &str, value: f64) -> Self {
        self.parameters.set(name, &format!("{value:?}"));
        self
    }

    pub fn collection(self, name: &str, values: &[f64]) -> Self {
        let mut inputs = self.file(name, values);
        inputs.parameters.set(&format!("{name}_from_file"), "true");
        inputs
    }

    pub fn sequence(self, name: &str, values: &[f64]) -> Self {
        self.file(name, values)
    }

    pub fn domain(mut self, name: &str, elements: &[u32]) -> Self {
        let text: Vec<String> = elements.iter().map(u32::to_string).collect();
        self.write(name, &text.join(" "));
        self
    }

    fn file(mut self, name: &str, values: &[f64]) -> Self {
        let text: Vec<String> = values.iter().map(|v| format!("{v:?}")).collect();
        self.write(name, &text.join("\n"));
        self
    }

    fn write(&mut self, name: &str, text: &str) {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let unique = format!("ir-{}-{}-{name}.txt", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(unique);
        fs::write(&path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        self.parameters.set(&format!("{name}_filename"), &path.display().to_string());
    }
}

/// How to evaluate kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The general body.
    General,
    /// The Cartesian form where there is one.
    Cartesian,
}

/// Parses and verifies.
pub fn module(text: &str) -> Verified {
    let module = text::parse(text).unwrap_or_else(|e| panic!("{e}"));
    verify(module).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Runs a module and gives its outputs.
pub fn run(module: &Verified, shape: Cartesian, inputs: Inputs, form: Form) -> Result<Vec<Record>, Error> {
    let grid = Grid::cartesian(shape)?;
    let mut session = Session::on_grid(Program::named("ir"), inputs.parameters, grid, session::Options::silent())?;
    let records = session.record_outputs();
    let mut rt = SerialRuntime::new(session);
    // A line left over from before would be a wrong place in a message.
    rt.line(0);
    interpret_with(module, &mut rt, Options { cartesian_forms: form == Form::Cartesian, ..Options::default() })?;
    Ok(records.take())
}

/// Values of all collections put out under a tag, in order.
pub fn collections(records: &[Record], wanted: &str) -> Vec<Vec<f64>> {
    let found = records.iter().filter_map(|record| match record {
        Record::Collection { tag, values } if tag == wanted => Some(values.clone()),
        _ => None,
    });
    found.collect()
}

/// Values of all Scalars put out under a tag, in order.
pub fn scalars(records: &[Record], wanted: &str) -> Vec<f64> {
    let found = records.iter().filter_map(|record| match record {
        Record::Scalar { tag, value } if tag == wanted => Some(*value),
        _ => None,
    });
    found.collect()
}

/// Equal to `tolerance` relative to the largest expected value.
pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        // Written so that NaN fails.
        let close = (a - b).abs() <= tolerance * scale;
        assert!(close, "element {i}: found {a:?}, expected {b:?}, scale {scale:e}");
    }
}
