//! A build begins beside the trial of a program in the interpreter, and ends with it if the run is
//! interpreted.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const PROGRAM: &str = "# dimensions: ignore\n\
    u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
    For dt In InputSequenceOfScalar(\"steps\") {\n    u = u + dt * Divergence(Gradient(u))\n}\n\
    Output(\"largest\", MaxReduce(u))\n";

#[test]
fn a_build_ends_where_the_run_is_interpreted() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // In place of cargo: tells its number, and goes on for longer than the run.
    let cargo = path("cargo");
    fs::write(&cargo, format!("#!/bin/sh\necho $$ >> '{}'\nexec sleep 60\n", path("begun").display())).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(path("heat.equelle"), PROGRAM).unwrap();
    // Longer than a moment, and shorter than a first build even where it is slow.
    let run = |n: usize, steps: usize| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_equellec"));
        command.args(["run", "--quiet", "heat.equelle", "grid_dim=2", "u=2"]).args([format!("nx={n}"), format!("ny={n}")]);
        command.arg(format!("steps={steps}*0.125")).env("CARGO", &cargo).env("EQUELLE_CACHE_DIR", path("cache"));
        let output = command.current_dir(folder.path()).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && out.contains('2'), "{out}\n{err}");
        assert!(!err.contains("Building"), "{err}");
    };
    run(3, 1);
    run(200, 3000);
    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
        let begun = fs::read_to_string(path("begun")).expect("a build begins");
        let numbers: Vec<&str> = begun.lines().collect();
        assert_eq!(numbers.len(), 1, "{begun}");
        let is_there = Command::new("kill").args(["-0", numbers[0]]).output().unwrap().status.success();
        assert!(!is_there, "the build goes on");
    }
}
