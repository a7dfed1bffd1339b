//! The manifest: what a program reads and writes, as recorded for the examples and for programs
//! made for it.
//!
//! `EQUELLE_BLESS=1 cargo test --test texts manifest::` rewrites the records; review the difference
//! like code.

use std::path::{Path, PathBuf};
use std::{env, fs};

use equelle_front::check::{CheckOptions, check_text};
use equelle_front::lower;
use equelle_front::passes::{self, OptLevel};
use equelle_front::source::SourceMap;
use equelle_front::verify::verify;
use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn manifest_of(name: &str, text: &str, level: OptLevel) -> String {
    let checked = check_text(text, &CheckOptions { nondimensional: false });
    let program = checked.program.unwrap_or_else(|| panic!("{name}: {:?}", checked.diagnostics));
    let module = lower::lower(&program, &SourceMap::new(format!("{name}.equelle"), text), name);
    let verified = verify(passes::optimise(module, level)).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    equelle::package::manifest(&verified)
}

/// Examples whose manifests are recorded.
const EXAMPLES: [&str; 6] =
    ["gas_1d", "heat_explicit_2d", "heat_explicit_3d", "heat_implicit_2d", "heat_implicit_3d", "heat_implicit_triangles"];

/// Programs with their names: the examples, and those beside the records.
fn programs() -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> =
        EXAMPLES.iter().map(|name| ((*name).to_owned(), root().join(format!("examples/{name}/{name}.equelle")))).collect();
    for entry in fs::read_dir(root().join("tests/manifest")).expect("the records") {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_some_and(|e| e == "equelle") {
            found.push((path.file_stem().expect("a name").to_string_lossy().into_owned(), path));
        }
    }
    found.sort();
    found
}

#[test]
fn manifests_are_as_recorded() {
    let bless = env::var_os("EQUELLE_BLESS").is_some_and(|v| v == "1");
    let mut wrong = Vec::new();
    let all = programs();
    assert!(all.len() >= 8, "{all:?}");
    for (name, path) in all {
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let seen = manifest_of(&name, &text, OptLevel::O2);
        assert_eq!(manifest_of(&name, &text, OptLevel::O0), seen, "{name}: what a program reads and writes does not depend on the level");
        let record = root().join("tests/manifest").join(format!("{name}.json"));
        if bless {
            fs::write(&record, seen).unwrap_or_else(|e| panic!("{}: {e}", record.display()));
        } else if fs::read_to_string(&record).ok().as_deref() != Some(&seen) {
            wrong.push(format!("---- {name}: {seen}"));
        }
    }
    assert!(wrong.is_empty(), "EQUELLE_BLESS=1 records what is seen\n{}", wrong.join("\n"));
}

/// Each function calls the one before it twice, so there are 2^40 paths to the output.
#[test]
fn functions_are_looked_at_once() {
    let mut text = "f0(x) = {\n    Output(\"x\", x)\n    -> x\n}\n".to_owned();
    for i in 1..=40 {
        let before = i - 1;
        text.push_str(&format!("f{i}(x) = {{\n    -> f{before}(x) + f{before}(x)\n}}\n"));
    }
    text.push_str("y = f40(InputScalarWithDefault(\"a\", 1))\nOutput(\"y\", y)\n");
    let manifest = value_at(&text, OptLevel::O0);
    assert_eq!(manifest["inputs"].as_array().map(Vec::len), Some(1));
    assert_eq!(manifest["outputs"].as_array().map(Vec::len), Some(2));
}

fn value(text: &str) -> Value {
    value_at(text, OptLevel::O2)
}

fn value_at(text: &str, level: OptLevel) -> Value {
    serde_json::from_str(&manifest_of("program", text, level)).expect("JSON")
}

#[test]
fn the_grid_must_have_the_components_that_are_used() {
    for (text, minimum) in [
        ("Output(\"x\", |Centroid(AllCells())|)\n", 1),
        ("Output(\"x\", Centroid(AllCells())[0])\n", 1),
        ("Output(\"x\", Centroid(AllCells())[1])\n", 2),
        ("f(v) = {\n    -> v[2]\n}\nOutput(\"x\", f(Normal(AllFaces())))\n", 3),
    ] {
        assert_eq!(value(text)["grid_dimension"], serde_json::json!({ "minimum": minimum }), "{text}");
    }
    let made = value("v = Vector(1, 2)\nOutput(\"x\", |v|)\n");
    assert_eq!(made["grid_dimension"], serde_json::json!({ "minimum": 2, "exact": 2 }));
}

#[test]
fn outputs_in_loops_are_marked_wherever_else_they_stand() {
    let text = "\
Output(\"a\", 1)
Output(\"b\", 2)
For t In InputSequenceOfScalar(\"t\") {
    Output(\"a\", t)
}
";
    let outputs = &value(text)["outputs"];
    assert_eq!((&outputs[0]["name"], &outputs[0]["per_step"], &outputs[0]["line"]), (&"a".into(), &true.into(), &1.into()));
    assert_eq!((&outputs[1]["name"], &outputs[1]["per_step"]), (&"b".into(), &false.into()));
}
