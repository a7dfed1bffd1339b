//! Numbers that are not finite: what a session says of them, whichever way they go.

use equelle_runtime::grid::GeometryArray;
use equelle_runtime::output::Record;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::{Error, ErrorKind};

use crate::common::*;
use crate::output::Buffer;

/// 7 x 5 cells of 0.5 x 1, renumbered as if they came from a file.
fn renumbered(more: &[&str]) -> Session {
    let given = [&["nx=7", "ny=5", "dx=0.5", "grid_layout=unstructured", "renumber=yes"], more].concat();
    let mut session = Session::open_with(heat(), &words(&given), Options::silent()).unwrap();
    session.grid_domains().renumber();
    session
}

fn refused(result: Result<(), Error>, message: &str, line: u32) {
    let error = result.unwrap_err();
    assert_eq!((error.kind, error.message.as_str(), error.lines.as_slice()), (ErrorKind::Simulation, message, &[line][..]));
    assert!(error.hint.unwrap().contains("nonfinite=allow"));
}

/// Elements are found in the order of the file, whatever the numbering here, and named as there:
/// cell 17 is the fourth of the third row, cell 31 comes later.
#[test]
fn the_first_element_of_the_file() {
    let mut session = renumbered(&[]);
    let records = session.record_outputs();
    let cells = session.domain(ALL_CELLS).unwrap();
    let here = |of_file: usize| cells.in_file_order(&(0..35).collect::<Vec<usize>>())[of_file];
    assert!((0..35).any(|cell| here(cell) != cell), "the grid has a numbering of its own");
    let mut values = vec![1.0; 35];
    (values[here(31)], values[here(17)]) = (f64::NAN, f64::NEG_INFINITY);
    session.keep_geometry(&[GeometryArray::FaceAreas]);
    session.line(4);
    session.outputs().scalar("before", 1.0).unwrap();
    let at = "cell 17 at (1.75, 2.5) is -inf";
    refused(session.outputs().collection("u", &cells, &values), &format!("output `u` is not finite: {at}"), 4);
    refused(session.check_collection("u", &cells, &[&values]), &format!("`u` is not finite at the end of the run: {at}"), 4);
    let good = vec![1.0; 35];
    let vector = "output `v` is not finite: cell 17 at (1.75, 2.5) has -inf as component 1";
    refused(session.outputs().vectors("v", &cells, &[&good, &values]), vector, 4);
    // In single precision 1e39 is infinite.
    let single = [1e38_f32, 1e38 * 10.0].repeat(18);
    refused(
        session.outputs().collection("s", &cells, &single[..35]),
        &format!("output `s` is not finite: cell {} is inf", first_odd(&cells)),
        4,
    );
    assert_eq!(records.take(), [Record::Scalar { tag: "before".to_owned(), value: 1.0 }]);
}

/// The first cell of the file that has an odd number here, with its centroid.
fn first_odd(cells: &equelle_runtime::Domain) -> String {
    let order = cells.file_order().unwrap();
    let cell = order.iter().position(|here| here % 2 == 1).unwrap();
    format!("{cell} at ({}, {})", 0.25 + 0.5 * (cell % 7) as f64, 0.5 + (cell / 7) as f64)
}

/// Faces of a grid file whose centroids are no longer known: the message names none.
#[test]
fn geometry_that_was_given_up() {
    let grid = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
    let mut session = Session::open_with(heat(), &words(&[&format!("grid_filename={}", grid.display())]), Options::silent()).unwrap();
    let faces = session.domain(BOUNDARY_FACES).unwrap();
    let mut values = vec![0.0; faces.len()];
    values[1] = f64::NAN;
    let message = |session: &mut Session| session.outputs().collection("f", &faces, &values).unwrap_err().message;
    let before = message(&mut session);
    session.keep_geometry(&[]);
    let after = message(&mut session);
    let face = faces.element(1);
    assert!(before.starts_with(&format!("output `f` is not finite: face {face} at (")), "{before}");
    assert_eq!(after, format!("output `f` is not finite: face {face} is NaN"));
}

/// Steps are those of the outermost loop; what is known of earlier ones is told.
#[test]
fn steps() {
    let mut session = open(&[]).unwrap();
    session.line(7);
    let mut state = session.loops().begin(2100);
    let mut samples = Vec::new();
    while let Some(step) = session.loops().next_step(&mut state) {
        if step == 0 || step == 4 {
            session.outputs().scalar("a", 1.0).unwrap();
        }
        if step == 8 {
            refused(
                session.outputs().scalar("a", f64::NAN),
                "output `a` is not finite in step 9 of 2100: it is NaN; it was finite when it was written in step 5",
                7,
            );
            refused(
                session.outputs().vector("v", &[0.0, f64::INFINITY]),
                "output `v` is not finite in step 9 of 2100: it has inf as component 1",
                7,
            );
        }
        if session.samples_state(&state) {
            samples.push(step + 1);
            let state = session.check_numbers("u", &[f64::NAN]);
            let expected = match step + 1 {
                1024 => "`u` is not finite after step 1024 of 2100: it is NaN",
                _ => "`u` is not finite after step 2048 of 2100: it is NaN; it was finite after step 1024",
            };
            refused(state, expected, 7);
        }
    }
    assert_eq!(samples, [1024, 2048]);
    refused(
        session.check_numbers("u", &[f64::NAN]),
        "`u` is not finite at the end of the run: it is NaN; it was finite after step 2048",
        7,
    );
    // Another loop counts its own steps.
    let mut state = session.loops().begin(2);
    session.loops().next_step(&mut state);
    refused(session.outputs().scalar("a", f64::NAN), "output `a` is not finite in step 1 of 2: it is NaN", 7);
}

/// An attempt at a step fails at such an output, before it waits; a trial of a line search does not
/// put it out.
#[test]
fn attempts_and_trials() {
    let mut session = open(&[]).unwrap();
    let records = session.record_outputs();
    session.outputs().defer();
    session.outputs().scalar("a", 1.0).unwrap();
    assert!(session.outputs().scalar("a", f64::NAN).is_err());
    session.outputs().begin_trial();
    session.outputs().scalar("a", f64::NAN).unwrap();
    assert!(session.outputs().end_trial());
    let deferred = session.outputs().take_deferred();
    session.outputs().release(deferred).unwrap();
    assert_eq!(records.take(), [Record::Scalar { tag: "a".to_owned(), value: 1.0 }]);
}

/// Numbers that arrive on the thread that writes: the error has the step and the line of its
/// output, and nothing after it is written.
#[test]
fn files_that_are_written_later() {
    let dir = fresh_dir("finite-later");
    let mut session = renumbered(&["output_to_file=true", &format!("output_dir={}", dir.display())]);
    let cells = session.domain(ALL_CELLS).unwrap();
    let order = cells.file_order().unwrap().to_vec();
    let mut state = session.loops().begin(5);
    let mut told = None;
    while let Some(step) = session.loops().next_step(&mut state) {
        session.line(10 + step as u32);
        let mut values = vec![1.0; 35];
        if step == 2 {
            values[order[17] as usize] = f64::INFINITY;
        }
        told = told.or(session.outputs().later("u", &cells, move || Ok(vec![values])).err());
    }
    // Geometry is given back while files are on their way; messages still know cells.
    session.keep_geometry(&[]);
    let error = told.or(session.outputs().wait().err());
    let message = "output `u` is not finite in step 3 of 5: cell 17 at (1.75, 2.5) is inf; step 3 is the first where it is not";
    refused(error.map_or(Ok(()), Err), message, 12);
    session.outputs().wait().unwrap();
    let mut names: Vec<String> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.starts_with('u'));
    names.sort();
    assert_eq!(names, ["u-00000.output", "u-00001.output"]);
}

#[test]
fn the_parameter() {
    let message = open(&["nonfinite=no"]).err().unwrap();
    assert_eq!((message.kind, message.message.as_str()), (ErrorKind::Data, "parameter `nonfinite` must be `error` or `allow`, not `no`"));
    let stdout = Buffer::default();
    let options = Options { stdout: Box::new(stdout.clone()), ..Options::silent() };
    let mut session = Session::open_with(heat(), &words(&["nonfinite=allow"]), options).unwrap();
    session.outputs().scalar("a", f64::NAN).unwrap();
    session.outputs().vector("v", &[f64::INFINITY, 1.0]).unwrap();
    session.check_numbers("u", &[f64::NAN]).unwrap();
    let mut state = session.loops().begin(2100);
    while session.loops().next_step(&mut state).is_some() {
        assert!(!session.samples_state(&state));
    }
    assert_eq!(stdout.text(), "a = nan\nv = inf 1\n");
    assert!(session.unused_parameters().is_empty());
}
