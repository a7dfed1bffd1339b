//! The checker on whole programs.

use equelle_front::check::{CheckOptions, Checked, check};
use equelle_front::syntax::parse;
use equelle_front::source::SourceFile;

fn checked(text: &str) -> Checked {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    check(&parsed.program, &CheckOptions::default())
}

#[test]
fn heat() {
    for name in ["heat_explicit_template", "heat_explicit_declared", "heat_implicit"] {
        let text = std::fs::read_to_string(format!("tests/programs/{name}.equelle")).unwrap();
        let c = checked(&text);
        let file = SourceFile::new(name, text);
        for d in &c.diagnostics { println!("{name}:{} {:?}", file.line(d.primary.span.start), d); }
        assert!(c.diagnostics.is_empty());
        let p = c.program.unwrap();
        println!("{:?}", p.sets.ids().skip(12).map(|i| p.sets.get(i).name.clone()).collect::<Vec<_>>());
    }
}
