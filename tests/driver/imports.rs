//! Programs of several files, from end to end.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn equellec(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_equellec")).current_dir(folder).args(words).output().expect("starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// `case/main.equelle` imports `physics/density.equelle` and `physics/units.equelle`, which the
/// former imports too.
fn program() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, text) in [
        (
            "case/main.equelle",
            "Import \"../physics/density.equelle\" (density)\nImport \"../physics/./units.equelle\" (bar)\nOutput(\"rho\", density(2 * bar))\n",
        ),
        (
            "physics/density.equelle",
            "Import \"units.equelle\" (bar)\ndensity(p) = {\n    rho = 1 Extend AllCells()\n    -> rho * (1 + p / bar)\n}\n",
        ),
        ("physics/units.equelle", "bar = 1 [Bar]\npsi = 6894 [Pascal]\n"),
        ("case/empty.equelle", "Import \"../physics/empty.equelle\" (of_first)\nOutput(\"x\", of_first(1 Extend AllCells()))\n"),
        ("physics/empty.equelle", "of_first(u) = {\n    faces = BoundaryFaces()\n    -> u On FirstCell(faces)\n}\n"),
    ] {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("writes");
    }
    folder
}

#[test]
fn paths_are_relative_to_the_file_that_imports() {
    let folder = program();
    let run = ["run", "--interpret", "case/main.equelle", "nx=2", "ny=1", "output_dir=out", "output_to_file=true"];
    let output = equellec(folder.path(), &run);
    assert!(output.status.success(), "{}", stderr(&output));
    let here = ["run", "--interpret", "main.equelle", "nx=2", "ny=1", "output_dir=out", "output_to_file=true"];
    let output = equellec(&folder.path().join("case"), &here);
    assert!(output.status.success(), "{}", stderr(&output));
    for out in ["out", "case/out"] {
        // 1 + 2 bar / bar
        let text = fs::read_to_string(folder.path().join(out).join("rho-00000.output")).expect("an output");
        assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["3", "3"]);
        let record: Value =
            serde_json::from_str(&fs::read_to_string(folder.path().join(out).join("main.run.json")).expect("a record")).expect("JSON");
        // The program has three lines and an empty one, `density.equelle` five and an empty one.
        let imports = record["program"]["imports"].as_array().expect("imports");
        let lines: Vec<&Value> = imports.iter().map(|import| &import["first_line"]).collect();
        assert_eq!(lines, [5, 11]);
        assert!(imports[0]["file"].as_str().expect("a name").ends_with("../physics/density.equelle"));
    }
}

#[test]
fn a_package_has_every_text() {
    let folder = program();
    let output = equellec(folder.path(), &["case/main.equelle", "--backend", "serial", "-o", "sim"]);
    assert!(output.status.success(), "{}", stderr(&output));
    for (copy, original) in [
        ("main.equelle", "case/main.equelle"),
        ("imports/density.equelle", "physics/density.equelle"),
        ("imports/units.equelle", "physics/units.equelle"),
    ] {
        assert_eq!(fs::read(folder.path().join("sim").join(copy)).expect(copy), fs::read(folder.path().join(original)).expect(original));
    }
    let host = fs::read_to_string(folder.path().join("sim/src/lib.rs")).expect("the host program");
    assert!(host.contains("file: \"../physics/units.equelle\""), "{host}");
    assert!(host.contains("// ../physics/density.equelle:4: -> rho * (1 + p / bar)"), "{host}");
    // The folder that the program is in does not matter to its package.
    let elsewhere = equellec(&folder.path().join("case"), &["main.equelle", "--backend", "serial", "-o", "sim"]);
    assert!(elsewhere.status.success(), "{}", stderr(&elsewhere));
    assert_eq!(fs::read_to_string(folder.path().join("case/sim/src/lib.rs")).expect("the host program"), host);
}

#[test]
fn errors_of_a_run_name_the_file() {
    let folder = program();
    let output = equellec(folder.path(), &["run", "--interpret", "case/empty.equelle"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let text = stderr(&output);
    assert!(text.contains("physics/empty.equelle:3: -> u On FirstCell(faces)") && text.contains("case/empty.equelle:2:"), "{text}");
}

#[test]
fn standard_input_imports_from_the_current_folder() {
    use std::io::Write;
    let folder = program();
    let mut check = Command::new(env!("CARGO_BIN_EXE_equellec"))
        .current_dir(folder.path())
        .args(["check", "-", "--message-format", "short"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let text = "Import \"physics/units.equelle\" (bar)\nImport \"units.equelle\" (psi)\nOutput(\"x\", bar + psi)\n";
    check.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("is read");
    let output = check.wait_with_output().expect("ends");
    assert_eq!(stderr(&output), "<standard input>:2:8: error[E0111]: the file `units.equelle` cannot be read: there is no such file\n");
}

#[test]
fn a_folder_or_bytes_that_are_no_text_are_told() {
    let folder = program();
    fs::write(folder.path().join("case/latin1.equelle"), b"# a\n# \xe9\n").expect("writes");
    for (path, why) in [("../physics", "directory"), ("latin1.equelle", "it is not UTF-8 text: line 2")] {
        fs::write(folder.path().join("case/p.equelle"), format!("Import \"{path}\" (f)\nOutput(\"x\", f(1))\n")).expect("writes");
        let output = equellec(folder.path(), &["check", "case/p.equelle", "--message-format", "short"]);
        assert_eq!(output.status.code(), Some(1));
        let text = stderr(&output);
        assert!(text.starts_with("case/p.equelle:1:8: error[E0111]") && text.contains(why) && text.lines().count() == 1, "{text}");
    }
}

#[test]
fn the_formatter_looks_at_one_file() {
    let folder = program();
    fs::write(folder.path().join("p.equelle"), "Import   \"nowhere\"(f,g)\nOutput(\"x\",f(g))\n").expect("writes");
    let output = equellec(folder.path(), &["fmt", "p.equelle"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(folder.path().join("p.equelle")).expect("reads"), "Import \"nowhere\" (f, g)\nOutput(\"x\", f(g))\n");
}

/// Reading a pipe that nobody writes would not end.
#[test]
#[cfg(unix)]
fn pipes_and_devices_are_not_read() {
    let folder = program();
    let pipe = folder.path().join("physics/pipe.equelle");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("there is mkfifo").success());
    for path in ["../physics/pipe.equelle", "/dev/zero"] {
        let text = format!("Import \"{path}\" (bar)\nOutput(\"bar\", bar)\n");
        fs::write(folder.path().join("case/pipe.equelle"), text).expect("writes");
        let found = equellec(folder.path(), &["check", "case/pipe.equelle"]);
        let messages = stderr(&found);
        assert_eq!(found.status.code(), Some(1), "{path}: {messages}");
        assert!(messages.contains("it is not a plain file") && messages.contains("pipe.equelle:1:8"), "{path}: {messages}");
    }
}
