//! Runs that go on from checkpoints, by the interpreter: the outputs after the checkpoint have the
//! bits of the run that was not interrupted.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use equelle::interpret;
use equelle_front::check::{CheckOptions, check_text};
use equelle_front::ir::Module;
use equelle_front::lower;
use equelle_front::passes::{self, OptLevel};
use equelle_front::source::SourceMap;
use equelle_front::verify::{Verified, verify};
use equelle_runtime::io::Sink;
use equelle_runtime::report::ProgressStyle;
use equelle_runtime::session::Options;
use equelle_runtime::{Error, ErrorKind};

/// Printed output of a run.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct Case {
    source: SourceMap,
    verified: Verified,
    words: Vec<String>,
}

impl Case {
    fn new(text: &str, level: OptLevel, words: &[&str]) -> Case {
        Case::with(text, level, words, |_| {})
    }

    fn audited(text: &str, words: &[&str]) -> Case {
        Case::with(text, OptLevel::O2, words, |module| assert!(!passes::audit::run(module).quantities.is_empty()))
    }

    fn with(text: &str, level: OptLevel, words: &[&str], before: impl FnOnce(&mut Module)) -> Case {
        let source = SourceMap::new("case.equelle", text.to_owned());
        let checked = check_text(source.text(), &CheckOptions { nondimensional: true });
        let program = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
        let mut module = lower::lower(&program, &source, "case");
        before(&mut module);
        let verified = verify(passes::optimise(module, level)).unwrap_or_else(|errors| panic!("{errors:?}"));
        Case { source, verified, words: words.iter().map(|word| (*word).to_owned()).collect() }
    }

    fn run(&self, words: &[String]) -> (String, Result<(), Error>) {
        self.run_in(&Sink::Files, words)
    }

    fn run_in(&self, sink: &Sink, words: &[String]) -> (String, Result<(), Error>) {
        let printed = Printed::default();
        let options = Options { stdout: Box::new(printed.clone()), sink: sink.clone(), ..Options::silent() };
        let all: Vec<String> = self.words.iter().chain(words).cloned().collect();
        let result = interpret::run(interpret::program(&self.source, &self.verified), &self.verified, &all, options);
        let text = String::from_utf8(printed.0.lock().unwrap().clone()).expect("text");
        (text, result)
    }

    fn ends(&self, words: &[String]) -> String {
        let (text, result) = self.run(words);
        result.unwrap_or_else(|error| panic!("{words:?}: {error}"));
        text
    }
}

fn in_folder(dir: &Path) -> String {
    format!("output_dir={}", dir.display())
}

fn checkpoints(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "npz"));
    found.sort();
    found
}

/// Restarts after every round give the rest of the whole run, which prints after each round.
fn goes_on(text: &str, words: &[&str], rounds: usize) {
    for level in [OptLevel::O0, OptLevel::O2] {
        let case = Case::new(text, level, words);
        for every in 1..=rounds {
            let folder = tempfile::tempdir().expect("a folder");
            let dir = folder.path();
            let policy = format!("checkpoint_every={every}");
            let whole = case.ends(&[policy.clone(), in_folder(dir)]);
            let found = checkpoints(dir);
            assert_eq!(found.len(), (rounds / every).min(2), "{every}");
            for path in found {
                let other = tempfile::tempdir().expect("a folder");
                let rest = case.ends(&[policy.clone(), in_folder(other.path()), format!("restart={}", path.display())]);
                assert!(whole.ends_with(&rest), "{level:?} {}:\n{whole}\n--- restarted:\n{rest}", path.display());
                let step: usize = path.to_str().and_then(|p| p.rsplit_once('-')?.1.strip_suffix(".npz")?.parse().ok()).expect("a step");
                assert_eq!(rest.lines().filter(|line| line.starts_with("round")).count(), rounds - step, "{rest}");
            }
        }
    }
}

const GRID: [&str; 4] = ["nx=5", "ny=3", "output_to_file=false", "u0_expression=1+0.3*x+0.7*y*x"];

#[test]
fn explicit_programs_go_on_with_the_same_bits() {
    let text = r#"
u0 = InputCollectionOfScalar("u0", AllCells())
u : Mutable Collection Of Scalar On AllCells()
u = u0
Output("before", MaxReduce(u))
For dt In InputSequenceOfScalar("steps") {
    u = u - 0.1 * dt * Divergence(-Gradient(u))
    Output("u", u)
    Output("round", MaxReduce(u))
}
Output("after", MinReduce(u))
"#;
    goes_on(text, &[&GRID[..], &["steps=6*0.3"]].concat(), 6);
}

#[test]
fn implicit_programs_go_on_with_the_bits_of_the_same_checkpoints() {
    let text = r#"
u0 = InputCollectionOfScalar("u0", AllCells())
u : Mutable Collection Of Scalar On AllCells()
start(v) = { -> v + 0.01 * v * v - u0 }
u = NewtonSolve(start, u0)
For dt In InputSequenceOfScalar("steps") {
    residual(v) = { -> v + 0.01 * v * v - u + dt * Divergence(-Gradient(v)) }
    u = NewtonSolve(residual, u)
    Output("u", u)
    Output("round", MaxReduce(u))
}
"#;
    for solver in ["solver=auto", "solver=gmres", "timestep_cuts=2"] {
        goes_on(text, &[&GRID[..], &["steps=5*0.3", solver]].concat(), 5);
    }
}

/// The condition and the steps that the program computes are part of the state: the run goes on
/// with neither a round more nor one less, and the last checkpoint ends it at once.
#[test]
fn loops_that_decide_go_on_with_the_same_bits() {
    let text = r#"
Import "equelle:time" (next_step)
u0 = InputCollectionOfScalar("u0", AllCells())
u : Mutable Collection Of Scalar On AllCells()
u = u0
time : Mutable Scalar = 0
dt : Mutable Scalar = 0.1
While time < 1 {
    dt = next_step(time, 1.5 * dt, 1)
    residual(v) = { -> v + 0.01 * v * v - u + dt * Divergence(-Gradient(v)) }
    u = NewtonSolve(residual, u)
    time = time + dt
    Output("u", u)
    Output("round", time)
}
u = 3 * u / MaxReduce(u)
halvings : Mutable Scalar = 0
Repeat Until MaxReduce(u) < 1 {
    u = u / 2
    halvings = halvings + 1
    Output("round", halvings)
}
For n In Range(0, 3) {
    u = u + n
    Output("u", u)
    Output("round", n)
}
"#;
    // Times 0.15, 0.375, 0.7125, 1; largest values 1.5, 0.75; three numbers.
    for cuts in ["timestep_cuts=0", "timestep_cuts=2"] {
        goes_on(text, &[&GRID[..], &[cuts]].concat(), 4 + 2 + 3);
    }
}

#[test]
fn programs_with_several_loops_go_on_in_each() {
    // Between the loops: a solve, a domain and a collection on it, a Bool and a Sequence made of
    // state, an input, and outputs.
    let text = r#"
u0 = InputCollectionOfScalar("u0", AllCells())
steps = InputSequenceOfScalar("steps")
u : Mutable Collection Of Scalar On AllCells()
n : Mutable Scalar
u = u0
n = 0
For dt In steps {
    u = u - 0.1 * dt * Divergence(-Gradient(u))
    n = n + 1
    Output("round", n)
}
m = MaxReduce(u)
Output("largest", m)
k = InputScalarWithDefault("k", 0.25)
residual(v) = { -> v + k * v * v - u / m }
p = NewtonSolve(residual, u)
high = Where(AllCells(), u0 > 1.5)
w : Mutable Collection Of Scalar On high
w = u On high
is_large = m > 1
later = steps * (m / m)
For dt In later {
    w = w + dt * (p On high)
    v : Mutable Collection Of Scalar On AllCells()
    v = u
    For s In steps {
        v = v + 0.125 * s * (is_large ? k : m)
    }
    u = v
    n = n + 1
    Output("w", w)
    Output("round", n)
}
Output("sum", SumReduce(w) + SumReduce(u))
q = SumReduce(w)
For dt In steps {
    n = n + dt * q
    Output("round", n)
}
Output("n", n)
"#;
    goes_on(text, &[&GRID[..], &["steps=3*0.3"]].concat(), 9);
}

#[test]
fn values_of_every_kind_come_back() {
    let text = r#"
u0 = InputCollectionOfScalar("u0", AllCells())
a : Mutable Collection Of Vector On AllCells()
b : Mutable Collection Of Bool On AllCells()
c : Mutable Collection Of Cell On InteriorFaces()
f : Mutable Bool
g : Mutable Vector
h : Mutable Scalar
a = Centroid(AllCells())
b = u0 > 2
c = FirstCell(InteriorFaces())
f = False
g = SumReduce(a)
h = 1
For dt In InputSequenceOfScalar("steps") {
    a = a * 1.125
    b = Not b
    c = SecondCell(InteriorFaces()) == c ? FirstCell(InteriorFaces()) : SecondCell(InteriorFaces())
    f = Not f
    g = g + SumReduce(a)
    h = h * 0.1
    Output("a", a)
    Output("b", b)
    Output("c", c)
    Output("f", f)
    Output("g", g)
    Output("round", h)
}
"#;
    goes_on(text, &[&GRID[..], &["steps=4*0.3"]].concat(), 4);
}

/// A program with files of a whole run, and checkpoints after steps 4 and 6.
fn with_files(dir: &Path) -> Case {
    let text = r#"
u0 = InputCollectionOfScalar("u0", AllCells())
k = InputScalarWithDefault("k", 0.1)
u : Mutable Collection Of Scalar On AllCells()
u = u0
Output("u", u)
For dt In InputSequenceOfScalar("steps") {
    u = u - k * dt * Divergence(-Gradient(u))
    Output("u", u)
}
Output("end", u)
"#;
    let case = Case::new(text, OptLevel::O2, &["nx=5", "ny=3", "u0_expression=1+0.3*x+0.7*y*x", "output_to_file=true"]);
    let names: Vec<String> = ["steps=6*0.25".to_owned(), "checkpoint_every=2".to_owned(), in_folder(dir)].into();
    case.ends(&names);
    let steps: Vec<_> = checkpoints(dir).iter().map(|path| path.file_name().expect("a name").to_owned()).collect();
    assert_eq!(steps, ["case.checkpoint-00004.npz", "case.checkpoint-00006.npz"]);
    case
}

/// The files of a folder but its record and checkpoints, and their entries in the record.
fn files(dir: &Path) -> (Vec<(String, String)>, serde_json::Value) {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "output") {
            found.push((path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read_to_string(&path).expect("text")));
        }
    }
    found.sort();
    let record: serde_json::Value = serde_json::from_slice(&fs::read(dir.join("case.run.json")).expect("a record")).expect("JSON");
    (found, record["files"].clone())
}

#[test]
fn the_list_of_files_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let case = with_files(dir);
    let whole = files(dir);
    assert_eq!((whole.0.len(), whole.1.as_array().map(Vec::len)), (8, Some(8)));
    for step in [6, 4] {
        let from = dir.join(format!("case.checkpoint-{step:05}.npz"));
        case.ends(&["steps=6*0.25".to_owned(), in_folder(dir), format!("restart={}", from.display())]);
        assert_eq!(files(dir), whole, "{step}");
    }
    // Longer than before: the rounds that are done are the same.
    let other = tempfile::tempdir().expect("a folder");
    let long = ["steps=9*0.25".to_owned(), in_folder(other.path())];
    case.ends(&long);
    case.ends(&["steps=9*0.25".to_owned(), in_folder(dir), "restart=latest".to_owned()]);
    assert_eq!(files(dir), files(other.path()));
}

/// A run that is killed between a checkpoint and the removal of the oldest one leaves three; where
/// nothing is left to do, the next run writes none, and removes it all the same.
#[test]
fn a_killed_run_leaves_no_checkpoint_too_many() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let case = with_files(dir);
    let kept = checkpoints(dir);
    fs::copy(&kept[0], dir.join("case.checkpoint-00002.npz")).expect("copied");
    case.ends(&["steps=6*0.25".to_owned(), in_folder(dir), "restart=latest".to_owned()]);
    assert_eq!(checkpoints(dir), kept);
}

#[test]
fn a_file_stops_a_run_and_the_run_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let case = with_files(dir);
    let whole = files(dir);
    fs::write(dir.join("STOP"), "").expect("written");
    let words = ["steps=6*0.25".to_owned(), in_folder(dir)];
    let error = case.run(&words).1.expect_err("stopped");
    let state = dir.join("case.checkpoint-00001.npz");
    let expected = format!(
        "interrupted after step 1 of 6 by the file `{}`; the outputs so far are complete; `{}` has the state",
        dir.join("STOP").display(),
        state.display()
    );
    assert_eq!((error.message.as_str(), error.kind.exit_code()), (expected.as_str(), 143));
    assert!(!dir.join("STOP").exists() && checkpoints(dir) == [state]);
    case.ends(&[&words[..], &["restart=latest".to_owned()]].concat());
    assert_eq!(files(dir), whole);
}

#[test]
fn other_runs_and_bad_files_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let case = with_files(dir);
    let path = dir.join("case.checkpoint-00004.npz");
    let restart = format!("restart={}", path.display());
    let refused = |case: &Case, words: &[&str]| {
        let other = tempfile::tempdir().expect("a folder");
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).chain([in_folder(other.path())]).collect();
        let error = case.run(&words).1.expect_err("refused");
        (error.message.replace(&path.display().to_string(), "FILE"), error.kind.exit_code())
    };
    let with = |words: &[&str]| refused(&case, &[&["steps=6*0.25", &restart][..], words].concat());
    let other_grid = "FILE: its grid has 2 dimensions, 15 cells and 38 faces, and this one 2, 12 and 31";
    assert_eq!(with(&["nx=4"]), (other_grid.to_owned(), 4));
    assert_eq!(with(&["dx=2"]), ("FILE: its grid has as many cells and faces, and is another one".to_owned(), 4));
    assert_eq!(with(&["k=0.2"]), ("FILE: input `k` has changed since".to_owned(), 4));
    assert_eq!(with(&["u0_expression=1"]), ("FILE: input `u0` has changed since".to_owned(), 4));
    assert_eq!(with(&["steps=0.5,5*0.25"]), ("FILE: the sequence of its loop differs in the first 4 elements".to_owned(), 4));
    assert_eq!(with(&["steps=3*0.25"]), ("FILE: 4 rounds of its loop are done, and the loop of this run has 3".to_owned(), 4));
    assert_eq!(with(&["restart_anyway=maybe"]).1, 4);
    // The names and sizes of the state fit.
    let other = tempfile::tempdir().expect("a folder");
    case.ends(&["steps=6*0.25".to_owned(), restart.clone(), "k=0.2".into(), "restart_anyway=yes".into(), in_folder(other.path())]);
    assert_eq!(with(&["restart_anyway=yes", "nx=4"]).1, 4);
    let renamed = Case::new(
        "k = InputScalarWithDefault(\"k\", 1)\nFor s In InputSequenceOfScalar(\"steps\") { Output(\"k\", k * s) }",
        OptLevel::O2,
        &["nx=5", "ny=3"],
    );
    assert_eq!(refused(&renamed, &["steps=6*0.25", &restart]), ("FILE: the text of program `case` has changed since".to_owned(), 4));

    let whole = fs::read(&path).expect("a file");
    for end in (0..whole.len()).step_by(97) {
        fs::write(&path, &whole[..end]).expect("written");
        let (message, code) = with(&[]);
        assert!(message.starts_with("FILE: not in NumPy's format `.npz`, or incomplete") && code == 4, "{end}: {message}");
    }
    // Changed numbers do not have the sum of the file.
    let mut changed = whole.clone();
    // 150 bytes after its mark are numbers of the last array: they begin after 64 or 128.
    let at = changed.windows(5).rposition(|mark| mark == b"NUMPY").expect("an array") + 150;
    changed[at] ^= 1;
    fs::write(&path, &changed).expect("written");
    assert_eq!(with(&[]).1, 4);
    assert_eq!(refused(&case, &["steps=6*0.25", "restart=latest"]).1, 5);
    assert_eq!(refused(&case, &["steps=6*0.25", "checkpoint_every=0"]).1, 4);
    assert_eq!(refused(&case, &["steps=6*0.25", "checkpoint_minutes=-1"]).1, 4);
}

#[test]
fn what_is_not_finite_is_no_checkpoint() {
    let text = r#"
x : Mutable Scalar
x = 1
For dt In InputSequenceOfScalar("steps") {
    x = x / dt
}
"#;
    let case = Case::new(text, OptLevel::O0, &["steps=1,0,1", "checkpoint_every=1"]);
    let folder = tempfile::tempdir().expect("a folder");
    let error = case.run(&[in_folder(folder.path())]).1.expect_err("not finite");
    assert_eq!(error.kind.exit_code(), 3, "{error}");
    assert_eq!(checkpoints(folder.path()).len(), 1);
    case.ends(&[in_folder(folder.path()), "nonfinite=allow".into()]);
    let words = [in_folder(folder.path()), "restart=latest".to_owned()];
    let error = case.run(&words).1.expect_err("not finite");
    assert!(error.message.ends_with("`x` is not finite") && error.kind.exit_code() == 4, "{error}");
    case.ends(&[&words[..], &["nonfinite=allow".to_owned()]].concat());
}

/// Explicit diffusion that prints each round.
const DIFFUSION: &str = r#"
u0 = InputCollectionOfScalar("u0", AllCells())
u : Mutable Collection Of Scalar On AllCells()
u = u0
For dt In InputSequenceOfScalar("steps") {
    u = u - 0.1 * dt * Divergence(-Gradient(u))
    Output("round", MaxReduce(u))
}
"#;

#[test]
fn checkpoints_by_time_go_on_too() {
    let case = Case::new(DIFFUSION, OptLevel::O2, &[&GRID[..], &["steps=6*0.3"]].concat());
    let [folder, other] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    // Less than a round takes.
    let whole = case.ends(&[in_folder(folder.path()), "checkpoint_minutes=1e-9".to_owned()]);
    let found = checkpoints(folder.path());
    assert_eq!(found.len(), 2, "{found:?}");
    let rest = case.ends(&[in_folder(other.path()), format!("restart={}", found[0].display())]);
    assert!(whole.ends_with(&rest) && rest.lines().count() == 1, "{whole}\n---\n{rest}");
}

#[test]
fn a_full_disk_leaves_whole_checkpoints() {
    let case = Case::new(DIFFUSION, OptLevel::O2, &[&GRID[..], &["steps=6*0.3"]].concat());
    let words = ["checkpoint_every=1".to_owned(), "output_dir=out".to_owned()];
    let files = |sink: &Sink| {
        let npz = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "npz");
        sink.contents().into_iter().filter(|(path, _)| npz(path)).collect::<Vec<_>>()
    };
    let unlimited = Sink::memory();
    case.run_in(&unlimited, &words).1.expect("it ends");
    let whole = files(&unlimited);
    assert_eq!(whole.len(), 6);
    let size = whole[0].1.len();
    // The record of the run takes some bytes, too.
    let record: usize =
        unlimited.contents().values().map(|bytes| bytes.len()).sum::<usize>() - whole.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
    let mut numbers = Vec::new();
    for room in [record + size / 2, record + 2 * size + size / 2, record + 5 * size + size / 2] {
        let sink = Sink::memory_of(room);
        let error = case.run_in(&sink, &words).1.expect_err("no room");
        assert_eq!((error.kind, error.kind.exit_code()), (ErrorKind::Io, 5), "{error}");
        let found = files(&sink);
        assert!(found.iter().all(|file| whole.contains(file)), "{room}: a checkpoint is torn");
        numbers.push(found.len());
    }
    assert!(numbers.is_sorted() && numbers[1] >= 1 && numbers[2] < 6, "{numbers:?}");
}

/// A `While` loop whose steps have no short decimals (case of a public report).
const WHILE: &str = r#"
u : Mutable Collection Of Scalar On AllCells() = 1 Extend AllCells()
t : Mutable Scalar = 0
n : Mutable Scalar = 0
While t < 0.3 {
    dt = Min(0.013 * (1 + 0.1 * Sin(n)), 0.3 - t)
    u = u * (1 + dt)
    t = t + dt
    n = n + 1
    Output("t", t)
    Output("u", u)
}
"#;

/// Two loops with outputs around them, a tag that comes twice in a round, one that comes late, a
/// field and a number of one tag, and fields on faces and on a part of the cells.
const LOOPS: &str = r#"
steps = InputSequenceOfScalar("steps")
u : Mutable Collection Of Scalar On AllCells() = 1 Extend AllCells()
x = Centroid(AllCells())[0]
n : Mutable Scalar = 0
t : Mutable Scalar = 0.1
Output("u", u)
Output("start", n)
For dt In steps {
    u = u + dt * x
    n = n + 1
    t = t + dt
    Output("m", n)
    Output("t", t)
    Output("u", u)
    Output("u", MaxReduce(u))
    Output("m", 2 * n)
    Output("flux", Gradient(u))
    Output("where", Vector(n, t))
    Output("odd", n > 3)
}
Output("between", u)
Output("n", n)
For dt In steps {
    u = u / (1 + dt)
    t = t + dt
    Output("t", t)
    Output("u", u)
    Output("late", u On BoundaryCells())
    Output("sum", SumReduce(u))
}
Output("end", u)
Output("sum", SumReduce(u))
"#;

/// Files that a run left, and the list of them, without those of its machine and time.
fn left(dir: &Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    for entry in fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if !name.starts_with('.') && name != "case.run.json" {
            found.insert(name, fs::read(&path).expect("a file"));
        }
    }
    let record: serde_json::Value = serde_json::from_slice(&fs::read(dir.join("case.run.json")).expect("a record")).expect("JSON");
    for entry in record["files"].as_array().expect("a list") {
        found.insert(format!("entry of {}", entry["name"]), entry.to_string().into_bytes());
    }
    found
}

fn copied(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), to.path().join(entry.file_name())).expect("copied");
    }
    to
}

/// Whatever is written when, a run that goes on leaves the bytes of the run that nobody stopped, in
/// every file, be what came after the checkpoint there or not.
#[test]
fn every_file_has_the_bytes_of_a_run_that_was_not_stopped() {
    let mut random = fastrand::Rng::with_seed(45);
    let mut restarts = 0;
    for number in 0..60 {
        let (text, level) = ([WHILE, LOOPS][number % 2], [OptLevel::O0, OptLevel::O2][number / 2 % 2]);
        let rounds = random.usize(1..9);
        let mut words: Vec<String> = ["nx=4".to_owned(), "ny=3".to_owned(), format!("steps={rounds}*0.1")].into();
        let formats = ["csv", "vtu,csv", "npy,csv,text", "vtu,csv,npy", "vtu", "text"];
        let format = formats[random.usize(0..formats.len())];
        words.push(format!("output_format={format}"));
        if format.contains("csv") && random.bool() {
            words.push("probe=0.5,0.5; 3.9,2.9".to_owned());
        }
        if random.u8(0..4) > 0 {
            words.push(format!("output_every={}", random.usize(2..6)));
        }
        if random.bool() {
            let time = |n: usize| 0.1 * n as f64;
            words.push(format!("output_times={},{}", time(random.usize(1..4)), time(random.usize(4..9)) + 1e-5));
        }
        if random.bool() {
            words.push("time_from=t".to_owned());
        }
        words.push(format!("checkpoint_every={}", random.usize(1..8)));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let case = Case::new(text, level, &words);
        let whole = tempfile::tempdir().expect("a folder");
        case.ends(&[in_folder(whole.path())]);
        let expected = left(whole.path());
        for path in checkpoints(whole.path()) {
            let name = path.file_name().expect("a name");
            let again = copied(whole.path());
            if random.bool() {
                // As a run leaves it that was killed: what is not kept is not there.
                for file in expected.keys().filter(|file| file.ends_with(".output") || file.ends_with(".vti")) {
                    let later = expected[&format!("entry of \"{file}\"")].clone();
                    let later: serde_json::Value = serde_json::from_slice(&later).expect("JSON");
                    let step: u64 =
                        name.to_string_lossy().rsplit_once('-').expect("a step").1.trim_end_matches(".npz").parse().expect("a step");
                    if later["step"].as_u64() > Some(step) {
                        fs::remove_file(again.path().join(file)).expect("removed");
                    }
                }
            }
            case.ends(&[in_folder(again.path()), format!("restart={}", again.path().join(name).display())]);
            compare(&expected, &left(again.path()), &format!("{words:?} {level:?} from {name:?}"));
            // A restart of a restart.
            let third = copied(again.path());
            case.ends(&[in_folder(third.path()), "restart=latest".to_owned()]);
            compare(&expected, &left(third.path()), &format!("{words:?} {level:?} from {name:?}, and again"));
            restarts += 2;
        }
    }
    assert!(restarts > 100, "{restarts}");
}

fn compare(expected: &std::collections::BTreeMap<String, Vec<u8>>, found: &std::collections::BTreeMap<String, Vec<u8>>, what: &str) {
    assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>(), "{what}");
    for (name, bytes) in expected {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(bytes == &found[name], "{what}: {name}\n{}\n--- restarted\n{}", text(bytes), text(&found[name]));
    }
}

/// Balances count from the beginning of the first run, to the last bit.
#[test]
fn audits_go_on() {
    let text = r#"
u : Mutable Collection Of Scalar On AllCells() = 1 Extend AllCells()
For dt In InputSequenceOfScalar("steps") {
    flux = (-Gradient(u) Extend AllFaces()) + ((0.1 Extend BoundaryFaces()) Extend AllFaces())
    u = u + dt / |AllCells()| * (0.3 * |AllCells()| - Divergence(flux))
    Output("u", u)
}
"#;
    let lines = |words: &[String], dir: &Path| {
        let case = Case::audited(text, &["nx=5", "ny=3", "steps=7*0.1", "output_format=csv", "checkpoint_every=3"]);
        let messages = Printed::default();
        let options = Options {
            stdout: Box::new(std::io::sink()),
            stderr: Box::new(messages.clone()),
            quiet: false,
            progress: ProgressStyle::Lines,
            ..Options::silent()
        };
        let all: Vec<String> = case.words.iter().chain(words).cloned().chain([in_folder(dir)]).collect();
        interpret::run(interpret::program(&case.source, &case.verified), &case.verified, &all, options).expect("it ends");
        let text = String::from_utf8(messages.0.lock().unwrap().clone()).expect("text");
        text.lines().filter(|line| line.contains("audit of")).map(str::to_owned).collect::<Vec<_>>()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let whole = lines(&[], folder.path());
    assert_eq!(whole.len(), 1, "{whole:?}");
    for path in checkpoints(folder.path()) {
        let other = tempfile::tempdir().expect("a folder");
        assert_eq!(lines(&[format!("restart={}", path.display())], other.path()), whole);
    }
}

/// The values of inputs count, whatever gives them: the default, a parameter, a file, a formula.
#[test]
fn inputs_may_be_given_in_another_way() {
    let text = "k = InputScalarWithDefault(\"k\", 1)\nm = InputScalarWithDefault(\"m\", 2 * k)\n\
                u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
                For s In InputSequenceOfScalar(\"steps\") {\n    u = u + k * m * s * InputScalarWithDefault(\"rate\", 1)\n    Output(\"u\", u)\n}\n";
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("u.txt");
    fs::write(&file, "3 3 3\n").expect("written");
    let from_file = format!("u_filename={}", file.display());
    for level in [OptLevel::O0, OptLevel::O2] {
        let case = Case::new(text, level, &["nx=3", "checkpoint_every=2", "output_to_file=false"]);
        let words = |dir: &Path, words: &[&str]| words.iter().map(|word| (*word).to_owned()).chain([in_folder(dir)]).collect::<Vec<_>>();
        let whole = case.ends(&words(folder.path(), &["steps=4*0.25", "u=3"]));
        let rest = &whole[whole.match_indices("u =").nth(2).expect("four outputs").0..];
        let begun = || {
            let folder = tempfile::tempdir().expect("a folder");
            case.ends(&words(folder.path(), &["steps=2*0.25", "u=3"]));
            folder
        };
        for ways in [&["u=3"][..], &["u=3", "k=1"], &["u=3", "k=1", "m=2", "rate=1"], &["u_expression=1+2"], &[&from_file]] {
            let folder = begun();
            assert_eq!(case.ends(&words(folder.path(), &[&["steps=4*0.25", "restart=latest"], ways].concat())), rest, "{ways:?}");
        }
        for (other, name) in [("k=2", "k"), ("m=3", "m"), ("rate=2", "rate")] {
            let folder = begun();
            let error = case.run(&words(folder.path(), &["steps=4*0.25", "restart=latest", "u=3", other])).1.expect_err(other);
            assert!(error.message.ends_with(&format!("input `{name}` has changed since")), "{other}: {error}");
        }
    }
}
