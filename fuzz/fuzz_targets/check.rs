//! Whatever can be parsed can be checked: no panic, with and without dimensions.

#![no_main]

use equelle_front::check::{CheckOptions, check};
use equelle_front::syntax::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = parse(text);
    if !parsed.diagnostics.is_empty() {
        return;
    }
    for nondimensional in [false, true] {
        let options = CheckOptions { nondimensional, ..CheckOptions::default() };
        let checked = check(&parsed.program, &options);
        let errors = checked.diagnostics.iter().any(|d| d.is_error());
        assert_eq!(checked.program.is_none(), errors);
    }
});
