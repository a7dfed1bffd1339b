//! The checker on whole programs: the heat equation in both styles, instances, domains, scopes,
//! warnings.

use equelle_front::check::{CheckOptions, Checked, check, type_name};
use equelle_front::diagnostic::Code;
use equelle_front::lower::lower;
use equelle_front::source::SourceMap;
use equelle_front::syntax::parse;
use equelle_front::typed::{ExprKind, StmtKind, TreeType, TypedProgram};
use equelle_front::types::{CanonicalSet, SetId};
use equelle_front::verify::verify;

fn run_with(text: &str, nondimensional: bool) -> Checked {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:?}", parsed.diagnostics);
    check(&parsed.program, &CheckOptions { nondimensional })
}

fn run(text: &str) -> Checked {
    run_with(text, false)
}

/// The typed tree of a program that gives no diagnostic at all.
fn clean(text: &str) -> TypedProgram {
    let checked = run(text);
    assert_eq!(checked.diagnostics, [], "{text}");
    let program = checked.program.expect("no diagnostics, so there is a program");
    // Every valid program lowers to IR that obeys the rules of the IR.
    let module = lower(&program, &SourceMap::new("program", text), "program");
    if let Err(errors) = verify(module) {
        panic!("{text}\n{errors:?}");
    }
    program
}

fn codes(text: &str) -> Vec<Code> {
    run(text).diagnostics.iter().map(|d| d.code).collect()
}

fn source(name: &str) -> String {
    std::fs::read_to_string(format!("{}/tests/programs/{name}.equelle", env!("CARGO_MANIFEST_DIR"))).expect("the program is there")
}

/// Name and type of every variable, as messages show them.
fn variables(program: &TypedProgram) -> Vec<(String, String)> {
    program.variables.iter().map(|v| (v.name.clone(), type_name(&program.sets, &v.ty))).collect()
}

/// Runtime sets: name and name of the parent.
fn sets(program: &TypedProgram) -> Vec<(String, String)> {
    let name = |id: SetId| program.sets.get(id).name.clone();
    program
        .sets
        .ids()
        .filter(|&id| program.sets.get(id).canonical.is_none())
        .map(|id| (name(id), name(program.sets.get(id).parent)))
        .collect()
}

const HEAT: [&str; 3] = ["heat_explicit_template", "heat_explicit_declared", "heat_implicit"];

#[test]
fn heat_programs_check_lower_and_verify() {
    for name in HEAT {
        let program = clean(&source(name));
        let boundary = if name == "heat_implicit" { "dir_boundary" } else { "dirichlet_boundary" };
        assert_eq!(sets(&program), [(boundary.to_owned(), "BoundaryFaces()".to_owned())], "{name}");
    }
}

#[test]
fn both_styles_of_heat_mean_the_same() {
    let types = |name: &str| {
        let program = clean(&source(name));
        ["k", "itrans", "bf_cells", "dir_trans", "fluxes", "u"].map(|n| variables(&program).into_iter().rev().find(|v| v.0 == n))
    };
    assert_eq!(types(HEAT[0]), types(HEAT[1]));
    let ty = |text: &str| Some(text.to_owned());
    assert_eq!(
        types(HEAT[0]).map(|v| v.map(|v| v.1)),
        [
            ty("Scalar"),
            ty("Collection Of Scalar On InteriorFaces()"),
            ty("Collection Of Cell On BoundaryFaces() Subset Of AllCells()"),
            ty("Collection Of Scalar On dirichlet_boundary"),
            ty("Collection Of Scalar On AllFaces()"),
            ty("Collection Of Scalar On AllCells()"),
        ]
    );
}

#[test]
fn dimensions_of_implicit_heat() {
    let program = clean(&source("heat_implicit"));
    let dimension = |name: &str| program.variables.iter().find(|v| v.name == name).map(|v| v.dims[0].dimension().to_string());
    // k: W/(m K) = kg m/(s^3 K); fluxes: W = kg m^2/s^3; temperature: K.
    assert_eq!(dimension("k").as_deref(), Some("[Meter * Second^-3 * Kilogram * Kelvin^-1]"));
    assert_eq!(dimension("interior").as_deref(), Some("[Meter^2 * Second^-3 * Kilogram]"));
    assert_eq!(dimension("u").as_deref(), Some("[Kelvin]"));
    assert_eq!(dimension("dt").as_deref(), Some("[Second]"));
    let StmtKind::For { body, .. } = &program.main.last().expect("statements").kind else { panic!("the loop comes last") };
    let newton = body.iter().find_map(|s| match &s.kind {
        StmtKind::Assign { value, .. } => match &value.kind {
            ExprKind::Newton { residuals, guesses } => Some((residuals.clone(), guesses.len(), value.dims[0].dimension().to_string())),
            _ => None,
        },
        _ => None,
    });
    let (residuals, guesses, dims) = newton.expect("the loop solves");
    assert_eq!((guesses, dims.as_str()), (1, "[Kelvin]"));
    assert_eq!(program.functions[residuals[0].0 as usize].name, "residual");
}

#[test]
fn without_units_a_program_needs_nondimensional() {
    let text = source("heat_implicit").replace(" * 1 [Second]", "");
    assert_eq!(run_with(&text, false).diagnostics.first().map(|d| d.code), Some(Code::SumDimensions));
    let checked = run_with(&text, true);
    assert_eq!(checked.diagnostics, []);
    // Units still scale.
    let program = run_with("x = 2 [Kilo*Meter]\nOutput(\"x\", x)\n", true).program.expect("valid");
    let StmtKind::Let { value, .. } = &program.main[0].kind else { panic!("an assignment") };
    assert!(matches!(value.kind, ExprKind::Number(n) if n == 2000.0), "{value:?}");
    assert!(program.variables.iter().all(|v| v.dims.iter().all(|d| d.dimension().to_string().is_empty())));
}

#[test]
fn one_instance_per_types_and_dimensions() {
    let text = "twice(x) = {\n-> x + x\n}\na = twice(1)\nb = twice(2)\nc = twice(1 [Meter])\nd = twice(1 Extend AllCells())\n\
                Output(\"s\", a + b)\nOutput(\"c\", c)\nOutput(\"d\", d)\n";
    let program = clean(text);
    let results: Vec<String> = program.functions.iter().map(|f| type_name(&program.sets, &f.result)).collect();
    assert_eq!(results, ["Scalar", "Scalar", "Collection Of Scalar On AllCells()"]);
    // Callees come first, and every variable of an instance knows its owner.
    for (i, function) in program.functions.iter().enumerate() {
        for param in &function.params {
            assert_eq!(program.variables[param.0 as usize].owner.map(|f| f.0 as usize), Some(i));
        }
        assert!(matches!(function.body.last().map(|s| &s.kind), Some(StmtKind::Return(_))));
    }
}

#[test]
fn a_function_that_makes_a_domain_makes_one_per_call() {
    let text = "make(name) = {\nfaces = InputDomainSubsetOf(name, BoundaryFaces())\n-> faces\n}\na = make(\"a\")\nb = make(\"b\")\n\
                c = InputDomainSubsetOf(\"c\", a)\nx = 1 Extend a\ny = 1 Extend b\nz = x On c\n\
                Output(\"x\", SumReduce(x) + SumReduce(y) + SumReduce(z))\n";
    let program = clean(text);
    assert_eq!(program.functions.len(), 2);
    let expected = [("faces", "BoundaryFaces()"), ("faces_2", "BoundaryFaces()"), ("c", "faces")];
    assert_eq!(sets(&program), expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    // The two are not known to be equal.
    assert_eq!(codes(&text.replace("SumReduce(z))", "SumReduce(z))\nOutput(\"bad\", x + y)")), [Code::DifferentDomains]);
}

#[test]
fn canonical_sets_are_never_renamed_and_aliases_share_them() {
    let text =
        "c : Collection Of Cell Subset Of AllCells()\nc = InteriorCells()\nd = c\nx = 1 Extend d\nOutput(\"x\", x On InteriorCells())\n";
    let program = clean(text);
    assert_eq!(program.sets.get(program.sets.canonical(CanonicalSet::ALL_CELLS)).name, "AllCells()");
    assert!(variables(&program).contains(&("x".to_owned(), "Collection Of Scalar On InteriorCells()".to_owned())));
}

#[test]
fn names_resolve_where_a_function_is_defined() {
    // `late` of the body is its own, though an outer one comes later; parameters hide outer names.
    clean("s = 2\nf(s) = {\nlate = s\n-> late\n}\nlate = 5\nOutput(\"f\", f(late) + s)\n");
    // Declared before, assigned between definition and call.
    clean("a : Scalar\nf() = {\n-> a\n}\na = 3\nOutput(\"f\", f())\n");
    // Functions of loops end with them, and their names may come again.
    clean(
        "ts = InputSequenceOfScalar(\"t\")\nFor dt In ts {\nf() = {\n-> dt\n}\nOutput(\"a\", f())\n}\nFor dt In ts {\nf() = {\n-> 2 * dt\n}\nOutput(\"b\", f())\n}\n",
    );
    assert_eq!(codes("ts = InputSequenceOfScalar(\"t\")\nFor dt In ts {\nx = dt\nOutput(\"x\", x)\n}\ny = x\n"), [Code::UnknownName]);
    // Nested functions see the parameters around them, in each instance anew.
    let nested =
        "outer(x) = {\ninner(y) = {\n-> x * y\n}\n-> inner(2)\n}\nOutput(\"a\", outer(1))\nOutput(\"b\", outer(1 Extend AllCells()))\n";
    assert_eq!(clean(nested).functions.len(), 4);
    // A loop in a function over a parameter.
    clean(
        "sum(ts) = {\ntotal : Mutable Scalar = 0\nFor dt In ts {\ntotal = total + dt\n}\n-> total\n}\nOutput(\"s\", sum(InputSequenceOfScalar(\"t\")))\n",
    );
}

#[test]
fn outer_mutables_can_be_assigned_in_functions_and_loops() {
    let text = "n : Mutable Scalar = 0\ncount(x) = {\nn = n + 1\n-> x\n}\nOutput(\"a\", count(1) + count(2))\nOutput(\"n\", n)\n";
    let program = clean(text);
    let n = program.variables.iter().position(|v| v.name == "n");
    let assigned =
        program.functions[0].body.iter().any(|s| matches!(&s.kind, StmtKind::Assign { variable, .. } if Some(variable.0 as usize) == n));
    assert!(assigned);
}

#[test]
fn newton_systems_of_any_size() {
    let text = "u = 1 Extend AllCells()\nr(a, b, c) = {\n-> a + b + c\n}\nx = NewtonSolveSystem([r, r, r], [u, u, u])\n\
                guesses = [u, u]\nq(a, b) = {\n-> a - b\n}\ny = NewtonSolveSystem([q, q], guesses)\nOutput(\"x\", x[2] + y[1])\n";
    let program = clean(text);
    let x = program.variables.iter().find(|v| v.name == "x").expect("x");
    assert!(matches!(&x.ty, TreeType::Array(elements) if elements.len() == 3));
    assert_eq!(x.dims.len(), 3);
}

#[test]
fn an_error_in_a_body_is_reported_once_with_the_call() {
    let text = "f(x) = {\n-> x + AllCells()\n}\na = f(1)\nb = f(1 [Meter])\n";
    let checked = run(text);
    assert_eq!(checked.diagnostics.len(), 1);
    let trail = &checked.diagnostics[0].trail;
    let call = trail.last().expect("the call");
    assert_eq!(&text[call.span.range()], "f(1)");
    assert_eq!(call.text, "in this call of `f` with (Scalar)");
}

#[test]
fn one_mistake_gives_one_diagnostic_and_the_rest_is_still_checked() {
    let text = "a = b\nc = a + 1\nd = c On AllCells()\nf(x) = {\n-> x\n}\ne = f(d)\ng = 1 + \"x\"\n";
    assert_eq!(codes(text), [Code::UnknownName, Code::NotNumeric]);
    // Sorted by position, though the function is checked at the call.
    let text = "f(x) = {\n-> x + True\n}\ng = 1 + \"x\"\nh = f(1)\n";
    assert_eq!(codes(text), [Code::NotNumeric, Code::NotNumeric]);
}

#[test]
fn near_matches_are_offered() {
    let hint = |text: &str| run(text).diagnostics.first().and_then(|d| d.hint.clone()).unwrap_or_default();
    assert_eq!(hint("pressure = 1\nx = presure\n"), "did you mean `pressure`?");
    assert_eq!(hint("flux(x) = {\n-> x\n}\ny = flx(1)\n"), "did you mean `flux`?");
    assert_eq!(hint("x = AllCels()\n"), "did you mean `AllCells`?");
    assert_eq!(hint("x = gradient(1 Extend AllCells())\n"), "did you mean `Gradient`?");
    assert_eq!(hint("x = 3 [Metre]\n"), "write `Meter`");
    // `Main` is not a function of the language.
    assert_eq!(codes("x = Main()\n"), [Code::UnknownBuiltin]);
}

#[test]
fn uncalled_functions_are_checked_as_far_as_possible() {
    assert_eq!(codes("f(x) = {\n-> x + 1\n}\n"), [Code::UncalledFunction]);
    assert_eq!(codes("f(x) = {\ny = 1 + True\n-> x + y\n}\n"), [Code::UncalledFunction, Code::NotNumeric]);
    // With a declaration more is known: here that the argument is on cells.
    let declared = "f : Function(x : Collection Of Scalar On AllCells()) -> Scalar\nf(x) = {\n-> SumReduce(Divergence(x))\n}\n";
    assert_eq!(codes(declared), [Code::UncalledFunction, Code::ArgumentType]);
    // Dimensions of parameters stay unknown.
    assert_eq!(codes("f : Function(x : Scalar) -> Scalar\nf(x) = {\n-> x + 1 [Meter]\n}\n"), [Code::UncalledFunction]);
    // Functions, variables and sets that an uncalled function would make are not in the program.
    let program = run("f(x) = {\n-> g(1) + InputDomainSubsetOf(\"d\", AllCells())\n}\n".replace("g(1) + ", "").as_str()).program;
    assert!(program.is_some_and(|p| p.functions.is_empty() && p.variables.is_empty() && sets(&p).is_empty()));
    // One instance that is called is enough for a nested function.
    assert_eq!(codes("f(x) = {\ng(y) = {\n-> y\n}\n-> x\n}\nOutput(\"a\", f(1))\n"), [Code::UncalledFunction]);
}

#[test]
fn warnings() {
    assert_eq!(codes("x = 1\n"), [Code::UnusedVariable]);
    assert_eq!(codes("x : Scalar\n"), [Code::NeverAssigned]);
    assert_eq!(codes("f(x) = {\n-> 1\n}\nOutput(\"f\", f(1))\n"), [Code::UnusedParameter]);
    assert_eq!(codes("a = 1 * 2\nb = 3 * 1\nc = a == b\nOutput(\"x\", c ? 1 : 2)\n"), [Code::EqualityOfReals]);
    assert_eq!(codes("a = 1 * 2\nOutput(\"x\", a == 2 ? 1 : 2)\n"), []);
    assert_eq!(codes("Output(\"k\", InputScalarWithDefault(\"k\", 1 [Meter]))\n"), [Code::DefaultDimension]);
    // A loop variable may only count.
    assert_eq!(codes("n : Mutable Scalar = 0\nFor t In InputSequenceOfScalar(\"t\") {\nn = n + 1\n}\nOutput(\"n\", n)\n"), []);
    // Warnings do not take the program away.
    assert!(run("x = 1\n").program.is_some());
}

#[test]
fn trees_with_holes_give_no_program_and_no_second_report() {
    let parsed = parse("x = 1 +\ny = x\n");
    assert!(!parsed.diagnostics.is_empty());
    let mut tree = parse("x = 1\nOutput(\"x\", x)\n").program;
    if let equelle_front::syntax::ast::StmtKind::Assignment { value, .. } = &mut tree.statements[0].kind {
        value.kind = equelle_front::syntax::ast::ExprKind::Error;
    }
    let checked = check(&tree, &CheckOptions::default());
    assert_eq!(checked.diagnostics, []);
    assert!(checked.program.is_none());
}
