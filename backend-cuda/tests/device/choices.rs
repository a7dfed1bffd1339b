//! Hints about lines that choose between values where choosing the entity would do.
#![cfg(feature = "runtime")]

use backend_cuda::runtime::{Precision, run_on};
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::operations::*;
use equelle_runtime::params::Parameters;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::{CanonicalSet, EntityKind, EquelleRuntime, ErrorKind, Extent, HostAccess, Program};

#[test]
fn an_empty_element_on_such_a_line_has_a_hint_of_its_own() {
    let all = |kind| CanonicalSet::new(kind, Extent::All);
    for device in crate::common::devices() {
        for (line, hint) in [(7, "choose the entity, `u On (c ? A : B)`"), (8, "`IsEmpty(A) ? B : A` instead of `A`")] {
            let parameters = Parameters::from_words(&[]).unwrap();
            let grid = Grid::cartesian(Cartesian::line(3, 1.0)).unwrap();
            let session = Session::on_grid(Program::named("test"), parameters, grid, Options::silent()).unwrap();
            // The flag of the condition is read at the end.
            let end = run_on(session, device.clone(), Precision::Double, |rt| {
                rt.choices(&[7]);
                rt.line(line);
                let (cells, faces) = (rt.domain(all(EntityKind::Cell))?, rt.domain(all(EntityKind::Face))?);
                let u = rt.scalar_collection(&cells, vec![1.0, 2.0, 3.0])?;
                let faces = rt.entities(&faces)?;
                let first = rt.first_cell(&faces)?;
                rt.on(&u, &first)?;
                rt.line(9);
                rt.finish()
            });
            let error = end.unwrap_err();
            assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Simulation, &[line][..]), "{error}");
            assert!(error.hint.as_deref().is_some_and(|found| found.contains(hint)), "line {line}: {error:?}");
        }
    }
}
