//! `equellec grid`, and the page of the book on meshes, followed word by word.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Rounding in the solver differs from processor to processor.
const TOLERANCE: f64 = 1e-9;

fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Blocks of code of a page: what stands behind the back-quotes, and the text.
fn blocks(page: &str) -> Vec<(&str, String)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```") {
            let text: String = lines.by_ref().take_while(|line| *line != "```").flat_map(|line| [line, "\n"]).collect();
            blocks.push((kind, text));
        }
    }
    blocks
}

/// Words of a command; quotes keep blanks.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('"').enumerate();
    parts
        .flat_map(|(at, part)| if at % 2 == 1 { vec![part.to_string()] } else { part.split_whitespace().map(str::to_string).collect() })
        .collect()
}

fn is_same(found: &str, expected: &str) -> bool {
    let (found, expected): (Vec<&str>, Vec<&str>) = (found.split_whitespace().collect(), expected.split_whitespace().collect());
    let near = |(a, b): (&&str, &&str)| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= TOLERANCE * b.abs(),
        _ => a == b,
    };
    found.len() == expected.len() && found.iter().zip(&expected).all(near)
}

/// Does what a page of the book says, in a new folder, and tells the folder and how many commands
/// there were.
fn follow(page: &str) -> (PathBuf, usize) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("page-{page}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let page = fs::read_to_string(repository("docs/book/src").join(page)).expect("the page is there");
    let mut n_commands = 0;
    for (kind, text) in blocks(&page) {
        match kind.split_once(' ') {
            Some(("text", name)) => {
                if let Ok(committed) = fs::read_to_string(repository("grids").join(name)) {
                    assert_eq!(text, committed, "{name}");
                }
                fs::write(folder.join(name), text).expect("the test's own file");
            }
            _ if kind == "console" => {
                let (command, expected) = text.split_once('\n').expect("a command");
                let words = words(command.strip_prefix("$ ").expect("a command"));
                if words[0] == "gmsh" {
                    // The mesh that it makes is committed.
                    fs::copy(repository("grids/plate.msh"), folder.join("plate.msh")).expect("the mesh is committed");
                    continue;
                }
                assert_eq!(words[0], "equellec");
                let output =
                    Command::new(env!("CARGO_BIN_EXE_equellec")).args(&words[1..]).current_dir(&folder).output().expect("it starts");
                let (found, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
                assert!(output.status.success(), "{command}\n{errors}");
                assert!(is_same(&found, expected), "{command}\n{found}\nbut the page has\n{expected}");
                n_commands += 1;
            }
            _ => panic!("a block of another kind: {kind}"),
        }
    }
    (folder, n_commands)
}

#[test]
fn the_page_on_meshes() {
    let (folder, n_commands) = follow("mesh.md");
    assert_eq!(n_commands, 3);
    let check =
        Command::new(env!("CARGO_BIN_EXE_equellec")).args(["grid", "check", "plate.msh"]).current_dir(&folder).output().expect("it starts");
    assert!(check.status.success() && check.stdout.is_empty() && check.stderr.is_empty(), "a sound mesh is passed in silence");
    // 361 temperatures between those of the sides.
    let temperatures = fs::read_to_string(folder.join("temperature-00000.output")).expect("an output");
    let temperatures: Vec<f64> = temperatures.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    assert!(temperatures.len() == 361 && temperatures.iter().all(|u| (0.0..=1.0).contains(u)));
    fs::remove_dir_all(&folder).expect("the test's own folder");
}

#[test]
fn the_page_on_decks() {
    let (folder, n_commands) = follow("deck.md");
    assert_eq!(n_commands, 5);
    let read = |name: &str| fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(read("field.grdecl") == fs::read(repository("grids/field.grdecl")).expect("the deck is committed"));
    let holds = |name: &str, what: &str| String::from_utf8_lossy(&read(name)).contains(what);
    assert!(holds("results/wells.pvd", "wells-00000.vtu") && holds("results/wells-00000.vtu", "pressure [Bar]"));
    assert!(holds("field-faces.vtu", "set:MIDDLE") && holds("field.vtu", "PERMX"));
    assert!(read("pressure.png").starts_with(b"\x89PNG"));
    // On the converted grid the wells do the same; its faces are made anew.
    let words = ["run", "--quiet", "wells.equelle", "wells.param", "grid_filename=field.vtu", "output_dir=again"];
    let output = Command::new(env!("CARGO_BIN_EXE_equellec")).args(words).current_dir(&folder).output().expect("it starts");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let injected = out.lines().find_map(|line| line.strip_prefix("injected = ")).and_then(|text| text.parse::<f64>().ok());
    assert!(injected.is_some_and(|rate| (rate / 150.466_312_698_548_73 - 1.0).abs() < TOLERANCE), "{out}");
    fs::remove_dir_all(&folder).expect("the test's own folder");
}

fn equellec(words: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_equellec")).args(words).current_dir(repository("grids")).output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn info_as_json() {
    let (code, out, _) = equellec(&["--message-format", "json", "grid", "info", "plate.msh"]);
    let found: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &found["cells"], &found["dim"]), (Some(0), &361.into(), &2.into()));
    // Each triangle has three sides; interior ones count twice.
    let count = |name: &str| found["faces"][name].as_u64().expect("a count");
    assert_eq!(2 * count("interior") + count("boundary"), 3 * 361);
    // Euler: vertices - edges + cells is 0 with one hole.
    assert_eq!(found["vertices"].as_u64().expect("a count") + 361, count("interior") + count("boundary"));
    let sets = found["sets"].as_array().expect("sets");
    let measure = |name: &str| sets.iter().find(|set| set["name"] == name).expect("a set")["measure"].as_f64().expect("a number");
    // The sides are 1 m high. The hole is a polygon of 11 corners on a circle of radius 0.2, apart
    // from the digits of the file.
    assert!((measure("left") - 1.0).abs() < 1e-14 && (measure("right") - 1.0).abs() < 1e-14);
    let part = std::f64::consts::PI / 11.0;
    assert!((measure("hole") - 22.0 * 0.2 * part.sin()).abs() < 1e-9, "{}", measure("hole"));
    let area = 2.0 - 11.0 * 0.2 * 0.2 * part.sin() * part.cos();
    assert!((measure("plate") - area).abs() < 1e-9, "{} {area}", measure("plate"));
    assert_eq!(found["components"], serde_json::json!([361]));
}

#[test]
fn check_and_its_exit_codes() {
    assert_eq!(equellec(&["grid", "check", "plate.msh", "triangles-6x5.grid"]), (Some(0), String::new(), String::new()));
    let (code, _, errors) = equellec(&["grid", "check", "plate.geo"]);
    assert!(code == Some(4) && errors.contains("is a script of Gmsh") && errors.contains("hint: make the mesh"), "{errors}");
    assert_eq!(equellec(&["grid", "info", "no-such.msh"]).0, Some(5));
    assert_eq!(equellec(&["grid", "check"]).0, Some(2));
    // Two squares apart from each other: a warning, and no error.
    let mut text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n".to_string();
    for (node, [x, y]) in [[0, 0], [1, 0], [1, 1], [0, 1], [5, 0], [6, 0], [6, 1], [5, 1]].iter().enumerate() {
        text += &format!("{} {x} {y} 0\n", node + 1);
    }
    text += "$EndNodes\n$Elements\n2\n1 3 2 0 1 1 2 3 4\n2 3 2 0 1 5 6 7 8\n$EndElements\n";
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("two-squares-{}.msh", std::process::id()));
    fs::write(&file, &text).expect("the target folder can be written");
    let name = file.display().to_string();
    let (code, _, errors) = equellec(&["grid", "check", &name]);
    assert!(code == Some(0) && errors.contains("warning: ") && errors.contains("in 2 parts"), "{errors}");
    fs::write(&file, text.replace("5 6 7 8", "5 6 7 9")).expect("the target folder can be written");
    let (code, _, errors) = equellec(&["grid", "check", &name]);
    assert!(code == Some(4) && errors.contains(":18: $Elements: expected a node of $Nodes, found node 9"), "{errors}");
    fs::remove_file(file).expect("the test's own file");
}
