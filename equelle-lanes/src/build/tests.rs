use equelle_front::ir::CartesianForm;
use equelle_front::ir::text::parse;
use equelle_runtime::grid::Cartesian;

use super::*;
use crate::program::RealBinary;

const HEAT: &str = "module m

kernel step over AllCells() {
  param u: Scalar On AllCells()
  param dt: Scalar
  param t: Scalar On InteriorFaces() per_axis
  result u_new: Scalar On AllCells()
  body {
    flux: Scalar = sum faces f: Face of here {
      yield (member(f, InteriorFaces()) ? (t[f] * (u[second(f)] - u[first(f)])) : 0.0)
    }
    yield (u[here] - ((dt / measure(here)) * flux))
  }
  cartesian full {
    flux: Scalar = sum sides {
      low interior {
        yield (t[side_face(low)] * (u[here] - u[shift(here, -1)]))
      }
      high interior {
        yield (t[side_face(high)] * (u[shift(here, 1)] - u[here]))
      }
    }
    yield (u[here] - ((dt / measure(here)) * flux))
  }
}

main {
}
";

fn heat(cartesian_form: bool) -> LaneProgram {
    let module = parse(HEAT).unwrap_or_else(|error| panic!("{error:?}"));
    let kernel = &module.kernels[0];
    let block = match (&kernel.cartesian, cartesian_form) {
        (Some(CartesianForm::Full(block)), true) => block,
        _ => &kernel.body,
    };
    let shape = Some(Cartesian::block([8, 8, 8], [0.5; 3]));
    let target = Target {
        sets: &module.sets,
        precision: Precision::Double,
        dim: 3,
        shape,
        cartesian_form,
        layout: Layout::Consecutive(0),
        face_axis: None,
    };
    build(kernel, block, target).expect("lanes have it")
}

/// Each of six sides is one operation in memory, and so is what follows the sum.
#[test]
fn heat_takes_one_operation_a_side() {
    let program = heat(true);
    let sides: Vec<(bool, RealSrc)> = program
        .code
        .iter()
        .filter_map(|instr| match instr {
            Instr::AccumulateSide { minus, y, .. } => Some((*minus, *y)),
            _ => None,
        })
        .collect();
    let memory = |offset| RealSrc::Memory(crate::program::ArrayId(0), offset);
    let expected = [1, 8, 64].map(|stride| [(true, memory(-stride)), (false, memory(0))]).concat();
    assert_eq!(sides, expected);
    assert!(program.code.iter().any(|instr| matches!(instr, Instr::MulAdd { minus: true, acc: RealSrc::Memory(..), .. })));
    assert_eq!(program.n_reals, 2, "the sum and what is stored");
    // Beside the sides the start of the sum, the step and its store.
    assert_eq!(program.code.len(), 6 + 3);
}

/// A face with one cell has no other: that branch is of its lanes alone, and of one loop.
#[test]
fn a_general_body_goes_over_faces() {
    let program = heat(false);
    let count = |wanted: fn(&Instr) -> bool| program.code.iter().filter(|instr| wanted(instr)).count();
    assert_eq!(count(|instr| matches!(instr, Instr::Faces { .. })), 1);
    assert_eq!(count(|instr| matches!(instr, Instr::NextFaces { .. })), 1);
    assert_eq!(count(|instr| matches!(instr, Instr::Enter { .. })), 2);
    assert_eq!(count(|instr| matches!(instr, Instr::GatherReal { .. })), 3);
    assert_eq!(count(|instr| matches!(instr, Instr::Binary { op: RealBinary::Div, .. })), 1, "of a measure");
}

/// No operation reads the register that it writes, and none has one that is not there.
#[test]
fn registers_are_used_again() {
    for mut program in [heat(true), heat(false)] {
        let (n_reals, n_truths, n_entities) = (program.n_reals, program.n_truths, program.n_entities);
        for instr in &mut program.code {
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            registers::visit(instr, &mut |access, file, register| {
                let number = match file {
                    registers::File::Real => n_reals,
                    registers::File::Truth => n_truths,
                    registers::File::Entity => n_entities,
                };
                assert!(*register < number);
                match access {
                    registers::Access::Read => reads.push((file, *register)),
                    registers::Access::Write | registers::Access::Update => writes.push((file, *register)),
                }
            });
            assert!(writes.iter().all(|written| !reads.contains(written)), "{instr:?}");
        }
    }
}

/// Constants are rounded before they are compared: 16777217 is no single.
#[test]
fn constants_are_those_of_the_precision() {
    let text = "module m

kernel k over AllCells() {
  param u: Scalar On AllCells()
  result r: Scalar On AllCells()
  body {
    yield ((16777217.0 > 16777216.0) ? u[here] : 1.0)
  }
}

main {
}
";
    let module = parse(text).unwrap_or_else(|error| panic!("{error:?}"));
    let kernel = &module.kernels[0];
    let stored = |precision| {
        let layout = Layout::Consecutive(0);
        let target = Target { sets: &module.sets, precision, dim: 1, shape: None, cartesian_form: false, layout, face_axis: None };
        build(kernel, &kernel.body, target).expect("lanes have it").code.pop()
    };
    assert!(matches!(stored(Precision::Double), Some(Instr::StoreReal { src: RealSrc::Memory(..), .. })));
    assert!(matches!(stored(Precision::Single), Some(Instr::StoreReal { src: RealSrc::Uniform(_), .. })));
}
