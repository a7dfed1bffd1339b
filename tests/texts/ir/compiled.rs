//! Compiled programs: their IR survives the text form, and every way to evaluate it gives the same
//! bits.

use equelle_front::ir::text::{parse, print};
use equelle_front::ir::{CartesianForm, Module};
use equelle_front::passes::{OptLevel, optimise};
use equelle_front::source::SourceMap;
use equelle_front::verify::verify;
use equelle_front::{check, lower, syntax};
use equelle_runtime::grid::Cartesian;
use equelle_runtime::output::Record;

use super::simulate::{Form, Inputs, run};

const HEAT: &str = include_str!("../../../examples/heat_explicit_3d/heat_explicit_3d.equelle");

fn heat(level: OptLevel) -> Module {
    let parsed = syntax::parse(HEAT);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let checked = check::check(&parsed.program, &check::CheckOptions { nondimensional: true });
    let typed = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    optimise(lower::lower(&typed, &SourceMap::new("heat.equelle", HEAT), "heat"), level)
}

#[test]
fn compiled_modules_survive_the_text_form() {
    for level in [OptLevel::O0, OptLevel::O2] {
        let module = heat(level);
        let text = print(&module);
        let back = parse(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        assert_eq!(print(&back), text);
        assert_eq!(back.kernels.len(), module.kernels.len());
        verify(back).unwrap_or_else(|e| panic!("{level:?} from text: {e:?}\n{text}"));
        verify(module).unwrap_or_else(|e| panic!("{level:?}: {e:?}\n{text}"));
    }
}

#[test]
fn every_way_gives_the_same_bits() {
    // Widths are powers of two, where all ways to compute geometry are exact.
    let shape = Cartesian::block([5, 4, 3], [0.5, 1.0, 2.0]);
    let faces: Vec<u32> = (0..shape.n_faces() as u32).filter(|&f| shape.is_boundary_face(f as usize)).step_by(3).collect();
    let values: Vec<f64> = faces.iter().map(|&f| 500.0 + 400.0 * (f64::from(f) * 0.37).sin()).collect();
    let u0: Vec<f64> = (0..shape.n_cells()).map(|c| 500.0 + 100.0 * (c as f64 * 1.1).cos()).collect();
    let inputs = || {
        Inputs::default()
            .scalar("k", 0.3)
            .collection("u_initial", &u0)
            .domain("dirichlet_boundary", &faces)
            .collection("dirichlet_val", &values)
            .sequence("timesteps", &[0.03, 0.02, 0.01])
    };
    let bits = |records: &[Record]| -> Vec<u64> {
        let numbers = records.iter().flat_map(|record| match record {
            Record::Scalar { value, .. } => std::slice::from_ref(value),
            Record::Collection { values, .. } => values,
            other => panic!("this program puts out numbers, not {other:?}"),
        });
        numbers.map(|v| v.to_bits()).collect()
    };
    let operations = verify(heat(OptLevel::O0)).unwrap();
    assert!(operations.module().kernels.is_empty());
    let kernels = verify(heat(OptLevel::O2)).unwrap();
    let full = kernels.module().kernels.iter().filter(|k| matches!(k.cartesian, Some(CartesianForm::Full(_)))).count();
    let per_axis = kernels.module().kernels.iter().filter(|k| matches!(k.cartesian, Some(CartesianForm::PerAxis(_)))).count();
    assert!(full >= 1 && per_axis >= 1, "{}", print(kernels.module()));
    let reference = bits(&run(&operations, shape, inputs(), Form::General).unwrap());
    assert!(reference.len() > 3 * shape.n_cells());
    for form in [Form::General, Form::Cartesian] {
        assert_eq!(bits(&run(&kernels, shape, inputs(), form).unwrap()), reference, "{form:?}");
    }
    // From its own text, without spans getting in the way.
    let again = verify(parse(&print(kernels.module())).unwrap()).unwrap();
    assert_eq!(bits(&run(&again, shape, inputs(), Form::Cartesian).unwrap()), reference);
}
