//! README, the pages of the book and those of the language, followed word by word: their programs
//! and commands.
//!
//! A block ```` ```console ```` holds commands and what they print, `console fails` commands that
//! fail and their messages. ```` ```equelle ```` holds a program, or the next piece of one, that
//! the compiler takes. A block with the name of a file writes it.

#[path = "../../xtask/src/blocks.rs"]
mod blocks;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use blocks::blocks;

/// Rounding in the solver differs from processor to processor.
const TOLERANCE: f64 = 1e-9;
/// Pages with blocks of a console.
const FOLLOWED: [&str; 4] = ["README.md", "docs/book/src/first-program.md", "docs/book/src/mesh.md", "docs/book/src/deck.md"];

fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(repository(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The same words; numbers may differ by roundings.
fn is_same(found: &str, expected: &str) -> bool {
    let (found, expected): (Vec<&str>, Vec<&str>) = (found.split_whitespace().collect(), expected.split_whitespace().collect());
    let near = |(a, b): (&&str, &&str)| match (a.parse::<f64>(), b.parse::<f64>()) {
        _ if a == b => true,
        (Ok(a), Ok(b)) => (a - b).abs() <= TOLERANCE * b.abs(),
        _ => false,
    };
    found.len() == expected.len() && found.iter().zip(&expected).all(near)
}

/// Runs `equellec` in a folder, by the interpreter: exit code, standard output and standard error.
fn equellec(folder: &Path, words: &[String]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equellec"));
    command.current_dir(folder).arg(&words[0]);
    if words[0] == "run" && !words.contains(&"--interpret".to_owned()) {
        command.arg("--interpret");
    }
    let output = command.args(&words[1..]).output().expect("equellec starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Does what a page says, in a new folder; returns the folder and the number of commands.
fn follow(page: &str) -> (PathBuf, usize) {
    assert!(FOLLOWED.contains(&page), "{page} belongs into the list of pages that are followed");
    let name = page.rsplit('/').next().unwrap_or(page);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("page-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let mut n_commands = 0;
    for block in blocks(&read(page)) {
        if let Some(name) = block.file() {
            if let Ok(committed) = fs::read_to_string(repository("grids").join(name)) {
                assert_eq!(block.text, committed, "{name}");
            }
            fs::write(folder.join(name), &block.text).expect("the test's own file");
        }
        let fails = block.word.as_deref() == Some("fails");
        for (words, expected) in block.commands() {
            if words[0] == "gmsh" {
                // The mesh that it makes is committed.
                fs::copy(repository("grids/plate.msh"), folder.join("plate.msh")).expect("the mesh is committed");
                continue;
            }
            assert_eq!(words[0], "equellec");
            let (code, out, errors) = equellec(&folder, &words[1..]);
            assert_eq!(code != Some(0), fails, "{words:?}\n{out}{errors}");
            let found = if fails { &errors } else { &out };
            assert!(is_same(found, &expected), "{page}: {words:?}\n{found}\nbut the page has\n{expected}");
            n_commands += 1;
        }
    }
    (folder, n_commands)
}

/// The first screen of README: a short program, a command and its picture. The feed of `u` and the
/// loss of `v` keep both between 0 and 1.
#[test]
fn the_program_of_the_readme() {
    let (folder, n_commands) = follow("README.md");
    assert_eq!(n_commands, 1);
    let text = |page: &str| blocks(&read(page)).into_iter().find(|block| block.kind == "equelle").expect("a program").text;
    assert!(text("README.md").lines().count() <= 12, "the program has more than 12 lines");
    assert_eq!(text("README.md"), text("docs/book/src/index.md"), "README and the book begin with the same program");
    assert!(fs::read(folder.join("output/patterns.png")).expect("a picture").starts_with(b"\x89PNG"));
    let words = ["run", "--quiet", "patterns.equelle", "nx=100", "ny=100", "timesteps=400*1"];
    let words = words.map(str::to_owned).into_iter().chain([
        "v_expression=Exp(-((x - 50)^2 + (y - 50)^2) / 50)".to_owned(),
        "output_format=text".to_owned(),
        "output_dir=numbers".to_owned(),
    ]);
    let (code, _, errors) = equellec(&folder, &words.collect::<Vec<_>>());
    assert_eq!(code, Some(0), "{errors}");
    let v = fs::read_to_string(folder.join("numbers/v-00000.output")).expect("numbers");
    let v: Vec<f64> = v.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    assert_eq!(v.len(), 10_000);
    assert!(v.iter().all(|v| (0.0..1.0).contains(v)) && v.iter().any(|v| *v > 0.2), "the substance has died out or runs away");
    fs::remove_dir_all(&folder).expect("the test's own folder");
}

#[test]
fn the_first_program() {
    let (folder, n_commands) = follow("docs/book/src/first-program.md");
    assert_eq!(n_commands, 14);
    for picture in ["plate/heat.png", "polygons/heat.png"] {
        assert!(fs::read(folder.join(picture)).expect(picture).starts_with(b"\x89PNG"));
    }
    fs::remove_dir_all(&folder).expect("the test's own folder");
}

#[test]
fn the_page_on_meshes() {
    let (folder, n_commands) = follow("docs/book/src/mesh.md");
    assert_eq!(n_commands, 5);
    let (code, out, errors) = equellec(&folder, &["grid", "check", "plate.msh"].map(str::to_owned));
    assert!(code == Some(0) && out.is_empty() && errors.is_empty(), "a sound mesh is passed in silence");
    // 361 temperatures between those of the sides.
    let temperatures = fs::read_to_string(folder.join("temperature-00000.output")).expect("an output");
    let temperatures: Vec<f64> = temperatures.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    assert!(temperatures.len() == 361 && temperatures.iter().all(|u| (0.0..=1.0).contains(u)));
    fs::remove_dir_all(&folder).expect("the test's own folder");
}

#[test]
fn the_page_on_decks() {
    let (folder, n_commands) = follow("docs/book/src/deck.md");
    assert_eq!(n_commands, 5);
    let read = |name: &str| fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(read("field.grdecl") == fs::read(repository("grids/field.grdecl")).expect("the deck is committed"));
    let holds = |name: &str, what: &str| String::from_utf8_lossy(&read(name)).contains(what);
    assert!(holds("results/wells.pvd", "wells-00000.vtu") && holds("results/wells-00000.vtu", "pressure [Bar]"));
    assert!(holds("field-faces.vtu", "set:MIDDLE") && holds("field.vtu", "PERMX"));
    assert!(read("pressure.png").starts_with(b"\x89PNG"));
    // On the converted grid the wells do the same; its faces are made anew.
    let words = ["run", "--quiet", "wells.equelle", "wells.param", "grid_filename=field.vtu", "output_dir=again"];
    let (_, out, _) = equellec(&folder, &words.map(str::to_owned));
    let injected = out.lines().find_map(|line| line.strip_prefix("injected = ")).and_then(|text| text.parse::<f64>().ok());
    assert!(injected.is_some_and(|rate| (rate / 150.466_312_698_548_73 - 1.0).abs() < TOLERANCE), "{out}");
    fs::remove_dir_all(&folder).expect("the test's own folder");
}

/// README, the pages of the book and those of the language.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    for folder in ["docs/book/src", "docs/language"] {
        let entries = fs::read_dir(repository(folder)).expect("a folder of pages");
        let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
        pages.extend(names.filter(|name| name.ends_with(".md")).map(|name| format!("{folder}/{name}")));
    }
    pages.sort();
    pages
}

/// Compiles a program; the error is the text of the compiler.
fn check(program: &str) -> Result<(), String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equellec"));
    let mut child = command.args(["check", "-"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("equellec starts");
    child.stdin.take().expect("a pipe").write_all(program.as_bytes()).expect("equellec reads");
    let output = child.wait_with_output().expect("equellec ends");
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// A block is a program, or goes on with those before it on its page.
#[test]
fn programs_of_the_pages_are_right() {
    let mut n_programs = 0;
    for page in pages() {
        let mut before = String::new();
        for block in blocks(&read(&page)).into_iter().filter(|block| block.kind == "equelle") {
            before += &block.text;
            if let Err(message) = check(&block.text) {
                check(&before).unwrap_or_else(|_| panic!("{page}:\n{}\n{message}", block.text));
            }
            n_programs += 1;
        }
    }
    assert!(n_programs > 30, "{n_programs} programs");
    assert!(check("Output(\"u\", 1 [1/Second])").is_err(), "a wrong program is refused");
}

/// Commands that a page shows with what they print are run.
#[test]
fn every_page_with_a_console_is_followed() {
    let has_console = |page: &String| blocks(&read(page)).iter().any(|block| block.kind == "console");
    let found: Vec<String> = pages().into_iter().filter(has_console).collect();
    let mut followed = FOLLOWED.map(str::to_owned).to_vec();
    followed.sort();
    assert_eq!(found, followed);
}
