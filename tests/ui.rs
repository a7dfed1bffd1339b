//! What the user sees: every program under `tests/ui` with the messages it gets, as written without colour.
//!
//! `EQUELLE_BLESS=1 cargo test --test ui` rewrites the expected messages; review the difference like code. A first line
//! `# flags: --nondimensional` gives options.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use equelle_front::check::{CheckOptions, check};
use equelle_front::diagnostic::render::{Format, render};
use equelle_front::diagnostic::{Code, Diagnostic};
use equelle_front::source::SourceFile;
use equelle_front::syntax::parse;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui")
}

/// All files with this extension below a folder, sorted.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The name of a case, with `/` on every system.
fn name(path: &Path) -> String {
    let parts = path.strip_prefix(root()).unwrap_or(path).components();
    parts.map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn options(text: &str) -> CheckOptions {
    let mut options = CheckOptions::default();
    let flags = text.lines().next().and_then(|line| line.strip_prefix("# flags:")).unwrap_or("");
    for flag in flags.split_whitespace() {
        match flag {
            "--nondimensional" => options.nondimensional = true,
            other => panic!("unknown flag {other}"),
        }
    }
    options
}

fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let parsed = parse(text);
    if parsed.diagnostics.iter().any(Diagnostic::is_error) {
        return parsed.diagnostics;
    }
    check(&parsed.program, &options(text)).diagnostics
}

/// The text of a case, byte for byte: some are about line ends.
fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn messages_are_as_recorded() {
    let bless = std::env::var_os("EQUELLE_BLESS").is_some_and(|v| v == "1");
    let mut wrong = Vec::new();
    for path in files(&root(), "equelle") {
        let text = read(&path);
        let source = SourceFile::new(name(&path), text.as_str());
        let seen = render(&diagnostics(&text), &source, Format::Human { color: false });
        let expected_path = path.with_extension("stderr");
        if bless {
            fs::write(&expected_path, seen).unwrap();
            continue;
        }
        let expected = fs::read_to_string(&expected_path).unwrap_or_default();
        if !expected_path.exists() || expected != seen {
            wrong.push(format!("---- {}: expected\n{expected}---- seen\n{seen}", name(&path)));
        }
    }
    assert!(wrong.is_empty(), "{} cases differ (EQUELLE_BLESS=1 records what is seen)\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_record_has_its_program() {
    let orphans: Vec<String> = files(&root(), "stderr").iter().filter(|p| !p.with_extension("equelle").exists()).map(|p| name(p)).collect();
    assert!(orphans.is_empty(), "{orphans:?}");
}

#[test]
fn every_syntax_code_has_a_case() {
    let seen: BTreeSet<Code> =
        files(&root().join("syntax"), "equelle").iter().flat_map(|p| parse(&read(p)).diagnostics).map(|d| d.code).collect();
    let syntax = Code::ALL.iter().copied().filter(|c| c.as_str().starts_with("E00"));
    // A text of 64 MiB is not kept in the repository; the limit is tested with a generated one.
    let missing: Vec<&str> = syntax.filter(|c| *c != Code::TextTooLong && !seen.contains(c)).map(Code::as_str).collect();
    assert!(missing.is_empty(), "no case under tests/ui/syntax for {missing:?}");
}

#[test]
fn three_errors_give_three_messages() {
    let found = diagnostics(&read(&root().join("syntax/three_errors.equelle")));
    assert_eq!(found.iter().map(|d| d.code.as_str()).collect::<Vec<_>>(), ["E0009", "E0013", "E0019"]);
}
