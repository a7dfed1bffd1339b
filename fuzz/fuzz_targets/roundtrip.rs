//! A text without syntax errors, printed and read again, gives the same tree and the same text.

#![no_main]

use equelle_front::syntax::{parse, print, same_modulo_spans};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let first = parse(text);
    if !first.diagnostics.is_empty() {
        return;
    }
    let printed = print(&first.program);
    let second = parse(&printed);
    assert!(second.diagnostics.is_empty(), "the printed program has errors:\n{printed}");
    assert!(same_modulo_spans(&first.program, &second.program), "the printed program differs:\n{printed}");
    assert_eq!(print(&second.program), printed);
});
