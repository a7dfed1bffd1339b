//! `stop_when_change` ends loops at a steady state: in every way to run a program, after the same
//! round.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The rounds that are put out, and the last line of the summary that names one.
fn run(name: &str, text: &str, words: &[&str]) -> (Vec<String>, Option<String>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("steady-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let file = folder.join(format!("{name}.equelle"));
    fs::write(&file, text).expect("the folder can be written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_equellec"));
    if env::var_os("EQUELLE_CACHE_DIR").is_none() {
        command.env("EQUELLE_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("equelle-cache"));
    }
    let case = ["grid_dim=1", "nx=4", "u_expression=x", &format!("output_dir={}", folder.display())].map(str::to_owned);
    let output = command.arg("run").arg(&file).args(case).args(words).output().expect("equellec starts");
    let (out, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{words:?}: {out}{said}");
    let steady = said.lines().find(|line| line.contains("steady state")).map(|line| line.trim().to_owned());
    (out.lines().map(str::to_owned).collect(), steady)
}

/// The cells, with centroids 0.5 to 3.5, are halved in each round: after round n the largest change
/// is 3.5/2^n, and the range so far 1.75 - 0.5/2^n. 1/32 of it is larger for the first time for
/// n = 7. All numbers are exact.
#[test]
fn loops_end_after_the_round_that_changes_nothing_more() {
    let loops = [
        ("sequence", "For dt In InputSequenceOfScalar(\"steps\") {\n", "}\n", Some("steps=20*0.5")),
        ("while", "While t < 10 {\n    dt = 0.5\n", "}\n", None),
        ("range", "For n In Range(0, 20) {\n    dt = 0.5\n", "}\n", None),
    ];
    let ways: [&[&str]; 3] = [&["--interpret"], &["--interpret", "-O0"], &["--compiled"]];
    for (name, begin, end, steps) in loops {
        let text = format!(
            "u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\nt : Mutable Scalar = 0\n\
             {begin}    u = 0.5 * u\n    t = t + dt\n    Output(\"t\", t)\n{end}Output(\"end\", t)\n"
        );
        for way in ways {
            let words: Vec<&str> = way.iter().copied().chain(steps).collect();
            let (all, none) = run(name, &text, &words);
            assert_eq!((all.len(), none), (21, None), "{name} {way:?}");
            let (rounds, said) = run(name, &text, &[&words[..], &["stop_when_change=0.03125"]].concat());
            assert_eq!(rounds.last().map(String::as_str), Some("end = 3.5"), "{name} {way:?}: {rounds:?}");
            assert_eq!(rounds.len(), 8, "{name} {way:?}");
            let said = said.unwrap_or_else(|| panic!("{name} {way:?}: the summary names the round"));
            assert!(said.contains("steady state after round 7"), "{said}");
        }
    }
}

/// A change that stays as large relative to its range does not end a loop, and neither does an
/// inner loop that changes nothing.
#[test]
fn other_loops_have_all_rounds() {
    let text = "u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
                n : Mutable Scalar = 0\nFor k In Range(0, 5) {\n    u = 2 * u\n    For j In Range(0, 3) {\n        n = n + 0\n    }\n    Output(\"k\", k)\n}\nOutput(\"n\", n)\n";
    let (rounds, said) = run("growing", text, &["--interpret", "stop_when_change=0.25"]);
    assert_eq!((rounds.len(), said), (6, None));
}
