//! The command line: forms, messages, exit codes, the build cache.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HEAT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/heat_explicit_2d/heat_explicit_2d.equelle");
const CASE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/heat_explicit_2d/case.param");

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
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{name}-{}", std::process::id()));
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

#[test]
fn usage() {
    assert!(stdout(&expect(0, equellec().arg("--help"))).contains("Usage: equellec"));
    assert!(stdout(&expect(0, equellec().arg("--version"))).starts_with("equellec "));
    for words in [&["--no-such-option"][..], &["run"], &[HEAT, "--backend", "mpi"], &["explain", "E9999"], &[HEAT, "check", HEAT]] {
        let output = expect(2, equellec().args(words));
        assert!(output.stdout.is_empty() && stderr(&output).contains("error"), "{words:?}: {}", stderr(&output));
    }
    expect(2, equellec().args(["run", "--interpret=elements", "--backend", "cuda", HEAT]));
    expect(2, equellec().args(["emit", "ir-after=no-such-pass", HEAT]));
    expect(2, equellec().args(["run", "--interpret", HEAT, "neither-file-nor-assignment"]));
}

#[test]
fn unreadable_programs() {
    let folder = scratch("unreadable");
    assert!(stderr(&expect(5, equellec().args(["check", "nowhere.equelle"]))).contains("nowhere.equelle"));
    expect(5, equellec().arg("check").arg(&folder));
    let file = folder.join("latin1.equelle");
    fs::write(&file, b"a = 1\n# caf\xe9\n").unwrap();
    assert!(stderr(&expect(4, equellec().arg("check").arg(&file))).contains("line 2"));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn check_is_silent_about_good_programs_and_reports_bad_ones() {
    let output = expect(0, equellec().args(["check", HEAT]));
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{}", stderr(&output));
    let folder = scratch("check");
    let file = folder.join("bad.equelle");
    fs::write(&file, "a = 1 [Meter] + 1 [Second]\nOutput(\"a\", a)\n").unwrap();
    // The other file is checked too.
    let output = expect(1, equellec().args(["check", "--color", "always"]).arg(&file).arg(HEAT));
    assert!(stderr(&output).contains('\u{1b}'), "colours");
    let output = expect(1, equellec().arg("check").arg(&file).env("NO_COLOR", "1"));
    assert!(!stderr(&output).contains('\u{1b}') && stderr(&output).contains("[Second]"), "{}", stderr(&output));
    let output = expect(1, equellec().args(["--message-format", "json", "check"]).arg(&file));
    let message: serde_json::Value = serde_json::from_str(stderr(&output).lines().next().unwrap()).unwrap();
    assert_eq!((message["severity"].as_str(), message["line"].as_u64()), (Some("error"), Some(1)), "{message}");
    // A failure that is not about the program is an object too.
    let output = expect(5, equellec().args(["--message-format", "json", "check", "nowhere.equelle"]));
    let message: serde_json::Value = serde_json::from_str(stderr(&output).trim()).unwrap();
    assert!(message["message"].as_str().unwrap().contains("nowhere.equelle"));
    expect(0, equellec().args(["check", "--nondimensional"]).arg(&file));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn every_stage_can_be_printed() {
    let ast = stdout(&expect(0, equellec().args(["emit", "ast", HEAT])));
    assert!(ast.contains("For dt In timesteps {"), "{ast}");
    let unoptimised = stdout(&expect(0, equellec().args(["emit", "ir", "-O0", HEAT])));
    assert!(unoptimised.contains("Divergence(") && !unoptimised.contains("kernel "), "{unoptimised}");
    let optimised = stdout(&expect(0, equellec().args([HEAT, "--emit", "ir"])));
    assert!(optimised.contains("kernel ") && !optimised.contains("Divergence("), "{optimised}");
    let report = stdout(&expect(0, equellec().args(["emit", "report", HEAT])));
    assert!(report.contains("`u` over AllCells() (compute_u)"), "{report}");
    let json = stdout(&expect(0, equellec().args(["emit", "report", HEAT, "--message-format", "json"])));
    assert!(json.starts_with("{\n  \"parts\": ["), "{json}");
    // Beside other results it goes where messages go.
    let both = expect(0, equellec().args(["emit", "manifest", HEAT, "--report"]));
    assert!(stdout(&both).starts_with('{') && stderr(&both).contains("`u` over AllCells() (compute_u)"), "{both:?}");
    let both = expect(0, equellec().args(["emit", "manifest", HEAT, "--report", "--message-format=json"]));
    assert!(stderr(&both).lines().count() == 1 && stderr(&both).contains("\"kernel\":\"compute_u\""), "{both:?}");
    let inlined = stdout(&expect(0, equellec().args([HEAT, "--emit", "ir-after=inline"])));
    assert!(!inlined.contains("kernel ") && !inlined.contains("function "), "{inlined}");
    for text in [&unoptimised, &optimised, &inlined] {
        let module = equelle_front::ir::text::parse(text).expect("printed IR can be read");
        assert_eq!(&equelle_front::ir::text::print(&module), text, "and printed again");
    }
    let rust = stdout(&expect(0, equellec().args([HEAT, "--emit", "rust"])));
    assert!(rust.contains("pub fn simulate") && rust.contains("u = u - (dt / (cv * |AllCells()|)) * Divergence(fluxes)"), "{rust}");
    let cuda = stdout(&expect(0, equellec().args(["emit", "cuda", HEAT])));
    assert!(cuda.contains("__global__"), "{cuda}");
    let manifest = stdout(&expect(0, equellec().args(["emit", "manifest", HEAT])));
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let names: Vec<_> = manifest["inputs"].as_array().unwrap().iter().map(|input| input["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["k", "cv", "timesteps", "u_initial", "dirichlet_boundary", "dirichlet_val"]);
    let levels = |level| stdout(&expect(0, equellec().args(["emit", "manifest", level, HEAT])));
    assert_eq!(levels("-O0"), levels("-O2"), "what a program reads and writes does not depend on the level");
}

#[test]
fn formatting() {
    let folder = scratch("fmt");
    let file = folder.join("a.equelle");
    fs::write(&file, "a=1.0e0+2   # three\nOutput( \"a\" ,a )\n").unwrap();
    expect(1, equellec().args(["fmt", "--check"]).arg(&file));
    expect(0, equellec().arg("fmt").arg(&file));
    assert_eq!(fs::read_to_string(&file).unwrap(), "a = 1.0e0 + 2  # three\nOutput(\"a\", a)\n");
    expect(0, equellec().args(["fmt", "--check"]).arg(&file));
    fs::write(&file, "a = = 1\n").unwrap();
    expect(1, equellec().arg("fmt").arg(&file));
    assert_eq!(fs::read_to_string(&file).unwrap(), "a = = 1\n", "what cannot be read is left alone");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn programs_of_this_repository_are_formatted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = equellec();
    command.args(["fmt", "--check"]);
    for file in [
        "examples/heat_explicit_2d/heat_explicit_2d.equelle",
        "examples/heat_explicit_3d/heat_explicit_3d.equelle",
        "tests/run/heat_declared.equelle",
    ] {
        command.arg(root.join(file));
    }
    expect(0, &mut command);
}

#[test]
fn explanations_completions_doctor() {
    assert!(stdout(&expect(0, equellec().args(["explain", "e0001"]))).contains("E0001"));
    assert!(stdout(&expect(0, equellec().args(["explain", "AllCells()"]))).contains("All cells of the grid."));
    assert!(stderr(&expect(2, equellec().args(["explain", "Gradeint"]))).contains("`Gradient`"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(stdout(&expect(0, equellec().args(["completions", shell]))).contains("equellec"), "{shell}");
    }
    let page = stdout(&expect(0, equellec().arg("man")));
    for word in [".TH equellec 1", "message\\-format", "equellec\\-run(1)"] {
        assert!(page.contains(word), "{word}: {page}");
    }
    let page = stdout(&expect(0, equellec().args(["man", "run"])));
    for word in [".TH equellec-run 1", "\\-\\-interpret", "message\\-format"] {
        assert!(page.contains(word), "{word}: {page}");
    }
    assert!(stderr(&expect(2, equellec().args(["man", "walk"]))).contains("there is no verb `walk`"));
    let report = stdout(&expect(0, equellec().arg("doctor")));
    for word in ["cargo", "cache", "serial", "cuda"] {
        assert!(report.lines().any(|line| line.starts_with(word)), "{report}");
    }
}

/// The library for direct solves on the GPU is looked for where the loader looks, and only its
/// version 1 is taken.
#[test]
fn doctor_tells_of_cudss() {
    let folder = scratch("cudss");
    let report = || stdout(&expect(0, equellec().arg("doctor").env("LD_LIBRARY_PATH", &folder)));
    fs::write(folder.join("libcudss.so.0"), "").unwrap();
    let found = report();
    assert!(found.contains("direct solves: cuDSS 1: ") || found.contains("direct solves: cuDSS 0 is too old: "), "{found}");
    let library = folder.join("libcudss.so.1");
    fs::write(&library, "").unwrap();
    assert!(report().contains(&format!("direct solves: cuDSS 1: {};", library.display())), "{}", report());
    fs::remove_dir_all(&folder).unwrap();
}

/// The form without a verb: a package that cargo can build on its own, the same bytes every time,
/// files left alone when nothing changed.
#[test]
fn packages_are_byte_stable() {
    let folder = scratch("package");
    let write = |name: &str| {
        expect(0, equellec().args([HEAT, "--backend", "serial,cuda", "-o"]).arg(folder.join(name)));
        let mut files = Vec::new();
        for inside in
            ["Cargo.toml", "manifest.json", "src/main.rs", "src/lib.rs", "src/kernels.rs", "src/kernels_serial.rs", "src/kernels_cuda.rs"]
        {
            files.push(fs::read_to_string(folder.join(name).join(inside)).unwrap_or_else(|error| panic!("{inside}: {error}")));
        }
        files
    };
    let first = write("a");
    assert_eq!(first, write("b"));
    let time = |inside: &str| fs::metadata(folder.join("a").join(inside)).unwrap().modified().unwrap();
    let before = time("src/lib.rs");
    assert_eq!(first, write("a"));
    assert_eq!(before, time("src/lib.rs"));
    fs::remove_dir_all(&folder).unwrap();
}

/// Neither the form without a verb nor `build` overwrites what was edited.
#[test]
fn edited_packages_are_overwritten_by_force_alone() {
    let folder = scratch("edited");
    let write = |words: &[&str]| {
        let mut command = equellec();
        command.args(words).arg(HEAT).arg("-o").arg(folder.join("a"));
        command
    };
    expect(0, &mut write(&[]));
    let edited = folder.join("a/src/kernels.rs");
    let text = fs::read_to_string(&edited).unwrap();
    fs::write(&edited, "edited\n").unwrap();
    fs::write(folder.join("a/notes.txt"), "mine").unwrap();
    for words in [&[][..], &["build"], &["--backend", "cuda"]] {
        let message = stderr(&expect(5, &mut write(words)));
        assert!(message.contains("changed since: src/kernels.rs\n") && message.contains("--force"), "{message}");
        assert_eq!(fs::read_to_string(&edited).unwrap(), "edited\n");
    }
    expect(0, write(&[]).arg("--force"));
    assert_eq!(fs::read_to_string(&edited).unwrap(), text);
    assert_eq!(fs::read_to_string(folder.join("a/notes.txt")).unwrap(), "mine");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_build_is_reused_when_nothing_changed() {
    let folder = scratch("reuse");
    let output = format!("output_dir={}", folder.display());
    let run = |cargo: Option<&str>| {
        let mut command = equellec();
        command.args(["run", "--quiet", "--compiled", HEAT, CASE, &output]);
        if let Some(cargo) = cargo {
            command.env("CARGO", cargo);
        }
        command
    };
    let first = expect(0, &mut run(None));
    assert_eq!(stdout(&first).lines().count(), 100, "one maximum a step");
    // Now without any cargo to ask.
    let again = expect(0, &mut run(Some("no-such-cargo")));
    assert_eq!(stdout(&again), stdout(&first));
    assert!(again.stderr.is_empty(), "nothing was built: {}", stderr(&again));
    fs::remove_dir_all(&folder).unwrap();
}

/// Several processes that build at the same time, two of them the same program.
fn at_once(name: &str, cache: Option<&Path>) {
    let folder = scratch(name);
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    // Programs that no earlier test has built: of this process alone.
    let number = std::process::id();
    write("one.equelle", &format!("Output(\"a\", 1 + {number})\n"));
    write("two.equelle", &format!("Output(\"b\", 2 + {number})\n"));
    let start = |name: &str| {
        let mut command = equellec();
        command.args(["run", "--quiet", "--compiled"]).arg(folder.join(name)).envs(cache.map(|cache| ("EQUELLE_CACHE_DIR", cache)));
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let (one, two) = (format!("a = {}\n", number + 1), format!("b = {}\n", number + 2));
    let children = [("one.equelle", &one), ("one.equelle", &one), ("two.equelle", &two)].map(|(name, text)| (start(name), text));
    for (child, text) in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), &stdout(&output)), (Some(0), text), "{}", stderr(&output));
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn processes_may_build_at_once() {
    at_once("at-once", None);
}

#[test]
#[ignore = "builds the runtime once more; `.ci/full` runs it"]
fn processes_may_find_an_empty_cache_at_once() {
    let cache = scratch("at-once-cache");
    at_once("at-once-empty", Some(&cache));
    fs::remove_dir_all(&cache).unwrap();
}

#[test]
fn missing_cargo_and_unwritable_cache() {
    let folder = scratch("missing");
    let output = expect(
        6,
        equellec().args(["run", "--compiled", HEAT, CASE]).env("CARGO", "no-such-cargo").env("EQUELLE_CACHE_DIR", folder.join("cache")),
    );
    assert!(stderr(&output).contains("rustup.rs") && stderr(&output).contains("--interpret"), "{}", stderr(&output));
    fs::write(folder.join("file"), "").unwrap();
    let output = expect(5, equellec().args(["run", "--compiled", HEAT, CASE]).env("EQUELLE_CACHE_DIR", folder.join("file")));
    assert!(stderr(&output).contains("EQUELLE_CACHE_DIR"), "{}", stderr(&output));
    fs::remove_dir_all(&folder).unwrap();
}

/// Widths are no powers of two, so that levels differ by round-off.
#[test]
fn compare_prints_how_far_levels_are_apart() {
    let output = expect(0, equellec().args(["compare", HEAT, CASE]));
    let table = stdout(&output);
    assert!(table.starts_with("serial -O2 against serial -O0\noutput"), "{table}");
    assert!(
        table.contains("all agree") && table.lines().any(|line| line.starts_with("maximum of u  ") && line.ends_with("same bits")),
        "{table}"
    );
    // The same way twice is one way.
    let output = expect(2, equellec().args(["compare", HEAT, CASE, "--backend", "serial,serial", "--levels", "2"]));
    assert!(output.stdout.is_empty() && stderr(&output).contains("only one way"), "{}", stderr(&output));
    expect(2, equellec().args(["compare", HEAT, CASE, "--tolerance", "-1"]));
    // Errors in the data end as in `run`.
    expect(4, equellec().args(["compare", HEAT, CASE, "k=hot"]));
    let apart = expect(3, equellec().args(["compare", HEAT, CASE, "--tolerance", "0"]));
    assert!(stdout(&apart).contains("beyond the tolerance") && stderr(&apart).contains("differ by more than"), "{}", stdout(&apart));
}

/// A loop without rounds evaluates nothing; with rounds, what stands before the failing line is put
/// out. At both levels, interpreted.
#[test]
fn what_fails_in_a_loop_fails_there() {
    let folder = scratch("fails");
    let program = folder.join("p.equelle");
    let text = "u = InputCollectionOfScalar(\"u\", AllCells())\nt : Mutable Scalar = 0\n\
                For x In InputSequenceOfScalar(\"es\") {\n    Output(\"x\", x)\n    t = t + SumReduce(u On FirstCell(BoundaryFaces())) * x\n}\n\
                Output(\"t\", t)\n";
    fs::write(&program, text).unwrap();
    fs::write(folder.join("none"), "").unwrap();
    fs::write(folder.join("some"), "0.5 0.25").unwrap();
    for level in ["-O0", "-O2"] {
        let run = |code: i32, steps: &str| {
            let given = ["u=1".to_owned(), format!("es_filename={}", folder.join(steps).display())];
            expect(code, equellec().args(["run", "--interpret", level]).arg(&program).args(given))
        };
        let output = run(0, "none");
        assert_eq!(stdout(&output), "t = 0\n", "{level}");
        let output = run(3, "some");
        assert_eq!(stdout(&output), "x = 0.5\n", "{level}");
        assert!(stderr(&output).contains("p.equelle:5: "), "{level}: {}", stderr(&output));
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// A program with an input of every kind, and equations.
const EVERY_INPUT: &str = r#"
k = InputScalarWithDefault("k", 0.3) * 1 [Kilo*Meter]
dx = InputScalarWithDefault("dx", 2)
u = InputCollectionOfScalar("u", AllCells()) * 1 [Meter]
v = InputCollectionOfVector("v", AllCells())
wet = InputCollectionOfBool("wet", AllCells())
part = InputDomainSubsetOf("part", AllCells())
steps = InputSequenceOfScalar("steps") * 1 [Day]
residual(s) = {
    -> s - u - k
}
start = NewtonSolve(residual, u)
x : Mutable Collection Of Scalar On AllCells() = start
For dt In steps {
    x = x + (wet ? start * dx * v[0] : u) * (dt / (0.5 [Day]))
}
Output("x", x On part)
"#;

#[test]
fn inputs_are_listed() {
    let folder = scratch("list-inputs");
    let file = folder.join("all.equelle");
    fs::write(&file, EVERY_INPUT).unwrap();
    let text = stdout(&expect(0, equellec().args(["run", "--list-inputs"]).arg(&file)));
    for part in [
        "Inputs of all:\n  k: Scalar, in Kilo*Meter, default 0.3 (line 2)\n    k=NUMBER",
        "  v: Collection Of Vector On AllCells() (line 5)\n    v=NUMBER,...",
        "    wet=true|false ",
        "    part_filename=FILE ",
        "  steps: Sequence Of Scalar, in Day (line 8)\n",
        "\nGrid:\n",
        "\n  nx=N                            cells along x (default 6)\n",
        "\nOutputs:\n",
        "\n  unknown_min_s=NUMBER ",
        "\n  abs_res_tol_1=NUMBER ",
        "\nLinear solvers:\n",
    ] {
        assert!(text.contains(part), "{part}\nin\n{text}");
    }
    assert!(!text.contains("linsolver"), "{text}");
    let explicit = stdout(&expect(0, equellec().args(["run", "--list-inputs", HEAT])));
    assert!(explicit.contains("\nGrid:\n") && !explicit.contains("max_iter"), "{explicit}");

    let output = expect(0, equellec().args(["--message-format", "json", "run", "--list-inputs"]).arg(&file));
    let listed: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let names: Vec<&str> = listed["inputs"].as_array().unwrap().iter().map(|input| input["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["k", "dx", "u", "v", "wet", "part", "steps"]);
    assert_eq!(listed["inputs"][0]["unit"]["factor"], 1000.0);
    assert_eq!(listed["inputs"][2]["forms"][1]["key"], "u_filename");
    assert!(listed["parameters"].as_array().unwrap().iter().any(|key| key["key"] == "nx" && key["default"] == "6"));
    expect(2, equellec().args(["run", "--list-inputs", "--template"]).arg(&file));
    fs::remove_dir_all(&folder).unwrap();
}

/// A template is refused at the first line that needs a value. With those filled in it runs, as it
/// is and with every default made an assignment, and gives the same.
#[test]
fn templates_run_when_they_are_filled_in() {
    let folder = scratch("template");
    let file = folder.join("all.equelle");
    fs::write(&file, EVERY_INPUT).unwrap();
    let template = stdout(&expect(0, equellec().args(["run", "--template"]).arg(&file)));
    let run = |name: &str, text: &str, code: i32| {
        let case = folder.join(name);
        fs::write(&case, text).unwrap();
        expect(code, equellec().args(["run", "--interpret", "--quiet"]).arg(&file).arg(&case))
    };
    let refused = stderr(&run("empty.param", &template, 4));
    assert!(refused.contains("parameter `u` (") && refused.contains("must be a number, not ``"), "{refused}");

    fs::write(folder.join("cells.txt"), "0 2\n").unwrap();
    fs::write(folder.join("steps.txt"), "0.5\n").unwrap();
    // Commented keys are given too: that of the first way to give an input stays without a value.
    let mut filled = template.clone();
    for (needed, line) in [
        ("u", "u = 1 [Kilo*Meter]"),
        ("v", "v = 2, 0"),
        ("wet", "wet = true"),
        ("part", "part_filename = cells.txt"),
        ("steps", "steps_filename = steps.txt"),
    ] {
        let begins = |line: &&str| line.starts_with(needed) && line[needed.len()..].split(' ').nth(1) == Some("=");
        let found = filled.lines().find(begins).unwrap_or_else(|| panic!("{needed} in\n{template}")).to_owned();
        filled = filled.replace(&found, line);
    }
    let plain = stdout(&run("filled.param", &filled, 0));
    // u + k is 1300 m; with it times dx and the first component, 1300 + 5200.
    assert!(plain.contains("6500"), "{plain}");
    let mut assigned = 0;
    let explicit: Vec<&str> = filled
        .lines()
        .map(|line| {
            let assignment = line.strip_prefix("# ").and_then(|rest| Some((rest, rest.split("  #").next()?.split_once(" = ")?)));
            match assignment {
                Some((rest, (_, value))) if !value.trim().is_empty() => {
                    assigned += 1;
                    rest
                }
                Some(_) | None => line,
            }
        })
        .collect();
    assert!(assigned > 20, "{assigned}\n{filled}");
    assert_eq!(stdout(&run("explicit.param", &explicit.join("\n"), 0)), plain);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn colliding_keys_are_refused_by_check() {
    let folder = scratch("collisions");
    let file = folder.join("keys.equelle");
    let read = |name: &str| format!("Output(\"{name}\", InputScalarWithDefault(\"{name}\", 1))\n");
    let on = |kind: &str, name: &str, set: &str| format!("Output(\"{name} {set}\", InputCollectionOf{kind}(\"{name}\", {set}()))\n");
    let table = |name: &str, value: &str| format!("Output(\"{value}\", Interpolate(InputTable(\"{name}\", \"x\", \"{value}\"), 1))\n");
    let domain = "d = InputDomainSubsetOf(\"u\", AllCells())\nOutput(\"d\", d)\n";
    for (text, expected) in [
        (on("Scalar", "u", "AllCells") + &read("u_filename"), Some("`u_filename` is a key of this input and of the input `u`")),
        (domain.to_owned() + &on("Scalar", "u", "AllCells"), Some("is a key of this input and of the input `u`")),
        (read("solver"), Some("`solver` is a key of this input and of every simulator")),
        (on("Bool", "nx", "AllCells"), Some("`nx`")),
        (on("Scalar", "grid", "AllCells"), Some("`grid_filename`")),
        // Numbers are shared, and an input is read on two domains.
        (read("dx") + &read("nx") + &read("max_iter"), None),
        (on("Scalar", "u", "AllCells") + &on("Scalar", "u", "AllFaces") + &read("u"), None),
        (on("Scalar", "dx", "AllCells"), None),
        // Tables are columns of one file, which no collection is.
        (table("u", "a") + &table("u", "b"), None),
        (table("u", "a") + &on("Scalar", "u", "AllCells"), Some("`u_filename` is a key of this input and of the input `u`")),
    ] {
        fs::write(&file, &text).unwrap();
        match expected {
            Some(message) => {
                let said = stderr(&expect(1, equellec().arg("check").arg(&file)));
                assert!(said.contains("E0512") && said.contains(message) && said.contains("hint"), "{text}{said}");
            }
            None => drop(expect(0, equellec().arg("check").arg(&file))),
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn runs_are_drawn() {
    let folder = scratch("plot");
    let dir = format!("output_dir={}", folder.display());
    let run = expect(0, equellec().args(["run", "--interpret", "-q", "--plot", HEAT, CASE, &dir, "output_every=50"]));
    let picture = folder.join("heat_explicit_2d.png");
    assert!(stderr(&run).contains(&format!("wrote {}", picture.display())), "{}", stderr(&run));
    assert!(fs::read(&picture).expect("the picture").starts_with(b"\x89PNG"));
    let svg = folder.join("u.svg");
    expect(0, equellec().arg("plot").arg(&folder).args(["--tag", "expU", "--step", "50,100", "--range", "-1:1", "-o"]).arg(&svg));
    let text = fs::read_to_string(&svg).expect("the picture");
    assert!(text.contains(">expU   time 5 s</text>") && text.contains(">expU   time 10 s</text>"), "{text:.2000}");
    for (words, code, message) in [
        (&["--tag", "expu"][..], 2, "do you mean `expU`?"),
        (&["--step", "51"], 2, "the nearest are 50 and 100"),
        (&["-o", "u.pdf"], 2, "pictures are .png, .svg or .gif files"),
        (&["-o", "u.svg", "--animate"], 2, "animations are .png or .gif files"),
        (&["--size", "1x1"], 2, "expected width and height"),
        (&["-o", "/nowhere/at/all/u.png"], 5, "cannot write"),
    ] {
        let output = expect(code, equellec().arg("plot").arg(&folder).args(words));
        assert!(stderr(&output).contains(message), "{words:?}: {}", stderr(&output));
    }
    let empty = scratch("plot-empty");
    let output = expect(4, equellec().arg("plot").arg(&empty));
    assert!(stderr(&output).contains("has no outputs"), "{}", stderr(&output));
}
