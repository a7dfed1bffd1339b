//! Every rule about dimensions, for each of the seven base dimensions: a rule that overlooks one of
//! them lets a program pass here.

use equelle_front::check::{CheckOptions, Checked, check_text};
use equelle_front::diagnostic::Code;
use equelle_front::typed::{StmtKind, TypedProgram};
use equelle_front::types::Dimension;

fn run(text: &str) -> Checked {
    check_text(text, &CheckOptions::default())
}

/// Errors and warnings about dimensions; unused names are no matter here.
fn codes(text: &str) -> Vec<Code> {
    let found = run(text).diagnostics.into_iter().map(|d| d.code);
    found.filter(|code| !matches!(code, Code::UnusedVariable | Code::UnusedParameter | Code::EqualityOfReals)).collect()
}

fn program(text: &str) -> TypedProgram {
    let checked = run(text);
    checked.program.unwrap_or_else(|| panic!("{text}\n{:#?}", checked.diagnostics))
}

/// Adds variables for the programs below: `p` has no dimension and `q` that of the unit, `us` and
/// `qs` are collections of them. `q` is the square root of `k`; `r` has the reciprocal.
fn with_prelude(unit: &str, text: &str) -> String {
    format!(
        "p = 2\nq = 1 [{unit}]\nk = 1 [{unit}^2]\nr = 1 [{unit}^-1]\ncells = AllCells()\nus = 1 Extend cells\nqs = q Extend cells\n\
         ps : Sequence Of Scalar\nps = InputSequenceOfScalar(\"ps\")\n{text}\n"
    )
}

/// Text with two values `%A` and `%B`, and the code where their dimensions differ.
const EQUAL: &[(&str, Code)] = &[
    ("x = %A + %B", Code::SumDimensions),
    ("x = %A - %B", Code::SumDimensions),
    ("x = (%A Extend cells) + (%B Extend cells)", Code::SumDimensions),
    ("x = Centroid(cells) * %A - Centroid(cells) * %B", Code::SumDimensions),
    ("x = %A < %B", Code::ComparisonDimensions),
    ("x = %A > %B", Code::ComparisonDimensions),
    ("x = %A <= %B", Code::ComparisonDimensions),
    ("x = %A >= %B", Code::ComparisonDimensions),
    ("x = %A == %B", Code::ComparisonDimensions),
    ("x = %A != %B", Code::ComparisonDimensions),
    ("x = p > 1 ? %A : %B", Code::TernaryDimensions),
    ("x = us > us ? %A Extend cells : %B Extend cells", Code::TernaryDimensions),
    ("x = Min(%A, %B)", Code::ArgumentDimension),
    ("x = Max(%A, %B)", Code::ArgumentDimension),
    ("x = Vector(%A, %B)", Code::ArgumentDimension),
    ("x = Vector(%A, %A, %B)", Code::ArgumentDimension),
    // Assignments to a mutable variable.
    ("x : Mutable Scalar = %A\nx = %B", Code::MutableDimension),
    ("x : Mutable Collection Of Scalar On cells = %A Extend cells\nx = %B Extend cells", Code::MutableDimension),
    ("x : Mutable Collection Of Vector On cells = %A * Centroid(cells)\nx = %B * Centroid(cells)", Code::MutableDimension),
    ("x : Mutable Array Of 2 Scalar = [%A, p]\nx = [%B, p]", Code::MutableDimension),
    ("x : Mutable Array Of 2 Scalar = [p, %A]\nx = [p, %B]", Code::MutableDimension),
    ("x : Mutable Array Of 3 Scalar = [p, q, %A]\nx = [p, q, %B]", Code::MutableDimension),
    ("x : Mutable Scalar = %A\nFor s In ps {\nx = %B\n}", Code::MutableDimension),
    ("x : Mutable Array Of 2 Scalar = [p, %A]\nFor s In ps {\nx = [x[0], %B]\n}", Code::MutableDimension),
    ("x : Mutable Scalar = %A\nf(a) = {\nx = a\n-> a\n}\ny = f(%B)", Code::MutableDimension),
    // Through calls: of parameters, of results, of a second instance.
    ("f(a, b) = {\n-> a + b\n}\nx = f(%A, %B)", Code::SumDimensions),
    ("f(a, b) = {\n-> a + b\n}\nx = f(%A, %A)\ny = f(%A, %B)", Code::SumDimensions),
    ("f(a) = {\n-> a\n}\nx = f(%A) + f(%B)", Code::SumDimensions),
    ("f(a) = {\n-> [p, a]\n}\nx = f(%A)[1] + %B", Code::SumDimensions),
    ("f(a) = {\n-> a[1] + %A\n}\nx = f([p, %B])", Code::SumDimensions),
    // Through an array, and through a captured variable.
    ("x = [p, %A][1] + %B", Code::SumDimensions),
    ("c = %A\nf(a) = {\n-> a + c\n}\nx = f(%B)", Code::SumDimensions),
    // A residual takes its unknown with the dimension of the guess, and the solution has it.
    ("f(u) = {\n-> u - (%A Extend cells)\n}\nx = NewtonSolve(f, %B Extend cells)", Code::SumDimensions),
    ("f(u) = {\n-> u * u\n}\nx = NewtonSolve(f, %A Extend cells) + (%B Extend cells)", Code::SumDimensions),
    (
        "f(u, v) = {\n-> u\n}\ng(u, v) = {\n-> v - (%A Extend cells)\n}\nx = NewtonSolveSystem([f, g], [us, %B Extend cells])",
        Code::SumDimensions,
    ),
    (
        "f(u, v) = {\n-> u\n}\ng(u, v) = {\n-> v\n}\nx = NewtonSolveSystem([f, g], [us, %A Extend cells])\ny = x[1] + (%B Extend cells)",
        Code::SumDimensions,
    ),
];

#[test]
fn what_must_be_equal_is_compared_in_every_base_dimension() {
    for unit in Dimension::BASE_UNITS {
        for &(text, code) in EQUAL {
            for (a, b) in [("q", "p"), ("p", "q"), ("q", "k"), ("q", "r")] {
                let text = with_prelude(unit, &text.replace("%A", a).replace("%B", b));
                assert_eq!(codes(&text), [code], "{text}");
            }
        }
    }
}

#[test]
fn what_is_equal_passes() {
    for unit in Dimension::BASE_UNITS {
        for &(text, _) in EQUAL {
            for one in ["q", "p", "k", "r"] {
                let text = with_prelude(unit, &text.replace("%A", one).replace("%B", one));
                assert_eq!(codes(&text), [], "{text}");
            }
        }
    }
}

#[test]
fn what_must_have_no_dimension_is_looked_at_in_every_base_dimension() {
    let rules = [
        ("x = Exp(%A)", Code::ArgumentDimension),
        ("x = Log(%A)", Code::ArgumentDimension),
        ("x = Sin(%A)", Code::ArgumentDimension),
        ("x = Cos(%A)", Code::ArgumentDimension),
        ("x = Tan(%A)", Code::ArgumentDimension),
        ("x = Tanh(%A)", Code::ArgumentDimension),
        ("x = ATan(%A)", Code::ArgumentDimension),
        ("x = Floor(%A)", Code::ArgumentDimension),
        ("x = Round(%A)", Code::ArgumentDimension),
        ("x = p^%A", Code::PowerDimension),
        ("x = %A^p", Code::PowerDimension),
        ("x = Pow(p, %A)", Code::PowerDimension),
        ("x = ProdReduce(%A Extend cells)", Code::ProdReduceDimension),
        ("x = InputScalarWithDefault(\"x\", %A)", Code::DefaultDimension),
    ];
    for unit in Dimension::BASE_UNITS {
        for (text, code) in rules {
            for a in ["q", "k", "r"] {
                let text = with_prelude(unit, &text.replace("%A", a));
                assert_eq!(codes(&text), [code], "{text}");
            }
            let text = with_prelude(unit, &text.replace("%A", "p"));
            assert_eq!(codes(&text), [], "{text}");
        }
        let text = with_prelude(unit, "x = Sqrt(q)");
        assert_eq!(codes(&text), [Code::SqrtDimension], "{text}");
    }
}

#[test]
fn values_have_the_exponent_that_the_rules_give_in_every_base_dimension() {
    // The expression, and the exponent of the base dimension.
    let expressions = [
        ("q", 1),
        ("-q", 1),
        ("|q|", 1),
        ("q * q", 2),
        ("q / p", 1),
        ("p / q", -1),
        ("q * r", 0),
        ("q^3", 3),
        ("q^-3", -3),
        ("Pow(q, 2)", 2),
        ("Sqrt(k)", 1),
        ("Sqrt(r * r)", -1),
        ("Abs(q)", 1),
        ("Min(q, q)", 1),
        ("p > 1 ? q : q", 1),
        ("[p, q][1]", 1),
        ("Vector(q, q)", 1),
        ("Vector(q, q)[0]", 1),
        ("Dot(Normal(AllFaces()) * q, Normal(AllFaces()) * k)", 3),
        ("qs", 1),
        ("qs On FirstCell(InteriorFaces())", 1),
        ("(qs On InteriorCells()) Extend cells", 1),
        ("Gradient(qs)", 1),
        ("Divergence(Gradient(qs))", 1),
        ("SumReduce(qs)", 1),
        ("MinReduce(qs)", 1),
        ("MaxReduce(qs)", 1),
        ("ProdReduce(us)", 0),
        ("InputScalarWithDefault(\"x\", 1) * q", 1),
        ("ps * q", 1),
        ("ps / q", -1),
    ];
    for (i, unit) in Dimension::BASE_UNITS.iter().enumerate() {
        for (expression, exponent) in expressions {
            let text = with_prelude(unit, &format!("x = {expression}"));
            let mut expected = Dimension::NONE;
            expected.0[i] = exponent;
            let program = program(&text);
            let x = program.variables.iter().find(|v| v.name == "x").expect("the variable exists");
            assert_eq!(x.dims, [expected.into()], "{expression} [{unit}]");
        }
    }
}

#[test]
fn outputs_are_told_the_dimension_of_every_element() {
    for (i, unit) in Dimension::BASE_UNITS.iter().enumerate() {
        let mut expected = [Dimension::NONE; 3];
        (expected[1].0[i], expected[2].0[i]) = (1, 2);
        let program = program(&with_prelude(unit, "Output(\"x\", [p, q, k])"));
        let outputs: Vec<Vec<Dimension>> = program
            .main
            .iter()
            .filter_map(|statement| match &statement.kind {
                StmtKind::Output { value, .. } => Some(value.dims.iter().map(|dim| dim.dimension()).collect()),
                StmtKind::Let { .. }
                | StmtKind::Assign { .. }
                | StmtKind::Discard(_)
                | StmtKind::For { .. }
                | StmtKind::Range { .. }
                | StmtKind::Conditional { .. }
                | StmtKind::Return(_) => None,
            })
            .collect();
        assert_eq!(outputs, [expected.to_vec()], "{unit}");
    }
}

#[test]
fn exponents_stop_at_the_largest_magnitude() {
    const MAX: i32 = Dimension::MAX_EXPONENT;
    for (i, unit) in Dimension::BASE_UNITS.iter().enumerate() {
        let accepted = |expression: &str, exponent: i32| {
            let program = program(&with_prelude(unit, &format!("x = {expression}")));
            let x = program.variables.iter().find(|v| v.name == "x").expect("the variable exists");
            assert_eq!(x.dims[0].dimension().0[i], exponent, "{expression} [{unit}]");
        };
        accepted("q^2147483647", MAX);
        accepted("r^2147483647", -MAX);
        accepted("q^-2147483647", -MAX);
        accepted("q^2147483646 * q", MAX);
        accepted("k^1073741823 * q", MAX);
        accepted("r^2147483646 / q", -MAX);
        accepted("q^2147483647 * r", MAX - 1);
        for expression in [
            "q^2147483647 * q",
            "q^2147483647 * q - q^2147483647",
            "r^2147483647 * r",
            "r^2147483647 / q",
            "q^2147483647 / r",
            "k^1073741824",
            "k^-1073741824",
            "r^2147483648",
            "(q^65536)^65536",
            "(q^2147483647 * q) * r",
            "(qs^2147483647 * qs) On cells",
            "[q, q^2147483647 * q][0]",
            "p > 1 ? q : q^2147483647 * q",
            "SumReduce(qs^2147483647 * qs)",
            "Dot(Normal(AllFaces()) * q^2147483647, Normal(AllFaces()) * q)",
            "ps * q^2147483647 * q",
        ] {
            let text = with_prelude(unit, &format!("x = {expression}"));
            assert_eq!(codes(&text), [Code::DimensionRange], "{text}");
        }
        // In the equation of a solve, in a loop that raises its variable's dimension by a function,
        // and in a second instance.
        for program in [
            "f(u) = {\n-> u^2147483647 * u\n}\nx = NewtonSolve(f, qs)",
            "f(a) = {\n-> a^2147483647\n}\nx = f(q)\ny = f(k)",
            "x : Mutable Array Of 2 Scalar = [p, q]\nFor s In ps {\nx = [p, x[1]^2147483647 * x[1]]\n}",
        ] {
            let text = with_prelude(unit, program);
            assert_eq!(codes(&text), [Code::DimensionRange], "{text}");
        }
        // Without dimensions there is no exponent to leave the range.
        assert_eq!(codes(&with_prelude(unit, "x = (q / q)^2147483647 * (p / p)^2147483647")), []);
        let options = CheckOptions { nondimensional: true };
        let free = check_text(&with_prelude(unit, "x = q^2147483647 * q - q^2147483647"), &options);
        assert!(free.program.is_some(), "{:?}", free.diagnostics);
    }
}
