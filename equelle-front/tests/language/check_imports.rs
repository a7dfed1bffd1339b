//! Imports: scopes of texts, constants, what is checked once, pages of codes that need two texts.

use std::collections::BTreeMap;

use equelle_front::check::{CheckOptions, Checked, check_source};
use equelle_front::diagnostic::Code;
use equelle_front::diagnostic::explain::explain;
use equelle_front::imports::{ImportReader, ImportedText};
use equelle_front::lower::lower;
use equelle_front::source::{ImportError, SourceMap};
use equelle_front::typed::StmtKind;
use equelle_front::verify::verify;

/// Texts by name.
struct Texts<'t>(BTreeMap<&'t str, &'t str>);

impl ImportReader for Texts<'_> {
    fn read(&mut self, path: &str, _from: &str) -> Result<ImportedText, ImportError> {
        let text = self.0.get(path).ok_or_else(|| ImportError::Unreadable("no such text".into()))?;
        Ok(ImportedText { name: path.to_owned(), key: path.to_owned(), text: (*text).to_owned() })
    }
}

fn sources(main: &str, texts: &[(&str, &str)]) -> SourceMap {
    SourceMap::with_imports(
        "main.equelle",
        main,
        "main.equelle",
        &mut Texts(texts.iter().copied().chain([("main.equelle", main)]).collect()),
    )
}

fn checked(main: &str, texts: &[(&str, &str)]) -> Checked {
    check_source(&sources(main, texts), &CheckOptions::default())
}

/// Code and file of every diagnostic.
fn found(main: &str, texts: &[(&str, &str)]) -> Vec<(Code, String)> {
    let source = sources(main, texts);
    let checked = check_source(&source, &CheckOptions::default());
    checked.diagnostics.iter().map(|d| (d.code, source.file(source.file_at(d.primary.span.start)).name().to_owned())).collect()
}

/// The text of the IR without diagnostics.
fn ir(main: &str, texts: &[(&str, &str)]) -> String {
    let source = sources(main, texts);
    let checked = check_source(&source, &CheckOptions::default());
    assert_eq!(checked.diagnostics, []);
    let module = lower(&checked.program.expect("no errors"), &source, "main");
    let verified = verify(module).unwrap_or_else(|errors| panic!("{errors:?}"));
    let text = equelle_front::ir::text::print(verified.module());
    // Without places, which are `!4..9`.
    text.split(' ').filter(|word| !word.starts_with('!')).collect::<Vec<_>>().join(" ")
}

const PHYSICS: &str = "factor = 3\nscaled(x) = {\n    -> factor * x\n}\n";

#[test]
fn texts_have_scopes_of_their_own() {
    // Both have a `factor`; each function sees that of its text, at the call too.
    let main = "factor = 5\nImport \"physics\" (scaled)\nOutput(\"y\", scaled(factor))\n";
    assert_eq!(found(main, &[("physics", PHYSICS)]), []);
    let own = "factor = 5\nscaled(x) = {\n    -> hidden * x\n}\nhidden = 3\n";
    assert_eq!(found(main, &[("physics", own)]), [(Code::UnknownName, "physics".to_owned())], "what comes later is not seen there either");
    let outer = "scaled(x) = {\n    -> outer * x\n}\n";
    let main = "outer = 5\nImport \"physics\" (scaled)\nOutput(\"y\", scaled(outer))\n";
    assert_eq!(found(main, &[("physics", outer)]), [(Code::UnknownName, "physics".to_owned())], "a text does not see the program");
    let main = "Import \"physics\" (scaled)\nOutput(\"y\", scaled(factor))\n";
    assert_eq!(found(main, &[("physics", PHYSICS)]), [(Code::UnknownName, "main.equelle".to_owned())], "what is not listed is not there");
}

#[test]
fn constants_that_are_read_are_computed_once() {
    let texts = [
        ("physics", "factor = 3\nunread = 1 Extend AllCells()\nscaled(x) = {\n    -> factor * x\n}\n"),
        ("more", "Import \"physics\" (factor)\ntwice = 2 * factor\n"),
    ];
    let main = "Import \"more\" (twice)\nImport \"physics\" (factor, scaled)\nOutput(\"y\", scaled(twice) + factor)\n";
    let program = checked(main, &texts).program.expect("no errors");
    let names: Vec<&str> = program
        .main
        .iter()
        .filter_map(|statement| match &statement.kind {
            StmtKind::Let { variable, .. } => Some(program.variables[variable.0 as usize].name.as_str()),
            StmtKind::Assign { .. }
            | StmtKind::Output { .. }
            | StmtKind::Discard(_)
            | StmtKind::For { .. }
            | StmtKind::Range { .. }
            | StmtKind::Conditional { .. }
            | StmtKind::Return(_) => None,
        })
        .collect();
    assert_eq!(names, ["factor", "twice"]);
    assert!(!ir(main, &texts).contains("all_cells"), "the unread constant is gone");
}

#[test]
fn an_import_is_the_same_as_the_text_written_out() {
    let imported = ir("Import \"physics\" (scaled)\nOutput(\"y\", scaled(2))\n", &[("physics", PHYSICS)]);
    let written = ir(&format!("{PHYSICS}Output(\"y\", scaled(2))\n"), &[]);
    assert_eq!(imported, written);
}

#[test]
fn functions_of_a_text_may_have_effects() {
    let text = "measure(u) = {\n    Output(\"least\", MinReduce(u))\n    -> InputScalarWithDefault(\"scale\", 2) * MaxReduce(u)\n}\n";
    let main = "Import \"measures\" (measure)\nOutput(\"y\", measure(3 Extend AllCells()))\n";
    assert_eq!(found(main, &[("measures", text)]), []);
}

#[test]
fn one_mistake_in_an_import_is_told_once() {
    let main = "Import \"nothing\" (f, c)\na = f(c) + c\nb = f(1)\nOutput(\"y\", a + b)\n";
    assert_eq!(found(main, &[]), [(Code::ImportNotFound, "main.equelle".to_owned())]);
    let main = "Import \"physics\" (f, scaled)\nOutput(\"y\", f(1) + scaled(1))\n";
    assert_eq!(found(main, &[("physics", PHYSICS)]), [(Code::UnknownImport, "main.equelle".to_owned())]);
    // An error in a text is told for the text, however often it is imported.
    let broken = "f(x) = {\n    -> x + 1 [Meter]\n}\n";
    let main = "Import \"broken\" (f)\nImport \"other\" (g)\nOutput(\"y\", f(1) + g(1))\n";
    let other = "Import \"broken\" (f)\ng(x) = {\n    -> f(x)\n}\n";
    assert_eq!(found(main, &[("broken", broken), ("other", other)]), [(Code::SumDimensions, "broken".to_owned())]);
}

#[test]
fn warnings_are_about_the_program() {
    // `factor` and `scaled` are for whoever imports them.
    assert_eq!(found("Import \"physics\" (factor)\nOutput(\"y\", factor)\n", &[("physics", PHYSICS)]), []);
    let main = "Import \"physics\" (factor, scaled)\nOutput(\"y\", factor)\n";
    assert_eq!(found(main, &[("physics", PHYSICS)]), [(Code::UnusedImport, "main.equelle".to_owned())]);
    let local = "f(x) = {\n    unread = 2\n    -> x\n}\n";
    assert_eq!(found("Import \"l\" (f)\nOutput(\"y\", f(1))\n", &[("l", local)]), [(Code::UnusedVariable, "l".to_owned())]);
}

#[test]
fn a_residual_may_be_imported() {
    let text = "target = 2\nsquare(x) = {\n    -> x^2 - target\n}\n";
    let main = "Import \"equations\" (square)\nOutput(\"root\", NewtonSolve(square, 1 Extend AllCells()))\n";
    assert_eq!(found(main, &[("equations", text)]), []);
}

#[test]
fn chains_of_imports_are_bounded() {
    let names: Vec<String> = (0..200).map(|i| format!("t{i}")).collect();
    let bodies: Vec<String> = (0..200).map(|i| format!("Import \"t{}\" (c{})\nc{i} = c{} + 1\n", i + 1, i + 1, i + 1)).collect();
    let mut texts: Vec<(&str, &str)> = names.iter().zip(&bodies).map(|(n, b)| (n.as_str(), b.as_str())).collect();
    texts.push(("t200", "c200 = 0\n"));
    let codes: Vec<Code> = checked("Import \"t0\" (c0)\nOutput(\"c\", c0)\n", &texts).diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, [Code::NestedTooDeeply]);
    let codes: Vec<Code> = checked("Import \"t150\" (c150)\nOutput(\"c\", c150)\n", &texts).diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, []);
}

#[test]
fn pages_that_need_two_texts_are_right() {
    for (code, main) in [
        (Code::CircularImport, "width = 2\nImport \"text\" (area)\nOutput(\"area\", area(width, 3))\n"),
        (Code::ImportedEffect, "Import \"text\" (density)\nOutput(\"density\", density(1000, 1))\n"),
    ] {
        let page = explain(code.as_str()).expect("a page");
        let examples: Vec<&str> = page.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("equelle\n")).collect();
        let [wrong, right] = examples.as_slice() else { panic!("{}: two examples", code.as_str()) };
        // The program of the wrong text passes one argument less; that is not what is tested.
        assert!(found(main, &[("text", wrong)]).iter().any(|(seen, _)| *seen == code), "{}", code.as_str());
        assert_eq!(found(main, &[("text", right)]), [], "{} corrected", code.as_str());
    }
}
