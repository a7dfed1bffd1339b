//! First steps of a newcomer: help, programs on standard input, dimensions, and messages before a
//! long build.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const HEAT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/heat_explicit_2d/heat_explicit_2d.equelle");

/// `equellec` with the build cache that all tests share.
fn equellec() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equellec"));
    if env::var_os("EQUELLE_CACHE_DIR").is_none() {
        command.env("EQUELLE_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("equelle-cache"));
    }
    command
}

/// A new empty folder that only this call knows.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("newcomer-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs to the end; fails unless the exit code is the expected one.
fn expect(code: i32, command: &mut Command) -> Output {
    let output = command.output().expect("equellec starts");
    assert_eq!(output.status.code(), Some(code), "{command:?}\n{}{}", stdout(&output), stderr(&output));
    output
}

/// [`expect`] with a text on standard input.
fn expect_with_input(code: i32, words: &[&str], text: &str) -> Output {
    let mut command = equellec();
    let mut child =
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("equellec starts");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("equellec reads");
    let output = child.wait_with_output().expect("equellec ends");
    assert_eq!(output.status.code(), Some(code), "{words:?}\n{}{}", stdout(&output), stderr(&output));
    output
}

#[test]
fn the_command_alone_shows_what_a_beginner_needs() {
    let output = expect(2, &mut equellec());
    let shown = stderr(&output);
    for verb in ["check", "run", "plot", "explain"] {
        assert!(shown.contains(&format!("  equellec {verb} ")), "{verb} in {shown}");
    }
    assert!(shown.lines().count() <= 8 && output.stdout.is_empty(), "{shown}");
    let help = stdout(&expect(0, equellec().arg("--help")));
    assert!(help.contains("Verbs:") && help.contains("To begin with:\n  equellec check"), "{help}");
}

#[test]
fn help_of_run_groups_its_options() {
    let help = stdout(&expect(0, equellec().args(["run", "--help"])));
    let group = |title: &str| {
        let from = help.find(&format!("\n{title}:\n")).unwrap_or_else(|| panic!("no {title} in {help}"));
        let rest = &help[from + 1..];
        // Headings alone begin at the margin.
        let end =
            rest.match_indices('\n').find(|(at, _)| rest[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic()) && *at > title.len() + 1);
        rest[..end.map_or(rest.len(), |(at, _)| at)].to_owned()
    };
    for (title, options) in [
        ("Compilation", &["-O ", "--nondimensional", "--precision", "--fp", "--target-cpu"][..]),
        ("Run", &["--backend", "--interpret", "--restart", "--plot"]),
        ("Parameters", &["--list-inputs", "--template"]),
        ("Messages", &["--quiet", "--verbose", "--profile", "--message-format", "--color"]),
    ] {
        for option in options {
            assert!(group(title).contains(option), "{option} is not in {title} of {help}");
        }
    }
}

#[test]
fn topics_are_listed_and_explained() {
    let topics = stdout(&expect(0, equellec().arg("explain")));
    for topic in ["  Gradient ", "  NewtonSolve ", "  E0302 ", "  W0502 ", "  nx ", "  output_every "] {
        assert!(topics.lines().any(|line| line.starts_with(topic)), "{topic} in {topics}");
    }
    let shown = stdout(&expect(0, equellec().args(["explain", "nx"])));
    assert!(shown.contains("`nx=N`") && shown.contains("cells along x") && shown.contains("default: 6"), "{shown}");
    let refused = stderr(&expect(2, equellec().args(["explain", "output_evry"])));
    assert!(refused.contains("`output_every`"), "{refused}");
}

/// A wrong value is answered with a right one: the default of a key that has one.
#[test]
fn errors_of_parameters_show_the_right_form() {
    for (word, example) in [("k=hot", "`k=0.5`"), ("nx=many", "`nx=10`"), ("output_to_file=perhaps", "`output_to_file=true`")] {
        let program = "k = InputScalarWithDefault(\"k\", 1)\nOutput(\"k\", k)\n";
        let said = stderr(&expect_with_input(4, &["run", "--interpret", "-", word], program));
        assert!(said.contains(&format!("hint: such as {example}")), "{said}");
    }
    // Before a build, too.
    for word in ["k=hot", "nx=many", "output_to_file=perhaps"] {
        let mut run = equellec();
        expect(4, run.args(["run", HEAT, "u_initial=1", "timesteps=1", word]).env("CARGO", "no-such-cargo"));
    }
    let said = stderr(&expect_with_input(2, &["run", "--interpret", "-", "nx"], "Output(\"a\", 1)\n"));
    assert!(said.contains("`nx=50`"), "{said}");
}

#[test]
fn programs_come_from_standard_input() {
    let program = "k = InputScalarWithDefault(\"k\", 1)\nOutput(\"k\", 2 * k)\n";
    assert!(expect_with_input(0, &["check", "-"], program).stderr.is_empty());
    assert_eq!(stdout(&expect_with_input(0, &["run", "--interpret", "--quiet", "-", "k=3"], program)), "k = 6\n");
    assert_eq!(stdout(&expect_with_input(0, &["run", "--quiet", "-", "k=3"], program)), "k = 6\n");
    assert!(stdout(&expect_with_input(0, &["emit", "ast", "-"], program)).contains("InputScalarWithDefault"));
    let listed = stdout(&expect_with_input(0, &["run", "--list-inputs", "-"], program));
    assert!(listed.starts_with("Inputs of program:\n  k: Scalar"), "{listed}");
    let refused = stderr(&expect_with_input(1, &["check", "-"], "a = b\n"));
    assert!(refused.contains("<standard input>:1:5"), "{refused}");
}

/// A program may be consistent only without dimensions: the first error tells how to leave them
/// unchecked, and the first line of the program does it.
#[test]
fn dimensions_can_be_ignored() {
    let program = "k = InputScalarWithDefault(\"k\", 1)\nx = 2 [Meter] + k\ny = 3 [Second] + k\nOutput(\"x\", x * y)\n";
    let refused = stderr(&expect_with_input(1, &["check", "-"], program));
    let first = refused.find("--nondimensional").unwrap_or_else(|| panic!("{refused}"));
    assert!(first < refused.find("[Second]").expect("the second error") && refused.matches("--nondimensional").count() == 1, "{refused}");
    let ignoring = format!("# dimensions: ignore\n{program}");
    assert_eq!(stdout(&expect_with_input(0, &["run", "--interpret", "--quiet", "-"], &ignoring)), "x = 12\n");
    // Another line than the first is a comment.
    expect_with_input(1, &["check", "-"], &format!("\n{ignoring}"));
    // Errors that stay without dimensions are not blamed on them.
    let refused = stderr(&expect_with_input(1, &["check", "-"], &program.replace("x * y", "x * z")));
    assert!(!refused.contains("--nondimensional"), "{refused}");
}

#[test]
fn the_inputs_that_are_missing_are_listed_before_a_build() {
    // A cargo that does not exist shows that nothing is built.
    for how in [&["run"][..], &["run", "--interpret"]] {
        let output = expect(4, equellec().args(how).args([HEAT, "u_initial=1", "kk=2"]).env("CARGO", "no-such-cargo"));
        let said = stderr(&output);
        for part in [
            "  timesteps: Sequence Of Scalar",
            "    timesteps=NUMBERS ",
            "such as 40*0.01, 0.02",
            "--template",
            "`kk` (command line) is not used",
            "did you mean `k`?",
        ] {
            assert!(said.contains(part), "{part} in {said}");
        }
        assert!(!said.contains("u_initial"), "{said}");
    }
}

#[test]
fn what_is_unused_or_empty_is_told_before_the_build() {
    let folder = scratch("told");
    fs::write(folder.join("none"), "").expect("the folder can be written");
    let program = folder.join("p.equelle");
    // A program that no earlier test has built.
    let text = format!("For x In InputSequenceOfScalar(\"xs\") {{\n    Output(\"x\", x)\n}}\nOutput(\"n\", {})\n", std::process::id());
    fs::write(&program, text).expect("the folder can be written");
    let empty = format!("xs_filename={}", folder.join("none").display());
    let said = stderr(&expect(
        6,
        equellec().args(["run", "--compiled"]).arg(&program).args([&empty, "ouput_dir=x"]).env("CARGO", "no-such-cargo"),
    ));
    let place = |part: &str| said.find(part).unwrap_or_else(|| panic!("{part} in {said}"));
    assert!(place("did you mean `output_dir`?").max(place("the sequence `xs`, from")) < place("cargo was not found"), "{said}");
    // The run itself says so, too.
    let said = stderr(&expect(0, equellec().args(["run", "--interpret", "--quiet"]).arg(&program).arg(&empty)));
    assert!(said.contains("has no elements: a loop over it has no round"), "{said}");
    fs::remove_dir_all(&folder).expect("the folder can be removed");
}

/// A run begins without a build and needs no cargo; one that is to be compiled does.
#[test]
fn runs_begin_without_a_build() {
    let cache = scratch("short-runs");
    let program = cache.join("growth.equelle");
    let text = "u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
                For dt In InputSequenceOfScalar(\"steps\") {\n    u = u + dt * u\n}\nOutput(\"sum\", SumReduce(u))\n";
    fs::write(&program, text).expect("the folder can be written");
    let run = |code: i32, words: &[&str]| {
        let mut command = equellec();
        command.env("CARGO", "no-such-cargo").env("EQUELLE_CACHE_DIR", &cache);
        expect(code, command.arg("run").arg(&program).args(["u=1", "output_to_file=false"]).args(words))
    };
    let short = ["nx=3", "steps=1, 1"];
    let output = run(0, &short);
    assert_eq!(stdout(&output), "sum = 12\n");
    assert!(stderr(&output).contains("Running without a build") && stderr(&output).contains("--compiled"), "{}", stderr(&output));
    assert!(run(0, &["--quiet", short[0], short[1]]).stderr.is_empty());
    assert_eq!(stdout(&run(0, &["--precision=f32", short[0], short[1]])), "sum = 12\n");
    // The profile has the whole command.
    let profile = stderr(&run(0, &["--interpret", "--profile", short[0], short[1]]));
    assert!(profile.lines().any(|line| line.starts_with("compile ")), "{profile}");
    // An error of the run needs no build either.
    assert!(stderr(&run(3, &["nx=3", "u=1e308", "steps=10"])).contains("growth.equelle:"));
    let picture = format!("--plot={}", cache.join("u.png").display());
    let dir = format!("output_dir={}", cache.join("drawn").display());
    run(0, &[&picture, "nx=1000", "steps=1, 1", "output_to_file=true", &dir]);
    for words in [&["--compiled", short[0], short[1]], &["--profile", short[0], short[1]], &["--fp=fast", short[0], short[1]]] {
        assert!(stderr(&run(6, words)).contains("cargo was not found"), "{words:?}");
    }
    // A file that is missing is told before anything is built, whatever the program is built for.
    for words in [&["nx=1000000", "steps_filename=none.txt"][..], &["--compiled", "nx=3", "grid_filename=none.msh", "steps=1"]] {
        let said = stderr(&run(5, words));
        assert!(said.contains("cannot read") && said.contains("none."), "{said}");
    }
    // So does a sweep.
    let sweep = |code: i32, words: &[&str]| {
        let mut command = equellec();
        command.env("CARGO", "no-such-cargo").env("EQUELLE_CACHE_DIR", &cache);
        stderr(&expect(code, command.arg("sweep").arg(&program).arg("--output").arg(cache.join("out")).args(["u=1,2", "nx=3"]).args(words)))
    };
    assert!(sweep(0, &["steps=1, 1"]).contains("Running without a build"));
    assert!(sweep(6, &["steps=1, 1", "--compiled"]).contains("cargo was not found"));
    fs::remove_dir_all(&cache).expect("the folder can be removed");
}

/// Without a GPU nothing is built for one by `run` and `compare`; on a machine with one there is
/// nothing to refuse.
#[test]
fn a_missing_gpu_is_told_before_the_build() {
    let report = stdout(&expect(0, equellec().arg("doctor").env_remove("EQUELLE_CUDA_DEVICE")));
    if !report.contains("programs for cuda can be built here, but not run") {
        return;
    }
    for verb in [&["run", "--backend", "cuda"][..], &["compare", "--backend", "serial,cuda"]] {
        let mut command = equellec();
        command.args(verb).args([HEAT, "u_initial=1", "timesteps=1"]).env("CARGO", "no-such-cargo").env_remove("EQUELLE_CUDA_DEVICE");
        let said = stderr(&expect(6, &mut command));
        assert!(said.contains("programs for cuda cannot run on this machine") && said.contains("equellec build"), "{said}");
    }
}

/// Two values of k, two of nx: k is put out once and the sum over 3 or 5 cells of 2k in each round,
/// of which the last is in the table.
#[test]
fn a_sweep_runs_every_combination_and_makes_a_table() {
    let folder = scratch("sweep");
    let program = folder.join("s.equelle");
    let text = "k = InputScalarWithDefault(\"k\", 1)\nOutput(\"rate\", k)\n\
                For s In InputSequenceOfScalar(\"steps\") {\n    Output(\"sum\", SumReduce(k * s Extend AllCells()))\n}\n";
    fs::write(&program, text).expect("the folder can be written");
    let sweep = |code: i32, words: &[&str]| {
        let mut command = equellec();
        expect(code, command.args(["sweep", "--interpret"]).arg(&program).arg("--output").arg(folder.join("out")).args(words))
    };
    let output = sweep(0, &["steps=1,2", "k=0.5,2", "nx=3,5"]);
    let expected = "k,nx,exit,rate,sum\n0.5,3,0,0.5,3\n0.5,5,0,0.5,5\n2,3,0,2,12\n2,5,0,2,20\n";
    assert_eq!(stdout(&output), expected);
    assert_eq!(fs::read_to_string(folder.join("out/sweep.csv")).expect("the table"), expected);
    let printed = fs::read_to_string(folder.join("out/003-k_2-nx_3/stdout.txt")).expect("what a run printed");
    assert_eq!(printed, "rate = 2\nsum = 6\nsum = 12\n");
    // Any number of runs at a time gives the same table.
    assert_eq!(stdout(&sweep(0, &["--jobs", "1", "steps=1,2", "k=0.5,2", "nx=3,5"])), expected);
    // The table is drawn: a line for each k, without logarithms of sums that change little.
    let picture = folder.join("sweep.svg");
    expect(0, equellec().arg("plot").arg(folder.join("out")).args(["--tag", "sum", "-o"]).arg(&picture));
    let drawn = fs::read_to_string(&picture).expect("a picture");
    for label in ["sum", "nx", "k=0.5", "k=2"] {
        assert!(drawn.contains(&format!(">{label}")), "{label}");
    }
    let refused = stderr(&expect(2, equellec().arg("plot").arg(folder.join("out")).args(["--html", "p.html"])));
    assert!(refused.contains("a sweep has no page"), "{refused}");
    // One run of two fails: the other has its row.
    let output = sweep(4, &["steps=1", "nx=3,0"]);
    assert_eq!(stdout(&output), "nx,exit,rate,sum\n3,0,1,3\n0,4,,\n");
    assert!(stderr(&output).contains("1 of 2 runs failed"), "{}", stderr(&output));
    assert!(stderr(&sweep(2, &["steps=1", "nx=3"])).contains("as in `k=0.1,0.2`"));
    assert!(stderr(&sweep(2, &["steps=1", "nx=3,4", "output_dir=x"])).contains("--output DIR"));
    fs::remove_dir_all(&folder).expect("the folder can be removed");
}
