//! Units, expressions and chosen domains mean the same in parameters, which the runtime reads, as
//! in programs.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;

use backend_cuda::runtime::device::Device;
use backend_cuda::runtime::device::emulator::Emulator;
use backend_cuda::runtime::{Precision, run_on};
use backend_serial::runtime::SerialRuntime;
use equelle_front::units;
use equelle_random::compare::{Compiled, compile};
use equelle_runtime::grid::{Cartesian, Grid, Named, NamedArray, NamedSet};
use equelle_runtime::io::DataSource;
use equelle_runtime::io::expression::{Expression, Names, Scratch, parse};
use equelle_runtime::io::token::TextError;
use equelle_runtime::io::unit::{parse_unit, unit_names};
use equelle_runtime::output::Record;
use equelle_runtime::session::Options;
use equelle_runtime::{EntityKind, Error, Parameters, Session};

/// Both tables have the same names, and the same factors and dimensions, bit for bit; products
/// and quotients as well.
#[test]
fn units_of_parameters_are_those_of_programs() {
    let names: Vec<&str> = unit_names().collect();
    let in_programs: Vec<&str> = units::UNITS.iter().map(|unit| unit.name).collect();
    assert_eq!(names, in_programs);
    for one in units::UNITS {
        for other in units::UNITS {
            for (text, unit) in [
                (format!("{}*{}", one.name, other.name), one.unit.factor.times(other.unit.factor)),
                (format!("{}/{}", one.name, other.name), one.unit.factor.over(other.unit.factor)),
            ] {
                let parsed = parse_unit(&text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
                let expected = unit.and_then(|factor| factor.to_f64()).expect("in range");
                assert_eq!(parsed.factor.to_bits(), expected.to_bits(), "{text}: {} and {expected}", parsed.factor);
            }
        }
        assert_eq!(parse_unit(one.name).map(|unit| unit.dimension), Ok(one.unit.dimension.0), "{}", one.name);
    }
}

/// Both suggest the same units for what others write: their texts are the same.
#[test]
fn units_are_suggested_alike() {
    let body = |text: &'static str| text.split_once("\n\n").expect("a heading").1;
    let in_programs = body(include_str!("../../../equelle-front/src/unit_spelling.rs"));
    assert_eq!(body(include_str!("../../../equelle-runtime/src/io/unit_spelling.rs")), in_programs);
}

/// 5 x 4 cells of powers of two, so that centroids are exact.
fn cartesian() -> Grid {
    Grid::cartesian(Cartesian::plane([5, 4], [0.5, 0.25])).expect("a grid")
}

fn parameters(files: Vec<(&str, Vec<u8>)>, text: String) -> Parameters {
    let mut all = vec![("case.param", text.into_bytes())];
    all.extend(files);
    Parameters::from_words_in(DataSource::memory(all), &["case.param".to_string()]).expect("good parameters")
}

/// Values of `x`, `y` and `poro`.
struct Three;

impl Names for Three {
    fn variable(&mut self, name: &str, _quoted: bool) -> Result<usize, TextError> {
        ["x", "y", "poro"].iter().position(|known| *known == name).ok_or_else(|| TextError::new(0, "unknown"))
    }
}

/// Random expressions of numbers and truth values, with as few parentheses as their operators may
/// have.
struct Random(fastrand::Rng);

impl Random {
    fn number(&mut self, depth: usize) -> String {
        if depth == 0 || self.0.u8(0..8) == 0 {
            let literals = ["1", "2.5", ".5", "3.", "1e-3", "7", "0.1", "1.5E1"];
            return match self.0.u8(0..5) {
                0..=1 => (*self.0.choice(&literals).expect("some")).to_owned(),
                2 => "x".to_owned(),
                3 => "y".to_owned(),
                _ => "poro".to_owned(),
            };
        }
        let (a, b) = (self.number(depth - 1), self.number(depth - 1));
        match self.0.u8(0..16) {
            0..=1 => format!("{a} + {b}"),
            2 => format!("{a} - {}", self.factor(depth)),
            3..=4 => format!("{} * {}", self.factor(depth), self.factor(depth)),
            5..=6 => format!("{} / {}", self.factor(depth), self.factor(depth)),
            7 => format!("{}^{}", self.factor(depth), self.0.choice(&["2", "3", "-1", "0", "7", "(-3)", "0.5", "-2.0"]).expect("some")),
            8 => format!("Abs({a})^{}", self.factor(depth - 1)),
            9 => format!("-{}", self.factor(depth)),
            10 => format!(
                "{}({a})",
                self.0.choice(&["Abs", "Exp", "Sin", "Cos", "Tan", "Tanh", "ATan", "Erf", "Floor", "Round"]).expect("some")
            ),
            11 => format!("{}(Abs({a}) + 0.25)", self.0.choice(&["Sqrt", "Log"]).expect("some")),
            12 => format!("{}({a}, {b})", self.0.choice(&["Min", "Max"]).expect("some")),
            13 => format!("({} ? {a} : {b})", self.truth(depth - 1)),
            14 => format!("Pow({a}, {})", self.0.choice(&["2", "-1", "(3)"]).expect("some")),
            _ => format!("({a})"),
        }
    }

    /// One in four chooses numbers by a truth value.
    fn expression(&mut self, i: usize) -> String {
        if i.is_multiple_of(4) { format!("({}) ? 1 : 2", self.truth(4)) } else { self.number(4) }
    }

    /// An operand that binds tighter than every operator.
    fn factor(&mut self, depth: usize) -> String {
        let number = self.number(depth.saturating_sub(1));
        if number.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.') { number } else { format!("({number})") }
    }

    fn truth(&mut self, depth: usize) -> String {
        if depth < 2 || self.0.u8(0..3) == 0 {
            let (a, b) = (self.number(depth / 2), self.number(depth / 2));
            return format!("{a} {} {b}", self.0.choice(&["<", ">", "<=", ">=", "==", "!="]).expect("some"));
        }
        let (a, b) = (self.truth(depth - 1), self.truth(depth - 1));
        match self.0.u8(0..6) {
            0 => format!("{a} And {b}"),
            1 => format!("{a} Or {b}"),
            2 => format!("{a} Xor {b}"),
            3 => format!("Not ({a})"),
            4 => format!("({a}) {} ({b})", self.0.choice(&["==", "!="]).expect("some")),
            _ => format!("({a} ? {b} : {})", self.truth(depth - 1)),
        }
    }
}

/// Lines before the expressions of a program.
const HEAD: &str = "c = Centroid(AllCells())
x = c[0] / (1 [Meter])
y = c[1] / (1 [Meter])
poro = InputCollectionOfScalar(\"poro\", AllCells())
zero = 0 * x
Output(\"used\", y * zero + poro * zero)
";

/// In programs of a hundred each, interpreted as lowered.
#[test]
fn ten_thousand_expressions_agree_with_the_interpreter() {
    let mut random = Random(fastrand::Rng::with_seed(25));
    let (mut compared, mut not_finite) = (0, 0);
    for _ in 0..100 {
        let mut expressions: Vec<String> = (0..100).map(|i| random.expression(i)).collect();
        let compiled = loop {
            let mut text = HEAD.to_owned();
            for (i, expression) in expressions.iter().enumerate() {
                let _ = writeln!(text, "Output(\"e{i}\", {expression})");
            }
            let failure = match compile(&text, true) {
                Ok(compiled) => break compiled,
                Err(failure) => failure,
            };
            // Constants that are never finite are refused in programs: others in their place.
            for line in failure.text.lines() {
                let number =
                    line.strip_prefix("line ").and_then(|rest| rest.split(':').next()).and_then(|number| number.parse::<usize>().ok());
                assert!(line.contains(" E0232 "), "{line}\n{text}");
                let i = number.expect("a line of the program") - HEAD.lines().count() - 1;
                expressions[i] = random.expression(i);
            }
        };
        let parameters = parameters(Vec::new(), "nonfinite=allow\nporo_expression = Sin(3*x) + y\n".to_owned());
        let mut session = Session::on_grid(Arc::clone(&compiled.runnable), parameters, cartesian(), Options::silent()).expect("a session");
        let records = session.record_outputs();
        equelle_interp::interpret(&compiled.plain, &mut SerialRuntime::new(session)).unwrap_or_else(|error| panic!("{error:?}"));
        let records = records.take();
        for (i, expression) in expressions.iter().enumerate() {
            let Ok(Expression::Number(number)) = parse(expression, &mut Three) else { panic!("`{expression}` is no number") };
            let tag = format!("e{i}");
            let expected = records.iter().find_map(|record| match record {
                Record::Scalar { tag: found, value } if *found == tag => Some(vec![*value; 20]),
                Record::Collection { tag: found, values } if *found == tag => Some(values.clone()),
                _ => None,
            });
            let expected = expected.unwrap_or_else(|| panic!("no output of `{expression}`"));
            let cells = || (0..20).map(|cell| ((cell % 5) as f64 * 0.5 + 0.25, (cell / 5) as f64 * 0.25 + 0.125));
            let porosities = cells().map(|(x, y)| equelle_runtime::math::sin(3.0 * x) + y).collect();
            let variables = [cells().map(|(x, _)| x).collect(), cells().map(|(_, y)| y).collect(), porosities];
            let mut values = [0.0; 20];
            number.values(&variables, &mut values, &mut Scratch::default());
            for (cell, (expected, found)) in expected.into_iter().zip(values).enumerate() {
                // Values that are not finite are errors in parameters.
                if found.is_finite() {
                    assert_eq!(found.to_bits(), expected.to_bits(), "`{expression}` in cell {cell}: {found} and {expected}");
                    compared += 1;
                } else {
                    not_finite += 1;
                }
            }
        }
    }
    assert!(compared > 9 * not_finite, "{compared} compared, {not_finite} not finite");
}

/// Heat with a boundary condition on a domain that is made in four ways.
const HEAT: &str = "u0 = InputCollectionOfScalar(\"u_initial\", AllCells())
inlet : Collection Of Face Subset Of (BoundaryFaces())
INLET
faces = InteriorFaces()
area = |faces|
inside = InnerCell(inlet)
u : Mutable Collection Of Scalar On AllCells() = u0
For dt In InputSequenceOfScalar(\"timesteps\") {
flux = -area * Gradient(u)
hot = Exp(-(Dot(Centroid(inlet), Centroid(inlet)))/(1 [Meter^2])) * |inlet|
q = (flux Extend AllFaces()) + (OutwardSign(inlet) * (hot * ((u On inside) - 3)) Extend AllFaces())
u = u - (0.01*dt)*Divergence(q)
}
Output(\"u\", u)
Output(\"total\", SumReduce(|inlet| * 1))
";

fn mesh() -> Grid {
    let grid = cartesian();
    let faces = grid.n_faces() as u32;
    let on_inlet = |&face: &u32| {
        let centroid = grid.centroid(EntityKind::Face, face).expect("a face");
        grid.topology().is_boundary_face(face as usize) && centroid[0] < 0.1 && centroid[1] > 0.2
    };
    let inlet: Vec<u32> = (0..faces).filter(on_inlet).collect();
    assert_eq!(inlet.len(), 3);
    let mut named = Named::default();
    named.add_set(NamedSet { name: "inlet".into(), kind: EntityKind::Face, members: inlet.clone() }).expect("new");
    named.add_set(NamedSet { name: "low".into(), kind: EntityKind::Face, members: vec![0] }).expect("new");
    let weights = (0..faces).map(|face| if inlet.contains(&face) { 2.0 } else { 0.5 }).collect();
    named.add_array(NamedArray { name: "WEIGHT".into(), kind: EntityKind::Face, values: weights }).expect("new");
    let (topology, geometry) = (grid.topology().clone(), grid.geometry().clone());
    Grid::unstructured(2, topology, geometry).and_then(|grid| grid.with_named(named)).expect("a mesh")
}

/// The outputs of the program, compiled, on a grid with these parameters; `list` has the indices of
/// the domain's faces.
fn outputs(compiled: &Compiled, (grid, list): (Grid, &str), text: &str, renumber: bool, device: Option<&Rc<dyn Device>>) -> Vec<Record> {
    let renumbered = if renumber { "yes" } else { "no" };
    let text = format!("u_initial_expression = 1 + x*y\ntimesteps = 3*0.5, 2*0.25\nrenumber={renumbered}\n{text}");
    let parameters = parameters(vec![("inlet.txt", list.as_bytes().to_vec())], text.clone());
    let mut session = Session::on_grid(Arc::clone(&compiled.runnable), parameters, grid, Options::silent()).expect("a session");
    let records = session.record_outputs();
    let result: Result<(), Error> = match device {
        None => equelle_interp::interpret(&compiled.plain, &mut SerialRuntime::new(session)),
        Some(device) => {
            run_on(session, Rc::clone(device), Precision::Double, |runtime| equelle_interp::interpret(&compiled.plain, runtime))
        }
    };
    result.unwrap_or_else(|error| panic!("{text}: {error:?}"));
    records.take()
}

/// Asks that the program gives the same records with a domain `name` chosen by a condition in its
/// text, and by each of some parameters; before and after renumbering, on both back-ends.
fn chosen_alike(grid: &dyn Fn() -> Grid, name: &str, condition: &str, list: &str, texts: &[&str]) {
    let read = format!("inlet = InputDomainSubsetOf(\"{name}\", BoundaryFaces())");
    let chosen = format!("c = Centroid(BoundaryFaces())\ninlet = Where(BoundaryFaces(), {condition})");
    let [read, chosen] = [read, chosen].map(|line| {
        let text = HEAT.replace("INLET", &line);
        compile(&text, false).unwrap_or_else(|failure| panic!("{}\n{text}", failure.text))
    });
    let compiler = Command::new("c++").arg("--version").output().is_ok_and(|output| output.status.success());
    let device = compiler.then(|| Rc::new(Emulator::new()) as Rc<dyn Device>);
    let expected = outputs(&chosen, (grid(), list), "", false, None);
    assert!(expected.len() == 2, "{expected:?}");
    for device in [None, device.as_ref()].into_iter().take(1 + usize::from(device.is_some())) {
        for renumber in [false, true] {
            assert_eq!(outputs(&chosen, (grid(), list), "", renumber, device), expected, "Where, renumbered: {renumber}");
            for text in texts {
                assert_eq!(outputs(&read, (grid(), list), text, renumber, device), expected, "{text}, renumbered: {renumber}");
            }
        }
    }
}

#[test]
fn however_a_domain_is_chosen_the_numbers_are_the_same() {
    let texts = [
        "",
        "inlet_filename = inlet.txt\n",
        "inlet_set = inlet\n",
        "inlet_set = x- - low\n",
        "inlet_set = where x < 0.1 And y > 0.2\n",
        "inlet_set = box(0, 0.2, 0.1, 1)\n",
        "inlet_set = where WEIGHT > 1\n",
    ];
    chosen_alike(&mesh, "inlet", "c[0] < 0.1 [Meter] And c[1] > 0.2 [Meter]", "6\n12\n18\n", &texts);
}

/// The side `left` of a plate meshed by Gmsh.
#[test]
fn a_side_of_a_gmsh_mesh_too() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../grids/plate.msh"));
    let plate = || equelle_runtime::grid::io::read_file(path).expect("the mesh of the book");
    let left = plate().named().set(EntityKind::Face, "left").expect("a physical group").members.clone();
    assert_eq!(left.len(), 9);
    let list: Vec<String> = left.iter().map(u32::to_string).collect();
    let texts = ["", "left_filename = inlet.txt\n", "left_set = left\n", "left_set = x-\n", "left_set = box(-1, 0, 0.001, 1)\n"];
    chosen_alike(&plate, "left", "c[0] < 0.001 [Meter]", &list.join("\n"), &texts);
}
