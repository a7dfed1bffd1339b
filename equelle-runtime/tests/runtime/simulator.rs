//! Sessions, progress, and the command line of a simulator.

use std::time::Duration;

use equelle_runtime::grid::{Geometry, Grid, Topology};
use equelle_runtime::interrupt::{Interrupt, Signal};
use equelle_runtime::newton::{History, Iteration, Range, SolveOutcome, Times};
use equelle_runtime::report::{MessageFormat, Progress, ProgressStyle, bytes, peak_memory, seconds};
use equelle_runtime::session::placement::ComputeDevice;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::simulator::{help, render_error, run_words};
use equelle_runtime::{Backend, Error, ErrorKind, Parameters, Program};

use crate::common::*;
use crate::output::Buffer;

fn backend(run: fn(Session) -> Result<(), Error>) -> [Backend; 1] {
    [Backend { name: "serial", run }]
}

/// The exit code as text: `ExitCode` cannot be compared.
fn exit(backends: &[Backend], given: &[&str]) -> String {
    format!("{:?}", run_words(heat(), backends, &words(given)))
}

fn code(n: u8) -> String {
    format!("{:?}", std::process::ExitCode::from(n))
}

#[test]
fn exit_codes() {
    assert_eq!(exit(&backend(|_| Ok(())), &["-q"]), code(0));
    assert_eq!(exit(&backend(|_| Ok(())), &["--help"]), code(0));
    assert_eq!(exit(&backend(|_| Ok(())), &["--version"]), code(0));
    assert_eq!(exit(&backend(|_| Ok(())), &["--bakcend", "serial"]), code(2));
    assert_eq!(exit(&backend(|_| Ok(())), &["--backend", "cuda"]), code(2));
    assert_eq!(exit(&backend(|_| Ok(())), &["--backend"]), code(2));
    assert_eq!(exit(&backend(|_| Ok(())), &["word"]), code(2));
    assert_eq!(exit(&backend(|_| Ok(())), &["nx=ten"]), code(4));
    assert_eq!(exit(&backend(|_| Ok(())), &["no-such-file.param"]), code(5));
    assert_eq!(exit(&backend(|_| Ok(())), &["grid_filename=no-such-file"]), code(5));
    assert_eq!(exit(&backend(|_| Err(Error::new(ErrorKind::Simulation, "not finite"))), &["-q", "--backend=serial"]), code(3));
    assert_eq!(exit(&backend(|_| Err(Error::new(ErrorKind::Backend, "no device"))), &["-q", "nx=3"]), code(6));
}

#[test]
fn options_reach_the_session() {
    let run = |session: Session| {
        assert!(session.profiler().is_some());
        assert_eq!(session.grid().n_cells(), 12);
        Ok(())
    };
    assert_eq!(exit(&backend(run), &["--profile", "-q", "nx=4", "--", "ny=3"]), code(0));
}

#[test]
fn errors_as_people_see_them() {
    let mut error = Error::new(ErrorKind::Data, "missing parameter `u`").at(2).hint("give u=NUMBER");
    error.lines.push(1);
    let expected = "error: missing parameter `u`\n --> heat.equelle:2: u = InputCollectionOfScalar(\"u\", AllCells())\n \
                    --> heat.equelle:1: k = InputScalarWithDefault(\"k\", 0.3)\nhint: give u=NUMBER\n";
    assert_eq!(render_error(&heat().source, &error, MessageFormat::Human), expected);
}

#[test]
fn help_lists_the_inputs() {
    let text = help(&heat(), &backend(|_| Ok(())));
    for part in [
        "Usage: heat [OPTIONS] [FILE.param]... [key=value]...",
        "k=NUMBER\n      scalar (default 0.3)",
        "u_initial=NUMBER, or u_initial_filename=FILE, or u_initial_property=ARRAY, or u_initial_values=SET:NUMBER,..., or u_initial_expression=EXPRESSION\n      one value per element of AllCells(), in Kelvin",
        "dir_set=SETS, or dir_filename=FILE\n      elements of BoundaryFaces()",
        "timesteps=NUMBERS, or timesteps_filename=FILE\n      sequence of numbers",
        "one of: serial",
        "grid_dim=1|2|3",
        "grid_geometry=check|trust",
        "grid_unit=metres|feet|cm",
        "nnc=refuse|ignore",
        "output_dir=DIR",
    ] {
        assert!(text.contains(part), "{part}\nin\n{text}");
    }
}

#[test]
fn grids_from_parameters() {
    let size = |given: &[&str]| {
        let session = open(given).expect("a good grid");
        (session.grid().dim(), session.grid().n_cells(), session.grid().n_faces(), session.grid().cartesian_shape().is_some())
    };
    assert_eq!(size(&[]), (2, 6, 19, true));
    assert_eq!(size(&["grid_dim=1", "nx=4"]), (1, 4, 5, true));
    assert_eq!(size(&["nx=4", "ny=3", "nz=5"]), (3, 60, 227, true));
    assert_eq!(size(&["nx=4", "ny=3", "lz=2"]), (3, 12, 55, true));
    assert_eq!(size(&["grid_dim=2", "nx=4", "ny=3", "nz=5"]), (2, 12, 31, true));
    assert_eq!(size(&["grid_dim=3", "nx=3", "ny=2", "nz=2"]), (3, 12, 52, true));
    assert_eq!(size(&["nx=4", "ny=3", "grid_layout=unstructured"]), (2, 12, 31, false));
    let triangles = concat!("grid_filename=", env!("CARGO_MANIFEST_DIR"), "/../grids/triangles-6x5.grid");
    assert_eq!(size(&[triangles]), (2, 60, 101, false));

    let refused = |given: &[&str], message: &str| {
        let error = open(given).err().expect(message);
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Data, message));
    };
    refused(&["grid_dim=4"], "parameter `grid_dim` must be 1, 2 or 3, not 4");
    refused(&["nx=0"], "parameter `nx=0` (command line) must be at least 1");
    refused(&["dx=0"], "parameter `dx` must be positive, not 0");
    refused(&["dx=-1"], "parameter `dx` must be positive, not -1");
    refused(&["grid_layout=fancy"], "parameter `grid_layout` must be `auto` or `unstructured`, not `fancy`");
    refused(&["nx=100000", "ny=100000"], "the grid has too many cells: at most 4294967294 fit in 32-bit indices");
}

#[test]
fn programs_that_need_more_dimensions() {
    let flat = Program { min_dim: 2, ..heat() };
    let error = Session::open_with(flat, &words(&["grid_dim=1"]), Options::silent()).err().expect("too few dimensions");
    assert_eq!(error.message, "the program needs a grid of at least 2 dimensions, this one has 1");
}

#[test]
fn grids_without_cells() {
    let grid = Grid::unstructured(2, Topology { cell_face_pos: vec![0], ..Topology::default() }, Geometry::default()).unwrap();
    let error = Session::on_grid(heat(), Parameters::default(), grid, Options::silent()).err().expect("no cells");
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Data, "the grid has no cells"));
}

fn talking(given: &[&str], progress: ProgressStyle) -> (Session, Buffer) {
    let stderr = Buffer::default();
    let options = Options { quiet: false, progress, stderr: Box::new(stderr.clone()), ..Options::silent() };
    (Session::open_with(heat(), &words(given), options).expect("the session opens"), stderr)
}

/// When the session opens, and not again at the end.
#[test]
fn unused_parameters_are_warned_of_before_the_run() {
    let (mut session, stderr) = talking(
        &[
            "kk=1",
            "grid_dim=2",
            "nz=7",
            "verbose=2",
            "u_initial=3",
            "timesteps_filename=t.txt",
            "timesteps_from_file=true",
            "k=2",
            "grid_geometry=trust",
        ],
        ProgressStyle::Lines,
    );
    let expected = "warning: parameter `kk` (command line) is not used: this program has no input of that name; did you mean `k`?\n\
                    warning: parameter `nz` (command line) has no effect: the grid has 2 dimensions\n\
                    warning: parameter `grid_geometry` (command line) has no effect: grid_filename is not given\n";
    assert_eq!(stderr.text(), expected);
    session.finish();
    session.finish();
    let text = stderr.text();
    let end = text.strip_prefix(expected).expect("warnings come first");
    assert!(end.starts_with("done in ") && end.contains(", 6 cells") && end.lines().count() == 1, "{text}");
}

/// They are told before the grid is made, which may take long or fail.
#[test]
fn a_bad_grid_does_not_hide_unknown_parameters() {
    let stderr = Buffer::default();
    let options = Options { stderr: Box::new(stderr.clone()), ..Options::silent() };
    let error = Session::open_with(heat(), &words(&["grid_filname=g", "nx=0"]), options).err().expect("no cells");
    assert_eq!(error.message, "parameter `nx=0` (command line) must be at least 1");
    assert!(stderr.text().contains("`grid_filname` (command line) is not used") && stderr.text().contains("did you mean `grid_filename`?"));
}

/// Two sources for one input are refused before anything is read, with the line that reads it.
#[test]
fn two_sources_are_refused_before_the_run() {
    let refused = |given: &[&str], message: &str| {
        let error = open(given).err().expect(message);
        assert_eq!((error.kind, error.message.as_str(), &error.lines[..]), (ErrorKind::Data, message, &[2][..]));
    };
    refused(
        &["u_initial=3", "u_initial_filename=u.txt", "nx=0"],
        "input `u_initial` has two sources: `u_initial=3` (command line) and `u_initial_filename=u.txt` (command line)",
    );
    refused(
        &["u_initial_from_file=true", "nx=0"],
        "missing parameter `u_initial_filename`: `u_initial_from_file=true` (command line) asks for a file",
    );
}

#[test]
fn loops_drive_progress_and_the_summary() {
    let (mut session, stderr) = talking(&[], ProgressStyle::Lines);
    let mut outer = session.loops().begin(3);
    let mut seen = Vec::new();
    while let Some(step) = session.loops().next_step(&mut outer) {
        let mut inner = session.loops().begin(2);
        while let Some(sub) = session.loops().next_step(&mut inner) {
            seen.push((step, sub));
        }
    }
    assert_eq!(session.loops().next_step(&mut outer), None, "a loop that is over stays over");
    assert_eq!(seen, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]);
    session.finish();
    let text = stderr.text();
    // At once and at the end; the step between falls within the same second.
    assert!(text.contains("step 1/3, ") && text.contains("step 3/3, ") && text.contains(": 3 steps ("), "{text}");
    assert!(text.lines().count() <= 4, "{text}");
}

/// Outside loops there is no step to name; what is asked last is told.
#[test]
fn runs_that_are_asked_to_end() {
    let interrupt = Interrupt::default();
    let mut session =
        Session::open_with(heat(), &[], Options { interrupt: interrupt.clone(), ..Options::silent() }).expect("the session opens");
    session.check_interrupt().unwrap();
    interrupt.ask(Signal::Interrupt);
    let error = session.check_interrupt().unwrap_err();
    assert_eq!(error.message, "interrupted by SIGINT; the outputs so far are complete");
    assert_eq!(error.kind.exit_code(), 130);
    interrupt.ask(Signal::Terminate);
    let mut steps = session.loops().begin(3);
    session.loops().next_step(&mut steps);
    session.loops().next_step(&mut steps);
    let error = session.check_interrupt().unwrap_err();
    assert_eq!(error.message, "interrupted in step 2 of 3 by SIGTERM; the outputs so far are complete");
    assert_eq!(error.kind.exit_code(), 143);
}

#[test]
fn a_thousand_fast_steps_are_not_a_thousand_lines() {
    let stderr = Buffer::default();
    let mut progress = Progress::new(ProgressStyle::Lines, MessageFormat::Human, Box::new(stderr.clone()));
    progress.begin(Some(100_000));
    (0..100_000).for_each(|_| progress.step());
    progress.end();
    let lines = stderr.text().lines().count();
    let limit = 2 + progress.elapsed().as_secs() as usize;
    assert!((2..=limit).contains(&lines), "{lines} lines");
}

/// Start, reading and writing count 0.4 s each, the two rounds themselves microseconds.
#[test]
fn rounds_have_their_own_time() {
    let wait = || std::thread::sleep(Duration::from_millis(400));
    let (mut session, stderr) = talking(&[], ProgressStyle::Lines);
    wait();
    let mut progress = Progress::new(ProgressStyle::Quiet, MessageFormat::Human, Box::new(stderr.clone()));
    progress.begin(Some(2));
    for _ in 0..2 {
        let pause = progress.rounds().pause();
        let nested = progress.rounds().pause();
        wait();
        drop(nested);
        drop(pause);
        progress.step();
    }
    progress.end();
    let (rounds, time) = progress.rounds().in_this_run();
    assert!(rounds == 2 && time < Duration::from_millis(300), "{time:?}");
    // Rounds of an earlier run are steps, but none of this one's.
    progress.begin(Some(5));
    progress.skip(3, 5);
    progress.step();
    progress.end();
    assert_eq!((progress.rounds().steps, progress.rounds().in_this_run().0), (6, 1));
    // The summary divides that time, not that of the run.
    let mut state = session.loops().begin(2);
    while session.loops().next_step(&mut state).is_some() {}
    session.finish();
    let text = stderr.text();
    let each = text.split_once("2 steps (").and_then(|(_, rest)| rest.split_once(" each)")).expect("a summary").0;
    let (number, unit) = each.split_once(' ').expect("a time with its unit");
    let number: f64 = number.parse().expect("a number");
    assert!(unit == "us" || unit == "ms" && number < 150.0, "a half of the time of the run is 0.8 s: {text}");
}

#[test]
fn the_bar_is_closed_before_other_lines() {
    let (mut session, stderr) = talking(&[], ProgressStyle::Bar);
    let mut state = session.loops().begin(2);
    session.loops().next_step(&mut state);
    session.loops().next_step(&mut state);
    session.warning("careful");
    let text = stderr.text();
    assert!(text.starts_with("\r[###############               ] 1/2, "), "{text}");
    assert!(text.ends_with(" left\x1b[K\nwarning: careful\n"), "{text}");
}

#[test]
fn errors_of_a_session_name_the_line() {
    let mut session = open(&[]).unwrap();
    session.line(2);
    let cells = session.domain(ALL_CELLS).unwrap();
    assert_eq!(session.inputs().collection("u_initial", &cells).unwrap_err().lines, [2]);
}

#[test]
fn sizes_and_durations_for_people() {
    assert_eq!([0.000_002, 0.25, 3.25, 125.0, 7300.0].map(seconds), ["2 us", "250.0 ms", "3.2 s", "2 min 05 s", "2 h 01 min"]);
    assert_eq!([1500, 23_400_000, 5_120_000_000].map(bytes), ["2 kB", "23.4 MB", "5.12 GB"]);
}

#[test]
#[cfg(target_os = "linux")]
fn peak_memory_is_plausible() {
    let before = peak_memory().expect("Linux tells");
    // 64 MiB, written so that they are really occupied.
    let block = vec![1u8; 64 << 20];
    assert_eq!(std::hint::black_box(&block).iter().map(|&b| u64::from(b)).sum::<u64>(), 64 << 20);
    let after = peak_memory().expect("Linux tells");
    assert!(after >= 64 << 20 && after >= before && after < 1 << 40, "{before} {after}");
}

fn range(unknown: &str, least: f64, greatest: f64) -> Range {
    Range { unknown: unknown.to_owned(), least, greatest }
}

/// A solve of two iterations: 2, 1 and 0 for its norms. Its result is kept.
fn two_iterations() -> History {
    let iteration = |norm, linear_iterations, assembly| Iteration {
        norm,
        linear_iterations,
        length: 1.0,
        times: Times { assembly, set_up: 0.25, solve: 0.5 },
    };
    History {
        iterations: vec![iteration(2.0, None, 1.0), iteration(1.0, Some(7), 2.0), iteration(0.0, Some(5), 3.0)],
        ranges: vec![range("p", 2e6, 3e6), range("s", 0.25, 0.5)],
        is_kept: true,
        ..History::default()
    }
}

/// Each solve of a step as a table with `--verbose`, and all of them in the summary.
#[test]
fn solves_are_told() {
    let stderr = Buffer::default();
    let options =
        Options { quiet: false, verbose: true, progress: ProgressStyle::Lines, stderr: Box::new(stderr.clone()), ..Options::silent() };
    let mut session = Session::open_with(heat(), &words(&["k=1"]), options).unwrap();
    let mut state = session.loops().begin(3);
    session.loops().next_step(&mut state);
    session.loops().next_step(&mut state);
    session.solves().ended(2, &two_iterations(), SolveOutcome::Converged);
    // The later one evaluates faster: 0.5 s in all.
    let mut later = two_iterations();
    later.iterations.iter_mut().zip([0.25, 0.125, 0.125]).for_each(|(iteration, assembly)| iteration.times.assembly = assembly);
    later.ranges = vec![range("p", 1e6, 2.5e6), range("s", -1.0 / 3.0, 0.375)];
    session.solves().ended(2, &later, SolveOutcome::NotConverged);
    // A third one, whose result is dropped, counts for the times but not for the ranges.
    let dropped = History { iterations: Vec::new(), ranges: vec![range("s", -7.0, 8.0)], is_kept: false, ..History::default() };
    session.solves().ended(3, &dropped, SolveOutcome::Failed);
    session.solves().step_failed(1, 10.0, 2, "reason\nmore");
    session.solves().step_rescued(1, 10.0, 2);
    session.finish();
    let text = stderr.text();
    let table = "line 2, step 2 of 3: converged in 2 iterations, 12 linear; assembly 6.0 s, set-up 750.0 ms, linear solves 1.5 s\n\
                 iteration  residual norm  linear iterations    assembly      set-up       solve\n        \
                 0     2.000000e0                          1.0 s\n        \
                 1     1.000000e0  7                       2.0 s    250.0 ms    500.0 ms\n        \
                 2     0.000000e0  5                       3.0 s    250.0 ms    500.0 ms\n\
                 unknowns: p from 2e+06 to 3e+06, s from 0.25 to 0.5\n";
    assert!(text.contains(table), "{text}");
    assert!(text.contains("line 2, step 2 of 3: did not converge in 2 iterations"), "{text}");
    assert!(text.contains("warning: line 1, step 2 of 3: the step of 10 failed, it is tried again in 2 parts: reason\n"), "{text}");
    assert!(text.contains("line 1, step 2 of 3: the step of 10 was taken in 2 parts\n"), "{text}");
    let summary = "Newton's method at line 2: 2 solves (1 of them without convergence), 4 iterations, 24 linear; assembly 6.5 s, set-up 1.5 s, linear solves 3.0 s; \
                   after the first solve: assembly 500.0 ms, set-up 750.0 ms, linear solves 1.5 s\n\
                   unknowns at line 2: p from 1e+06 to 3e+06, s from -0.333333 to 0.5\n\
                   Newton's method at line 3: 1 solve (1 of them without convergence), 0 iterations, 0 linear; assembly 0 us, set-up 0 us, linear solves 0 us\n\
                   1 step failed as a whole and was taken in 2 parts in all\n";
    assert!(text.contains(summary), "{text}");
}

/// A grid of six cells on a GPU; a run that lets nobody know where it computes gets no hint.
#[test]
fn small_grids_on_a_gpu_get_a_hint() {
    for (place, hints) in [(Some(ComputeDevice::Gpu), 1), (Some(ComputeDevice::Cores), 0), (None, 0)] {
        let stderr = Buffer::default();
        let options = Options { quiet: false, progress: ProgressStyle::Lines, stderr: Box::new(stderr.clone()), ..Options::silent() };
        let mut session = Session::open_with(heat(), &words(&["k=1"]), options).unwrap();
        if let Some(place) = place {
            session.computes_on(place);
        }
        session.finish();
        let text = stderr.text();
        assert_eq!(text.matches("hint: a grid of 6 cells is small for a GPU").count(), hints, "{place:?}: {text}");
    }
}

/// The same for programs: one JSON object a line.
#[test]
fn events_are_json() {
    let stderr = Buffer::default();
    let options = Options {
        quiet: false,
        format: MessageFormat::Json,
        progress: ProgressStyle::Bar,
        stderr: Box::new(stderr.clone()),
        ..Options::silent()
    };
    let mut session = Session::open_with(heat(), &words(&["k=1"]), options).unwrap();
    let mut state = session.loops().begin(1);
    session.loops().next_step(&mut state);
    let mut history = two_iterations();
    history.iterations[2].norm = f64::NAN;
    history.ranges[1].least = f64::NAN;
    session.solves().ended(2, &history, SolveOutcome::Failed);
    session.solves().step_failed(1, 10.0, 2, "a \"reason\"");
    session.solves().step_rescued(1, 10.0, 2);
    session.loops().next_step(&mut state);
    session.warning("odd");
    session.finish();
    let text = stderr.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[1..4],
        [
            "{\"event\":\"newton\",\"line\":2,\"step\":1,\"outcome\":\"failed\",\"iterations\":[\
             {\"norm\":2,\"linear_iterations\":null,\"length\":1,\"assembly\":1,\"set_up\":0.25,\"solve\":0.5},\
             {\"norm\":1,\"linear_iterations\":7,\"length\":1,\"assembly\":2,\"set_up\":0.25,\"solve\":0.5},\
             {\"norm\":null,\"linear_iterations\":5,\"length\":1,\"assembly\":3,\"set_up\":0.25,\"solve\":0.5}],\
             \"unknowns\":[{\"name\":\"p\",\"least\":2000000,\"greatest\":3000000},{\"name\":\"s\",\"least\":null,\"greatest\":0.5}]}",
            "{\"event\":\"step_failed\",\"line\":1,\"step\":1,\"length\":10,\"parts\":2,\"message\":\"a \\\"reason\\\"\"}",
            "{\"event\":\"step_rescued\",\"line\":1,\"step\":1,\"length\":10,\"parts\":2}",
        ]
    );
    assert!(lines[0].starts_with("{\"event\":\"start\",\"version\":1,\"program\":{\"name\":\"heat\","), "{text}");
    assert!(lines[0].contains("\"parameters\":{\"k\":{\"value\":\"1\",\"origin\":\"command line\"}}"), "{text}");
    let step = "{\"event\":\"step\",\"step\":1,\"steps\":1,\"steps_done\":1,\"time\":null,\"dt\":null,\"elapsed\":";
    assert!(lines[4].starts_with(step), "{text}");
    assert!(lines[5].starts_with("{\"event\":\"progress\",\"step\":1,\"steps\":1,\"elapsed\":"), "{text}");
    assert_eq!(lines[6], "{\"event\":\"warning\",\"severity\":\"warning\",\"message\":\"odd\"}");
    let solves = "\"solves\":[{\"line\":2,\"solves\":1,\"not_converged\":1,\"without_iterations\":0,\"iterations\":2,\"linear_iterations\":12,\"assembly\":6,\"set_up\":0.75,\"solve\":1.5,\
                  \"after_first\":{\"assembly\":0,\"set_up\":0,\"solve\":0},\
                  \"unknowns\":[{\"name\":\"p\",\"least\":2000000,\"greatest\":3000000},{\"name\":\"s\",\"least\":null,\"greatest\":0.5}]}]";
    assert!(text.contains(solves) && text.contains("\"steps_in_parts\":1,\"parts\":2}"), "{text}");
    assert!(lines.iter().all(|line| line.starts_with('{') && line.ends_with('}')), "{text}");
    let error = Error::new(ErrorKind::Data, "no").at(3);
    assert_eq!(
        render_error(&heat().source, &error, MessageFormat::Json),
        "{\"event\":\"error\",\"severity\":\"error\",\"message\":\"no\",\"lines\":[3],\"hint\":null}\n"
    );
}
