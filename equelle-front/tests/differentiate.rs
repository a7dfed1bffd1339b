//! Stencil differentiation of whole programs.

use equelle_front::ir::{self, Module, Op, StmtKind};
use equelle_front::passes::{DIFFERENTIATE, PIPELINE_O2, Untreated, differentiate};
use equelle_front::source::SourceFile;
use equelle_front::{check, lower, syntax, verify};

/// The program before fusion, its solves treated; what was not treated.
fn treated(text: &str) -> (Module, Vec<Untreated>) {
    let source = SourceFile::new("p.equelle", text);
    let parsed = syntax::parse(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let checked = check::check(&parsed.program, &check::CheckOptions { nondimensional: true });
    let typed = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let mut module = lower::lower(&typed, &source, "p");
    for pass in PIPELINE_O2.iter().take_while(|p| p.name != "fuse") {
        pass.run(&mut module);
    }
    let untreated = differentiate(&mut module);
    let module = verify::verify(module).unwrap_or_else(|e| panic!("{e:?}")).into_module();
    let printed = ir::text::print(&module);
    let parsed = ir::text::parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(ir::text::print(&parsed), printed);
    (module, untreated)
}

#[test]
fn show() {
    let Some(file) = std::env::var_os("EQ_SHOW") else { return };
    let (module, untreated) = treated(&std::fs::read_to_string(file).unwrap());
    println!("{}", ir::text::print(&module));
    println!("{untreated:?}");
}
