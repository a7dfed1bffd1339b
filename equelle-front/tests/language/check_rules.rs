//! Every rule of the checker once: what is accepted gets the type and dimension derived by hand
//! from `docs/language`; what is rejected gets its code, at the place named.

use std::collections::BTreeSet;

use equelle_front::check::{CheckOptions, Checked, check, type_name};
use equelle_front::diagnostic::{Code, Diagnostic};
use equelle_front::lower::lower;
use equelle_front::source::SourceMap;
use equelle_front::syntax::parse;
use equelle_front::typed::{TypedProgram, Variable};
use equelle_front::verify::verify;

fn run(text: &str) -> Checked {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:?}", parsed.diagnostics);
    check(&parsed.program, &CheckOptions::default())
}

fn program(text: &str) -> TypedProgram {
    let checked = run(text);
    let errors: Vec<&Diagnostic> = checked.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{text}\n{errors:#?}");
    checked.program.expect("a program without errors has a typed tree")
}

fn variable<'p>(program: &'p TypedProgram, name: &str) -> &'p Variable {
    program.variables.iter().find(|v| v.name == name).expect("the variable exists")
}

/// Names that the expressions below use.
const PRELUDE: &str = r#"
s = 2.5
m = 3 [Meter]
b = s > 1
t = "text"
seq = InputSequenceOfScalar("seq") * 1 [Second]
cells = AllCells()
faces = InteriorFaces()
first = FirstCell(faces)
bf = BoundaryFaces()
bfirst = FirstCell(bf)
u = InputCollectionOfScalar("u", AllCells()) * 1 [Kelvin]
f = InputCollectionOfScalar("f", InteriorFaces())
v = Centroid(AllCells())
n = Normal(InteriorFaces())
hot = u > 300 [Kelvin]
dir = InputDomainSubsetOf("dir", BoundaryFaces())
arr = [s, 2 [Meter]]
w = Vector(m, 1 [Meter])
"#;

#[test]
fn types_and_dimensions_of_expressions() {
    let expectations = [
        // Literals and units.
        ("3", "Scalar", ""),
        ("3 [Kilo*Meter]", "Scalar", "[Meter]"),
        ("True", "Bool", ""),
        ("\"x\"", "String", ""),
        // Arithmetic.
        ("s + 1", "Scalar", ""),
        ("u + u", "Collection Of Scalar On AllCells()", "[Kelvin]"),
        ("u * m", "Collection Of Scalar On AllCells()", "[Meter * Kelvin]"),
        ("m * u", "Collection Of Scalar On AllCells()", "[Meter * Kelvin]"),
        ("m / u", "Collection Of Scalar On AllCells()", "[Meter * Kelvin^-1]"),
        ("v * u", "Collection Of Vector On AllCells()", "[Meter * Kelvin]"),
        ("s * v", "Collection Of Vector On AllCells()", "[Meter]"),
        ("v / m", "Collection Of Vector On AllCells()", ""),
        ("v - v", "Collection Of Vector On AllCells()", "[Meter]"),
        ("-v", "Collection Of Vector On AllCells()", "[Meter]"),
        ("seq * s", "Sequence Of Scalar", "[Second]"),
        ("s * seq", "Sequence Of Scalar", "[Second]"),
        ("seq / m", "Sequence Of Scalar", "[Meter^-1 * Second]"),
        ("-seq", "Sequence Of Scalar", "[Second]"),
        // Comparison and logic: a collection if either side is.
        ("u < 1 [Kelvin]", "Collection Of Bool On AllCells()", ""),
        ("1 [Kelvin] < u", "Collection Of Bool On AllCells()", ""),
        ("s >= 1", "Bool", ""),
        ("hot == hot", "Collection Of Bool On AllCells()", ""),
        ("first != first", "Collection Of Bool On InteriorFaces()", ""),
        ("hot And Not hot", "Collection Of Bool On AllCells()", ""),
        ("b Or hot", "Collection Of Bool On AllCells()", ""),
        ("b Xor True", "Bool", ""),
        // Norms: grid measures are those of three dimensions.
        ("|s - 3|", "Scalar", ""),
        ("|v|", "Collection Of Scalar On AllCells()", "[Meter]"),
        ("|cells|", "Collection Of Scalar On AllCells()", "[Meter^3]"),
        ("|faces|", "Collection Of Scalar On InteriorFaces()", "[Meter^2]"),
        ("|AllEdges()|", "Collection Of Scalar On AllEdges()", "[Meter]"),
        ("|AllVertices()|", "Collection Of Scalar On AllVertices()", ""),
        ("|first|", "Collection Of Scalar On InteriorFaces()", "[Meter^3]"),
        // Domains and entities.
        ("AllCells()", "Collection Of Cell On AllCells() Subset Of AllCells()", ""),
        ("BoundaryFaces()", "Collection Of Face On BoundaryFaces() Subset Of AllFaces()", ""),
        ("dir", "Collection Of Face On dir Subset Of BoundaryFaces()", ""),
        ("FirstCell(dir)", "Collection Of Cell On dir Subset Of AllCells()", ""),
        ("SecondCell(bf)", "Collection Of Cell On BoundaryFaces() Subset Of AllCells()", ""),
        ("IsEmpty(bfirst)", "Collection Of Bool On BoundaryFaces()", ""),
        ("Centroid(dir)", "Collection Of Vector On dir", "[Meter]"),
        ("Normal(dir)", "Collection Of Vector On dir", ""),
        // On: the data's set must hold the target's entities; a domain counts as itself.
        ("u On first", "Collection Of Scalar On InteriorFaces()", "[Kelvin]"),
        ("v On first", "Collection Of Vector On InteriorFaces()", "[Meter]"),
        ("f On faces", "Collection Of Scalar On InteriorFaces()", ""),
        ("bfirst On dir", "Collection Of Cell On dir Subset Of AllCells()", ""),
        ("u On (bfirst On dir)", "Collection Of Scalar On dir", "[Kelvin]"),
        ("cells On first", "Collection Of Cell On InteriorFaces() Subset Of AllCells()", ""),
        ("u On InteriorCells()", "Collection Of Scalar On InteriorCells()", "[Kelvin]"),
        // Extend.
        ("f Extend AllFaces()", "Collection Of Scalar On AllFaces()", ""),
        ("m Extend cells", "Collection Of Scalar On AllCells()", "[Meter]"),
        ("True Extend dir", "Collection Of Bool On dir", ""),
        ("1 Extend dir", "Collection Of Scalar On dir", ""),
        ("(1 Extend dir) Extend bf", "Collection Of Scalar On BoundaryFaces()", ""),
        // Ternary.
        ("hot ? u : -u", "Collection Of Scalar On AllCells()", "[Kelvin]"),
        ("b ? s : 2", "Scalar", ""),
        ("b ? u : -u", "Collection Of Scalar On AllCells()", "[Kelvin]"),
        ("IsEmpty(bfirst) ? SecondCell(bf) : bfirst", "Collection Of Cell On BoundaryFaces() Subset Of AllCells()", ""),
        ("IsEmpty(FirstCell(dir)) ? (dir On dir) : dir", "Collection Of Face On dir Subset Of dir", ""),
        // Arrays and indices.
        ("[u, u]", "Array Of 2 Collection Of Scalar On AllCells()", "[Kelvin]"),
        ("arr[1]", "Scalar", "[Meter]"),
        ("[s, m][0]", "Scalar", ""),
        ("v[2]", "Collection Of Scalar On AllCells()", "[Meter]"),
        // Built-ins.
        ("Gradient(u)", "Collection Of Scalar On InteriorFaces()", "[Kelvin]"),
        ("Divergence(f)", "Collection Of Scalar On AllCells()", ""),
        ("Divergence(f Extend AllFaces())", "Collection Of Scalar On AllCells()", ""),
        ("Dot(n, n)", "Collection Of Scalar On InteriorFaces()", ""),
        ("Dot(v, v)", "Collection Of Scalar On AllCells()", "[Meter^2]"),
        ("Sqrt(Dot(v, v))", "Collection Of Scalar On AllCells()", "[Meter]"),
        ("Sqrt(4)", "Scalar", ""),
        ("MaxReduce(u)", "Scalar", "[Kelvin]"),
        ("MinReduce(u)", "Scalar", "[Kelvin]"),
        ("SumReduce(u)", "Scalar", "[Kelvin]"),
        ("ProdReduce(f)", "Scalar", ""),
        ("Abs(u)", "Collection Of Scalar On AllCells()", "[Kelvin]"),
        ("Min(m, 1 [Meter])", "Scalar", "[Meter]"),
        ("Min(f, 1)", "Collection Of Scalar On InteriorFaces()", ""),
        ("Max(1, f)", "Collection Of Scalar On InteriorFaces()", ""),
        ("Max(f, -f)", "Collection Of Scalar On InteriorFaces()", ""),
        ("Exp(f) + Log(f) + Sin(f) + Cos(f) + Tan(f)", "Collection Of Scalar On InteriorFaces()", ""),
        ("Tanh(f) + Sinh(f) + Cosh(f) + ASin(f) + ACos(f) + ATan(f)", "Collection Of Scalar On InteriorFaces()", ""),
        ("Log10(f) + Erf(f) + Floor(f) + Ceil(f) + Round(f)", "Collection Of Scalar On InteriorFaces()", ""),
        ("Sign(u)", "Collection Of Scalar On AllCells()", ""),
        ("ATan2(m, 2 [Meter])", "Scalar", ""),
        ("ATan2(f, 1)", "Collection Of Scalar On InteriorFaces()", ""),
        ("Pi", "Scalar", ""),
        ("Exp(m / 2 [Meter])", "Scalar", ""),
        ("MaxReduce(v)", "Vector", "[Meter]"),
        ("MinReduce(v)", "Vector", "[Meter]"),
        ("SumReduce(n)", "Vector", ""),
        ("AnyReduce(hot)", "Bool", ""),
        ("AllReduce(Not hot)", "Bool", ""),
        // Powers: whole exponents that are written out multiply the exponents of the dimension.
        ("m^2", "Scalar", "[Meter^2]"),
        ("m^-1", "Scalar", "[Meter^-1]"),
        ("m^(-3)", "Scalar", "[Meter^-3]"),
        ("m^0", "Scalar", ""),
        ("u^3", "Collection Of Scalar On AllCells()", "[Kelvin^3]"),
        ("u^0", "Collection Of Scalar On AllCells()", ""),
        ("u^1", "Collection Of Scalar On AllCells()", "[Kelvin]"),
        ("Pow(m, 2)", "Scalar", "[Meter^2]"),
        ("s^0.5", "Scalar", ""),
        ("s^s", "Scalar", ""),
        ("s^f", "Collection Of Scalar On InteriorFaces()", ""),
        ("Pow(f, s)", "Collection Of Scalar On InteriorFaces()", ""),
        ("Pow(f, f)", "Collection Of Scalar On InteriorFaces()", ""),
        ("6 * m / m^2", "Scalar", "[Meter^-1]"),
        // Single Vectors, and Vectors of components.
        ("Vector(1)", "Vector", ""),
        ("Vector(1, s)", "Vector", ""),
        ("Vector(m, 1 [Meter], 2 * m)", "Vector", "[Meter]"),
        ("Vector(1, f)", "Collection Of Vector On InteriorFaces()", ""),
        ("Vector(u, -u)", "Collection Of Vector On AllCells()", "[Kelvin]"),
        ("w + w - w", "Vector", "[Meter]"),
        ("-w", "Vector", "[Meter]"),
        ("2 * w / m", "Vector", ""),
        ("w * u", "Collection Of Vector On AllCells()", "[Meter * Kelvin]"),
        ("w / u", "Collection Of Vector On AllCells()", "[Meter * Kelvin^-1]"),
        ("Dot(w, w)", "Scalar", "[Meter^2]"),
        ("|w|", "Scalar", "[Meter]"),
        ("w[1]", "Scalar", "[Meter]"),
        ("w Extend cells", "Collection Of Vector On AllCells()", "[Meter]"),
        ("b ? w : -w", "Vector", "[Meter]"),
        // A single value beside a collection.
        ("u + 1 [Kelvin]", "Collection Of Scalar On AllCells()", "[Kelvin]"),
        ("1 - f", "Collection Of Scalar On InteriorFaces()", ""),
        ("w - v", "Collection Of Vector On AllCells()", "[Meter]"),
        ("(1 Extend dir) - s", "Collection Of Scalar On dir", ""),
        ("Dot(w, v)", "Collection Of Scalar On AllCells()", "[Meter^2]"),
        ("Dot(n, w)", "Collection Of Scalar On InteriorFaces()", "[Meter]"),
        ("hot ? 1 : 2", "Collection Of Scalar On AllCells()", ""),
        ("hot ? m : -m", "Collection Of Scalar On AllCells()", "[Meter]"),
        ("hot ? u : 1 [Kelvin]", "Collection Of Scalar On AllCells()", "[Kelvin]"),
        ("b ? w : v", "Collection Of Vector On AllCells()", "[Meter]"),
        ("hot ? b : Not hot", "Collection Of Bool On AllCells()", ""),
        // `On`, `Extend` and `? :` of everything that has elements.
        ("hot On first", "Collection Of Bool On InteriorFaces()", ""),
        ("(hot On InteriorCells()) Extend cells", "Collection Of Bool On AllCells()", ""),
        ("n Extend AllFaces()", "Collection Of Vector On AllFaces()", ""),
        ("first Extend AllFaces()", "Collection Of Cell On AllFaces() Subset Of AllCells()", ""),
        ("dir Extend bf", "Collection Of Face On BoundaryFaces() Subset Of dir", ""),
        ("b ? hot : Not hot", "Collection Of Bool On AllCells()", ""),
        ("hot ? hot : (b Extend cells)", "Collection Of Bool On AllCells()", ""),
        ("b ? first : SecondCell(faces)", "Collection Of Cell On InteriorFaces() Subset Of AllCells()", ""),
        ("b ? cells : AllCells()", "Collection Of Cell On AllCells() Subset Of AllCells()", ""),
        ("u Extend (b ? cells : AllCells())", "Collection Of Scalar On AllCells()", "[Kelvin]"),
        ("first == SecondCell(faces)", "Collection Of Bool On InteriorFaces()", ""),
        ("hot != b", "Collection Of Bool On AllCells()", ""),
        ("b == False", "Bool", ""),
        // Arrays, element by element.
        ("arr + arr", "Array Of 2 Scalar", ""),
        ("2 * arr", "Array Of 2 Scalar", ""),
        ("-[u, f]", "Array Of 2 (Collection Of Scalar On AllCells(), Collection Of Scalar On InteriorFaces())", "[Kelvin]"),
        (
            "[u, f] / [m, s]",
            "Array Of 2 (Collection Of Scalar On AllCells(), Collection Of Scalar On InteriorFaces())",
            "[Meter^-1 * Kelvin]",
        ),
        ("[u, u] / u", "Array Of 2 Collection Of Scalar On AllCells()", ""),
        ("u * [s, m]", "Array Of 2 Collection Of Scalar On AllCells()", "[Kelvin]"),
        ("[w, w] + v", "Array Of 2 Collection Of Vector On AllCells()", "[Meter]"),
        ("b ? arr : -arr", "Array Of 2 Scalar", ""),
        ("hot ? [1, 2] : [3, 4]", "Array Of 2 Collection Of Scalar On AllCells()", ""),
        ("hot ? 0 [Meter] : [m, 2 * m]", "Array Of 2 Collection Of Scalar On AllCells()", "[Meter]"),
        // Arrays whose elements are on different domains.
        ("[u, f]", "Array Of 2 (Collection Of Scalar On AllCells(), Collection Of Scalar On InteriorFaces())", "[Kelvin]"),
        ("[u, f][1]", "Collection Of Scalar On InteriorFaces()", ""),
        ("[cells, first][1]", "Collection Of Cell On InteriorFaces() Subset Of AllCells()", ""),
        ("InputScalarWithDefault(\"a\", 1)", "Scalar", ""),
        ("InputCollectionOfScalar(\"a\", dir)", "Collection Of Scalar On dir", ""),
        ("InputDomainSubsetOf(\"a\", dir)", "Collection Of Face On x Subset Of dir", ""),
        ("InputSequenceOfScalar(\"a\")", "Sequence Of Scalar", ""),
    ];
    for (expression, ty, dimension) in expectations {
        let text = format!("{PRELUDE}x = {expression}\n");
        let program = program(&text);
        // The IR has rules of its own, which must agree.
        let module = lower(&program, &SourceMap::new("rule", text), "rule");
        if let Err(errors) = verify(module) {
            panic!("{expression}: {errors:?}");
        }
        let x = variable(&program, "x");
        assert_eq!(type_name(&program.sets, &x.ty), ty, "{expression}");
        assert_eq!(x.dims[0].dimension().to_string(), dimension, "{expression}");
    }
}

/// Program text after [`PRELUDE`], code, and the text under the primary label.
const REJECTED: &[(&str, Code, &str)] = &[
    // Names.
    ("x = uu", Code::UnknownName, "uu"),
    ("x = fun(1)", Code::UnknownFunction, "fun"),
    ("x = AllCell()", Code::UnknownBuiltin, "AllCell"),
    ("u : Scalar", Code::Redeclaration, "u"),
    ("For s In seq {\n}", Code::Redeclaration, "s"),
    ("s() = {\n-> 1\n}", Code::Redeclaration, "s"),
    ("u = u", Code::AssignToImmutable, "u"),
    ("For dt In seq {\ndt = 3\n}", Code::AssignToImmutable, "dt"),
    ("g(x) = {\nx = 3\n-> x\n}\ny = g(1)", Code::AssignToImmutable, "x"),
    ("g() = {\ns = 3\n-> s\n}\ny = g()", Code::AssignToImmutable, "s"),
    ("g() = {\n-> 1\n}\ng = 3", Code::AssignToFunction, "g"),
    ("x : Scalar\ny = x", Code::UnassignedVariable, "x"),
    ("g() = {\n-> 1\n}\nx = g", Code::FunctionAsValue, "g"),
    ("x = u(1)", Code::NotAFunction, "u"),
    ("x : Scalar\nFor dt In seq {\nx = dt\n}", Code::FirstAssignmentInside, "x"),
    ("x : Mutable Scalar\ng() = {\nx = 1\n-> 1\n}\ny = g()", Code::FirstAssignmentInside, "x"),
    ("g() = {\n-> late\n}\nlate = 3\ny = g()", Code::UnknownName, "late"),
    // Types.
    ("x = cells + 1", Code::NotNumeric, "cells"),
    ("x = -hot", Code::NotNumeric, "hot"),
    ("x = arr + [1, 2, 3]", Code::ArrayLengths, "+"),
    ("x = [u] / arr", Code::ArrayLengths, "/"),
    ("x = b ? [1] : arr", Code::ArrayLengths, "[1] : arr"),
    ("x = arr + 1", Code::SumDimensions, "+"),
    ("x = arr - [m, m]", Code::SumDimensions, "-"),
    ("x = [u, f] + u", Code::DifferentDomains, "+"),
    ("x = [v, v] * v", Code::VectorProduct, "*"),
    ("x = [v, v] + 1 [Meter]", Code::DifferentTypes, "+"),
    ("x = arr / [s, w]", Code::ArrayElementTypes, "w"),
    ("x = 1 / [v, v]", Code::DivisionByNonScalar, "v"),
    ("x = -[t, t]", Code::NotNumeric, "t"),
    ("x = b ? arr : [m, m]", Code::TernaryDimensions, "arr : [m, m]"),
    ("x = b ? arr : t", Code::TernaryBranches, "t"),
    ("x = arr ? 1 : 2", Code::ArrayOperand, "arr"),
    ("x = arr^2", Code::ArrayOperand, "arr"),
    ("x = Sqrt(arr)", Code::ArgumentType, "arr"),
    ("x = Min(arr, 1)", Code::ArgumentType, "arr"),
    ("x : Array Of 3 Scalar = 2 * arr", Code::DeclaredType, "2 * arr"),
    ("x = |arr|", Code::ArrayOperand, "arr"),
    ("x = arr < 1", Code::ArrayOperand, "arr"),
    ("x = arr On first", Code::ArrayOperand, "arr"),
    ("x = f + u", Code::DifferentDomains, "+"),
    ("x = f * u", Code::DifferentDomains, "*"),
    ("x = f / u", Code::DifferentDomains, "/"),
    ("x = f < u", Code::DifferentDomains, "<"),
    ("x = hot ? f : f", Code::DifferentDomains, "hot"),
    ("x = hot ? u : f", Code::DifferentDomains, "u : f"),
    ("x = hot ? 1 : f", Code::DifferentDomains, "hot"),
    ("x = w + 1 [Meter]", Code::DifferentTypes, "+"),
    ("x = v - m", Code::DifferentTypes, "-"),
    ("x = u - w", Code::DifferentTypes, "-"),
    ("x = u + 1", Code::SumDimensions, "+"),
    ("x = w - n", Code::SumDimensions, "-"),
    ("x = v - u", Code::DifferentTypes, "-"),
    ("x = seq + seq", Code::SequenceArithmetic, "seq"),
    ("x = seq * u", Code::SequenceArithmetic, "seq"),
    ("x = s / seq", Code::SequenceArithmetic, "seq"),
    ("x = seq / u", Code::SequenceArithmetic, "seq"),
    ("x = v * v", Code::VectorProduct, "*"),
    ("x = u / v", Code::DivisionByNonScalar, "v"),
    ("x = v < v", Code::NotComparable, "<"),
    ("x = hot < hot", Code::NotComparable, "<"),
    ("x = seq > 1 [Second]", Code::NotComparable, ">"),
    ("x = faces == cells", Code::NotComparable, "=="),
    ("x = |t|", Code::NoNorm, "t"),
    ("x = |seq|", Code::NoNorm, "seq"),
    ("x = seq On first", Code::SequenceOnExtend, "seq"),
    ("x = seq Extend cells", Code::SequenceOnExtend, "seq"),
    ("x = 1 Extend first", Code::ExtendTarget, "first"),
    ("x = 1 Extend u", Code::ExtendTarget, "u"),
    ("x = u Extend faces", Code::ExtendNotContained, "Extend"),
    ("x = (1 Extend AllFaces()) Extend faces", Code::ExtendNotContained, "Extend"),
    ("x = u On s", Code::OnTarget, "s"),
    ("x = u On f", Code::OnTarget, "f"),
    ("x = 1 On first", Code::OnData, "1"),
    ("x = f On first", Code::OnNotContained, "On"),
    ("x = f On AllFaces()", Code::OnNotContained, "On"),
    ("x = (u On InteriorCells()) On first", Code::OnNotContained, "On"),
    ("x = u ? u : u", Code::TernaryCondition, "u"),
    ("x = hot ? u : b", Code::TernaryBranches, "b"),
    ("x = hot ? u : w", Code::TernaryBranches, "w"),
    ("x = b ? first : 1", Code::TernaryBranches, "1"),
    ("x = hot ? u : 1", Code::TernaryDimensions, "u : 1"),
    ("x = b ? 1 : \"a\"", Code::TernaryBranches, "\"a\""),
    ("x : Collection Of Scalar On AllFaces()\nx = u", Code::DeclaredType, "u"),
    ("x : Scalar = u", Code::DeclaredType, "u"),
    ("x : Collection Of Cell Subset Of AllCells()\nx = bf", Code::DeclaredType, "bf"),
    ("x : Array Of 3 Scalar = [1, 2]", Code::DeclaredType, "[1, 2]"),
    ("x : Mutable Scalar = 1\nx = u", Code::DeclaredType, "u"),
    ("x : Mutable Collection Of Face Subset Of BoundaryFaces() = dir\nx = bf", Code::DeclaredType, "bf"),
    ("x : Collection Of Scalar On u", Code::TypeDomain, "u"),
    ("x : Collection Of Cell Subset Of bf", Code::TypeDomain, "bf"),
    ("x = []", Code::EmptyArray, "[]"),
    ("x = [arr]", Code::NestedArray, "arr"),
    ("x = [u, s]", Code::ArrayElementTypes, "s"),
    ("x = [u, v]", Code::ArrayElementTypes, "v"),
    ("x = [seq, s]", Code::ArrayElementTypes, "s"),
    ("tab = InputTable(\"tab\", \"1\", \"2\")\nx = [tab, tab]", Code::TableElement, "tab"),
    ("x : Array Of 2 Collection Of Scalar On AllCells() = [u, f]", Code::DeclaredType, "[u, f]"),
    ("x = Min(f, u)", Code::ArgumentType, "u"),
    ("x = Max(s, v)", Code::ArgumentType, "v"),
    ("x = Min(s, m)", Code::ArgumentDimension, "s, m"),
    ("x = Exp(m)", Code::ArgumentDimension, "m"),
    ("x = Log(u)", Code::ArgumentDimension, "u"),
    ("x = Sin(v)", Code::ArgumentType, "v"),
    ("x = Tanh(m)", Code::ArgumentDimension, "m"),
    ("x = Floor(m)", Code::ArgumentDimension, "m"),
    ("x = Round(m)", Code::ArgumentDimension, "m"),
    ("x = Erf(v)", Code::ArgumentType, "v"),
    ("x = Sign(hot)", Code::ArgumentType, "hot"),
    ("x = ATan2(s, m)", Code::ArgumentDimension, "s, m"),
    ("x = ATan2(f, u)", Code::ArgumentType, "u"),
    ("x = Abs(seq)", Code::ArgumentType, "seq"),
    ("x = AnyReduce(u)", Code::ArgumentType, "u"),
    ("x = AllReduce(b)", Code::ArgumentType, "b"),
    ("x = SumReduce(hot)", Code::ArgumentType, "hot"),
    ("x = m^0.5", Code::PowerDimension, "0.5"),
    ("x = m^s", Code::PowerDimension, "s"),
    ("x = s^m", Code::PowerDimension, "m"),
    ("x = Pow(m, s)", Code::PowerDimension, "s"),
    ("x = v^2", Code::PowerOperand, "v"),
    ("x = seq^2", Code::PowerOperand, "seq"),
    ("x = s^b", Code::PowerOperand, "b"),
    ("x = u / (2 - 2)", Code::NotFinite, "u / (2 - 2)"),
    ("x = 1 [Meter] / 1e-308 * 10", Code::NotFinite, "1 [Meter] / 1e-308 * 10"),
    ("x = s > 0 ? Sqrt(-1) : 1", Code::NotFinite, "Sqrt(-1)"),
    ("x = f^(u / 1 [Kelvin])", Code::DifferentDomains, "^"),
    ("x = Vector()", Code::ArgumentCount, "Vector()"),
    ("x = Vector(1, 2, 3, 4)", Code::ArgumentCount, "4"),
    ("x = Vector(1, m)", Code::ArgumentDimension, "m"),
    ("x = Vector(f, u / 1 [Kelvin])", Code::DifferentDomains, "u / 1 [Kelvin]"),
    ("x = Vector(1, f, u / 1 [Kelvin])", Code::DifferentDomains, "u / 1 [Kelvin]"),
    ("x = Vector(1, v)", Code::ArgumentType, "v"),
    ("x = Dot(v, n On BoundaryFaces())", Code::OnNotContained, "On"),
    ("x = Dot(w, u)", Code::ArgumentType, "u"),
    ("x = arr[2]", Code::ArrayIndex, "2"),
    ("x = v[3]", Code::VectorIndex, "3"),
    ("x = u[0]", Code::NotIndexable, "u"),
    ("x = s And b", Code::LogicOperand, "s"),
    ("x = Not u", Code::LogicOperand, "u"),
    ("For x In u {\n}", Code::NotASequence, "u"),
    ("x = Output(\"a\", 1)", Code::NoValue, "Output(\"a\", 1)"),
    ("x = t Extend cells", Code::ExtendData, "t"),
    ("x : Sequence Of String", Code::NoDomainOfText, "Sequence Of String"),
    // Units.
    ("x = 1 [Metre]", Code::UnknownUnit, "Metre"),
    ("x = m + s", Code::SumDimensions, "+"),
    ("x = m < s", Code::ComparisonDimensions, "<"),
    ("x = b ? m : s", Code::TernaryDimensions, "m : s"),
    ("x : Mutable Scalar = 1\nx = x * m", Code::MutableDimension, "x * m"),
    ("x = Sqrt(m)", Code::SqrtDimension, "m"),
    ("x = ProdReduce(u)", Code::ProdReduceDimension, "u"),
    ("x = 1 [Tera^200]", Code::UnitRange, "Tera^200"),
    // A length of 1, because a power that is not finite is an error of its own.
    ("l = 1 [Meter]\nx = l^2147483647 * l", Code::DimensionRange, "*"),
    ("l = 1 [Meter]\nx = l^2147483647 / l^-2", Code::DimensionRange, "/"),
    ("x = m^-2147483648", Code::DimensionRange, "^"),
    ("x = (m^2)^1073741824", Code::DimensionRange, "^"),
    ("x = Pow(m^2, 1073741824)", Code::DimensionRange, "Pow"),
    ("l = 1 [Meter]\nx = Dot(v * l^2147483646, v)", Code::DimensionRange, "v * l^2147483646, v"),
    ("l = 1 [Meter]\ng(a) = {\n-> a * a\n}\nx = g(l^1073741824)", Code::DimensionRange, "*"),
    ("l = 1 [Meter]\nx : Mutable Array Of 2 Scalar = [1, l^2147483647]\ny = x[0] * (x[1] * l)", Code::DimensionRange, "*"),
    // Functions.
    ("g(a) = {\n-> a\n}\nx = g(1, 2)", Code::ArgumentCount, "2"),
    ("g(a) = {\n-> a\n}\nx = g()", Code::ArgumentCount, "g()"),
    ("x = AllCells(1)", Code::ArgumentCount, "1"),
    ("x = Sqrt()", Code::ArgumentCount, "Sqrt()"),
    ("g : Function(a : Scalar) -> Scalar\ng(a) = {\n-> 1\n}\nx = g(u)", Code::ArgumentType, "u"),
    ("x = Centroid(u)", Code::ArgumentType, "u"),
    ("x = Normal(cells)", Code::ArgumentType, "cells"),
    ("x = Gradient(f)", Code::ArgumentType, "f"),
    ("x = Divergence(u)", Code::ArgumentType, "u"),
    ("x = Divergence(1 Extend bf)", Code::ArgumentType, "1 Extend bf"),
    ("x = Dot(v, n)", Code::ArgumentType, "n"),
    ("x = InputCollectionOfScalar(\"a\", first)", Code::ArgumentType, "first"),
    ("x = InputCollectionOfScalar(s, cells)", Code::ArgumentType, "s"),
    ("Output(1, s)", Code::ArgumentType, "1"),
    ("g(a) = {\n-> g(a)\n}\nx = g(1)", Code::Recursion, "g(a)"),
    ("h : Function(a : Scalar) -> Scalar\ng(a) = {\n-> h(a)\n}\nh(a) = {\n-> g(a)\n}\nx = h(1)", Code::Recursion, "h(a)"),
    ("g(a) = {\nc = a\n}\nx = g(1)", Code::MissingReturn, "g"),
    ("g(a) = {\n-> a\nc = a\n}\nx = g(1)", Code::AfterReturn, "c = a"),
    ("-> 3", Code::ReturnOutside, "-> 3"),
    ("g() = {\n-> 1\n}\ng() = {\n-> 2\n}", Code::FunctionTwice, "g"),
    ("g : Function() -> Scalar\ng : Function() -> Scalar", Code::FunctionTwice, "g"),
    ("g : Function() -> Scalar\ng() = {\n-> u\n}\nx = g()", Code::ResultType, "u"),
    ("g : Function(a : Scalar, c : Scalar) -> Scalar\ng(a) = {\n-> a\n}", Code::ParameterCount, "g"),
    ("g : Function(a : Scalar) -> Scalar\ng(a, c) = {\n-> a + c\n}", Code::ParameterCount, "g"),
    ("g : Function() -> Scalar\nx = g()", Code::FunctionNotDefined, "g()"),
    ("g(a, a) = {\n-> a\n}", Code::DuplicateParameter, "a"),
    ("g() = {\nFor dt In seq {\n-> dt\n}\n-> 1\n}\nx = g()", Code::ReturnInLoop, "-> dt"),
    // Built-ins and solvers.
    ("Output(\"a\", seq)", Code::OutputData, "seq"),
    ("Output(\"a\", [seq, seq])", Code::OutputData, "[seq, seq]"),
    ("x = NewtonSolve(1, u)", Code::NewtonFunction, "1"),
    ("r(a) = {\n-> a\n}\nx = NewtonSolve(r, 1)", Code::NewtonGuess, "1"),
    ("r(a) = {\n-> Gradient(a)\n}\nx = NewtonSolve(r, u)", Code::NewtonResidual, "r"),
    ("r(a) = {\n-> a\n}\nq(a) = {\n-> NewtonSolve(r, a)\n}\nx = NewtonSolve(q, u)", Code::NewtonNested, "q"),
    ("r(a, c) = {\n-> a\n}\nx = NewtonSolveSystem([r], [u, u])", Code::NewtonCount, "NewtonSolveSystem([r], [u, u])"),
    ("r(a, c) = {\n-> a\n}\nx = NewtonSolveSystem(r, [u, u])", Code::NewtonArguments, "r"),
    ("r(a) = {\n-> ([a, u] * 2 - 1)[1]\n}\nx = NewtonSolve(r, u / 1 [Kelvin])", Code::SumDimensions, "-"),
    ("r(a) = {\n-> (-[a, u] * 2)[1]\n}\nx = NewtonSolve(r, u)", Code::NewtonIndependent, "r"),
    ("r(a) = {\n-> (hot ? [a, u] : u)[1]\n}\nx = NewtonSolve(r, u)", Code::NewtonIndependent, "r"),
    ("r(a) = {\n-> u\n}\nx = NewtonSolve(r, u)", Code::NewtonIndependent, "r"),
    ("r(a) = {\n-> a > u ? u : -u\n}\nx = NewtonSolve(r, u)", Code::NewtonIndependent, "r"),
    ("r(a) = {\n-> u - (SumReduce(a) Extend cells)\n}\nx = NewtonSolve(r, u)", Code::NewtonIndependent, "r"),
    ("r(a, c) = {\n-> a + c\n}\nq(a, c) = {\n-> u\n}\nx = NewtonSolveSystem([r, q], [u, u])", Code::NewtonIndependent, "q"),
    ("fresh(a) = {\nImport \"other\" (other)\n-> a\n}\nx = fresh(u)", Code::ImportInside, "Import \"other\" (other)"),
    ("count : Mutable Scalar = 0\nWhile u > 2 * u {\ncount = count + 1\n}", Code::LoopCondition, "u > 2 * u"),
    ("count : Mutable Scalar = 0\nRepeat Until 3 {\ncount = count + 1\n}", Code::LoopCondition, "3"),
    ("For k In Range(0, 2.5) {\nOutput(t, k)\n}", Code::RangeBounds, "2.5"),
    ("For k In Range(0, 3 [Meter]) {\nOutput(t, k)\n}", Code::RangeBounds, "3 [Meter]"),
    ("For i In seq {\nd = Where(cells, u > 2 * u)\nOutput(t, d)\n}", Code::DomainRepeated, "Where(cells, u > 2 * u)"),
    ("state : Mutable Collection Of Scalar On cells = u\nd = Where(cells, state > u)", Code::ConditionOnState, "state > u"),
    ("g = 2 * u\nr(a, c) = {\n-> c - u\n}\nx = NewtonSolveSystem([r, r], [g, u])", Code::NewtonIndependent, "g"),
    ("x(s) = 3", Code::StencilLeft, "x(s) = 3"),
    ("i = StencilI()\nx = u(i+1)", Code::StencilBeyond, "u(i+1)"),
    ("i = StencilI()\nj = StencilJ()\nh = Halo(u, Periodic(i))\nx = h(i+1, j-1)", Code::StencilBeyond, "h(i+1, j-1)"),
    ("i = StencilI()\nj = StencilJ()\nx = u(j, i)", Code::StencilOrder, "i"),
    ("i = StencilI()\nx = u(i, i)", Code::StencilTwice, "i"),
    ("i = StencilI()\nh = Halo(u, Copy(i))\nx = h(i+0.5)", Code::StencilNotIndex, "i+0.5"),
    ("i = StencilI()\nh = Halo(u, Copy(i))\nx = h(i+17)", Code::StencilNotIndex, "i+17"),
    ("i = StencilI()\nh = Halo(u, Copy(i))\nx = h(2*i)", Code::StencilNotIndex, "2*i"),
    ("x = Width(u)", Code::StencilNotIndex, "u"),
    ("i = StencilI()\nh = Halo(3, Copy(i))", Code::StencilOperand, "3"),
    ("i = StencilI()\nh = Halo(u, Copy(i), Mirror(Low(i)))", Code::HaloTwice, "Low(i)"),
    ("i = StencilI()\nh = Halo(u, i)", Code::HaloRule, "i"),
    ("i = StencilI()\nh = Halo(u, Periodic(Low(i)))", Code::HaloRule, "Periodic(Low(i))"),
    ("i = StencilI()\nh = Halo(u, Polynomial(i, 9))", Code::HaloRule, "Polynomial(i, 9)"),
    ("i = StencilI()\nh = Halo(u > 2 * u, Negate(i))", Code::HaloRule, "Negate(i)"),
    ("i = StencilI()\nh = Halo(u, Value(i, u > 2 * u))", Code::HaloUnit, "u > 2 * u"),
    ("i = StencilI()\nh = Halo(u, Value(i, 3 [Kelvin^7]))", Code::HaloUnit, "3 [Kelvin^7]"),
    ("i = StencilI()\nx = Even(i, i)", Code::StencilTwice, "Even(i, i)"),
    ("i = StencilI()\nx(i+1) = u", Code::StencilLeft, "i+1"),
    ("i = StencilI()\nx = i + 1", Code::NotNumeric, "i"),
];

#[test]
fn mistakes_have_their_code_and_place() {
    for &(text, code, place) in REJECTED {
        let text = format!("{PRELUDE}{text}\n");
        let checked = run(&text);
        let errors: Vec<&Diagnostic> = checked.diagnostics.iter().filter(|d| d.is_error()).collect();
        let marked = |d: &Diagnostic| text.get(d.primary.span.range()).unwrap_or_default().to_owned();
        let found: Vec<(Code, String)> = errors.iter().map(|d| (d.code, marked(d))).collect();
        assert!(found.contains(&(code, place.to_owned())), "{text}\nexpected {code:?} at {place:?}, found {found:#?}");
        let other: Vec<_> = found.iter().filter(|(c, _)| *c != code).collect();
        assert!(other.is_empty(), "{text}\nfollow-up errors {other:?}");
        assert!(checked.program.is_none(), "{text}\nhas errors, and yet a typed tree");
    }
}

#[test]
fn every_error_code_of_the_checker_is_exercised() {
    let mut exercised: BTreeSet<Code> = REJECTED.iter().map(|r| r.1).collect();
    // The driver finds them, which knows keys and columns of simulators; `tests/ui` has cases.
    exercised.extend([Code::ParameterKey, Code::OutputName]);
    // `check_imports.rs` has them: they need several texts.
    exercised.extend([Code::ImportNotFound, Code::CircularImport, Code::ImportedEffect, Code::UnknownImport]);
    let families = ["E01", "E02", "E03", "E04", "E05"];
    let missing: Vec<&Code> =
        Code::ALL.iter().filter(|c| families.iter().any(|f| c.as_str().starts_with(f)) && !exercised.contains(c)).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}
