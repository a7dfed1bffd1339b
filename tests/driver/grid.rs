//! `equellec grid`: what it tells of grids, and its exit codes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
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

/// Sums and counts that any partition has, and the file of parts, which is read again.
#[test]
fn partition_of_a_mesh() {
    let folder = tempfile::tempdir().expect("a folder");
    let parts = folder.path().join("parts.txt").display().to_string();
    let json = |words: &[&str]| {
        let (code, out, errors) = equellec(&[&["--message-format", "json", "grid", "partition", "plate.msh"], words].concat());
        assert_eq!(code, Some(0), "{errors}");
        serde_json::from_str::<serde_json::Value>(&out).expect("JSON")
    };
    let numbers = |found: &serde_json::Value, name: &str| -> Vec<u64> {
        found[name].as_array().expect("a list").iter().map(|n| n.as_u64().expect("a count")).collect()
    };
    let found = json(&["--ranks", "7", "-o", &parts]);
    let cells = numbers(&found, "cells");
    assert_eq!((cells.len(), cells.iter().sum::<u64>()), (7, 361));
    assert!(cells.iter().all(|&n| n == 51 || n == 52), "{cells:?}");
    // Each cell sent is received.
    assert_eq!(numbers(&found, "sent").iter().sum::<u64>(), numbers(&found, "halo").iter().sum::<u64>());
    let text = fs::read_to_string(&parts).expect("the parts");
    assert_eq!(text.lines().count(), 361);
    let again = json(&["--parts", &parts]);
    assert_eq!((numbers(&again, "cells"), numbers(&again, "halo")), (cells, numbers(&found, "halo")));
    // More layers are larger halos.
    let wide = numbers(&json(&["--parts", &parts, "--layers", "3"]), "halo");
    assert!(wide.iter().zip(numbers(&found, "halo")).all(|(wide, narrow)| *wide > narrow));
}

/// A thousand million cells, for which nothing as large as the grid is allocated.
#[test]
fn partition_of_a_cartesian_grid() {
    let (code, out, errors) = equellec(&["grid", "partition", "--cells", "1000,1000,1000", "--ranks", "4096"]);
    assert_eq!(code, Some(0), "{errors}");
    // 1000 = 8 * 63 + 8 * 62.
    let expected = [
        "1000000000 cells for 4096 ranks, in 16 x 16 x 16 boxes",
        "cells of a rank   238328 to 250047, at most 1.024 of the mean",
        "halo              1 layer: at most 24578 cells, 10.0 % of a rank's own",
        "neighbours        at most 26",
    ];
    assert_eq!(out.lines().take(4).collect::<Vec<_>>(), expected);
}

#[test]
fn partitions_that_cannot_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let parts = folder.path().join("parts.txt");
    fs::write(&parts, "0\n1\nx\n").expect("a file");
    let parts = parts.display().to_string();
    for (words, code, expected) in [
        (vec!["plate.msh", "--ranks", "362"], 4, "rank 361 of 362 has no cell"),
        (vec!["plate.msh", "--parts", &parts], 4, "line 3: `x` is not the number of a rank"),
        (vec!["plate.msh", "--parts", "no-such-file"], 4, "`no-such-file` cannot be read"),
        (vec!["plate.msh", "--ranks", "0"], 2, "0 is not in 1.."),
        (vec!["plate.msh"], 2, "--ranks"),
        (vec!["--cells", "4,4", "--ranks", "17"], 4, "4 x 4 cells cannot be cut into boxes for 17 ranks"),
        (vec!["--cells", "4,0", "--ranks", "2"], 2, "one to three numbers above zero"),
        (vec!["--cells", "4294967296,4294967296", "--ranks", "2"], 2, "beyond 64 bits"),
    ] {
        let (found, _, errors) = equellec(&[&["grid", "partition"], &words[..]].concat());
        assert_eq!(found, Some(code), "{words:?}: {errors}");
        assert!(errors.contains(expected), "{words:?}: {errors}");
    }
}
