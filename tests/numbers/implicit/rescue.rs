//! Time-step rescue: a step that fails is taken in parts, and ends where small steps end; what
//! cannot be rescued is said before the run.

use std::fs;
use std::path::Path;

use super::scalar::{interpret, program};
use crate::support::{How, Outputs, run, scratch, stderr};

/// Backward Euler for u' = -u^3 in each cell. The longer the step, the more iterations it takes
/// from the value before it. `start` and the two outputs after the solve show the state before a
/// step, `u` that after it; `count` counts the rounds.
const DECAY: &str = "timesteps = InputSequenceOfScalar(\"timesteps\")
u0 : Mutable Collection Of Scalar On AllCells()
count : Mutable Scalar
u0 = InputCollectionOfScalar(\"u\", AllCells())
count = 0
For dt In timesteps {
    Output(\"start\", u0)
    residual(u) = {
        -> u - u0 + dt * u * u * u
    }
    u = NewtonSolve(residual, u0)
    count = count + 1
    Output(\"before\", u0)
    Output(\"start of the same\", u0 * 1)
    u0 = u
    Output(\"u\", u0)
    Output(\"count\", count)
}
Output(\"end\", u0)
";

fn decay(folder: &Path) -> String {
    program(folder, DECAY).to_string_lossy().into_owned()
}

/// The parameters: these time steps, and three iterations at most.
fn words(folder: &Path, name: &str, timesteps: &[f64]) -> Vec<String> {
    let text: Vec<String> = timesteps.iter().map(f64::to_string).collect();
    let path = folder.join(name);
    fs::write(&path, text.join(" ")).unwrap();
    fs::write(folder.join("u.txt"), "1 0.5 2").unwrap();
    let file = |key: &str, path: &Path| format!("{key}={}", path.display());
    let mut words = vec![file("timesteps_filename", &path), "u_from_file=true".to_owned(), file("u_filename", &folder.join("u.txt"))];
    words.extend(["nx=3", "ny=1", "max_iter=5", "abs_res_tol=1e-9"].map(str::to_owned));
    words
}

fn borrowed(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// Steps of 1/4, 16 and 1/4: the second one needs more than five iterations until it is cut in
/// `parts`. The run ends where the run with the parts as steps ends, bit for bit: the parts are the
/// same computations. What is put out belongs to the three steps.
#[test]
fn rescued_step_ends_where_small_steps_end() {
    let folder = scratch("rescue");
    let path = decay(&folder);
    let long = words(&folder, "long.txt", &[0.25, 16.0, 0.25]);
    let plain = interpret(Path::new(&path), &borrowed(&long));
    assert_eq!(plain.status.code(), Some(3), "the step cannot be taken as a whole: {}", stderr(&plain));
    let cuts = "timestep_cuts=6".to_owned();
    let told = interpret(Path::new(&path), &borrowed(&[&long[..], std::slice::from_ref(&cuts)].concat()));
    let text = stderr(&told);
    assert!(told.status.success(), "{text}");
    assert!(text.contains("warning: line 6, step 2 of 3: the step of 16 failed, it is tried again in 2 parts: Newton's method did not converge in 5 iterations"), "{text}");
    let parts: u32 = text.split("the step of 16 was taken in ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap();
    assert!(parts > 2, "the first cut is not enough: {text}");
    assert!(text.contains(&format!("1 step failed as a whole and was taken in {parts} parts in all")), "{text}");

    let mut small = vec![0.25];
    small.extend(std::iter::repeat_n(16.0 / f64::from(parts), parts as usize));
    small.push(0.25);
    let small = words(&folder, "small.txt", &small);
    for how in [How::Interpreted0, How::Interpreted2, How::Compiled2] {
        let rescued = run(how, &path, &borrowed(&[&long[..], std::slice::from_ref(&cuts)].concat()));
        let reference = run(how, &path, &borrowed(&small));
        let at = [0, parts as usize, parts as usize + 1];
        let chosen =
            |outputs: &Outputs, tag: &str, at: &[usize]| -> Vec<Vec<f64>> { at.iter().map(|&k| outputs.fields(tag)[k].clone()).collect() };
        assert_eq!(rescued.fields("u"), chosen(&reference, "u", &at), "{how:?}");
        for tag in ["start", "before", "start of the same"] {
            assert_eq!(rescued.fields(tag), chosen(&reference, tag, &[0, 1, parts as usize + 1]), "{how:?}, {tag}");
        }
        assert_eq!(rescued.fields("end"), reference.fields("end"), "{how:?}");
        assert_eq!(rescued.scalars["count"], [1.0, 1.0 + f64::from(parts), 2.0 + f64::from(parts)], "{how:?}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// u' = dt in one cell, where a step may be no longer than 3.9 / u. From 1 in a step of 4: as a
/// whole it fails; so does the second of two parts, from 5, and the last of four, from 4; eight end
/// at 3. The ranges of the run are those of what it kept.
#[test]
fn ranges_leave_out_what_was_tried() {
    let folder = scratch("rescue-ranges");
    let text = "timesteps = InputSequenceOfScalar(\"timesteps\")
u0 : Mutable Collection Of Scalar On AllCells()
u0 = 1 Extend AllCells()
limit = 3.9 Extend AllCells()
For dt In timesteps {
    room = Sqrt(limit - dt * u0)
    residual(value) = {
        -> value - u0 - (dt * dt Extend AllCells()) + room - room
    }
    u0 = NewtonSolve(residual, u0)
}
Output(\"u\", u0)
";
    let path = program(&folder, text);
    fs::write(folder.join("steps.txt"), "4").unwrap();
    let steps = format!("timesteps_filename={}", folder.join("steps.txt").display());
    let output = interpret(&path, &["nx=1", "ny=1", "timestep_cuts=5", &steps, "--verbose"]);
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("the step of 4 was taken in 8 parts"), "{text}");
    assert!(text.contains("\nunknowns: value from 5 to 5\n"), "{text}");
    // A quarter in each of eight parts.
    assert!(text.contains("\nunknowns at line 10: value from 1.25 to 3\n"), "{text}");
    fs::remove_dir_all(&folder).unwrap();
}

/// Without an iteration no part is short enough. The run fails as without cuts, after two more
/// attempts, with the outputs of all steps before and the one of the state before the failed step.
#[test]
fn cuts_run_out() {
    let folder = scratch("rescue-exhausted");
    let path = decay(&folder);
    // In 1e-10 the state changes by less than the tolerance; in 16 / 4 it does not.
    let mut words = words(&folder, "steps.txt", &[1e-10, 16.0, 1.0]);
    words.extend(["max_iter=0", "timestep_cuts=2", "output_to_file=true"].map(str::to_owned));
    words.push(format!("output_dir={}", folder.join("out").display()));
    let output = interpret(Path::new(&path), &borrowed(&words));
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert_eq!(text.matches("it is tried again in").count(), 2, "{text}");
    assert!(text.contains("error: Newton's method did not converge in 0 iterations"), "{text}");
    assert!(text.contains("the step of 16 failed as a whole and in up to 4 parts (timestep_cuts=2)"), "{text}");
    assert!(text.contains("program.equelle:11: u = NewtonSolve(residual, u0)"), "{text}");
    let mut files: Vec<String> =
        fs::read_dir(folder.join("out")).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    // The record of the run is beside them, and what the failed solve leaves.
    assert!(files.iter().any(|name| name == "failure"), "{files:?}");
    files.retain(|name| name != "program.run.json" && name != "failure");
    files.sort();
    let expected =
        ["before-00000", "start of the same-00000", "start-00000", "start-00001", "u-00000"].map(|stem| format!("{stem}.output"));
    assert_eq!(files, expected);
    let read = |name: &str| fs::read_to_string(folder.join("out").join(name)).unwrap();
    assert_eq!(read("start-00001.output"), read("u-00000.output"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("count = 1\n"), "the first step");
    fs::remove_dir_all(&folder).unwrap();
}

/// Errors of the data are no failures of a step: nothing is tried again.
#[test]
fn only_failures_of_the_simulation_are_tried_again() {
    let folder = scratch("rescue-data");
    let path = decay(&folder);
    let mut words = words(&folder, "steps.txt", &[1.0]);
    words.extend(["solver=none", "timestep_cuts=2"].map(str::to_owned));
    let output = interpret(Path::new(&path), &borrowed(&words));
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(!text.contains("tried again"), "{text}");
    fs::remove_dir_all(&folder).unwrap();
}

/// An obstacle is named, with its line, before anything is computed; without the parameter the
/// program runs.
#[test]
fn what_cannot_be_taken_again_is_refused_before_the_run() {
    let folder = scratch("rescue-refused");
    let steps = "timesteps = InputSequenceOfScalar(\"timesteps\")\nOutput(\"before\", 1)\n";
    let solve =
        "    residual(u) = {\n        -> u * u - (4 Extend AllCells())\n    }\n    u = NewtonSolve(residual, 3 Extend AllCells())\n";
    let state = "s : Mutable Collection Of Scalar On AllCells()\n";
    let cases = [
        (format!("{steps}Output(\"u\", NewtonSolve(f, 1 Extend AllCells()))\n"), "no loop of the program solves an equation", 0),
        (format!("{steps}For dt In timesteps {{\n{solve}    Output(\"u\", u)\n}}\n"), "because of a step that its body does not use", 3),
        (
            format!(
                "{steps}For dt In timesteps {{\n{solve}    For x In timesteps {{\n        Output(\"x\", x * dt)\n    }}\n    Output(\"u\", u)\n}}\n"
            ),
            "because of a loop inside it",
            8,
        ),
        (
            format!(
                "{steps}{state}s = 1 Extend AllCells()\nFor dt In timesteps {{\n{solve}    Output(\"u\", dt * u)\n    Output(\"late\", s)\n    s = u\n}}\n"
            ),
            "because of an output of the state before the step that comes after an output of the step",
            11,
        ),
    ];
    for (text, reason, line) in cases {
        let text = text.replace(
            "Output(\"u\", NewtonSolve(f",
            "f(u) = {\n    -> u * u - (4 Extend AllCells())\n}\nu = NewtonSolve(f, 1 Extend AllCells())\nOutput(\"u\", u)\n#",
        );
        let path = program(&folder, &text);
        let words = words(&folder, "steps.txt", &[1.0]);
        let good = interpret(&path, &borrowed(&words));
        assert!(good.status.success(), "{text}{}", stderr(&good));
        let refused = interpret(&path, &borrowed(&[&words[..], &["timestep_cuts=1".to_owned()]].concat()));
        let message = stderr(&refused);
        assert_eq!(refused.status.code(), Some(4), "{message}");
        assert!(message.contains("timestep_cuts") && message.contains(reason), "{message}");
        assert!(line == 0 || message.contains(&format!("program.equelle:{line}: ")), "{message}");
        assert!(refused.stdout.is_empty(), "nothing has been computed");
    }
    let path = decay(&folder);
    let words = words(&folder, "steps.txt", &[1.0]);
    let output = interpret(Path::new(&path), &borrowed(&[&words[..], &["timestep_cuts=21".to_owned()]].concat()));
    assert_eq!(output.status.code(), Some(4));
    assert!(stderr(&output).contains("parameter `timestep_cuts` must be at most 20, not 21"), "{}", stderr(&output));
    fs::remove_dir_all(&folder).unwrap();
}
