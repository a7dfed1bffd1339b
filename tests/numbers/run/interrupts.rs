//! Runs that are asked to end: by Ctrl-C, and by `kill`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{Dimensions, built_with, equellec, repository, scratch, stderr};

const PROGRAM: &str = "examples/heat_explicit_2d/heat_explicit_2d.equelle";

/// Steps of the runs: far more than are taken before the signal comes.
const STEPS: usize = 1_000_000;

/// Starts a run, waits for the outputs of its first steps, and sends a signal; the run ends with
/// `code`, says at which step, and its files are complete.
fn ends_well(mut command: Command, folder: &Path, signal: &str, code: i32) {
    fs::write(folder.join("steps.txt"), "0.01\n".repeat(STEPS)).expect("written");
    let outputs = folder.join("outputs");
    command.arg(repository("examples/heat_explicit_2d/case.param"));
    command.arg(format!("timesteps_filename={}", folder.join("steps.txt").display())).arg(format!("output_dir={}", outputs.display()));
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the run starts");
    let started = Instant::now();
    while !outputs.join("expU-00004.output").exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "there are no outputs");
        sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("there is `kill`");
    assert!(sent.success());
    let output = child.wait_with_output().expect("the run ends");
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    let line = text.lines().find(|line| line.starts_with("error: ")).unwrap_or_else(|| panic!("{text}"));
    let step = line
        .strip_prefix("error: interrupted after step ")
        .and_then(|rest| rest.split_once(&format!(" of {STEPS} by SIG{}; the outputs so far are complete; `", &signal[1..])));
    let (step, checkpoint) = step.unwrap_or_else(|| panic!("{text}"));
    let step: usize = step.parse().unwrap_or_else(|_| panic!("{text}"));
    let name = format!("heat_explicit_2d.checkpoint-{step:05}.npz");
    assert!(outputs.join(&name).exists() && checkpoint.ends_with(&format!("{name}` has the state")), "{text}");
    // Each step has its file, with one number for each of 20 x 10 cells.
    let mut files: Vec<_> = fs::read_dir(&outputs).expect("outputs").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "output"));
    assert_eq!(files.len(), step, "{text}");
    for file in files {
        let values = fs::read_to_string(&file).expect("text");
        assert!(values.ends_with('\n') && values.lines().count() == 200, "{}", file.display());
        assert!(values.lines().all(|line| line.parse::<f64>().is_ok()), "{}", file.display());
    }
}

#[test]
fn a_simulator_ends_after_its_step() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let folder = scratch(&format!("interrupt{signal}"));
        ends_well(Command::new(built_with("-O2", Dimensions::Checked, PROGRAM)), &folder, signal, code);
        fs::remove_dir_all(&folder).expect("removed");
    }
}

#[test]
fn the_interpreter_does_too() {
    let folder = scratch("interrupt-interpreter");
    let mut command = equellec();
    command.args(["run", "--interpret"]).arg(repository(PROGRAM));
    ends_well(command, &folder, "-INT", 130);
    fs::remove_dir_all(&folder).expect("removed");
}

/// Runs one long step of heat conduction, sends a signal while it is solved, and looks how it ends:
/// soon, with the exit code of the signal and the step.
fn ends_within_a_solve(name: &str, words: &[&str], after: Duration) {
    let folder = scratch(name);
    fs::write(folder.join("steps.txt"), "1e6\n").expect("written");
    let mut command = Command::new(built_with("-O2", Dimensions::Unchecked, "tests/implicit/heat_contrast.equelle"));
    command.args(["k=1", "u_initial=1", "threads=1"]).args(words);
    command.arg(format!("timesteps_filename={}", folder.join("steps.txt").display()));
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the run starts");
    sleep(after);
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("there is `kill`");
    assert!(sent.success());
    let signalled = Instant::now();
    let output = child.wait_with_output().expect("the run ends");
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(143), "{text}");
    assert!(text.contains("error: interrupted in step 1 of 1 by SIGTERM"), "{text}");
    assert!(signalled.elapsed() < Duration::from_secs(10), "it went on for {:?}", signalled.elapsed());
    fs::remove_dir_all(&folder).expect("removed");
}

/// A linear solve that would take minutes: the signal comes while it iterates.
#[test]
fn a_simulator_ends_within_a_linear_solve() {
    // The residual goes down all the way, by a few thousandths a cycle.
    let words = ["solver=gmres", "preconditioner=none", "solver_restart=2", "solver_tol=1e-14", "solver_max_iter=100000000"];
    ends_within_a_solve("interrupt-solve", &[&["grid_dim=2", "nx=300", "ny=300"][..], &words].concat(), Duration::from_secs(2));
}

/// A factorisation that takes half a minute, and gigabytes if it comes to its end.
#[test]
fn a_simulator_ends_within_a_factorisation() {
    let words = ["grid_dim=3", "nx=50", "ny=50", "nz=50", "solver=lu"];
    ends_within_a_solve("interrupt-factorisation", &words, Duration::from_secs(2));
}
