//! Files that runs leave in a folder, and how runs keep out of each other's way.

use std::path::Path;

use equelle_runtime::interrupt::Signal;
use equelle_runtime::io::Sink;
use equelle_runtime::report::ProgressStyle;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::{EntityKind, Error, ErrorKind, OutputInfo, OutputKind, Program, simulator};

use crate::common::*;
use crate::output::Buffer;

/// Puts out the same as [`heat`], `v`, and a tag of its own.
fn flow() -> Program {
    Program { outputs: vec![output("p"), output("v")], ..Program::named("flow") }
}

/// Puts out what no other does.
fn sound() -> Program {
    Program { outputs: vec![output("p")], ..Program::named("sound") }
}

fn output(tag: &str) -> OutputInfo {
    OutputInfo { tag: tag.into(), kind: OutputKind::Numbers(EntityKind::Cell), unit: None }
}

fn session_of(program: Program, dir: &Path, more: &[&str]) -> Result<Session, Error> {
    let mut all = words(&["nx=2", "ny=1", "output_to_file=true", &format!("output_dir={}", dir.display())]);
    all.extend(words(more));
    Session::open_with(program, &all, Options { back_end: "test", ..Options::silent() })
}

/// Runs that many steps, with `u` before and after each of them, and perhaps a failure at the end.
fn steps(dir: &Path, count: usize, end: Result<(), Error>) -> Result<(), Error> {
    simulator::recorded(session_of(heat(), dir, &[])?, |mut session| {
        let cells = session.domain(ALL_CELLS)?;
        session.outputs().collection("u", &cells, &[0.0, 0.5])?;
        let sequence = std::sync::Arc::new(vec![0.25; count]);
        let mut state = session.loops().begin_over(&sequence);
        while let Some(step) = session.loops().next_step(&mut state) {
            session.outputs().collection("u", &cells, &[step as f64, 0.5])?;
        }
        end
    })
}

fn record(dir: &Path) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(dir.join("heat.run.json")).expect("a record")).expect("JSON")
}

fn outputs_in(dir: &Path) -> usize {
    names_in(dir).iter().filter(|name| name.ends_with(".output")).count()
}

#[test]
fn a_record_says_what_was_run_and_put_out() {
    let dir = fresh_dir("record");
    steps(&dir, 2, Ok(())).unwrap();
    let record = record(&dir);
    assert_eq!((&record["state"], &record["exit_code"], &record["back_end"]), (&"done".into(), &0.into(), &"test".into()));
    assert_eq!((&record["program"]["name"], &record["grid"]["cells"]), (&"heat".into(), &2.into()));
    assert_eq!((&record["parameters"]["nx"]["value"], &record["parameters"]["nx"]["origin"]), (&"2".into(), &"command line".into()));
    assert_eq!(record["process"]["id"], std::process::id());
    assert!(record["started"].as_str() <= record["ended"].as_str(), "{record}");
    let file = &record["files"][2];
    assert_eq!((&file["name"], &file["tag"], &file["step"]), (&"u-00002.output".into(), &"u".into(), &2.into()));
    assert_eq!((&file["time"], &file["size"]), (&0.5.into(), &6.into()));
    // FNV-1a of "1\n0.5\n", by the definition.
    let hash = b"1\n0.5\n".iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    assert_eq!(file["hash"], format!("{hash:016x}"));
    assert_eq!((&record["files"][0]["step"], &record["files"][0]["time"]), (&0.into(), &0.0.into()));
    assert_eq!(names_in(&dir), ["heat.run.json", "u-00000.output", "u-00001.output", "u-00002.output"]);
}

#[test]
fn failures_are_recorded() {
    let dir = fresh_dir("record-failed");
    let error = Error::new(ErrorKind::Simulation, "it blew up");
    assert_eq!(steps(&dir, 1, Err(error.clone())), Err(error));
    let record = record(&dir);
    assert_eq!((&record["state"], &record["exit_code"], &record["error"]), (&"failed".into(), &3.into(), &"it blew up".into()));
    assert_eq!(record["files"].as_array().map(Vec::len), Some(2));
    // The next one finds them all the same.
    steps(&dir, 0, Ok(())).unwrap();
    assert_eq!(outputs_in(&dir), 1);
}

/// 100 steps, then 2: what is there afterwards is of the second run; nothing that is not the first
/// one's goes away.
#[test]
fn files_of_the_run_before_go_away() {
    let dir = fresh_dir("record-stale");
    steps(&dir, 100, Ok(())).unwrap();
    file(&dir, "u-00050.output", "edited");
    file(&dir, "u-00200.output", "from elsewhere");
    // Same size, other content.
    file(&dir, "u-00060.output", "59\n0.7\n");
    let stderr = Buffer::default();
    let options = Options { quiet: false, progress: ProgressStyle::Lines, stderr: Box::new(stderr.clone()), ..Options::silent() };
    let given = words(&["nx=2", "ny=1", "output_to_file=true", &format!("output_dir={}", dir.display())]);
    let mut session = Session::open_with(heat(), &given, options).unwrap();
    let cells = session.domain(ALL_CELLS).unwrap();
    assert_eq!(outputs_in(&dir), 102, "before the first output nothing happens");
    session.outputs().collection("u", &cells, &[1.0, 2.0]).unwrap();
    session.outputs().collection("u", &cells, &[1.0, 2.0]).unwrap();
    session.outputs().complete().unwrap();
    session.finish();
    drop(session);
    assert!(stderr.text().contains(&format!("2 files in `{}` (99 of earlier runs removed)", dir.display())), "{}", stderr.text());
    assert_eq!(names_in(&dir), ["heat.run.json", "u-00000.output", "u-00001.output", "u-00050.output", "u-00060.output", "u-00200.output"]);
    assert_eq!(record(&dir)["removed_files"], 99);
}

/// A program that panics: the record does not say that it goes on.
#[test]
fn panics_are_recorded() {
    let dir = fresh_dir("record-panic");
    let session = session_of(heat(), &dir, &[]).unwrap();
    let run = std::panic::AssertUnwindSafe(|| simulator::recorded(session, |_session| panic!("on purpose")));
    assert!(std::panic::catch_unwind(run).is_err());
    let record = record(&dir);
    assert_eq!((&record["state"], &record["exit_code"]), (&"failed".into(), &101.into()));
    assert_eq!(names_in(&dir), ["heat.run.json"]);
}

/// The record of a run that has failed beside the outputs of another one.
fn failure(dir: &Path) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(dir.join("failure/heat.run.json")).expect("a record")).expect("JSON")
}

/// A run that fails before its first output leaves the files before it and their record, byte for
/// byte; its own record, with error, lines, hint and log, is in the folder of failures.
#[test]
fn a_run_without_outputs_leaves_the_record_of_those_that_lie_there() {
    let dir = fresh_dir("record-early");
    steps(&dir, 3, Ok(())).unwrap();
    let before = std::fs::read(dir.join("heat.run.json")).unwrap();
    let error = Error::new(ErrorKind::Data, "bad data").hint("give other data").at(7);
    let session = session_of(heat(), &dir, &["event_log=true"]).unwrap();
    let failed = simulator::recorded(session, |mut session| {
        session.domain(ALL_CELLS)?;
        Err(error)
    });
    assert_eq!(failed.unwrap_err().kind, ErrorKind::Data);
    assert_eq!((outputs_in(&dir), std::fs::read(dir.join("heat.run.json")).unwrap() == before), (4, true));
    let failed = failure(&dir);
    assert_eq!((&failed["state"], &failed["exit_code"], &failed["error"]), (&"failed".into(), &4.into(), &"bad data".into()));
    assert_eq!((&failed["lines"], &failed["hint"]), (&serde_json::json!([7]), &"give other data".into()));
    let good = record(&dir);
    assert_eq!(failed["files"], serde_json::json!([]));
    assert_eq!(failed["beside"], serde_json::json!({"started": good["started"], "process": good["process"]}));
    let log = std::fs::read_to_string(dir.join("failure/heat.events.jsonl")).expect("the log of the run that failed");
    assert!(log.starts_with("{\"event\":\"start\""), "{log}");
    assert!(!dir.join("heat.events.jsonl").exists(), "the run before had none");
    // Interrupted, or ended by a panic: the same.
    let interrupted = Error::new(ErrorKind::Interrupted(Signal::Interrupt), "interrupted");
    assert!(simulator::recorded(session_of(heat(), &dir, &[]).unwrap(), |_| Err(interrupted)).is_err());
    assert_eq!(failure(&dir)["state"], "interrupted");
    let session = session_of(heat(), &dir, &[]).unwrap();
    let run = std::panic::AssertUnwindSafe(|| simulator::recorded(session, |_session| panic!("on purpose")));
    assert!(std::panic::catch_unwind(run).is_err());
    assert_eq!(failure(&dir)["exit_code"], 101);
    assert_eq!(std::fs::read(dir.join("heat.run.json")).unwrap(), before);
    // The next one finds all files.
    steps(&dir, 0, Ok(())).unwrap();
    assert_eq!(outputs_in(&dir), 1);
}

/// While a run has no file yet, the record is that of the run before; with its first file it is its
/// own, also if the run fails then.
#[test]
fn the_record_changes_hands_with_the_first_file() {
    let dir = fresh_dir("record-hands");
    steps(&dir, 3, Ok(())).unwrap();
    let mut session = session_of(heat(), &dir, &[]).unwrap();
    let cells = session.domain(ALL_CELLS).unwrap();
    assert_eq!((&record(&dir)["state"], outputs_in(&dir)), (&"done".into(), 4));
    session.outputs().collection("u", &cells, &[1.0, 2.0]).unwrap();
    session.outputs().complete().unwrap();
    assert_eq!((&record(&dir)["state"], outputs_in(&dir)), (&"running".into(), 1));
    let failed = Error::new(ErrorKind::Simulation, "it blew up");
    assert!(simulator::recorded(session, |_| Err(failed)).is_err());
    let own = record(&dir);
    assert_eq!((&own["state"], own["files"].as_array().map(Vec::len)), (&"failed".into(), Some(1)));
    assert!(!dir.join("failure").exists(), "its record lies beside its file");
    // A run that is done without a file has the record, and leaves the files.
    steps(&dir, 1, Ok(())).unwrap();
    simulator::recorded(session_of(heat(), &dir, &["nx=3"]).unwrap(), |mut session| {
        session.finish();
        Ok(())
    })
    .unwrap();
    let done = record(&dir);
    assert_eq!((&done["parameters"]["nx"]["value"], done["earlier_files"].as_array().map(Vec::len)), (&"3".into(), Some(2)));
    assert_eq!(outputs_in(&dir), 2);
}

/// A record whose files are gone, and that of a run that failed without any, are replaced at once.
#[test]
fn a_record_without_outputs_is_replaced_at_once() {
    let dir = fresh_dir("record-free");
    let failed = |message: &str| {
        let error = Error::new(ErrorKind::Data, message);
        assert!(simulator::recorded(session_of(heat(), &dir, &[]).unwrap(), |_| Err(error)).is_err());
        record(&dir)["error"].clone()
    };
    assert_eq!((failed("first"), failed("second")), ("first".into(), "second".into()));
    assert!(steps(&dir, 2, Err(Error::new(ErrorKind::Simulation, "it blew up"))).is_err());
    assert_eq!((failed("third"), outputs_in(&dir)), ("it blew up".into(), 3));
    for name in names_in(&dir).iter().filter(|name| name.ends_with(".output")) {
        std::fs::remove_file(dir.join(name)).unwrap();
    }
    assert_eq!(failed("fourth"), "fourth");
}

/// Units of axes and outputs are in the record, and the texts of the program.
#[test]
fn units_and_texts_are_in_the_record() {
    let dir = fresh_dir("record-units");
    drop(session_of(heat(), &dir, &[]).unwrap());
    let own = record(&dir);
    assert_eq!(own["units"], serde_json::json!({"coordinates": "m", "time": "s", "outputs": {"v": "m/s"}}));
    assert_eq!(own["texts"][0]["text"], *heat().source.text);
    drop(session_of(heat(), &dir, &["time_from=v"]).unwrap());
    assert_eq!(record(&dir)["units"]["time"], "m/s");
}

/// As a run leaves it that is killed: the record of its start, its journal, locks that nobody
/// holds, a file without a name.
#[test]
fn what_a_killed_run_left_blocks_nobody_and_goes_away() {
    let dir = fresh_dir("record-killed");
    steps(&dir, 3, Ok(())).unwrap();
    let mut record = record(&dir);
    let journal: String = record["files"].as_array().unwrap().iter().map(|entry| format!("{entry}\n")).collect();
    (record["state"], record["files"]) = ("running".into(), serde_json::json!([]));
    file(&dir, "heat.run.json", &record.to_string());
    // The last line is torn.
    file(&dir, ".heat.run.files", &format!("{journal}{{\"name\":\"u-0"));
    file(&dir, ".heat.run.lock", "program `heat`, process 1\n");
    file(&dir, ".u.output.lock", "program `heat`, process 1\n");
    file(&dir, ".heat.run-a1B2c3D4.part", "0.1\n0.");
    // Nor does a run that fails without an output: record and journal stay as they are.
    let failed = Error::new(ErrorKind::Data, "bad data");
    assert!(simulator::recorded(session_of(heat(), &dir, &[]).unwrap(), |_| Err(failed)).is_err());
    assert_eq!(std::fs::read_to_string(dir.join(".heat.run.files")).unwrap(), format!("{journal}{{\"name\":\"u-0"));
    assert_eq!(self::record(&dir)["state"], "running");
    std::fs::remove_dir_all(dir.join("failure")).unwrap();
    steps(&dir, 0, Ok(())).unwrap();
    assert_eq!(names_in(&dir), ["heat.run.json", "u-00000.output"]);
}

#[test]
fn runs_with_the_same_outputs_exclude_each_other() {
    let dir = fresh_dir("record-excluded");
    let first = session_of(heat(), &dir, &[]).unwrap();
    let error = session_of(heat(), &dir, &[]).err().expect("the folder is taken");
    assert_eq!(error.kind, ErrorKind::Io);
    let owner = format!("program `heat`, process {}", std::process::id());
    assert!(error.message.contains(&owner) && error.message.contains("since 2"), "{error}");
    assert!(error.hint.is_some());
    // Another program, one tag of which is the same.
    let error = session_of(flow(), &dir, &[]).err().expect("a tag is taken");
    assert!(error.message.contains("`v`") && error.message.contains(&owner), "{error}");
    // None of them: they run side by side, also if a tag comes up that no program has named.
    let mut other = session_of(sound(), &dir, &[]).unwrap();
    let cells = other.domain(ALL_CELLS).unwrap();
    other.outputs().collection("p", &cells, &[1.0, 2.0]).unwrap();
    let error = other.outputs().collection("u", &cells, &[1.0, 2.0]).unwrap_err();
    assert!(error.kind == ErrorKind::Io && error.message.contains("`u`"), "{error}");
    drop(first);
    other.outputs().collection("u", &cells, &[1.0, 2.0]).unwrap();
    drop(other);
    drop(session_of(heat(), &dir, &[]).unwrap());
    assert_eq!(names_in(&dir), ["heat.run.json", "p-00000.output", "sound.run.json", "u-00000.output"]);
}

#[test]
fn a_file_of_that_name_that_is_no_record_is_not_overwritten() {
    let dir = fresh_dir("record-not");
    file(&dir, "heat.run.json", "{\"mine\": 1}");
    let error = session_of(heat(), &dir, &[]).err().expect("refused");
    assert!(error.kind == ErrorKind::Io && error.message.contains("is not the record of a run"), "{error}");
    assert_eq!(names_in(&dir), ["heat.run.json"], "and nothing stays behind");
    assert_eq!(std::fs::read_to_string(dir.join("heat.run.json")).unwrap(), "{\"mine\": 1}");
}

/// Files and record in memory; the folder is never made.
#[test]
fn a_run_to_memory_writes_no_file() {
    let dir = fresh_dir("record-memory").join("none");
    let sink = Sink::memory();
    let all = words(&["nx=2", "ny=1", "output_to_file=true", &format!("output_dir={}", dir.display())]);
    for _ in 0..2 {
        let session = Session::open_with(heat(), &all, Options { sink: sink.clone(), ..Options::silent() }).unwrap();
        simulator::recorded(session, |mut session| {
            let cells = session.domain(ALL_CELLS)?;
            session.outputs().collection("u", &cells, &[0.25, 0.5])?;
            session.outputs().later("u", &cells, || Ok(vec![vec![1.0, 2.0]]))
        })
        .unwrap();
    }
    assert!(!dir.exists());
    let contents = sink.contents();
    assert_eq!(contents[&dir.join("u-00000.output")], b"0.25\n0.5\n");
    assert_eq!(contents[&dir.join("u-00001.output")], b"1\n2\n");
    let record: serde_json::Value = serde_json::from_slice(&contents[&dir.join("heat.run.json")]).unwrap();
    assert_eq!((&record["state"], record["files"].as_array().unwrap().len()), (&"done".into(), 2));
}
