//! Files of the IR tests.
//!
//! * `tests/ir/*.eqir` and `tests/ir/kernels/*.eqir` without `; error:` comments: parsed, printed,
//!   compared, verified. Lines that hold only a comment are not part of the comparison.
//! * Files with `; error: text` comments: they parse, and the verifier reports on each such line a
//!   message that contains the text, and nothing else.
//! * `name.out.eqir` is what `name.eqir` prints as. `EQUELLE_BLESS=1` writes these files anew;
//!   review the difference.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// A path below `tests/ir`.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ir").join(name)
}

/// Text of a file below `tests/ir`.
pub fn read(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|e| panic!("tests/ir/{name}: {e}"))
}

/// Names, below `tests/ir`, of the IR files in a folder there, in order.
pub fn files(folder: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(path(folder))
        .unwrap_or_else(|e| panic!("tests/ir/{folder}: {e}"))
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".eqir") && !name.ends_with(".out.eqir"))
        .map(|name| if folder.is_empty() { name } else { format!("{folder}/{name}") })
        .collect();
    names.sort();
    names
}

/// Compares a text with a file, or writes the file when blessing.
pub fn compare(name: &str, found: &str) {
    if env::var_os("EQUELLE_BLESS").is_some_and(|v| v == "1") {
        fs::write(path(name), found).unwrap_or_else(|e| panic!("tests/ir/{name}: {e}"));
        return;
    }
    assert_same(name, &read(name), found);
}

/// Fails at the first line that differs.
pub fn assert_same(name: &str, expected: &str, found: &str) {
    for (number, (expected, found)) in expected.lines().zip(found.lines()).enumerate() {
        assert_eq!(expected, found, "tests/ir/{name}, line {}", number + 1);
    }
    assert_eq!(expected.lines().count(), found.lines().count(), "tests/ir/{name}: number of lines");
    assert!(expected == found, "tests/ir/{name}: line ends differ");
}

/// The text without lines that hold only a comment.
pub fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with(';')).map(|line| format!("{line}\n")).collect()
}
