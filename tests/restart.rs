//! Runs that go on from checkpoints, by the interpreter: the outputs after the checkpoint have the
//! bits of the run that was not interrupted.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use equelle_front::check::{CheckOptions, check};
use equelle_front::passes::{self, OptLevel};
use equelle_front::source::SourceFile;
use equelle_front::verify::{Verified, verify};
use equelle_front::{lower, syntax};
use equelle_runtime::Error;
use equelle_runtime::session::Options;
use equellec::interpret;

/// What a run prints.
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
    source: SourceFile,
    verified: Verified,
    words: Vec<String>,
}

impl Case {
    fn new(text: &str, level: OptLevel, words: &[&str]) -> Case {
        let source = SourceFile::new("case.equelle", text.to_owned());
        let checked = check(&syntax::parse(source.text()).program, &CheckOptions { nondimensional: true });
        let program = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
        let module = lower::lower(&program, &source, "case");
        let verified = verify(passes::optimise(module, level)).unwrap_or_else(|errors| panic!("{errors:?}"));
        Case { source, verified, words: words.iter().map(|word| (*word).to_owned()).collect() }
    }

    fn run(&self, words: &[String]) -> (String, Result<(), Error>) {
        let printed = Printed::default();
        let options = Options { stdout: Box::new(printed.clone()), ..Options::silent() };
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
high = Where(AllCells(), u > 0.5 * m)
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
f = false
g = SumReduce(a)
h = 1
For dt In InputSequenceOfScalar("steps") {
    a = a * 1.125
    b = !b
    c = SecondCell(InteriorFaces()) == c ? FirstCell(InteriorFaces()) : SecondCell(InteriorFaces())
    f = !f
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
