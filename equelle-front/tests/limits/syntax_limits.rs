//! Depth, length and time are bounded.

use equelle_front::diagnostic::Code;
use equelle_front::syntax::{MAX_DEPTH, MAX_HEIGHT, MAX_TEXT_LEN, parse, print, same_modulo_spans};

use crate::common::{errors, good};

/// Runs in a thread with a stack that a 2 MiB test thread can offer with room for its callers.
fn in_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1 << 20).spawn(test).unwrap().join().unwrap();
}

#[test]
fn deep_nesting_is_one_diagnostic() {
    in_small_stack(|| {
        let n = 100_000;
        let texts = [
            format!("x = {}1{}", "(".repeat(n), ")".repeat(n)),
            format!("x = {}1", "(".repeat(n)),
            format!("x = {}1", "-".repeat(n)),
            format!("x = {}a", "Not ".repeat(n)),
            format!("x = {}", "|".repeat(n)),
            format!("x = {}1", "[".repeat(n)),
            format!("x = {}1", "f(".repeat(n)),
            format!("x = 1{}", " + 1".repeat(n)),
            format!("x = 1{}", " / 1".repeat(n)),
            format!("x = a{}", "[0]".repeat(n)),
            format!("x = {}", "a ? ".repeat(n)),
            format!("x = {}", "a Or b And c == d < e + f * g / (".repeat(n)),
            format!("x = 1 [{}Meter", "(".repeat(n)),
            format!("x = 1 [Meter{}]", "*Meter".repeat(n)),
            format!("x = 1 [Meter{}]", "^2".repeat(n)),
            format!("x : {}Scalar", "Mutable ".repeat(n)),
            format!("x : {}Scalar", "Array Of 2 ".repeat(n)),
            "For a In b {\n".repeat(n) + &"}\n".repeat(n),
            format!("{}y = 1\n{}", "For a In b {\n".repeat(n), "}\n".repeat(n)),
            "f() = {".repeat(n),
        ];
        for text in &texts {
            let parsed = parse(text);
            let deep = parsed.diagnostics.iter().filter(|d| d.code == Code::NestingTooDeep).count();
            assert_eq!(deep, 1, "{}...", &text[..40]);
            assert!(parsed.diagnostics.len() <= 3, "{}... has {} diagnostics", &text[..40], parsed.diagnostics.len());
        }
    });
}

#[test]
fn the_limit_itself_is_allowed() {
    // A parenthesis and the expression in it are one level, the literal is another.
    let n = MAX_DEPTH as usize - 2;
    good(&format!("x = {}1{}", "(".repeat(n), ")".repeat(n)));
    let n = MAX_DEPTH as usize;
    assert_eq!(errors(&format!("x = {}1{}", "(".repeat(n), ")".repeat(n))), ["E0024@1"]);
}

#[test]
fn a_chain_is_one_level_of_nesting() {
    // The first operand is a node of its own.
    let n = MAX_HEIGHT as usize - 1;
    good(&format!("x = 1{}", " + 1".repeat(n)));
    good(&format!("x = 1{}", " + 1 * 2 - 3 / 4 / 5".repeat(n / 6)));
    assert_eq!(errors(&format!("x = 1{}", " + 1".repeat(n + 1))), ["E0024@1"]);
    // It is printed, copied and compared, all on the stack of a test.
    let text = format!("x = 1{}\ny = 1{}\n", " + 1".repeat(n), " / 2 * 3".repeat(n / 2));
    let program = parse(&text).program;
    assert!(same_modulo_spans(&parse(&print(&program)).program, &program));
    // Brackets around and in a chain count as ever.
    let n = MAX_DEPTH as usize;
    assert_eq!(errors(&format!("x = 1{}", " + (1".repeat(n))), ["E0024@1"]);
    good(&format!("x = {}1{}{}", "(".repeat(n / 2 - 2), " + 1".repeat(n), " + 1)".repeat(n / 2 - 2)));
}

#[test]
fn a_text_may_be_long_but_not_too_long() {
    let line = "x = a*b/c + |d| # comment\n";
    let parsed = parse(&line.repeat(20_000));
    assert_eq!((parsed.diagnostics.len(), parsed.program.statements.len()), (0, 20_000));
    let too_long = "\n".repeat(MAX_TEXT_LEN + 1);
    assert_eq!(parse(&too_long).diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::TextTooLong]);
}

#[test]
fn a_wrong_line_repeated_costs_linear_time() {
    // A hang would show as a time-out of the test run: quadratic work on these sizes takes minutes.
    let n = 20_000;
    for line in ["x = (\n", "+ 1\n", "f(x) =\n", "x = { {", "For\n{\n", "}", "x = 3x\n", "x = 1 ...\n", "\"\n", "x =\n\n\n"] {
        let text = line.repeat(n);
        parse(&text);
    }
}
