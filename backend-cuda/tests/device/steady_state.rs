//! `stop_when_change` on a device: the round at which a loop ends is that of the host.
#![cfg(feature = "runtime")]

use std::rc::Rc;

use crate::common::devices;
use backend_cuda::runtime::{Precision, run_on};
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::operations::*;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::{CanonicalSet, Check, EntityKind, EquelleRuntime, Extent, HostAccess, Parameters, Program, RoundLength};

/// Four cells, 0.5 to 3.5, are halved: after round n the change is 3.5/2^n and the range so far
/// 1.75 - 0.5/2^n, of which 1/32 is larger for the first time for n = 7. The time goes on and does
/// not matter.
#[test]
fn a_loop_on_a_device_ends_after_the_round_that_changes_nothing_more() {
    for device in devices() {
        for precision in [Precision::Double, Precision::Single] {
            for nonfinite in ["error", "allow"] {
                let mut parameters = Parameters::default();
                parameters.set("stop_when_change", "0.03125");
                parameters.set("nonfinite", nonfinite);
                let grid = Grid::cartesian(Cartesian::line(4, 1.0)).expect("a grid");
                let session = Session::on_grid(Program::named("test"), parameters, grid, Options::silent()).expect("a session");
                let mut n = 0;
                run_on(session, Rc::clone(&device), precision, |rt| {
                    let cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
                    let (half, goes_on) = (rt.scalar(0.5), rt.bool(true));
                    // Two loops: the second begins its measure anew.
                    for _ in 0..2 {
                        n = 0;
                        let mut u = rt.scalar_collection(&cells, vec![0.5, 1.5, 2.5, 3.5])?;
                        let mut rounds = rt.begin_rounds(RoundLength::Round)?;
                        while rt.goes_on(&mut rounds, &goes_on)? {
                            u = rt.mul(&half, &u)?;
                            n += 1;
                            assert!(n < 100, "the loop ends");
                            if rt.samples_state(&rounds) {
                                let t = rt.scalar(f64::from(n));
                                rt.check("t", &t)?;
                                rt.check("u", &u)?;
                            }
                        }
                        assert_eq!(n, 7, "{precision:?} {nonfinite}");
                    }
                    rt.finish()
                })
                .expect("the run ends well");
                assert_eq!(n, 7, "{precision:?} {nonfinite}");
            }
        }
    }
}
