//! Programs with declared types give what those without give, bit for bit.

use super::shallow_water::{self, check_sloping_dam_break, sloping_dam_break};
use std::fs;

use super::two_phase::{self, check_coupled, check_sequential, small_case};
use crate::support::{Dimensions, How, assert_same_bits, repository, run, run_with, scratch};

const INTERPRETED: [How; 2] = [How::Interpreted0, How::Interpreted2];

#[test]
fn shallow_water() {
    for how in INTERPRETED {
        let outputs = sloping_dam_break(how, "tests/programs/shallow_water_declared.equelle");
        check_sloping_dam_break(&outputs, "declared");
        assert_same_bits(&outputs, &sloping_dam_break(how, shallow_water::PROGRAM), &format!("{how:?}"));
    }
}

#[test]
fn two_phase() {
    for how in INTERPRETED {
        let outputs = small_case(how, Dimensions::Checked, "tests/programs/two_phase_declared.equelle");
        check_sequential(&outputs, "declared");
        assert_same_bits(&outputs, &small_case(how, Dimensions::Checked, two_phase::SEQUENTIAL), &format!("{how:?}"));
        let outputs = small_case(how, Dimensions::Unchecked, "tests/programs/two_phase_implicit_declared.equelle");
        check_coupled(&outputs, "declared");
        assert_same_bits(&outputs, &small_case(how, Dimensions::Unchecked, two_phase::COUPLED), &format!("{how:?}"));
    }
}

/// A program of the original has a definition without a parameter that it uses, and its compiler
/// does not check results: both are warnings, and the numbers stay.
#[test]
fn slips_of_declarations() {
    let mut text = fs::read_to_string(repository(two_phase::COUPLED_DECLARED)).unwrap();
    for (written, slip) in
        [("transport(p, s, s_old, dt) = {", "transport(p, s, dt) = {"), ("On InteriorFaces()\ntotal_flux", "On AllFaces()\ntotal_flux")]
    {
        assert_eq!(text.matches(written).count(), 1, "{written}");
        text = text.replace(written, slip);
    }
    let program = scratch("slips").join("two_phase_implicit_slips.equelle");
    fs::write(&program, text).unwrap();
    let param = repository("examples/two_phase_implicit/case.param");
    let words = [&*param.to_string_lossy(), two_phase::ORIGINAL];
    for how in INTERPRETED {
        let outputs = run_with(how, Dimensions::Unchecked, &program.to_string_lossy(), &words);
        assert_same_bits(&outputs, &small_case(how, Dimensions::Unchecked, two_phase::COUPLED_DECLARED), &format!("{how:?}"));
    }
}

/// The numbers of the programs without declarations are checked in `tests/implicit`.
#[test]
fn heat_and_gas() {
    for (declared, program, case) in [
        ("heat_implicit_declared", "examples/heat_implicit_3d/heat_implicit_3d.equelle", "examples/heat_implicit_2d/case.param"),
        ("gas_declared", "examples/gas_1d/gas_1d.equelle", "examples/gas_1d/case.param"),
    ] {
        let param = repository(case);
        let param = param.to_string_lossy();
        for how in INTERPRETED {
            let outputs = run(how, &format!("tests/programs/{declared}.equelle"), &[&param]);
            assert_same_bits(&outputs, &run(how, program, &[&param]), &format!("{declared} {how:?}"));
        }
    }
}
