//! Events for programs: each is as the schema of the book says, in a useful order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use equelle_runtime::newton::{History, Iteration, Range, SolveOutcome, Times};
use equelle_runtime::report::event::Audit;
use equelle_runtime::report::{Event, MessageFormat, Progress, ProgressStyle};
use equelle_runtime::session::{Options, Session};
use equelle_runtime::solve_traffic::SolveTraffic;
use equelle_runtime::{Error, ErrorKind, KernelBytes, KernelInfo, simulator};
use serde_json::Value;

use crate::common::*;
use crate::output::Buffer;
use crate::schema;

const KERNEL: KernelInfo = KernelInfo {
    name: "compute_u",
    lines: &[3],
    set: Some(ALL_CELLS),
    bytes: KernelBytes { general: [0, 88, 116], cartesian: [0, 16, 16] },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// The events in a text; each line has one, and is as the schema says.
fn events(text: &str) -> Vec<Value> {
    let schema = schema::event_schema();
    let read = |line: &str| {
        let event: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        schema::validate(&schema, &event).unwrap_or_else(|error| panic!("{error}\n{line}"));
        event
    };
    text.lines().map(read).collect()
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}

fn json_options(stderr: &Buffer) -> Options {
    Options { format: MessageFormat::Json, stderr: Box::new(stderr.clone()), back_end: "test", ..Options::silent() }
}

/// Every kind of event, from one run with `--quiet`, which programs do not notice.
#[test]
fn events_are_as_the_schema_says() {
    let (stderr, dir) = (Buffer::default(), fresh_dir("events"));
    let started = Instant::now();
    let given = words(&["nx=4", "ny=2", "kk=1", "output_to_file=true", &format!("output_dir={}", dir.display())]);
    let session = Session::open_with(heat(), &given, Options { profile: true, ..json_options(&stderr) }).unwrap().in_mode("f32");
    let error = Error::new(ErrorKind::Simulation, "it blew up").at(2).hint("smaller steps");
    let result = simulator::recorded(session, |mut session| {
        let cells = session.domain(ALL_CELLS)?;
        session.message("a note");
        session.line(7);
        let mut state = session.loops().begin_over(&Arc::new(vec![0.5, 0.25]));
        while session.loops().next_step(&mut state).is_some() {
            let timer = session.time_kernel(&KERNEL, "rows");
            drop(timer);
            session.outputs().collection("u", &cells, &[1.0; 8])?;
        }
        session.outputs().wait()?;
        let times = Times { assembly: 1.0, set_up: 0.5, solve: 0.25 };
        let iteration = Iteration { norm: f64::NAN, linear_iterations: None, length: 1.0, times };
        let range = Range { unknown: "u".to_owned(), least: 0.0, greatest: f64::INFINITY };
        session.solves().ended(
            2,
            &History { iterations: vec![iteration], ranges: vec![range], ..History::default() },
            SolveOutcome::Failed,
        );
        let work = SolveTraffic { solves: 1, iterations: 5, seconds: 0.5, bytes: 1000 };
        (0..2).for_each(|_| session.linear_solve_ended(2, work));
        session.solves().step_failed(2, 0.5, 2, "why");
        session.solves().step_rescued(2, 0.5, 2);
        let balance = Audit { quantity: "u".to_owned(), step: 2, time: 0.75, content: 8.0, change: 0.5, boundary: 0.25, sources: 0.25 };
        session.event(&Event::Audit(balance));
        session.event(&Event::Checkpoint { step: 2, time: 0.75, file: "heat-00002.npz".to_owned() });
        session.finish();
        Err(error.clone())
    });
    let text = stderr.text() + &simulator::last_words(&heat().source, &result, MessageFormat::Json, started);
    let events = events(&text);
    let all = names(&events);
    // A thread writes files, so that their events come between others, but before the wait ends.
    let outputs: Vec<usize> = (0..all.len()).filter(|&index| all[index] == "output").collect();
    assert!(outputs.len() == 2 && outputs.iter().all(|&index| index < all.iter().position(|&name| name == "newton").unwrap()), "{all:?}");
    let others: Vec<&str> = all.iter().copied().filter(|&name| name != "output").collect();
    let loops = ["warning", "start", "note", "step", "progress", "step", "progress"];
    let after =
        ["newton", "step_failed", "step_rescued", "audit", "checkpoint", "note", "note", "summary", "note", "profile", "error", "end"];
    assert_eq!(others, [&loops[..], &after].concat());
    let mut kinds = names(&events);
    kinds.sort_unstable();
    kinds.dedup();
    let mut known = schema::events(&schema::event_schema());
    known.sort_unstable();
    assert_eq!(kinds, known, "every event of the schema");
    let of = |name: &str, number: usize| events.iter().filter(|event| event["event"] == name).nth(number).unwrap();
    assert_eq!((&of("start", 0)["mode"], &of("start", 0)["grid"]["cells"]), (&"f32".into(), &8.into()));
    let step = of("step", 1);
    assert_eq!((&step["step"], &step["steps_done"], &step["time"], &step["dt"]), (&2.into(), &2.into(), &0.75.into(), &0.25.into()));
    assert_eq!((&of("end", 0)["exit_code"], &of("end", 0)["error"]), (&3.into(), &"it blew up".into()));
    let profile = of("profile", 0);
    // 16 bytes for each of 8 cells, twice.
    assert_eq!((&profile["kernels"][0]["calls"], &profile["kernels"][0]["bytes"]), (&2.into(), &256.into()));
    assert_eq!((&profile["loops"][0]["line"], &profile["loops"][0]["rounds"]), (&7.into(), &2.into()));
    assert_eq!(profile["loops"][0]["bytes"], 256);
    let solves = &profile["linear_solves"][0];
    assert_eq!((&solves["line"], &solves["solves"], &solves["iterations"]), (&2.into(), &2.into(), &10.into()));
    assert_eq!((solves["seconds"].as_f64(), &solves["bytes"]), (Some(1.0), &2000.into()));
    assert!(profile["bandwidth"].as_f64().unwrap() > 0.0);
    // The record has the same description, files and end.
    let record: Value = serde_json::from_str(&std::fs::read_to_string(dir.join("heat.run.json")).unwrap()).unwrap();
    for (event, keys) in [
        ("start", &["program", "parameters", "grid", "back_end", "mode", "versions", "process", "started", "version"][..]),
        ("end", &["state", "exit_code", "error"]),
    ] {
        keys.iter().for_each(|key| assert_eq!(record[key], of(event, 0)[key], "{key}"));
    }
    for number in 0..2 {
        let mut output = of("output", number).clone();
        output.as_object_mut().unwrap().remove("event");
        assert_eq!(record["files"][number], output);
    }
}

/// The validator finds what is wrong.
#[test]
fn the_schema_refuses_other_events() {
    let schema = schema::event_schema();
    let refused = |text: &str| schema::validate(&schema, &serde_json::from_str(text).unwrap()).unwrap_err();
    assert_eq!(refused(r#"{"event":"steps"}"#), ": no alternative");
    let bad = refused(r#"{"event":"checkpoint","name":"a","step":-1,"time":null}"#);
    assert!(bad.contains("/step") && bad.contains("minimum"), "{bad}");
    assert!(refused(r#"{"event":"checkpoint","name":"a","step":1}"#).contains("required"));
    assert_eq!(refused(r#"{"event":"checkpoint","name":"a","step":1,"time":1,"more":1}"#), "/more is not in the schema");
}

/// The first and the last step always, and ten a second between.
#[test]
fn a_thousand_fast_steps_are_not_a_thousand_events() {
    let stderr = Buffer::default();
    let mut progress = Progress::new(ProgressStyle::Quiet, MessageFormat::Json, Box::new(stderr.clone()));
    progress.begin(Some(100_000));
    (0..100_000).for_each(|_| progress.step());
    progress.end();
    let events = events(&stderr.text());
    let steps: Vec<&Value> = events.iter().filter(|event| event["event"] == "step").collect();
    let limit = 2 + 10 * (progress.elapsed() + Duration::from_millis(99)).as_millis() as usize / 1000;
    assert!((2..=limit).contains(&steps.len()), "{} events", steps.len());
    assert_eq!((&steps[0]["step"], &steps[steps.len() - 1]["step"]), (&1.into(), &100_000.into()));
}

/// A reader that is gone.
struct Closed;

impl std::io::Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The run goes on, and its results are complete.
#[test]
fn a_closed_standard_error_ends_no_run() {
    for format in [MessageFormat::Human, MessageFormat::Json] {
        let options = Options { format, stderr: Box::new(Closed), quiet: false, progress: ProgressStyle::Bar, ..Options::silent() };
        let stdout = Buffer::default();
        let options = Options { stdout: Box::new(stdout.clone()), profile: true, ..options };
        let result = simulator::recorded(Session::open_with(heat(), &[], options).unwrap(), |mut session| {
            let mut state = session.loops().begin(2);
            while session.loops().next_step(&mut state).is_some() {
                session.outputs().scalar("u", 0.5)?;
            }
            session.warning("nobody reads this");
            session.finish();
            Ok(())
        });
        assert_eq!((result, stdout.text().as_str()), (Ok(()), "u = 0.5\nu = 0.5\n"));
    }
}
