//! Outputs: formats, files, and what cannot be written.

use std::io::Write;
use std::sync::{Arc, Mutex};

use equelle_runtime::output::{FieldValues, Outputs, Record, Support, output_dir};
use equelle_runtime::run::{self, RunRecord};
use equelle_runtime::session::{Options, Session};
use equelle_runtime::{EntityKind, Error, ErrorKind};

use crate::common::*;
use equelle_runtime::output::LARGE;

/// A stream whose text can be read afterwards.
#[derive(Clone, Default)]
pub struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn outputs(given: &[&str]) -> (Outputs, Buffer) {
    let console = Buffer::default();
    (opened(given, Box::new(console.clone())).unwrap(), console)
}

fn opened(given: &[&str], console: Box<dyn Write + Send>) -> Result<Outputs, Error> {
    let (program, parameters) = (Arc::new(heat()), parameters(given));
    let start = run::description(&program, &parameters, &four_by_three(), "test");
    let record = RunRecord::new(&program, &start, output_dir(&parameters)?);
    Outputs::from_parameters(&parameters, console, record, &four_by_three())
}

fn cells(n_entities: usize) -> Support {
    Support { kind: EntityKind::Cell, n_entities, subset: None }
}

#[test]
fn console() {
    let (mut out, console) = outputs(&[]);
    out.scalar("maximum of u", 0.1 + 0.2).unwrap();
    out.scalar("n", 710.0).unwrap();
    out.collection("u", &[500.0, 1.0 / 3.0, -1e-10]).unwrap();
    out.collection("none", &[0.0; 0]).unwrap();
    out.collection("single", &[0.1_f32, 2.0]).unwrap();
    out.vectors("v", &[&[0.1 + 0.2, 2.0], &[3.0, 4.0]]).unwrap();
    // Fields are 15 wide at least, and followed by a blank.
    let expected = "maximum of u = 0.30000000000000004\nn = 710\nu =\n500             0.3333333333333333 -1e-10          \nnone =\n\n\
                    single =\n0.1             2               \nv =\n0.30000000000000004 3               \n2               4               \n";
    assert_eq!(console.text(), expected);
    assert_eq!(out.files_written(), 0);
}

#[test]
fn files() {
    let dir = fresh_dir("output-files").join("made/when/missing");
    let (mut out, console) = outputs(&["output_to_file=true", &format!("output_dir={}", dir.display())]);
    let third = 1.0 / 3.0;
    out.collection("u", &[500.0, third]).unwrap();
    out.collection("two words", &[1e300]).unwrap();
    out.collection("u", &[0.1 + 0.2, f64::NAN]).unwrap();
    out.scalar("n", 1.0).unwrap();
    assert_eq!(console.text(), "n = 1\n", "scalars go to standard output even so");
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
    assert_eq!(read("u-00000.output"), "500\n0.3333333333333333\n");
    assert_eq!(read("u-00001.output"), "0.30000000000000004\nnan\n");
    assert_eq!(read("two words-00000.output"), "1e300\n");
    assert_eq!("0.3333333333333333".parse(), Ok(third));
    assert_eq!(out.files_written(), 3);
    drop(out);
    // Neither locks nor temporary files are left.
    assert_eq!(names_in(&dir), ["heat.run.json", "two words-00000.output", "u-00000.output", "u-00001.output"]);
}

#[test]
fn a_directory_that_cannot_be_written_is_found_at_start() {
    let dir = fresh_dir("output-unwritable");
    let occupied = file(&dir, "occupied", "a file, not a directory");
    for place in [occupied.clone(), occupied.join("below")] {
        let error = open(&["output_to_file=true", &format!("output_dir={}", place.display())]).err().expect("cannot be written");
        assert_eq!(error.kind, ErrorKind::Io);
        assert!(error.message.starts_with(&format!("cannot write to output directory `{}`: ", place.display())), "{}", error.message);
        assert!(error.hint.is_some());
    }
    // Without files the directory does not matter.
    assert!(open(&[&format!("output_dir={}", occupied.display())]).is_ok());
}

#[test]
fn a_directory_lost_on_the_way() {
    let dir = fresh_dir("output-lost");
    let (mut out, _) = outputs(&["output_to_file=true", &format!("output_dir={}", dir.display())]);
    std::fs::remove_dir_all(&dir).unwrap();
    let error = out.collection("u", &[1.0]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Io);
    assert!(error.message.contains("u-00000.output"), "{}", error.message);
}

#[test]
fn tags_cannot_lead_out_of_the_directory() {
    let dir = fresh_dir("output-tags");
    let inner = dir.join("inner");
    let (mut out, _) = outputs(&["output_to_file=true", &format!("output_dir={}", inner.display())]);
    for tag in ["../u", "/etc/u", "a/b", "a\\b", "c:u", "a\nb", "a\0b"] {
        let error = out.collection(tag, &[1.0]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Data, "{tag}");
        assert!(error.message.contains("cannot be a file name"), "{}", error.message);
    }
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
    out.collection("..", &[1.0]).unwrap();
    drop(out);
    assert_eq!(names_in(&inner), ["..-00000.output", "heat.run.json"]);
}

#[test]
fn a_closed_standard_output_is_an_error() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut out = opened(&[], Box::new(Closed)).unwrap();
    assert_eq!(out.scalar("x", 1.0).unwrap_err().kind, ErrorKind::Io);
}

#[test]
fn outputs_kept_in_memory() {
    let mut session = open(&[]).unwrap();
    let records = session.record_outputs();
    session.outputs().scalar("x", 1.5).unwrap();
    let cells = session.domain(ALL_CELLS).unwrap();
    session.outputs().collection("u", &cells, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let expected = [
        Record::Scalar { tag: "x".to_string(), value: 1.5 },
        Record::Collection { tag: "u".to_string(), values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] },
    ];
    assert_eq!(records.take(), expected);
    assert_eq!(records.take(), []);
}

/// Without `output_to_file` large collections go to files, which a note says once; with it they go
/// where it says.
#[test]
fn large_collections_go_to_files_unless_asked_otherwise() {
    let dir = fresh_dir("output-large");
    let word = format!("output_dir={}", dir.display());
    let (small, large) = (vec![1.0 / 3.0; LARGE], vec![0.25; LARGE + 1]);
    let (mut out, console) = outputs(&[&word]);
    out.collection("u", &small).unwrap();
    assert!(console.text().starts_with("u =\n0.3333333333333333 0.3333333333333333 "));
    assert_eq!(
        (out.take_notes(), names_in(&dir).len(), out.go_to_files(LARGE)),
        (vec![], 0, false),
        "nothing is left by a run that prints"
    );
    out.collection("u", &large).unwrap();
    out.vectors("v", &[&large, &large]).unwrap();
    out.write_in_background("u", 1, cells(LARGE + 1), None, || Ok(FieldValues::F64(vec![vec![0.5; LARGE + 1]]))).unwrap();
    out.wait_for_outputs().unwrap();
    let notes = out.take_notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains(&format!("`{}`", dir.display())) && notes[0].contains("output_to_file=false"), "{notes:?}");
    assert_eq!(console.text().len(), 4 + 19 * LARGE + 1);
    drop(out);
    assert_eq!(names_in(&dir), ["heat.run.json", "u-00000.output", "u-00001.output", "v-00000.output"]);

    let dir = fresh_dir("output-large-printed");
    let (mut out, console) = outputs(&["output_to_file=false", &format!("output_dir={}", dir.display())]);
    out.collection("u", &large).unwrap();
    assert_eq!((console.text().len(), names_in(&dir).len()), (4 + 16 * (LARGE + 1) + 1, 0));
}

/// Standard output takes text in pieces: ten million characters need no text of ten million.
#[test]
fn printed_text_is_never_whole_in_memory() {
    struct Largest(Arc<Mutex<(usize, usize)>>);
    impl Write for Largest {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let mut seen = self.0.lock().unwrap();
            *seen = (seen.0.max(bytes.len()), seen.1 + bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let seen = Arc::new(Mutex::new((0, 0)));
    let mut out = opened(&["output_to_file=false"], Box::new(Largest(Arc::clone(&seen)))).unwrap();
    out.collection("u", &vec![1.0 / 3.0; 500_000]).unwrap();
    let (largest, all) = *seen.lock().unwrap();
    // 16,384 numbers at a time, of 18 digits and a blank.
    assert_eq!((largest, all), (19 * 16_384, 4 + 19 * 500_000 + 1));
}

/// Outputs that wait are written as they would have been, in their order; those of a trial never
/// are.
#[test]
fn outputs_wait_or_do_not_happen() {
    let stdout = Buffer::default();
    let dir = fresh_dir("outputs_wait");
    let dir_word = format!("output_dir={}", dir.display());
    let options = Options { stdout: Box::new(stdout.clone()), ..Options::silent() };
    let mut session = Session::open_with(heat(), &words(&["nx=2", "output_to_file=true", &dir_word]), options).unwrap();
    let cells = session.domain(ALL_CELLS).unwrap();
    session.outputs().defer();
    session.outputs().scalar("dropped", 1.0).unwrap();
    assert_eq!(session.outputs().take_deferred().len(), 1);
    // 0.1 in single precision is written so, not with the digits of the nearest double.
    session.outputs().collection("u", &cells, &[0.1_f32, 2.0]).unwrap();
    session.outputs().vectors("v", &cells, &[&[0.1_f32, 2.0], &[3.0, 4.0]]).unwrap();
    session.outputs().scalar("s", 0.5).unwrap();
    session.outputs().bool("b", true).unwrap();
    session.outputs().vector("w", &[1.0, 2.0]).unwrap();
    session.outputs().text("t", "text").unwrap();
    session.outputs().begin_trial();
    assert!(!session.outputs().end_trial(), "a trial without effects");
    session.outputs().begin_trial();
    session.outputs().scalar("tried", 1.0).unwrap();
    assert!(session.outputs().end_trial());
    assert_eq!(stdout.text(), "");
    let deferred = session.outputs().take_deferred();
    session.outputs().release(deferred).unwrap();
    session.outputs().scalar("later", 6.0).unwrap();
    session.outputs().complete().unwrap();
    assert_eq!(stdout.text(), "s = 0.5\nb = true\nw = 1 2\nt = text\nlater = 6\n");
    assert_eq!(std::fs::read_to_string(dir.join("u-00000.output")).unwrap(), "0.1\n2\n");
    assert_eq!(std::fs::read_to_string(dir.join("v-00000.output")).unwrap(), "0.1 3\n2 4\n");
}

/// Files whose numbers arrive later than what is put out after them.
#[test]
fn files_are_written_later_in_their_order() {
    let dir = fresh_dir("output-later");
    let (mut out, console) = outputs(&["output_to_file=true", &format!("output_dir={}", dir.display())]);
    assert!(out.go_to_files(2));
    let (arrive, arrived) = std::sync::mpsc::channel::<f64>();
    out.write_in_background("u", 3, cells(2), None, move || Ok(FieldValues::F64(vec![vec![arrived.recv().unwrap(), 2.0]]))).unwrap();
    out.write_in_background("u", 4, cells(1), None, || Ok(FieldValues::F32(vec![vec![3.0], vec![0.1]]))).unwrap();
    out.scalar("n", 1.0).unwrap();
    assert_eq!(console.text(), "n = 1\n", "the run goes on");
    assert!(!names_in(&dir).iter().any(|name| name.ends_with(".output")), "the second file is not there before the first");
    arrive.send(1.5).unwrap();
    // At once, but after the two.
    out.collection("u", &[4.0]).unwrap();
    let text = |number: usize| std::fs::read_to_string(dir.join(format!("u-{number:05}.output"))).unwrap();
    assert_eq!((text(0), text(1), text(2)), ("1.5\n2\n".into(), "3 0.1\n".into(), "4\n".into()));
    assert_eq!(out.files_written(), 3);
    // Outputs that wait or do not happen are not written by a thread.
    out.suppress();
    assert!(!out.go_to_files(2));
    out.end_suppression();
    out.defer();
    assert!(!out.go_to_files(2));
}

#[test]
fn what_fails_later_is_told_once_and_nothing_follows() {
    let dir = fresh_dir("output-later-fails");
    let (mut out, _) = outputs(&["output_to_file=true", &format!("output_dir={}", dir.display())]);
    std::fs::create_dir_all(dir.join("u-00001.output").join("in the way")).unwrap();
    for number in 0..3 {
        // The third call may return the error already, depending on the thread.
        let told = out.write_in_background("u", 7 + number, cells(1), None, move || Ok(FieldValues::F64(vec![vec![f64::from(number)]])));
        if let Err(error) = told.and_then(|()| if number == 2 { out.wait_for_outputs() } else { Ok(()) }) {
            assert_eq!((error.kind, &error.lines[..]), (ErrorKind::Io, &[8][..]));
            assert!(error.message.contains("u-00001.output"), "{error}");
            assert_eq!(out.wait_for_outputs(), Ok(()), "told once");
            assert!(!dir.join("u-00002.output").exists());
            assert!(dir.join("u-00000.output").exists());
            return;
        }
    }
    panic!("a folder was in the way");
}

/// Four files wait beside the one that is being written; the next one waits for room.
#[test]
fn files_that_wait_are_few() {
    let dir = fresh_dir("output-later-bounded");
    let (mut out, _) = outputs(&["output_to_file=true", &format!("output_dir={}", dir.display())]);
    let (arrive, arrived) = std::sync::mpsc::channel::<()>();
    let arrived = Arc::new(Mutex::new(arrived));
    let begun = Arc::new(Mutex::new(0));
    let (queued, files) = (Arc::clone(&begun), 12);
    let thread = std::thread::spawn(move || {
        for _ in 0..files {
            let arrived = Arc::clone(&arrived);
            out.write_in_background("u", 1, cells(1), None, move || {
                arrived.lock().unwrap().recv().unwrap();
                Ok(FieldValues::F64(vec![vec![1.0]]))
            })
            .unwrap();
            *queued.lock().unwrap() += 1;
        }
        out.wait_for_outputs().unwrap();
        out.files_written()
    });
    // Long enough for a run that does not wait to queue all.
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert!(*begun.lock().unwrap() <= 5, "{} files wait", begun.lock().unwrap());
    for _ in 0..files {
        arrive.send(()).unwrap();
    }
    assert_eq!(thread.join().unwrap(), files);
}
