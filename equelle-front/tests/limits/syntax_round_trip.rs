//! The formatter against the parser: print -> parse gives the same tree, printing twice gives the
//! same text.

mod written;

mod trees;

use equelle_front::syntax::ast::{Ident, Program, Stmt, StmtKind};
use equelle_front::syntax::{parse, print, same_modulo_spans};
use proptest::prelude::*;

const PROGRAMS: [(&str, &str); 4] = [
    ("heat_explicit_declared", include_str!("../programs/heat_explicit_declared.equelle")),
    ("heat_implicit", include_str!("../programs/heat_implicit.equelle")),
    ("twophase_upwind", include_str!("../programs/twophase_upwind.equelle")),
    ("shallow_water", include_str!("../programs/shallow_water.equelle")),
];

fn read(text: &str) -> Program {
    let parsed = parse(text);
    let messages: Vec<String> = parsed.diagnostics.iter().map(|d| format!("{} at {:?}", d.message, d.primary.span)).collect();
    assert!(messages.is_empty(), "{messages:?} in\n{text}");
    parsed.program
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_trees_read_back(program in trees::program()) {
        let text = print(&program);
        let again = read(&text);
        prop_assert!(same_modulo_spans(&program, &again), "{text}");
        prop_assert_eq!(print(&again), text);
    }

    #[test]
    fn long_statements_are_broken_and_read_back(value in trees::long_expression()) {
        let name = Ident { name: "x".to_owned(), span: Default::default() };
        let kind = StmtKind::Assignment { name, ty: None, value };
        let program = Program { statements: vec![Stmt { kind, span: Default::default() }], ..Program::default() };
        let text = print(&program);
        let again = read(&text);
        prop_assert!(same_modulo_spans(&program, &again), "{text}");
        prop_assert_eq!(print(&again), text);
    }
}

#[test]
fn real_programs_keep_their_tree_and_comments() {
    for (name, text) in PROGRAMS {
        let program = read(text);
        let printed = print(&program);
        let again = read(&printed);
        assert!(same_modulo_spans(&program, &again), "{name}:\n{printed}");
        assert_eq!(print(&again), printed, "{name} changes when printed twice");
        let comments = |p: &Program| p.comments.iter().map(|c| c.text.clone()).collect::<Vec<_>>();
        assert_eq!(comments(&program), comments(&again), "{name}");
        assert!(printed.lines().all(|line| line.chars().count() <= 120), "{name} has a line that is too long:\n{printed}");
    }
}

#[test]
fn trees_that_differ_are_told_apart() {
    let base = read("x = a*b + c\n");
    for other in ["x = a*(b + c)\n", "x = a*b - c\n", "y = a*b + c\n", "x = (a*b) + c\n", "x = a*b + c\nx = 1\n", "x : Scalar = a*b + c\n"]
    {
        assert!(!same_modulo_spans(&base, &read(other)), "{other}");
    }
    assert!(same_modulo_spans(&base, &read("\n  x =a * b+ ...\n c # why")));
}

#[test]
fn layout() {
    let text = "\
# Head.

a=1   # one
# two


b : Mutable   Scalar=-a/2.50
f(x,y)=   # open
{

   # first
   c=x  ...  # inside
      +y
   ->c

}   # closed
For t In [1,2] {
}
# last
";
    let expected = "\
# Head.

a = 1  # one
# two

b : Mutable Scalar = -a / 2.5
# open
f(x, y) = {
    # first
    # inside
    c = x + y
    -> c
}  # closed
For t In [1, 2] {
}
# last
";
    let printed = print(&read(text));
    assert_eq!(printed, expected);
    assert_eq!(print(&read(&printed)), expected);
}

#[test]
fn numbers_print_short_and_exact() {
    for (text, printed) in [
        ("0.1", "0.1"),
        ("1000", "1000"),
        ("1e6", "1e6"),
        ("2.17e6", "2170000"),
        ("1e-7", "1e-7"),
        ("0.0005", "0.0005"),
        ("1.7976931348623157e308", "1.7976931348623157e308"),
        ("5e-324", "5e-324"),
    ] {
        assert_eq!(print(&read(&format!("x = {text}\n"))), format!("x = {printed}\n"));
    }
}

#[test]
fn long_lines_break_at_the_loosest_operator() {
    let term = "aaaaaaaaaaaaaaaaaaaa * bbbbbbbbbbbbbbbbbbbb";
    let printed = print(&read(&format!("x = {term} + {term} + {term}\n")));
    assert_eq!(printed, format!("x = {term} + {term} ...\n    + {term}\n"));
}
