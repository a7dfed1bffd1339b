//! Loops of kernels of random programs on Cartesian grids: how many fall from rows, and why.

use std::collections::BTreeMap;
use std::path::Path;

use backend_serial::codegen::Serial;
use equelle_front::backend::Backend;
use equelle_random::compare::compile_for;
use equelle_random::data::Fixtures;
use equelle_random::generate::{Purpose, program};

const SEED: u64 = 900_000;
const PROGRAMS: u64 = 300;

/// Kernels that the serial back-end runs cell by cell, or by the body for any grid. It may only
/// shrink.
const MAX_SLOW_KERNELS: usize = 142;

#[test]
fn kernels_that_fall_from_rows_become_fewer() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-forms");
    let triangles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
    let fixtures = Fixtures::write(&folder, &triangles).expect("the target folder can be written");
    let (mut kernels, mut slower) = (0, BTreeMap::new());
    for seed in SEED..SEED + PROGRAMS {
        let random = program(seed, Purpose::Run, &fixtures.ranges);
        let compiled = compile_for(&random.text(), random.units, Serial.costs()).unwrap_or_else(|f| panic!("seed {seed}: {}", f.text));
        let Some((_, module)) = compiled.passes.last() else { continue };
        for chosen in Serial.forms(module).unwrap_or_else(|error| panic!("seed {seed}: {}", error.message)) {
            kernels += 1;
            if let Some(refusal) = chosen.refused {
                *slower.entry((chosen.form.name(), refusal.construct())).or_insert(0) += 1;
            }
        }
    }
    // So that a generator that makes no kernels does not pass.
    assert!(kernels > 1500, "{kernels}");
    let total: usize = slower.values().sum();
    assert_eq!(total, MAX_SLOW_KERNELS, "of {kernels} kernels fall: correct the number if they became fewer\n{slower:#?}");
}
