//! Steps that a device computes: a round waits for the host once, and what is wrong with a step is
//! said before anything else of its round.
#![cfg(feature = "runtime")]

use crate::common::devices;
use backend_cuda::runtime::{Bool, CudaRuntime, FloatingPoint, KernelModule, Precision, Scalar, run_on};
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::session::{Options, Session};
use equelle_runtime::{
    CanonicalSet, Check, EntityKind, EquelleRuntime, Error, ErrorKind, Extent, HostAccess, Output, Parameters, Program, RoundLength,
};

const KERNELS: KernelModule = KernelModule::constant(
    "steps",
    r#"
extern "C" __global__ void length_and_condition(const double* time, double end, double* length, double* next, unsigned char* goes_on) {
  if (eq_index() > 0) return;
  *length = 0.5;
  if (*time == 2.0) *length = end;
  *next = *time + 0.5;
  *goes_on = *next < 8.0;
}
extern "C" __global__ void follow(const double* length, double* state) { if (eq_index() == 0) *state = *state + *length; }
"#,
    FloatingPoint::Strict,
);

/// Action of a round at its end.
type AtEnd = fn(&mut CudaRuntime) -> Result<(), Error>;

/// The sum of the steps of 16 rounds of half a second, and waits of the host for the last 14; the
/// step of the fifth round is `odd`. `at_end` runs at the end of each round.
fn run(odd: f64, at_end: AtEnd) -> Vec<Result<(f64, u64), Error>> {
    run_from(0.0, odd, at_end)
}

/// [`run`] from another time on.
fn run_from(start: f64, odd: f64, at_end: AtEnd) -> Vec<Result<(f64, u64), Error>> {
    let run_on_one = |device| {
        let grid = Grid::cartesian(Cartesian::line(1, 1.0)).expect("a grid");
        let session = Session::on_grid(Program::named("test"), Parameters::default(), grid, Options::silent()).expect("a session");
        let (mut sum, mut waits) = (0.0, 0);
        let ended = run_on(session, device, Precision::Double, |rt| {
            let cells = rt.domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let state = rt.scalar_collection(&cells, vec![0.0])?;
            let (mut time, mut goes_on) = (rt.scalar(start), rt.bool(true));
            let mut rounds = rt.begin_rounds(RoundLength::Computed)?;
            let (mut round, mut before) = (0, 0);
            while rt.goes_on(&mut rounds, &goes_on)? {
                // The first rounds compile kernels and upload numbers.
                if round == 2 {
                    before = rt.counters().synchronisations;
                }
                let (length, next, go_on) = (rt.new_number()?, rt.new_number()?, rt.new_bool()?);
                let now = rt.scalar_pointer(&time)?;
                let call = rt.call(&KERNELS, "length_and_condition")?.arg(now).arg(odd).arg(length.address());
                rt.launch_over(call.arg(next.address()).arg(go_on.address()), 1)?;
                rt.line(7);
                let taken = rt.take_step(&Scalar::Device(length))?;
                let step = rt.scalar_pointer(&taken)?;
                let call = rt.call(&KERNELS, "follow")?.arg(step).arg(state.pointer());
                rt.launch_over(call, 1)?;
                (time, goes_on) = (Scalar::Device(next), Bool::Device(go_on));
                rt.line(9);
                at_end(rt)?;
                round += 1;
            }
            waits = rt.counters().synchronisations - before;
            assert_eq!(round, 16);
            sum = rt.values(&state)?[0];
            rt.finish()
        });
        ended.map(|()| (sum, waits))
    };
    devices().into_iter().map(run_on_one).collect()
}

#[test]
fn a_round_waits_once_for_its_step_and_its_condition() {
    for result in run(0.25, |_| Ok(())) {
        assert_eq!(result.expect("the run ends well"), (15.0 * 0.5 + 0.25, 14));
    }
}

/// The line of the step, not that of what follows it.
#[test]
fn a_step_that_is_not_finite_is_an_error_of_its_line() {
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for result in run(odd, |_| Ok(())) {
            let error = result.expect_err("the step is not finite");
            assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Simulation, [7].as_slice()), "{error}");
            assert!(error.message.starts_with(&format!("the step of this loop is {odd}")), "{error}");
        }
    }
}

/// Nothing of a round is put out, copied or checked before its step has been seen.
#[test]
fn a_wrong_step_comes_before_what_its_round_shows() {
    let ends: [AtEnd; 3] = [
        |rt| rt.output("later", &Scalar::Host(1.0)).and_then(|()| Err(Error::new(ErrorKind::Io, "put out"))),
        |rt| rt.check("state", &Scalar::Host(f64::NAN)),
        |rt| rt.scalar_value(&Scalar::Host(1.0)).and_then(|_| Err(Error::new(ErrorKind::Io, "copied"))),
    ];
    for at_end in ends {
        for result in run_from(2.0, f64::NAN, at_end) {
            let error = result.expect_err("the step is not finite");
            assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Simulation, [7].as_slice()), "{error}");
        }
    }
}
