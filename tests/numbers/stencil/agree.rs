//! Agreement of the two ways, entry by entry: the interpreter evaluates both at every iterate and
//! refuses differences beyond round-off.

use std::fs;
use std::path::Path;

use backend_serial::runtime::SerialRuntime;
use equelle::interpret;
use equelle_front::ops::{Argument, Elementary};
use equelle_front::passes::{NotDifferentiated, PIPELINE_O2, differentiate};
use equelle_front::source::SourceMap;
use equelle_front::verify::{Verified, verify};
use equelle_front::{check, lower};
use equelle_interp::{Derivatives, Options, interpret_with};
use equelle_runtime::output::Record;
use equelle_runtime::session;
use equelle_runtime::{ErrorKind, Session};

use crate::support::repository;

/// The program with equations as kernels beside residual functions, before fusion; the solves that
/// have none.
pub fn treated(source: &SourceMap) -> (Verified, Vec<NotDifferentiated>) {
    let checked = check::check_source(source, &check::CheckOptions { nondimensional: true });
    let typed = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let mut module = lower::lower(&typed, source, "p");
    for pass in PIPELINE_O2.iter().take_while(|p| p.name != "differentiate" && p.name != "fuse") {
        pass.run(&mut module);
    }
    let untreated = differentiate(&mut module);
    (verify(module).unwrap_or_else(|e| panic!("{e:?}")), untreated)
}

/// True if Newton's method may diverge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    May,
    MustNot,
}

/// Runs a program, both ways compared; its outputs.
pub fn agree(text: &str, words: &[String], failure: Failure) -> Vec<Record> {
    let source = SourceMap::new("p.equelle", text);
    let (verified, untreated) = treated(&source);
    assert_eq!(untreated, [], "{text}");
    let words: Vec<String> = words.iter().cloned().chain(["output_to_file=false".to_owned()]).collect();
    let program = interpret::program(&source, &verified);
    let mut session = Session::open_with(program, &words, session::Options::silent()).unwrap_or_else(|e| panic!("{e:?}"));
    let records = session.record_outputs();
    let options = Options { derivatives: Derivatives::Both, ..Options::default() };
    if let Err(error) = interpret_with(&verified, &mut SerialRuntime::new(session), options) {
        // A residual that becomes infinite on the way was compared before.
        assert!(failure == Failure::May && error.kind == ErrorKind::Simulation, "{error:?}\n{text}");
    }
    records.take()
}

fn example(name: &str, more: &[&str]) {
    let folder = repository(&format!("examples/{name}"));
    let text = fs::read_to_string(folder.join(format!("{name}.equelle"))).unwrap();
    let param = folder.join("case.param").display().to_string();
    let words: Vec<String> = [param].into_iter().chain(more.iter().map(ToString::to_string)).collect();
    assert!(!agree(&text, &words, Failure::MustNot).is_empty());
}

#[test]
fn heat() {
    example("heat_implicit_2d", &[]);
    example("heat_implicit_triangles", &[]);
}

#[test]
fn gas() {
    example("gas_1d", &[]);
}

#[test]
fn two_phase() {
    for name in ["two_phase", "two_phase_conservation", "two_phase_gravity", "two_phase_implicit"] {
        example(name, &[]);
    }
}

/// No example falls back to sparse-matrix derivatives.
#[test]
fn every_example_is_treated() {
    let mut solves = 0;
    let mut folders: Vec<_> = fs::read_dir(repository("examples")).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    for folder in folders {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(folder.join(format!("{name}.equelle"))).unwrap();
        if !text.contains("NewtonSolve") {
            continue;
        }
        let (_, untreated) = treated(&SourceMap::new(name.as_str(), text));
        assert_eq!(untreated, [], "{name}");
        solves += 1;
    }
    assert!(solves >= 8, "only {solves}");
}

/// The obstacle is named, at the solve.
#[test]
fn what_cannot_be_treated_is_named() {
    let cases = [
        ("r(u) = {\n -> u * u - (SumReduce(u) Extend AllCells())\n}", "a reduction of what depends on the unknown"),
        ("k : Mutable Scalar = 1\nr(u) = {\n k = k + 1\n -> k * u - (2 Extend AllCells())\n}", "a variable that the residual assigns"),
    ];
    for (residual, construct) in cases {
        let text = format!("{residual}\nu = NewtonSolve(r, 1 Extend AllCells())\nOutput(\"u\", u)\n");
        let (_, untreated) = treated(&SourceMap::new("p.equelle", text.as_str()));
        assert_eq!(untreated.iter().map(|u| u.construct).collect::<Vec<_>>(), [construct], "{text}");
        let span = untreated[0].span;
        assert!(text[span.start as usize..span.end as usize].contains("NewtonSolve"), "{}", &text[span.start as usize..span.end as usize]);
    }
}

/// Inputs of the residuals of [`RULES`].
pub const INPUTS: &str = "lines = InputTable(\"lines\", \"x\", \"y\")\ncubics = InputTable(\"cubics\", \"x\", \"y\")\nb = InputCollectionOfScalar(\"b\", AllCells())\ng = InputCollectionOfScalar(\"g\", AllCells())\na = InputScalarWithDefault(\"a\", 0.7)\n";

/// Each residual exercises rules of its own. They need not converge: one evaluation compares, and
/// the first iterates do.
const RULES: &[(&str, &str)] = &[
    ("powers", "-> a * u * u + Sqrt(u + b) - u / b + (b / u)"),
    ("magnitude", "-> |u - b| + u * u * u - |b - 2 * u|"),
    ("choice by state", "-> (u > b ? u * u : b * u) - b + u"),
    ("choice nested", "-> (u > b ? (u * u < b ? Sqrt(u) : u * b) : (b / u)) - b + u"),
    ("products of sums", "d = Divergence(Gradient(u))\n -> u - b + 0.01 * d * d + 0.1 * u * d"),
    ("sum inside a choice", "d = Divergence(Gradient(u))\n -> u - b + 0.01 * (d > (0 Extend AllCells()) ? d * u : d * d)"),
    ("sum in a branch", "-> (u > b ? u + 0.01 * Divergence(Gradient(u) * Gradient(b)) : u * u) - b"),
    ("two rings", "d = Divergence(Gradient(u))\n -> u - b + 0.01 * Divergence(Gradient(d))"),
    (
        "two rings, products",
        "d = Divergence(Gradient(u))\n -> u - b + 0.01 * Divergence(Gradient(d) * ((u * d) On SecondCell(InteriorFaces())))",
    ),
    ("three rings", "d = Divergence(Gradient(u))\n e = Divergence(Gradient(d * u))\n -> u - b + 0.001 * Divergence(Gradient(e))"),
    (
        "upwind",
        "v = Gradient(b)\n f = v >= (0 Extend InteriorFaces()) ? (u On FirstCell(InteriorFaces())) : (u On SecondCell(InteriorFaces()))\n -> u - b + 0.2 * Divergence(v * f)",
    ),
    (
        "upwind by entity",
        "v = Gradient(u * b)\n c = v >= (0 Extend InteriorFaces()) ? FirstCell(InteriorFaces()) : SecondCell(InteriorFaces())\n -> u - b + 0.2 * Divergence(v * ((u * u) On c))",
    ),
    (
        "boundary",
        "bf = BoundaryFaces()\n c = IsEmpty(FirstCell(bf)) ? SecondCell(bf) : FirstCell(bf)\n s = IsEmpty(FirstCell(bf)) ? (-1 Extend bf) : (1 Extend bf)\n -> u - b + Divergence((s * (u On c) * (u On c)) Extend AllFaces())",
    ),
    (
        "inner cells",
        "bf = BoundaryFaces()\n x = u On InnerCell(bf)\n n = OutwardNormal(bf) * x\n -> u - b + Divergence((OutwardSign(bf) * x * x + Dot(n, n)) Extend AllFaces())",
    ),
    (
        "extremes over faces",
        "f = InteriorFaces()\n x = FaceMax(u On SecondCell(f), u On FirstCell(f), u)\n y = FaceMin(u On FirstCell(f), (b * u) On SecondCell(f), 2 * b)\n -> u - b + 0.1 * x * y + 0.05 * x * Divergence(Gradient(u * u))",
    ),
    (
        "extremes on the boundary",
        "x = u On InnerCell(BoundaryFaces())\n -> u - b + 0.1 * FaceMax(x * x, -x, u) * FaceMin(x, x * (b On InnerCell(BoundaryFaces())), 3)",
    ),
    (
        "extremes of equal numbers",
        "f = InteriorFaces()\n h = (u * u) On FirstCell(f)\n -> u * u - b + FaceMax(h, h, 0) * u + FaceMin(h, h, 9 * b)",
    ),
    (
        "extremes of extremes",
        "f = InteriorFaces()\n x = FaceMax(u On SecondCell(f), u On FirstCell(f), u)\n y = x - u\n z = FaceMin(y On FirstCell(f), (y * u) On SecondCell(f), 5)\n -> u - b + 0.1 * z * z + 0.1 * Divergence(Gradient(u) * ((z > 0.3 ? x : u) On FirstCell(f)))",
    ),
    ("arrays", "q = [u, b] * u + 1\n p = u > b ? q : -q / 2\n -> p[0] * p[1] - b + (u + [a, 2])[1]"),
    ("numbers", "-> (u + 1) * (2 - u) + (u > 2 ? 0.5 * u : 1) * (b < 2 ? 1 : u) + (a > 0.5 ? u * u : a) - b - a"),
    (
        "numbers on subsets",
        "f = InteriorFaces()\n h = ((u * u) On FirstCell(f)) + a\n -> u - 1 + 0.1 * Divergence((h > 1 ? h - 1 : 0) * Gradient(u) + Dot(Vector(a, 1), Normal(f) * h))",
    ),
    ("subsets", "i = InteriorCells()\n -> (((u * u) On i) Extend AllCells()) + u * b - b"),
    (
        "vectors",
        "n = Normal(InteriorFaces())\n w = Gradient(u) * n\n h = w * (u On SecondCell(InteriorFaces())) + n * (u On FirstCell(InteriorFaces()))\n m = n / ((b On SecondCell(InteriorFaces())) + Dot(w, w))\n -> u - b + 0.1 * Divergence(Dot(h, w) / (Dot(n, n) + Dot(w, w)) + Dot(m, h) + h[0] * w[1] + |h + n|)",
    ),
    (
        "tables",
        "k = Interpolate(lines, u)\n m = Interpolate(cubics, u * b / 4)\n f = InteriorFaces()\n up = Gradient(u) > 0 ? (k On FirstCell(f)) : (m On SecondCell(f))\n -> u - b + 0.1 * Divergence(up * Gradient(u)) + k * m / (k + Interpolate(lines, m)) + Interpolate(cubics, a)",
    ),
];

/// [`RULES`], and one with all functions of numbers.
pub fn rules() -> Vec<(&'static str, String)> {
    let mut functions = String::from("-> 1 + Min(u, b) * Max(u, a * b) - Pow(u, 3) + Pow(u, b) + Pow(b, u) + ATan2(u, u * b + 1)");
    for function in Elementary::ALL {
        let argument = match function.argument() {
            Argument::Positive => "u + b".to_owned(),
            argument @ (Argument::Any(..) | Argument::SineOrCosine) => format!("{:?} * u", argument.scale(10.0)),
        };
        functions += &format!(" + {}({argument}) * u", function.name());
    }
    RULES.iter().map(|(name, residual)| (*name, (*residual).to_owned())).chain([("functions", functions)]).collect()
}

pub fn words(folder: &Path, layout: &str) -> Vec<String> {
    let b: Vec<String> = (0..30).map(|k| format!("{:?}", 1.0 + 0.37 * f64::from((k * 7) % 11))).collect();
    let g: Vec<String> = (0..30).map(|k| format!("{:?}", 0.9 + 0.21 * f64::from((k * 5) % 13))).collect();
    fs::write(folder.join("b.txt"), b.join("\n")).unwrap();
    fs::write(folder.join("g.txt"), g.join("\n")).unwrap();
    fs::write(folder.join("t.csv"), "x,y\n0,0.5\n1,0.75\n2.5,2\n4,2.5\n").unwrap();
    let mut words = vec!["b_from_file=true".to_owned(), "g_from_file=true".to_owned(), "grid_dim=2".into(), "nx=6".into(), "ny=5".into()];
    words.push(format!("b_filename={}", folder.join("b.txt").display()));
    words.push(format!("g_filename={}", folder.join("g.txt").display()));
    for table in ["lines", "cubics"] {
        words.push(format!("{table}_filename={}", folder.join("t.csv").display()));
    }
    words.push("cubics_interpolation=monotone".to_owned());
    words.push(format!("grid_layout={layout}"));
    words.extend(["newton_failure=continue".into(), "max_iter=2".into(), "solver=lu".into()]);
    words
}

#[test]
fn each_rule() {
    let folder = crate::support::scratch("stencil-rules");
    let words = words(&folder, "unstructured");
    for (name, residual) in rules() {
        let text = format!("{INPUTS}r(u) = {{\n {residual}\n}}\nu = NewtonSolve(r, g)\nOutput(\"u\", u)\n");
        println!("{name}");
        agree(&text, &words, Failure::May);
    }
}

#[test]
fn systems() {
    let folder = crate::support::scratch("stencil-systems");
    let words = words(&folder, "unstructured");
    let text = "b = InputCollectionOfScalar(\"b\", AllCells())
g = InputCollectionOfScalar(\"g\", AllCells())
h = 0.5 Extend InteriorFaces()
first(u, q) = {
  -> u * u - b + Divergence(q * (u On FirstCell(InteriorFaces())))
}
second(u, q) = {
  -> q * q + 0.3 * Gradient(u) + (u On SecondCell(InteriorFaces())) / (q + h)
}
x = NewtonSolveSystem([first, second], [g, h])
Output(\"u\", x[0])
";
    agree(text, &words, Failure::MustNot);
}
