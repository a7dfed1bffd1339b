//! Texts of parameters: expressions, units and sequences are refused within the text, or have a
//! value; no panic, no overflow of the stack.

#![no_main]

use equelle_runtime::io::expression::{Expression, Names, parse};
use equelle_runtime::io::sequence::parse_sequence;
use equelle_runtime::io::token::TextError;
use equelle_runtime::io::unit::parse_unit;
use libfuzzer_sys::fuzz_target;

struct One;

impl Names for One {
    fn variable(&mut self, name: &str, _quoted: bool) -> Result<usize, TextError> {
        if name == "x" { Ok(0) } else { Err(TextError::new(0, "unknown")) }
    }
}

fuzz_target!(|text: &str| {
    for x in [0.0, -1.5, 1e300] {
        match parse(text, &mut One) {
            Ok(Expression::Number(number)) => drop(number.value(&[x])),
            Ok(Expression::Truth(truth)) => drop(truth.holds(&[x])),
            Err(error) => assert!(text.get(error.offset..).is_some()),
        }
    }
    // Counts such as 60000000 are allowed, and slow.
    if text.len() < 8 || !text.contains('*') {
        let _ = parse_sequence(text);
    }
    if let Ok(unit) = parse_unit(text) {
        assert!(unit.factor.is_normal() && unit.factor > 0.0);
    }
});
