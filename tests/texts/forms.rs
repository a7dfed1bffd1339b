//! The loops of kernels on Cartesian grids, as each back-end chose them: recorded for every program
//! of the project. A kernel that falls from rows to a slower loop shows as a difference here.
//!
//! `EQUELLE_BLESS=1 cargo test --test texts forms::` rewrites the record; review the difference
//! like code.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use equelle::pipeline;
use equelle::registry::{BACKENDS, costs};
use equelle_front::report::{Part, Report};
use equellec::console::{Console, MessageFormat};

/// Folders of programs, with those in their subfolders.
const FOLDERS: [&str; 6] = ["benches", "examples", "tests/implicit", "tests/programs", "tests/run", "tests/wording"];

/// Kernels that the serial back-end runs cell by cell, or by the body for any grid. It may only
/// shrink.
const MAX_SLOW_KERNELS: usize = 12;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn programs_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            programs_in(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "equelle") {
            found.push(path);
        }
    }
}

/// A program's report at `-O2`, optimised for one back-end and with its loops. `None` if the
/// program is one of those that tests expect to fail.
fn report(path: &Path, backend: &'static dyn equelle_front::backend::Backend) -> Option<Report> {
    let console = Console { format: MessageFormat::Json, color: false };
    let source = pipeline::read(path).ok()?;
    let options = pipeline::Options { nondimensional: true, costs: costs(&[backend]), ..Default::default() };
    let (verified, mut report) = pipeline::compile_with_report(&source, options, &console).ok()?;
    pipeline::add_forms(&mut report, &source, &verified, &[backend]).ok()?;
    Some(report)
}

#[test]
fn loops_are_as_recorded() {
    let mut paths = Vec::new();
    FOLDERS.iter().for_each(|folder| programs_in(&root().join(folder), &mut paths));
    paths.sort();
    assert!(paths.len() > 80, "{}", paths.len());
    let (mut text, mut slower) = (String::new(), 0);
    for path in &paths {
        let name = path.strip_prefix(root()).expect("a program of the project").display().to_string().replace('\\', "/");
        for &backend in BACKENDS {
            let Some(report) = report(path, backend) else { continue };
            let mut seen = Vec::new();
            for kernel in report.parts.iter().flat_map(Part::kernels) {
                for (_, chosen) in &kernel.forms {
                    let refused = chosen.refused.map(|refusal| format!(": {refusal}")).unwrap_or_default();
                    let line = format!("  {} {}{refused}", kernel.name, chosen.form.name());
                    if !seen.contains(&line) {
                        slower += usize::from(chosen.refused.is_some() && backend.name() == "serial");
                        seen.push(line);
                    }
                }
            }
            let _ = writeln!(text, "{name}, {}", backend.name());
            seen.iter().for_each(|line| text += &format!("{line}\n"));
        }
    }
    let record = root().join("tests/golden/loop_forms.txt");
    if env::var_os("EQUELLE_BLESS").is_some_and(|value| value == "1") {
        fs::write(&record, &text).expect("the record");
    }
    assert_eq!(slower, MAX_SLOW_KERNELS, "kernels that fall from rows: correct the number if they became fewer\n{text}");
    let expected = fs::read_to_string(&record).unwrap_or_default();
    let differs = text.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert!(text == expected, "EQUELLE_BLESS=1 records what is seen; the first line that differs: {differs:?}");
}
