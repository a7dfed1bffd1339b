//! Text form: printing and parsing are inverse, and nothing makes the parser panic.

use equelle_front::ir::text::{parse, print};
use equelle_front::ir::{KExpr, Module, Op, StmtKind, UnaryOp, ValueId};
use equelle_front::ops::{BinaryMath, Elementary};
use equelle_front::verify::verify;

use super::golden::{assert_same, compare, files, read, without_comments};

/// Files whose layout is the printer's.
fn canonical() -> Vec<String> {
    let mut names = files("kernels");
    names.extend(files("").into_iter().filter(|name| name.starts_with("valid_")));
    names
}

#[test]
fn what_is_parsed_prints_the_same() {
    let names = canonical();
    assert!(names.len() >= 6, "{names:?}");
    for name in names {
        let text = read(&name);
        let module = parse(&text).unwrap_or_else(|e| panic!("tests/ir/{name}:{e}"));
        let printed = print(&module);
        // Blank lines and comments are the author's.
        let squeeze = |text: &str| text.lines().filter(|l| !l.is_empty()).map(|l| format!("{l}\n")).collect::<String>();
        assert_same(&name, &squeeze(&without_comments(&text)), &squeeze(&printed));
        let again = parse(&printed).unwrap_or_else(|e| panic!("{name} printed: {e}"));
        assert_eq!(print(&again), printed, "{name}");
        assert_eq!(again.kernels, module.kernels, "{name}");
        assert_eq!(again.sets, module.sets, "{name}");
        let values = |m: &equelle_front::ir::Module| (m.main.values.clone(), m.main.mutables.clone());
        assert_eq!(values(&again), values(&module), "{name}");
        verify(module).unwrap_or_else(|errors| panic!("tests/ir/{name}: {errors:?}"));
    }
}

#[test]
fn layout_is_free() {
    let module = parse(&read("layout.eqir")).unwrap_or_else(|e| panic!("{e}"));
    compare("layout.out.eqir", &print(&module));
}

/// Numbers keep every bit, in operations and in kernels.
#[test]
fn numbers_keep_their_bits() {
    let numbers = [
        0.0,
        -0.0,
        0.1,
        1e300,
        -2.5e-308,
        5e-324,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1.0 / 3.0,
        f64::from_bits(0x7ff8_0000_0000_0000),
        f64::from_bits(0xfff8_0000_0000_0123),
    ];
    for number in numbers {
        let mut module = parse("module m kernel k over unit { result r: Scalar body { yield 1.0 } } main { %0: Scalar = 1.0 }").unwrap();
        module.kernels[0].body.yields[0] = KExpr::Real(number);
        let StmtKind::Let { op, .. } = &mut module.main.body.statements[0].kind else { panic!("a let") };
        *op = Op::Real(number);
        let text = print(&module);
        let back = parse(&text).unwrap_or_else(|e| panic!("{text}{e}"));
        let KExpr::Real(kernel) = back.kernels[0].body.yields[0] else { panic!("{text}") };
        let StmtKind::Let { op: Op::Real(statement), .. } = back.main.body.statements[0].kind else { panic!("{text}") };
        assert_eq!((kernel.to_bits(), statement.to_bits()), (number.to_bits(), number.to_bits()), "{text}");
    }
}

/// Every elementary function is written in operations and in kernels, and read as the same.
#[test]
fn functions_are_kept() {
    let base =
        "module m kernel k over unit { param x: Scalar result r: Scalar body { yield x } } main { %0: Scalar = 1.0 %1: Scalar = neg(%0) }";
    let own = |op: Op| {
        let mut module = parse(base).unwrap();
        let x = module.kernels[0].body.yields[0].clone();
        module.kernels[0].body.yields[0] = match &op {
            Op::Unary(function, _) => KExpr::Unary(*function, Box::new(x)),
            Op::Math(function, ..) => KExpr::Math(*function, Box::new(x.clone()), Box::new(x)),
            other => panic!("{other:?}"),
        };
        let StmtKind::Let { op: own, .. } = &mut module.main.body.statements[1].kind else { panic!("a let") };
        *own = op;
        module
    };
    let of_one = Elementary::ALL.into_iter().map(|function| Op::Unary(UnaryOp::Elementary(function), ValueId(0)));
    let of_two = [BinaryMath::Min, BinaryMath::Max, BinaryMath::Pow, BinaryMath::ATan2];
    let modules: Vec<Module> = of_one.chain(of_two.map(|function| Op::Math(function, ValueId(0), ValueId(0)))).map(own).collect();
    let mut texts: Vec<String> = Vec::new();
    for module in modules {
        let text = print(&module);
        let back = parse(&text).unwrap_or_else(|e| panic!("{text}{e}"));
        assert_eq!((&back.kernels, print(&back)), (&module.kernels, text.clone()));
        verify(module).unwrap_or_else(|errors| panic!("{text}{errors:?}"));
        assert!(!texts.contains(&text), "two functions have one text:\n{text}");
        texts.push(text);
    }
}

/// Names that are no words of the text form, shared names, temporaries.
#[test]
fn any_name_is_kept() {
    let names = ["u", "u", "", "", "here", "q[0]", "a b", "tick`tick", "back\\slash", "new\nline", "7up", "ø"];
    let mut module = parse("module m main { %0: Scalar = 1.0 }").unwrap();
    let (value, stmt) = (module.main.values[0].clone(), module.main.body.statements[0].clone());
    (module.main.values, module.main.body.statements) = (Vec::new(), Vec::new());
    for (i, name) in names.iter().enumerate() {
        let mut stmt = stmt.clone();
        let StmtKind::Let { results, .. } = &mut stmt.kind else { panic!("a let") };
        results[0].0 = i as u32;
        module.main.values.push(equelle_front::ir::Value { name: (*name).to_owned(), ..value.clone() });
        module.main.body.statements.push(stmt);
    }
    let text = print(&module);
    let back = parse(&text).unwrap_or_else(|e| panic!("{text}{e}"));
    assert_eq!(back.main.values.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(), names, "{text}");
    assert_eq!(print(&back), text);
}

#[test]
fn errors_name_line_and_column() {
    let kernel =
        |inside: &str| format!("module m\nkernel k over AllCells() {{\n  param u: Scalar On AllCells()\n  {inside}\n}}\nmain {{\n}}\n");
    let main = |inside: &str| format!("module m\nmain {{\n  {inside}\n}}\n");
    let cases = [
        (String::new(), "1:1: expected `module`, found the end of the text"),
        ("module m\n\nkernal".to_owned(), "3:1: expected `kernel`, `function` or `main`"),
        ("module m main {} x".to_owned(), "1:18: expected the end of the text after `main`"),
        ("module m\nset s in AllSells()".to_owned(), "2:10: unknown set `AllSells`"),
        ("module m\nset s in AllCells()\nset s in AllCells()".to_owned(), "3:19: set `s` is defined twice"),
        (main("%0: Scalar = %1 + %2"), "3:16: unknown value `%1`"),
        (main("%0: Scalar = 1.0.0"), "3:16: `1.0.0` is not a number"),
        (main("%0: Scaler = 1.0"), "3:7: expected a type"),
        (main("%0: Scalar = Launch(%0)"), "3:16: unknown operation `Launch`"),
        (main("%0: Scalar = launch k()"), "3:23: unknown kernel `k`"),
        (main("%0: Scalar = call f()"), "3:21: unknown function `f`"),
        (main("@u := %0"), "3:3: unknown mutable `@u`"),
        (main("%0: Scalar [Metre] = 1.0"), "3:15: unknown base dimension `Metre`"),
        (main("%0: Text = \"abc"), "5:1: the text in quotes does not end"),
        (main("%0: Text = \"\\q\""), "unknown escape"),
        (main("%0: Scalar = 1.0 !7.9"), "expected `..` in a source range"),
        (main("%0: Scalar = 1.0 #"), "3:20: unexpected character '#'"),
        (main("%0: Scalar = 1.0"), ""),
        (kernel("body { yield v[here] }"), "4:16: unknown name `v`"),
        (kernel("body { yield (u[here] + 1.0 }"), "4:31: expected `)`, found `}`"),
        (kernel("body { yield (u[here] 1.0) }"), "4:25: expected an operator"),
        (kernel("body { yield here }"), "4:16: expected an expression, found `here`"),
        (kernel("body { yield u[1.0] }"), "4:18: expected a name"),
        (kernel("body { u: Scalar = 1.0 yield u }"), "`u` is a parameter"),
        (kernel("body { a: Scalar = 1.0 a: Bool = true }"), "local `a` has another type elsewhere"),
        (kernel("body { a: Scalar, b: Scalar = 1.0 }"), "expected `sum` or `if`"),
        (kernel("body { a: Scalar = sum sides { high interior { yield 1.0 } low interior { yield 1.0 } } }"), "in this order"),
        (kernel("param u: Scalar"), "parameter `u` is declared twice"),
        (kernel("check on_fire true"), "expected `on_empty`"),
        (kernel("result r: Scalar reduce mean"), "expected `max`, `min`, `sum` or `prod`"),
    ];
    for (text, message) in cases {
        match parse(&text) {
            Ok(_) => assert_eq!(message, "", "{text}"),
            Err(e) => assert!(!message.is_empty() && e.to_string().contains(message), "{text}\nfound: {e}\nexpected: {message}"),
        }
    }
}

#[test]
fn deep_nesting_is_refused_politely() {
    for open in ["(", "neg(", "u[", "not("] {
        let text = format!("module m kernel k over AllCells() {{ param u: Bool On AllCells() body {{ yield {}", open.repeat(100_000));
        let error = parse(&text).unwrap_err();
        assert!(error.message.contains("deeper") || error.message.contains("unknown name"), "{error}");
    }
    let loops = format!("module m main {{ %0: Text = \"s\" %1: Sequence = InputSequence(%0) {}", "for %2: Scalar in %1 { ".repeat(100_000));
    assert!(parse(&loops).unwrap_err().message.contains("nested deeper"));
}

/// Random changes of words and of characters: parsing and verifying never panic, and whatever
/// parses prints and parses again.
#[test]
fn damaged_text_never_panics() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        // xorshift64*: fixed seed, so a failure repeats.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % below
    };
    let (mut parsed, mut verified) = (0, 0);
    for name in canonical().iter().filter(|name| !name.contains("swe")) {
        let text = read(name);
        let words: Vec<&str> = text.split_inclusive([' ', '(', ')', '[', ']', ',', '\n']).collect();
        for _ in 0..400 {
            let mut changed = words.clone();
            for _ in 0..1 + random(2) {
                let (i, j) = (random(changed.len()), random(words.len()));
                match random(4) {
                    0 => drop(changed.remove(i)),
                    1 => changed.insert(i, words[j]),
                    2 => changed[i] = words[j],
                    _ => changed.truncate(i.max(1)),
                }
            }
            let text = changed.concat();
            if let Ok(module) = parse(&text) {
                parsed += 1;
                let printed = print(&module);
                let again = parse(&printed).unwrap_or_else(|e| panic!("{printed}\n{e}"));
                assert_eq!(print(&again), printed);
                verified += usize::from(verify(module).is_ok());
            }
        }
        for _ in 0..200 {
            let mut bytes = text.clone().into_bytes();
            let i = random(bytes.len());
            bytes[i] = random(128) as u8;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let _ = parse(&text).map(verify);
        }
    }
    // The test means something only if a fair part of the texts gets far.
    assert!(parsed > 100 && verified > 10, "{parsed} {verified}");
}

/// The example of the description of the text form is what the printer writes, and it verifies.
#[test]
fn the_documented_example_is_right() {
    let page = include_str!("../../../docs/ir.md");
    let example = page.split("```\n").nth(1).unwrap_or_default();
    let module = parse(example).unwrap_or_else(|e| panic!("docs/ir.md, example:{e}"));
    let squeeze = |text: &str| text.lines().filter(|l| !l.is_empty()).map(|l| format!("{l}\n")).collect::<String>();
    assert_same("../../../docs/ir.md", &squeeze(example), &squeeze(&print(&module)));
    verify(module).unwrap_or_else(|errors| panic!("docs/ir.md: {errors:?}"));
}
