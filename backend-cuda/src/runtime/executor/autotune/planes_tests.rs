//! Tests of generated kernels whose threads go from plane to plane: by every rule beyond the grid,
//! in every shape they have the bits of one cell a thread.

use std::fmt::Write as _;
use std::rc::Rc;

use equelle_front::backend::Backend;
use equelle_front::check::{CheckOptions, check_text};
use equelle_front::ir;
use equelle_front::lower::lower;
use equelle_front::passes::{OptLevel, optimise};
use equelle_front::source::SourceMap;
use equelle_front::verify::verify;
use equelle_runtime::Program;
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::params::Parameters;
use equelle_runtime::session::{Options, Session};

use super::LaunchDomain;
use super::row_cells_tests::in_every_shape;
use crate::codegen::Cuda;
use crate::runtime::device::DevicePtr;
use crate::runtime::executor::arguments::RowNames;
use crate::runtime::executor::precision::Precision;
use crate::runtime::kernels::{FloatingPoint, KernelModule};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::test_support::{numbers, runtimes};

/// Rules along the third axis, how many reads there are on each side of a cell, and the fewest
/// layers of a grid for them.
const RULES: [(&str, usize, usize); 12] = [
    ("Periodic(k)", 3, 3),
    ("Mirror(k)", 3, 3),
    ("MirrorAt(k)", 3, 4),
    ("Negate(k)", 3, 3),
    ("AtFace(k, 3)", 3, 3),
    ("Value(k, 9)", 3, 1),
    ("Copy(k)", 3, 1),
    ("Slope(k, 0.5)", 3, 3),
    ("Polynomial(k, 1)", 2, 2),
    ("Polynomial(k, 2)", 3, 3),
    ("Mirror(Low(k)), Copy(High(k))", 3, 3),
    ("Value(Low(k), 9), Negate(High(k))", 3, 3),
];

/// A kernel as it is for one cell a thread, its arguments, and those for several.
struct Compiled {
    module: KernelModule,
    name: String,
    arguments: Vec<String>,
    rows: RowNames,
}

/// A program that reads along a column, each value with a weight of its own, and beside it; it
/// needs so many cells along the third axis.
fn compiled(rule: &str, reach: usize, precision: Precision) -> (Compiled, usize) {
    let mut text = format!(
        "# dimensions: ignore\ni = StencilI()\nj = StencilJ()\nk = StencilK()\nu = InputCollectionOfScalar(\"u\", AllCells())\n\
         w = InputScalarWithDefault(\"w\", 1)\np = Halo(u, Periodic(i, j), {rule})\nOutput(\"v\", (p + p(i+3) - p(i-1) + p(j+2)"
    );
    for by in 1..=reach {
        let _ = write!(text, " + {} * p(k+{by}) - {} * p(k-{by})", 3 * by, 3 * by + 1);
    }
    text += ") / w)\n";
    let source = SourceMap::new("planes.equelle", text);
    let checked = check_text(source.text(), &CheckOptions { nondimensional: false });
    let program = checked.program.unwrap_or_else(|| panic!("{rule}: {:?}", checked.diagnostics));
    let mut module = optimise(lower(&program, &source, "planes"), OptLevel::O2);
    module.numbers.precision = match precision {
        Precision::Double => ir::Precision::Double,
        Precision::Single => ir::Precision::Single,
    };
    let layers = module.structure.map_or(1, |structure| structure.cells[2] as usize);
    let module = verify(module).unwrap_or_else(|errors| panic!("{rule}: {errors:?}"));
    let (_, device) = Cuda.files(&module).expect("kernels").swap_remove(0);
    let (_, first) = device.split_once("void EQ_LIGHT ").expect("a kernel");
    let (name, rest) = first.split_once('(').expect("arguments");
    let (arguments, _) = rest.split_once(')').expect("arguments");
    let arguments = arguments.split(',').filter_map(|argument| argument.split_whitespace().last()).map(str::to_owned).collect();
    let rows: Rc<[(u32, String)]> = device
        .split("void EQ_PLANES ")
        .skip(1)
        .filter_map(|text| text.split_once('('))
        .map(|(name, _)| (name[name.len() - 1..].parse().expect("a number of cells"), name.to_owned()))
        .collect();
    assert!(!rows.is_empty(), "{rule} in {precision:?} precision: threads have cells in one plane\n{device}");
    let name = name.to_owned();
    let module = KernelModule { name: "planes".into(), source: device.into(), floating_point: FloatingPoint::Strict };
    (Compiled { module, name, arguments, rows: RowNames::Shared(rows) }, layers)
}

/// The bits of a kernel in every shape are those of its first one, of one cell a thread.
fn have_the_bits_of_single_cells(rt: &mut CudaRuntime, kernel: &Compiled, [u, scalar]: [DevicePtr; 2], what: &str) {
    let shape = rt.cartesian_args().expect("a Cartesian grid");
    let mut call = rt.executor.call(&kernel.module, &kernel.name).expect("a kernel").or_by_planes(&kernel.module, kernel.rows.clone());
    for argument in &kernel.arguments {
        call = match argument.as_str() {
            "g" => call.arg(shape),
            "u" => call.arg(u),
            name if name.ends_with("_at") => call.arg(scalar),
            _ => call,
        };
    }
    let results = in_every_shape(rt, &call, LaunchDomain::Cells);
    assert_eq!(results[0].0, 1);
    assert!(results.iter().any(|(row_cells, _)| *row_cells > 1));
    for (number, (row_cells, result)) in results.iter().enumerate() {
        assert!(*result == results[0].1, "{what}: shape {number}, {row_cells} cells of a row a thread");
    }
}

/// Numbers that a kernel is given.
#[derive(Clone, Copy, Debug)]
enum Given {
    Usual,
    /// A divisor that divisions without branches are not for.
    RareDivisor,
    /// Some such dividends.
    RareDividends,
}

impl Given {
    /// A field, and every Scalar.
    fn numbers(self, cells: usize, precision: Precision) -> (Vec<f64>, f64) {
        let rare = match precision {
            Precision::Double => 1e-310,
            Precision::Single => 1e-40,
        };
        let usual = numbers(1, cells);
        match self {
            Given::Usual => (usual, 0.75),
            Given::RareDivisor => (usual, rare),
            Given::RareDividends => {
                (usual.into_iter().enumerate().map(|(cell, value)| if cell % 201 < 100 { value * rare } else { value }).collect(), 0.75)
            }
        }
    }
}

/// Grids of as many layers as a rule needs and more; of 31, so that the last of several runs is
/// shorter.
#[test]
fn every_rule_along_a_column_has_the_bits_of_single_cells() {
    let devices: Vec<_> = runtimes().iter().map(|rt| Rc::clone(rt.executor.device())).collect();
    for precision in [Precision::Double, Precision::Single] {
        for (rule, reach, least) in RULES {
            let (kernel, layers) = compiled(rule, reach, precision);
            assert_eq!(layers, least, "{rule}");
            for nz in (layers..=8).chain([31]) {
                // Rare ones where there are several runs alone, since they are slow.
                let given: &[Given] = if nz == 31 { &[Given::Usual, Given::RareDivisor, Given::RareDividends] } else { &[Given::Usual] };
                for device in &devices {
                    let grid = Grid::cartesian(Cartesian::block([8, 3, nz], [0.5, 0.25, 2.0])).expect("a grid");
                    let session =
                        Session::on_grid(Program::named("test"), Parameters::default(), grid, Options::silent()).expect("a session");
                    let mut rt = CudaRuntime::with_precision(session, Rc::clone(device), precision).expect("a runtime");
                    for given in given {
                        let (values, scalar) = given.numbers(8 * 3 * nz, precision);
                        let u = rt.executor.upload_reals("test data", &values).expect("memory");
                        let scalar = rt.executor.constant(scalar).expect("memory");
                        let what = format!("{rule}, {nz} layers, {precision:?} precision, {given:?}");
                        have_the_bits_of_single_cells(&mut rt, &kernel, [u.address(), scalar], &what);
                    }
                }
            }
        }
    }
}
