//! Runs that meet in one output folder, and runs that are killed: every file that has its name is
//! whole, and of one run.
//!
//! The counts here are small; `cargo test --test driver outputs:: -- --ignored` takes those of
//! `.ci/full`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Numbers in a file.
const CELLS: usize = 3000;
/// Files of a run.
const STEPS: usize = 12;

/// Adds 0.125 in each step to what is given, and puts that out: file k holds `u0 + k/8` for each
/// cell.
const PROGRAM: &str = "u0 = InputScalarWithDefault(\"u0\", 0)
steps = InputSequenceOfScalar(\"steps\")
u : Mutable Collection Of Scalar On AllCells()
u = u0 Extend AllCells()
For dt In steps {
    Output(\"u\", u)
    u = u + (dt Extend AllCells())
}
";

struct Case {
    folder: PathBuf,
}

impl Case {
    fn new(name: &str) -> Case {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("outputs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("the target folder can be written");
        for program in ["rise.equelle", "climb.equelle"] {
            fs::write(folder.join(program), PROGRAM).expect("the test's own file");
        }
        fs::write(folder.join("steps"), "0.125 ".repeat(STEPS)).expect("the test's own file");
        Case { folder }
    }

    fn out(&self) -> PathBuf {
        self.folder.join("out")
    }

    fn command(&self, program: &str, u0: usize) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_equellec"));
        command.args(["run", "--interpret"]).arg(self.folder.join(program)).arg("output_to_file=true").arg(format!("u0={u0}"));
        command.args(["grid_dim=1".to_owned(), format!("nx={CELLS}"), format!("output_dir={}", self.out().display())]);
        command.arg(format!("steps_filename={}", self.folder.join("steps").display()));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    fn start(&self, program: &str, u0: usize) -> Child {
        self.command(program, u0).spawn().expect("equellec starts")
    }

    /// Names in the output folder, sorted.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.out()).into_iter().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// `u0` of each file that has its name, by number; each of them is whole.
    fn origins(&self) -> Vec<(usize, f64)> {
        let files = self.names().into_iter().filter_map(|name| Some(name.strip_prefix("u-")?.strip_suffix(".output")?.to_owned()));
        let origin = |number: String| {
            let text = fs::read_to_string(self.out().join(format!("u-{number}.output"))).expect("a file");
            let first = text.lines().next().unwrap_or_default();
            assert_eq!(text, format!("{first}\n").repeat(CELLS), "u-{number} is torn or mixed");
            let number: usize = number.parse().expect("a number");
            // Steps of 0.125 are exact.
            (number, first.parse::<f64>().expect("a number") - number as f64 * 0.125)
        };
        files.map(origin).collect()
    }

    /// Files of all formats end where they should.
    fn assert_whole(&self) {
        for name in self.names().iter().filter(|name| !name.starts_with('.')) {
            let bytes = fs::read(self.out().join(name)).expect("a file");
            let is_whole = match name.rsplit('.').next() {
                // A header of 128 bytes and the numbers.
                Some("npy") => bytes.len() == 128 + 8 * CELLS,
                Some("vti" | "pvd") => bytes.ends_with(b"</VTKFile>\n"),
                Some("csv") => {
                    let text = String::from_utf8_lossy(&bytes);
                    text.ends_with('\n') && text.lines().all(|line| line.split(',').count() == 3)
                }
                _ => true,
            };
            assert!(is_whole, "{name} is torn: {} bytes", bytes.len());
        }
    }

    fn record(&self, program: &str) -> Option<Value> {
        let text = fs::read_to_string(self.out().join(format!("{program}.run.json"))).ok()?;
        Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("a torn record: {error}\n{text}")))
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Pairs of runs that start at the same time, of one program or of two that put out the same.
fn pairs(name: &str, count: usize) {
    let mut refused = 0;
    for pair in 0..count {
        let case = Case::new(&format!("{name}-{pair}"));
        let second = if pair % 2 == 0 { "rise" } else { "climb" };
        let children = [("rise", 1), (second, 2)].map(|(program, u0)| (case.start(&format!("{program}.equelle"), u0), program, u0));
        let mut complete = Vec::new();
        for (child, program, u0) in children {
            let output = child.wait_with_output().expect("it ends");
            let messages = String::from_utf8_lossy(&output.stderr).into_owned();
            match output.status.code() {
                Some(0) => complete.push((program, u0 as f64)),
                Some(5) => {
                    refused += 1;
                    assert!(messages.contains("process ") && messages.contains(", since "), "whose it is: {messages}");
                    assert!(messages.contains("output_dir=DIR"), "{messages}");
                }
                code => panic!("{code:?}: {messages}"),
            }
        }
        assert!(!complete.is_empty(), "one of the two can run");
        let origins = case.origins();
        let u0 = origins[0].1;
        assert_eq!(origins, (0..STEPS).map(|number| (number, u0)).collect::<Vec<_>>(), "all files are of one run");
        assert!(complete.iter().any(|(_, of_run)| *of_run == u0), "and that one was complete");
        // Refused runs leave nothing, nor do locks and temporary files stay.
        let others: Vec<String> = case.names().into_iter().filter(|name| !name.ends_with(".output")).collect();
        let mut expected: Vec<String> = complete.iter().map(|(program, _)| format!("{program}.run.json")).collect();
        expected.sort();
        expected.dedup();
        assert_eq!(others, expected);
    }
    // Both runs take many times longer than to start them.
    assert!(refused > 0, "no two of {count} pairs met");
}

/// Runs that are killed at any moment, in one folder, one after the other; every tenth one is not.
fn kills(name: &str, count: usize) {
    let case = Case::new(name);
    let command = |u0: usize| {
        let mut command = case.command("rise.equelle", u0);
        command.args(["output_format=text,npy,vtu,csv", "probe=0.5"]);
        command
    };
    let begun = Instant::now();
    assert!(command(0).status().expect("equellec starts").success());
    let whole = begun.elapsed();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut killed = 0;
    for run in 1..=count {
        // Xorshift: moments from the start to a little after the end.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let moment = whole.mul_f64(1.1 * (random >> 11) as f64 / (1_u64 << 53) as f64);
        let mut child = command(run).spawn().expect("equellec starts");
        std::thread::sleep(moment);
        // It may have ended by itself.
        let _ = child.kill();
        killed += usize::from(child.wait().expect("it ends").code().is_none());
        case.assert_whole();
        let origins = case.origins();
        // Old files go away before new ones come: what is there is of one run, without gaps.
        assert!(origins.iter().all(|(_, u0)| *u0 == origins[0].1), "run {run}: {origins:?}");
        assert!(case.record("rise").is_some(), "there was one from the start");
        if run % 10 == 0 || run == count {
            let output = command(1000 + run).output().expect("equellec starts");
            assert!(output.status.success(), "a killed run blocks nobody: {}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(case.origins(), (0..STEPS).map(|number| (number, (1000 + run) as f64)).collect::<Vec<_>>());
            // Three files a step, the list of times and the table; beside them the record.
            let files = 3 * STEPS + 2;
            assert_eq!(case.names().len(), files + 1, "{:?}", case.names());
            let record = case.record("rise").expect("a record");
            assert_eq!((&record["state"], record["files"].as_array().map(Vec::len)), (&"done".into(), Some(files)));
            let rows: Vec<String> =
                (0..STEPS).map(|k| format!("{},{},{}", k + 1, (k + 1) as f64 * 0.125, (1000 + run) as f64 + k as f64 * 0.125)).collect();
            assert_eq!(
                fs::read_to_string(case.out().join("rise.csv")).expect("a table"),
                format!("step,time,u(0.5)\n{}\n", rows.join("\n"))
            );
        }
    }
    assert!(killed > count / 3, "{killed} of {count} were killed before they ended");
}

/// A run with checkpoints that is killed, goes on, is killed, until it ends: then every file has
/// the bytes of a run that nobody killed. As often as it takes for `count` kills.
fn kills_and_restarts(name: &str, count: usize) {
    let command = |case: &Case, more: &[&str]| {
        let mut command = case.command("rise.equelle", 1);
        command.args(["output_format=text,npy,vtu,csv", "probe=0.5", "checkpoint_every=1"]).args(more);
        command
    };
    let expected = Case::new(&format!("{name}-expected"));
    let begun = Instant::now();
    assert!(command(&expected, &[]).status().expect("equellec starts").success());
    let whole = begun.elapsed();
    let contents = |case: &Case| -> Vec<(String, Vec<u8>)> {
        let names = case.names().into_iter().filter(|name| !name.ends_with(".run.json"));
        names.map(|name| (name.clone(), fs::read(case.out().join(name)).expect("a file"))).collect()
    };
    let mut case = Case::new(name);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut kills, mut restarts) = (0, 0);
    while kills < count {
        let has_checkpoint = case.names().iter().any(|name| name.ends_with(".npz") && !name.starts_with('.'));
        restarts += usize::from(has_checkpoint);
        let mut child = command(&case, if has_checkpoint { &["restart=latest"] } else { &[] }).spawn().expect("equellec starts");
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(whole.mul_f64((random >> 11) as f64 / (1_u64 << 53) as f64));
        // It may have ended by itself.
        let _ = child.kill();
        let output = child.wait_with_output().expect("it ends");
        case.assert_whole();
        match output.status.code() {
            None => kills += 1,
            Some(0) => {
                let (found, expected) = (contents(&case), contents(&expected));
                let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
                assert_eq!(names(&found), names(&expected), "after {kills} kills");
                for ((name, found), (_, expected)) in found.iter().zip(&expected) {
                    // A checkpoint has a list of files with their sums, and the state.
                    assert!(found == expected, "{name} has other bytes after {kills} kills");
                }
                drop(case);
                case = Case::new(name);
            }
            Some(code) => panic!("{code} after {kills} kills: {}", String::from_utf8_lossy(&output.stderr)),
        }
    }
    assert!(restarts > count / 3, "only {restarts} restarts");
}

#[test]
fn killed_runs_go_on_from_their_checkpoints() {
    kills_and_restarts("restarts", 10);
}

#[test]
#[ignore = "a quarter of a minute on a quiet machine, more elsewhere; .ci/full runs it"]
fn two_hundred_kills_with_checkpoints() {
    kills_and_restarts("many-restarts", 200);
}

#[test]
fn runs_in_one_folder_are_complete_or_refused() {
    pairs("pairs", 4);
}

#[test]
#[ignore = "a quarter of a minute on a quiet machine, more elsewhere; .ci/full runs it"]
fn fifty_pairs_in_one_folder() {
    pairs("fifty-pairs", 50);
}

#[test]
fn killed_runs_leave_no_torn_file() {
    kills("kills", 10);
}

#[test]
#[ignore = "a quarter of a minute on a quiet machine, more elsewhere; .ci/full runs it"]
fn two_hundred_kills() {
    kills("many-kills", 200);
}

/// A run that waits in the middle, so that the other one meets it for sure: Ctrl-C ends it, and its
/// record says so.
#[test]
#[cfg(unix)]
fn the_record_says_that_a_run_was_interrupted() {
    let case = Case::new("interrupted");
    fs::write(case.folder.join("steps"), "0.125 ".repeat(2000)).expect("the test's own file");
    let child = case.start("rise.equelle", 1);
    let begun = Instant::now();
    while !case.out().join("u-00001.output").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no output");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(case.record("rise").expect("a record")["state"], "running");
    let refused = case.command("rise.equelle", 2).output().expect("equellec starts");
    assert_eq!(refused.status.code(), Some(5));
    let owner = format!("process {}", child.id());
    assert!(String::from_utf8_lossy(&refused.stderr).contains(&owner), "{}", String::from_utf8_lossy(&refused.stderr));
    let interrupted = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status();
    assert!(interrupted.expect("kill starts").success());
    assert_eq!(child.wait_with_output().expect("it ends").status.code(), Some(130));
    let record = case.record("rise").expect("a record");
    assert_eq!((&record["state"], &record["exit_code"]), (&"interrupted".into(), &130.into()));
    assert_eq!(record["files"].as_array().map(Vec::len), Some(case.origins().len()));
}

/// Places that take no outputs: exit code 5 and the name of the place, wherever it is.
#[test]
#[cfg(target_os = "linux")]
fn places_that_cannot_be_written() {
    let case = Case::new("unwritable");
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let mut command = case.command("rise.equelle", 0);
    let output = command.arg("output_to_file=false").stdout(full).output().expect("equellec starts");
    assert_eq!(output.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write to standard output"), "{output:?}");
    // Nothing can be made in a folder that the system makes, whoever asks.
    let output = case.command("rise.equelle", 0).arg("output_dir=/proc/self").output().expect("equellec starts");
    assert_eq!(output.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write to output directory `/proc/self`"), "{output:?}");
}

/// Without `output_to_file`: a large collection goes to a file, and a note says where.
#[test]
fn a_large_collection_is_not_printed() {
    let case = Case::new("large");
    let command = case.command("rise.equelle", 0);
    let words: Vec<_> = command.get_args().filter(|word| *word != "output_to_file=true").map(ToOwned::to_owned).collect();
    let mut command = Command::new(command.get_program());
    let output = command.args(words).output().expect("equellec starts");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(messages.contains(&format!("go to files in `{}`; output_to_file=false prints them", case.out().display())), "{messages}");
    assert_eq!(case.origins().len(), STEPS);
}

/// Files of the user behind links in the output folder stay as they are, whatever name of a run
/// leads to them: links in the place of outputs are replaced, others end the run.
#[test]
#[cfg(unix)]
fn links_lead_to_no_file_elsewhere() {
    let names = [".rise.run.files", ".rise.run.lock", ".u.output.lock", "rise.events.jsonl", "rise.run.json", "u-00000.output"];
    for (number, name) in names.into_iter().enumerate() {
        for symbolic in [true, false] {
            let case = Case::new(&format!("links-{number}-{symbolic}"));
            let mine = case.folder.join("thesis");
            // The record of a run is read before it is replaced.
            let text = "{\"program\": \"rise\"}";
            fs::write(&mine, text).expect("the test's own file");
            fs::create_dir_all(case.out()).expect("the test's own folder");
            let link = case.out().join(name);
            let linked = if symbolic { std::os::unix::fs::symlink(&mine, &link) } else { fs::hard_link(&mine, &link) };
            linked.expect("a link");
            let run = || case.command("rise.equelle", 0).arg("event_log=true").output().expect("equellec starts");
            let output = run();
            assert_eq!(fs::read_to_string(&mine).expect("it is still there"), text, "{name}");
            if number < 4 {
                let messages = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.code() == Some(5) && messages.contains("; remove it"), "{name}: {messages}");
                fs::remove_file(&link).expect("the message says so");
                assert_eq!(run().status.code(), Some(0), "{name}");
            } else {
                assert_eq!(output.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            }
            assert_eq!(fs::read_to_string(&mine).expect("it is still there"), text, "{name}");
            case.assert_whole();
        }
    }
}

/// A pipe in the place of a file of the run: refused, not waited for.
#[test]
#[cfg(unix)]
fn pipes_are_not_waited_for() {
    for name in [".rise.run.files", ".rise.run.lock", ".u.output.lock", "rise.events.jsonl", "rise.run.json", "u-00000.output"] {
        let case = Case::new(&format!("pipe-{}", name.trim_start_matches('.')));
        fs::create_dir_all(case.out()).expect("the test's own folder");
        let pipe = case.out().join(name);
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("there is mkfifo").success());
        let mut child = case.command("rise.equelle", 0).arg("event_log=true").spawn().expect("equellec starts");
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child") {
                break status;
            }
            if begun.elapsed() > Duration::from_secs(60) {
                let _ = child.kill();
                panic!("{name}: the run waits for somebody who reads the pipe");
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let messages = std::io::read_to_string(child.stderr.take().expect("it is piped")).expect("text");
        match name {
            // Renaming replaces what has the name of an output.
            "u-00000.output" => assert_eq!(status.code(), Some(0), "{messages}"),
            _ => assert!(status.code() == Some(5) && messages.contains("is no plain file; remove it"), "{name}: {messages}"),
        }
    }
}

/// A file that would be larger than the shell allows: an error with its name, and what was written
/// before it stays.
#[test]
#[cfg(unix)]
fn a_file_larger_than_the_limit() {
    let case = Case::new("limit");
    let run = case.command("rise.equelle", 0);
    // 8 KiB or 16 KiB, as shells count: the first file has 6000 bytes, the second 18000.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 16; exec \"$0\" \"$@\""]).arg(run.get_program()).args(run.get_args());
    let output = command.stdout(Stdio::null()).output().expect("there is a shell");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{messages}");
    assert!(messages.contains("u-00001.output") && messages.contains("ulimit -f"), "{messages}");
    assert_eq!(case.origins(), [(0, 0.0)]);
    assert_eq!(case.record("rise").expect("a record")["state"], "failed");
}
