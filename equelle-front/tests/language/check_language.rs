//! Meaning of the language once it is lowered: operations in the order of the text form, and
//! functions as instances. Expected texts follow from the rules that stand beside the lowering of
//! each construct.

use equelle_front::check::{CheckOptions, Checked, check, type_name};
use equelle_front::diagnostic::Code;
use equelle_front::ir::{Carried, Module, Op, StmtKind, text};
use equelle_front::lower::lower;
use equelle_front::source::SourceMap;
use equelle_front::syntax::parse;
use equelle_front::verify::verify;

fn run(text: &str) -> Checked {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:?}", parsed.diagnostics);
    check(&parsed.program, &CheckOptions::default())
}

fn codes(text: &str) -> Vec<Code> {
    run(text).diagnostics.iter().map(|d| d.code).collect()
}

/// The module of a program without errors and warnings; it has been verified.
fn module(text: &str) -> Module {
    let checked = run(text);
    assert_eq!(checked.diagnostics, [], "{text}");
    let program = checked.program.expect("a program without errors has a typed tree");
    let module = lower(&program, &SourceMap::new("program", text.to_owned()), "program");
    if let Err(errors) = verify(module.clone()) {
        panic!("{text}: {errors:?}");
    }
    module
}

/// Returns the operations to the right of `=` in the main program, temporaries by their numbers.
fn main_ops(text: &str) -> Vec<Op> {
    module(text)
        .main
        .body
        .statements
        .into_iter()
        .filter_map(|s| match s.kind {
            StmtKind::Let { op, .. } => Some(op),
            _ => None,
        })
        .collect()
}

fn count(ops: &[Op], wanted: impl Fn(&Op) -> bool) -> usize {
    ops.iter().filter(|op| wanted(op)).count()
}

fn multiplications(power: &str) -> usize {
    use equelle_front::ops::Arithmetic;
    let ops = main_ops(&format!("u = Exp(InputScalarWithDefault(\"u\", 1) Extend AllCells())\nOutput(\"x\", {power})\n"));
    count(&ops, |op| matches!(op, Op::Arithmetic(Arithmetic::Mul, ..)))
}

#[test]
fn whole_powers_are_multiplications_by_squaring() {
    // Squarings (position of the highest binary digit) plus products (digits that are 1, less one).
    for (power, expected) in [("u^1", 0), ("u^2", 1), ("u^3", 2), ("u^4", 2), ("u^7", 4), ("u^10", 4), ("Pow(u, 3)", 2), ("u^(-3)", 2)] {
        assert_eq!(multiplications(power), expected, "{power}");
    }
}

#[test]
fn other_powers_are_one_operation() {
    let ops = main_ops("u = InputScalarWithDefault(\"u\", 2)\nOutput(\"x\", u^0.5)\n");
    assert_eq!(count(&ops, |op| matches!(op, Op::Math(equelle_front::ops::BinaryMath::Pow, ..))), 1);
}

#[test]
fn bools_and_entities_differ_without_a_comparison_of_their_own() {
    let header = "a = FirstCell(InteriorFaces())\nb = SecondCell(InteriorFaces())\np = IsEmpty(a)\nq = IsEmpty(b)\n";
    let comparisons = |expr: &str| {
        let ops = main_ops(&format!("{header}Output(\"e\", a == b)\nOutput(\"x\", {expr})\nOutput(\"p\", p Or q)\n"));
        (
            count(&ops, |op| matches!(op, Op::Compare(equelle_front::ops::Comparison::NotEqual, ..))),
            count(&ops, |op| matches!(op, Op::Logic(equelle_front::ops::Logic::Xor, ..))),
            count(&ops, |op| matches!(op, Op::Unary(equelle_front::ir::UnaryOp::Not, _))),
        )
    };
    assert_eq!(comparisons("a != b"), (0, 0, 1));
    assert_eq!(comparisons("p == q"), (0, 1, 1));
    assert_eq!(comparisons("p != q"), (0, 1, 0));
}

#[test]
fn a_choice_between_one_domain_is_that_domain() {
    let ops = main_ops("b = InputScalarWithDefault(\"b\", 1) > 0\nd = b ? InteriorCells() : InteriorCells()\nOutput(\"x\", 1 Extend d)\n");
    assert_eq!(count(&ops, |op| matches!(op, Op::Select { .. })), 0);
    assert_eq!(codes("b = True\nd = b ? InteriorCells() : BoundaryCells()\nOutput(\"x\", 1 Extend d)\n"), [Code::DifferentDomains]);
}

#[test]
fn arrays_are_written_element_by_element() {
    let ops = main_ops("Output(\"a\", [1 Extend AllCells(), 2 Extend AllFaces()])\n");
    let indices: Vec<u32> = ops.iter().filter_map(|op| if let Op::TextIndex(_, i) = op { Some(*i) } else { None }).collect();
    assert_eq!(indices, [0, 1]);
}

#[test]
fn sequences_are_scaled_and_negated() {
    let text = "s = InputSequenceOfScalar(\"s\")\nFor t In -(s * 2) / 3 {\nOutput(\"t\", t)\n}\n";
    assert_eq!(count(&main_ops(text), |op| matches!(op, Op::Arithmetic(..) | Op::Unary(..))), 3);
    // The dimension goes with the elements.
    let dimension = "s = InputSequenceOfScalar(\"s\") * 1 [Second]\nFor t In s / 2 {\nOutput(\"t\", t + 1 [Meter])\n}\n";
    assert_eq!(codes(dimension), [Code::SumDimensions]);
}

#[test]
fn unknowns_may_live_on_different_domains() {
    let text = "p0 = 1 Extend AllCells()\nq0 = 2 Extend InteriorFaces()\nf(p, q) = {\n-> p - (3 Extend AllCells()) + Divergence(q)\n}\n\
                g(p, q) = {\n-> q - Gradient(p)\n}\nguesses() = {\n-> [p0, q0]\n}\nx = NewtonSolveSystem([f, g], guesses())\n\
                y : Array Of 2 Collection Of Scalar = NewtonSolveSystem([f, g], x)\nOutput(\"y\", y)\nOutput(\"q\", x[1])\n";
    let checked = run(text);
    assert_eq!(checked.diagnostics, []);
    let program = checked.program.expect("a program");
    let x = program.variables.iter().find(|v| v.name == "x").expect("x");
    assert_eq!(type_name(&program.sets, &x.ty), "Array Of 2 (Collection Of Scalar On AllCells(), Collection Of Scalar On InteriorFaces())");
    // The guess is evaluated once, though it stands for two values.
    let calls = count(&main_ops(text), |op| matches!(op, Op::Call { .. }));
    assert_eq!(calls, 1);
}

#[test]
fn equations_must_live_where_their_unknowns_do() {
    let text = "p = 1 Extend AllCells()\nq = 2 Extend InteriorFaces()\nf(a, b) = {\n-> a + Divergence(b)\n}\ng(a, b) = {\n-> b - Gradient(a)\n}\n\
                x = NewtonSolveSystem([g, f], [p, q])\nOutput(\"x\", x)\n";
    assert_eq!(codes(text), [Code::NewtonResidual, Code::NewtonResidual]);
    let counts = "p = 1 Extend AllCells()\nf(a) = {\n-> a\n}\nx = NewtonSolveSystem([f, f], [p, p])\nOutput(\"x\", x)\n";
    assert!(codes(counts).contains(&Code::ArgumentCount));
}

#[test]
fn every_parameter_of_a_residual_of_a_system_is_an_unknown() {
    let text =
        "u = 1 Extend AllCells()\nf(a, b) = {\n-> a\n}\ng(a, b) = {\n-> b\n}\nx = NewtonSolveSystem([f, g], [u, u])\nOutput(\"x\", x)\n";
    assert_eq!(codes(text), []);
}

const CARRYING: &str = "n : Mutable Scalar\nn = 0\nseen : Mutable Array Of 2 Collection Of Scalar\nseen = [1 Extend AllCells(), 2 Extend AllCells()]\n\
                        u = 1 Extend AllCells()\nf(a, b) = {\nn = n + 1\n-> a - u\n}\ng(a, b) = {\nseen = [b, n * seen[0]]\n-> b - u\n}\n\
                        x = NewtonSolveSystem([f, g], [u, u])\nOutput(\"x\", x)\nOutput(\"n\", n)\nOutput(\"seen\", seen)\n";

fn carried(module: &Module) -> Vec<Carried> {
    let newton = |op: &Op| if let Op::Newton { carried, .. } = op { Some(carried.clone()) } else { None };
    let found = module.main.body.statements.iter().find_map(|s| if let StmtKind::Let { op, .. } = &s.kind { newton(op) } else { None });
    found.expect("the program solves an equation")
}

#[test]
fn variables_that_residuals_assign_are_carried() {
    let module = module(CARRYING);
    // Captures of f: n, u. Captures of g: n, seen_0, seen_1, u. Both read n, which f writes; g
    // alone has seen.
    let expected = [
        Carried { reads: vec![(0, 0), (1, 0)], writes: vec![(0, 1)] },
        Carried { reads: vec![(1, 1)], writes: vec![(1, 1)] },
        Carried { reads: vec![(1, 2)], writes: vec![(1, 2)] },
    ];
    assert_eq!(carried(&module), expected);
    let written = text::print(&module);
    let again = text::parse(&written).unwrap_or_else(|e| panic!("{e:?}\n{written}"));
    assert_eq!(carried(&again), expected);
    assert_eq!(text::print(&again), written);
}

#[test]
fn what_is_carried_is_verified() {
    let spoil = |change: &dyn Fn(&mut Vec<Carried>)| {
        let mut module = module(CARRYING);
        for statement in &mut module.main.body.statements {
            if let StmtKind::Let { op: Op::Newton { carried, .. }, .. } = &mut statement.kind {
                change(carried);
            }
        }
        verify(module).err().map(|errors| errors[0].message.clone()).unwrap_or_default()
    };
    assert_eq!(spoil(&|_| {}), "");
    assert_eq!(spoil(&|c| c[0].reads = vec![]), "a carried variable begins as one captured value");
    assert_eq!(spoil(&|c| c[0].reads = vec![(7, 0)]), "a carried variable begins as one captured value");
    assert_eq!(spoil(&|c| c[0].reads = vec![(0, 0), (0, 1)]), "a carried variable begins as one captured value");
    assert_eq!(spoil(&|c| c[0].writes = vec![]), "a carried variable is written by results of residuals");
    assert_eq!(spoil(&|c| c[0].writes = vec![(1, 1)]), "a carried variable is read as the type that it is written as");
    assert_eq!(spoil(&|c| drop(c.pop())), "each result of a residual but the first is what one carried variable becomes");
}

#[test]
fn functions_that_make_domains_are_instantiated_for_each_call() {
    let text = "part(name) = {\n-> InputDomainSubsetOf(name, AllCells())\n}\na = part(\"a\")\nb = part(\"b\")\n\
                x = 1 Extend a\ny = 1 Extend b\n";
    assert_eq!(codes(&format!("{text}Output(\"x\", x)\nOutput(\"y\", y)\n")), []);
    // Two domains made by one function are not the same.
    assert_eq!(codes(&format!("{text}Output(\"z\", x + y)\n")), [Code::DifferentDomains]);
    let pure = module("f(x) = {\n-> x * x\n}\na = InputScalarWithDefault(\"a\", 1)\nOutput(\"y\", f(a) + f(a + 1) + f(a * 2))\n");
    assert_eq!(pure.functions.len(), 1);
    let two = module("f(x) = {\n-> x * x\n}\nOutput(\"y\", f(1))\nOutput(\"z\", f(1 Extend AllCells()))\nOutput(\"w\", f(1 [Meter]))\n");
    assert_eq!(two.functions.len(), 3);
}

#[test]
fn loops_and_newton_inside_functions() {
    let text = "sum(ts) = {\ntotal : Mutable Scalar\ntotal = 0\nFor t In ts {\ntotal = total + t\n}\n-> total\n}\n\
                step(u, dt) = {\nresidual(w) = {\n-> w - u - (dt Extend AllCells())\n}\n-> NewtonSolve(residual, u)\n}\n\
                times = InputSequenceOfScalar(\"times\")\nOutput(\"sum\", sum(times) + sum(times * 2))\n\
                u : Mutable Collection Of Scalar On AllCells()\nu = 0 Extend AllCells()\nFor dt In times {\nu = step(u, dt)\n}\nOutput(\"u\", u)\n";
    assert_eq!(module(text).functions.len(), 3);
}

#[test]
fn names_are_lexical() {
    // A body sees what stands before its definition, and its locals hide what comes after.
    assert_eq!(codes("f(x) = {\ny = 2 * x\n-> y\n}\ny = f(1)\nz = f(y)\nOutput(\"z\", z)\n"), []);
    // Two functions of one name in two scopes.
    let twice = "g(x) = {\nh(a) = {\n-> a + 1\n}\n-> h(x)\n}\nk(x) = {\nh(a) = {\n-> a * 2\n}\n-> h(x)\n}\nOutput(\"x\", g(1) + k(1))\n";
    assert_eq!(codes(twice), []);
    assert_eq!(codes("g(x) = {\nh(a) = {\n-> a + 1\n}\n-> h(x)\n}\nOutput(\"x\", g(1) + h(1))\n"), [Code::UnknownFunction]);
    assert_eq!(codes("f(x) = {\n-> g(x)\n}\ng(x) = {\n-> f(x)\n}\nOutput(\"x\", g(1))\n"), [Code::UnknownFunction]);
    assert_eq!(codes("f(x) = {\n-> f(x)\n}\nOutput(\"x\", f(1))\n"), [Code::Recursion]);
}

#[test]
fn declared_function_types_are_enforced() {
    let f = "f : Function(x : Collection Of Scalar On AllCells(), s : Scalar) -> Collection Of Scalar On AllCells()\nf(x, s) = {\n-> x * s\n}\n";
    assert_eq!(codes(&format!("{f}Output(\"y\", f(1 Extend AllCells(), 2))\n")), []);
    assert_eq!(codes(&format!("{f}Output(\"y\", f(1 Extend AllFaces(), 2))\n")), [Code::ArgumentType]);
    assert_eq!(codes(&format!("{f}Output(\"y\", f(1 Extend AllCells()))\n")), [Code::ArgumentCount]);
    let wrong = "f : Function(x : Scalar) -> Bool\nf(x) = {\n-> x\n}\nOutput(\"y\", f(1))\n";
    assert_eq!(codes(wrong), [Code::ResultType]);
    let arrays = "f : Function(a : Array Of 2 Collection Of Scalar) -> Collection Of Scalar\nf(a) = {\n-> a[0] + Divergence(a[1])\n}\n\
                  Output(\"y\", f([1 Extend AllCells(), 1 Extend AllFaces()]))\n";
    assert_eq!(codes(arrays), []);
}

#[test]
fn a_mutable_keeps_the_dimension_of_its_first_value() {
    let last = |value: &str| {
        codes(&format!(
            "ts = InputSequenceOfScalar(\"ts\")\na : Mutable Scalar\na = 1 [Meter]\nFor t In ts {{\na = {value}\n}}\nOutput(\"a\", a)\n"
        ))
    };
    assert_eq!(last("a * 2 [Meter]"), [Code::MutableDimension]);
    assert_eq!(last("t"), [Code::MutableDimension]);
    assert_eq!(last("a * t"), []);
}
