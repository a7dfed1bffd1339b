use std::fs;
use std::io::Write as _;
use std::path::Path;

use equelle_front::check::{CheckOptions, check_text};
use equelle_front::lower;
use equelle_front::passes::{self, OptLevel};
use equelle_front::source::SourceMap;
use equelle_front::verify::verify;

use super::*;

/// Heat on a line: a scheme of the fewest operations a round.
const HEAT: &str = "u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
    For dt In InputSequenceOfScalar(\"steps\") {\n    u = u + dt * Divergence(Gradient(u))\n\
    Output(\"u\", u)\n    Output(\"t\", MaxReduce(u))\n}\n";

const COMMON: [&str; 3] = ["grid_dim=1", "nx=1000", "u_expression=x"];
/// Minutes in the interpreter, and so few seconds that any build is longer.
const LONG: &str = "steps=1000000*1e-9";
const SHORT: &str = "steps=2*1e-9";

fn compiled(text: &str) -> (&'static Program, Verified) {
    let source = SourceMap::new("case.equelle", text);
    let checked = check_text(source.text(), &CheckOptions { nondimensional: true });
    let program = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let verified = verify(passes::optimise(lower::lower(&program, &source, "case"), OptLevel::O2)).expect("a module");
    (interpret::program(&source, &verified), verified)
}

fn words(given: &[&str]) -> Vec<String> {
    COMMON.iter().chain(given).map(|word| (*word).to_owned()).collect()
}

/// Words that `run` adds for `--plot`, `--watch` and `--html`, and those that a user may give.
const WAYS: [&[&str]; 14] = [
    &[],
    &["output_format=vtu,csv"],
    &["output_format=vtu,csv", "event_log=true"],
    &["output_format=csv", "probe=10;500"],
    &["output_format=npy", "output_every=1000"],
    &["output_format=text", "output_times=1e-9,1"],
    &["output_to_file=true"],
    &["output_to_file=false"],
    &["output_format=vtu", "time_from=t", "output_compression=zlib"],
    &["checkpoint_every=1"],
    &["checkpoint_minutes=1", "output_format=npy"],
    &["nonfinite=allow", "stop_when_change=1e-300"],
    &["newton_dump=dump", "audit=yes", "verbose=3"],
    &["memory_limit=1GiB", "renumber=yes", "threads=2"],
];

/// A long run is built and a short one is not, whatever becomes of their outputs; and neither
/// leaves anything, nor takes the file that would end the run.
#[test]
fn the_way_of_outputs_does_not_decide() {
    let (program, verified) = compiled(HEAT);
    let trial = Trial { program, verified: &verified, state: BuildState::Prepared };
    let folder = tempfile::tempdir().expect("a folder");
    let dir = format!("output_dir={}", folder.path().display());
    fs::write(folder.path().join("STOP"), "").expect("the folder can be written");
    for way in WAYS {
        let given = |steps| words(&[way, &[steps, &dir]].concat());
        assert_eq!(trial.outlook(&given(LONG)), Outlook::Builds, "{way:?}");
        assert_eq!(trial.outlook(&given(SHORT)), Outlook::Ends, "{way:?}");
        let found: Vec<_> = fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect();
        assert_eq!(found, ["STOP"], "{way:?}");
    }
    assert!(!Path::new("dump").exists());
}

/// A run that goes on from a checkpoint has the rounds that are left.
#[test]
fn a_run_that_goes_on_is_tried_from_there() {
    let (program, verified) = compiled(HEAT);
    let trial = Trial { program, verified: &verified, state: BuildState::Prepared };
    let folder = tempfile::tempdir().expect("a folder");
    let dir = format!("output_dir={}", folder.path().display());
    let first = words(&[SHORT, "checkpoint_every=2", &dir]);
    interpret::run(program, &verified, &first, Options::silent()).expect("a run");
    for restart in ["restart=latest".to_owned(), format!("restart={}", folder.path().join("case.checkpoint-00002.npz").display())] {
        assert_eq!(trial.outlook(&words(&["steps=4*1e-9", &dir, &restart])), Outlook::Ends);
        assert_eq!(trial.outlook(&words(&[LONG, &dir, &restart])), Outlook::Builds);
    }
}

/// Mistakes end the run without a build, a file that is not there among them.
#[test]
fn errors_end_a_run() {
    let (program, verified) = compiled(HEAT);
    let trial = Trial { program, verified: &verified, state: BuildState::Nothing };
    for wrong in ["u_filename=missing.txt", "nx=0", "output_format=vtk", "probe=1", "restart=missing.npz", "u_expression=1/0", "solver"] {
        let given: Vec<String> = words(&[LONG]).into_iter().filter(|word| !wrong.starts_with("u_") || !word.starts_with("u_")).collect();
        let given: Vec<String> = given.into_iter().chain([wrong.to_owned()]).collect();
        assert_eq!(trial.outlook(&given), Outlook::Ends, "{wrong}");
    }
    // More memory than the interpreter may have can be enough for the program.
    assert_eq!(trial.outlook(&words(&[SHORT, "memory_limit=1kB"])), Outlook::Builds);
}

/// Large grids are not tried, however they are given.
#[test]
fn large_grids_are_built() {
    let (program, verified) = compiled(HEAT);
    let trial = Trial { program, verified: &verified, state: BuildState::Nothing };
    for large in ["nx=1000000", "dx=1000000*0.1"] {
        let given: Vec<String> = ["grid_dim=1", large, "u=1", SHORT].map(str::to_owned).to_vec();
        let begin = Instant::now();
        assert_eq!(trial.outlook(&given), Outlook::Builds, "{large}");
        assert!(begin.elapsed() < Duration::from_secs(2), "{large}");
    }
}

/// Runs of a sweep count together.
#[test]
fn a_sweep_counts_all_its_runs() {
    let (program, verified) = compiled(HEAT);
    let trial = Trial { program, verified: &verified, state: BuildState::Prepared };
    let runs = |steps: &[&str]| -> Vec<Vec<String>> { steps.iter().map(|steps| words(&[steps, "output_format=csv"])).collect() };
    let is_interpreted = |outlook| matches!(outlook, Outlook::EndsIn(seconds) if seconds < 3.0);
    assert!(is_interpreted(trial.outlook_of_all(&runs(&[SHORT; 20]), 2, 0.01)));
    // Each run begins with compiling the program: a hundred times 0.1 s.
    assert_eq!(trial.outlook_of_all(&runs(&[SHORT; 100]), 1, 0.1), Outlook::Builds);
    assert!(is_interpreted(trial.outlook_of_all(&runs(&[SHORT; 100]), 10, 0.1)));
    for long in [&[LONG, SHORT, SHORT][..], &[SHORT, SHORT, LONG], &[SHORT, LONG, SHORT], &[LONG]] {
        assert_eq!(trial.outlook_of_all(&runs(long), 2, 0.01), Outlook::Builds, "{long:?}");
    }
    // A run of 0.1 s is short, and a thousand of them are not.
    let steps = steps_of(0.1, &trial);
    assert_eq!(trial.outlook(&words(&[&steps])), Outlook::Ends);
    assert_eq!(trial.outlook_of_all(&runs(&vec![steps.as_str(); 1000]), 2, 0.001), Outlook::Builds);
}

/// Steps that take about so many seconds.
fn steps_of(seconds: f64, trial: &Trial<'_>) -> String {
    let Length::Measured(of_hundred) = trial.length(&words(&["steps=100*1e-9"]), Duration::MAX) else { panic!("a hundred rounds") };
    format!("steps={}*1e-9", (100.0 * seconds / of_hundred).ceil())
}

fn says(forecast: &mut Forecast, text: &str) -> Option<f64> {
    forecast.write_all(text.as_bytes()).expect("memory");
    forecast.seconds()
}

#[test]
fn rounds_tell_how_long_all_take() {
    let mut forecast = Forecast::of_loops(Some(1));
    let mut say = |text: &str| says(&mut forecast, text);
    let start = "{\"event\":\"start\"}\n{\"event\":\"step\",\"step\":1,\"steps_done\":1,\"elapsed\":0.01,\"left\":5.0}\n";
    assert_eq!(say(start), None);
    assert_eq!(say("{\"event\":\"step\",\"step\":2,\"steps_done\":2,\"elapsed\":1.0,"), None);
    assert_eq!(say("\"left\":9.5}\n"), Some(10.5));
    assert_eq!(say("no JSON\n"), Some(10.5));
    // Rounds that a condition ends.
    let mut forecast = Forecast::of_loops(Some(1));
    assert_eq!(says(&mut forecast, "{\"event\":\"step\",\"step\":9,\"steps_done\":9,\"elapsed\":2.0,\"left\":null}\n"), None);
}

/// The first of two loops tells nothing of the second, and a loop of a function nothing of others.
#[test]
fn loops_that_follow_are_not_known() {
    let first = "{\"event\":\"step\",\"step\":5,\"steps_done\":5,\"elapsed\":1.0,\"left\":0.5}\n";
    let second = "{\"event\":\"step\",\"step\":2,\"steps_done\":10,\"elapsed\":0.5,\"left\":90}\n";
    let mut forecast = Forecast::of_loops(Some(2));
    assert_eq!((says(&mut forecast, first), forecast.least()), (None, Some(1.5)));
    assert_eq!(says(&mut forecast, second), Some(91.5));
    let mut forecast = Forecast::of_loops(None);
    assert_eq!((says(&mut forecast, first), forecast.least()), (None, Some(1.5)));
    let two = HEAT.replace("For dt", "For s In Range(0, 3) {\n    u = 2 * u\n}\nFor dt");
    assert_eq!([HEAT, &two].map(|text| outermost_loops(compiled(text).1.module())), [Some(1), Some(2)]);
}
