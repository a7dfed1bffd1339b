//! Messages to the user: every program under `tests/ui` with the messages it gets, as written
//! without colour.
//!
//! `EQUELLE_BLESS=1 cargo test --test texts ui::` rewrites the expected messages; review the
//! difference like code. A first line `# flags: --nondimensional` gives options.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use equelle::{imports, pipeline};
use equelle_front::check::CheckOptions;
use equelle_front::diagnostic::render::{Format, render};
use equelle_front::diagnostic::{Code, Diagnostic};
use equelle_front::imports::{ImportReader, ImportedText};
use equelle_front::source::{ImportError, SourceMap};
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

/// Reads files that lie beside a case, and names them like cases.
struct CaseFiles;

impl ImportReader for CaseFiles {
    fn read(&mut self, path: &str, from: &str) -> Result<ImportedText, ImportError> {
        let found = imports::Files.read(path, &root().join(from).to_string_lossy())?;
        Ok(ImportedText { name: name(Path::new(&found.name)), ..found })
    }
}

/// A case with the files that it imports.
fn source(path: &Path, text: &str) -> SourceMap {
    let key = imports::key(path).expect("the case is a file");
    SourceMap::with_imports(name(path), text, &key, &mut CaseFiles)
}

fn diagnostics_of(path: &Path) -> Vec<Diagnostic> {
    diagnostics(&source(path, &read(path)))
}

fn diagnostics(source: &SourceMap) -> Vec<Diagnostic> {
    pipeline::checked(source, options(source.text()).nondimensional).diagnostics
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
        let source = source(&path, &text);
        let seen = render(&diagnostics(&source), &source, Format::Human { color: false });
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
fn json_is_as_recorded_and_documented() {
    let path = root().join("json/instance.equelle");
    let text = read(&path);
    let source = source(&path, &text);
    let seen = render(&diagnostics(&source), &source, Format::Json);
    let recorded = path.with_extension("jsonl");
    if std::env::var_os("EQUELLE_BLESS").is_some_and(|v| v == "1") {
        fs::write(&recorded, &seen).unwrap();
    }
    assert_eq!(read(&recorded), seen);
    // Every key of the objects is in the table of the documentation.
    let documentation = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/internals/diagnostics.md"));
    for key in [
        "code",
        "severity",
        "message",
        "file",
        "span",
        "line",
        "column",
        "end_line",
        "end_column",
        "label",
        "labels",
        "trail",
        "notes",
        "hint",
    ] {
        assert!(seen.lines().all(|line| line.contains(&format!("\"{key}\":"))), "{key}");
        assert!(documentation.contains(&format!("`{key}`")), "{key}");
    }
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

/// Line and code of every `# error: E0001` at the end of a line.
fn expected_errors(text: &str) -> Vec<(u32, String)> {
    let line = |(i, line): (usize, &str)| {
        let codes = line.split_once("# error: ").map_or("", |(_, codes)| codes);
        codes.split_whitespace().map(|code| (i as u32 + 1, code.to_owned())).collect::<Vec<_>>()
    };
    text.lines().enumerate().flat_map(line).collect()
}

#[test]
fn broken_programs_report_all_of_their_errors_and_no_others() {
    let programs = files(&root().join("broken"), "equelle");
    assert!(programs.len() >= 10, "{}", programs.len());
    let mut wrong = Vec::new();
    for path in programs {
        let text = read(&path);
        let expected = expected_errors(&text);
        assert!(text.lines().count() >= 50 && expected.len() >= 4, "{}", name(&path));
        let source = source(&path, &text);
        let found = diagnostics(&source);
        let places: Vec<u32> = found.iter().map(|d| d.primary.span.start).collect();
        assert!(places.is_sorted(), "{}: {places:?}", name(&path));
        let seen: Vec<(u32, String)> = found.iter().map(|d| (source.line(d.primary.span.start), d.code.as_str().to_owned())).collect();
        if seen != expected {
            let (only_seen, only_expected): (Vec<_>, Vec<_>) =
                (seen.iter().filter(|e| !expected.contains(e)).collect(), expected.iter().filter(|e| !seen.contains(e)).collect());
            wrong.push(format!("{}: not expected {only_seen:?}, not found {only_expected:?}", name(&path)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rows of the table in `docs/internals/diagnostics.md`: number, code, name of the case.
fn table() -> Vec<(String, String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/internals/diagnostics.md");
    let text = read(&path);
    let (_, table) = text.split_once("| # | condition | code | case |\n| --- | --- | --- | --- |\n").expect("the table");
    let row = |line: &str| {
        // A condition may hold an escaped bar.
        let line = line.replace("\\|", "");
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let &[number, _, code, case] = cells.as_slice() else { panic!("four columns: {line}") };
        (number.to_owned(), code.to_owned(), case.trim_matches('`').to_owned())
    };
    table.lines().take_while(|line| line.starts_with('|')).map(row).collect()
}

#[test]
fn every_row_of_the_table_has_a_case_with_its_code() {
    let table = table();
    let numbers: BTreeSet<u32> = table.iter().filter_map(|(number, _, _)| number.parse().ok()).collect();
    assert_eq!(numbers, (1..=56).collect());
    let mut wrong = Vec::new();
    for (number, code, case) in &table {
        let found = diagnostics_of(&root().join("rows").join(case).with_extension("equelle"));
        let seen: Vec<&str> = found.iter().map(|d| d.code.as_str()).collect();
        if !seen.contains(&code.as_str()) {
            wrong.push(format!("{number} {case}: {code} expected, {seen:?} seen"));
        }
    }
    let cases: BTreeSet<String> = table.into_iter().map(|(_, _, case)| format!("rows/{case}.equelle")).collect();
    let programs: BTreeSet<String> = files(&root().join("rows"), "equelle").iter().map(|p| name(p)).collect();
    assert_eq!(cases, programs);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_error_has_a_hint_and_a_place() {
    let mut wrong = Vec::new();
    for path in files(&root(), "equelle") {
        let source = source(&path, &read(&path));
        for d in diagnostics(&source) {
            let place = source.text_of(d.primary.span);
            // A missing token has a place between two characters.
            let placed = place.is_some_and(|t| !t.is_empty()) || matches!(d.code, Code::UnexpectedToken | Code::MissingContinuation);
            if d.hint.is_none() && d.code != Code::UnexpectedToken || !placed {
                wrong.push(format!("{}: {} {}", name(&path), d.code.as_str(), d.message));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_code_has_a_case() {
    let seen: BTreeSet<Code> = files(&root(), "equelle").iter().flat_map(|p| diagnostics_of(p)).map(|d| d.code).collect();
    // A text of 64 MiB, and what takes a million instances or hundreds of nested calls, are
    // generated by the tests of limits.
    let generated = [Code::TextTooLong, Code::TooManyInstances, Code::NestedTooDeeply];
    let missing: Vec<&str> = Code::ALL.iter().filter(|c| !generated.contains(c) && !seen.contains(c)).map(|c| c.as_str()).collect();
    assert!(missing.is_empty(), "no case under tests/ui for {missing:?}");
}

/// Mistakes with reads by index and halos: each place that is marked, with its code.
#[test]
fn at_least_60_mistakes_with_stencils() {
    let cases = ["halos", "reads_by_index", "stencil_assignments", "stencil_halos", "stencil_numbers", "stencil_reads", "stencil_types"];
    let found: BTreeSet<(&str, u32, Code)> = cases
        .iter()
        .flat_map(|case| {
            let found = diagnostics_of(&root().join("check").join(case).with_extension("equelle"));
            found.into_iter().map(|d| (*case, d.primary.span.start, d.code)).collect::<Vec<_>>()
        })
        .collect();
    assert!(found.len() >= 60, "only {}", found.len());
    let codes: BTreeSet<&str> = found.iter().map(|(_, _, code)| code.as_str()).filter(|code| code.starts_with("E06")).collect();
    assert_eq!(codes.len(), 11, "{codes:?}");
}

/// The examples of the pages whose codes the driver reports; `check_pages` of the front-end has the
/// others.
#[test]
fn the_pages_of_keys_and_names_have_the_mistake_and_its_correction() {
    for code in [Code::ParameterKey, Code::OutputName] {
        let page = equelle_front::diagnostic::explain::explain(code.as_str()).expect("a page");
        let examples: Vec<&str> = page.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("equelle\n")).collect();
        assert_eq!(examples.len(), 2);
        let codes = |text: &str| diagnostics(&SourceMap::new("", text)).iter().map(|d| d.code).collect::<Vec<_>>();
        assert_eq!((codes(examples[0]), codes(examples[1])), (vec![code], vec![]));
    }
}

#[test]
fn three_errors_give_three_messages() {
    let found = diagnostics_of(&root().join("syntax/three_errors.equelle"));
    assert_eq!(found.iter().map(|d| d.code.as_str()).collect::<Vec<_>>(), ["E0009", "E0013", "E0019"]);
}
