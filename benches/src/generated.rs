//! Programs that equellec wrote.

#[cfg(feature = "shallow_water")]
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::{env, fs};

use backend_serial::runtime::SerialRuntime;
use equelle_runtime::simulator::Program;
use equelle_runtime::output::Record;
use equelle_runtime::params::Parameters;
use equelle_runtime::report::ProgressStyle;
use equelle_runtime::session::Options;
use equelle_runtime::{Error, Session};

use crate::harness::{Problem, Run};
use crate::measure::now;

/// Lists that a run uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Index arithmetic.
    Cartesian,
    /// The same grid as lists of faces and cells.
    Unstructured,
}

/// Parameters and data files of a problem; the files are removed when it is dropped.
pub struct Input {
    folder: PathBuf,
    keys: Vec<(String, String)>,
}

impl Input {
    /// For a uniform grid of `n` cells along each axis.
    pub fn new(dim: usize, n: usize) -> Input {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("equelle-bench-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).expect("the folder for temporary files can be written");
        let mut input = Input { folder, keys: Vec::new() };
        input.set("grid_dim", dim);
        ["nx", "ny", "nz"].iter().take(dim).for_each(|key| input.set(key, n));
        input
    }

    /// A key of the parameters.
    pub fn set(&mut self, key: &str, value: impl ToString) {
        self.keys.push((key.to_owned(), value.to_string()));
    }

    /// An input that is read from a file.
    pub fn file(&mut self, name: &str, text: &str) {
        let path = self.folder.join(name);
        fs::write(&path, text).expect("the folder for temporary files can be written");
        self.set(&format!("{name}_from_file"), true);
        self.set(&format!("{name}_filename"), path.to_string_lossy());
    }

    /// Values of an input that are read from a file, in full precision.
    #[cfg(feature = "shallow_water")]
    pub fn values(&mut self, name: &str, values: &[f64]) {
        let mut text = String::with_capacity(20 * values.len());
        for value in values {
            let _ = writeln!(text, "{value}");
        }
        self.file(name, &text);
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Functions of a generated library.
#[derive(Clone, Copy)]
pub struct Generated {
    /// Describes the program.
    pub program: fn() -> Program,
    /// The program.
    pub simulate: fn(&mut SerialRuntime) -> Result<(), Error>,
}

impl Generated {
    /// Runs the whole program; its steps are timed by the progress bar, which is always drawn at
    /// the end of the first step and at the end of the last one. The values are those of all output
    /// collections, one after the other.
    pub fn run(self, layout: Layout, problem: &Problem) -> Run {
        let clock = Clock::default();
        let options =
            Options { quiet: false, stderr: Box::new(clock.clone()), progress: ProgressStyle::Bar, ..Options::silent() };
        let mut parameters = Parameters::default();
        problem.input.keys.iter().for_each(|(key, value)| parameters.set(key, value));
        parameters.set("grid_layout", if layout == Layout::Unstructured { "unstructured" } else { "auto" });
        parameters.set("threads", &problem.threads.to_string());
        let mut session = Session::from_parameters((self.program)(), parameters, options).expect("good parameters");
        let records = session.record_outputs();
        (self.simulate)(&mut SerialRuntime::new(session)).expect("the program runs");
        let mut all = Vec::new();
        for record in records.take() {
            if let Record::Collection { values, .. } = record {
                all = if all.is_empty() { values } else { [all, values].concat() };
            }
        }
        let (first, last) = (clock.when(1, problem.steps), clock.when(problem.steps, problem.steps));
        Run { step: (last - first) / (problem.steps - 1) as f64, values: all }
    }
}

/// Notes when something is written.
#[derive(Clone, Default)]
struct Clock {
    shown: Arc<Mutex<Vec<(f64, String)>>>,
}

impl Clock {
    /// Time at which the end of a step was shown.
    fn when(&self, step: usize, steps: usize) -> f64 {
        let shown = self.shown.lock().expect("no thread failed");
        let wanted = format!(" {step}/{steps},");
        shown.iter().find(|(_, text)| text.contains(&wanted)).expect("the bar shows the first and the last step").0
    }
}

impl Write for Clock {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let now = now();
        self.shown.lock().expect("no thread failed").push((now, String::from_utf8_lossy(text).into_owned()));
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
