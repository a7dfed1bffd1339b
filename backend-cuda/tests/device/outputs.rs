//! Outputs to files: written by a thread while the run goes on, complete and in their order,
//! whatever ends the run.
#![cfg(feature = "runtime")]

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use crate::common::{devices, host_compiler, runtime, runtime_in};
use backend_cuda::runtime::device::emulator::Emulator;
use backend_cuda::runtime::device::{Device, STAGING_BUFFERS};
use backend_cuda::runtime::{CudaRuntime, Precision, run_on};
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::operations::*;
use equelle_runtime::params::Parameters;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::{CanonicalSet, Check, EntityKind, EquelleRuntime, Error, ErrorKind, Extent, HostAccess, Output, Program};

const ALL_CELLS: CanonicalSet = CanonicalSet::new(EntityKind::Cell, Extent::All);
const CELLS: usize = 40;

/// An empty folder, and the words of a run that writes there.
fn folder(name: &str) -> (PathBuf, Vec<String>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("outputs-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let words = vec!["output_to_file=true".to_owned(), format!("output_dir={}", folder.display())];
    (folder, words)
}

fn line() -> Grid {
    Grid::cartesian(Cartesian::line(CELLS, 1.0)).unwrap()
}

fn file(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("u-{number:05}.output"))
}

fn numbers(path: &Path) -> Vec<f64> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

/// Names in a folder: no file is left half written.
fn names(folder: &Path) -> Vec<String> {
    let is_output = |name: &String| name.ends_with(".output") || name.ends_with(".part");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(is_output)
        .collect();
    names.sort();
    names
}

/// The devices of this machine, and the host with copies as late as the runtime allows.
fn all_devices() -> Vec<Rc<dyn Device>> {
    let mut all = devices();
    if host_compiler() {
        all.push(Rc::new(Emulator::with_late_copies()));
    }
    all
}

/// Doubles 0, 1, 2, ... again and again, and puts each state out: file k holds them times 2^k.
fn double_and_put_out(rt: &mut CudaRuntime, rounds: usize, mut each: impl FnMut(&mut CudaRuntime, usize)) -> Result<(), Error> {
    let cells = rt.domain(ALL_CELLS)?;
    let two = rt.scalar(2.0);
    let mut u = rt.scalar_collection(&cells, (0..CELLS).map(|k| k as f64).collect())?;
    for round in 0..rounds {
        rt.output("u", &u)?;
        each(rt, round);
        u = rt.mul(&two, &u)?;
    }
    Ok(())
}

fn doubled(round: usize) -> Vec<f64> {
    (0..CELLS).map(|k| k as f64 * 2.0_f64.powi(round as i32)).collect()
}

/// The two buffers of the state are written again every other round, while the copies of what they
/// held may be waiting.
#[test]
fn a_step_with_an_output_is_one_copy_and_waits_for_nothing() {
    for (number, device) in all_devices().into_iter().enumerate() {
        let (folder, words) = folder(&format!("steps-{number}"));
        let mut rt = runtime(device, line(), &words);
        let mut before = None;
        double_and_put_out(&mut rt, 40, |rt, round| match round {
            10 => before = Some(rt.counters()),
            30 => {
                let (before, after) = (before.unwrap(), rt.counters());
                assert_eq!(after.downloads - before.downloads, 20);
                assert_eq!(after.downloaded_bytes - before.downloaded_bytes, 20 * 8 * CELLS as u64);
                assert_eq!(
                    (after.synchronisations, after.uploads, after.allocations),
                    (before.synchronisations, before.uploads, before.allocations)
                );
                // Copies are no part of graphs: those of the operations come again as before.
                assert_eq!(after.graphs - before.graphs, 20);
            }
            _ => {}
        })
        .unwrap();
        rt.finish().unwrap();
        assert_eq!(names(&folder).len(), 40);
        for round in 0..40 {
            assert_eq!(numbers(&file(&folder, round)), doubled(round), "file {round}");
        }
    }
}

/// Steps that are not written are not copied from the device: of 25 steps three are.
#[test]
fn steps_that_are_not_written_are_not_copied() {
    for (number, device) in all_devices().into_iter().enumerate() {
        let (folder, mut words) = folder(&format!("every-{number}"));
        words.extend(["output_every=10".to_owned(), "steps=25*1".to_owned()]);
        let mut rt = runtime(device, line(), &words);
        let cells = rt.domain(ALL_CELLS).unwrap();
        let u = rt.scalar_collection(&cells, (0..CELLS).map(|k| k as f64).collect()).unwrap();
        rt.output("u", &u).unwrap();
        let steps = rt.input_sequence("steps").unwrap();
        let mut state = rt.begin_loop(&steps).unwrap();
        let before = rt.counters();
        while rt.next(&mut state).unwrap().is_some() {
            rt.output("u", &u).unwrap();
        }
        let after = rt.counters();
        assert_eq!(after.downloads - before.downloads, 3);
        rt.finish().unwrap();
        assert_eq!(names(&folder), ["u-00000.output", "u-00010.output", "u-00020.output", "u-00025.output"]);
    }
}

/// Without `output_to_file` more than 1,000 numbers go to a file, beside the run, and 1,000 do not.
#[test]
fn large_collections_go_to_files() {
    for (number, device) in all_devices().into_iter().enumerate() {
        let (folder, words) = folder(&format!("large-{number}"));
        for cells in [1000, 1001] {
            let grid = Grid::cartesian(Cartesian::line(cells, 1.0)).unwrap();
            let mut rt = runtime(Rc::clone(&device), grid, &words[1..]);
            let all = rt.domain(ALL_CELLS).unwrap();
            let u = rt.scalar_collection(&all, vec![0.25; cells]).unwrap();
            rt.output("u", &u).unwrap();
            rt.finish().unwrap();
            drop(rt);
            assert_eq!(names(&folder).len(), usize::from(cells > 1000), "{cells} cells");
        }
        assert_eq!(numbers(&file(&folder, 0)), vec![0.25; 1001]);
    }
}

/// Scalars of two precisions, and Vectors.
#[test]
fn numbers_are_those_of_outputs_at_once() {
    for (number, device) in all_devices().into_iter().enumerate() {
        for precision in [Precision::Double, Precision::Single] {
            let (folder, words) = folder(&format!("kinds-{number}"));
            let grid = Grid::cartesian(Cartesian::plane([3, 2], [1.0, 1.0])).unwrap();
            let mut rt = runtime_in(precision, Rc::clone(&device), grid, &words);
            let cells = rt.domain(ALL_CELLS).unwrap();
            let third = rt.scalar_collection(&cells, vec![1.0 / 3.0; 6]).unwrap();
            let (x, y) = ((0..6).map(f64::from).collect(), vec![-0.5; 6]);
            let vectors = rt.vector_collection(&cells, vec![x, y]).unwrap();
            rt.output("third", &third).unwrap();
            rt.output("vectors", &vectors).unwrap();
            // Truth is put out at once, after what is on its way.
            let truth = rt.bool_collection(&cells, vec![true, false, true, true, false, false]).unwrap();
            rt.output("truth", &truth).unwrap();
            rt.finish().unwrap();
            let written = match precision {
                Precision::Double => "0.3333333333333333\n",
                Precision::Single => "0.33333334\n",
            };
            let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
            assert_eq!(text("third-00000.output"), written.repeat(6));
            assert_eq!(text("vectors-00000.output"), "0 -0.5\n1 -0.5\n2 -0.5\n3 -0.5\n4 -0.5\n5 -0.5\n");
            assert_eq!(text("truth-00000.output"), "1\n0\n1\n1\n0\n0\n");
        }
    }
}

/// A folder stands where the third file should: nothing is written after it, and the run ends with
/// the name of the file.
#[test]
fn what_cannot_be_written_ends_the_run() {
    for (number, device) in all_devices().into_iter().enumerate() {
        for fails_itself in [false, true] {
            let (folder, words) = folder(&format!("refused-{number}"));
            let in_the_way = file(&folder, 2);
            std::fs::create_dir_all(in_the_way.join("x")).unwrap();
            let session =
                Session::on_grid(Program::named("test"), Parameters::from_words(&words).unwrap(), line(), Options::silent()).unwrap();
            let error = run_on(session, Rc::clone(&device), Precision::Double, |rt| {
                double_and_put_out(rt, 6, |rt, round| rt.line(10 + round as u32))?;
                // The output before this has failed first.
                if fails_itself { Err(Error::new(ErrorKind::Simulation, "no convergence")) } else { Ok(()) }
            });
            let error = error.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Io);
            assert!(error.message.contains(&in_the_way.display().to_string()), "{error}");
            // The line that was current at the third output.
            assert_eq!(error.lines, [11]);
            assert_eq!(names(&folder), ["u-00000.output", "u-00001.output", "u-00002.output"]);
            assert_eq!((numbers(&file(&folder, 0)), numbers(&file(&folder, 1))), (doubled(0), doubled(1)));
        }
    }
}

/// A simulation that fails, as one that is interrupted, leaves what it has put out.
#[test]
fn a_run_that_fails_writes_what_it_has_put_out() {
    for (number, device) in all_devices().into_iter().enumerate() {
        for kind in [ErrorKind::Simulation, ErrorKind::Interrupted(equelle_runtime::interrupt::Signal::Interrupt)] {
            let (folder, words) = folder(&format!("failed-{number}"));
            let session =
                Session::on_grid(Program::named("test"), Parameters::from_words(&words).unwrap(), line(), Options::silent()).unwrap();
            let error = run_on(session, Rc::clone(&device), Precision::Double, |rt| {
                double_and_put_out(rt, 9, |_, _| {})?;
                Err(Error::new(kind, "the end"))
            });
            assert_eq!(error.unwrap_err().message, "the end");
            assert_eq!(names(&folder).len(), 9);
            for round in 0..9 {
                assert_eq!(numbers(&file(&folder, round)), doubled(round));
            }
            // So does one that is just given up.
            let mut rt = runtime(Rc::clone(&device), line(), &words);
            double_and_put_out(&mut rt, 5, |_, _| {}).unwrap();
            drop(rt);
            assert_eq!(numbers(&file(&folder, 4)), doubled(4));
        }
    }
}

/// Cell 2 looks for cell 3, where there are no data: its output is not written, nor what follows,
/// and the error is that of outputs at once.
#[test]
fn a_condition_that_does_not_hold_keeps_the_output_back() {
    for (number, device) in all_devices().into_iter().enumerate() {
        let (folder, words) = folder(&format!("condition-{number}"));
        let mut rt = runtime(device, Grid::cartesian(Cartesian::line(5, 1.0)).unwrap(), &words);
        let (all, boundary) = (rt.domain(ALL_CELLS).unwrap(), rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::Boundary)).unwrap());
        let data = rt.scalar_collection(&boundary, vec![1.0, 2.0]).unwrap();
        let good = rt.entity_collection(&all, EntityKind::Cell, vec![Some(0), Some(4), Some(0), Some(4), Some(4)]).unwrap();
        let bad = rt.entity_collection(&all, EntityKind::Cell, vec![Some(0), Some(4), Some(3), Some(1), Some(4)]).unwrap();
        let gathered = rt.on(&data, &good).unwrap();
        rt.output("u", &gathered).unwrap();
        rt.line(7);
        let gathered = rt.on(&data, &bad).unwrap();
        // The thread may have found out by the next output, or not.
        let ended = rt.output("u", &gathered).and_then(|()| rt.output("u", &data)).and_then(|()| rt.finish());
        let error = ended.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Simulation);
        assert_eq!(error.message, "`On` needs data at cell 3, which the data's domain does not hold (target of cell 2)");
        assert_eq!(error.lines, [7]);
        assert_eq!(names(&folder), ["u-00000.output"]);
        assert_eq!(numbers(&file(&folder, 0)), [1.0, 2.0, 1.0, 2.0, 2.0]);
    }
}

/// Standard output of a session.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// 1 in cell 7, times 1e155 (1e20 in single precision), is infinite after the second step: the
/// third file is not written, nothing is printed after it, however late its numbers come, and the
/// error is that of outputs at once. The state at the end, which nobody put out, is found too.
#[test]
fn numbers_that_are_not_finite_end_the_run() {
    for (number, device) in all_devices().into_iter().enumerate() {
        for (precision, factor) in [(Precision::Double, 1e155), (Precision::Single, 1e20)] {
            for (put_out, word) in [(true, "nonfinite=error"), (false, "nonfinite=error"), (true, "nonfinite=allow")] {
                let (folder, mut words) = folder(&format!("finite-{number}"));
                words.push(word.to_owned());
                let printed = Printed::default();
                let options = Options { stdout: Box::new(printed.clone()), ..Options::silent() };
                let session = Session::on_grid(Program::named("test"), Parameters::from_words(&words).unwrap(), line(), options).unwrap();
                let ended = run_on(session, Rc::clone(&device), precision, |rt| {
                    let cells = rt.domain(ALL_CELLS)?;
                    let factor = rt.scalar(factor);
                    let mut u = rt.scalar_collection(&cells, (0..CELLS).map(|cell| f64::from(u8::from(cell == 7))).collect())?;
                    for round in 0..5 {
                        rt.line(10 + round);
                        if put_out {
                            rt.output("u", &u)?;
                        }
                        let n = rt.scalar(f64::from(round));
                        rt.output("n", &n)?;
                        u = rt.mul(&factor, &u)?;
                    }
                    rt.line(20);
                    rt.check("u", &u)?;
                    rt.finish()
                });
                let text = String::from_utf8(printed.0.lock().unwrap().clone()).unwrap();
                let files = names(&folder).iter().filter(|name| name.ends_with(".output")).count();
                let what = format!("{precision:?}, {put_out}, {word}");
                if word == "nonfinite=allow" {
                    ended.unwrap();
                    assert_eq!((text.lines().count(), files), (5, 5), "{what}");
                    assert_eq!(numbers(&file(&folder, 4))[6..9], [0.0, f64::INFINITY, 0.0], "{what}");
                    continue;
                }
                let error = ended.unwrap_err();
                assert_eq!(error.kind, ErrorKind::Simulation, "{what}");
                let (message, line, files_expected, lines_printed) = if put_out {
                    ("output `u` is not finite: cell 7 at (7.5) is inf", 12, 2, 2)
                } else {
                    ("`u` is not finite at the end of the run: cell 7 at (7.5) is inf", 20, 0, 5)
                };
                assert_eq!((error.message.as_str(), error.lines.as_slice()), (message, &[line][..]), "{what}");
                assert_eq!((text.lines().count(), files), (lines_printed, files_expected), "{what}: {text}");
            }
        }
    }
}

/// With all buffers of the host in use the next copy waits for one of them.
#[test]
fn what_is_on_its_way_is_bounded() {
    for device in devices() {
        let memory = device.allocate(256).unwrap().unwrap();
        // SAFETY: 256 bytes were allocated.
        unsafe { device.upload(memory, &[7; 256]) }.unwrap();
        let copy = || {
            // SAFETY: the memory is not written while it is copied.
            let begun = unsafe { device.copy_to_host_async(&[(memory, 200), (memory, 8)]) };
            begun.unwrap().expect("there is room for 208 bytes").1
        };
        let mut on_the_way: Vec<_> = (0..STAGING_BUFFERS).map(|_| copy()).collect();
        let given_back = Arc::new(AtomicBool::new(false));
        let (last, flag) = (on_the_way.pop().unwrap(), Arc::clone(&given_back));
        let (start, started) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut last = last;
            started.recv().unwrap();
            assert_eq!(last.bytes().unwrap(), [7; 208]);
            // Long enough for a copy that does not wait to come before.
            std::thread::sleep(Duration::from_millis(50));
            flag.store(true, Ordering::SeqCst);
            drop(last);
        });
        start.send(()).unwrap();
        let mut next = copy();
        assert!(given_back.load(Ordering::SeqCst), "a copy began while all buffers were in use");
        thread.join().unwrap();
        assert_eq!(next.bytes().unwrap(), [7; 208]);
        drop((next, on_the_way));
        device.synchronise().unwrap();
        // SAFETY: nothing is in flight.
        unsafe { device.free(memory) };
    }
}
