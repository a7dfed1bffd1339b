//! The examples of the explain pages: the wrong one has the mistake, the corrected one has no
//! diagnostics.

use equelle_front::check::{CheckOptions, check_text};
use equelle_front::diagnostic::Code;
use equelle_front::diagnostic::explain::explain;
use equelle_front::syntax::parse;

fn examples(page: &str) -> Vec<&str> {
    page.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("equelle\n")).collect()
}

fn codes(text: &str) -> Vec<Code> {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:?}", parsed.diagnostics);
    check_text(text, &CheckOptions::default()).diagnostics.iter().map(|d| d.code).collect()
}

#[test]
fn examples_on_pages_are_right() {
    // Limits have no small examples; other tests have the pages of keys and names, and those that
    // need two texts.
    let elsewhere =
        [Code::TooManyInstances, Code::NestedTooDeeply, Code::ParameterKey, Code::OutputName, Code::CircularImport, Code::ImportedEffect];
    for &code in Code::ALL.iter().filter(|c| !c.as_str().starts_with("E00") && !elsewhere.contains(c)) {
        let page = explain(code.as_str()).unwrap_or_else(|| panic!("no page for {}", code.as_str()));
        let examples = examples(page);
        assert_eq!(examples.len(), 2, "{}", code.as_str());
        let wrong = codes(examples[0]);
        assert!(wrong.contains(&code), "{}: {wrong:?}", code.as_str());
        assert_eq!(codes(examples[1]), [], "{} corrected", code.as_str());
    }
}
