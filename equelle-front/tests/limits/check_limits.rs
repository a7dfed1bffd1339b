//! The checker is bounded: in stack, in time, and on any tree that the parser makes.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use equelle_front::check::{CheckOptions, Checked, check, check_text};
use equelle_front::diagnostic::Code;
use equelle_front::ir::{Module, Stmt, StmtKind};
use equelle_front::lower::lower;
use equelle_front::passes::{OptLevel, optimise};
use equelle_front::source::SourceMap;
use equelle_front::syntax::{MAX_HEIGHT, parse};
use equelle_front::verify::verify;

fn run(text: &str) -> Checked {
    check(&parse(text).program, &CheckOptions::default())
}

fn codes(checked: &Checked) -> Vec<Code> {
    checked.diagnostics.iter().map(|d| d.code).collect()
}

/// Functions `f0` to `f<n>`, each of which computes `body` with `#` for the name of the one before.
fn chain(n: usize, first: &str, body: &str) -> String {
    let mut text = format!("f0(x) = {{\n-> {first}\n}}\n");
    for i in 1..=n {
        let _ = writeln!(text, "f{i}(x) = {{\n-> {}\n}}", body.replace('#', &format!("f{}", i - 1)));
    }
    text
}

#[test]
fn a_chain_that_calls_twice_has_one_instance_per_function() {
    let text = format!("{}y = f30(1)\nOutput(\"y\", y)\n", chain(30, "x", "#(x) + #(x)"));
    let checked = run(&text);
    assert_eq!(codes(&checked), []);
    assert_eq!(checked.program.map(|p| p.functions.len()), Some(31));
}

#[test]
fn a_chain_that_doubles_domains_ends_with_a_diagnostic() {
    // Without a limit: 2^30 new domains.
    let make = "InputDomainSubsetOf(\"d\", BoundaryFaces())";
    let pair = "pick(x, y) = {\n-> SumReduce(1 Extend y) > 0 ? x : x\n}\n";
    let text = format!("{pair}{}y = f30(1)\nOutput(\"n\", SumReduce(1 Extend y))\n", chain(30, make, "pick(#(x), #(x))"));
    let start = Instant::now();
    let checked = run(&text);
    assert!(codes(&checked).contains(&Code::TooManyInstances), "{:?}", codes(&checked));
    // An unoptimised build takes a few seconds; without the limit it would not end.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn three_instances_on_each_of_thirty_levels() {
    // Each level calls the one before twice for each of three kinds of argument: a number, a
    // length, a collection.
    let calls = format!("{}y = f30(1) + f30(2)\nz = f30(1 [Meter])\nc = f30(1 Extend AllCells())\n", chain(30, "x", "#(x) + #(x)"));
    let text = format!("{calls}Output(\"y\", y)\nOutput(\"z\", z)\nOutput(\"c\", c)\n");
    let checked = run(&text);
    assert_eq!(codes(&checked), []);
    assert_eq!(checked.program.map(|p| p.functions.len()), Some(3 * 31));
}

#[test]
fn dimensions_that_differ_at_every_level_are_instances_of_their_own() {
    // f0 gets x, x^2 of f1's argument, ...: level i is instantiated for 1 and for its caller's
    // products, never 2^i times.
    let text =
        format!("{}y = f30(1)\nz = f30(1 [Meter])\nOutput(\"y\", y)\nOutput(\"z\", z)\n", chain(30, "x / x", "#(x) + #(x * 1 [Second])"));
    let checked = run(&text);
    assert_eq!(codes(&checked), []);
    // From level i there are 30 - i steps down to it, each with or without a second: 31 - i
    // dimensions, times two for the metre.
    assert_eq!(checked.program.map(|p| p.functions.len()), Some(2 * (1..=31).sum::<usize>()));
}

/// Statements of the IR, those of functions included.
fn statements(module: &Module) -> usize {
    fn count(block: &[Stmt]) -> usize {
        block.iter().map(|s| 1 + if let StmtKind::For { body, .. } = &s.kind { count(&body.statements) } else { 0 }).sum()
    }
    count(&module.main.body.statements) + module.functions.iter().map(|f| count(&f.body.statements)).sum::<usize>()
}

#[test]
fn optimising_a_chain_that_calls_twice_does_not_blow_it_up() {
    let text = format!("{}y = f30(InputCollectionOfScalar(\"u\", AllCells()))\nOutput(\"y\", y)\n", chain(30, "x * x", "#(x) + #(2 * x)"));
    let program = run(&text).program.expect("no errors");
    let module = lower(&program, &SourceMap::new("chain", text.as_str()), "chain");
    let before = statements(&module);
    assert!(before < 500, "{before}");
    let module = optimise(module, OptLevel::O2);
    let after = statements(&module);
    // Inlining all would make 2^30 of them. Bodies stop growing at a thousand statements, which
    // takes ten links: three such steps, and what they call, fused.
    assert!(after < 10_000, "{before} statements became {after}");
    assert!(verify(module).is_ok());
}

#[test]
fn a_chain_of_thousands_of_terms_is_checked_and_lowered_on_a_small_stack() {
    // As big as the stack of a test thread.
    let work = || {
        let terms = MAX_HEIGHT as usize - 10;
        let text = format!(
            "u = InputCollectionOfScalar(\"u\", AllCells())\nf(x) = {{\n-> x{}\n}}\ny = u{}\nOutput(\"y\", f(y))\n",
            " * x / x".repeat(terms / 3),
            " + u - u".repeat(terms / 2),
        );
        let checked = run(&text);
        assert_eq!(codes(&checked), []);
        let program = checked.program.expect("no errors");
        let module = lower(&program, &SourceMap::new("chain", text.as_str()), "chain");
        // One statement per operator, and few others.
        let n = statements(&module);
        assert!(n >= terms / 2 * 2 + terms / 3 * 2 && n < 2 * terms, "{n}");
        let module = optimise(module, OptLevel::O2);
        // One kernel of definitions with hundreds of operations each, not one of thousands, nor
        // thousands of one.
        let [kernel] = module.kernels.as_slice() else { panic!("{} kernels", module.kernels.len()) };
        let definitions = kernel.body.statements.len();
        assert!(definitions > terms / 250 && definitions < terms / 10, "{definitions}");
        assert!(verify(module).is_ok());
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread").join().expect("no overflow");
}

#[test]
fn a_chain_that_writes_twice_per_link_is_optimised() {
    let text = format!(
        "n : Mutable Scalar = 0\nf0(x) = {{\nn = n + x\n-> x\n}}\n{}y = f30(1)\nOutput(\"y\", y)\nOutput(\"n\", n)\n",
        chain(30, "x", "#(x) + #(x)").split_once("}\n").expect("f0").1
    );
    let program = run(&text).program.expect("no errors");
    let module = optimise(lower(&program, &SourceMap::new("chain", text.as_str()), "chain"), OptLevel::O2);
    assert!(statements(&module) < 10_000, "{}", statements(&module));
    assert!(verify(module).is_ok());
}

#[test]
fn nested_calls_beyond_the_limit_are_reported() {
    let text = format!("{}y = f5000(1)\nOutput(\"y\", y)\n", chain(5000, "x", "#(x)"));
    assert_eq!(codes(&run(&text)), [Code::NestedTooDeeply]);
}

#[test]
fn nesting_up_to_the_limits_fits_a_small_stack() {
    // Calls, each at the bottom of an expression; as deep as parser and checker let it be.
    for parens in [0, 3, 30, 150, 190] {
        let call = format!("{}#(x){}", "(-".repeat(parens / 2), ")".repeat(parens / 2));
        let text = format!("{}y = f100(1)\nOutput(\"y\", y)\n", chain(100, "x", &call));
        run(&text);
    }
    let deep = format!("x = {}1{}\nOutput(\"x\", x)\n", "(".repeat(150), ")".repeat(150));
    assert_eq!(codes(&run(&deep)), []);
    let sum = format!("x = {}1\nOutput(\"x\", x)\n", "1 + ".repeat(150));
    assert_eq!(codes(&run(&sum)), []);
}

/// A program of about `lines` lines with names, calls, loops and domains.
fn generated(lines: usize) -> String {
    let mut text = String::from(
        "u0 = InputCollectionOfScalar(\"u\", AllCells())\nts = InputSequenceOfScalar(\"ts\")\nflux(u) = {\n-> -Gradient(u)\n}\n",
    );
    let mut written = 5;
    let mut i = 0;
    while written < lines {
        let _ = writeln!(text, "v{i} = u{i} - 0.1 * Divergence(flux(u{i}))\nu{} = v{i} > u{i} ? v{i} : u{i}", i + 1);
        written += 2;
        i += 1;
        if i % 100 == 0 {
            let _ = writeln!(text, "For dt{i} In ts {{\nw = dt{i} * u{i}\nOutput(\"w\", w)\n}}");
            written += 4;
        }
    }
    let _ = writeln!(text, "Output(\"u\", u{i})");
    text
}

#[test]
fn time_is_linear_in_the_length_of_the_program() {
    let time = |lines: usize| {
        let parsed = parse(&generated(lines));
        assert!(parsed.diagnostics.is_empty());
        // The best of three, so that other work on the machine does not matter.
        let once = || {
            let start = Instant::now();
            let checked = check(&parsed.program, &CheckOptions::default());
            assert_eq!(codes(&checked), []);
            start.elapsed()
        };
        (0..3).map(|_| once()).min().unwrap_or_default()
    };
    let (short, long) = (time(2_500), time(20_000));
    // Eight times the lines: 8 times the time when linear, 64 times when quadratic. 24 is three
    // times linear.
    assert!(long < short * 24 + Duration::from_millis(20), "2,500 lines {short:?}, 20,000 lines {long:?}");
}

/// The shortest of five times, so that other work on the machine does not matter.
fn fastest(text: &str) -> Duration {
    let once = || {
        let start = Instant::now();
        assert!(check_text(text, &CheckOptions::default()).program.is_some());
        start.elapsed()
    };
    (0..5).map(|_| once()).min().unwrap_or_default()
}

#[test]
fn text_to_typed_tree_is_fast() {
    let path = format!("{}/tests/programs/shallow_water.equelle", env!("CARGO_MANIFEST_DIR"));
    let shallow_water = fastest(&std::fs::read_to_string(path).expect("the program is there"));
    // 0.4 ms optimised, 2 ms not.
    assert!(shallow_water < Duration::from_millis(50), "{shallow_water:?}");
    let long = fastest(&generated(20_000));
    // 0.2 s optimised on one core of 2020; an unoptimised build may take five times as long.
    let limit = if cfg!(debug_assertions) { 5 } else { 1 };
    assert!(long < Duration::from_secs(limit), "{long:?}");
}

#[test]
fn many_mistakes_take_linear_time_too() {
    let mut text = String::new();
    for i in 0..20_000 {
        let _ = writeln!(text, "v{i} = unknown{i} + 1");
    }
    let start = Instant::now();
    let checked = run(&text);
    assert_eq!(checked.diagnostics.iter().filter(|d| d.code == Code::UnknownName).count(), 20_000);
    // 0.1 s in an unoptimised build; looking for near matches each time would take minutes.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

/// A small generator of pseudo-random numbers (Marsaglia's xorshift, 2003), so that failures
/// repeat.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

#[test]
fn mutated_programs_give_no_panic_and_no_program_with_errors() {
    let mut sources: Vec<Vec<String>> = Vec::new();
    for name in ["heat_explicit_template", "heat_explicit_declared", "heat_implicit", "shallow_water", "twophase_upwind"] {
        let path = format!("{}/tests/programs/{name}.equelle", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("the program is there");
        // Words and single characters, line ends kept.
        let mut tokens = vec![String::new()];
        for c in text.chars() {
            if c.is_alphanumeric() || c == '_' {
                if let Some(last) = tokens.last_mut() {
                    last.push(c);
                }
            } else {
                tokens.push(c.to_string());
                tokens.push(String::new());
            }
        }
        tokens.retain(|t| !t.is_empty());
        sources.push(tokens);
    }
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let pool: Vec<String> =
        sources.iter().flatten().cloned().chain(["Array", "Of", "Mutable", "[", "]", "1e300", "Stencil"].map(str::to_owned)).collect();
    for _ in 0..3000 {
        let mut tokens = sources[random.below(sources.len())].clone();
        for _ in 0..=random.below(4) {
            let at = random.below(tokens.len());
            match random.below(3) {
                0 => tokens[at] = pool[random.below(pool.len())].clone(),
                1 => {
                    tokens.remove(at);
                }
                _ => tokens.insert(at, pool[random.below(pool.len())].clone()),
            }
        }
        let text = tokens.concat();
        let parsed = parse(&text);
        let checked = check(&parsed.program, &CheckOptions::default());
        let errors = checked.diagnostics.iter().any(|d| d.is_error());
        assert!(!(errors && checked.program.is_some()), "{text}");
        // Text that has errors, syntax or other, has no program; text that has none has one.
        let whole = check_text(&text, &CheckOptions::default());
        assert_eq!(whole.program.is_some(), !whole.diagnostics.iter().any(|d| d.is_error()), "{text}");
        for d in &checked.diagnostics {
            assert!(text.get(d.primary.span.range()).is_some_and(|t| !t.is_empty()), "{d:?}\n{text}");
        }
    }
}
