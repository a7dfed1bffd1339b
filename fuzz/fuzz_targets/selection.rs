//! Texts that choose domains and give collections, on a grid with a set and an array: refused as
//! data, or within the domain.

#![no_main]

use std::sync::LazyLock;

use equelle_runtime::grid::{Cartesian, Grid, Named, NamedArray, NamedSet};
use equelle_runtime::input::Inputs;
use equelle_runtime::{CanonicalSet, Domain, EntityKind, ErrorKind, Extent, Parameters};
use libfuzzer_sys::fuzz_target;

static GRID: LazyLock<Grid> = LazyLock::new(|| {
    let mut named = Named::default();
    named.add_set(NamedSet { name: "a".into(), kind: EntityKind::Cell, members: vec![0, 2] }).expect("new");
    named.add_array(NamedArray { name: "P".into(), kind: EntityKind::Cell, values: vec![0.0, 1.0, 2.0, 3.0] }).expect("new");
    Grid::cartesian(Cartesian::plane([2, 2], [1.0, 1.0])).and_then(|grid| grid.with_named(named)).expect("a grid")
});

fuzz_target!(|text: &str| {
    let within = Domain::canonical(&GRID.without_geometry().shared(), CanonicalSet::new(EntityKind::Cell, Extent::All)).expect("cells");
    for key in ["u_set", "u_values", "u_property", "u_expression"] {
        let mut parameters = Parameters::default();
        parameters.set(key, text);
        let found = if key == "u_set" {
            Inputs::default().domain(&parameters, &GRID, "u", &within).map(drop)
        } else {
            Inputs::default().collection(&parameters, &GRID, "u", &within).map(|values| assert!(values.to_vec(4).iter().all(|v| v.is_finite())))
        };
        if let Err(error) = found {
            assert_eq!(error.kind, ErrorKind::Data, "{}", error.message);
        }
    }
});
