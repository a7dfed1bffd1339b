//! Inputs, outputs and whole runs.

use std::sync::atomic::{AtomicU32, Ordering};

use backend_serial::runtime::{SerialRuntime, run};
use equelle_runtime::domain::Domain;
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::operations::*;
use equelle_runtime::output::Record;
use equelle_runtime::session::Options;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, BOUNDARY_FACES, failure, line, session};

/// A session with parameters, on a grid of 4 x 3 unit cells.
fn with_parameters(parameters: &[(&str, &str)]) -> Result<Session, Error> {
    let mut all = Parameters::default();
    for (key, value) in parameters {
        all.set(key, value);
    }
    let grid = Grid::cartesian(Cartesian::plane([4, 3], [1.0, 1.0]))?;
    Session::on_grid(Program::named("test"), all, grid, Options::silent())
}

/// A file of its own for each call, removed when dropped.
struct DataFile(std::path::PathBuf);

impl DataFile {
    fn new(text: &str) -> std::io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("equelle-serial-{}-{}.txt", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text)?;
        Ok(DataFile(path))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

impl Drop for DataFile {
    fn drop(&mut self) {
        // A left-over file in the temporary folder harms nobody.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn scalars_come_from_parameters_or_their_default() -> Result<(), Error> {
    let mut rt = SerialRuntime::new(with_parameters(&[("k", "0.25")])?);
    assert_eq!(rt.input_scalar("k", &0.3)?, 0.25);
    assert_eq!(rt.input_scalar("c", &0.3)?, 0.3);
    Ok(())
}

#[test]
fn inputs_from_files_and_uniform_ones() -> Result<(), Box<dyn std::error::Error>> {
    let (faces, values, times) = (DataFile::new("0 4\n")?, DataFile::new("1000\n0")?, DataFile::new("0.5 0.25")?);
    let session = with_parameters(&[
        ("dirichlet_filename", faces.path()),
        ("value_from_file", "true"),
        ("value_filename", values.path()),
        ("timesteps_filename", times.path()),
        ("u", "500"),
    ]);
    let mut rt = SerialRuntime::new(session?);
    let boundary = rt.domain(BOUNDARY_FACES)?;
    let dirichlet = rt.input_domain("dirichlet", &boundary)?;
    assert_eq!(rt.domain_elements(&dirichlet)?, [0, 4]);
    let value = rt.input_collection("value", &dirichlet)?;
    assert_eq!(rt.values(&value)?, [1000.0, 0.0]);
    let timesteps = rt.input_sequence("timesteps")?;
    assert_eq!(*timesteps, [0.5, 0.25]);
    let cells = rt.domain(ALL_CELLS)?;
    let u = rt.input_collection("u", &cells)?;
    assert_eq!(rt.values(&u)?, [500.0; 12]);
    Ok(())
}

#[test]
fn bad_input_names_the_line_of_the_program() -> Result<(), Box<dyn std::error::Error>> {
    let short = DataFile::new("1 2 3")?;
    let mut rt = SerialRuntime::new(with_parameters(&[("u_from_file", "true"), ("u_filename", short.path())])?);
    let cells = rt.domain(ALL_CELLS)?;
    rt.line(7);
    let wrong_count = failure(rt.input_collection("u", &cells));
    rt.line(8);
    let missing = failure(rt.input_collection("v", &cells));
    assert_eq!((wrong_count.kind, wrong_count.lines.as_slice()), (ErrorKind::Data, &[7][..]));
    assert_eq!((missing.kind, missing.lines.as_slice()), (ErrorKind::Data, &[8][..]));
    Ok(())
}

#[test]
fn outputs_in_order_and_per_axis_values_spread() -> Result<(), Error> {
    let mut rt = line(3, 1.0);
    let records = rt.session_mut().record_outputs();
    let cells = rt.domain(ALL_CELLS)?;
    let u = rt.scalar_collection(&cells, vec![1.0, 2.0, 3.0])?;
    let v = rt.per_axis_collection(&cells, [4.0, 0.0, 0.0]);
    rt.output("u", &u)?;
    rt.output("maximum of u", &3.0)?;
    rt.output("v", &v)?;
    rt.finish()?;
    assert_eq!(
        records.take(),
        [
            Record::Collection { tag: "u".into(), values: vec![1.0, 2.0, 3.0] },
            Record::Scalar { tag: "maximum of u".into(), value: 3.0 },
            Record::Collection { tag: "v".into(), values: vec![4.0; 3] },
        ]
    );
    Ok(())
}

#[test]
fn run_locates_what_the_program_did_not() -> Result<(), Error> {
    let grid = Grid::cartesian(Cartesian::line(2, 1.0))?;
    let error = failure(run(session(grid), |rt| {
        rt.line(14);
        Err(Error::new(ErrorKind::Simulation, "of the program's own"))
    }));
    assert_eq!(error.lines, [14]);
    Ok(())
}

#[test]
fn run_gives_the_program_the_runtime() -> Result<(), Error> {
    let grid = Grid::cartesian(Cartesian::line(2, 1.0))?;
    let mut session = session(grid);
    let records = session.record_outputs();
    run(session, |rt| {
        let cells = rt.domain(ALL_CELLS)?;
        let cells = rt.entities(&cells)?;
        let volumes = rt.measure(&cells)?;
        rt.output("volumes", &volumes)?;
        rt.finish()
    })?;
    assert_eq!(records.take(), [Record::Collection { tag: "volumes".into(), values: vec![1.0, 1.0] }]);
    Ok(())
}

#[test]
fn whether_cartesian_forms_are_used() -> Result<(), Error> {
    let grid = || Grid::cartesian(Cartesian::line(2, 1.0));
    assert!(SerialRuntime::new(session(grid()?)).uses_cartesian_forms());
    assert!(!SerialRuntime::new(session(grid()?.as_unstructured())).uses_cartesian_forms());
    Ok(())
}

#[test]
fn an_on_empty_error_of_a_kernel_lists_the_lines_of_the_kernel() -> Result<(), Error> {
    let kernel =
        KernelInfo { name: "compute_u", lines: &[31, 43], set: None, bytes: KernelBytes::NONE, takes_joined_sides: false, halo_layers: 0 };
    let mut rt = line(4, 1.0);
    let boundary = rt.domain(BOUNDARY_FACES)?;
    rt.line(43);
    let error = rt.on_empty_in_kernel(&kernel, &boundary, 1);
    // The line of the statement that asks first, then what the kernel evaluates for it.
    assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Simulation, &[43, 31][..]));
    assert!(error.message.ends_with("face 4"), "{}", error.message);
    let some = Domain::subset("some", &boundary, vec![4])?;
    assert!(rt.on_empty_in_kernel(&kernel, &some, 0).message.ends_with("face 4"));
    Ok(())
}
