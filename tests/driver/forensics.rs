//! Files that a failed run leaves, and restarts with the printed parameters.

use std::path::{Path, PathBuf};

use equelle::interpret;
use equelle_front::check::{CheckOptions, check_text};
use equelle_front::lower;
use equelle_front::passes::{self, OptLevel};
use equelle_front::source::SourceMap;
use equelle_front::verify::verify;
use equelle_runtime::Error;
use equelle_runtime::session::Options;

/// Runs the program of the tests, whose third step is the hard one.
fn run(update: &str, words: &[String]) -> Result<(), Error> {
    let body = format!("residual(v) = {{ -> {update} }}\n u = NewtonSolve(residual, u)\n Output(\"u\", u)");
    run_loop(&body, words, Options::silent())
}

/// Runs a program with a loop over steps.
fn run_loop(body: &str, words: &[String], options: Options) -> Result<(), Error> {
    let text = format!(
        "u0 = InputCollectionOfScalar(\"u0\", AllCells())\nu : Mutable Collection Of Scalar On AllCells()\nu = u0\n\
         For dt In InputSequenceOfScalar(\"steps\") {{\n {body}\n}}\n"
    );
    let source = SourceMap::new("case.equelle", text);
    let checked = check_text(source.text(), &CheckOptions { nondimensional: true });
    let program = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let module = lower::lower(&program, &source, "case");
    let verified = verify(passes::optimise(module, OptLevel::O2)).unwrap_or_else(|errors| panic!("{errors:?}"));
    interpret::run(interpret::program(&source, &verified), &verified, words, options)
}

/// Fails in step 3; goes on with what the message says to the end.
fn fails_and_goes_on(update: &str, own: &[&str], parameter: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let common = ["nx=5", "ny=4", "steps=0.01,0.01,1,0.01", "output_format=vtu", "u0_expression=1+0.1*x"];
    let words = |own: &[&str], other: &[String]| {
        let all = common.iter().chain(own).map(|word| (*word).to_owned());
        all.chain([format!("output_dir={}", dir.display())]).chain(other.iter().cloned()).collect::<Vec<String>>()
    };
    let error = run(update, &words(own, &[])).expect_err("a failure");
    let failure = dir.join("failure");
    assert!(failure.join("case-worst.csv").is_file(), "{error}");
    // Where a round takes less time than a hundred copies of the state, not each of them is kept.
    let is_kept = |step: &u32| failure.join(format!("case.checkpoint-{step:05}.npz")).is_file();
    let step = [2, 1].into_iter().find(is_kept).unwrap_or_else(|| panic!("{error}"));
    let state = format!("the state after step {step}; with other parameters the run goes on from there by");
    assert!(error.message.contains(&state), "{error}");
    assert!(error.message.contains(&format!("(drawn by `equellec plot {}`)", failure.display())), "{error}");
    let command = error.message.lines().last().expect("a command").trim();
    let printed: Vec<String> = command.split(' ').filter(|word| word.contains('=')).map(str::to_owned).collect();
    assert!(printed.iter().any(|word| word == parameter), "{command}");
    assert!(printed.iter().any(|word| word.starts_with("restart=")), "{command}");
    let picture = equelle_plot::plot(&failure, &equelle_plot::Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert!(!picture.bytes.is_empty());
    let worst = std::fs::read_to_string(failure.join("case-worst.csv")).expect("a table");
    assert!(worst.starts_with("unknown,kind,index,x,y,residual\nv,") && worst.lines().count() == 21, "{worst}");
    // Later words replace earlier ones, as in the printed command.
    let kept: Vec<&str> = own.iter().copied().filter(|word| !printed.iter().any(|other| key(other) == key(word))).collect();
    run(update, &words(&kept, &printed)).unwrap_or_else(|error| panic!("{printed:?}: {error}"));
    assert_eq!(outputs(dir), 4);
}

fn key(word: &str) -> &str {
    word.split_once('=').map_or(word, |(key, _)| key)
}

fn outputs(dir: &Path) -> usize {
    let names = std::fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    names.filter(|name| name.to_string_lossy().ends_with(".vti")).count()
}

#[test]
fn too_few_iterations() {
    fails_and_goes_on("v - u + dt * (v * v * v - 20) + dt * Divergence(-Gradient(v))", &["max_iter=4"], "max_iter=50");
}

#[test]
fn a_linear_solver_that_gives_up() {
    // Two iterations reduce the residual of a short step by a hundred, that of the long one not.
    let own = ["solver=cg", "preconditioner=none", "solver_max_iter=2", "solver_tol=1e-2", "abs_res_tol=1e-6"];
    fails_and_goes_on("v - u + 100 * dt * dt * Divergence(-Gradient(v)) - dt * u0 * u0", &own, "solver=lu");
}

#[test]
fn a_residual_that_is_not_finite() {
    // The first correction of the long step leads to negative values.
    fails_and_goes_on("v - u + dt * (Log(v) + 3) + 0.001 * dt * Divergence(-Gradient(v))", &[], "newton_line_search=true");
}

/// A run that prints everything leaves nothing.
#[test]
fn what_is_printed_leaves_no_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = format!("output_dir={}", folder.path().display());
    let words = ["nx=5", "steps=1", "output_to_file=false", "u0_expression=1", "max_iter=1", &dir].map(str::to_owned);
    let error = run("v - u + dt * (v * v * v - 20)", &words).expect_err("a failure");
    assert!(!error.message.contains("failure`") && std::fs::read_dir(folder.path()).expect("a folder").next().is_none(), "{error}");
}

/// The words of a command that has them, and the step of its checkpoint.
fn printed(error: &Error, dir: &Path) -> (Vec<String>, u64) {
    let command = error.message.lines().last().expect("a command").trim();
    let words: Vec<String> = command.split(' ').filter(|word| word.contains("restart")).map(str::to_owned).collect();
    let path = words.iter().find_map(|word| word.strip_prefix("restart=")).map(PathBuf::from).expect("a checkpoint");
    assert_eq!(path.parent(), Some(dir.join("failure").as_path()), "{error}");
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let step = name.strip_prefix("case.checkpoint-").expect("a checkpoint").parse().expect("a step");
    assert!(path.is_file() && error.message.contains(&format!("has the state after step {step}")), "{error}");
    (words, step)
}

/// Steps beyond 1/2 are unstable: u grows up to seven times in each. It is beyond the range of
/// numbers about 365 steps later, and found after step 1024; the state of the file is that before,
/// and shorter steps go on from there.
#[test]
fn an_explicit_run_that_blows_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let body = "u = u + dt * Divergence(Gradient(u))";
    let words = |steps: &str, other: &[String]| {
        let own = ["grid_dim=1", "nx=50", "u0_expression=1+x*x", "checkpoint_every=100000"].map(str::to_owned);
        let given = [format!("steps={steps}"), format!("output_dir={}", dir.display())];
        own.into_iter().chain(given).chain(other.iter().cloned()).collect::<Vec<String>>()
    };
    let error = run_loop(body, &words("500*0.1,1500*2", &[]), Options::silent()).expect_err("a blow-up");
    assert!(error.message.contains("is not finite after step 1024 of 2000"), "{error}");
    let (other, step) = printed(&error, dir);
    assert!(error.message.contains(", before numbers ran away; with shorter steps or other parameters the run goes on"), "{error}");
    assert!((450..600).contains(&step), "{error}");
    // 1 + 49.5 * 49.5 is the largest value at the beginning. After at most 160 times as much the
    // state would run away.
    let steps = format!("{step}*0.1,1*1e-9");
    let text = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let options = Options { stdout: Box::new(Captured(std::sync::Arc::clone(&text))), ..Options::silent() };
    run_loop(&format!("{body}\n Output(\"largest\", MaxReduce(u))"), &words(&steps, &other), options)
        .unwrap_or_else(|error| panic!("{error}"));
    let text = String::from_utf8(text.lock().expect("a text").clone()).expect("a text");
    let largest: f64 = text.trim().strip_prefix("largest = ").expect("one output").parse().expect("a number");
    assert!((1.0..160.0 * 2452.0).contains(&largest), "{largest}");
}

struct Captured(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().map_or(Ok(0), |mut text| text.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Any failure of a round leaves the state of an earlier one: an output that is not finite, a bound
/// of a range that is not whole.
#[test]
fn other_failures_of_a_round() {
    for (body, message) in [
        ("u = u + dt\n Output(\"q\", 1 / (MaxReduce(u) - 4))", "output `q` is not finite in step 3 of 5"),
        ("u = u + dt\n For i In Range(0, MaxReduce(u) / 2) {\n u = u + 0 * i\n }\n Output(\"u\", u)", "`Range` needs whole numbers"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = format!("output_dir={}", folder.path().display());
        let words = ["grid_dim=1", "nx=4", "u0=1", "output_format=npy", "steps=5*1", &dir].map(str::to_owned);
        let error = run_loop(body, &words, Options::silent()).expect_err("a failure");
        assert!(error.message.contains(message), "{error}");
        let (_, step) = printed(&error, folder.path());
        assert!((1..3).contains(&step), "{error}");
    }
}

/// Without files and checkpoints there is no state.
#[test]
fn a_run_that_prints_leaves_no_state() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = format!("output_dir={}", folder.path().display());
    let words = ["grid_dim=1", "nx=4", "u0=1", "steps=5*1", &dir].map(str::to_owned);
    let error = run_loop("u = u + dt\n Output(\"q\", 1 / (MaxReduce(u) - 4))", &words, Options::silent()).expect_err("a failure");
    assert!(!error.message.contains("restart") && std::fs::read_dir(folder.path()).expect("a folder").next().is_none(), "{error}");
}
