//! The program that equellec wrote.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use std::{env, fs};

use backend_serial::runtime::SerialRuntime;
use equelle_runtime::Session;
use equelle_runtime::output::Record;
use equelle_runtime::params::Parameters;
use equelle_runtime::report::ProgressStyle;
use equelle_runtime::session::Options;

use super::Run;
use super::problem::{DT, HIGH, K, LOW, Problem, START};

/// Runs the whole program; its steps are timed by the progress bar, which is always drawn at the end of the first step and at the end of the last one.
pub fn run(unstructured: bool, problem: &Problem) -> Run {
    let clock = Clock::default();
    let options = Options {
        quiet: false,
        profile: false,
        stdout: Box::new(io::sink()),
        stderr: Box::new(clock.clone()),
        progress: ProgressStyle::Bar,
    };
    let folder = env::temp_dir().join(format!("equelle-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the folder for temporary files can be written");
    let parameters = parameters(&folder, unstructured, problem);
    let mut session = Session::from_parameters(&heat::PROGRAM, parameters, options).expect("good parameters");
    let records = session.record_outputs();
    heat::simulate(&mut SerialRuntime::new(session)).expect("the program runs");
    fs::remove_dir_all(&folder).expect("the folder can be removed");
    let u = match records.take().pop() {
        Some(Record::Collection { values, .. }) => values,
        other => panic!("no field was put out: {other:?}"),
    };
    let (first, last) = (clock.when(1, problem.steps), clock.when(problem.steps, problem.steps));
    Run { step: (last - first).as_secs_f64() / (problem.steps - 1) as f64, u }
}

fn parameters(folder: &Path, unstructured: bool, problem: &Problem) -> Parameters {
    let n = problem.n;
    let mut faces = String::new();
    let mut values = String::new();
    for row in 0..n * n {
        let _ = writeln!(faces, "{} {}", row * (n + 1), row * (n + 1) + n);
        let _ = writeln!(values, "{LOW} {HIGH}");
    }
    let mut parameters = Parameters::default();
    let mut file = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).expect("the folder for temporary files can be written");
        parameters.set(&format!("{name}_from_file"), "true");
        parameters.set(&format!("{name}_filename"), &path.to_string_lossy());
    };
    file("dirichlet_boundary", faces);
    file("dirichlet_val", values);
    file("timesteps", format!("{DT} ").repeat(problem.steps));
    let layout = if unstructured { "unstructured" } else { "auto" };
    for (key, value) in [("k", K.to_string()), ("u_initial", START.to_string()), ("grid_dim", "3".into()), ("grid_layout", layout.into())] {
        parameters.set(key, &value);
    }
    for key in ["nx", "ny", "nz"] {
        parameters.set(key, &n.to_string());
    }
    parameters
}

/// Notes when something is written.
#[derive(Clone, Default)]
struct Clock(Arc<Mutex<Vec<(Instant, String)>>>);

impl Clock {
    /// When the end of a step was shown.
    fn when(&self, step: usize, steps: usize) -> Instant {
        let shown = self.0.lock().expect("no thread failed");
        let wanted = format!(" {step}/{steps},");
        shown.iter().find(|(_, text)| text.contains(&wanted)).expect("the bar shows the first and the last step").0
    }
}

impl Write for Clock {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let now = Instant::now();
        self.0.lock().expect("no thread failed").push((now, String::from_utf8_lossy(text).into_owned()));
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
