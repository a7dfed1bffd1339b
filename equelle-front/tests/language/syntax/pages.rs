//! The explanation pages of the syntax family: the erroneous example has the error, the corrected
//! one has none.

use equelle_front::diagnostic::Code;
use equelle_front::diagnostic::explain::explain;
use equelle_front::syntax::parse;

/// The bodies of the ```equelle blocks of a page.
fn examples(page: &str) -> Vec<&str> {
    page.split("```equelle\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn examples_of_syntax_pages_do_what_they_say() {
    let syntax = Code::ALL.iter().filter(|c| c.as_str().starts_with("E00"));
    for code in syntax {
        let page = explain(code.as_str()).unwrap();
        let blocks = examples(page);
        let (bad, fixed) = match blocks.as_slice() {
            [bad, fixed] => (Some(*bad), *fixed),
            // Too long a text for a page.
            [fixed] if *code == Code::TextTooLong => (None, *fixed),
            _ => panic!("{} has {} examples", code.as_str(), blocks.len()),
        };
        if let Some(bad) = bad {
            let codes: Vec<Code> = parse(bad).diagnostics.iter().map(|d| d.code).collect();
            assert!(!codes.is_empty() && codes.iter().all(|c| c == code), "{}: {codes:?}", code.as_str());
        }
        let left: Vec<String> = parse(fixed).diagnostics.into_iter().map(|d| d.message).collect();
        assert!(left.is_empty(), "{}: {left:?}", code.as_str());
    }
}
