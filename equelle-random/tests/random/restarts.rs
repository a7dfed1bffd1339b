//! Random programs that go on from checkpoints: what follows has the bits of the whole run, and
//! ends as it does; so has every file, tables and lists among them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use equelle::interpret::{self, Kernels, run_in};
use equelle::ranks::{self, RankProgram, ThreadRanks};
use equelle_front::verify::Verified;
use equelle_random::compare::{Compiled, compile, in_single_precision};
use equelle_random::data::{Fixture, Fixtures, grids};
use equelle_random::generate::{Purpose, program};
use equelle_random::outcome::Ended;
use equelle_runtime::session::Options;
use equelle_runtime::{Error, Session};
use rayon::prelude::*;

/// Programs of a test run.
const PROGRAMS: u64 = 400;
const SEED: u64 = 900_000;

/// One program in so many has collections of single precision.
const SINGLE_PRECISION: u64 = 5;

/// Printed output of a run.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Printed {
    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn run(compiled: &Compiled, module: &Verified, words: &[String]) -> (String, Option<Ended>) {
    let printed = Printed::default();
    let options = Options { stdout: Box::new(printed.clone()), ..Options::silent() };
    let result = interpret::run(Arc::clone(&compiled.runnable), module, words, options);
    (printed.text(), result.err().map(Ended::from))
}

fn checkpoints(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "npz"));
    found.sort();
    found
}

/// The files of a run but its record, and the entries of that for them. What a failure leaves is in
/// a folder, and tells of the run that failed.
fn left(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            continue;
        }
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let bytes = fs::read(&path).expect("a file");
        if name.ends_with(".run.json") {
            let record: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
            for entry in record["files"].as_array().into_iter().flatten() {
                found.insert(format!("entry of {}", entry["name"]), entry.to_string().into_bytes());
            }
        } else if !name.starts_with('.') {
            found.insert(name, bytes);
        }
    }
    found
}

/// A run with these parameters.
type Way<'r> = dyn Fn(&[String]) + 'r;

/// Runs of a program that are to leave the same files.
struct Ways<'r> {
    whole: &'r Way<'r>,
    /// Another way to the same files, checkpoints among them.
    again: Option<&'r Way<'r>>,
    /// Goes on from a checkpoint.
    rest: &'r Way<'r>,
}

/// The first file that two runs have not left alike, with its bytes as text.
fn differing(expected: &BTreeMap<String, Vec<u8>>, found: &BTreeMap<String, Vec<u8>>) -> Option<String> {
    let name = expected.keys().chain(found.keys()).find(|name| expected.get(*name) != found.get(*name))?;
    let shown = |files: &BTreeMap<String, Vec<u8>>| files.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    Some(format!("{name}\n--- expected\n{:?}\n--- found\n{:?}", shown(expected), shown(found)))
}

/// How many restarts of a program that writes files left all of them as the whole run did.
fn files_go_on(seed: u64, compiled: &Compiled, fixture: &Fixture, text: &str, ways: &Ways) -> Result<usize, String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let format = ["csv", "vtu,csv", "npy,csv", "text,csv"][random.usize(0..4)];
    let mut own = vec!["nonfinite=allow".to_owned(), format!("output_format={format}")];
    own.push(format!("checkpoint_every={}", random.usize(1..4)));
    own.extend(random.bool().then(|| format!("output_every={}", random.usize(2..5))));
    own.extend(random.bool().then(|| format!("output_times=0.0078125,{}", 0.0078125 * random.f64() * 6.0)));
    let words = |dir: &Path, more: Option<String>| {
        let given = fixture.words_for(&compiled.runnable).map(str::to_owned).chain(own.iter().cloned());
        given.chain([format!("output_dir={}", dir.display())]).chain(more).collect::<Vec<_>>()
    };
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    (ways.whole)(&words(folder.path(), None));
    let expected = left(folder.path());
    let failed =
        |what: &str, difference: String| format!("seed {seed} on the grid {} with {own:?} {what}: {difference}\n{text}", fixture.name);
    if let Some(again) = ways.again {
        let other = tempfile::tempdir().map_err(|error| error.to_string())?;
        again(&words(other.path(), None));
        if let Some(difference) = differing(&expected, &left(other.path())) {
            return Err(failed("in another way", difference));
        }
    }
    let checkpoints = checkpoints(folder.path());
    for path in &checkpoints {
        let other = tempfile::tempdir().map_err(|error| error.to_string())?;
        for entry in fs::read_dir(folder.path()).expect("a folder") {
            let entry = entry.expect("an entry");
            if entry.path().is_dir() {
                continue;
            }
            fs::copy(entry.path(), other.path().join(entry.file_name())).map_err(|error| error.to_string())?;
        }
        let from = other.path().join(path.file_name().expect("a name"));
        (ways.rest)(&words(other.path(), Some(format!("restart={}", from.display()))));
        if let Some(difference) = differing(&expected, &left(other.path())) {
            return Err(failed(&format!("from {}", path.display()), difference));
        }
    }
    Ok(checkpoints.len())
}

/// How many restarts of a program put something out, and how many left all files.
fn goes_on(seed: u64, fixtures: &Fixtures) -> Result<[usize; 2], String> {
    let random = program(seed, Purpose::Run, &fixtures.ranges);
    let text = random.text();
    if !text.contains("\nFor ") {
        return Ok([0, 0]);
    }
    let compiled = compile(&text, random.units).map_err(|failure| format!("seed {seed}: {}\n{text}", failure.text))?;
    let suitable: Vec<&Fixture> = grids(&random, fixtures).collect();
    let fixture = suitable[seed as usize % suitable.len()];
    let module = if seed.is_multiple_of(2) { &compiled.plain } else { compiled.passes.last().map_or(&compiled.plain, |(_, last)| last) };
    let single = seed.is_multiple_of(SINGLE_PRECISION).then(|| in_single_precision(module));
    let module = single.as_ref().unwrap_or(module);
    let words = |dir: &Path, more: &[String]| {
        let own = ["output_to_file=false".to_owned(), "nonfinite=allow".to_owned(), format!("output_dir={}", dir.display())];
        let policy = format!("checkpoint_every={}", 1 + seed % 3);
        fixture.words_for(&compiled.runnable).map(str::to_owned).chain(own).chain([policy]).chain(more.iter().cloned()).collect::<Vec<_>>()
    };
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    // A checkpoint has the numbering of the grid's file, whatever that of a run is. Linear solvers
    // have last bits that depend on it.
    let numbering = |own: bool| format!("renumber={}", if own { "yes" } else { "no" });
    let (before, after) = (seed % 4 < 2, (seed % 4 < 2) == text.contains("NewtonSolve"));
    let (whole, end) = run(&compiled, module, &words(folder.path(), &[numbering(before)]));
    let mut said = 0;
    for path in checkpoints(folder.path()) {
        let other = tempfile::tempdir().map_err(|error| error.to_string())?;
        let (rest, rest_end) = run(&compiled, module, &words(other.path(), &[format!("restart={}", path.display()), numbering(after)]));
        if !whole.ends_with(&rest) || rest_end != end {
            let ends = |end: &Option<Ended>| end.as_ref().map_or_else(|| "no error".to_owned(), ToString::to_string);
            return Err(format!(
                "seed {seed} on the grid {} from {}: {}, not {}\n{text}\n--- whole\n{whole}\n--- restarted\n{rest}",
                fixture.name,
                path.display(),
                ends(&rest_end),
                ends(&end)
            ));
        }
        said += usize::from(!rest.is_empty());
    }
    let alone = |words: &[String]| drop(run(&compiled, module, words));
    let ways = Ways { whole: &alone, again: None, rest: &alone };
    Ok([said, files_go_on(seed, &compiled, fixture, &text, &ways)?])
}

/// How many restarts on ranks of a program, from checkpoints of ranks, left the files of one
/// process.
fn goes_on_on_ranks(seed: u64, fixtures: &Fixtures) -> Result<usize, String> {
    let random = program(seed, Purpose::Run, &fixtures.ranges);
    let text = random.text();
    if !text.contains("\nFor ") {
        return Ok(0);
    }
    let compiled = compile(&text, random.units).map_err(|failure| format!("seed {seed}: {}\n{text}", failure.text))?;
    let (module, kernels) = match seed.is_multiple_of(2) {
        true => (&compiled.plain, Kernels::Elements),
        false => (compiled.passes.last().map_or(&compiled.plain, |(_, last)| last), Kernels::Lanes),
    };
    // The last bits of solutions depend on the number of ranks.
    if !compiled.runnable.solves.is_empty() {
        return Ok(0);
    }
    let Ok(on_ranks) = RankProgram::new(module) else { return Ok(0) };
    let suitable: Vec<&Fixture> = grids(&random, fixtures).collect();
    let fixture = suitable[seed as usize % suitable.len()];
    let is_cut = AtomicBool::new(true);
    let run_on = |n_ranks: u32, words: &[String]| {
        let ranks = ThreadRanks { n_ranks, partition: None, seed: Some(seed) };
        let ended = ranks::run(kernels, &compiled.runnable, &on_ranks, words, Options::silent(), &ranks, &|_| {});
        let uncut = |error: Error| ["cannot be cut into boxes", "has no cell", "go around"].iter().any(|text| error.message.contains(text));
        if ended.is_err_and(uncut) {
            is_cut.store(false, Ordering::Relaxed);
        }
    };
    let whole = |words: &[String]| drop(run_by_session(&compiled, module, kernels, words));
    let (first, second) = (1 + seed as u32 % 5, 1 + (seed / 5) as u32 % 7);
    let ways = Ways { whole: &whole, again: Some(&|words| run_on(first, words)), rest: &|words| run_on(second, words) };
    match files_go_on(seed, &compiled, fixture, &text, &ways) {
        Err(_) if !is_cut.load(Ordering::Relaxed) => Ok(0),
        found => found,
    }
}

/// Runs a program in one process by these kernels.
fn run_by_session(compiled: &Compiled, module: &Verified, kernels: Kernels, words: &[String]) -> Result<(), Error> {
    let options = Options { back_end: kernels.back_end(), ..Options::silent() };
    run_in(kernels, module, Session::open_with(Arc::clone(&compiled.runnable), words, options)?)
}

#[test]
fn restarts_give_the_rest_of_the_run() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-restarts");
    let triangles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
    let fixtures = Fixtures::write(&folder, &triangles).expect("the target folder can be written");
    let found: Vec<Result<[usize; 2], String>> = (SEED..SEED + PROGRAMS).into_par_iter().map(|seed| goes_on(seed, &fixtures)).collect();
    let number = |which: usize| found.iter().filter_map(|found| found.as_ref().ok()).map(|counts| counts[which]).sum::<usize>();
    let [restarts, with_files] = [0, 1].map(number);
    let failures: Vec<&String> = found.iter().filter_map(|found| found.as_ref().err()).collect();
    let first: Vec<&str> = failures.iter().take(3).map(|text| text.as_str()).collect();
    assert!(failures.is_empty(), "{} programs go on otherwise\n{}", failures.len(), first.join("\n\n"));
    assert!(restarts as u64 > PROGRAMS / 8, "only {restarts} restarts put something out");
    assert!(with_files as u64 > PROGRAMS / 8, "only {with_files} restarts left files");
}

/// Checkpoints and all files of one process, from any number of ranks, also after they went on with
/// a checkpoint of other ranks.
#[test]
fn checkpoints_of_ranks_are_those_of_one_process() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-ranks-restarts");
    let triangles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
    let fixtures = Fixtures::write(&folder, &triangles).expect("the target folder can be written");
    let seeds = SEED + PROGRAMS..SEED + 2 * PROGRAMS;
    let found: Vec<Result<usize, String>> = seeds.into_par_iter().map(|seed| goes_on_on_ranks(seed, &fixtures)).collect();
    let failures: Vec<&str> = found.iter().filter_map(|found| found.as_ref().err()).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} programs differ\n{}", failures.len(), failures[..failures.len().min(3)].join("\n\n"));
    let restarts: usize = found.iter().filter_map(|found| found.as_ref().ok()).sum();
    assert!(restarts as u64 > PROGRAMS / 10, "only {restarts} restarts left files");
}
