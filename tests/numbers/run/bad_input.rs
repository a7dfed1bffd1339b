//! Bad programs and bad data, from the command line to the exit code. Nothing here may panic.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{built, equellec, repository, scratch, stderr};

const HEAT: &str = "examples/heat_explicit_2d/heat_explicit_2d.equelle";

/// Checks a program; returns the exit code and the messages in a format.
fn check(name: &str, program: &str, format: &str) -> (Option<i32>, String) {
    let folder = scratch(name);
    let file = folder.join("bad.equelle");
    fs::write(&file, program).unwrap();
    let output = equellec().args(["--message-format", format, "check"]).arg(&file).output().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert!(output.stdout.is_empty());
    (output.status.code(), stderr(&output))
}

fn errors(messages: &str) -> Vec<&str> {
    messages.lines().filter(|line| line.contains("error")).collect()
}

#[test]
fn three_syntax_errors_give_three_diagnostics() {
    let (code, messages) = check("syntax", "a = (1 + \nb = 2\nc = ] 3\nd = b *\n", "short");
    assert_eq!(code, Some(1), "{messages}");
    let errors = errors(&messages);
    assert_eq!(errors.len(), 3, "{messages}");
    for (error, line) in errors.iter().zip([1, 3, 4]) {
        assert!(error.contains(&format!("bad.equelle:{line}:")), "{error}");
    }
}

#[test]
fn errors_of_meaning() {
    let cases = [
        ("domains", "a = |AllFaces()|\nb = |AllCells()|\nOutput(\"c\", a + b)\n", 3, &["AllFaces", "AllCells"][..]),
        ("units", "a = 1 [Meter]\nb = 2 [Second]\nOutput(\"c\", a + b)\n", 3, &["Meter", "Second"]),
        ("name", "pressure = 1\nOutput(\"p\", presure)\n", 2, &["presure", "did you mean `pressure`"]),
        ("immutable", "a = 1\na = 2\nOutput(\"a\", a)\n", 2, &["a"]),
    ];
    for (name, program, line, words) in cases {
        let (code, messages) = check(name, program, "short");
        assert_eq!(code, Some(1), "{name}: {messages}");
        let errors = errors(&messages);
        assert_eq!(errors.len(), 1, "{name}: {messages}");
        assert!(errors[0].contains(&format!("bad.equelle:{line}:")), "{name}: {messages}");
        let (_, messages) = check(name, program, "human");
        for word in words {
            assert!(messages.contains(word), "{name}: `{word}` in {messages}");
        }
    }
}

/// Good data for the plate program on 4 x 3 cells, in a folder of their own.
fn good_data(name: &str) -> PathBuf {
    let folder = scratch(name);
    let files = [
        ("faces.txt", "0 4\n"),
        ("values.txt", "1000 0\n"),
        ("steps.txt", "0.5 0.5\n"),
        ("start.txt", "1 2 3 4\n5 6 7 8\n9 10 11 12\n"),
        (
            "case.param",
            "grid_dim = 2\nnx = 4\nny = 3\nk = 0.3\ncv = 1\nu_initial_from_file = true\nu_initial_filename = start.txt\n\
             dirichlet_boundary_filename = faces.txt\ndirichlet_val_from_file = true\ndirichlet_val_filename = values.txt\n\
             timesteps_filename = steps.txt\n",
        ),
    ];
    for (file, text) in files {
        fs::write(folder.join(file), text).unwrap();
    }
    folder
}

/// Interprets the plate program; returns exit code and messages.
fn interpret(folder: &Path, words: &[&str]) -> (Option<i32>, String) {
    let mut command = equellec();
    command.args(["run", "--interpret"]).arg(repository(HEAT)).arg(folder.join("case.param")).args(words);
    let output = command.output().unwrap();
    (output.status.code(), stderr(&output))
}

#[test]
fn good_data_is_accepted() {
    let folder = good_data("good");
    let (code, messages) = interpret(&folder, &[]);
    assert_eq!(code, Some(0), "{messages}");
    assert!(!messages.contains("warning"), "{messages}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn bad_data_names_file_and_place() {
    // A name, the file of the good data to overwrite, its new text, and words of the message.
    let cases: [(&str, &str, &str, &[&str]); 8] = [
        ("count", "start.txt", "1 2 3\n", &["start.txt", "12", "3"]),
        ("word", "start.txt", "1 2 3 4\n5 six 7 8\n9 10 11 12\n", &["start.txt:2:3", "six"]),
        ("range", "faces.txt", "0 99\n", &["faces.txt", "99"]),
        ("unsorted", "faces.txt", "4 0\n", &["faces.txt", "ascending"]),
        ("duplicate", "faces.txt", "4 4\n", &["faces.txt", "4"]),
        ("interior", "faces.txt", "0 1\n", &["faces.txt", "BoundaryFaces"]),
        ("fraction", "faces.txt", "0.5 4\n", &["faces.txt:1:1", "0.5"]),
        ("parameter", "case.param", "nx = 4\nny\n", &["case.param:2"]),
    ];
    for (name, file, text, words) in cases {
        let folder = good_data(name);
        fs::write(folder.join(file), text).unwrap();
        let (code, messages) = interpret(&folder, &[]);
        assert_eq!(code, Some(4), "{name}: {messages}");
        for word in words {
            assert!(messages.contains(word), "{name}: `{word}` in {messages}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn missing_parameters_and_files() {
    let folder = good_data("missing");
    let text = fs::read_to_string(folder.join("case.param")).unwrap();
    fs::write(folder.join("case.param"), text.replace("timesteps_filename = steps.txt\n", "")).unwrap();
    let (code, messages) = interpret(&folder, &[]);
    assert_eq!(code, Some(4), "{messages}");
    assert!(messages.contains("timesteps_filename"), "{messages}");
    let (code, messages) = interpret(&folder, &["timesteps_filename=nowhere.txt"]);
    assert_eq!(code, Some(5), "{messages}");
    assert!(messages.contains("nowhere.txt"), "{messages}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn misspelt_parameter_is_reported_with_the_nearest_key() {
    let folder = good_data("misspelt");
    let (code, messages) = interpret(&folder, &["k_=1", "grid_layot=auto"]);
    assert_eq!(code, Some(0), "{messages}");
    assert!(messages.contains("grid_layot") && messages.contains("grid_layout"), "{messages}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn unwritable_output_folder() {
    let folder = good_data("unwritable");
    // A folder below a file cannot be made, whoever asks.
    let below = format!("output_dir={}", folder.join("steps.txt/below").display());
    let (code, messages) = interpret(&folder, &["output_to_file=true", &below]);
    assert_eq!(code, Some(5), "{messages}");
    assert!(messages.contains("steps.txt"), "{messages}");
    fs::remove_dir_all(&folder).unwrap();
}

/// Two unit squares side by side, in the text format of the Open Porous Media project.
const TWO_SQUARES: &str = "2 2 7 6 14 8\n0 0\n2 1\n\
    0 0 1 0 2 0 0 1 1 1 2 1\n\
    0 2 4 6 8 10 12 14\n0 3 1 4 2 5 0 1 1 2 3 4 4 5\n\
    -1 0 0 1 1 -1 -1 0 -1 1 0 -1 1 -1\n\
    1 1 1 1 1 1 1\n\
    0 0.5 1 0.5 2 0.5 0.5 0 1.5 0 0.5 1 1.5 1\n\
    1 0 1 0 1 0 0 1 0 1 0 1 0 1\n\
    0 4 8\n0 3 1 5 1 4 2 6\n\
    1 1\n0.5 0.5 1.5 0.5\n";

#[test]
fn bad_grid_files() {
    let program = "Output(\"volume\", SumReduce(|AllCells()|))\n";
    let swapped = TWO_SQUARES.replace("-1 0 0 1 1 -1", "-1 0 1 0 1 -1");
    let out_of_range = TWO_SQUARES.replace("-1 0 0 1 1 -1", "-1 0 0 7 1 -1");
    let truncated = &TWO_SQUARES[..TWO_SQUARES.len() / 2];
    let cases = [
        ("good", TWO_SQUARES, 0, ""),
        ("truncated", truncated, 4, "grid.txt"),
        ("swapped", &swapped, 4, "swapped orientation"),
        ("range", &out_of_range, 4, "7"),
    ];
    for (name, grid, expected, word) in cases {
        let folder = scratch(&format!("grid-{name}"));
        fs::write(folder.join("volume.equelle"), program).unwrap();
        fs::write(folder.join("grid.txt"), grid).unwrap();
        let mut command = equellec();
        command
            .args(["run", "--interpret"])
            .arg(folder.join("volume.equelle"))
            .arg(format!("grid_filename={}", folder.join("grid.txt").display()));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(expected), "{name}: {}", stderr(&output));
        assert!(stderr(&output).contains(word), "{name}: {}", stderr(&output));
        if expected == 0 {
            assert_eq!(String::from_utf8_lossy(&output.stdout), "volume = 2\n");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}

/// A volume and a centroid that the nodes do not give, unless the file is believed.
#[test]
fn geometry_that_the_nodes_do_not_give() {
    let program = "Output(\"volume\", SumReduce(|AllCells()|))\n";
    let volume = TWO_SQUARES.replace("\n1 1\n0.5 0.5 1.5", "\n1 9.5\n0.5 0.5 1.5");
    let centroid = TWO_SQUARES.replace("\n1 1\n0.5 0.5 1.5", "\n1 1\n9.9 0.5 1.5");
    let cases = [
        ("volume", &volume, "grid.txt:13: cell_volumes[1]: 9.5 is not the volume of cell 1: its faces give 1\n", "volume = 10.5\n"),
        (
            "centroid",
            &centroid,
            "grid.txt:14: cell_centroids[0]: (9.9, 0.5) is not the centroid of cell 0: its faces give (0.5, 0.5)",
            "volume = 2\n",
        ),
    ];
    for (name, grid, message, believed) in cases {
        let folder = scratch(&format!("geometry-{name}"));
        fs::write(folder.join("volume.equelle"), program).unwrap();
        fs::write(folder.join("grid.txt"), grid).unwrap();
        let run = |geometry: &str| {
            let grid = format!("grid_filename={}", folder.join("grid.txt").display());
            equellec().args(["run", "--interpret"]).arg(folder.join("volume.equelle")).args([grid.as_str(), geometry]).output().unwrap()
        };
        let output = run("grid_geometry=check");
        assert_eq!(output.status.code(), Some(4), "{name}: {}", stderr(&output));
        assert!(stderr(&output).contains(message) && stderr(&output).contains("grid_geometry=trust"), "{name}: {}", stderr(&output));
        let output = run("grid_geometry=trust");
        assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stdout)), (Some(0), believed), "{name}: {}", stderr(&output));
        fs::remove_dir_all(&folder).unwrap();
    }
}

/// Whatever is given is used, or told before the run.
#[test]
fn data_that_is_given_is_used_or_told() {
    let folder = scratch("given");
    fs::write(folder.join("sum.equelle"), "u = InputCollectionOfScalar(\"u\", AllCells())\nOutput(\"sum\", SumReduce(u))\n").unwrap();
    fs::write(folder.join("u.txt"), "1 2 3").unwrap();
    let run = |param: &str, words: &[&str]| {
        fs::write(folder.join("case.param"), param).unwrap();
        let (program, case) = (folder.join("sum.equelle"), folder.join("case.param"));
        let output = equellec().args(["run", "--interpret"]).args([program, case]).arg("nx=3").args(words).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), stderr(&output))
    };
    let sum = |param: &str, words: &[&str]| {
        let (code, stdout, stderr) = run(param, words);
        assert_eq!(code, Some(0), "{stderr}");
        stdout
    };
    assert_eq!(sum("u_filename = u.txt\n", &[]), "sum = 6\n");
    assert_eq!(sum("u_filename = u.txt\n", &["u=5"]), "sum = 15\n");
    assert_eq!(sum("u = 7\nu_filename = u.txt\nu_from_file = false\n", &[]), "sum = 21\n");
    let (code, stdout, messages) = run("u = 7\nu_filename = u.txt\nv = 1\n", &[]);
    assert_eq!((code, stdout.as_str()), (Some(4), ""), "{messages}");
    for part in ["has two sources", "case.param:1)", "case.param:2)", "sum.equelle:1:", "`v` (", "is not used"] {
        assert!(messages.contains(part), "{part} in {messages}");
    }
    let (code, _, messages) = run("u_from_file = true\n", &[]);
    assert!(code == Some(4) && messages.contains("missing parameter `u_filename`"), "{messages}");
    // Before the run: an error of the run comes after it.
    let (code, _, messages) = run("u_filename = u.txt\nu_filname = u.txt\n", &["nx=4"]);
    let [warning, error] = ["did you mean `u_filename`?", "expected 4 values, found 3"]
        .map(|part| messages.find(part).unwrap_or_else(|| panic!("{messages}")));
    assert!(code == Some(4) && warning < error, "{messages}");
    fs::remove_dir_all(&folder).unwrap();
}

/// The same messages and codes from a compiled simulator.
#[test]
fn compiled_programs_refuse_bad_data_too() {
    let folder = good_data("compiled");
    fs::write(folder.join("start.txt"), "1 2 3 4\n5 six 7 8\n").unwrap();
    let run = |words: &[&str]| {
        let output = Command::new(built("-O2", HEAT)).arg(folder.join("case.param")).args(words).output().unwrap();
        (output.status.code(), stderr(&output))
    };
    let (code, messages) = run(&[]);
    assert_eq!(code, Some(4), "{messages}");
    assert!(messages.contains("start.txt:2:3") && messages.contains("heat_explicit_2d.equelle:"), "{messages}");
    let (code, messages) = run(&["--no-such-option"]);
    assert_eq!(code, Some(2), "{messages}");
    let (code, messages) = run(&["--backend", "cuda"]);
    assert_eq!(code, Some(2), "not built with it: {messages}");
    fs::remove_dir_all(&folder).unwrap();
}

/// Both branches of `? :` are evaluated: the hint says so at every level.
#[test]
fn a_choice_of_values_at_empty_elements() {
    const PROGRAM: &str = "tests/run/failing/choice_of_values.equelle";
    let seen = |how: &str, output: std::process::Output| {
        let messages = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{how}: {messages}");
        assert!(messages.contains("choice_of_values.equelle:7:"), "{how}: {messages}");
        assert!(messages.contains("hint: ") && messages.contains("choose the entity, `u On (c ? A : B)`"), "{how}: {messages}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("before"), "{how}: what comes before the line is put out");
    };
    for level in ["-O0", "-O2"] {
        seen(level, Command::new(built(level, PROGRAM)).args(["u=1", "nx=3", "output_to_file=false"]).output().unwrap());
        let interpreted = equellec().args(["run", "--interpret", level]).arg(repository(PROGRAM)).args(["u=1", "nx=3"]).output().unwrap();
        seen(&format!("interpreted at {level}"), interpreted);
    }
}
