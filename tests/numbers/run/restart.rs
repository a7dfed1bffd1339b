//! Compiled programs go on from checkpoints with the bits of the whole run.

use std::fs;
use std::process::Command;

use crate::support::{Dimensions, built_with, scratch, stderr};

#[test]
fn a_simulator_goes_on_in_each_of_two_loops() {
    let program = built_with("-O2", Dimensions::Unchecked, "tests/run/restart.equelle");
    let folder = scratch("restart");
    let run = |words: &[&str], dir: &str| {
        let mut command = Command::new(&program);
        command.args(["grid_dim=2", "nx=7", "ny=4", "u0_expression=1+0.3*x+0.7*y*x", "steps=4*0.25", "output_to_file=false"]);
        let output = command.args(words).arg(format!("output_dir={}", folder.join(dir).display())).output().expect("it runs");
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        String::from_utf8(output.stdout).expect("text")
    };
    for every in 1..=6 {
        let policy = format!("checkpoint_every={every}");
        let dir = every.to_string();
        let whole = run(&[&policy, "threads=1"], &dir);
        // The last two multiples of the eight rounds.
        let last = 8 / every * every;
        for step in [last - every, last].into_iter().filter(|&step| step > 0) {
            let file = folder.join(&dir).join(format!("restart.checkpoint-{step:05}.npz"));
            let rest = run(&[&policy, &format!("restart={}", file.display()), "threads=2"], "rest");
            assert!(whole.ends_with(&rest), "{step}:\n{whole}\n--- restarted:\n{rest}");
            assert_eq!(rest.lines().filter(|line| line.starts_with("round")).count(), 8 - step, "{rest}");
        }
    }
    fs::remove_dir_all(&folder).expect("removed");
}
