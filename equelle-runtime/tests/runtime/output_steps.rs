//! Steps that go to files, and contents of the files of a step.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use equelle_runtime::io::Sink;
use equelle_runtime::output::{Record, StepTime};
use equelle_runtime::report::ProgressStyle;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::{Error, ErrorKind, simulator};

use crate::common::*;
use crate::output::Buffer;

/// Results of a run: files by name, console, messages.
struct Run {
    result: Result<(), Error>,
    files: BTreeMap<String, Vec<u8>>,
    console: String,
    messages: String,
}

impl Run {
    fn text(&self, name: &str) -> &str {
        std::str::from_utf8(&self.files[name]).unwrap()
    }

    fn names(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).filter(|name| !name.ends_with(".run.json")).collect()
    }

    /// Numbers of the files of a tag.
    fn numbers(&self, tag: &str) -> Vec<u32> {
        let names = self.names().into_iter();
        names.filter_map(|name| name.strip_prefix(tag)?.strip_prefix('-')?.strip_suffix(".output")?.parse().ok()).collect()
    }

    fn record(&self) -> serde_json::Value {
        serde_json::from_slice(&self.files["heat.run.json"]).unwrap()
    }
}

/// A run of `heat` on 4 x 3 cells of 0.5 x 0.3 in memory.
fn run_in(sink: &Sink, given: &[&str], program: impl FnOnce(&mut Session) -> Result<(), Error>) -> Run {
    let (console, messages) = (Buffer::default(), Buffer::default());
    let options = Options {
        stdout: Box::new(console.clone()),
        stderr: Box::new(messages.clone()),
        quiet: false,
        progress: ProgressStyle::Quiet,
        sink: sink.clone(),
        ..Options::silent()
    };
    let session = Session::on_grid(crate::common::heat(), parameters(given), four_by_three(), options);
    let result = session.and_then(|session| {
        simulator::recorded(session, |mut session| {
            program(&mut session).map_err(|error| session.outputs().ended_by(error))?;
            session.outputs().complete()?;
            session.finish();
            Ok(())
        })
    });
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let files = sink.contents().into_iter().map(|(path, bytes)| (name(&path), bytes)).collect();
    Run { result, files, console: console.text(), messages: messages.text() }
}

fn run(given: &[&str], program: impl FnOnce(&mut Session) -> Result<(), Error>) -> Run {
    run_in(&Sink::memory(), given, program)
}

fn each_step(session: &mut Session, steps: &[f64], mut body: impl FnMut(&mut Session, usize) -> Result<(), Error>) -> Result<(), Error> {
    let mut state = session.loops().begin_over(&Arc::new(steps.to_vec()));
    while let Some(step) = session.loops().next_step(&mut state) {
        body(session, step)?;
    }
    Ok(())
}

fn put(session: &mut Session, tag: &str, value: f64) -> Result<(), Error> {
    let cells = session.domain(ALL_CELLS)?;
    let values: Vec<f64> = (0..12).map(|cell| value + f64::from(cell)).collect();
    session.outputs().collection(tag, &cells, &values)
}

/// `u` at the start, and `u` and its maximum after each step of 0.1.
fn heat(session: &mut Session, steps: usize) -> Result<(), Error> {
    put(session, "u", 0.0)?;
    each_step(session, &vec![0.1; steps], |session, step| {
        put(session, "u", step as f64)?;
        session.outputs().scalar("m", step as f64 + 0.5)
    })
}

#[test]
fn every_tenth_step_and_the_first_and_the_last() {
    let found = run(&["output_to_file=true", "output_every=10"], |session| heat(session, 25));
    found.result.as_ref().unwrap();
    assert_eq!(found.numbers("u"), [0, 10, 20, 25]);
    assert!(found.text("u-00010.output").starts_with("9\n10\n"), "the numbers of step 10");
    assert_eq!(found.console.lines().count(), 25, "what is printed does not change");
    let files = found.record()["files"].clone();
    assert_eq!((&files[1]["step"], &files[3]["step"]), (&10.into(), &25.into()));
    // Without an output before the loop its first one counts as the first.
    let found =
        run(&["output_format=text,npy", "output_every=10"], |session| each_step(session, &[1.0; 25], |session, _| put(session, "u", 0.0)));
    assert_eq!(found.numbers("u"), [0, 9, 19, 24]);
    assert!(found.files.contains_key("u-00019.npy") && found.files.len() == 9);
}

/// Steps of the collections and of the numbers that a run keeps in memory, and its messages.
fn kept(given: &[&str], steps: usize, defers: bool) -> (Vec<u64>, Vec<u64>, String) {
    let messages = Buffer::default();
    let options = Options { stderr: Box::new(messages.clone()), quiet: false, progress: ProgressStyle::Quiet, ..Options::silent() };
    let mut session = Session::on_grid(crate::common::heat(), parameters(given), four_by_three(), options).unwrap();
    let records = session.record_outputs();
    put(&mut session, "u", 0.0).unwrap();
    each_step(&mut session, &vec![0.1; steps], |session, step| {
        if defers {
            session.outputs().defer();
        }
        put(session, "u", step as f64)?;
        session.outputs().scalar("m", step as f64 + 0.5)?;
        let deferred = session.outputs().take_deferred();
        session.outputs().release(deferred)
    })
    .unwrap();
    session.finish();
    let (collections, numbers): (Vec<_>, Vec<_>) =
        records.take_with_moments().into_iter().partition(|(_, record)| matches!(record, Record::Collection { .. }));
    let steps = |records: Vec<(StepTime, Record)>| records.into_iter().map(|(moment, _)| moment.step).collect();
    (steps(collections), steps(numbers), messages.text())
}

#[test]
fn memory_keeps_what_files_would_have() {
    for defers in [false, true] {
        let (collections, numbers, _) = kept(&[], 3, defers);
        assert_eq!((collections, numbers), (vec![0, 1, 2, 3], vec![1, 2, 3]));
        let (collections, numbers, _) = kept(&["output_every=10"], 25, defers);
        assert_eq!((collections, numbers), (vec![0, 10, 20, 25], vec![10, 20, 25]));
        let (collections, numbers, messages) = kept(&["output_times=0.2,0.55,7"], 12, defers);
        assert_eq!((collections, numbers), (vec![0, 2, 6, 12], vec![2, 6, 12]));
        assert!(messages.contains("output_times: the run ended before 7"), "{messages}");
    }
}

/// The last step of each of two loops is written, and so is what is outside of loops.
#[test]
fn loops_one_after_the_other() {
    let found = run(&["output_to_file=true", "output_every=4"], |session| {
        each_step(session, &[1.0; 5], |session, _| put(session, "u", 0.0))?;
        put(session, "u", 1.0)?;
        each_step(session, &[1.0; 5], |session, _| put(session, "u", 0.0))?;
        put(session, "v", 1.0)
    });
    // Steps 1, 4, 5 of the first loop are numbers 0, 3, 4; then 5; steps 8 and 10 are 8 and 10.
    assert_eq!((found.numbers("u"), found.numbers("v")), (vec![0, 3, 4, 5, 8, 10], vec![0]));
}

#[test]
fn the_first_step_at_or_after_a_time() {
    let found = run(&["output_format=csv", "output_times=0.3,0.55,7"], |session| heat(session, 10));
    let steps: Vec<&str> = found.text("heat.csv").lines().skip(1).map(|row| row.split(',').next().unwrap()).collect();
    assert_eq!(steps, ["1", "3", "6", "10"]);
    assert!(found.messages.contains("output_times: the run ended before 7, the time 0.9999999999999999"), "{}", found.messages);
    assert_eq!(found.names(), ["heat.csv"], "collections have no place in a table");
}

/// A row for each step: numbers, Vectors and truth values, and the cells of two probes.
#[test]
fn a_table_of_numbers_and_probes() {
    let found = run(&["output_format=csv", "probe=0.6,0.1; 1.9,0.8"], |session| {
        let faces = session.domain(ALL_FACES)?;
        let inside = session.domain(INTERIOR_CELLS)?;
        let boundary = session.domain(BOUNDARY_CELLS)?;
        session.outputs().scalar("start", 7.0)?;
        each_step(session, &[0.5, 0.25], |session, step| {
            put(session, "u", step as f64)?;
            let cells = session.domain(ALL_CELLS)?;
            session.outputs().vectors("v", &cells, &[&[1.0; 12], &[2.0; 12]])?;
            session.outputs().collection("on faces", &faces, &[1.0; 31])?;
            session.outputs().collection("inside", &inside, &[5.0, 6.0])?;
            session.outputs().bools("edge", &boundary, &[true; 10])?;
            session.outputs().vector("w", &[0.25, step as f64])?;
            session.outputs().bool("b", step == 1)
        })
    });
    found.result.as_ref().unwrap();
    // Cells 1 and 11; the interior ones are 5 and 6.
    let expected = "step,time,start,w_x,w_y,b,u(0.6 0.1),u(1.9 0.8),v_x(0.6 0.1),v_y(0.6 0.1),v_x(1.9 0.8),v_y(1.9 0.8),edge(0.6 0.1),edge(1.9 0.8)\n\
                    0,0,7,,,,,,,,,,,\n\
                    1,0.5,,0.25,0,0,1,11,1,2,1,2,1,1\n\
                    2,0.75,,0.25,1,1,2,12,1,2,1,2,1,1\n";
    assert_eq!(found.text("heat.csv"), expected);
}

/// A tag that comes again begins the next files of the step; those of faces stand beside those of
/// cells.
#[test]
fn fields_of_a_step_are_in_one_file() {
    let found = run(&["output_format=vtu"], |session| {
        put(session, "u", 0.0)?;
        each_step(session, &[0.5; 2], |session, step| {
            put(session, "u", step as f64)?;
            put(session, "v", 1.0)?;
            if step == 1 {
                let faces = session.domain(ALL_FACES)?;
                session.outputs().collection("flux", &faces, &[1.0; 31])?;
                put(session, "u", 9.0)?;
            }
            Ok(())
        })?;
        put(session, "after", 1.0)
    });
    found.result.as_ref().unwrap();
    let names = ["heat-00000.vti", "heat-00001.vti", "heat-00002-1.vti", "heat-00002.vti", "heat-faces-00002.vtu", "heat.pvd"];
    assert_eq!(found.names(), names);
    let has = |name: &str, tag: &str| String::from_utf8_lossy(&found.files[name]).contains(&format!("Name=\"{tag}\""));
    assert!(has("heat-00002.vti", "u") && has("heat-00002.vti", "v") && !has("heat-00002.vti", "flux"));
    assert!(has("heat-faces-00002.vtu", "flux") && has("heat-00002-1.vti", "u") && has("heat-00002-1.vti", "after"));
    let times: Vec<&str> = found.text("heat.pvd").lines().filter(|line| line.contains("DataSet")).collect();
    assert_eq!(times.len(), 4, "of two files of cells with one time the last: {times:?}");
    assert!(times[0].contains("timestep=\"0\"") && times[1].contains("timestep=\"0.5\"") && times[1].contains("heat-00001.vti"));
    assert!(times[2].contains("timestep=\"1\"") && times[2].contains("heat-00002-1.vti") && times[3].contains("heat-faces-00002.vtu"));
    let record = found.record();
    let files = record["files"].as_array().unwrap();
    assert_eq!((files.len(), &files[1]["step"], &files[1]["time"]), (6, &1.into(), &0.5.into()));
}

/// A step of a single number alone comes first: the collection after the loop has its file, too.
#[test]
fn collections_after_steps_of_numbers() {
    let run = run(&["output_format=vtu,csv", "output_dir=o"], |session| {
        each_step(session, &[0.5, 0.5], |session, step| session.outputs().scalar("m", step as f64))?;
        heat(session, 1)
    });
    run.result.as_ref().unwrap();
    assert!(run.names().iter().any(|name| name.ends_with(".vti")), "{:?}", run.names());
}

#[test]
fn the_time_is_an_output_of_the_step() {
    let program = |session: &mut Session| {
        put(session, "u", 0.0)?;
        each_step(session, &[1.0; 4], |session, step| {
            put(session, "u", 1.0)?;
            session.outputs().scalar("t", 10.0 * (step + 1) as f64)
        })
    };
    let found = run(&["output_format=vtu,csv", "time_from=t"], program);
    let text = found.text("heat.pvd");
    assert!(text.contains("timestep=\"10\"") && text.contains("timestep=\"40\"") && !text.contains("timestep=\"1\""), "{text}");
    assert!(found.text("heat.csv").ends_with("\n4,40,40\n"));
    assert_eq!(found.messages.matches("warning").count(), 0, "{}", found.messages);
    // No such output: said once, and the time is the sum.
    let found = run(&["output_format=csv", "time_from=tt"], program);
    assert!(found.text("heat.csv").ends_with("\n4,4,40\n"));
    assert_eq!(found.messages.matches("time_from=tt: step 1 puts out no Scalar `tt` but t").count(), 1, "{}", found.messages);
    assert_eq!(found.messages.matches("time_from").count(), 1);
}

/// Outputs of attempts at a step: those that are dropped do not count, those that are not written
/// do.
#[test]
fn deferred_outputs_count_when_they_happen() {
    let found = run(&["output_format=text,vtu", "output_every=2"], |session| {
        each_step(session, &[1.0; 5], |session, step| {
            session.outputs().defer();
            put(session, "u", -1.0)?;
            session.outputs().take_deferred();
            put(session, "u", step as f64)?;
            session.outputs().scalar("s", 1.0)?;
            let deferred = session.outputs().take_deferred();
            assert_eq!(deferred.len(), 2, "one for each output, written or not");
            session.outputs().release(deferred)
        })
    });
    assert_eq!(found.numbers("u"), [0, 1, 3, 4]);
    assert!(found.text("u-00003.output").starts_with("3\n"));
    assert!(found.files.contains_key("heat-00004.vti") && !found.files.contains_key("heat-00003.vti"));
}

/// A run that is continued from step 3 leaves the files of the whole run.
#[test]
fn counters_go_on() {
    let given = ["output_format=text,vtu", "output_every=2", "output_times=0.3"];
    let whole = run(&given, |session| heat(session, 7));
    let mut counters = None;
    run(&given, |session| {
        put(session, "u", 0.0)?;
        let mut state = session.loops().begin_over(&Arc::new(vec![0.1; 7]));
        for step in 0..3 {
            session.loops().next_step(&mut state);
            put(session, "u", step as f64)?;
        }
        counters = Some(session.outputs().counters());
        Ok(())
    });
    let rest = run(&given, |session| {
        session.outputs().restore_counters(counters.take().unwrap());
        each_step(session, &[0.1; 4], |session, step| {
            put(session, "u", (step + 3) as f64)?;
            session.outputs().scalar("m", (step + 3) as f64 + 0.5)
        })
    });
    assert_eq!((whole.numbers("u"), rest.numbers("u")), (vec![0, 2, 3, 4, 6, 7], vec![4, 6, 7]));
    for name in ["u-00004.output", "u-00006.output", "heat-00004.vti", "heat-00007.vti"] {
        assert_eq!(whole.files[name], rest.files[name], "{name}");
    }
}

/// A run that goes on from any round puts out the same as the whole run from there on: no row off
/// the schedule, no time that a round short of it has reached, and the time of the last round.
#[test]
fn counters_go_on_after_any_round() {
    // Rounds of 0.1 sum to less than 0.3 three times and to more later; 0.70005 is reached by 0.7.
    let given = ["output_format=csv,text", "output_every=4", "output_times=0.3,0.70005", "time_from=t"];
    let rounds = 10;
    let body = |session: &mut Session, step: usize| {
        put(session, "u", step as f64)?;
        session.outputs().scalar("t", 0.1 * (step + 1) as f64)?;
        session.outputs().scalar("m", step as f64 + 0.5)
    };
    let whole = run(&given, |session| each_step(session, &[0.1; 10], body));
    whole.result.as_ref().unwrap();
    let rows = |run: &Run| run.text("heat.csv").lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rows(&whole).iter().map(|row| row.split(',').next().unwrap()).collect::<Vec<_>>(), ["1", "3", "4", "7", "8", "10"]);
    for stop in 1..rounds {
        let mut counters = None;
        let first = run(&given, |session| {
            let mut state = session.loops().begin_over(&Arc::new(vec![0.1; rounds]));
            for step in 0..stop {
                session.loops().next_step(&mut state);
                body(session, step)?;
            }
            counters = Some(session.outputs().counters());
            Ok(())
        });
        // The last row of a run that ends in a loop may be off the schedule.
        let mut taken = rows(&first);
        taken.retain(|row| rows(&whole).contains(row));
        let rest = run(&given, |session| {
            session.outputs().restore_counters(counters.take().unwrap());
            each_step(session, &vec![0.1; rounds - stop], |session, step| body(session, stop + step))
        });
        rest.result.as_ref().unwrap();
        assert_eq!([taken, rows(&rest)].concat(), rows(&whole), "after round {stop}");
        let numbers = [first.numbers("u"), rest.numbers("u")].concat();
        assert_eq!(numbers, whole.numbers("u"), "after round {stop}");
    }
}

/// A disk that is full in the middle of a file: the files before it are whole, and the error names
/// the file and the line.
#[test]
fn a_full_disk() {
    for format in ["vtu", "npy", "text", "csv"] {
        let given = [&format!("output_format={format}") as &str];
        let program = |session: &mut Session| {
            each_step(session, &[1.0; 200], |session, step| {
                session.line(7);
                put(session, "u", step as f64)?;
                session.outputs().scalar("s", 1.0)
            })
        };
        let whole = run(&given, program);
        let written: usize = whole.files.values().map(Vec::len).sum();
        let mut least = usize::MAX;
        for bytes in [written / 2, written / 2 + 20, 700] {
            let found = run_in(&Sink::memory_of(bytes), &given, program);
            let error = found.result.as_ref().unwrap_err();
            assert_eq!(error.kind, ErrorKind::Io, "{format} {bytes}: {error}");
            least = least.min(found.files.len());
            for (name, bytes) in found.files.iter().filter(|(name, _)| !name.starts_with("heat.")) {
                assert!(whole.files[name] == *bytes, "{name} is torn");
            }
        }
        assert!(least < whole.files.len(), "{format}");
    }
}

/// The next run removes files of all formats that are as they were, and nothing else.
#[test]
fn files_of_all_formats_go_away() {
    let dir = fresh_dir("steps-stale");
    let place = format!("output_dir={}", dir.display());
    let program = |session: &mut Session| {
        each_step(session, &[1.0; 3], |session, step| {
            put(session, "u", step as f64)?;
            session.outputs().scalar("s", 1.0)
        })
    };
    run_in(&Sink::Files, &["output_format=text,npy,csv,vtu", &place], program).result.unwrap();
    assert_eq!(names_in(&dir).len(), 3 * 3 + 3, "{:?}", names_in(&dir));
    std::fs::write(dir.join("heat-00002.vti"), "edited").unwrap();
    run_in(&Sink::Files, &["output_format=csv", &place], program).result.unwrap();
    assert_eq!(names_in(&dir), ["heat-00002.vti", "heat.csv", "heat.run.json"]);
}

#[test]
fn what_is_wrong_is_found_at_the_start() {
    for (given, message) in [
        (
            ["output_format=vtk", ""],
            "parameter `output_format` (command line) must be vtu, npy, csv, text or several of them with commas, not `vtk`",
        ),
        (["output_format=csv", "probe=0.5"], "the probe (0.5) has 1 coordinates, the grid has 2 dimensions"),
        (["output_format=csv", "probe=5,0.5"], "the probe (5 0.5) is outside of the grid"),
        (["output_every=0", ""], "parameter `output_every=0` (command line) must be 1 or more"),
    ] {
        let given: Vec<&str> = given.into_iter().filter(|word| !word.is_empty()).collect();
        let found = run(&given, |_| panic!("not run"));
        let error = found.result.unwrap_err();
        assert_eq!((error.kind, &error.message[..]), (ErrorKind::Data, message));
        assert!(found.files.is_empty(), "no folder is claimed");
    }
}

#[test]
fn steps_without_files_are_told() {
    let found = run(&["output_every=10"], |session| heat(session, 3));
    assert!(found.messages.contains("output_every and output_times have no effect"), "{}", found.messages);
    assert_eq!(found.console.lines().count(), 2 * 4 + 3);
}
